#include "viz/lesson/program_demand.h"

#include <stdio.h>

#include "viz/text/number.h"

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

Status demand_measure(const ProgramTask *t, const Simulation *run, DemandFigures *figures, Error *error) {
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
