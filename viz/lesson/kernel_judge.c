#include "viz/lesson/kernel_judge.h"

#include <stdio.h>
#include <stdlib.h>

#include "kernels/ptx/ptx_argument.h"
#include "sim/base/text_add.h"
#include "viz/kernel/kernel_request.h"
#include "viz/kernel/kernel_signature.h"
#include "viz/request/request.h"
#include "viz/text/number.h"

enum {
  INSTRUCTIONS_MAX = 20000,     /* of an answer, in PTX; references have some hundreds */
  WORK_TIMES = 30,              /* as many instructions as the reference runs, at most */
  COMPILE_S = 3,                /* of CPU; a reference takes a tenth to two */
  WARP_INSTRUCTIONS = 20000000, /* of a run that does not end: a quarter of a second */
};
#define TOLERANCE 1e-4 /* of the largest magnitude of the output: sums come in another order */

/* ---- One launch ------------------------------------------------------------------------------------------- */

typedef struct {
  KernelRequest request;
  Spec specs[KERNEL_ARGUMENTS_MAX];
  Signature signature; /* the reference's: names for messages */
  int out;
} State;

typedef struct {
  PtxArgument arguments[KERNEL_ARGUMENTS_MAX];
  PtxResult result;
  PtxLaunch launch;
} Run;

typedef struct {
  const ProgramTask *task;
  PtxModule *recorded, *own_module;
  PtxKernel *reference, *own;
  State *states; /* n_states */
  TaskJudgement *j;
  Error *error;
} Judge;

static Status read_state(const ProgramTask *task, int state, State *s, Error *error) {
  const OptionSet sets[] = {{"", KERNEL_LAUNCH_OPTIONS, 0}, {0}};
  OptionParser parser = request_parser(sets, &s->request);
  Error own = {0};
  memset(s, 0, sizeof *s);
  parser.from_file = true;
  Status status = options_parse_state(&parser, task->states[state], &own);
  for (int a = 0; a < s->request.n_arguments && !status; a++) {
    status = spec_parse(s->request.arguments[a], &s->specs[a], &own);
    if (!status && (s->specs[a].fill == SPEC_FILE || s->specs[a].is_map || s->specs[a].n > 1 << 20))
      status = error_refuse(&own, "argument %d is no number and no buffer of at most 1M elements", a);
  }
  if (!signature_find(task->reference, strlen(task->reference), task->entry, &s->signature)) s->signature.n = 0;
  s->out = s->request.out[0] ? atoi(s->request.out) : -1;
  if (!status && (s->out < 0 || s->out >= s->request.n_arguments || !s->specs[s->out].is_buffer ||
                  !spec_type_is_float(s->specs[s->out].type) || !s->request.grid[0] || !s->request.block[0]))
    status = error_refuse(&own, "a launch says grid, block, arg and which argument is out");
  own.status = status ? STATUS_BAD_FILE : STATUS_OK;
  return status ? task_error(task, task->state_lines[state], &own, error) : STATUS_OK;
}

static void run_free(Run *r) {
  for (int a = 0; a < KERNEL_ARGUMENTS_MAX; a++) free(r->arguments[a].bytes);
  ptx_result_free(&r->result);
  memset(r, 0, sizeof *r);
}

/* Runs a kernel on a state; `watch`: an element of the output whose writer is looked for, -1 none. */
static Status run(const PtxKernel *kernel, const State *s, bool faults, int64_t watch, Run *r, Error *error) {
  memset(r, 0, sizeof *r);
  for (int a = 0; a < s->request.n_arguments; a++) {
    const Spec *spec = &s->specs[a];
    const int64_t n_bytes = spec->n * spec_type_bytes(spec->type);
    void *bytes = malloc((size_t)n_bytes + 16);
    if (!bytes) return error_no_memory(error, "to judge a kernel");
    spec_fill(spec, bytes);
    if (a == s->out && spec->fill == SPEC_NONE) memset(bytes, 0xff, (size_t)n_bytes); /* no number is an answer */
    r->arguments[a] = (PtxArgument){.kind = spec->is_buffer ? PTX_BUFFER : PTX_SCALAR,
                                    .bytes = bytes,
                                    .n_bytes = n_bytes,
                                    .name = a < s->signature.n ? s->signature.parameters[a].name : NULL,
                                    .uninitialised = spec->fill == SPEC_NONE};
  }
  r->launch = (PtxLaunch){.dynamic_shared_bytes = s->request.shared_bytes,
                          .arguments = r->arguments,
                          .n_arguments = s->request.n_arguments,
                          .max_lanes = 32 * WARP_INSTRUCTIONS,
                          .max_memory_bytes = (int64_t)64 << 20,
                          .faults = faults};
  memcpy(r->launch.grid, s->request.grid, sizeof r->launch.grid);
  memcpy(r->launch.block, s->request.block, sizeof r->launch.block);
  if (watch >= 0)
    r->launch.watch =
        ptx_buffer_address(&r->launch, s->out) + (uint64_t)(watch * spec_type_bytes(s->specs[s->out].type));
  return ptx_run(kernel, &r->launch, &r->result, error);
}

