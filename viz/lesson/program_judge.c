#include "viz/lesson/program_judge.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/algorithms/language/read.h"
#include "sim/numbers/program_mend.h"
#include "viz/text/number.h"
#include "viz/request/request.h"

/* ---- Demands over the events of one head ----------------------------------------------------------------- */

enum { EVENTS_MAX = 1000000 };

/* Of a block's name, the letters: K of K_j. */
static bool is_called(const Program *p, int name, const char *of) {
  const ProgramName *n = &p->names[name];
  const size_t length = strcspn(n->text, "_");
  if (strcmp(of, "all") == 0) return true;
  if (strcmp(of, "scores") == 0) return sides_are_tile(n->rows, n->cols);
  return length == strlen(of) && strncmp(n->text, of, length) == 0;
}

/* Blocks that an event moves and a demand is about. */
static int moves(const Program *p, const Event *e, const char *of) {
  const ProgramOp *op = &p->ops[e->op];
  int n = 0;
  for (int k = 0; k < op->n_moved; k++) n += is_called(p, op->moved[k], of);
  return n;
}

/* Numbers of a row that lines outside the loop over keys write, and lines inside read or write. */
static int waiting_columns(const Program *p) {
  NameSet outside[PROGRAM_KERNELS_MAX] = {0}, inside[PROGRAM_KERNELS_MAX] = {0};
  int most = 0;
  for (int o = 0; o < p->n_ops; o++) {
    const ProgramOp *op = &p->ops[o];
    const bool in_keys = op->loops & IN_J;
    NameSet *touched = in_keys ? &inside[op->kernel] : &outside[op->kernel];
    if (op->kind != OP_EVENT && op->kind != OP_SET) continue;
    for (int k = 0; k < op->n_moved; k++)
      if (in_keys || op->event == EVENT_LOAD) *touched |= name_bit(op->moved[k]);
    for (int k = op->first_assign; k < op->first_assign + op->n_assigns; k++)
      *touched |= name_bit(p->assigns[k].name) | (in_keys ? node_names(p, p->assigns[k].value) : 0);
  }
  for (int k = 0; k < p->n_kernels; k++) {
    int n = 0;
    for (int name = 0; name < p->n_names; name++)
      n += (outside[k] & inside[k] & name_bit(name)) && p->names[name].rows == SIDE_ROWS &&
           p->names[name].cols == SIDE_ONE;
    if (n > most) most = n;
  }
  return most;
}

/* The CTA that an event is of: the places in its kernel's `every` loops. */
typedef struct {
  int64_t kernel, at[DIM_COUNT];
} Cta;

static Cta cta_of(const Program *p, const Event *e) {
  const ProgramOp *op = &p->ops[e->op];
  const int64_t at[DIM_COUNT] = {e->i, e->j, e->split, e->head};
  Cta cta = {.kernel = op->kernel, .at = {-1, -1, -1, -1}};
  for (int loop = op->parent; loop >= 0; loop = p->ops[loop].parent)
    if (p->ops[loop].every) cta.at[p->ops[loop].dim] = at[p->ops[loop].dim];
  return cta;
}

/* Errors: a run of more than a million events. */
static Status demand_measure(const ProgramTask *t, const Simulation *run, DemandFigures *figures, Error *error) {
  const Program *p = run->schedule;
  Cursor cursor = {0};
  Event e;
  Cta before = {.kernel = -1};
  double walked = 0, longest = 0;
  if (schedule_n_steps(p, &run->plan) > EVENTS_MAX)
    return error_set(error, STATUS_TOO_LARGE, "a run of more than a million events");
  memset(figures, 0, sizeof *figures);
  while (schedule_next(p, &run->plan, &cursor, &e)) {
    const Cta cta = cta_of(p, &e);
    if (memcmp(&cta, &before, sizeof cta) != 0) before = cta, walked = 0;
    walked += p->ops[e.op].counts_tile && e.kind != EVENT_SKIP;
    if (walked > longest) longest = walked;
    for (int k = 0; k < t->n_demands; k++) {
      const ProgramDemand *d = &t->demands[k];
      if (d->kind == DEMAND_EVENT) figures->of[k] += e.kind == d->event;
      if (d->kind == DEMAND_LOAD && e.kind == EVENT_LOAD) figures->of[k] += moves(p, &e, d->left + d->of);
      if (d->kind == DEMAND_STORE && event_goes_out(e.kind)) figures->of[k] += moves(p, &e, d->left + d->of);
    }
  }
  const double whole[DEMAND_COUNT] = {[DEMAND_COLUMNS] = waiting_columns(p),
                                      [DEMAND_LONGEST] = longest,
                                      [DEMAND_BYTES] = (double)run->total_bytes,
                                      [DEMAND_KERNELS] = p->n_kernels,
                                      [DEMAND_SRAM] = (double)run->sram.bytes};
  for (int k = 0; k < t->n_demands; k++) figures->of[k] += whole[t->demands[k].kind]; /* 0 of what was counted */
  return STATUS_OK;
}

