#include "kernels/counters/explain_inner.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/algorithms/shipped.h"

/* Counters are this near to what a cause gives, when it is the right one (HBM is not as sharp: writes stay in L2). */
static const double SHARP = 0.003, BLUNT = 0.05;

const char *cause_name(CauseKind kind) {
  static const char *const names[CAUSE_COUNT] = {[CAUSE_MASK_NOT_SKIPPED] = "mask_not_skipped",
                                                 [CAUSE_MASK_SKIPPED] = "mask_skipped",
                                                 [CAUSE_READ_AGAIN] = "read_again",
                                                 [CAUSE_Q_AGAIN] = "q_again",
                                                 [CAUSE_NOT_PACKED] = "not_packed",
                                                 [CAUSE_PACKED] = "packed",
                                                 [CAUSE_SPILLS] = "spills",
                                                 [CAUSE_SECTORS] = "sectors",
                                                 [CAUSE_PADDED_D] = "padded_d",
                                                 [CAUSE_PADDED_N] = "padded_n",
                                                 [CAUSE_SCORES_IN_HBM] = "scores_in_hbm",
                                                 [CAUSE_SCORES_KEPT] = "scores_kept",
                                                 [CAUSE_PASS] = "pass",
                                                 [CAUSE_MASK_READ] = "mask_read",
                                                 [CAUSE_OTHER_TILE] = "other_tile",
                                                 [CAUSE_OTHER_SHAPE] = "other_shape",
                                                 [CAUSE_OTHER_TYPE] = "other_type",
                                                 [CAUSE_LSE] = "lse",
                                                 [CAUSE_FA1_ORDER] = "fa1_order",
                                                 [CAUSE_SPLIT] = "split",
                                                 [CAUSE_L1] = "l1",
                                                 [CAUSE_L2_SMALL] = "l2_small",
                                                 [CAUSE_L2_HEADS] = "l2_heads",
                                                 [CAUSE_L2_UNSHARED] = "l2_unshared",
                                                 [CAUSE_WARM] = "warm",
                                                 [CAUSE_SMALL] = "small",
                                                 [CAUSE_BACKGROUND] = "background"};
  return names[kind];
}

static Measured measure(const CounterRow *row, Counter first, Counter second) {
  const Counter c = row->known[first] ? first : second;
  return (Measured){row->known[c], (double)row->value[c], (double)row->slack[c]};
}

bool explain_moves(const Explain *x, const char *schedule, const Shape *shape, const Tiling *tiling, Moves *moves) {
  KernelModel model = *x->model;
  KernelTraffic t;
  if (schedule) {
    model.schedule = schedule;
    model.name = schedule;
    model.unfused = NULL;
    model.skips_masked = schedule_find(schedule) != shipped_unfused() && x->model->skips_masked;
  }
  if (schedule_find(model.schedule) != shipped_unfused() ? kernel_model_traffic(&model, shape, tiling, &t, NULL)
                                                         : kernel_model_ideal(&model, shape, tiling, &t, NULL))
    return false;
  *moves = (Moves){.q = (double)t.read[KERNEL_Q], .k = (double)t.read[KERNEL_K], .v = (double)t.read[KERNEL_V]};
  moves->other = (double)kernel_traffic_read(&t) - moves->q - moves->k - moves->v;
  moves->write = (double)kernel_traffic_write(&t);
  moves->read = (double)kernel_traffic_read(&t);
  return true;
}

/* At HBM each tensor comes once, and S and P as often as the schedule has them. */
Moves explain_at_hbm(const Explain *x, const char *schedule) {
  Moves m = {.q = x->Q, .k = x->K, .v = x->V, .write = x->O};
  if (schedule_find(schedule) == shipped_unfused()) {
    m.other = 2 * x->S;
    m.write += 2 * x->S;
  }
  m.read = m.q + m.k + m.v + m.other;
  return m;
}

static Moves base_moves(const Explain *x) {
  Moves m = {0};
  if (x->at_hbm) return explain_at_hbm(x, x->model->schedule);
  KernelTraffic t;
  if (kernel_model_traffic(x->model, &x->plan.shape, &x->plan.tiling, &t, NULL)) return m;
  m.q = (double)t.read[KERNEL_Q];
  m.k = (double)t.read[KERNEL_K];
  m.v = (double)t.read[KERNEL_V];
  m.read = (double)kernel_traffic_read(&t) + (double)x->model->extra_read_bytes;
  m.other = m.read - m.q - m.k - m.v;
  m.write = (double)kernel_traffic_write(&t) + (double)x->model->extra_write_bytes;
  return m;
}

static double off(const Measured *m, double value) {
  const double distance = fabs(m->value - value) - m->slack, larger = m->value > value ? m->value : value;
  return distance <= 0 || larger <= 0 ? 0 : distance / larger;
}

bool explain_differs(const Explain *x, const Measured *m, double value) {
  return m->known && off(m, value) > x->sharp / 3;
}

void explain_bytes_text(double bytes, char *to, size_t size) {
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  int u = 0;
  for (; bytes >= 999.5 && u < 5; u++) bytes /= 1000;
  snprintf(to, size, bytes < 10 && u ? "%.2f %s" : bytes < 100 && u ? "%.1f %s" : "%.0f %s", bytes, units[u]);
}

/* What a distance costs; little where the cause does not speak of that count, as there may be two faults. */
static double weigh(double distance, bool spoken_of, double noise) {
  if (distance <= noise) return 0;
  return spoken_of ? distance - noise : distance < 0.1 ? distance / 2 : 0.05;
}