/* What a run shows of each demand. */
static void measure(const ProgramTask *t, const PtxKernel *kernel, const Run *r, DemandFigures *figures) {
  double shown[DEMAND_COUNT] = {[DEMAND_SHARED] =
                                    (double)(ptx_kernel_static_shared(kernel) + r->launch.dynamic_shared_bytes),
                                [DEMAND_LOCAL] = (double)ptx_kernel_local(kernel)};
  for (PtxRequestKind k = PTX_GLOBAL_LOAD; k <= PTX_ASYNC_COPY; k++) {
    const PtxCounts *c = &r->result.totals.by_kind[k];
    if (k <= PTX_GLOBAL_REDUCE || k == PTX_ASYNC_COPY) shown[DEMAND_SECTORS] += (double)c->sectors;
    if (k >= PTX_SHARED_LOAD && k <= PTX_SHARED_ATOMIC) shown[DEMAND_CONFLICTS] += (double)c->conflicts;
  }
  for (int k = 0; k < t->n_demands; k++) figures->of[k] = shown[t->demands[k].kind];
}

/* The first element that differs from what it should be; -1: none. */
static int64_t first_wrong(const State *s, const Run *is, const Run *should) {
  const Spec *spec = &s->specs[s->out];
  double largest = 0, y;
  for (int64_t i = 0; i < spec->n; i++)
    if (isfinite(y = spec_element(spec->type, should->arguments[s->out].bytes, i))) largest = fmax(largest, fabs(y));
  for (int64_t i = 0; i < spec->n; i++) {
    const double x = spec_element(spec->type, is->arguments[s->out].bytes, i);
    y = spec_element(spec->type, should->arguments[s->out].bytes, i);
    if (x == y || (isnan(x) && isnan(y))) continue;
    if (!(fabs(x - y) <= TOLERANCE * largest) || isinf(y)) return i;
  }
  return -1;
}

/* Whether a buffer beside the output is not as the reference leaves it. */
static bool destroys(const State *s, const Run *is, const Run *should) {
  for (int a = 0; a < s->request.n_arguments; a++)
    if (a != s->out &&
        memcmp(is->arguments[a].bytes, should->arguments[a].bytes, (size_t)is->arguments[a].n_bytes) != 0)
      return true;
  return false;
}

/* ---- What is wrong with it -------------------------------------------------------------------------------- */

static int line_of(const PtxKernel *kernel, int pc) {
  if (pc < 0) return 0;
  const PtxInstruction at = ptx_instruction(kernel, pc);
  return at.line ? at.line : at.ptx_line;
}

static Status say_wrong(Judge *g, const PtxKernel *kernel, const State *s, const Run *is, const Run *should, int64_t at,
                        TaskJudgement *j) {
  const Spec *spec = &s->specs[s->out];
  const double x = spec_element(spec->type, is->arguments[s->out].bytes, at);
  char value[32] = "no number", by[80] = "nobody wrote it";
  Run again;
  Error own = {0};
  const Status status = run(kernel, s, false, at, &again, &own);
  if (!status && again.result.watch_pc >= 0)
    snprintf(by, sizeof by, "line %d wrote it, thread %d of block %lld", line_of(kernel, again.result.watch_pc),
             again.result.watch_thread, (long long)again.result.watch_block);
  j->line = status ? 0 : line_of(kernel, again.result.watch_pc);
  if (!isnan(x)) snprintf(value, sizeof value, "%.6g", x);
  task_fails(j, TASK_WRONG, "element %lld of the output is %s, and should be %.6g; %s", (long long)at, value,
             spec_element(spec->type, should->arguments[s->out].bytes, at), by);
  run_free(&again);
  return status == STATUS_NO_MEMORY ? error_pass(g->error, &own) : STATUS_OK;
}

