#include "viz/cli/eligible.h"

#include <math.h>
#include <string.h>

#include "viz/request/description.h"
#include "viz/request/own.h"

/* ---- Which ------------------------------------------------------------------------------------------------- */

Status eligible_judge(const char *library, const CallFacts *facts, Eligible *e, Error *error) {
  memset(e, 0, sizeof *e);
  e->facts = *facts;
  e->runs = -1;
  for (const char *name = library; *name; name = e->libraries[e->n - 1].uses) {
    if (e->n == ELIGIBLE_LIBRARIES)
      return error_set(error, STATUS_TOO_LARGE, "%.80s uses more than %d files of rules, one another's perhaps",
                       library, ELIGIBLE_LIBRARIES);
    const Status status = description_backend(name, &e->libraries[e->n], error);
    if (status) return status;
    backend_apply(&e->libraries[e->n], &e->facts, e->changed[e->n]);
    e->n++;
  }
  const Backend *b = eligible_backend(e);
  e->order = backend_order(b, &e->facts);
  for (int k = 0; e->order && k < e->order->n && e->runs < 0; k++)
    if (backend_refusal(b, e->order->kernels[k], &e->facts, 0) < 0) e->runs = e->order->kernels[k];
  return STATUS_OK;
}

/* ---- What it costs ----------------------------------------------------------------------------------------- */

static bool is_tensor(const CallFacts *f) { return strcmp(f->value[CALL_MASK].word, "tensor") == 0; }

/* A mask tensor is the same for all heads and sequences, in the type of Q; kernels that read it skip no tile. */
static void mask_tensor(Problem *p, Wide *once_bytes, Wide *read_bytes) {
  Shape *s = &p->shape;
  s->causal = s->top_left = s->sided = false;
  s->window = 0;
  s->pattern = NULL;
  *once_bytes = wide(s->N_q) * wide(s->N_k) * wide(dtype_bytes(s->dtype));
  *read_bytes = *once_bytes * wide(s->batch) * wide(s->heads);
}

/* K and V for every query head. */
static Wide repeated_bytes(const Shape *s) {
  return wide(s->batch) * wide(s->heads) * wide(s->N_k) * wide(s->d + s->d_v) * wide(dtype_bytes(s->dtype));
}

const char *eligible_program(const char *runs, const Profile **kernel) {
  const Schedule *schedule = schedule_find(runs);
  *kernel = NULL;
  if (!schedule && !description_shipped(THING_KERNEL, runs, NULL) && !own_kernel(runs, kernel, NULL))
    schedule = (*kernel)->schedule;
  return schedule ? schedule->name : NULL;
}

/* The kernel's own tiles, on a machine and a problem that it takes; else the usual tiles of its program. */
static Status run_kernel(Simulation *run, Problem *p, const char *program, Error *error) {
  if (p->kernel && !simulate(run, p, planner_algorithm(p), NULL)) return STATUS_OK;
  p->kernel = NULL;
  return simulate(run, p, schedule_find(program), error);
}

Status eligible_cost(const Problem *asked, const CallFacts *facts, const char *runs, const Gpu *gpu, EligibleCost *cost,
                     Error *error) {
  Problem p = *asked;
  Simulation run;
  *cost = (EligibleCost){.program = eligible_program(runs, &p.kernel)};
  Status status = cost->program ? shape_complete(&p.shape, error) : STATUS_OK;
  if (status || !cost->program) return status;
  Wide mask_once = 0, mask_read = 0, repeated = 0, repeated_read = 0;
  if (p.shape.causal && strcmp(facts->value[CALL_CORNER].word, "top-left") == 0) p.shape.top_left = true;
  if (is_tensor(facts)) mask_tensor(&p, &mask_once, &mask_read);
  if (facts->value[CALL_KV_HEADS].number > (double)p.shape.kv_heads) {
    repeated = repeated_bytes(&p.shape);
    repeated_read = repeated / wide(p.shape.heads / p.shape.kv_heads);
    p.shape.kv_heads = p.shape.heads;
  }
  status = run_kernel(&run, &p, cost->program, error);
  if (status) return status;
  simulation_time(&run, gpu);
  const double rate = timing_rate(gpu, TIME_HBM, p.shape.dtype), extra = (double)(mask_once + repeated + repeated_read);
  cost->boundary_bytes = run.total_bytes + mask_read + repeated + repeated_read;
  cost->memory_bytes = run.intermediates_bytes + mask_once + repeated;
  cost->bound_s = run.timing.least_s;
  if (rate > 0) cost->bound_s = fmax(cost->bound_s, run.timing.floor.part_s[TIME_HBM] + extra / rate);
  return STATUS_OK;
}
