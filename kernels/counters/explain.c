/* Causes for counters that differ from the model: each offers the bytes that it would give, and the nearest are kept.
 *
 *     what was launched   another shape, tile or type, a mask, an order of loops: the model's bytes for it
 *     what was read more  a tensor once more, S and P, a pass, sectors: the model's bytes and theirs
 *     what L2 decided     where HBM alone was counted: waves of CTAs that find nothing left */
#include "kernels/counters/explain.h"

#include <math.h>
#include <stdarg.h>

#include "sim/algorithms/shipped.h"

enum {
  HBM_WRITES_LITTLE = 16 << 20,
  SECTOR = 32,
  FP32 = 4,
  CANDIDATES_MAX = 256,
  DEFAULT_THREADS = 128,
  MOST_WAVES = 1 << 20,
  PIXEL_BYTES = 4
};

/* Counters are this near to what a cause gives, when it is the right one (HBM is not as sharp: writes stay in L2). */
static const double SHARP = 0.003, BLUNT = 0.05;
static const double NEAR = 0.01; /* what a cause costs that is near, not exact */

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
  double Q, K, S; /* one time each, all heads; O is as large as Q, V as K */
  double sharp;
  Cause found[CANDIDATES_MAX];
  int n;
} Explain;

const char *cause_name(CauseKind kind) {
  static const char *const names[CAUSE_COUNT] = {
      "mask_not_skipped", "mask_skipped", "read_again",  "q_again",       "not_packed",  "packed",    "spills",
      "sectors",          "padded_d",     "padded_n",    "scores_in_hbm", "scores_kept", "pass",      "mask_read",
      "other_tile",       "other_shape",  "other_type",  "lse",           "fa1_order",   "split",     "l1",
      "l2_small",         "l2_heads",     "l2_unshared", "warm",          "small",       "background"};
  return names[kind];
}

static bool is_unfused(const KernelModel *model) { return schedule_find(model->schedule) == shipped_unfused(); }

/* What a model moves; read -INFINITY, which is never offered: it has nothing for that shape. ideal: as its schedule
 * alone says. */
static Moves moves_of(const KernelModel *model, bool ideal, const Shape *shape, const Tiling *tiling) {
  KernelTraffic t;
  if ((ideal ? kernel_model_ideal : kernel_model_traffic)(model, shape, tiling, &t, NULL))
    return (Moves){.read = -INFINITY};
  Moves m = {.q = (double)t.read[KERNEL_Q], .k = (double)t.read[KERNEL_K], .v = (double)t.read[KERNEL_V]};
  m.read = (double)kernel_traffic_read(&t);
  m.write = (double)kernel_traffic_write(&t);
  m.other = m.read - m.q - m.k - m.v;
  return m;
}

static Moves moves_for(const Explain *x, const Shape *shape, const Tiling *tiling) {
  return moves_of(x->model, is_unfused(x->model), shape, tiling);
}

/* The row's shape by another schedule. */
static Moves moves_by(const Explain *x, const Schedule *schedule) {
  KernelModel model = *x->model;
  model.schedule = model.name = schedule->name;
  model.unfused = NULL;
  model.walks_masked |= schedule == shipped_unfused();
  return moves_of(&model, is_unfused(&model), &x->plan.shape, &x->plan.tiling);
}

/* At HBM each tensor comes once, and S and P as often as an unfused schedule has them. */
static Moves moves_at_hbm(const Explain *x, bool unfused) {
  Moves m = {.q = x->Q, .k = x->K, .v = x->K, .other = unfused ? 2 * x->S : 0};
  m.read = m.q + m.k + m.v + m.other;
  m.write = x->Q + m.other;
  return m;
}

static double off(const Measured *m, double value) {
  const double distance = fabs(m->value - value) - m->slack, larger = fmax(m->value, value);
  return !m->known || distance <= 0 || larger <= 0 ? 0 : distance / larger;
}

static bool differs(const Explain *x, const Measured *m, double value) { return off(m, value) > x->sharp / 3; }

typedef struct {
  char text[24];
} Bytes;

static Bytes bytes_of(double bytes) {
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  Bytes b;
  int u = 0;
  for (; bytes >= 999.5 && u < 5; u++) bytes /= 1000;
  snprintf(b.text, sizeof b.text, "%.*f %s", !u || bytes >= 100 ? 0 : bytes < 10 ? 2 : 1, bytes, units[u]);
  return b;
}

