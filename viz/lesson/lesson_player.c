#include "viz/lesson/lesson_player.h"

#include "sim/base/text_add.h"
#include "viz/lesson/lesson_library.h"
#include "viz/lesson/lesson_view.h"
#include "viz/text/warp_picture.h"

#define SHOW_S 8.0 /* a show takes about so long, or less */

Status lesson_player_open(LessonSession *s, const char *name, const LessonSessionOptions *options, FILE *warnings,
                          Error *error) {
  Lesson lesson;
  memset(s, 0, sizeof *s);
  s->plays = LESSON_NO_BLOCK;
  Status status = lesson_load(name, &lesson, error);
  if (!status) status = lesson_session_open(s, &lesson, &LESSON_LIMITS, options, warnings, error);
  return status ? status : lesson_rehearse(&s->lesson, &LESSON_LIMITS, &LESSON_REHEARSAL, s->run.seed, error);
}

static void set_scene(Player *player, SceneKind scene) {
  if ((int)scene < SCENE_COUNT && (int)player->scene != (int)scene)
    player_input(player, (PlayerInput)(INPUT_SCENE + (int)scene));
}

static void set(void *data, const char *state, SceneKind scene) {
  LessonPlayer *beside = data;
  Player *player = beside->player;
  Request r = {0};
  char line[REQUEST_STATE_BYTES];
  Error error = {0};
  beside->checked[0] = '\0';
  if (lesson_change(&r, state, &error))
    player_say(player, true, "Not possible: %s", error.message);
  else if (player_restore(player, question_state(&r, line)))
    player->message[0] = '\0';
  set_scene(player, scene);
}

/* As fast as it takes to be through in time. */
static void set_speed(Player *player, uint64_t n_events) {
  double before = -1;
  while (player_events_per_s(player) > 2 && player_events_per_s(player) != before) {
    before = player_events_per_s(player);
    player_input(player, INPUT_SLOWER);
  }
  for (before = -1; player_events_per_s(player) * SHOW_S < (double)n_events && player_events_per_s(player) != before;) {
    before = player_events_per_s(player);
    player_input(player, INPUT_FASTER);
  }
}

/* One row with these scores: a run of one query. `steps` counts blocks of scores here. */
static void restore_scores(Player *player, const LessonShow *show) {
  char state[160];
  const int64_t block = show->block ? show->block : 4;
  snprintf(state, sizeof state, "N=1 seq-len-k=%d d=4 dtype=fp32 block-q=1 block-k=%lld scene=softmax", show->n_scores,
           (long long)(block < show->n_scores ? block : show->n_scores));
  player_restore(player, state);
  stage_give_scores(&player->stage, show->scores, show->n_scores);
  player->message[0] = '\0';
}

static uint64_t play(void *data, const LessonShow *show) {
  Player *player = ((LessonPlayer *)data)->player;
  set_scene(player, show->scene);
  if (show->scene == SCENE_BANK) return 0; /* a picture in the text */
  const bool is_row = show->scene == SCENE_SOFTMAX && show->n_scores > 0;
  if (is_row) restore_scores(player, show);
  const uint64_t end = player->now.n_steps, last = (uint64_t)show->last + 1;
  const bool has_steps = show->has_steps && !is_row;
  const uint64_t to = has_steps && last < end ? last : end;
  player_seek(player, has_steps && (uint64_t)show->first < end ? (uint64_t)show->first : 0);
  set_speed(player, to - player->now.step);
  player_input(player, INPUT_PLAY);
  player->message[0] = '\0';
  return to;
}

static bool is_through(void *data, uint64_t step) { return ((LessonPlayer *)data)->player->now.step >= step; }

static void stop(void *data, uint64_t step) {
  Player *player = ((LessonPlayer *)data)->player;
  if (player->now.step != step && step) player_seek(player, step);
  player->is_playing = false;
  player->message[0] = '\0';
}

static void solve(void *data, const char *state, const char *solution) {
  Request r = {0};
  char line[REQUEST_STATE_BYTES];
  if (!lesson_change(&r, state, NULL) && !lesson_change(&r, solution, NULL))
    player_restore(((LessonPlayer *)data)->player, question_state(&r, line));
}

static bool look(void *data, LessonView *view) {
  LessonPlayer *beside = data;
  const Player *player = beside->player;
  char now[REQUEST_STATE_BYTES];
  if (strcmp(player_state(player, now), beside->checked) == 0) return false;
  snprintf(beside->checked, sizeof beside->checked, "%s", now);
  *view = lesson_view(&player->stage, &player->now, player->scene);
  return true;
}

LessonViewer lesson_player_viewer(LessonPlayer *beside) {
  return (LessonViewer){beside, set, play, is_through, stop, solve, look};
}

void lesson_warp_lines(const LessonShow *show, char *text, size_t size) {
  WarpPicture picture;
  *text = '\0';
  if (show->scene != SCENE_BANK) return;
  if (!show->warp_in_banks)
    warp_picture_memory(&show->warp, &picture);
  else if (warp_picture_banks(&show->warp, &picture, NULL))
    return;
  for (int k = 0; k < picture.n; k++) text_add(text, size, "%s%s", k ? "\n" : "", picture.line[k]);
}
