/* Time of runs side by side: its terms, bound and prediction. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/cli/run_tables_parts.h"

static bool has_softmax(const Schedule *s, int node) {
  if (node < 0) return false;
  const ProgramNode *n = &s->nodes[node];
  return n->kind == NODE_SOFTMAX || n->kind == NODE_ATTENTION || has_softmax(s, n->a) || has_softmax(s, n->b);
}

/* 1 of attention, 2.5 of its gradients, 0 of anything else. */
static double papers_passes(const Schedule *s) {
  double most = s->declares ? 0 : 1;
  for (int k = 0; k < s->n_declarations; k++) {
    const ProgramDeclaration *d = &s->declarations[k];
    if (d->role != TENSOR_OUTPUT || !d->formula) continue;
    const bool is_gradient = s->nodes[d->formula - 1].kind == NODE_GRADIENT;
    most = fmax(most, is_gradient ? 2.5 : has_softmax(s, d->formula - 1) ? 1 : 0);
  }
  return most;
}

/* FLOPs as the papers count them: 2 d + 2 d_v for each pair of query and key, half of all pairs under a causal mask; of
 * the backward pass 2.5 times as many (FlashAttention-2, section 4.1). Of other masks, the pairs that may be seen. */
static double papers_flops(const Simulation *run) {
  const Shape *s = &run->plan.shape;
  const double pair = papers_passes(run->schedule) * simulation_pair_flops(s);
  if (s->pattern || s->window || s->sided) {
    const Mask mask = mask_of_shape(s);
    return pair * (double)s->batch * (double)s->heads * (double)mask_pairs(&mask);
  }
  const double all = pair * (double)s->batch * (double)s->heads * (double)s->N_q * (double)s->N_k;
  return s->causal ? all / 2 : all;
}

static void papers_flops_row(Table *t, const Simulation *runs, int n) {
  bool any = false, bounds = true; /* a bound of the time is one of the rate, from above */
  for (int k = 0; k < n; k++) {
    any = any || papers_flops(&runs[k]) > 0;
    bounds = bounds && runs[k].timing.kind == TIME_BOUND;
  }
  if (!any) return;
  table_text(t, ROLE_PLAIN, bounds ? "  papers' FLOP/s, at most" : "  papers' FLOP/s");
  for (int k = 0; k < n; k++) {
    if (runs[k].timing.seconds > 0 && papers_flops(&runs[k]) > 0)
      table_format(t, ROLE_PLAIN, "%s", number_si(papers_flops(&runs[k]) / runs[k].timing.seconds, "FLOP/s").text);
    else
      table_empty(t, true);
  }
}

/* Left out where no run has it. */
static void seconds_row(Table *t, const char *label, const Simulation *runs, int n, double (*of)(const Timing *, int),
                        int which, bool (*binds)(const Timing *, int)) {
  bool any = false;
  for (int k = 0; k < n; k++) any = any || of(&runs[k].timing, which) > 0;
  if (!any) return;
  table_text(t, ROLE_PLAIN, label);
  for (int k = 0; k < n; k++) {
    const double seconds = of(&runs[k].timing, which);
    if (isnan(seconds) || seconds <= 0)
      table_empty(t, true);
    else
      table_seconds(t, binds(&runs[k].timing, which) ? ROLE_ACCENT : ROLE_PLAIN, seconds);
  }
}

static double term_of(const Timing *t, int term) {
  return term < TIME_PART_COUNT      ? t->run.part_s[term]
         : term == TIME_TERM_BUSIEST ? t->run.busiest_s
         : term == TIME_TERM_PORT    ? t->run.port_s
                                     : t->run.kernels_s;
}

static bool term_binds(const Timing *t, int term) { return term_of(t, term) >= t->run.bound_s; }
enum { FIGURE_RUN, FIGURE_FLOOR, FIGURE_PREDICTED };

static double figure_of(const Timing *t, int figure) {
  return figure == FIGURE_RUN ? t->run.bound_s : figure == FIGURE_FLOOR ? t->least_s : t->predicted_s;
}

static bool figure_counts(const Timing *t, int figure) { return figure_of(t, figure) == t->seconds; }

/* How many times as fast as the first, where both are times of one kind. */
static void faster_row(Table *t, const Simulation *runs, int n) {
  bool any = false;
  for (int k = 1; k < n; k++) any = any || timing_comparable(&runs[0].timing, &runs[k].timing);
  if (!any) return;
  table_format(t, ROLE_PLAIN, "  faster than %s",
               strcmp(run_tables_machine(runs, n), runs[0].machine.name) == 0 ? runs[0].schedule->name : "the first");
  for (int k = 0; k < n; k++) {
    if (timing_comparable(&runs[0].timing, &runs[k].timing))
      table_ratio(t, ROLE_PLAIN, runs[0].timing.seconds / runs[k].timing.seconds);
    else
      table_empty(t, true);
  }
}