/* What a distance costs; little where the cause does not speak of that count, as there may be two faults. */
static double weigh(double distance, bool spoken_of, double noise) {
  if (distance <= noise) return 0;
  if (spoken_of) return distance - noise;
  return distance < 0.1 ? distance / 2 : 0.05;
}

/* A cause that would give these bytes. penalty: what it takes for granted, as a distance. */
__attribute__((format(printf, 6, 7))) static void offer(Explain *x, CauseKind kind, double penalty, double read,
                                                        double write, const char *format, ...) {
  const bool says_read = fabs(read - x->base.read) > 0.5, says_write = fabs(write - x->base.write) > 0.5;
  const double read_off = off(&x->read, read), write_off = off(&x->write, write),
               read_was = off(&x->read, x->base.read), write_was = off(&x->write, x->base.write);
  /* Half of the difference that it speaks of, and nothing worse elsewhere. */
  const double gained = read_was + write_was - read_off - write_off,
               spoken = says_read * read_was + says_write * write_was;
  if (x->n == CANDIDATES_MAX || read < 0 || spoken <= 0 || gained < 0.5 * spoken || says_read * read_off > 0.25 ||
      says_write * write_off > 0.25)
    return;
  Cause *c = &x->found[x->n++];
  *c = (Cause){.kind = kind, .read = read, .write = write};
  c->off = says_write && write_off >= says_read * read_off ? write_off : read_off;
  /* Exact beats near: bytes that agree to the last are no accident, unless the cause has a number that was chosen. */
  const bool chosen = kind == CAUSE_SPILLS && !x->row->known[COUNTER_LOCAL_WRITE] && write > x->base.write;
  const bool exact = read_off == 0 && write_off == 0 && !chosen && !x->at_hbm;
  c->score = exact ? penalty / 100
                   : penalty + NEAR + weigh(read_off, says_read, x->sharp) + weigh(write_off, says_write, x->sharp);
  char what[112];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  const bool tells[] = {says_read && x->read.known, says_write && x->write.known};
  snprintf(c->text, sizeof c->text, "%s: would %s%s%s%s%s, %.1f %% off", what, tells[0] ? "read " : "",
           tells[0] ? bytes_of(read).text : "", tells[0] && tells[1] ? " and " : "", tells[1] ? "write " : "",
           tells[1] ? bytes_of(write).text : "", c->off * 100);
}

/* What is read and written besides: tensors once (Q, K, V, O, S), and K and V as often as the model reads them. */
static const struct {
  CauseKind kind;
  double penalty;
  const char *read, *write, *text;
} BESIDES[] = {
    {CAUSE_READ_AGAIN, 0.0004, "kv", "", "K and V read twice"},
    {CAUSE_READ_AGAIN, 0.0005, "k", "", "K or V read twice"},
    {CAUSE_SCORES_IN_HBM, 0.0006, "SS", "SS", "S and P written and read again"},
    {CAUSE_SCORES_KEPT, 0.0008, "", "S", "the weights P written besides, for the caller"},
    {CAUSE_PASS, 0.0015, "S", "S", "an unfused pass over S: read and written once more"},
    {CAUSE_PASS, 0.0025, "SS", "SS", "2 unfused passes over S"},
    {CAUSE_PASS, 0.0035, "SSS", "SSS", "3 unfused passes over S"},
    {CAUSE_PASS, 0.0045, "SSSS", "SSSS", "4 unfused passes over S"},
    {CAUSE_PASS, 0.001, "O", "O", "an unfused pass over O (a scale, a conversion)"},
    {CAUSE_PASS, 0.0011, "Q", "Q", "an unfused pass over Q (a scale, rotary positions)"},
    {CAUSE_PASS, 0.0012, "KV", "KV", "K and V copied before (a layout or a type converted)"},
    {CAUSE_PASS, 0.0013, "QKV", "QKV", "Q, K and V copied before (a layout or a type converted)"},
    {CAUSE_MASK_READ, 0.0015, "S", "", "a mask or bias of N x N for every head read from memory"},
};

static double amount_of(const Explain *x, const char *tensors) {
  static const char NAMES[] = "kvSKVQO";
  const double amounts[] = {x->base.k, x->base.v, x->S, x->K, x->K, x->Q, x->Q};
  double sum = 0;
  for (; *tensors; tensors++) sum += amounts[strchr(NAMES, *tensors) - NAMES];
  return sum;
}