/* The line of an instruction that loads global or shared memory, below 0 of one that stores; 0: of another. */
static int moving_line(const PtxKernel *kernel, const PtxResult *result, bool shared, int pc) {
  const PtxRequestKind kind = result->kinds[pc];
  const bool stores = kind == (shared ? PTX_SHARED_STORE : PTX_GLOBAL_STORE),
             loads = shared ? kind == PTX_SHARED_LOAD : kind == PTX_GLOBAL_LOAD || kind == PTX_ASYNC_COPY;
  if (!stores && !loads) return 0;
  const PtxInstruction at = ptx_instruction(kernel, pc);
  if (at.file != 1) return 0;
  return stores ? -at.line : at.line;
}

/* The dearest line of global or of shared memory, in words. */
static void say_dearest(const PtxKernel *kernel, const PtxResult *result, bool shared, TaskJudgement *j) {
  uint64_t most = 0;
  double each = 0;
  for (int pc = 0; pc < result->n_instructions; pc++) {
    const int line = moving_line(kernel, result, shared, pc);
    uint64_t cost = 0, requests = 0;
    for (int other = pc; line && other < result->n_instructions; other++) {
      const PtxCounts *c = &result->counts[other];
      if (moving_line(kernel, result, shared, other) != line) continue;
      cost += shared ? c->conflicts : c->sectors;
      requests += c->requests;
    }
    if (cost <= most) continue;
    most = cost;
    each = (double)cost / (double)requests;
    j->line = abs(line);
  }
  text_add(j->why, sizeof j->why, "; %s of them at line %d: %.3g a request", number_count(most).text, j->line, each);
}

/* The first condition that fails on a state. */
static Status check_state(Judge *g, const PtxKernel *kernel, int state, TaskJudgement *j) {
  const State *s = &g->states[state];
  Run should, is, watched = {0};
  Error own = {0};
  j->state = state;
  Status status = run(g->reference, s, false, -1, &should, &own);
  if (status) {
    run_free(&should);
    return task_error(g->task, g->task->state_lines[state], &own, g->error);
  }
  status = run(kernel, s, false, -1, &is, &own);
  if (!status && is.result.totals.executed > WORK_TIMES * should.result.totals.executed + 100000) {
    task_fails(j, TASK_MUCH_WORK, "it runs %s instructions, and %s are enough",
               number_count(is.result.totals.executed).text, number_count(should.result.totals.executed).text);
  } else if (!status || status == STATUS_BAD_REQUEST) {
    Error fault = {0}; /* what a plain run refuses, an access outside every buffer, is a fault with its place */
    const Status again = run(kernel, s, true, -1, &watched, &fault);
    const PtxFault *first = &watched.result.faults[0];
    if (watched.result.n_faults) {
      task_fails(j, TASK_FAULT, "%s", first->message);
      j->line = line_of(kernel, first->pc);
      j->fault = first->kind;
      j->n_faults = first->count;
    } else if (status || again) {
      task_fails(j, TASK_OTHER, "%s", status ? own.message : fault.message);
    }
    status = again == STATUS_NO_MEMORY ? again : STATUS_OK;
  } else if (status == STATUS_TOO_LARGE) {
    task_fails(j, TASK_MUCH_WORK, "it does not end, or not soon: %.400s", own.message);
    status = STATUS_OK;
  }
  if (!status && !j->verdict) {
    DemandFigures own_figures, must;
    const int64_t wrong = first_wrong(s, &is, &should);
    measure(g->task, g->reference, &should, &must);
    measure(g->task, kernel, &is, &own_figures);
    if (wrong >= 0)
      status = say_wrong(g, kernel, s, &is, &should, wrong, j);
    else if (destroys(s, &is, &should))
      task_fails(j, TASK_OTHER, "it changes an input, which the next kernel may read");
    else
      task_check_demands(g->task, NULL, &own_figures, &must, j);
    const DemandKind kind = g->task->demands[j->demand].kind;
    if (j->verdict == TASK_DEMAND && kind <= DEMAND_CONFLICTS)
      say_dearest(kernel, &is.result, kind == DEMAND_CONFLICTS, j);
  }
  if (status == STATUS_NO_MEMORY) error_set(g->error, status, "no memory to judge a kernel");
  run_free(&should);
  run_free(&is);
  run_free(&watched);
  return status;
}