void run_tables_time(Table *t, const Simulation *runs, int n) {
  if (!runs[0].timed) return;
  table_group(t, "Time on %s", run_tables_machine(runs, n));
  for (int term = 0; term < TIME_TERM_COUNT; term++) {
    char label[48];
    snprintf(label, sizeof label, "  %s",
             term < TIME_PART_COUNT      ? timing_term_title(term)
             : term == TIME_TERM_BUSIEST ? "products, busiest SM"
             : term == TIME_TERM_PORT    ? "L2 port, busiest SM"
                                         : "kernels, one by one");
    seconds_row(t, label, runs, n, term_of, term, term_binds);
  }
  seconds_row(t, "  these, at least", runs, n, figure_of, FIGURE_RUN, figure_counts);
  seconds_row(t, "  predicted", runs, n, figure_of, FIGURE_PREDICTED, figure_counts);
  table_text(t, ROLE_PLAIN, "  the time is");
  for (int k = 0; k < n; k++)
    table_text(t, ROLE_PLAIN, runs[k].timing.seconds > 0 ? time_kind_name(runs[k].timing.kind) : "not known");
  papers_flops_row(t, runs, n);
  faster_row(t, runs, n);
  seconds_row(t, "  no run is faster", runs, n, figure_of, FIGURE_FLOOR, figure_counts);
}

static const char *named(const Simulation *run) { return run->kernel ? run->kernel->name : run->schedule->name; }

/* How far a time can be trusted: by recorded runs of the same sort, or not known. */
static void kind_note(Table *t, const Simulation *run) {
  const Timing *timing = &run->timing;
  const TimeError *e = &timing->error;
  if (timing->kind == TIME_BOUND)
    table_note(t, "%s: a bound, as no time is predicted: %s.", named(run), timing->why);
  else if (timing->kind == TIME_EXTRAPOLATED && e->n_runs)
    table_note(
        t,
        "%s: extrapolated (%s). Of %lld figures that others print of other cards half are within %.1f %%, nine in "
        "ten within %.1f %%.",
        named(run), timing->why, (long long)e->n_runs, (double)e->median_permille / 10, (double)e->nine_permille / 10);
  else if (timing->kind == TIME_EXTRAPOLATED)
    table_note(t, "%s: extrapolated, and not compared with anything: %s.", named(run), timing->why);
  else if (e->n_runs == 0)
    table_note(t, "%s: predicted, but no recorded run of its sort (%s) was compared with it.", named(run),
               time_regime_phrase(timing->regime));
  else
    table_note(t,
               "%s: predicted. Of %lld %s of its sort (%s) half are within %.1f %%, nine in ten within "
               "%.1f %%. Cards and days differ by up to a tenth.",
               named(run), (long long)e->n_runs,
               time_regime_is_held_out(timing->regime) ? "held-out runs" : "runs, to which it was fitted,",
               time_regime_phrase(timing->regime), (double)e->median_permille / 10, (double)e->nine_permille / 10);
}

void run_tables_time_notes(Table *t, const Simulation *runs, int n) {
  const Simulation *run = &runs[0];
  if (!run->timed) return;
  char unknown[64] = "";
  for (int part = 0; part < TIME_PART_COUNT; part++)
    if (isnan(run->timing.run.part_s[part]) && (part != TIME_L2 || run->machine.l2_bytes))
      snprintf(unknown + strlen(unknown), sizeof unknown - strlen(unknown), "%s%s", *unknown ? ", " : "",
               timing_term_title(part));
  if (*unknown)
    table_note(t, "Left out of the time, because the rate is not known for %s: %s.", run->machine.name, unknown);
  if (run->timing.computes_in != run->plan.shape.dtype)
    table_note(t, "%s has no %s products: %s is storage only, computed in %s.", run->machine.name,
               dtype_name(run->plan.shape.dtype), dtype_name(run->plan.shape.dtype),
               dtype_name(run->timing.computes_in));
  table_note(t,
             "Time: the bytes, products and exponentials above at peak rates, all of it overlapping, from cold caches. "
             "No run is faster: with what L2 could hold%s.%s",
             run->tiles_given ? "" : ", and any tiles, as none are given",
             run->timing.floor.bound == TIME_EXP
                 ? " Exponentials bind: a kernel that computes some as polynomials (FlashAttention-4) may be."
                 : "");
  for (int k = 0; k < n; k++) kind_note(t, &runs[k]);
}