static void besides(Explain *x) {
  const Moves *b = &x->base;
  const double heads = (double)(x->plan.shape.batch * x->plan.shape.heads), both = b->k + b->v;
  for (size_t i = 0; i < COUNT_OF(BESIDES); i++) {
    const bool of_fused = BESIDES[i].kind == CAUSE_SCORES_IN_HBM || BESIDES[i].kind == CAUSE_SCORES_KEPT;
    if (!of_fused || strcmp(x->model->schedule, shipped_unfused()->name))
      offer(x, BESIDES[i].kind, BESIDES[i].penalty, b->read + amount_of(x, BESIDES[i].read),
            b->write + amount_of(x, BESIDES[i].write), "%s", BESIDES[i].text);
  }
  if (heads > 1)
    offer(x, CAUSE_MASK_READ, 0.002, b->read + x->S / heads, b->write, "a mask or bias of N x N read from memory");
  const double times = both > 0 ? (x->read.value - b->read) / both + 1 : 0, whole = rint(times);
  if (whole >= 3 && whole <= 64 && fabs(times - whole) < 0.02)
    offer(x, CAUSE_READ_AGAIN, 0.002, b->read + (whole - 1) * both, b->write, "K and V read %.0f times", whole);
  const Tiling *t = &x->plan.tiling;
  const double again = b->k * (double)(t->B_r < x->plan.shape.N_q ? t->B_r : x->plan.shape.N_q) / (double)t->B_c;
  if (!x->at_hbm)
    offer(x, CAUSE_Q_AGAIN, 0.0006, b->read - b->q + again, b->write, "Q read again for every tile of K and V");
}

static void mask(Explain *x) {
  Shape shape = x->plan.shape;
  KernelModel skips = *x->model;
  const bool masked = shape.causal || shape.window;
  if (x->at_hbm || (masked && skips.walks_masked)) return; /* K and V come once either way */
  shape.causal = !masked;
  shape.window = 0;
  skips.walks_masked = false;
  const double read = moves_of(&skips, is_unfused(&skips), &shape, &x->plan.tiling).read;
  if (masked)
    offer(x, CAUSE_MASK_NOT_SKIPPED, 0, read, x->base.write, "masked tiles are not skipped");
  else
    offer(x, CAUSE_MASK_SKIPPED, 0.001, read, x->base.write, "a causal mask, whose tiles are skipped");
}

/* Query heads that share K and V, as rows of one tile or each for itself. */
static void packing(Explain *x) {
  const Moves *b = &x->base;
  const Shape *s = &x->plan.shape;
  const int64_t group = s->heads / s->kv_heads, rows = x->plan.tiling.B_r, packed = x->context.packed_group;
  const int64_t apart = packed > 1 ? packed : x->at_hbm ? group : 1;
  if (apart > 1)
    offer(x, CAUSE_NOT_PACKED, packed > 1 ? 0 : 0.0003, b->read + (double)(apart - 1) * (b->k + b->v), b->write,
          "the %lld query heads of a group are not packed: each reads K and V", (long long)apart);
  if (group < 2 || x->at_hbm) return;
  const double share = (double)ceil_div(s->N_q * group, rows) / (double)(group * ceil_div(s->N_q, rows));
  offer(x, CAUSE_PACKED, 0, b->q + b->other + share * (b->k + b->v), b->write,
        "the %lld query heads of a group packed into the rows of one tile", (long long)group);
}

