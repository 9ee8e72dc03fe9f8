/* What the viewer's window shows and how it is driven, without a window: a state machine of inputs.
 *
 *     key, click, tick of the clock  ->  player_input, player_tick, ...  ->  player->now, player->message
 *
 * The window turns keys and clicks into inputs, and draws what the player holds. Nothing here knows SDL or
 * reads a clock, so all of it is tested without a display.
 *
 * A choice that is not possible changes nothing: it leaves its reason in `message`, and what was on the screen stays.
 */
#ifndef TILEWALK_VIZ_PLAYER_PLAYER_H
#define TILEWALK_VIZ_PLAYER_PLAYER_H

#include "viz/request/request.h"
#include "viz/scene/scene.h"

typedef enum {
  INPUT_NONE = 0,
  INPUT_PLAY, /* or pause */
  INPUT_EVENT_NEXT,
  INPUT_EVENT_BACK,
  INPUT_TILE_NEXT,
  INPUT_TILE_BACK,
  INPUT_ROW_NEXT,
  INPUT_ROW_BACK,
  INPUT_PASS_NEXT,
  INPUT_PASS_BACK,
  INPUT_MAX_NEXT,
  INPUT_MAX_BACK,
  INPUT_SKIP_NEXT,
  INPUT_SKIP_BACK,
  INPUT_STORE_NEXT,
  INPUT_STORE_BACK,
  INPUT_START,
  INPUT_END,
  INPUT_FASTER,
  INPUT_SLOWER,
  INPUT_SCENE, /* INPUT_SCENE + k: scene number k */
  INPUT_SCENE_LAST = INPUT_SCENE + SCENE_COUNT - 1,
  INPUT_ALGORITHM_NEXT,
  INPUT_ALGORITHM_BACK,
  INPUT_ALGORITHM_EDIT, /* opens the line for typing with its key in it */
  INPUT_N_TWICE,
  INPUT_N_HALF,
  INPUT_N_EDIT,
  INPUT_CAUSAL, /* or not */
  INPUT_THEME,
  INPUT_PRESENTATION,
  INPUT_MOTION,
  INPUT_ESCAPE, /* leaves what is open, then presentation, then asks, and quits when asked again */
  INPUT_HELP,
  INPUT_SENTENCE, /* the step in words, under the picture */
  INPUT_ENTRY,    /* opens the line for typing any parameters */
  /* What only the window can do; the player passes them on. INPUT_SIDE shows or hides the panel beside the scene. */
  INPUT_COPY,
  INPUT_DESCRIBE,
  INPUT_EXPORT_PNG,
  INPUT_EXPORT_SVG,
  INPUT_EXPORT_PDF,
  INPUT_FULLSCREEN,
  INPUT_STORY, /* somebody leads */
  INPUT_NOTES, /* opens or closes the speaker's page, a window of its own */
  INPUT_SIDE,
  INPUT_QUIT,
  INPUT_COUNT
} PlayerInput;

enum {
  PLAYER_ENTRY_BYTES = 256,
};

/* What lies over the scene and takes the keys. */
typedef enum {
  OPEN_NOTHING = 0,
  OPEN_HELP,
  OPEN_ENTRY, /* typing: any parameters */
} PlayerOpen;

typedef struct {
  Request request; /* one algorithm; `step` and `scene` in it are not kept up to date */
  Stage stage;
  Snapshot now;
  SceneKind scene;
  bool dark, presentation, reduced_motion, is_playing;
  bool asks_quit; /* Escape was pressed, and quits when pressed again */
  double beats;   /* of the present event: 1, or a part of one for skips in a row */
  PlayerOpen open;
  int speed;          /* index, see player_events_per_s */
  double owed_events; /* of the clock's time, not yet played */
  double moved_s;     /* since the step changed */

  char message[ERROR_MESSAGE_BYTES]; /* one line for the screen; "" none */
  bool is_warning;
  char entry[PLAYER_ENTRY_BYTES];
} Player;

/* Sets up for a request; without any size in it, a problem small enough to be looked at. The request's scene and step
 * are taken. Free it even after an error. */
Status player_open(Player *player, const Request *request, Error *error);
void player_free(Player *player);

/* With Request.l2_later: what the present stage waited for. */
void player_give_l2(Player *player, const SnapshotL2 *l2);

/* Acts. Returns what is left for the window to do: an input from INPUT_COPY on, or INPUT_NONE. */
PlayerInput player_input(Player *player, PlayerInput input);

/* Time passes. Returns whether anything changed that is to be drawn. */
bool player_tick(Player *player, double seconds);

/* Goes to a step, or to a part of the run from 0 to 1, and pauses. */
void player_seek(Player *player, uint64_t step);
void player_scrub(Player *player, double part);

/* Goes to where a tile of the scores is worked on, in the present pass. */
void player_go_to_tile(Player *player, int64_t i, int64_t j);

/* Typing: text goes into the entry; accept applies "block=16 causal=1". */
void player_type(Player *player, const char *text);
void player_erase(Player *player);
void player_accept(Player *player);
void player_cancel(Player *player); /* closes what is open */

/* Takes a whole one-line state, scene and step included. */
bool player_restore(Player *player, const char *line);

/* The one-line state of what is shown. Returns text. */
const char *player_state(const Player *player, char text[REQUEST_STATE_BYTES]);

double player_events_per_s(const Player *player);
void player_change_speed(Player *player, int by); /* to the next speed that there is, 1 or -1 */

/* How far the present event is, for SceneView.phase: above 0 and up to 1, or 0 where nothing is to move. */
double player_phase(const Player *player);
bool player_is_moving(const Player *player); /* time changes what is drawn */
static inline const Theme *player_theme(const Player *p) { return p->dark ? &theme_dark : &theme_light; }

bool player_set_speed(Player *player, double events_per_s); /* one of those that there are; false: it is not */

/* Takes the keys of a line, applied to a request, and goes to a step or a scene in it; without a step the place in the
 * run stays, as a part of it. What is not possible changes nothing and leaves its reason in the message. */
bool player_take_line(Player *player, const Request *from, const char *line);

/* Twice as many tokens or half, 1 or -1; the next algorithm that can be had, or the one before. */
void player_scale_N(Player *player, int direction);
void player_next_algorithm(Player *player, int direction);

/* Of the player's own files: takes the new request, or says why it cannot be and keeps the old one; the state after
 * `step`, and what moves to it begins to. */
#define PLAYER_MOVE_S 0.35 /* how long a step that is asked for takes */
bool player_apply(Player *player, Request *request);
void player_show(Player *player, uint64_t step);

PlayerInput player_key(char character); /* which input a character stands for */

void player_say(Player *player, bool is_warning, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
