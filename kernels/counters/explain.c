#include "kernels/counters/explain.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/algorithms/shipped.h"

enum {
  HBM_WRITES_LITTLE = 16 << 20,
  SECTOR = 32,
  FP32 = 4,
  CANDIDATES_MAX = 256,
  DEFAULT_THREADS = 128,
  MOST_WAVES = 1 << 20
};

/* Counters are this near to what a cause gives, when it is the right one (HBM is not as sharp: writes stay in L2). */
static const double SHARP = 0.003, BLUNT = 0.05;
static const double NEAR = 0.01; /* what a cause costs that is near, not exact */

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

/* One count, if it is there: bytes, and what rounding leaves. */
typedef struct {
  bool known;
  double value, slack;
} Measured;

/* Bytes that the model moves. */
typedef struct {
  double q, k, v, other; /* read */
  double write;
  double read; /* in all */
} Moves;

typedef struct {
  const CounterRow *row;
  const KernelModel *model;
  Plan plan; /* shape and tiling, complete */
  ExplainContext context;
  Measured read, write;
  bool at_hbm; /* the counts are those of HBM: everything once, but for S and P */
  Moves base;
  double Q, K, V, O, S; /* one time each, all heads */
  double sharp;
  Cause found[CANDIDATES_MAX];
  int n;
} Explain;

static Measured measure(const CounterRow *row, Counter first, Counter second) {
  const Counter c = row->known[first] ? first : second;
  return (Measured){row->known[c], (double)row->value[c], (double)row->slack[c]};
}

/* --- what the model moves, for any shape, tile and schedule --- */