static int64_t round_up(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

static void spills(Explain *x) {
  const Shape *s = &x->plan.shape;
  const Moves pure = moves_for(x, s, &x->plan.tiling);
  const int64_t keys = x->plan.tiling.B_c < s->N_k ? x->plan.tiling.B_c : s->N_k;
  if (x->at_hbm || !x->write.known || pure.read < 0) return;
  const double tiles = round(pure.k / ((double)keys * (double)s->d * (double)x->plan.element_bytes)),
               threads = (double)(x->context.threads ? x->context.threads : DEFAULT_THREADS),
               more = x->write.value - pure.write, described = (double)x->model->extra_write_bytes,
               each = more / tiles / threads, stored = (double)x->row->value[COUNTER_LOCAL_WRITE];
  const bool counted = x->row->known[COUNTER_LOCAL_WRITE];
  if (described > 0 && more <= 0.001 * pure.write)
    offer(x, CAUSE_SPILLS, 0.0002, x->base.read, pure.write, "this build spills no registers, as the description says");
  /* A thread has 255 registers of 4 bytes; local memory may be known not to have been stored to. */
  if (tiles < 1 || more <= 0 || (counted && stored < 0.5 * more) || each > 1024 || each < 0.25) return;
  if (described > 0)
    offer(x, CAUSE_SPILLS, counted ? 0.0001 : 0.01, x->base.read, pure.write + more,
          "this build spills about %.1f B a thread and tile, not %.1f", each, described / tiles / threads);
  else if (counted)
    offer(x, CAUSE_SPILLS, 0.0001, x->base.read, pure.write + stored,
          "registers spilled, %.1f B a thread and tile, as local memory was stored to", each);
  else
    offer(x, CAUSE_SPILLS, 0.02, x->base.read, pure.write + more, "registers spilled: %.1f B a thread and tile", each);
}

static void padding(Explain *x) {
  const Shape *s = &x->plan.shape;
  const Moves *b = &x->base;
  int64_t before = s->d;
  for (int64_t step = 8; step <= 256; step *= 2) {
    const int64_t d = round_up(s->d, step);
    if (d == before) continue;
    before = d;
    const double more = (double)d / (double)s->d, penalty = more < 2 ? 0.001 : 0.003;
    for (int writes = 0; writes < 2; writes++)
      offer(x, CAUSE_PADDED_D, penalty, b->read * more, b->write * (writes ? more : 1),
            "rows of d = %lld %s as %lld elements", (long long)s->d, writes ? "moved" : "read", (long long)d);
  }
  Shape padded = *s;
  padded.N_q = round_up(s->N_q, x->plan.tiling.B_r);
  padded.N_k = round_up(s->N_k, x->plan.tiling.B_c);
  const bool is_whole = padded.N_q == s->N_q && padded.N_k == s->N_k;
  if (x->at_hbm || is_whole) return;
  const Moves m = moves_for(x, &padded, &x->plan.tiling);
  for (int reads = 0; reads < 2; reads++)
    offer(x, CAUSE_PADDED_N, reads ? 0.0009 : 0.0008, m.read, reads ? b->write : m.write,
          "the last tiles %s whole, as if N were %lld and %lld", reads ? "read" : "moved", (long long)padded.N_q,
          (long long)padded.N_k);
}

static void sectors(Explain *x) {
  const Moves *b = &x->base;
  const double touched = (double)x->row->value[COUNTER_GLOBAL_READ], used = (double)x->row->value[COUNTER_GLOBAL_USED],
               element = (double)x->plan.element_bytes, row = (double)x->plan.shape.d * element,
               whole = ceil(row / SECTOR) * SECTOR;
  if (x->at_hbm) return;
  if (x->row->known[COUNTER_GLOBAL_READ] && used > 0 && touched > 1.01 * used)
    offer(x, CAUSE_SECTORS, 0, b->read * touched / used, b->write,
          "loads use 1 byte in %.1f of the sectors that they touch", touched / used);
  offer(x, CAUSE_SECTORS, 0.0007, b->read * whole / row, b->write, "rows of %.0f B fetched as whole sectors, %.0f B",
        row, whole);
  offer(x, CAUSE_SECTORS, 0.0015, b->read * (row + SECTOR) / row, b->write,
        "rows begin within a sector, so each touches one more");
  offer(x, CAUSE_SECTORS, 0.002, b->read + b->k * (SECTOR / element - 1), b->write,
        "K (or V) read by columns: a sector for each element");
  offer(x, CAUSE_SECTORS, 0.002, b->read * SECTOR / element, b->write, "a sector fetched for each element");
}

/* Another order of the loops, or none that is fused. */
static void orders(Explain *x) {
  const Moves *b = &x->base;
  const Shape *s = &x->plan.shape;
  const Schedule *own = schedule_find(x->model->schedule);
  const Tiling blocks = {.B_r = 64, .B_c = 64};
  const double rows = (double)s->batch * (double)s->heads * (double)s->N_q;
  const bool to_fa2 = own == shipped_whole_head();
  Moves m = moves_at_hbm(x, true);
  if (x->at_hbm && own != shipped_unfused())
    offer(x, CAUSE_SCORES_IN_HBM, 0.0002, m.read, m.write, "S and P go through HBM (not a fused kernel)");
  if (!x->plan.tiling.lse)
    offer(x, CAUSE_LSE, 0, b->read, b->write + rows * FP32, "the log-sum-exp of every row written too");
  if (x->at_hbm) return;
  if (own != shipped_unfused()) {
    m = moves_by(x, shipped_unfused());
    offer(x, CAUSE_SCORES_IN_HBM, 0.0002, m.read, m.write, "S and P go through HBM, each matrix once a pass");
    m = moves_of(kernel_model_find("standard_tiled"), false, s, &blocks);
    offer(x, CAUSE_SCORES_IN_HBM, 0.0002, m.read, m.write,
          "S and P go through HBM, in two tiled products and a softmax");
  }
  m = moves_by(x, to_fa2 ? shipped_default() : shipped_whole_head());
  offer(x, CAUSE_FA1_ORDER, 0.0005, m.read, m.write, "%s",
        to_fa2 ? "FA-2's order: O, m and l stay in the SM" : "FA-1's order: O, m and l go back and forth");
  for (int n = 2; n <= 128; n++) {
    const double parts = (double)n * rows * (double)(s->d + 1) * FP32;
    offer(x, CAUSE_SPLIT, 0.002, b->read + parts, b->write + parts, "keys split in %d: parts of O in fp32 and back", n);
    offer(x, CAUSE_SPLIT, 0.003, b->read, b->write - x->Q + parts, "keys split in %d: parts of O in fp32", n);
  }
}

/* Rows of a tile as the launch's grid implies by its blocks of rows for each head. 0: the grid does not say. */
static int64_t rows_by_grid(const Explain *x) {
  const Shape *s = &x->plan.shape;
  const int64_t ctas = x->row->grid[0] * x->row->grid[1] * x->row->grid[2], heads = s->batch * s->heads;
  if (ctas < 1 || ctas % heads || ctas / heads > s->N_q) return 0;
  return round_up(ceil_div(s->N_q, ctas / heads), 16);
}

static void tiles(Explain *x) {
  static const int64_t sides[] = {16, 32, 64, 80, 96, 112, 128, 160, 176, 192, 256};
  enum { N_SIDES = COUNT_OF(sides) };
  const int64_t by_grid = rows_by_grid(x);
  const Tiling own = x->plan.tiling;
  for (int r = 0; r < N_SIDES; r++)
    for (int c = -1; c < N_SIDES; c++) {
      Tiling t = own;
      t.B_r = sides[r];
      t.B_c = c < 0 ? own.B_c : sides[c];
      if (t.B_r == own.B_r && t.B_c == own.B_c) continue;
      const Moves m = moves_for(x, &x->plan.shape, &t);
      const bool power = !(t.B_r & (t.B_r - 1)) && !(t.B_c & (t.B_c - 1)),
                 square = t.B_r == t.B_c && own.B_r == own.B_c;
      double penalty = square ? 0.0012 : 0.004;
      if (c < 0) penalty = 0.002;
      if (!power) penalty += 0.002;
      if (by_grid && t.B_r != own.B_r) penalty = t.B_r == by_grid ? penalty / 100 : penalty + 0.1;
      offer(x, CAUSE_OTHER_TILE, penalty, m.read + (double)x->model->extra_read_bytes,
            m.write + (double)x->model->extra_write_bytes, "tiles of %lld x %lld instead of %lld x %lld",
            (long long)t.B_r, (long long)t.B_c, (long long)own.B_r, (long long)own.B_c);
    }
}

/* The shape that the launch itself shows. */
static void shape_by_file(Explain *x) {
  const Shape *f = &x->context.by_file, *s = &x->plan.shape;
  const bool same =
      f->N_q == s->N_q && f->N_k == s->N_k && f->batch * f->heads == s->batch * s->heads && f->causal == s->causal;
  if (f->N_q && !same)
    offer(x, CAUSE_OTHER_SHAPE, 0, moves_for(x, f, &x->plan.tiling).read, x->base.write,
          "the grid's shape, N = %lld, %lld heads in all%s, not what was asked", (long long)f->N_q,
          (long long)(f->batch * f->heads), f->causal ? ", causal" : "");
}

static void shapes(Explain *x) {
  const Moves *b = &x->base;
  const int element = x->plan.element_bytes;
  offer(x, CAUSE_OTHER_TYPE, 0.0015, b->read * 2, b->write * 2,
        "twice as much of everything: elements of %d bytes instead of %d, or twice the heads", 2 * element, element);
  offer(x, CAUSE_OTHER_TYPE, 0.0015, b->read / 2, b->write / 2,
        "half of everything: elements of half the size, or half of the heads");
  offer(x, CAUSE_OTHER_TYPE, 0.0004, b->read, b->write + x->Q * (FP32 - element) / element, "O written in fp32");
  if (element == 1) offer(x, CAUSE_OTHER_TYPE, 0.0004, b->read, b->write + x->Q, "O written in 16 bits");
  for (int k = 3; k <= 128; k++) {
    offer(x, CAUSE_OTHER_SHAPE, 0.003, b->read * k, b->write * k, "%d times the batch or heads", k);
    offer(x, CAUSE_OTHER_SHAPE, 0.003, b->read / k, b->write / k, "1 in %d of the batch or heads", k);
  }
  for (double times = 1.0 / 16; times <= 16 && !x->at_hbm; times *= 2) {
    Shape s = x->plan.shape;
    s.N_q = (int64_t)((double)s.N_q * times);
    s.N_k = (int64_t)((double)s.N_k * times);
    if (times == 1 || s.N_q < 1 || s.N_k < 1) continue;
    const Moves m = moves_for(x, &s, &x->plan.tiling);
    offer(x, CAUSE_OTHER_SHAPE, 0.003, m.read, m.write, "N of %lld and %lld instead of %lld and %lld", (long long)s.N_q,
          (long long)s.N_k, (long long)x->plan.shape.N_q, (long long)x->plan.shape.N_k);
  }
}

/* What may have happened to the launch. */
static void explain_launch(Explain *x) {
  mask(x);
  besides(x);
  packing(x);
  spills(x);
  padding(x);
  sectors(x);
  orders(x);
  shapes(x);
  if (x->at_hbm) return;
  tiles(x);
  shape_by_file(x);
}

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
      const double seen = (double)((block + 1) * x->plan.tiling.B_r + s->N_k - s->N_q);
      keys += s->causal ? fmin(fmax(seen, 0), (double)s->N_k) : (double)s->N_k;
    }
  return keys * 2 * x->K / ((double)sets * (double)s->N_k);
}