double demand_bar(const ProgramDemand *d, const Plan *plan, double reference) {
  double tiles = 0;
  if (d->unit == DEMAND_OF_REFERENCE) return (double)(uint64_t)(d->amount * reference + 0.5);
  if (!plan) return d->amount;
  for (int64_t i = 0; i < plan->T_r; i++) tiles += (double)plan_row_tiles(plan, i).computed;
  const double units[DEMAND_UNIT_COUNT] = {[DEMAND_PLAIN] = 1,
                                           [DEMAND_TILES] = tiles,
                                           [DEMAND_ROW_BLOCKS] = (double)plan->T_r,
                                           [DEMAND_COLUMN_BLOCKS] = (double)plan->T_c,
                                           [DEMAND_SPLIT_TILES] = (double)plan->tiles_per_split};
  return d->amount * units[d->unit];
}

static Number said(const ProgramDemand *d, double x) {
  const bool is_bytes =
      d->kind == DEMAND_BYTES || d->kind == DEMAND_SRAM || d->kind == DEMAND_SHARED || d->kind == DEMAND_LOCAL;
  return is_bytes ? number_bytes((Wide)x) : number_count((Wide)x);
}

void demand_say(const ProgramDemand *d, double now, double right, double bar, char *text, size_t size) {
  snprintf(text, size, "%s: %s now; right %s; bar %s", d->left, said(d, now).text, said(d, right).text,
           said(d, bar).text);
}

/* ---- Verdicts --------------------------------------------------------------------------------------------- */

enum { A_FEW = 64 }; /* sectors or conflicts that count for nothing in a launch that may be tiny */

const char *task_verdict_name(const ProgramTask *t, const TaskJudgement *j) {
  static const char *const NAMES[] = {"solved", "unreadable", "other", "wrong", "fault", "work"};
  return j->verdict == TASK_DEMAND ? DEMAND_NAMES[t->demands[j->demand].kind] : NAMES[j->verdict];
}

void task_fails(TaskJudgement *j, TaskVerdict verdict, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(j->why, sizeof j->why, format, arguments);
  va_end(arguments);
  j->verdict = verdict;
}

Status task_error(const ProgramTask *t, int line, const Error *own, Error *error) {
  return error_set(error, own->status, "%s:%d: %s", t->file, line, own->message);
}

typedef struct {
  const ProgramTask *task;
  Program own, reference, mutant;
  TaskJudgement *j;
  Error *error;
} Judge;

/* ---- What is asked for ------------------------------------------------------------------------------------ */

static size_t skip_line(const char *line) {
  const size_t length = strcspn(line, "\n");
  return length + (line[length] != '\0');
}

/* Whether two lines say the same, whatever blanks and remarks they have. */
static bool same_line(const char *a, const char *b) {
  for (;; a++, b++) {
    a += strspn(a, " \t");
    b += strspn(b, " \t");
    const bool ends = !*a || strchr("\n#", *a);
    if (ends || *a != *b) return ends && (!*b || strchr("\n#", *b));
  }
}

/* Whether every declaration of `a` stands in `b`. */
static bool declares_all(const char *a, const char *b) {
  for (; *a && strncmp(a, "kernel", 6) != 0; a += skip_line(a)) {
    const char *word = a + strspn(a, " \t"), *other = b;
    if (strncmp(word, "input", 5) != 0 && strncmp(word, "output", 6) != 0) continue;
    while (*other && !same_line(a, other)) other += skip_line(other);
    if (!*other) return false;
  }
  return true;
}

static bool counts_once(const Program *p) {
  for (int k = 0; k < p->n_ops; k++)
    if (p->ops[k].once) return true;
  return false;
}

/* ---- Numbers ---------------------------------------------------------------------------------------------- */