static bool moves_of(const Explain *x, const char *schedule, const Shape *shape, const Tiling *tiling, Moves *moves) {
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
static Moves at_hbm(const Explain *x, const char *schedule) {
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
  if (x->at_hbm) return at_hbm(x, x->model->schedule);
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

/* --- scores --- */

static double off(const Measured *m, double value) {
  const double distance = fabs(m->value - value) - m->slack, larger = m->value > value ? m->value : value;
  return distance <= 0 || larger <= 0 ? 0 : distance / larger;
}

static bool differs(const Explain *x, const Measured *m, double value) {
  return m->known && off(m, value) > x->sharp / 3;
}

static void bytes_text(double bytes, char *to, size_t size) {
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

/* A cause that would give these bytes. penalty: what it takes for granted, as a distance. */
static void offer(Explain *x, CauseKind kind, double penalty, double read, double write, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
static void offer(Explain *x, CauseKind kind, double penalty, double read, double write, const char *format, ...) {
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
    bytes_text(read, amount, sizeof amount);
    snprintf(would, sizeof would, "read %s", amount);
  }
  if (says_write && x->write.known) {
    bytes_text(write, amount, sizeof amount);
    snprintf(would + strlen(would), sizeof would - strlen(would), "%swrite %s", *would ? " and " : "", amount);
  }
  snprintf(c->text, sizeof c->text, "%s: would %s, %.1f %% off", what, would, c->off * 100);
}

/* --- causes, each in its own words --- */

static void mask(Explain *x) {
  if (x->at_hbm) return; /* K and V come once either way */
  Shape shape = x->plan.shape;
  Moves m;
  if (shape.causal || shape.window) {
    shape.causal = false;
    shape.window = 0;
    if (x->model->skips_masked && moves_of(x, NULL, &shape, &x->plan.tiling, &m))
      offer(x, CAUSE_MASK_NOT_SKIPPED, 0, m.read, x->base.write, "masked tiles are not skipped");
  } else {
    shape.causal = true;
    KernelModel skips = *x->model;
    skips.skips_masked = true;
    Explain other = *x;
    other.model = &skips;
    if (moves_of(&other, NULL, &shape, &x->plan.tiling, &m))
      offer(x, CAUSE_MASK_SKIPPED, 0.001, m.read, x->base.write, "a causal mask, whose tiles are skipped");
  }
}

static void read_again(Explain *x) {
  const Moves *b = &x->base;
  const double both = b->k + b->v;
  offer(x, CAUSE_READ_AGAIN, 0.0004, b->read + both, b->write, "K and V read twice");
  offer(x, CAUSE_READ_AGAIN, 0.0005, b->read + b->k, b->write, "K or V read twice");
  if (both > 0) {
    const double times = (x->read.value - b->read) / both + 1, whole = rint(times);
    if (whole >= 3 && whole <= 64 && fabs(times - whole) < 0.02)
      offer(x, CAUSE_READ_AGAIN, 0.002, b->read + (whole - 1) * both, b->write, "K and V read %.0f times", whole);
  }
  const Tiling *t = &x->plan.tiling;
  const double again = b->k * (double)(t->B_r < x->plan.shape.N_q ? t->B_r : x->plan.shape.N_q) / (double)t->B_c;
  if (!x->at_hbm)
    offer(x, CAUSE_Q_AGAIN, 0.0006, b->read - b->q + again, b->write, "Q read again for every tile of K and V");
}

/* Query heads that share K and V, as rows of one tile or each for itself. */
static void packing(Explain *x) {
  const Moves *b = &x->base;
  const Shape *s = &x->plan.shape;
  const double packed = (double)x->context.packed_group;
  if (packed > 1)
    offer(x, CAUSE_NOT_PACKED, 0, b->read + (packed - 1) * (b->k + b->v), b->write,
          "the %.0f query heads of a group are not packed: each reads K and V", packed);
  const int64_t group = s->heads / s->kv_heads, rows = x->plan.tiling.B_r;
  if (group < 2) return;
  if (x->at_hbm) {
    const double g = (double)group;
    offer(x, CAUSE_NOT_PACKED, 0.0003, b->read + (g - 1) * (b->k + b->v), b->write,
          "the %.0f query heads of a group are not packed: each reads K and V", g);
    return;
  }
  const double share = (double)ceil_div(s->N_q * group, rows) / (double)(group * ceil_div(s->N_q, rows));
  offer(x, CAUSE_PACKED, 0, b->q + b->other + share * (b->k + b->v), b->write,
        "the %lld query heads of a group packed into the rows of one tile", (long long)group);
}

static int64_t round_up(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

static int64_t n_tiles(const Explain *x) {
  Moves pure;
  const Shape *s = &x->plan.shape;
  if (!moves_of(x, NULL, s, &x->plan.tiling, &pure)) return 0;
  const double tile = (double)(x->plan.tiling.B_c < s->N_k ? x->plan.tiling.B_c : s->N_k) * (double)s->d *
                      (double)x->plan.element_bytes;
  return (int64_t)(pure.k / tile + 0.5);
}

static void spills(Explain *x) {
  Moves pure;
  if (x->at_hbm || !x->write.known || !moves_of(x, NULL, &x->plan.shape, &x->plan.tiling, &pure)) return;
  const int64_t tiles = n_tiles(x), threads = x->context.threads ? x->context.threads : DEFAULT_THREADS;
  const double more = x->write.value - pure.write;
  const bool counted = x->row->known[COUNTER_LOCAL_WRITE];
  const double stored = (double)x->row->value[COUNTER_LOCAL_WRITE];
  if (x->model->extra_write_bytes > 0 && more <= 0.001 * pure.write)
    offer(x, CAUSE_SPILLS, 0.0002, x->base.read, pure.write, "this build spills no registers, as the description says");
  if (tiles < 1 || more <= 0) return;
  const double each = more / (double)tiles / (double)threads;
  if (counted && stored < 0.5 * more) return; /* local memory was not stored to */
  if (each > 1024 || each < 0.25) return;     /* a thread has 255 registers of 4 bytes */
  const double described = (double)x->model->extra_write_bytes / (double)tiles / (double)threads;
  if (described > 0)
    offer(x, CAUSE_SPILLS, counted ? 0.0001 : 0.01, x->base.read, pure.write + more,
          "this build spills about %.1f B a thread and tile, not %.1f", each, described);
  else if (counted)
    offer(x, CAUSE_SPILLS, 0.0001, x->base.read, pure.write + stored,
          "registers spilled, %.1f B a thread and tile, as "
          "local memory was stored to",
          each);
  else
    offer(x, CAUSE_SPILLS, 0.02, x->base.read, pure.write + more, "registers spilled: %.1f B a thread and tile", each);
}

static void padding(Explain *x) {
  static const int64_t steps[] = {8, 16, 32, 64, 128, 256};
  const Shape *s = &x->plan.shape;
  const Moves *b = &x->base;
  int64_t before = s->d;
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    const int64_t d = round_up(s->d, steps[i]);
    if (d == before) continue;
    before = d;
    const double more = (double)d / (double)s->d, penalty = more < 2 ? 0.001 : 0.003;
    offer(x, CAUSE_PADDED_D, penalty, b->read * more, b->write, "rows of d = %lld read as %lld elements",
          (long long)s->d, (long long)d);
    offer(x, CAUSE_PADDED_D, penalty, b->read * more, b->write * more, "rows of d = %lld moved as %lld elements",
          (long long)s->d, (long long)d);
  }
  Shape padded = *s;
  Moves m;
  padded.N_q = round_up(s->N_q, x->plan.tiling.B_r);
  padded.N_k = round_up(s->N_k, x->plan.tiling.B_c);
  if ((padded.N_q == s->N_q && padded.N_k == s->N_k) || x->at_hbm) return;
  if (moves_of(x, NULL, &padded, &x->plan.tiling, &m)) {
    offer(x, CAUSE_PADDED_N, 0.0008, m.read, m.write, "the last tiles moved whole, as if N were %lld and %lld",
          (long long)padded.N_q, (long long)padded.N_k);
    offer(x, CAUSE_PADDED_N, 0.0009, m.read, b->write, "the last tiles read whole, as if N were %lld and %lld",
          (long long)padded.N_q, (long long)padded.N_k);
  }
}

static void sectors(Explain *x) {
  const Moves *b = &x->base;
  const CounterRow *row = x->row;
  if (x->at_hbm) return;
  const double row_bytes = (double)x->plan.shape.d * (double)x->plan.element_bytes;
  const double whole = ceil(row_bytes / SECTOR) * SECTOR;
  if (row->known[COUNTER_GLOBAL_READ] && row->known[COUNTER_GLOBAL_USED] && row->value[COUNTER_GLOBAL_USED]) {
    const double times = (double)row->value[COUNTER_GLOBAL_READ] / (double)row->value[COUNTER_GLOBAL_USED];
    if (times > 1.01)
      offer(x, CAUSE_SECTORS, 0, b->read * times, b->write, "loads use 1 byte in %.1f of the sectors that they touch",
            times);
  }
  if (whole > row_bytes)
    offer(x, CAUSE_SECTORS, 0.0007, b->read * whole / row_bytes, b->write,
          "rows of %.0f B fetched as whole sectors, %.0f B", row_bytes, whole);
  offer(x, CAUSE_SECTORS, 0.0015, b->read * (row_bytes + SECTOR) / row_bytes, b->write,
        "rows begin within a sector, so each touches one more");
  const double strided = SECTOR / (double)x->plan.element_bytes;
  offer(x, CAUSE_SECTORS, 0.002, b->read + b->k * (strided - 1), b->write,
        "K (or V) read by columns: a sector for each element");
  offer(x, CAUSE_SECTORS, 0.002, b->read * strided, b->write, "a sector fetched for each element");
}

static void scores(Explain *x) {
  const Moves *b = &x->base;
  Moves m;
  const char *unfused = shipped_unfused()->name;
  const bool is_unfused = !strcmp(x->model->schedule, unfused);
  if (!is_unfused) {
    if (x->at_hbm) {
      m = at_hbm(x, unfused);
      offer(x, CAUSE_SCORES_IN_HBM, 0.0002, m.read, m.write, "S and P go through HBM (not a fused kernel)");
    } else {
      if (moves_of(x, unfused, &x->plan.shape, &x->plan.tiling, &m))
        offer(x, CAUSE_SCORES_IN_HBM, 0.0002, m.read, m.write, "S and P go through HBM, each matrix once a pass");
      KernelTraffic t;
      const Tiling blocks = {.B_r = 64, .B_c = 64};
      if (kernel_model_traffic(kernel_model_find("standard_tiled"), &x->plan.shape, &blocks, &t, NULL) == STATUS_OK)
        offer(x, CAUSE_SCORES_IN_HBM, 0.0002, (double)kernel_traffic_read(&t), (double)kernel_traffic_write(&t),
              "S and P go through HBM, in two tiled products and a softmax");
    }
    offer(x, CAUSE_SCORES_IN_HBM, 0.0006, b->read + 2 * x->S, b->write + 2 * x->S, "S and P written and read again");
    offer(x, CAUSE_SCORES_KEPT, 0.0008, b->read, b->write + x->S, "the weights P written besides, for the caller");
  }
  for (int n = 1; n <= 4; n++)
    offer(x, CAUSE_PASS, 0.0005 + 0.001 * n, b->read + n * x->S, b->write + n * x->S,
          n == 1 ? "an unfused pass over S: read and written once more" : "%d unfused passes over S", n);
  offer(x, CAUSE_PASS, 0.001, b->read + x->O, b->write + x->O, "an unfused pass over O (a scale, a conversion)");
  offer(x, CAUSE_PASS, 0.0011, b->read + x->Q, b->write + x->Q, "an unfused pass over Q (a scale, rotary positions)");
  offer(x, CAUSE_PASS, 0.0012, b->read + x->K + x->V, b->write + x->K + x->V,
        "K and V copied before (a layout or a type converted)");
  offer(x, CAUSE_PASS, 0.0013, b->read + x->Q + x->K + x->V, b->write + x->Q + x->K + x->V,
        "Q, K and V copied before (a layout or a type converted)");
  const double heads = (double)(x->plan.shape.batch * x->plan.shape.heads);
  offer(x, CAUSE_MASK_READ, 0.0015, b->read + x->S, b->write,
        "a mask or bias of N x N for every head read from memory");
  if (heads > 1)
    offer(x, CAUSE_MASK_READ, 0.002, b->read + x->S / heads, b->write, "a mask or bias of N x N read from memory");
}

/* Rows of a tile as the launch's grid implies by its blocks of rows for each head. 0: the grid does not say. */
static int64_t rows_by_grid(const Explain *x) {
  const Shape *s = &x->plan.shape;
  const int64_t ctas = x->row->grid[0] * x->row->grid[1] * x->row->grid[2], heads = s->batch * s->heads;
  if (ctas < 1 || ctas % heads || ctas / heads > s->N_q) return 0;
  const int64_t rows = ceil_div(s->N_q, ctas / heads);
  return round_up(rows, 16);
}

static void tiles(Explain *x) {
  const int64_t by_grid = rows_by_grid(x);
  static const int64_t sides[] = {16, 32, 64, 80, 96, 112, 128, 160, 176, 192, 256};
  enum { N_SIDES = sizeof sides / sizeof *sides };
  if (x->at_hbm) return;
  const Tiling own = x->plan.tiling;
  for (int r = 0; r < N_SIDES; r++)
    for (int c = -1; c < N_SIDES; c++) {
      Tiling t = own;
      Moves m;
      t.B_r = sides[r];
      t.B_c = c < 0 ? own.B_c : sides[c];
      if (t.B_r == own.B_r && t.B_c == own.B_c) continue;
      if (!moves_of(x, NULL, &x->plan.shape, &t, &m)) continue;
      const bool power = !(t.B_r & (t.B_r - 1)) && !(t.B_c & (t.B_c - 1));
      const bool square = t.B_r == t.B_c && own.B_r == own.B_c;
      double penalty = (c < 0 ? 0.002 : square ? 0.0012 : 0.004) + (power ? 0 : 0.002);
      if (by_grid && t.B_r != own.B_r) penalty = t.B_r == by_grid ? penalty / 100 : penalty + 0.1;
      offer(x, CAUSE_OTHER_TILE, penalty, m.read + (double)x->model->extra_read_bytes,
            m.write + (double)x->model->extra_write_bytes, "tiles of %lld x %lld instead of %lld x %lld",
            (long long)t.B_r, (long long)t.B_c, (long long)own.B_r, (long long)own.B_c);
    }
}

/* The shape that the launch itself shows. */
static void shape_by_file(Explain *x) {
  const Shape *f = &x->context.by_file, *s = &x->plan.shape;
  Moves m;
  if (!f->N_q || x->at_hbm) return;
  if (f->N_q == s->N_q && f->N_k == s->N_k && f->batch * f->heads == s->batch * s->heads && f->causal == s->causal)
    return;
  if (!moves_of(x, NULL, f, &x->plan.tiling, &m)) return;
  offer(x, CAUSE_OTHER_SHAPE, 0, m.read, x->base.write,
        "the grid's shape, N = %lld, %lld heads in all%s, not what was asked", (long long)f->N_q,
        (long long)(f->batch * f->heads), f->causal ? ", causal" : "");
}

static void shapes(Explain *x) {
  const Moves *b = &x->base;
  shape_by_file(x);
  const int element = x->plan.element_bytes;
  offer(x, CAUSE_OTHER_TYPE, 0.0015, b->read * 2, b->write * 2,
        "twice as much of everything: elements of %d bytes instead of %d, or twice the heads", 2 * element, element);
  offer(x, CAUSE_OTHER_TYPE, 0.0015, b->read / 2, b->write / 2,
        "half of everything: elements of half the size, or half of the heads");
  if (element < FP32)
    offer(x, CAUSE_OTHER_TYPE, 0.0004, b->read, b->write + x->O * (FP32 - element) / element, "O written in fp32");
  if (element == 1) offer(x, CAUSE_OTHER_TYPE, 0.0004, b->read, b->write + x->O, "O written in 16 bits");
  for (int k = 3; k <= 128; k++) {
    offer(x, CAUSE_OTHER_SHAPE, 0.003, b->read * k, b->write * k, "%d times the batch or heads", k);
    offer(x, CAUSE_OTHER_SHAPE, 0.003, b->read / k, b->write / k, "1 in %d of the batch or heads", k);
  }
  for (int k = 2; k <= 16 && !x->at_hbm; k *= 2)
    for (int up = 0; up < 2; up++) {
      Shape s = x->plan.shape;
      Moves m;
      s.N_q = up ? s.N_q * k : s.N_q / k;
      s.N_k = up ? s.N_k * k : s.N_k / k;
      if (s.N_q < 1 || s.N_k < 1 || !moves_of(x, NULL, &s, &x->plan.tiling, &m)) continue;
      offer(x, CAUSE_OTHER_SHAPE, 0.003, m.read, m.write, "N of %lld and %lld instead of %lld and %lld",
            (long long)s.N_q, (long long)s.N_k, (long long)x->plan.shape.N_q, (long long)x->plan.shape.N_k);
    }
}

static void orders(Explain *x) {
  const Moves *b = &x->base;
  const Shape *s = &x->plan.shape;
  Moves m;
  const double rows = (double)s->batch * (double)s->heads * (double)s->N_q;
  if (!x->plan.tiling.lse)
    offer(x, CAUSE_LSE, 0, b->read, b->write + rows * FP32, "the log-sum-exp of every row written too");
  if (x->at_hbm) return;
  const char *own = x->model->schedule, *whole_head = shipped_whole_head()->name;
  if (strcmp(own, whole_head) && moves_of(x, whole_head, s, &x->plan.tiling, &m))
    offer(x, CAUSE_FA1_ORDER, 0.0005, m.read, m.write, "FA-1's order: O, m and l go back and forth");
  if (!strcmp(own, whole_head) && moves_of(x, shipped_default()->name, s, &x->plan.tiling, &m))
    offer(x, CAUSE_FA1_ORDER, 0.0005, m.read, m.write, "FA-2's order: O, m and l stay in the SM");
  for (int n = 2; n <= 128; n++) {
    const double parts = (double)n * rows * (double)(s->d + 1) * FP32;
    offer(x, CAUSE_SPLIT, 0.002, b->read + parts, b->write + parts, "keys split in %d: parts of O in fp32 and back", n);
    offer(x, CAUSE_SPLIT, 0.003, b->read, b->write - x->O + parts, "keys split in %d: parts of O in fp32", n);
  }
}

/* --- HBM alone: what L2 does not keep --- */

/* Bytes of K and V that waves of n_running CTAs read when L2 keeps nothing between two waves and all of it within one:
 * CTAs go through the row blocks of one group of query heads, which share K and V, then of the next. -1: too many. */
static double read_by_waves(const Explain *x, int64_t n_running) {
  const Shape *s = &x->plan.shape;
  const int64_t T_r = x->plan.T_r, sets = s->batch * s->kv_heads, of_set = T_r * (s->heads / s->kv_heads);
  if (sets > MOST_WAVES || of_set > INT64_MAX / sets || sets * of_set / n_running > MOST_WAVES) return -1;
  double keys = 0;
  for (int64_t first = 0; first < sets * of_set; first += of_set)
    for (int64_t at = first, next; at < first + of_set; at = next) {
      next = (at / n_running + 1) * n_running;
      if (next > first + of_set) next = first + of_set;
      const bool whole = (next - 1 - first) / T_r != (at - first) / T_r; /* a head ends within the wave */
      const int64_t block = whole ? T_r - 1 : (next - 1 - first) % T_r;
      const int64_t seen = (block + 1) * x->plan.tiling.B_r + s->N_k - s->N_q;
      keys += (double)(s->causal && seen < s->N_k ? seen > 0 ? seen : 0 : s->N_k);
    }
  return keys * (x->K + x->V) / ((double)sets * (double)s->N_k);
}

/* Between once and all that is asked for, L2 decides what HBM is read for. True: L2 is too small, and that is said. */
static bool l2_decides(Explain *x, double asked) {
  const Shape *s = &x->plan.shape;
  const double l2 = (double)x->context.l2_bytes, sets = (double)s->batch * (double)s->kv_heads;
  if (!x->context.l2_bytes || !x->context.n_sm) return true;
  if (s->window || x->Q + x->K + x->V <= l2 || !differs(x, &x->read, x->base.read)) return false;
  const double head = (x->K + x->V) / sets, of_set = (double)x->plan.T_r * (double)(s->heads / s->kv_heads);
  const CauseKind kind = head > l2 ? CAUSE_L2_SMALL : CAUSE_L2_HEADS;
  char holds[24], needs[24];
  bytes_text(l2, holds, sizeof holds);
  for (int per_sm = 1; per_sm <= 2; per_sm++) {
    const int64_t n_running = x->context.n_sm * per_sm;
    const double at_once = fmin(sets, fmax(1, ceil((double)n_running / of_set))), moved = read_by_waves(x, n_running);
    bytes_text(head > l2 ? head : head * at_once, needs, sizeof needs);
    if (moved < 0 || head * at_once <= l2) continue;
    if (head > l2)
      offer(x, kind, 0.0001 * per_sm, x->Q + moved, x->base.write,
            "K and V of a head have %s, L2 %s: each wave of %lld CTAs reads them anew", needs, holds,
            (long long)n_running);
    else
      offer(x, kind, 0.0001 * per_sm, x->Q + moved, x->base.write,
            "other heads in between: %.0f at once have %s of K and V, L2 %s; %lld CTAs a wave", at_once, needs, holds,
            (long long)n_running);
  }
  offer(x, CAUSE_L2_UNSHARED, 0.001, asked, x->base.write, "L2 holds no tile for a second CTA: each reads its own");
  if (x->n > 0 || head * fmin(sets, fmax(1, ceil((double)x->context.n_sm / of_set))) <= l2) return true;
  Cause *c = &x->found[x->n++]; /* no amount: L2 keeps a part */
  *c = (Cause){.kind = kind, .score = 0.3, .read = x->base.read, .write = x->base.write};
  bytes_text(head, needs, sizeof needs);
  snprintf(c->text, sizeof c->text,
           "L2 (%s) keeps a part of K and V (%s a head): %.0f %% of what CTAs share comes from HBM again", holds, needs,
           100 * (x->read.value - x->base.read) / (asked - x->base.read));
  return true;
}

/* What no amount shows: what lay in L2 already, L1, launches too small to count. */
static void states(Explain *x) {
  const CounterRow *row = x->row;
  const double once = x->Q + x->K + x->V;
  if (row->known[COUNTER_L1_HIT_RATE] && row->value[COUNTER_L1_HIT_RATE] > 10000 && !x->at_hbm) {
    const double misses = 1 - (double)row->value[COUNTER_L1_HIT_RATE] * 1e-6;
    offer(x, CAUSE_L1, 0, x->base.read * misses, x->base.write, "loads hit in L1 (%.1f %%)", 100 * (1 - misses));
  }
  if (x->n == CANDIDATES_MAX) return;
  Cause *c = &x->found[x->n];
  *c = (Cause){.read = x->base.read, .write = x->base.write};
  const double hbm = (double)row->value[COUNTER_HBM_READ];
  if (row->known[COUNTER_HBM_READ] && hbm < 0.9 * once) {
    const bool fits = x->context.l2_bytes && once <= (double)x->context.l2_bytes;
    c->kind = CAUSE_WARM;
    c->score = x->at_hbm ? 0.05 : 0.3;
    snprintf(c->text, sizeof c->text, "HBM read %.0f %% of what Q, K and V have once: %s", 100 * hbm / once,
             fits ? "they lay in L2 already (ncu --cache-control all flushes it)"
                  : "another shape, or counters of a part of the launch");
    x->n++;
    return;
  }
  const int64_t ctas = row->grid[0] * row->grid[1] * row->grid[2];
  const double looks = (double)row->value[COUNTER_L2_HIT_RATE];
  const bool above = row->known[COUNTER_L2_HIT_RATE] && looks > 1e6;
  if (!above && !(ctas && x->context.n_sm && ctas * 8 < x->context.n_sm)) return;
  c->kind = CAUSE_SMALL;
  c->score = 0.2;
  if (above)
    snprintf(c->text, sizeof c->text,
             "a hit rate of %.1f %%: the launch is too small or too short to be counted in several passes",
             looks * 1e-4);
  else
    snprintf(c->text, sizeof c->text,
             "a launch of %lld CTAs on %lld SMs: instructions and parameters count as much as "
             "tiles",
             (long long)ctas, (long long)x->context.n_sm);
  x->n++;
}

/* --- all together --- */

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
  const bool different = differs(&x, &x.read, x.base.read) || differs(&x, &x.write, x.base.write);
  KernelTraffic asked;
  if (x.at_hbm && !x.write.known && x.read.value >= x.base.read &&
      kernel_model_traffic(model, &x.plan.shape, &x.plan.tiling, &asked, NULL) == STATUS_OK &&
      x.read.value <= (double)kernel_traffic_read(&asked) && l2_decides(&x, (double)kernel_traffic_read(&asked))) {
    rank(&x, causes, n_causes);
    return STATUS_OK;
  }
  if (different) {
    mask(&x);
    read_again(&x);
    packing(&x);
    spills(&x);
    padding(&x);
    sectors(&x);
    scores(&x);
    tiles(&x);
    shapes(&x);
    orders(&x);
  }
  states(&x);
  rank(&x, causes, n_causes);
  return STATUS_OK;
}