/* A cause without an amount. */
__attribute__((format(printf, 4, 5))) static void state(Explain *x, CauseKind kind, double score, const char *format,
                                                        ...) {
  if (x->n == CANDIDATES_MAX) return;
  Cause *c = &x->found[x->n++];
  *c = (Cause){.kind = kind, .score = score, .read = x->base.read, .write = x->base.write};
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(c->text, sizeof c->text, format, arguments);
  va_end(arguments);
}

/* Between once and all that is asked for, L2 decides what HBM is read for. True: L2 is too small, and that is said. */
static bool l2_decides(Explain *x, double asked) {
  const Shape *s = &x->plan.shape;
  const double l2 = (double)x->context.l2_bytes, sets = (double)s->batch * (double)s->kv_heads;
  if (!x->context.l2_bytes || !x->context.n_sm) return true;
  if (s->window || x->Q + 2 * x->K <= l2 || !differs(x, &x->read, x->base.read)) return false;
  const double head = 2 * x->K / sets, of_set = (double)x->plan.T_r * (double)(s->heads / s->kv_heads);
  const CauseKind kind = head > l2 ? CAUSE_L2_SMALL : CAUSE_L2_HEADS;
  const Bytes holds = bytes_of(l2);
  double at_once = 1;
  for (int per_sm = 2; per_sm >= 1; per_sm--) {
    const int64_t n_running = x->context.n_sm * per_sm;
    const double moved = read_by_waves(x, n_running);
    at_once = fmin(sets, fmax(1, ceil((double)n_running / of_set)));
    if (moved < 0 || head * at_once <= l2) continue;
    if (head > l2)
      offer(x, kind, 0.0001 * per_sm, x->Q + moved, x->base.write,
            "K and V of a head have %s, L2 %s: each wave of %lld CTAs reads them anew", bytes_of(head).text, holds.text,
            (long long)n_running);
    else
      offer(x, kind, 0.0001 * per_sm, x->Q + moved, x->base.write,
            "other heads in between: %.0f at once have %s of K and V, L2 %s; %lld CTAs a wave", at_once,
            bytes_of(head * at_once).text, holds.text, (long long)n_running);
  }
  offer(x, CAUSE_L2_UNSHARED, 0.001, asked, x->base.write, "L2 holds no tile for a second CTA: each reads its own");
  if (x->n > 0 || head * at_once <= l2) return true;
  state(x, kind, 0.3, "L2 (%s) keeps a part of K and V (%s a head): %.0f %% of what CTAs share comes from HBM again",
        holds.text, bytes_of(head).text, 100 * (x->read.value - x->base.read) / (asked - x->base.read));
  return true;
}

