#include "viz/story/story_player.h"

#include "viz/story/story_file.h"

#include <stdio.h>
#include <stdlib.h>

typedef enum { ASKING, PLAYING, TOLD } Phase;

struct StoryPlayer {
  Lesson *story;
  StoryTold *told;
  StoryScene scene;
  Phase phase;
  double part;
  bool is_left, is_still;
  StoryPlaces places;
  char typed[LESSON_OPTION_BYTES], said[STORY_LINE_BYTES + LESSON_OPTION_BYTES + 64];
};

static Status open_beat(StoryPlayer *p, int beat, Error *error) {
  story_scene_free(&p->scene);
  const Status status = story_scene_open(&p->scene, p->story, p->told, beat, error);
  p->phase = p->told->beats[beat].asks ? ASKING : PLAYING;
  p->part = 0;
  *p->typed = *p->said = '\0';
  return status;
}

/* All beats are opened once, so that none fails on the way. */
StoryPlayer *story_player_open(Lesson *story, int64_t N, const ExpressionLimits *limits, Error *error) {
  StoryPlayer *p = calloc(1, sizeof *p);
  if (!p) {
    error_no_memory(error, "for a story");
    story_free(story);
    return NULL;
  }
  p->story = story;
  p->told = story_tell(story, N, limits, error);
  Status status = p->told ? STATUS_OK : error->status;
  for (int b = p->told ? p->told->n - 1 : -1; b >= 0 && !status; b--) status = open_beat(p, b, error);
  if (!status) return p;
  story_player_close(p);
  return NULL;
}

void story_player_close(StoryPlayer *p) {
  if (!p) return;
  story_scene_free(&p->scene);
  free(p->told);
  story_free(p->story);
  free(p);
}

bool story_player_is_open(const StoryPlayer *p) { return p && !p->is_left; }
bool story_player_is_moving(const StoryPlayer *p) { return story_player_is_open(p) && p->phase == PLAYING; }

static const StoryBeat *beat_of(const StoryPlayer *p) { return &p->told->beats[p->scene.beat]; }

/* What was right, after what was typed was judged. */
static void judge(StoryPlayer *p) {
  const StoryBeat *beat = beat_of(p);
  snprintf(p->said, sizeof p->said, "%s%s%s. %s", *p->typed ? story_judge(beat, p->typed) : "", *p->typed ? ": " : "",
           beat->question.answer, beat->because);
}

void story_player_reduce(StoryPlayer *p, bool still) {
  if (p) p->is_still = still;
}

bool story_player_tick(StoryPlayer *p, double seconds) {
  if (!story_player_is_moving(p)) return false;
  p->part = p->is_still ? 1 : fmin(1, p->part + seconds / beat_of(p)->moments.seconds);
  if (p->part >= 1) p->phase = TOLD;
  story_scene_show(&p->scene, p->part);
  return true;
}

static void go_to(StoryPlayer *p, int beat) {
  if (beat >= p->told->n)
    p->is_left = true;
  else if (beat >= 0 && open_beat(p, beat, NULL))
    p->is_left = true; /* memory: each was opened before */
}

/* Which of the choices is typed; -1: none. */
static int chosen(const StoryPlayer *p) {
  const LessonQuestion *q = &beat_of(p)->question;
  int at = -1;
  for (int k = 0; k < q->n_choices; k++)
    if (strcmp(p->typed, q->choice[k]) == 0) at = k;
  return at;
}

static void choose(StoryPlayer *p, int k) {
  const LessonQuestion *q = &beat_of(p)->question;
  if (p->phase == ASKING && k >= 0 && k < q->n_choices) snprintf(p->typed, sizeof p->typed, "%s", q->choice[k]);
}

static void play(StoryPlayer *p) {
  judge(p);
  p->phase = PLAYING;
}

void story_player_input(StoryPlayer *p, StoryInput input) {
  size_t n = strlen(p->typed);
  switch (input) {
  case STORY_LEAVE: p->is_left = true; break;
  case STORY_GO_BACK: go_to(p, p->phase == PLAYING && p->part > 0.1 ? p->scene.beat : p->scene.beat - 1); break;
  case STORY_CHOICE_NEXT: choose(p, chosen(p) + 1); break;
  case STORY_CHOICE_BACK: choose(p, chosen(p) < 0 ? beat_of(p)->question.n_choices - 1 : chosen(p) - 1); break;
  case STORY_ERASE:
    if (chosen(p) >= 0) n = 0;
    while (n > 0 && ((unsigned char)p->typed[n - 1] & 0xC0) == 0x80) n--; /* of one character */
    p->typed[n > 0 ? n - 1 : 0] = '\0';
    break;
  case STORY_RETURN:
  case STORY_GO_ON:
    if (p->phase == ASKING) {
      play(p);
    } else if (p->phase == PLAYING) { /* to its end at once */
      story_player_tick(p, beat_of(p)->moments.seconds);
    } else {
      go_to(p, p->scene.beat + 1);
    }
    break;
  }
}

void story_player_type(StoryPlayer *p, const char *text) {
  const size_t n = strlen(p->typed), more = strlen(text);
  const bool chooses = beat_of(p)->question.n_choices > 0;
  if (strcmp(text, " ") == 0 && (p->phase != ASKING || n == 0 || chooses))
    story_player_input(p, STORY_GO_ON);
  else if (chooses && !text[1])
    choose(p, (*text | 0x20) - 'a');
  else if (p->phase == ASKING && !chooses && n + more < sizeof p->typed && (unsigned char)*text >= ' ')
    memcpy(p->typed + n, text, more + 1);
}

void story_player_drag(StoryPlayer *p, double x) {
  const Box once = p->places.flag;
  if (p->phase == ASKING && once.width > 0)
    snprintf(p->typed, sizeof p->typed, "%.2f", fmax(0, (x - once.x) / once.width));
}

void story_player_press(StoryPlayer *p, int button, double x, double y) {
  const Box flag = p->places.flag;
  if (button == 1 && p->phase == ASKING && flag.width > 0 && fabs(y - flag.y - flag.height / 2) < 1.5 * flag.height) {
    story_player_drag(p, x);
    return;
  }
  for (int k = 0; k < p->places.n && button == 1; k++)
    if (box_holds(p->places.choices[k], x, y)) choose(p, k);
  story_player_input(p, button == 3 ? STORY_GO_BACK : STORY_GO_ON);
}

static const char *help_of(const StoryPlayer *p) {
  if (p->phase == ASKING && p->places.flag.width > 0)
    return "Enter plays, and shows how far. A number can be typed, too.";
  if (p->phase == TOLD && p->scene.beat + 1 == p->told->n) return "Space ends the story, ← goes back.";
  return "Space goes on, ← goes back, Escape leaves the story.";
}

void story_player_draw(StoryPlayer *p, cairo_t *cr, double width, double height, const Theme *theme) {
  const StoryMoment moment = {.asking = beat_of(p)->asks && p->phase != PLAYING,
                              .typed = p->typed,
                              .said = p->phase == TOLD ? p->said : NULL,
                              .help = help_of(p),
                              .part = p->part};
  story_page_draw(&p->scene, &moment, cr, width, height, theme, &p->places);
}

const char *story_player_words(const StoryPlayer *p, char *text, size_t size) {
  const StoryBeat *beat = beat_of(p);
  snprintf(text, size, "%d of %d. %s%s%s", p->scene.beat + 1, p->told->n, beat->caption,
           p->phase == PLAYING || !beat->asks ? "" : " ",
           p->phase == ASKING ? beat->question.prompt
           : p->phase == TOLD ? p->said
                              : "");
  return text;
}
