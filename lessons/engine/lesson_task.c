#include "lessons/engine/lesson_task.h"

#include "lessons/engine/lesson_read.h"
#include "lessons/engine/expression_sandbox.h"

/* ---- The table `view` */

static void set_event(lua_State *lua, const LessonView *v) {
  const Event none = {.i = -1, .j = -1};
  model_push_event(lua, v->run->schedule, v->has_event ? &v->event : &none);
  if (!v->has_event) {
    sandbox_set_text(lua, "kind", "none");
    sandbox_set_text(lua, "tensor", "none");
    sandbox_set_text(lua, "tile", "none");
  }
  lua_setfield(lua, -2, "event");
}

static void set_run(lua_State *lua, const Simulation *run) {
  SandboxReport report;
  const ReportSink sink = sandbox_report(&report, lua);
  report_run(&sink, NULL, run);
  lua_setfield(lua, -2, "run");
}

static int set_view(lua_State *lua) {
  const LessonView *v = lua_touserdata(lua, 1);
  const Shape *shape = &v->run->plan.shape;
  const Tiling *tiling = &v->run->plan.tiling;
  const Wide *tiles = v->traffic.tiles;
  sandbox_push_numbers(lua, "the view has no", {"N", (double)shape->N_q}, {"seq_len_k", (double)shape->N_k},
                       SANDBOX_NUMBER(*shape, d), {"block_q", (double)tiling->B_r}, {"block_k", (double)tiling->B_c},
                       {"block", tiling->B_r == tiling->B_c ? (double)tiling->B_r : 0}, SANDBOX_NUMBER(*shape, window),
                       SANDBOX_NUMBER(*v, heads), SANDBOX_NUMBER(*v, batch), SANDBOX_NUMBER(*v, step),
                       {"steps", (double)v->n_steps}, SANDBOX_NUMBER(*v, read_bytes), SANDBOX_NUMBER(*v, write_bytes),
                       {"moved_bytes", (double)(v->read_bytes + v->write_bytes)},
                       {"tiles_done", (double)(tiles[TILE_FULL] + tiles[TILE_PARTIAL])},
                       {"tiles_skipped", (double)tiles[TILE_SKIPPED]});
  sandbox_set_text(lua, "algorithm", v->run->schedule->name);
  sandbox_set_text(lua, "gpu", v->run->machine.name);
  sandbox_set_text(lua, "dtype", dtype_name(shape->dtype));
  sandbox_set_text(lua, "scene", v->scene);
  sandbox_set_flag(lua, "causal", shape->causal);
  sandbox_set_flag(lua, "fits", v->run->fits);
  set_event(lua, v);
  set_run(lua, v->run);
  lua_setglobal(lua, "view");
  return 0;
}

static int forget_view(lua_State *lua) {
  lua_pushnil(lua);
  lua_setglobal(lua, "view");
  return 0;
}

/* ---- Checking */

static Status evaluate(LessonRun *run, const LessonTask *task, const LessonView *view, bool *done, Error *error) {
  const char *source = task->until.text;
  ExpressionValue value;
  LessonView seen = *view;
  sandbox_call(run->scope, set_view, &seen, task->until.line, error);
  if (expression_scope_eval(run->scope, source, strlen(source), task->until.line, &value, error)) return error->status;
  if (value.kind != EXPRESSION_FLAG)
    return keyfile_refuse(run->lesson->file, task->until.line, error,
                          "'until' must be true or false, such as view.N >= 8192");
  *done = value.flag;
  return STATUS_OK;
}

Status lesson_task_check(LessonRun *run, const LessonTask *task, const LessonView *view, bool *done, Error *error) {
  ExpressionScope *scope = run->scope;
  const int64_t left = scope->steps_left, most = scope->limits.max_steps;
  if (LESSON_TASK_STEPS < most) scope->limits.max_steps = LESSON_TASK_STEPS;
  scope->steps_left = scope->limits.max_steps;
  *done = false;
  Error ignored = {0};
  const Status status = evaluate(run, task, view, done, error);
  scope->steps_left = scope->limits.max_steps = most; /* forgetting is always possible */
  sandbox_call(scope, forget_view, NULL, task->until.line, &ignored);
  scope->steps_left = left;
  return status ? status : error_pass(error, &ignored);
}

Status lesson_task_solution(LessonRun *run, const LessonTask *task, char *change, size_t size, Error *error) {
  const LessonBlock block = {.kind = LESSON_STATE, .text = task->solution};
  return lesson_run_state(run, &block, change, size, error);
}