/* What no amount shows: what lay in L2 already, L1, launches too small to count. */
static void explain_states(Explain *x) {
  const CounterRow *row = x->row;
  const double once = x->Q + 2 * x->K, hbm = (double)row->value[COUNTER_HBM_READ],
               hits = (double)row->value[COUNTER_L1_HIT_RATE] * 1e-6, looks = (double)row->value[COUNTER_L2_HIT_RATE];
  const int64_t ctas = row->grid[0] * row->grid[1] * row->grid[2];
  if (row->known[COUNTER_L1_HIT_RATE] && hits > 0.01 && !x->at_hbm)
    offer(x, CAUSE_L1, 0, x->base.read * (1 - hits), x->base.write, "loads hit in L1 (%.1f %%)", 100 * hits);
  if (row->known[COUNTER_HBM_READ] && hbm < 0.9 * once)
    state(x, CAUSE_WARM, x->at_hbm ? 0.05 : 0.3, "HBM read %.0f %% of what Q, K and V have once: %s", 100 * hbm / once,
          x->context.l2_bytes && once <= (double)x->context.l2_bytes
              ? "they lay in L2 already (ncu --cache-control all flushes it)"
              : "another shape, or counters of a part of the launch");
  else if (row->known[COUNTER_L2_HIT_RATE] && looks > 1e6)
    state(x, CAUSE_SMALL, 0.2,
          "a hit rate of %.1f %%: the launch is too small or too short to be counted in several passes", looks * 1e-4);
  else if (ctas && x->context.n_sm && ctas * 8 < x->context.n_sm)
    state(x, CAUSE_SMALL, 0.2, "a launch of %lld CTAs on %lld SMs: instructions and parameters count as much as tiles",
          (long long)ctas, (long long)x->context.n_sm);
}

