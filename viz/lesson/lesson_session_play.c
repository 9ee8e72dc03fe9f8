/* What a lesson has the player show: states and shows. Part of viz/lesson/lesson_session.h. */
#include <stdio.h>
#include <string.h>

#include "viz/lesson/lesson_session_parts.h"

#define SHOW_S 8.0 /* a show takes about so long, or less */

void session_changed(LessonSession *s) { s->version++; }

/* Keeps the first error. */
bool session_failed(LessonSession *s, Status status, const Error *error) {
  if (!status) return false;
  if (!s->error.status) s->error = *error;
  session_changed(s);
  return true;
}

const LessonBlock *session_block(const LessonSession *s, size_t k) {
  return k < s->lesson.n_blocks ? &s->lesson.blocks[k] : NULL;
}

/* ---- What the player shows ------------------------------------------------------------------------------- */

/* The state in force before a block, and of the shows before it the last one's scene. */
bool session_state_before(LessonSession *s, size_t block, char state[LESSON_STATE_BYTES], SceneKind *scene) {
  Error error = {0};
  state[0] = '\0';
  *scene = SCENE_COUNT;
  for (size_t k = 0; k < block && k < s->lesson.n_blocks; k++) {
    const LessonBlock *b = &s->lesson.blocks[k];
    LessonShow show;
    if (b->kind == LESSON_STATE) {
      if (session_failed(s, lesson_run_state(&s->run, b, state, LESSON_STATE_BYTES, &error), &error)) return false;
      *scene = SCENE_COUNT;
    }
    if (b->kind != LESSON_SHOW) continue;
    if (session_failed(s, lesson_run_show(&s->run, b, &show, &error), &error)) return false;
    *scene = show.scene;
  }
  return true;
}

static void set_scene(Player *player, SceneKind scene) {
  if ((int)scene < SCENE_COUNT && (int)player->scene != (int)scene)
    player_input(player, (PlayerInput)(INPUT_SCENE + (int)scene));
}

/* A scene shows one algorithm; of several the last. */
void session_restore(Player *player, const char *state) {
  Request r = {0};
  char line[REQUEST_STATE_BYTES];
  Error error = {0};
  if (lesson_change(&r, state, &error)) {
    player_say(player, true, "Not possible: %s", error.message);
    return;
  }
  lesson_one_algorithm(&r);
  player_restore(player, request_state(&r, line));
  player->message[0] = '\0';
}

void session_set_player(LessonSession *s, Player *player, size_t block) {
  char state[LESSON_STATE_BYTES];
  SceneKind scene;
  s->plays = LESSON_NO_BLOCK;
  if (!session_state_before(s, block, state, &scene)) return;
  session_restore(player, state);
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

void lesson_session_play(LessonSession *s, Player *player, size_t block) {
  const LessonBlock *b = session_block(s, block);
  LessonShow show;
  Error error = {0};
  if (!b || b->kind != LESSON_SHOW || s->error.status) return;
  lesson_run_refill(&s->run);
  if (session_failed(s, lesson_run_show(&s->run, b, &show, &error), &error)) return;
  session_set_player(s, player, block);
  set_scene(player, show.scene);
  session_changed(s);
  s->plays = block;
  s->plays_to = 0;
  if (show.scene == SCENE_WARP) return; /* a picture in the text: nothing plays */
  const bool is_row = show.scene == SCENE_SOFTMAX && show.n_scores > 0;
  if (is_row) restore_scores(player, &show);
  const uint64_t end = player->now.n_steps, last = (uint64_t)show.last + 1;
  const bool has_steps = show.has_steps && !is_row;
  s->plays_to = has_steps && last < end ? last : end;
  player_seek(player, has_steps && (uint64_t)show.first < end ? (uint64_t)show.first : 0);
  set_speed(player, s->plays_to - player->now.step);
  player_input(player, INPUT_PLAY);
  player->message[0] = '\0';
}