void explain_offer(Explain *x, CauseKind kind, double penalty, double read, double write, const char *format, ...) {
  if (x->n == CANDIDATES_MAX) return;
  const bool says_read = fabs(read - x->base.read) > 0.5, says_write = fabs(write - x->base.write) > 0.5;
  const double read_off = x->read.known ? off(&x->read, read) : 0,
               write_off = x->write.known ? off(&x->write, write) : 0;
  const double read_was = x->read.known ? off(&x->read, x->base.read) : 0,
               write_was = x->write.known ? off(&x->write, x->base.write) : 0;
  /* Half of the difference that it speaks of, and nothing worse elsewhere. */
  const double gained = read_was + write_was - read_off - write_off,
               spoken = (says_read ? read_was : 0) + (says_write ? write_was : 0);
  if (!says_read && !says_write) return;
  if (spoken <= 0 || gained < 0.5 * spoken || (says_read && read_off > 0.25) || (says_write && write_off > 0.25))
    return;
  Cause *c = &x->found[x->n++];
  *c = (Cause){.kind = kind, .read = read, .write = write};
  c->off = (says_read ? read_off : 0) > (says_write ? write_off : 0) ? read_off : says_write ? write_off : read_off;
  const double noise = x->sharp;
  /* Exact beats near: bytes that agree to the last are no accident, unless the cause has a number that was chosen. */
  const bool chosen = kind == CAUSE_SPILLS && !x->row->known[COUNTER_LOCAL_WRITE] && write > x->base.write;
  const bool exact = read_off == 0 && write_off == 0 && !chosen && !x->at_hbm;
  c->score =
      exact ? penalty / 100 : penalty + NEAR + weigh(read_off, says_read, noise) + weigh(write_off, says_write, noise);
  char what[112], would[64], amount[24];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  would[0] = '\0';
  if (says_read && x->read.known) {
    explain_bytes_text(read, amount, sizeof amount);
    snprintf(would, sizeof would, "read %s", amount);
  }
  if (says_write && x->write.known) {
    explain_bytes_text(write, amount, sizeof amount);
    snprintf(would + strlen(would), sizeof would - strlen(would), "%swrite %s", *would ? " and " : "", amount);
  }
  snprintf(c->text, sizeof c->text, "%s: would %s, %.1f %% off", what, would, c->off * 100);
}

static void sizes_once(Explain *x) {
  const Shape *s = &x->plan.shape;
  const double e = x->plan.element_bytes, d = (double)s->d,
               queries = (double)s->batch * (double)s->heads * (double)s->N_q;
  x->Q = x->O = queries * d * e;
  x->K = x->V = (double)s->batch * (double)s->kv_heads * (double)s->N_k * d * e;
  x->S = queries * (double)s->N_k * e;
}

/* The best of each text once. */
static void rank(Explain *x, Cause causes[CAUSES_MAX], int *n_causes) {
  *n_causes = 0;
  while (*n_causes < CAUSES_MAX) {
    int best = -1;
    for (int i = 0; i < x->n; i++) {
      if (x->found[i].score < 0) continue;
      if (best < 0 || x->found[i].score < x->found[best].score) best = i;
    }
    if (best < 0) return;
    const Cause *c = &x->found[best];
    /* Of one kind, the best two; and nothing that is far behind the first. */
    int same = 0;
    for (int i = 0; i < *n_causes; i++) same += causes[i].kind == c->kind;
    const bool far_behind =
        *n_causes && c->kind != CAUSE_WARM && c->kind != CAUSE_SMALL && c->score > causes[0].score + 0.15;
    if (same < (c->kind == CAUSE_OTHER_TILE || c->kind == CAUSE_OTHER_SHAPE ? 1 : 2) && !far_behind)
      causes[(*n_causes)++] = *c;
    x->found[best].score = -1;
  }
}

Status counter_explain(const CounterRow *row, const KernelModel *model, const Shape *shape, const Tiling *tiling,
                       const ExplainContext *context, Cause causes[CAUSES_MAX], int *n_causes, Error *error) {
  *n_causes = 0;
  static const ExplainContext nothing = {0};
  Explain x = {.row = row, .model = model, .context = context ? *context : nothing};
  const Status status = plan_make(&x.plan, shape, tiling, error);
  if (status) return status;
  x.read = measure(row, COUNTER_BOUNDARY_READ, COUNTER_COUNTED_READ);
  x.write = measure(row, COUNTER_BOUNDARY_WRITE, COUNTER_COUNTED_WRITE);
  x.at_hbm = !x.read.known && !x.write.known;
  x.sharp = SHARP;
  if (x.at_hbm) {
    x.sharp = BLUNT;
    x.read = measure(row, COUNTER_HBM_READ, COUNTER_HBM_READ);
    x.write = measure(row, COUNTER_HBM_WRITE, COUNTER_HBM_WRITE);
  }
  sizes_once(&x);
  x.base = base_moves(&x);
  /* Writes may stay in L2, and what lay dirty in it before leaves: fewer than O, or little more, are no difference. */
  if (x.at_hbm && x.write.known && x.write.value < x.base.write + HBM_WRITES_LITTLE) x.write.known = false;
  const bool different = explain_differs(&x, &x.read, x.base.read) || explain_differs(&x, &x.write, x.base.write);
  KernelTraffic asked;
  if (x.at_hbm && !x.write.known && x.read.value >= x.base.read &&
      kernel_model_traffic(model, &x.plan.shape, &x.plan.tiling, &asked, NULL) == STATUS_OK &&
      x.read.value <= (double)kernel_traffic_read(&asked) &&
      explain_l2_decides(&x, (double)kernel_traffic_read(&asked))) {
    rank(&x, causes, n_causes);
    return STATUS_OK;
  }
  if (different) explain_launch(&x);
  explain_states(&x);
  rank(&x, causes, n_causes);
  return STATUS_OK;
}