/* The best, of one kind no more than two (one, where it has a number), and nothing that is far behind the first. */
static void rank(Explain *x, Cause causes[CAUSES_MAX], int *n_causes) {
  for (int tried = 0; tried < x->n && *n_causes < CAUSES_MAX; tried++) {
    Cause *best = NULL;
    for (Cause *c = x->found; c < x->found + x->n; c++)
      if (c->score >= 0 && (!best || c->score < best->score)) best = c;
    const bool is_state = best->kind == CAUSE_WARM || best->kind == CAUSE_SMALL;
    int same = best->kind == CAUSE_OTHER_TILE || best->kind == CAUSE_OTHER_SHAPE;
    for (int i = 0; i < *n_causes; i++) same += causes[i].kind == best->kind;
    if (same < 2 && (!*n_causes || is_state || best->score <= causes[0].score + 0.15)) causes[(*n_causes)++] = *best;
    best->score = -1;
  }
}

static Measured measure(const CounterRow *row, Counter first, Counter second) {
  const Counter c = row->known[first] ? first : second;
  return (Measured){row->known[c], (double)row->value[c], (double)row->slack[c]};
}

Status counter_explain(const CounterRow *row, const KernelModel *model, const Shape *shape, const Tiling *tiling,
                       const ExplainContext *context, Cause causes[CAUSES_MAX], int *n_causes, Error *error) {
  Explain x = {.row = row, .model = model, .sharp = SHARP};
  if (context) x.context = *context;
  *n_causes = 0;
  const Status status = plan_make(&x.plan, shape, tiling, error);
  if (status) return status;
  const Shape *s = &x.plan.shape;
  const double queries = (double)s->batch * (double)s->heads * (double)s->N_q, e = x.plan.element_bytes;
  x.Q = queries * (double)s->d * e;
  x.K = (double)s->batch * (double)s->kv_heads * (double)s->N_k * (double)s->d * e;
  x.S = queries * (double)s->N_k * e;
  x.read = measure(row, COUNTER_BOUNDARY_READ, COUNTER_COUNTED_READ);
  x.write = measure(row, COUNTER_BOUNDARY_WRITE, COUNTER_COUNTED_WRITE);
  x.at_hbm = !x.read.known && !x.write.known;
  KernelTraffic asked;
  const Status none = kernel_model_traffic(model, s, &x.plan.tiling, &asked, NULL);
  if (x.at_hbm) {
    x.sharp = BLUNT;
    x.read = measure(row, COUNTER_HBM_READ, COUNTER_HBM_READ);
    x.write = measure(row, COUNTER_HBM_WRITE, COUNTER_HBM_WRITE);
    x.base = moves_at_hbm(&x, is_unfused(model));
    /* Writes may stay in L2, and what lay dirty in it before leaves: fewer than O, or little more, are no
     * difference. */
    x.write.known &= x.write.value >= x.base.write + HBM_WRITES_LITTLE;
  } else if (!none) {
    x.base = moves_of(model, false, s, &x.plan.tiling);
    x.base.read += (double)model->extra_read_bytes;
    x.base.other += (double)model->extra_read_bytes;
    x.base.write += (double)model->extra_write_bytes;
  }
  const double all = none ? 0 : (double)kernel_traffic_read(&asked);
  const bool l2_alone = x.at_hbm && !x.write.known && x.read.value >= x.base.read && x.read.value <= all;
  if (!l2_alone || !l2_decides(&x, all)) {
    if (differs(&x, &x.read, x.base.read) || differs(&x, &x.write, x.base.write)) explain_launch(&x);
    explain_states(&x);
  }
  rank(&x, causes, n_causes);
  return STATUS_OK;
}