static Status check_all(Judge *g, const PtxKernel *kernel, int n_states, TaskJudgement *j) {
  Status status = STATUS_OK;
  *j = (TaskJudgement){.mutant = -1, .state = -1};
  for (int k = 0; k < n_states && !status && !j->verdict; k++) status = check_state(g, kernel, k, j);
  return status;
}

/* ---- Mutants ---------------------------------------------------------------------------------------------- */

static Status open_recorded(Judge *g, int k, PtxKernel **kernel, Error *error) {
  char name[96];
  snprintf(name, sizeof name, "%s_%d", g->task->entry, k);
  int entry = -1;
  for (int e = 0; e < ptx_n_entries(g->recorded); e++)
    if (strcmp(ptx_entry_name(g->recorded, e), name) == 0) entry = e;
  if (entry >= 0) return ptx_kernel_new(g->recorded, entry, kernel, error);
  return error_set(error, STATUS_BAD_FILE, "%s: its recorded PTX has no kernel '%s'", g->task->file, name);
}

/* Whether a mutant that fails with `other` fails as the answer does: the same verdict on the same state, and with it
 * the same output where that is wrong. */
static bool fails_alike(Judge *g, const PtxKernel *mutant, const TaskJudgement *other) {
  const TaskJudgement *j = g->j;
  Run a, b;
  if (other->verdict != j->verdict || other->state != j->state) return false;
  if (j->fault && (!other->fault || strcmp(j->fault, other->fault) != 0)) return false;
  const State *s = &g->states[j->state];
  const Status ours = run(g->own, s, false, -1, &a, NULL), theirs = run(mutant, s, false, -1, &b, NULL);
  const bool ran = !ours && !theirs;
  bool alike = !ran && ours == theirs;
  if (ran && j->verdict == TASK_DEMAND)
    alike = other->demand == j->demand && other->figure == j->figure;
  else if (ran)
    alike = first_wrong(s, &a, &b) < 0;
  run_free(&a);
  run_free(&b);
  return alike;
}

static Status diagnose(Judge *g) {
  TaskJudgement other;
  Status status = STATUS_OK;
  int loose = -1; /* fails alike, and not as often */
  for (int k = 0; k < g->task->n_mutants && g->j->mutant < 0 && !status; k++) {
    PtxKernel *mutant = NULL;
    if (open_recorded(g, k + 1, &mutant, NULL)) continue; /* one that does not compile */
    status = check_all(g, mutant, g->j->state + 1, &other);
    if (!status && (loose < 0 || other.n_faults == g->j->n_faults) && fails_alike(g, mutant, &other))
      *(other.n_faults == g->j->n_faults ? &g->j->mutant : &loose) = k;
    ptx_kernel_free(mutant);
  }
  if (g->j->mutant < 0) g->j->mutant = loose;
  if (g->j->mutant >= 0) snprintf(g->j->says, sizeof g->j->says, "%s", g->task->mutants[g->j->mutant].says);
  return status;
}

/* ---- The whole -------------------------------------------------------------------------------------------- */

static bool is_ptx(const char *text) {
  const char *at = strstr(text, ".version");
  return at && (at == text || at[-1] == '\n') && strstr(at, ".entry");
}

/* The kernel of an answer; what cannot be is a judgement. */
static Status open_own(Judge *g, const char *text, size_t length, const char *file) {
  CudaResult compiled = {0};
  Error own = {0};
  TaskJudgement *j = g->j;
  const char *ptx = text;
  if (strcmp(text, g->task->reference) == 0) return open_recorded(g, 0, &g->own, g->error); /* it is compiled already */
  if (!is_ptx(text)) {
    const CudaSource source = {
        .path = file, .text = text, .length = length, .entry = g->task->entry, .alone = true, .cpu_seconds = COMPILE_S};
    if (!LESSON_COMPILER)
      error_refuse(&own, "CUDA is not compiled here; give the PTX: nvcc -ptx -lineinfo %.60s", file);
    else
      LESSON_COMPILER(&source, &compiled, &own);
    ptx = compiled.ptx, length = compiled.length;
  }
  int entry = -1;
  if (!own.status) ptx_module_load(ptx, length, file, &g->own_module, &own);
  if (!own.status && (entry = ptx_find_entry(g->own_module, g->task->entry)) < 0)
    error_refuse(&own, "%.100s has no kernel '%s'", file, g->task->entry);
  if (!own.status) ptx_kernel_new(g->own_module, entry, &g->own, &own);
  free(compiled.ptx);
  if (own.status == STATUS_NO_MEMORY) return error_pass(g->error, &own);
  if (own.status) {
    task_fails(j, TASK_UNREADABLE, "%s", own.message);
  } else if (ptx_n_instructions(g->own) > INSTRUCTIONS_MAX) {
    task_fails(j, TASK_MUCH_WORK, "it has more than 20,000 instructions");
  } else {
    const PtxEntry e = ptx_entry(g->own_module, entry);
    const State *s = &g->states[0];
    bool fits = e.n_parameters == s->request.n_arguments;
    for (int p = 0; p < e.n_parameters && fits; p++) {
      const PtxParameter parameter = ptx_parameter(g->own_module, entry, p);
      fits = s->specs[p].is_buffer ? parameter.size_bytes == 8 : !spec_mismatch(&s->specs[p], &parameter);
    }
    if (!fits)
      task_fails(j, TASK_OTHER, "its parameters are not those of the task; leave the line of the kernel as it is");
  }
  return STATUS_OK;
}

