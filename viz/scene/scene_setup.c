#include <stdlib.h>

#include "sim/algorithms/shipped.h"
#include "viz/scene/code_lines.h"
#include "viz/scene/snapshot_parts.h"

/* ---- Setting up ------------------------------------------------------------------------------------------ */

/* One head of the problem under one algorithm. The tiling is chosen with all heads in view, as a launch would. */
static Status simulate_head(const Problem *problem, const Schedule *schedule, Simulation *launch, Simulation *run,
                            Error *error) {
  const Status status = simulation_answer(launch, problem, schedule, NULL, error);
  if (status) return status;
  Problem head = *problem;
  head.shape = launch->plan.shape;
  head.shape.batch = head.shape.heads = head.shape.kv_heads = 1;
  head.tiling = launch->plan.tiling;
  return simulate(run, &head, schedule, error);
}

/* Query heads of a walk: one, or all of a KV head. */
static int64_t heads_of(const Simulation *head) {
  const int64_t packed = head->plan.shape.group;
  return packed > 1 ? packed : schedule_group(&head->plan);
}

static void complete_rivals(StageConfig *config) {
  bool shown = false;
  if (config->n_rivals == 0) config->n_rivals = shipped_alike(config->schedule, config->rivals, SNAPSHOT_RUNS_MAX - 1);
  for (int k = 0; k < config->n_rivals; k++) shown = shown || config->rivals[k] == config->schedule;
  if (!shown && config->n_rivals < SNAPSHOT_RUNS_MAX)
    config->rivals[config->n_rivals++] = config->schedule;
  else if (!shown)
    config->rivals[SNAPSHOT_RUNS_MAX - 1] = config->schedule;
}

static Status simulate_all(Stage *stage, Error *error) {
  const StageConfig *c = &stage->config;
  Simulation launch;
  Status status = simulate_head(&c->problem, c->schedule, &launch, &stage->run, error);
  for (int k = 0; !status && k < c->n_rivals; k++) {
    status = simulate_head(&c->problem, c->rivals[k], &launch, &stage->rivals[k], error);
    if (status) break;
    stage->rival_steps[k] = schedule_n_steps(c->rivals[k], &stage->rivals[k].plan);
    if (stage->rival_steps[k] >= (Wide)1 << 62)
      status = error_set(error, STATUS_TOO_LARGE,
                         "%s takes more than 2^62 steps here; a larger block or a smaller N takes fewer",
                         c->rivals[k]->name);
  }
  stage->race_heads = 1;
  for (int k = 0; !status && k < c->n_rivals; k++)
    if (heads_of(&stage->rivals[k]) > stage->race_heads) stage->race_heads = heads_of(&stage->rivals[k]);
  return status;
}

static bool is_masked(const Shape *s) { return s->causal || s->window || s->sided || s->pattern; }

static Shape without_mask(const Shape *shape) {
  Shape open = *shape;
  open.causal = open.sided = open.top_left = false;
  open.window = 0;
  open.pattern = NULL;
  return open;
}

Status stage_make(Stage *stage, const StageConfig *config, Error *error) {
  memset(stage, 0, sizeof *stage);
  stage->config = *config;
  if (!config->schedule)
    return error_refuse(error, "no algorithm to show; name one, such as %s", shipped_default()->name);
  if (stage->config.row_in_block < 0) stage->config.row_in_block = 0;
  if (stage->config.q_scale == 0) stage->config.q_scale = config->without_max ? STAGE_LARGE_Q : 1;
  if (stage->config.gpu.n_sm == 0) gpu_paper(&stage->config.gpu);
  complete_rivals(&stage->config);
  Status status = simulate_all(stage, error);
  if (status) return status;
  stage->n_steps = (uint64_t)schedule_n_steps(config->schedule, &stage->run.plan);
  status = stage_fill_levels(stage, error);
  return status ? status : stage_fill_inputs(stage, error);
}