/* HBM reads that go with time, not with the kernel: what else reads memory while it runs. A screen is read out of it
 * again and again: 3840 x 2160 pixels of 4 bytes at 60 Hz are 1.99 GB/s.
 *
 *     kernel      extra reads   time     a second
 *     step 04     0.98 GB       465 ms   2.1 GB/s      iuliet716/flash-attention-cuda-from-scratch, RTX 5090
 *     step 06     0.18           88      2.0
 *     step 07     0.17           79      2.1 */
bool counter_explain_background(const CounterRow *row, double expected_read, Cause *cause) {
  static const double LEAST_S = 1e-3; /* shorter: other things are as much */
  static const double LEAST_RATE = 0.3e9, MOST_RATE = 4.5e9, LEAST_SHARE = 0.05;
  static const int SCREENS[][3] = {{1920, 1080, 60},  {2560, 1440, 60}, {1920, 1080, 144}, {3840, 2160, 60},
                                   {2560, 1440, 144}, {5120, 2880, 60}, {3840, 2160, 120}};
  if (!row->known[COUNTER_HBM_READ] || !row->known[COUNTER_TIME]) return false;
  const double seconds = (double)row->value[COUNTER_TIME] * 1e-9, read = (double)row->value[COUNTER_HBM_READ];
  const double rate = seconds > 0 ? (read - expected_read) / seconds : 0;
  if (seconds < LEAST_S || rate < LEAST_RATE || rate > MOST_RATE || read < (1 + LEAST_SHARE) * expected_read)
    return false;
  const int *nearest = NULL;
  double of_nearest = 0;
  for (size_t s = 0; s < COUNT_OF(SCREENS); s++) {
    const double of = (double)SCREENS[s][0] * SCREENS[s][1] * SCREENS[s][2] * PIXEL_BYTES;
    if (nearest && fabs(of - rate) >= fabs(of_nearest - rate)) continue;
    nearest = SCREENS[s];
    of_nearest = of;
  }
  *cause = (Cause){.kind = CAUSE_BACKGROUND, .read = read, .write = (double)row->value[COUNTER_HBM_WRITE]};
  snprintf(cause->text, sizeof cause->text,
           "reads that go with time, %.1f GB/s over %.3g ms: a screen of %d x %d at %d Hz is read at %.2f GB/s",
           rate * 1e-9, seconds * 1e3, nearest[0], nearest[1], nearest[2], of_nearest * 1e-9);
  return true;
}
