/* Functions over the two-level model: sim, events, advise. */
#include "lessons/engine/expression_sandbox.h"
#include "sim/answer/advice.h"

enum { EVENTS_MAX = 8192 };

/* The problem of a question, for its one algorithm. *gpu, on the stack: the one named, NULL where there is none. */
static void pose(lua_State *lua, const char *function, Question *q, Problem *problem, const Gpu **gpu) {
  Gpu paper;
  Error error = {0};
  *gpu = *q->gpu ? machine_push_gpu(lua, function, q->gpu) : NULL;
  if (!*gpu) gpu_paper(&paper);
  const QuestionFiles files = {.machine = *gpu ? *gpu : &paper};
  if (question_algorithms(q, &files, REQUEST_ONE, &error) || question_problem(q, &files, problem, NULL, &error))
    sandbox_refuse(lua, function, &error);
  if (q->n_algorithms > 1) sandbox_fail(lua, "%s answers for one algorithm", function);
}

/* Answers what the arguments ask, in two levels. */
static Simulation answer(lua_State *lua, const char *function, Problem *problem, const Gpu **gpu) {
  Question q = {0};
  Simulation s;
  Error error = {0};
  arguments_read(lua, function, QUESTION_SETS, &q, NULL);
  pose(lua, function, &q, problem, gpu);
  sandbox_charge(lua, 2000);
  if (simulate(&s, problem, q.algorithms[0], &error)) sandbox_refuse(lua, function, &error);
  return s;
}

/* With a GPU named: what its L2 keeps from HBM, and the time that no run beats. The walk takes 100,000 steps a head or
 * fewer, and six heads' at most (sim/l2/l2_run.h). The caps hold one walk below half a second and 100 MB, measured. */
static void add_l2(lua_State *lua, Simulation *s, const Problem *problem, const Gpu *gpu) {
  enum { WALK_MAX = 600000, STEPS_PER_READ = 12, CTAS_MAX = 65536, KEY_BLOCKS_MAX = 2048 };
  const double blocks = (double)s->plan.T_r * (double)s->plan.shape.heads * (double)s->plan.shape.batch,
               reads = blocks * (double)s->plan.T_c,
               ctas = blocks * (double)(s->plan.tiling.n_splits ? s->plan.tiling.n_splits : 1);
  Error error = {0};
  if (ctas > CTAS_MAX || s->plan.T_c > KEY_BLOCKS_MAX)
    sandbox_fail(lua, "sim: with a GPU at most %d CTAs and %d blocks of keys; take larger blocks", CTAS_MAX,
                 KEY_BLOCKS_MAX);
  sandbox_charge(lua, STEPS_PER_READ * (reads < WALK_MAX ? reads : WALK_MAX));
  if (simulation_answer(s, problem, s->schedule, gpu, &error)) sandbox_refuse(lua, "sim", &error);
}

/* sim{...}, or ask"N=8192 d=128" of a state line: one run, with the keys of `sim --json`, and its shape. `passes` is
 * how often the algorithm goes over the problem from start to end: one kernel launch each. */
static int model_sim(lua_State *lua) {
  Problem problem;
  const Gpu *gpu;
  Simulation s = answer(lua, "sim", &problem, &gpu);
  if (gpu) add_l2(lua, &s, &problem, gpu);
  SandboxReport report;
  const ReportSink sink = sandbox_report(&report, lua);
  report_run(&sink, NULL, &s);
  report = (SandboxReport){.lua = lua};
  report_shape(&sink, NULL, &s);
  lua_setfield(lua, -2, "shape");
  sandbox_set_number(lua, "passes", s.schedule->n_passes);
  return 1;
}

void model_push_event(lua_State *lua, const Schedule *s, const Event *e) {
  sandbox_push_numbers(lua, "an event has no", SANDBOX_NUMBER(*e, step), SANDBOX_NUMBER(*e, pass),
                       SANDBOX_NUMBER(*e, split), SANDBOX_NUMBER(*e, i), SANDBOX_NUMBER(*e, j),
                       SANDBOX_NUMBER(*e, row0), SANDBOX_NUMBER(*e, row1), SANDBOX_NUMBER(*e, col0),
                       SANDBOX_NUMBER(*e, col1), SANDBOX_NUMBER(*e, bytes), SANDBOX_NUMBER(*e, flops));
  sandbox_set_text(lua, "kind", event_kind_name((EventKind)e->kind));
  sandbox_set_text(lua, "tensor", s->tensors[e->tensor].text);
  sandbox_set_text(lua, "tile", tile_kind_name((TileKind)e->tile));
}

/* events{...}: what one head does, event by event, for small problems. */
static int model_events(lua_State *lua) {
  Problem problem;
  const Gpu *gpu;
  const Simulation s = answer(lua, "events", &problem, &gpu);
  const Wide n = schedule_n_steps(s.schedule, &s.plan);
  if (n > EVENTS_MAX) sandbox_fail(lua, "events: more than %d events; take a smaller N or larger blocks", EVENTS_MAX);
  sandbox_charge(lua, (double)n * 200);
  lua_createtable(lua, (int)n, 0);
  Cursor cursor = {0};
  Event event;
  for (lua_Integer k = 1; schedule_next(s.schedule, &s.plan, &cursor, &event); k++) {
    model_push_event(lua, s.schedule, &event);
    lua_rawseti(lua, -2, k);
  }
  return 1;
}

/* advise{...}: which kernel or tile to take, with the keys of `advise --json`: first, tiles, kernels. It takes a
 * second, so a budget has few, and what was asked before is known. */
static int model_advise(lua_State *lua) {
  const double pairs_max = 8192.0 * 8192.0;
  Question q = {0};
  Problem problem;
  const Gpu *gpu;
  char state[QUESTION_STATE_BYTES], first[96];
  Error error = {0};
  arguments_read(lua, "advise", QUESTION_SETS, &q, NULL);
  if (!*q.gpu) strcpy(q.gpu, "h200");
  if (lua_getfield(lua, LUA_REGISTRYINDEX, question_state(&q, state)) == LUA_TTABLE) return 1;
  const bool is_named = q.n_algorithms > 0;
  pose(lua, "advise", &q, &problem, &gpu);
  const Shape *shape = &problem.shape;
  if ((double)shape->N_q * (double)shape->N_k * (double)shape->heads * (double)shape->batch > pairs_max)
    sandbox_fail(lua, "advise: more than 8192 x 8192 scores would take seconds; take a smaller N or fewer heads");
  sandbox_charge(lua, (double)sandbox_scope(lua)->limits.max_steps / 4);
  Advice advice = {.kernels = sandbox_scope(lua)->limits.kernels};
  const size_t bytes = ADVICE_CANDIDATES_MAX * sizeof *advice.candidates;
  advice.candidates = memset(lua_newuserdatauv(lua, bytes, 0), 0, bytes);
  if (advice_make(&advice, &problem, q.algorithms[0], is_named, gpu, &error)) sandbox_refuse(lua, "advise", &error);
  sandbox_begin(sandbox_scope(lua)); /* that time is bounded, and was charged */
  SandboxReport report;
  const ReportSink sink = sandbox_report(&report, lua);
  advice_name(&advice.candidates[0], first, sizeof first);
  report_values(&sink, "{first:s", first);
  advice_report(&sink, &advice);
  lua_pushvalue(lua, -1);
  lua_setfield(lua, LUA_REGISTRYINDEX, state);
  return 1;
}

const luaL_Reg LIBRARY_MODEL[] = {
    {"sim", model_sim}, {"ask", model_sim}, {"events", model_events}, {"advise", model_advise}, {NULL, NULL}};