void stage_give_scores(Stage *stage, const double *scores, int n) {
  stage->config.n_scores = n < STAGE_SCORES ? n : STAGE_SCORES;
  memcpy(stage->config.scores, scores, (size_t)stage->config.n_scores * sizeof *scores);
  stage_forget_rows(stage);
}

void stage_free(Stage *stage) {
  free(stage->K);
  free(stage->V);
  free(stage->kept_K);
  free(stage->kept_V);
  free(stage->row);
  free(stage->head);
  free(stage->must);
  free(stage->pipeline);
  stage->K = stage->V = stage->kept_K = stage->kept_V = NULL;
  stage->row = NULL;
  stage->head = NULL;
  stage->must = NULL;
  stage->pipeline = NULL;
}

/* ---- A snapshot ------------------------------------------------------------------------------------------ */

static Wide sum_of(const Traffic *t) {
  bool overflow = false;
  return traffic_read_bytes(t, &overflow) + traffic_write_bytes(t, &overflow);
}

/* The run after `step` events of its walk, and of `n` beside each other. */
static void fill_run(const Simulation *s, Wide n, Wide n_steps, uint64_t step, SnapshotRun *run) {
  Traffic traffic;
  place_traffic(s->schedule, &s->plan, step, &traffic);
  run->schedule = s->schedule;
  run->plan = &s->plan;
  run->tiling = s->plan.tiling;
  run->step = step;
  run->n_steps = (uint64_t)n_steps;
  run->moved_bytes = n * sum_of(&traffic);
  run->total_bytes = n * s->total_bytes;
  run->is_finished = step == (uint64_t)n_steps;
}

static void fill_runs(const Stage *stage, Snapshot *now) {
  now->n_runs = stage->config.n_rivals;
  now->race_heads = stage->race_heads;
  const Wide own = wide(now->race_heads / heads_of(&stage->run)), clock_bytes = own * now->total_bytes;
  now->clock = (double)clock_bytes;
  now->clock_before = now->clock - (now->has_event ? (double)(own * now->event.bytes) : 0);
  for (int k = 0; k < now->n_runs; k++) {
    const Simulation *s = &stage->rivals[k];
    SnapshotRun *run = &now->runs[k];
    run->n_beside = now->race_heads / heads_of(s);
    const Wide n = wide(run->n_beside);
    const uint64_t step =
        s->schedule == stage_schedule(stage) ? now->step : place_of_bytes(s->schedule, &s->plan, clock_bytes / n);
    fill_run(s, n, (uint64_t)stage->rival_steps[k], step, run);
    run->is_alike = programs_are_alike(s->schedule, now->schedule);
  }
}

const SnapshotRun *snapshot_own_run(const Snapshot *now) {
  int k = 0;
  while (k + 1 < now->n_runs && now->runs[k].schedule != now->schedule) k++;
  return &now->runs[k];
}

/* What the same walk without a mask would have moved up to the same place, less what it has moved. */
static void fill_spared(const Stage *stage, Snapshot *now) {
  const Plan *plan = stage_plan(stage);
  const Schedule *s = stage_schedule(stage);
  Cursor cursor;
  Plan dense;
  Traffic with, without;
  bool overflow = false;
  const Shape open = without_mask(&plan->shape);
  if (!s->skips || !is_masked(&plan->shape)) return;
  if (plan_make(&dense, &open, &plan->tiling, NULL) || !schedule_seek(s, plan, &cursor, now->step)) return;
  schedule_traffic_before(s, plan, &cursor, &with, &overflow);
  schedule_traffic_before(s, &dense, &cursor, &without, &overflow);
  now->spared_bytes = sum_of(&without) - sum_of(&with);
  now->spared_write_bytes = traffic_write_bytes(&without, &overflow) - traffic_write_bytes(&with, &overflow);
}

static void fill_events(const Stage *stage, Snapshot *now) {
  const Plan *plan = stage_plan(stage);
  now->has_event = now->step > 0 && walk_event(stage_schedule(stage), plan, now->step - 1, &now->event);
  now->has_next = now->step < stage->n_steps && walk_event(stage_schedule(stage), plan, now->step, &now->next);
}

