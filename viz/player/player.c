#include "viz/player/player.h"

#include <stdarg.h>
#include <stdio.h>

#include "viz/text/number.h"

static const double SPEEDS[] = {1,    2,    5,     10,    20,    50,     100,    200,    500,    1000,
                                2000, 5000, 10000, 20000, 50000, 100000, 200000, 500000, 1000000};
enum { N_SPEEDS = COUNT_OF(SPEEDS), DEFAULT_SPEED = 1 };
#define LONGEST_RUN_S             600.0 /* a long run begins at a speed that ends it in this time */
#define MAX_TICK_S                0.25  /* a window that was hidden does not catch up */
#define FASTEST_WITH_MOTION_PER_S 10.0  /* beyond it nothing could be followed */

void player_say(Player *p, bool is_warning, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(p->message, sizeof p->message, format, arguments);
  va_end(arguments);
  p->is_warning = is_warning;
}

/* ---- Problems -------------------------------------------------------------------------------------------- */

void player_show(Player *p, uint64_t step) {
  const Snapshot *now = &p->now;
  stage_snapshot(&p->stage, step, &p->now);
  p->moved_s = 0;
  p->beats = 1;
  if (!now->has_event || now->event.kind != EVENT_SKIP) return;
  const uint64_t left = now->has_next && now->next.kind == EVENT_SKIP ? stage_beat(&p->stage, now->step) : 0;
  p->beats = 1.0 / (double)((uint64_t)now->n_skips + left); /* a skip in a row of them takes its part of one */
}

/* Tiles that do not fit are shown, with the reason and what would fit. */
static void say_what_fits(Player *p) {
  char largest[64];
  if (p->now.fits) return;
  snprintf(largest, sizeof largest, "the largest block that fits is %jd", p->now.max_block);
  player_say(p, true, "Tiles of %jd x %jd want %s of SRAM, and there are %s: %s", p->now.grid.B_r, p->now.grid.B_c,
             number_bytes(p->now.sram_bytes).text, number_bytes(p->now.sram_capacity_bytes).text,
             p->now.max_block > 0 ? largest : "not even one row fits");
}

static uint64_t step_at(const Stage *stage, double part) {
  return part >= 1 ? stage->n_steps : (uint64_t)(part * (double)stage->n_steps + 0.5);
}

bool player_apply(Player *p, Request *r) {
  Stage stage;
  Error error = {0};
  r->l2_later = p->request.l2_later;
  if (request_stage(r, &stage, &error)) {
    stage_free(&stage);
    player_say(p, true, "Not possible: %s", error.message);
    return false;
  }
  const double part = p->stage.n_steps ? (double)p->now.step / (double)p->stage.n_steps : 0;
  stage_keep_inputs(&stage, &p->stage);
  stage_free(&p->stage);
  p->stage = stage;
  p->request = *r;
  p->message[0] = '\0';
  player_show(p, step_at(&stage, part));
  say_what_fits(p);
  return true;
}

Status player_open(Player *p, const Request *request, Error *error) {
  memset(p, 0, sizeof *p);
  p->request = *request;
  p->speed = DEFAULT_SPEED;
  question_choose_small(&p->request);
  if (request->n_algorithms > 1) p->scene = SCENE_PILES;
  if (*request->scene) scene_from_name(request->scene, &p->scene);
  if (request_stage(&p->request, &p->stage, error)) return error->status;
  while (p->speed + 1 < N_SPEEDS && (double)p->stage.n_steps / SPEEDS[p->speed] > LONGEST_RUN_S) p->speed++;
  p->request.step = 0;
  player_show(p, (uint64_t)request->step);
  p->moved_s = PLAYER_MOVE_S;
  say_what_fits(p);
  return STATUS_OK;
}

void player_give_l2(Player *p, const SnapshotL2 *l2) {
  stage_give_l2(&p->stage, l2);
  p->now.l2 = *l2;
}

void player_free(Player *p) { stage_free(&p->stage); }

/* ---- Time and place -------------------------------------------------------------------------------------- */

void player_seek(Player *p, uint64_t step) {
  p->is_playing = false;
  p->message[0] = '\0';
  say_what_fits(p);
  if (step > p->stage.n_steps) step = p->stage.n_steps;
  if (step != p->now.step) player_show(p, step);
  p->moved_s = PLAYER_MOVE_S;
}

void player_scrub(Player *p, double part) { player_seek(p, step_at(&p->stage, fmax(part, 0))); }

void player_go_to_tile(Player *p, int64_t i, int64_t j) {
  player_seek(p, stage_step_of_tile(&p->stage, p->now.step, i, j));
  p->moved_s = 0;
}

void player_change_speed(Player *p, int by) {
  const int speed = p->speed + by;
  if (speed >= 0 && speed < N_SPEEDS) p->speed = speed;
  player_say(p, false, "%s events a second", number_count((Wide)SPEEDS[p->speed]).text);
}

double player_events_per_s(const Player *p) { return SPEEDS[p->speed]; }

bool player_set_speed(Player *p, double events_per_s) {
  for (int k = 0; k < N_SPEEDS; k++) {
    if (SPEEDS[k] != events_per_s) continue;
    p->speed = k;
    return true;
  }
  return false;
}

bool player_tick(Player *p, double seconds) {
  const bool was_moving = player_is_moving(p);
  if (seconds > MAX_TICK_S) seconds = MAX_TICK_S;
  p->moved_s += seconds;
  if (!p->is_playing) return was_moving;
  p->owed_events += seconds * SPEEDS[p->speed] / p->beats;
  const double whole = floor(p->owed_events);
  if (whole < 1) return was_moving;
  const uint64_t left = p->stage.n_steps - p->now.step;
  p->owed_events -= whole;
  player_show(p, whole < (double)left ? p->now.step + (uint64_t)whole : p->stage.n_steps);
  p->moved_s = p->owed_events * p->beats / SPEEDS[p->speed];
  if (p->now.step == p->stage.n_steps) {
    p->is_playing = false;
    player_say(p, false, "This is the end");
  }
  return true;
}

double player_phase(const Player *p) {
  if (p->reduced_motion || (p->is_playing && SPEEDS[p->speed] > FASTEST_WITH_MOTION_PER_S)) return 0;
  const double takes_s = p->is_playing ? p->beats / SPEEDS[p->speed] : PLAYER_MOVE_S;
  return fmin(fmax(p->moved_s / takes_s, 0.001), 1); /* 0 would be a still picture */
}

bool player_is_moving(const Player *p) {
  const double phase = player_phase(p);
  return p->is_playing || (phase > 0 && phase < 1);
}
