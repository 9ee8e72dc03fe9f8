#include "sim/answer/advice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/algorithms/shipped.h"

static const int64_t SIDES[] = {16, 32, 64, 128, 192, 256};
enum {
  N_SIDES = COUNT_OF(SIDES),
  PAPER_STEP = 16, /* rows: where no instruction asks for a power of two, every multiple is tried */
  PAPER_ROWS = 16,
  TILES_MAX = PAPER_ROWS * N_SIDES,
  SPLIT_ROWS = 128 /* of packed queries: with more, row blocks fill the SMs */
};
_Static_assert(ADVICE_CANDIDATES_MAX == 2 * TILES_MAX + PROFILES_MAX, "tiles, split or not, and kernels");

/* Hears how much of a candidate is done. */
static void hear(void *context, double part) {
  const Advice *a = context;
  if (a->tell) a->tell(a->context, (a->seen + part * a->now) / a->all);
}

/* How long a tile takes, beside others: under a pattern of blocks each is counted. */
static double weight(const Problem *p, const Tiling *t) {
  const bool counts = p->shape.pattern && p->shape.pattern->kind == PATTERN_BLOCKS;
  return counts ? 1 / ((double)t->B_r * (double)t->B_c) : 1;
}

/* One was tried; the next has that weight. */
static void go_on(Advice *a, double next) {
  a->seen += a->now;
  a->now = next;
  if (a->n) hear(a, 0); /* where anything runs there is advice */
}

/* The CTAs of such a kernel. */
static bool launch_tile(Candidate *t, const Gpu *gpu) {
  LaunchConfig c = simulation_launch(&t->run);
  c.threads = t->cost.threads;
  c.registers_per_thread = t->cost.registers_per_thread;
  c.shared_bytes = t->cost.shared_bytes;
  if (t->run.config.ctas_per_sm) c.ctas_per_sm = t->run.config.ctas_per_sm;
  return !launch_make(&t->launch, &t->run.plan.shape, &c, gpu, NULL);
}

/* Whether a CTA's tile is what TileCost is of: two products and an exponential for each pair of query and key, once. */
static bool has_cost(const Simulation *run) {
  const PairCost pair = schedule_pair_cost(run->schedule, &run->plan);
  return run->schedule->skips && pair.is_all && pair.exps == 1 && pair.flops == simulation_pair_flops(&run->plan.shape);
}

/* False: it does not run, or says why in *error. */
static bool try_tile(Candidate *t, const Problem *problem, const Schedule *schedule, const Gpu *gpu, Error *error) {
  if (simulation_answer(&t->run, problem, schedule, gpu, error) || !t->run.fits) return false;
  const Plan *plan = &t->run.plan;
  const bool owns_keys = schedule_owns_columns(schedule);
  t->kind = TIME_BOUND;
  t->seconds = t->run.timing.run.bound_s;
  if (gpu->l2_bytes == 0) return true; /* the papers' two levels: no registers, no instructions */
  t->cost = (owns_keys ? tile_cost_backward : tile_cost)(gpu, &plan->shape, plan->tiling.B_r, plan->tiling.B_c);
  t->kind = has_cost(&t->run) && !owns_keys ? TIME_EXTRAPOLATED : TIME_BOUND;
  if (owns_keys) return !t->cost.misfit && launch_tile(t, gpu);
  if (t->kind == TIME_BOUND) return true;
  if (t->cost.misfit || !launch_tile(t, gpu)) return false;
  const double bytes_per_s = gpu_hbm_bytes_per_s(gpu), starts = (double)(t->run.schedule->n_passes - 1);
  const double hbm_s = bytes_per_s > 0 ? simulation_own_work(&t->run, gpu).hbm_bytes / bytes_per_s : 0;
  const double makespan = makespan_s(&t->launch, &(Sequences){plan, 1, NULL}, &t->cost.law, (SmSpeed){.slower = 1});
  t->seconds =
      fmax(t->seconds, starts * (double)t->cost.law.start_ns * 1e-9 + makespan_kernel_s(&t->cost.law, makespan, hbm_s));
  return true;
}

/* A described kernel, where it runs and has a time. */
static bool try_kernel(Candidate *t, const Problem *problem, const Profile *kernel, const Gpu *gpu) {
  Problem p = *problem;
  p.kernel = kernel;
  if (!kernel->schedule->skips) return false;
  if (schedule_owns_columns(p.kernel->schedule)) return false; /* the backward pass answers another question */
  if (simulation_answer(&t->run, &p, NULL, gpu, NULL) || t->run.timing.kind == TIME_BOUND) return false;
  t->kernel = p.kernel;
  t->launch = t->run.launch;
  t->seconds = t->run.timing.seconds;
  t->kind = t->run.timing.kind;
  return true;
}

/* By time; of equals the fewer bytes, then the smaller tile. */
static int best_first(const void *a, const void *b) {
  const Candidate *x = a, *y = b;
  const Tiling *p = &x->run.plan.tiling, *q = &y->run.plan.tiling;
  if (x->seconds != y->seconds) return x->seconds < y->seconds ? -1 : 1;
  if (x->run.total_bytes != y->run.total_bytes) return x->run.total_bytes < y->run.total_bytes ? -1 : 1;
  return (p->B_r * p->B_c > q->B_r * q->B_c) - (p->B_r * p->B_c < q->B_r * q->B_c);
}

/* Tiles with more than twice the rows or keys that there are say nothing new. */
static bool is_larger(int64_t block, int64_t n) { return block > 16 && block >= 2 * n; }