static void fill_totals(const Stage *stage, Snapshot *now) {
  bool overflow = false;
  place_traffic(stage_schedule(stage), stage_plan(stage), now->step, &now->traffic);
  now->read_bytes = traffic_read_bytes(&now->traffic, &overflow);
  now->write_bytes = traffic_write_bytes(&now->traffic, &overflow);
  now->total_bytes = now->read_bytes + now->write_bytes;
  now->whole = stage->run.traffic;
  now->whole_bytes = stage->run.total_bytes;
}

/* Where the walk stands in the grid, and what lies in SRAM; the step and the present event are known. */
static void fill_place(const Stage *stage, Snapshot *now) {
  SnapshotGrid *g = &now->grid;
  snapshot_fill_grid(stage_schedule(stage), stage_plan(stage), now->has_event ? &now->event : NULL, false, g);
  if (now->step == 0) g->at_work = false;
  if (now->step == now->n_steps && g->at_work) { /* the last event ends the last tile */
    g->at_work = false;
    g->n_over = wide(g->T_r) * wide(g->T_c);
  }
  if (!g->at_work) g->i = g->j = -1;
  snapshot_fill_slots(stage, now);
}

/* Skips that follow each other to the present one, along a line of tiles. */
static void fill_skips(const Stage *stage, Snapshot *now) {
  enum { MOST_COUNTED = 4096 };
  const bool by_column = now->grid.column_by_column;
  Cursor cursor;
  Event event;
  if (!now->has_event || now->event.kind != EVENT_SKIP) return;
  schedule_seek(stage_schedule(stage), stage_plan(stage), &cursor,
                now->step > MOST_COUNTED ? now->step - MOST_COUNTED : 0);
  while (cursor.step < now->step && schedule_next(stage_schedule(stage), stage_plan(stage), &cursor, &event)) {
    const bool is_same = by_column ? event.j == now->event.j : event.i == now->event.i;
    now->n_skips = event.kind == EVENT_SKIP && is_same ? now->n_skips + 1 : 0;
  }
}

static void fill_before(const Stage *stage, Snapshot *now) {
  Snapshot then;
  memset(&then, 0, sizeof then);
  then.n_steps = now->n_steps;
  then.step = now->step > 0 ? now->step - 1 : 0;
  fill_events(stage, &then);
  fill_place(stage, &then);
  memcpy(now->slots_before, then.slots, sizeof then.slots);
}

void stage_snapshot(const Stage *stage, uint64_t step, Snapshot *now) {
  memset(now, 0, sizeof *now);
  now->problem = now->asked = stage->config.problem;
  now->problem.shape = stage_plan(stage)->shape;
  now->problem.tiling = stage_plan(stage)->tiling;
  now->launched = stage->config.problem.shape;
  shape_complete(&now->launched, NULL); /* it was possible when the stage was made */
  if (stage->run.plan.shape.group > 1) now->launched = shape_packed(&now->launched);
  now->gpu = stage->config.gpu;
  now->schedule = stage_schedule(stage);
  now->n_steps = stage->n_steps;
  now->step = step < stage->n_steps ? step : stage->n_steps;
  now->fits = stage->run.fits;
  now->max_block = stage->run.max_block;
  now->l2 = stage->l2;
  now->pipeline = stage->pipeline;
  now->pages = stage->config.pages;
  now->ring = stage->config.ring;
  now->register_bytes = stage->register_bytes;
  now->register_capacity_bytes = stage->register_capacity_bytes;
  now->roles = stage->roles;
  fill_events(stage, now);
  fill_place(stage, now);
  fill_before(stage, now);
  now->code_line = now->has_event ? code_line_of(stage_schedule(stage), &now->event) : -1;
  fill_totals(stage, now);
  fill_spared(stage, now);
  fill_runs(stage, now);
  fill_skips(stage, now);
  now->live = now->has_event ? stage->live[now->event.op] : 0;
  snapshot_fill_row(stage, now);
  snapshot_fill_line(stage, now);
}
