/* What each input does, and the keys that are inputs. */
#include <stdio.h>

#include "viz/player/player.h"
#include "viz/text/number.h"

/* Where keys lead, both ways, in the order of the inputs. To the next event of a kind, of which there may be none: then
 * the place stays. */
typedef struct {
  Stride by;
  EventKind kind;
  const char *what; /* NULL: no event of a kind */
} Way;
static const Way WAYS[] = {{.by = STRIDE_EVENT},
                           {.by = STRIDE_TILE},
                           {.by = STRIDE_ROW},
                           {.by = STRIDE_PASS},
                           {STRIDE_NEW_MAX, EVENT_NEW_MAX, "new maximum"},
                           {STRIDE_SKIP, EVENT_SKIP, "skipped tile"},
                           {STRIDE_STORE, EVENT_STORE, "write-back"}};

static void go(Player *p, const Way *way, int direction) {
  const uint64_t before = p->now.step;
  const bool is_searched = way->by != STRIDE_SKIP || p->now.whole.tiles[TILE_SKIPPED] > 0;
  p->is_playing = false;
  p->message[0] = '\0';
  if (is_searched) player_show(p, stage_stride(&p->stage, before, way->by, direction));
  if (way->what || direction < 0) p->moved_s = PLAYER_MOVE_S;
  if (p->now.step != before && (!way->what || p->now.event.kind == way->kind)) return;
  if (!way->what) {
    player_say(p, false, direction > 0 ? "This is the end" : "This is the start");
    return;
  }
  const bool is_cut = is_searched && (direction > 0 ? p->stage.n_steps - before : before) > STAGE_SEARCH_EVENTS;
  if (p->now.step != before) player_show(p, before);
  char within[NUMBER_CHARS + 16] = "";
  if (is_cut) snprintf(within, sizeof within, "within %s events ", number_count(STAGE_SEARCH_EVENTS).text);
  player_say(p, false, "There is no %s %s%s", way->what, within, direction > 0 ? "after this" : "before this");
}

/* One thing at a time; nobody loses a lesson by a key too many. */
static PlayerInput escape(Player *p) {
  if (p->open != OPEN_NOTHING) {
    player_cancel(p);
  } else if (p->presentation) {
    p->presentation = false;
    player_say(p, false, "Presentation is over");
  } else if (p->asks_quit) {
    return INPUT_QUIT;
  } else {
    p->asks_quit = true;
    player_say(p, false, "Escape again quits; any other key goes on");
  }
  return INPUT_NONE;
}

/* Opens the line for typing, which begins with `text`. */
static void open_entry(Player *p, const char *text) {
  p->message[0] = '\0';
  p->open = OPEN_ENTRY;
  snprintf(p->entry, sizeof p->entry, "%s", text);
}

PlayerInput player_input(Player *p, PlayerInput input) {
  Narration said;
  if (p->asks_quit && input != INPUT_ESCAPE) {
    p->asks_quit = false;
    p->message[0] = '\0';
  }
  if (input >= INPUT_COPY) return input;
  if (input >= INPUT_EVENT_NEXT && input <= INPUT_STORE_BACK)
    go(p, &WAYS[(input - INPUT_EVENT_NEXT) / 2], (input - INPUT_EVENT_NEXT) % 2 ? -1 : 1);
  if (input >= INPUT_SCENE && input <= INPUT_SCENE_LAST) p->scene = (SceneKind)(input - INPUT_SCENE);
  switch (input) {
  case INPUT_PLAY:
    p->message[0] = '\0';
    if (!p->is_playing && p->now.step == p->stage.n_steps) player_show(p, 0);
    p->is_playing = !p->is_playing;
    p->owed_events = 0;
    break;
  case INPUT_START: player_seek(p, 0); break;
  case INPUT_END: player_seek(p, p->stage.n_steps); break;
  case INPUT_FASTER: player_change_speed(p, 1); break;
  case INPUT_SLOWER: player_change_speed(p, -1); break;
  case INPUT_THEME: p->dark = !p->dark; break;
  case INPUT_PRESENTATION: p->presentation = !p->presentation; break;
  case INPUT_MOTION:
    p->reduced_motion = !p->reduced_motion;
    player_say(p, false, p->reduced_motion ? "Reduced motion: tiles do not travel" : "Tiles travel");
    break;
  case INPUT_ALGORITHM_NEXT: player_next_algorithm(p, 1); break;
  case INPUT_ALGORITHM_BACK: player_next_algorithm(p, -1); break;
  case INPUT_ALGORITHM_EDIT: open_entry(p, "algorithm="); break;
  case INPUT_N_TWICE: player_scale_N(p, 1); break;
  case INPUT_N_HALF: player_scale_N(p, -1); break;
  case INPUT_N_EDIT: open_entry(p, "N="); break;
  case INPUT_CAUSAL: player_take_line(p, &p->request, p->request.shape.causal ? "causal=0" : "causal=1"); break;
  case INPUT_ESCAPE: return escape(p);
  case INPUT_HELP: p->open = p->open == OPEN_HELP ? OPEN_NOTHING : OPEN_HELP; break;
  case INPUT_SENTENCE:
    scene_narrate(p->scene, &p->now, NULL, &said);
    player_say(p, false, "%s %s", said.what, said.why);
    break;
  case INPUT_ENTRY: open_entry(p, ""); break;
  default: break;
  }
  return INPUT_NONE;
}

/* A letter for each input, in their order; '_': none. */
static const char KEYS[] = "_ "
                           "________" /* by operation, tile, row, pass: arrows */
                           "mMsSwW"   /* to the next, or the one before */
                           "__+-"     /* Home, End */
                           "123456"   /* scenes */
                           "aA_nN_c"
                           "tpr_?.:"
                           "ydevPfJKlq";
_Static_assert(sizeof KEYS - 1 == INPUT_COUNT, "a key, or none, for each input");

PlayerInput player_key(char character) {
  const char *at = character && character != '_' ? strchr(KEYS, character == '=' ? '+' : character) : NULL;
  return at ? (PlayerInput)(at - KEYS) : INPUT_NONE;
}
