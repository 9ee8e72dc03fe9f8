#include "lessons/engine/lesson_task.h"

#include <math.h>
#include <string.h>

#include "lessons/engine/lesson_run_inner.h"
#include "lessons/engine/expression_sandbox.h"

/* ---- The table `view` */

static void set_event(lua_State *lua, const LessonView *v) {
  const Event none = {.i = -1, .j = -1}, *e = v->has_event ? &v->event : &none;
  lua_createtable(lua, 0, 8);
  sandbox_set_text(lua, "kind", v->has_event ? event_kind_name((EventKind)e->kind) : "none");
  sandbox_set_text(lua, "tensor", v->has_event ? v->run->schedule->tensors[e->tensor].text : "none");
  sandbox_set_text(lua, "tile", v->has_event ? tile_kind_name((TileKind)e->tile) : "none");
  sandbox_set_number(lua, "pass", e->pass);
  sandbox_set_number(lua, "i", (double)e->i);
  sandbox_set_number(lua, "j", (double)e->j);
  sandbox_set_number(lua, "bytes", (double)e->bytes);
  sandbox_set_number(lua, "flops", (double)e->flops);
  sandbox_seal(lua, "an event has no");
  lua_setfield(lua, -2, "event");
}

/* Before the first tile m is -infinity and l 0, as in the algorithm. */
static void set_row(lua_State *lua, const LessonView *v) {
  const double least = -HUGE_VAL;
  lua_createtable(lua, 0, 4);
  sandbox_set_number(lua, "m", v->has_row ? v->m : least);
  sandbox_set_number(lua, "m_old", v->has_row ? v->m_old : least);
  sandbox_set_number(lua, "factor", v->has_row ? v->factor : 1);
  sandbox_set_number(lua, "l", v->has_row ? v->l : 0);
  sandbox_set_flag(lua, "m_grew", v->has_row && v->factor > 0 && v->factor < 1);
  sandbox_seal(lua, "a row has no");
  lua_setfield(lua, -2, "row");
}

static void set_problem(lua_State *lua, const LessonView *v) {
  const Plan *plan = &v->run->plan;
  const int64_t B_r = plan->tiling.B_r, B_c = plan->tiling.B_c;
  sandbox_set_text(lua, "algorithm", v->run->schedule->name);
  sandbox_set_text(lua, "gpu", v->run->machine.name);
  sandbox_set_text(lua, "dtype", dtype_name(plan->shape.dtype));
  sandbox_set_wide(lua, "N", (Wide)plan->shape.N_q);
  sandbox_set_wide(lua, "seq_len_k", (Wide)plan->shape.N_k);
  sandbox_set_wide(lua, "d", (Wide)plan->shape.d);
  sandbox_set_wide(lua, "block_q", (Wide)B_r);
  sandbox_set_wide(lua, "block_k", (Wide)B_c);
  sandbox_set_wide(lua, "block", (Wide)(B_r == B_c ? B_r : 0));
  sandbox_set_wide(lua, "window", (Wide)plan->shape.window);
  sandbox_set_wide(lua, "heads", (Wide)v->heads);
  sandbox_set_wide(lua, "batch", (Wide)v->batch);
  sandbox_set_flag(lua, "causal", plan->shape.causal);
  sandbox_set_flag(lua, "fits", v->run->fits);
}

static void set_run(lua_State *lua, const Simulation *run) {
  SandboxReport report;
  const ReportSink sink = sandbox_report(&report, lua);
  report_run(&sink, NULL, run);
  lua_setfield(lua, -2, "run");
}

static int set_view(lua_State *lua) {
  const LessonView *v = lua_touserdata(lua, 1);
  lua_createtable(lua, 0, 32);
  set_problem(lua, v);
  set_event(lua, v);
  set_row(lua, v);
  set_run(lua, v->run);
  sandbox_set_text(lua, "scene", v->scene);
  sandbox_set_wide(lua, "step", v->step);
  sandbox_set_wide(lua, "steps", v->n_steps);
  sandbox_set_wide(lua, "read_bytes", v->read_bytes);
  sandbox_set_wide(lua, "write_bytes", v->write_bytes);
  sandbox_set_wide(lua, "moved_bytes", v->read_bytes + v->write_bytes);
  sandbox_set_wide(lua, "tiles_done", v->traffic.tiles[TILE_FULL] + v->traffic.tiles[TILE_PARTIAL]);
  sandbox_set_wide(lua, "tiles_skipped", v->traffic.tiles[TILE_SKIPPED]);
  sandbox_seal(lua, "the view has no");
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
  const char *source = lesson_text(run->lesson, task->until);
  ExpressionValue value;
  LessonView seen = *view;
  Status status = sandbox_call(run->scope, set_view, &seen, task->until.line, error);
  if (!status) status = expression_scope_eval(run->scope, source, strlen(source), task->until.line, &value, error);
  if (status) return status;
  if (value.kind != EXPRESSION_FLAG)
    return lesson_refuse(run->lesson->file, task->until.line, error,
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
  Status status = evaluate(run, task, view, done, error);
  scope->steps_left = scope->limits.max_steps = most; /* forgetting is always possible */
  Error ignored = {0};
  const Status forgotten = sandbox_call(scope, forget_view, NULL, task->until.line, &ignored);
  if (!status && forgotten) status = error_set(error, forgotten, "%s", ignored.message);
  scope->steps_left = left;
  return status;
}

Status lesson_task_solution(LessonRun *run, const LessonTask *task, char *change, size_t size, Error *error) {
  const LessonBlock block = {.kind = LESSON_STATE, .text = task->solution};
  return lesson_run_state(run, &block, change, size, error);
}