/* `config`: the last that was tried. */
static bool is_right(const Program *p, SoftmaxConfig *config, ProgramVerdict *verdict) {
  static const Precision PRECISIONS[] = {PRECISION_FP64, PRECISION_FP16, PRECISION_BF16};
  for (size_t k = 0; k < COUNT_OF(PRECISIONS); k++) {
    *config = (SoftmaxConfig){.precision = PRECISIONS[k]};
    *verdict = program_verdict(p, config);
    if (!verdict->is_right || !verdict->is_tried) return false;
  }
  return true;
}

/* ---- States ----------------------------------------------------------------------------------------------- */

/* Runs a program in a state, and measures it. */
static Status measure(const ProgramTask *t, int state, const Program *p, Simulation *run, DemandFigures *figures,
                      Error *error) {
  Request request = {0};
  Problem problem;
  Error own = {0};
  Status status = request_read(&request, t->states[state], true, &own);
  if (!status) status = request_problem(&request, &problem, NULL, &own);
  if (!status) status = simulate(run, &problem, p, &own);
  if (!status) status = demand_measure(t, run, figures, &own);
  return status ? task_error(t, t->state_lines[state], &own, error) : STATUS_OK;
}

void task_check_demands(const ProgramTask *t, const Plan *plan, const DemandFigures *own, const DemandFigures *must,
                        TaskJudgement *j) {
  char figures[256];
  for (int k = 0; k < t->n_demands && !j->verdict; k++) {
    const ProgramDemand *d = &t->demands[k];
    double bar = demand_bar(d, plan, must->of[k]);
    if (t->is_hidden[j->state] && (d->kind == DEMAND_SECTORS || d->kind == DEMAND_CONFLICTS))
      bar += A_FEW; /* a launch of one element */
    if (d->exactly ? own->of[k] == bar : own->of[k] <= bar) continue;
    j->demand = k;
    j->figure = own->of[k];
    demand_say(d, own->of[k], must->of[k], bar, figures, sizeof figures);
    task_fails(j, TASK_DEMAND, "%s (at %.200s)", figures, program_task_state(t, j->state));
    snprintf(j->says, sizeof j->says, "%s", d->says);
  }
}

static Status check_state(Judge *g, int state, const Program *p, TaskJudgement *j) {
  const ProgramTask *t = g->task;
  Simulation *runs = calloc(2, sizeof *runs);
  DemandFigures own, must;
  Error why = {0};
  if (!runs) return error_no_memory(g->error, "to judge a program");
  const Status status = measure(t, state, &g->reference, &runs[1], &must, g->error);
  if (!status && measure(t, state, p, &runs[0], &own, &why))
    task_fails(j, TASK_OTHER, "it cannot be run: %.300s", why.message);
  j->state = state;
  if (!status) task_check_demands(t, &runs[1].plan, &own, &must, j);
  if (!status && state == 0) j->bytes = (double)runs[0].total_bytes, j->reference_bytes = (double)runs[1].total_bytes;
  if (!j->verdict) j->state = -1;
  free(runs);
  return status;
}

/* Judges a program that reads. */
static Status judge(Judge *g, const Program *p, TaskJudgement *j) {
  ProgramVerdict verdict;
  *j = (TaskJudgement){.mutant = -1, .state = -1};
  if (!declares_all(p->text, g->reference.text) || !declares_all(g->reference.text, p->text)) {
    task_fails(j, TASK_OTHER,
               "its inputs and outputs are not those of the task; leave the lines 'input' and "
               "'output' as the start has them");
  } else if (counts_once(p) && !counts_once(&g->reference)) {
    task_fails(j, TASK_OTHER, "'once' counts a load once, however often it is made: bytes would mean nothing");
  } else if (!is_right(p, &(SoftmaxConfig){0}, &verdict)) {
    task_fails(j, TASK_WRONG, "%s", verdict.text);
    j->line = verdict.line;
  }
  Status status = STATUS_OK;
  for (int k = 0; k < g->task->n_states && !status && j->verdict == TASK_SOLVED; k++) status = check_state(g, k, p, j);
  return status;
}

/* ---- The whole -------------------------------------------------------------------------------------------- */