/* schedule: NULL: they are weighed. */
static Status try_tiles(Advice *advice, const Problem *problem, const Schedule *schedule, const Gpu *gpu,
                        Error *error) {
  const Shape packed = problem->pack == PACK_OFF ? problem->shape : shape_packed(&problem->shape);
  const Tiling asked = problem->tiling; /* a side that is given is the only one that is tried, of whatever size */
  const bool on_paper = gpu->l2_bytes == 0;
  for (int i = 0; i < (asked.B_r ? 1 : on_paper ? PAPER_ROWS : N_SIDES); i++) {
    const int64_t rows = on_paper ? (int64_t)PAPER_STEP * (i + 1) : SIDES[i];
    for (int j = 0; j < (asked.B_c ? 1 : N_SIDES); j++) {
      Problem p = *problem;
      if ((!asked.B_r && is_larger(rows, packed.N_q)) || (!asked.B_c && is_larger(SIDES[j], packed.N_k))) continue;
      if (!asked.B_r) p.tiling.B_r = rows;
      if (!asked.B_c) p.tiling.B_c = SIDES[j];
      if (!schedule) {
        advice->all += weight(&p, &p.tiling);
        continue;
      }
      go_on(advice, weight(&p, &p.tiling));
      Candidate *tried = &advice->candidates[advice->n];
      Error inner = {0};
      if (try_tile(tried, &p, schedule, gpu, &inner)) {
        advice->n++;
      } else if (inner.status && inner.status != STATUS_BAD_REQUEST) {
        return error_pass(error, &inner);
      } else {
        advice->why = tried->cost.misfit ? tried->cost.misfit
                      : on_paper         ? "it has no room in SRAM"
                                         : "its tiles do not fit an SM";
        advice->n_misfits++;
      }
    }
  }
  return STATUS_OK;
}

Status advice_make(Advice *advice, const Problem *problem, const Schedule *schedule, bool is_named, const Gpu *gpu,
                   Error *error) {
  const Shape packed = shape_packed(&problem->shape);
  const bool splits = !is_named && problem->shape.N_q < problem->shape.N_k && packed.N_q <= SPLIT_ROWS;
  const bool any_kernel = !is_named && !problem->tiling.B_r && !problem->tiling.B_c && gpu->l2_bytes > 0;
  const Profile *kernels[PROFILES_MAX];
  const int n_kernels = any_kernel && advice->kernels ? advice->kernels(kernels) : 0;
  const double kernel = weight(problem, &(Tiling){.B_r = 128, .B_c = 128});
  const Listener listener = {hear, advice};
  Problem p = *problem;
  p.listener = &listener;
  try_tiles(advice, &p, NULL, gpu, error);
  advice->all = (1 + splits) * advice->all + kernel * n_kernels;
  Status status = try_tiles(advice, &p, schedule, gpu, error);
  if (!status && splits) status = try_tiles(advice, &p, shipped_splitting(), gpu, error);
  for (int k = 0; k < n_kernels && !status; k++) {
    go_on(advice, kernel);
    advice->n += try_kernel(&advice->candidates[advice->n], &p, kernels[k], gpu);
  }
  if (!status && advice->n == 0 && problem->tiling.B_r && problem->tiling.B_c)
    status = error_refuse(error, "a tile of %jd x %jd is no kernel on %s: %s; take a smaller one", problem->tiling.B_r,
                          problem->tiling.B_c, gpu->name, advice->why);
  else if (!status && advice->n == 0)
    status = error_refuse(error, "no tile of %jd to %jd rows and keys fits %s here; a smaller head or another GPU may",
                          SIDES[0], SIDES[N_SIDES - 1], gpu->name);
  if (!status) qsort(advice->candidates, (size_t)advice->n, sizeof *advice->candidates, best_first);
  return status;
}

void advice_name(const Candidate *t, char *text, size_t size) {
  const Tiling *tiling = &t->run.plan.tiling;
  const bool splits = tiling->n_splits > 1;
  char parts[48] = "";
  if (splits) snprintf(parts, sizeof parts, ", %jd splits", tiling->n_splits);
  if (t->kernel)
    snprintf(text, size, "%.40s%s", t->kernel->name, parts);
  else
    snprintf(text, size, "%jd x %jd%s%s%s", tiling->B_r, tiling->B_c, t->cost.instruction ? ", " : "",
             t->cost.instruction ? t->cost.instruction : "", parts);
}

static void report_candidate(const ReportSink *sink, const Candidate *t) {
  report_values(sink, "{");
  if (t->kernel) report_values(sink, "kernel:s", t->kernel->name);
  report_values(sink, "takes_s:f kind:s", t->seconds, time_kind_name(t->kind));
  if (!t->kernel && t->cost.instruction)
    report_values(sink, "instruction:s threads:i registers:i shared_bytes:i", t->cost.instruction, t->cost.threads,
                  t->cost.registers_per_thread, t->cost.shared_bytes);
  report_run(sink, "run", &t->run);
  report_values(sink, "}");
}

void advice_report(const ReportSink *sink, const Advice *a) {
  for (int kernels = 0; kernels < 2; kernels++) {
    report_values(sink, kernels ? "kernels[" : "tiles[");
    for (int k = 0; k < a->n; k++)
      if ((a->candidates[k].kernel != NULL) == (kernels == 1)) report_candidate(sink, &a->candidates[k]);
    report_values(sink, "]");
  }
}