static Status open_task(Judge *g, const char *recorded) {
  const ProgramTask *t = g->task;
  g->states = calloc((size_t)t->n_states, sizeof *g->states);
  if (!g->states) return error_no_memory(g->error, "to judge a kernel");
  Status status = ptx_module_load(recorded, strlen(recorded), t->file, &g->recorded, g->error);
  if (!status) status = open_recorded(g, 0, &g->reference, g->error);
  for (int k = 0; k < t->n_states && !status; k++) status = read_state(t, k, &g->states[k], g->error);
  return status;
}

static Status check_reference(Judge *g) {
  const ProgramTask *t = g->task;
  TaskJudgement j;
  const Status status = check_all(g, g->reference, t->n_written, &j);
  if (status || !j.verdict) return status;
  return error_set(g->error, STATUS_BAD_FILE, "%s:%d: the reference: %s", t->file, t->reference_line, j.why);
}

static void close_task(Judge *g) {
  ptx_kernel_free(g->own);
  ptx_kernel_free(g->reference);
  ptx_module_free(g->own_module);
  ptx_module_free(g->recorded);
  free(g->states);
}

Status kernel_judge(const ProgramTask *task, const char *recorded, const char *text, size_t length, const char *file,
                    TaskJudgement *j, Error *error) {
  Error own = {0};
  Judge g = {.task = task, .j = j, .error = &own};
  *j = (TaskJudgement){.mutant = -1, .state = -1};
  Status status = open_task(&g, recorded);
  if (!status) status = check_reference(&g);
  if (!status) status = open_own(&g, text, length, file);
  if (!status && !j->verdict) {
    status = check_all(&g, g.own, task->n_states, j);
    if (!status && j->verdict) status = diagnose(&g);
  }
  close_task(&g);
  return error_pass(error, &own);
}

Status kernel_figures(const ProgramTask *t, const char *recorded, bool is_start, DemandFigures *figures, Error *error) {
  Judge g = {.task = t, .error = error};
  Run r = {0};
  Status status = open_task(&g, recorded);
  if (!status) status = open_recorded(&g, is_start ? t->n_mutants + 1 : 0, &g.own, error); /* behind the mutants */
  if (!status) status = run(g.own, &g.states[0], is_start, -1, &r, error); /* a start may read what is not there */
  if (!status) measure(t, g.own, &r, figures);
  run_free(&r);
  close_task(&g);
  return status;
}

/* ---- What is recorded ------------------------------------------------------------------------------------- */

/* Adds a program to the source, in a namespace of its own, where its entry NAME is NAME_k. */
static void add_program(const ProgramTask *t, int k, const char *program, char *text) {
  text_add(text, KERNEL_TASK_SOURCE_BYTES, "#define %s %s_%d\nnamespace v%d {\n%s}\n#undef %s\n", t->entry, t->entry, k,
           k, program, t->entry);
}

Status kernel_task_source(const ProgramTask *t, char *text, Error *error) {
  char program[PROGRAM_TASK_PROGRAM_BYTES];
  Status status = STATUS_OK;
  *text = '\0';
  add_program(t, 0, t->reference, text);
  for (int k = 0; k < t->n_mutants && !status; k++) {
    status = program_task_mutant(t, k, program, error);
    if (!status) add_program(t, k + 1, program, text);
  }
  if (!status) add_program(t, t->n_mutants + 1, t->start, text);
  return status;
}