/* The mutant that fails as the program does: with the same outputs where these are wrong, else with the same bytes. */
static Status diagnose(Judge *g) {
  char text[PROGRAM_TASK_PROGRAM_BYTES];
  TaskJudgement *j = g->j, other;
  for (int k = 0; k < g->task->n_mutants && j->mutant < 0; k++) {
    if (program_task_mutant(g->task, k, text, NULL) ||
        program_read(&g->mutant, text, strlen(text), g->task->file, NULL))
      continue;
    if (j->verdict == TASK_WRONG) {
      if (program_same_outputs(&g->own, &g->mutant)) j->mutant = k;
      continue;
    }
    const Status status = judge(g, &g->mutant, &other);
    if (status) return status;
    if (other.verdict == j->verdict && other.state == j->state && other.demand == j->demand &&
        other.figure == j->figure)
      j->mutant = k;
  }
  if (j->mutant >= 0) snprintf(j->says, sizeof j->says, "%s", g->task->mutants[j->mutant].says);
  return STATUS_OK;
}

static Status read_reference(Judge *g) {
  const ProgramTask *t = g->task;
  Error own = {0};
  TaskJudgement j;
  Status status = program_read(&g->reference, t->reference, strlen(t->reference), "the reference", &own);
  if (!status) status = judge(g, &g->reference, &j);
  if (!status && j.verdict != TASK_SOLVED) status = error_set(&own, STATUS_BAD_FILE, "the reference: %s", j.why);
  return !status || g->error->status ? status : task_error(t, t->reference_line, &own, g->error);
}

Status program_judge(const ProgramTask *task, const char *text, size_t length, const char *file, TaskJudgement *j,
                     Error *error) {
  Judge *g = calloc(1, sizeof *g);
  Error own = {0}, refused = {0};
  *j = (TaskJudgement){.mutant = -1, .state = -1};
  if (!g) return error_no_memory(error, "to judge a program");
  g->task = task;
  g->j = j;
  g->error = &own;
  Status status = read_reference(g);
  if (!status && program_read(&g->own, text, length, file, &refused)) {
    task_fails(j, TASK_UNREADABLE, "%s", refused.message);
  } else if (!status) {
    status = judge(g, &g->own, j);
    if (!status && j->verdict >= TASK_WRONG) status = diagnose(g);
  }
  free(g);
  return error_pass(error, &own);
}

/* The line of a program that a mutant has in place of one of the reference; 0: none. */
static int find_mutated(const ProgramTask *t, int mutant, const char *text) {
  char mutated[PROGRAM_TASK_PROGRAM_BYTES];
  if (mutant < 0 || program_task_mutant(t, mutant, mutated, NULL)) return 0;
  for (const char *a = t->reference, *b = mutated; *a && *b; a += skip_line(a), b += skip_line(b)) {
    if (same_line(a, b)) continue;
    int line = 1, last = 0;
    for (const char *p = text; *p; p += skip_line(p), line++)
      if (same_line(p, b)) last = line;
    if (last) return last;
  }
  return 0;
}

void program_blame(const ProgramTask *t, const char *text, size_t length, TaskJudgement *j) {
  static const char *const WORDS[][2] = {{"", ""},
                                         {"line ", " is wrong"},
                                         {"something is missing behind line ", ""},
                                         {"line ", " is too much"},
                                         {"line ", " comes too early"}};
  Program *p = malloc(sizeof *p);
  SoftmaxConfig config;
  ProgramVerdict verdict;
  ProgramMend mend = {.kind = MEND_NONE};
  char *stores = strrchr(j->why, ';'); /* "; line 20 stores it", "; no number since line 20." */
  const int mutated = find_mutated(t, j->mutant, text);
  if (mutated)
    mend = (ProgramMend){.kind = MEND_REPLACE, .line = mutated};
  else if (p && !program_read(p, text, length, "", NULL) && !is_right(p, &config, &verdict))
    mend = program_mend(p, &config);
  free(p);
  if (!mend.kind || !stores) return;
  j->line = mend.line;
  snprintf(stores, sizeof j->why - (size_t)(stores - j->why), "; %s%d%s", WORDS[mend.kind][0], mend.line,
           WORDS[mend.kind][1]);
}

Status program_figures(const ProgramTask *t, bool is_start, DemandFigures *figures, Plan *plan, Error *error) {
  const char *text = is_start ? t->start : t->reference;
  Simulation *run = malloc(sizeof *run);
  Program *p = malloc(sizeof *p);
  Status status = run && p ? program_read(p, text, strlen(text), t->file, error) : error_no_memory(error, "for a task");
  if (!status) status = measure(t, 0, p, run, figures, error);
  if (!status) *plan = run->plan;
  free(run);
  free(p);
  return status;
}
