/* Causes for counters that differ from the model, each in its own words. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/counters/explain_inner.h"
#include "sim/algorithms/shipped.h"

static void mask(Explain *x) {
  if (x->at_hbm) return; /* K and V come once either way */
  Shape shape = x->plan.shape;
  Moves m;
  if (shape.causal || shape.window) {
    shape.causal = false;
    shape.window = 0;
    if (x->model->skips_masked && explain_moves(x, NULL, &shape, &x->plan.tiling, &m))
      explain_offer(x, CAUSE_MASK_NOT_SKIPPED, 0, m.read, x->base.write, "masked tiles are not skipped");
  } else {
    shape.causal = true;
    KernelModel skips = *x->model;
    skips.skips_masked = true;
    Explain other = *x;
    other.model = &skips;
    if (explain_moves(&other, NULL, &shape, &x->plan.tiling, &m))
      explain_offer(x, CAUSE_MASK_SKIPPED, 0.001, m.read, x->base.write, "a causal mask, whose tiles are skipped");
  }
}

static void read_again(Explain *x) {
  const Moves *b = &x->base;
  const double both = b->k + b->v;
  explain_offer(x, CAUSE_READ_AGAIN, 0.0004, b->read + both, b->write, "K and V read twice");
  explain_offer(x, CAUSE_READ_AGAIN, 0.0005, b->read + b->k, b->write, "K or V read twice");
  if (both > 0) {
    const double times = (x->read.value - b->read) / both + 1, whole = rint(times);
    if (whole >= 3 && whole <= 64 && fabs(times - whole) < 0.02)
      explain_offer(x, CAUSE_READ_AGAIN, 0.002, b->read + (whole - 1) * both, b->write, "K and V read %.0f times",
                    whole);
  }
  const Tiling *t = &x->plan.tiling;
  const double again = b->k * (double)(t->B_r < x->plan.shape.N_q ? t->B_r : x->plan.shape.N_q) / (double)t->B_c;
  if (!x->at_hbm)
    explain_offer(x, CAUSE_Q_AGAIN, 0.0006, b->read - b->q + again, b->write, "Q read again for every tile of K and V");
}

/* Query heads that share K and V, as rows of one tile or each for itself. */
static void packing(Explain *x) {
  const Moves *b = &x->base;
  const Shape *s = &x->plan.shape;
  const double packed = (double)x->context.packed_group;
  if (packed > 1)
    explain_offer(x, CAUSE_NOT_PACKED, 0, b->read + (packed - 1) * (b->k + b->v), b->write,
                  "the %.0f query heads of a group are not packed: each reads K and V", packed);
  const int64_t group = s->heads / s->kv_heads, rows = x->plan.tiling.B_r;
  if (group < 2) return;
  if (x->at_hbm) {
    const double g = (double)group;
    explain_offer(x, CAUSE_NOT_PACKED, 0.0003, b->read + (g - 1) * (b->k + b->v), b->write,
                  "the %.0f query heads of a group are not packed: each reads K and V", g);
    return;
  }
  const double share = (double)ceil_div(s->N_q * group, rows) / (double)(group * ceil_div(s->N_q, rows));
  explain_offer(x, CAUSE_PACKED, 0, b->q + b->other + share * (b->k + b->v), b->write,
                "the %lld query heads of a group packed into the rows of one tile", (long long)group);
}

static int64_t round_up(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

static int64_t n_tiles(const Explain *x) {
  Moves pure;
  const Shape *s = &x->plan.shape;
  if (!explain_moves(x, NULL, s, &x->plan.tiling, &pure)) return 0;
  const double tile = (double)(x->plan.tiling.B_c < s->N_k ? x->plan.tiling.B_c : s->N_k) * (double)s->d *
                      (double)x->plan.element_bytes;
  return (int64_t)(pure.k / tile + 0.5);
}

static void spills(Explain *x) {
  Moves pure;
  if (x->at_hbm || !x->write.known || !explain_moves(x, NULL, &x->plan.shape, &x->plan.tiling, &pure)) return;
  const int64_t tiles = n_tiles(x), threads = x->context.threads ? x->context.threads : DEFAULT_THREADS;
  const double more = x->write.value - pure.write;
  const bool counted = x->row->known[COUNTER_LOCAL_WRITE];
  const double stored = (double)x->row->value[COUNTER_LOCAL_WRITE];
  if (x->model->extra_write_bytes > 0 && more <= 0.001 * pure.write)
    explain_offer(x, CAUSE_SPILLS, 0.0002, x->base.read, pure.write,
                  "this build spills no registers, as the description says");
  if (tiles < 1 || more <= 0) return;
  const double each = more / (double)tiles / (double)threads;
  if (counted && stored < 0.5 * more) return; /* local memory was not stored to */
  if (each > 1024 || each < 0.25) return;     /* a thread has 255 registers of 4 bytes */
  const double described = (double)x->model->extra_write_bytes / (double)tiles / (double)threads;
  if (described > 0)
    explain_offer(x, CAUSE_SPILLS, counted ? 0.0001 : 0.01, x->base.read, pure.write + more,
                  "this build spills about %.1f B a thread and tile, not %.1f", each, described);
  else if (counted)
    explain_offer(x, CAUSE_SPILLS, 0.0001, x->base.read, pure.write + stored,
                  "registers spilled, %.1f B a thread and tile, as "
                  "local memory was stored to",
                  each);
  else
    explain_offer(x, CAUSE_SPILLS, 0.02, x->base.read, pure.write + more, "registers spilled: %.1f B a thread and tile",
                  each);
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
    explain_offer(x, CAUSE_PADDED_D, penalty, b->read * more, b->write, "rows of d = %lld read as %lld elements",
                  (long long)s->d, (long long)d);
    explain_offer(x, CAUSE_PADDED_D, penalty, b->read * more, b->write * more,
                  "rows of d = %lld moved as %lld elements", (long long)s->d, (long long)d);
  }
  Shape padded = *s;
  Moves m;
  padded.N_q = round_up(s->N_q, x->plan.tiling.B_r);
  padded.N_k = round_up(s->N_k, x->plan.tiling.B_c);
  if ((padded.N_q == s->N_q && padded.N_k == s->N_k) || x->at_hbm) return;
  if (explain_moves(x, NULL, &padded, &x->plan.tiling, &m)) {
    explain_offer(x, CAUSE_PADDED_N, 0.0008, m.read, m.write, "the last tiles moved whole, as if N were %lld and %lld",
                  (long long)padded.N_q, (long long)padded.N_k);
    explain_offer(x, CAUSE_PADDED_N, 0.0009, m.read, b->write, "the last tiles read whole, as if N were %lld and %lld",
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
      explain_offer(x, CAUSE_SECTORS, 0, b->read * times, b->write,
                    "loads use 1 byte in %.1f of the sectors that they touch", times);
  }
  if (whole > row_bytes)
    explain_offer(x, CAUSE_SECTORS, 0.0007, b->read * whole / row_bytes, b->write,
                  "rows of %.0f B fetched as whole sectors, %.0f B", row_bytes, whole);
  explain_offer(x, CAUSE_SECTORS, 0.0015, b->read * (row_bytes + SECTOR) / row_bytes, b->write,
                "rows begin within a sector, so each touches one more");
  const double strided = SECTOR / (double)x->plan.element_bytes;
  explain_offer(x, CAUSE_SECTORS, 0.002, b->read + b->k * (strided - 1), b->write,
                "K (or V) read by columns: a sector for each element");
  explain_offer(x, CAUSE_SECTORS, 0.002, b->read * strided, b->write, "a sector fetched for each element");
}

static void scores(Explain *x) {
  const Moves *b = &x->base;
  Moves m;
  const char *unfused = shipped_unfused()->name;
  const bool is_unfused = !strcmp(x->model->schedule, unfused);
  if (!is_unfused) {
    if (x->at_hbm) {
      m = explain_at_hbm(x, unfused);
      explain_offer(x, CAUSE_SCORES_IN_HBM, 0.0002, m.read, m.write, "S and P go through HBM (not a fused kernel)");
    } else {
      if (explain_moves(x, unfused, &x->plan.shape, &x->plan.tiling, &m))
        explain_offer(x, CAUSE_SCORES_IN_HBM, 0.0002, m.read, m.write,
                      "S and P go through HBM, each matrix once a pass");
      KernelTraffic t;
      const Tiling blocks = {.B_r = 64, .B_c = 64};
      if (kernel_model_traffic(kernel_model_find("standard_tiled"), &x->plan.shape, &blocks, &t, NULL) == STATUS_OK)
        explain_offer(x, CAUSE_SCORES_IN_HBM, 0.0002, (double)kernel_traffic_read(&t), (double)kernel_traffic_write(&t),
                      "S and P go through HBM, in two tiled products and a softmax");
    }
    explain_offer(x, CAUSE_SCORES_IN_HBM, 0.0006, b->read + 2 * x->S, b->write + 2 * x->S,
                  "S and P written and read again");
    explain_offer(x, CAUSE_SCORES_KEPT, 0.0008, b->read, b->write + x->S,
                  "the weights P written besides, for the caller");
  }
  for (int n = 1; n <= 4; n++)
    explain_offer(x, CAUSE_PASS, 0.0005 + 0.001 * n, b->read + n * x->S, b->write + n * x->S,
                  n == 1 ? "an unfused pass over S: read and written once more" : "%d unfused passes over S", n);
  explain_offer(x, CAUSE_PASS, 0.001, b->read + x->O, b->write + x->O,
                "an unfused pass over O (a scale, a conversion)");
  explain_offer(x, CAUSE_PASS, 0.0011, b->read + x->Q, b->write + x->Q,
                "an unfused pass over Q (a scale, rotary positions)");
  explain_offer(x, CAUSE_PASS, 0.0012, b->read + x->K + x->V, b->write + x->K + x->V,
                "K and V copied before (a layout or a type converted)");
  explain_offer(x, CAUSE_PASS, 0.0013, b->read + x->Q + x->K + x->V, b->write + x->Q + x->K + x->V,
                "Q, K and V copied before (a layout or a type converted)");
  const double heads = (double)(x->plan.shape.batch * x->plan.shape.heads);
  explain_offer(x, CAUSE_MASK_READ, 0.0015, b->read + x->S, b->write,
                "a mask or bias of N x N for every head read from memory");
  if (heads > 1)
    explain_offer(x, CAUSE_MASK_READ, 0.002, b->read + x->S / heads, b->write,
                  "a mask or bias of N x N read from memory");
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
      if (!explain_moves(x, NULL, &x->plan.shape, &t, &m)) continue;
      const bool power = !(t.B_r & (t.B_r - 1)) && !(t.B_c & (t.B_c - 1));
      const bool square = t.B_r == t.B_c && own.B_r == own.B_c;
      double penalty = (c < 0 ? 0.002 : square ? 0.0012 : 0.004) + (power ? 0 : 0.002);
      if (by_grid && t.B_r != own.B_r) penalty = t.B_r == by_grid ? penalty / 100 : penalty + 0.1;
      explain_offer(x, CAUSE_OTHER_TILE, penalty, m.read + (double)x->model->extra_read_bytes,
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
  if (!explain_moves(x, NULL, f, &x->plan.tiling, &m)) return;
  explain_offer(x, CAUSE_OTHER_SHAPE, 0, m.read, x->base.write,
                "the grid's shape, N = %lld, %lld heads in all%s, not what was asked", (long long)f->N_q,
                (long long)(f->batch * f->heads), f->causal ? ", causal" : "");
}

static void shapes(Explain *x) {
  const Moves *b = &x->base;
  shape_by_file(x);
  const int element = x->plan.element_bytes;
  explain_offer(x, CAUSE_OTHER_TYPE, 0.0015, b->read * 2, b->write * 2,
                "twice as much of everything: elements of %d bytes instead of %d, or twice the heads", 2 * element,
                element);
  explain_offer(x, CAUSE_OTHER_TYPE, 0.0015, b->read / 2, b->write / 2,
                "half of everything: elements of half the size, or half of the heads");
  if (element < FP32)
    explain_offer(x, CAUSE_OTHER_TYPE, 0.0004, b->read, b->write + x->O * (FP32 - element) / element,
                  "O written in fp32");
  if (element == 1) explain_offer(x, CAUSE_OTHER_TYPE, 0.0004, b->read, b->write + x->O, "O written in 16 bits");
  for (int k = 3; k <= 128; k++) {
    explain_offer(x, CAUSE_OTHER_SHAPE, 0.003, b->read * k, b->write * k, "%d times the batch or heads", k);
    explain_offer(x, CAUSE_OTHER_SHAPE, 0.003, b->read / k, b->write / k, "1 in %d of the batch or heads", k);
  }
  for (int k = 2; k <= 16 && !x->at_hbm; k *= 2)
    for (int up = 0; up < 2; up++) {
      Shape s = x->plan.shape;
      Moves m;
      s.N_q = up ? s.N_q * k : s.N_q / k;
      s.N_k = up ? s.N_k * k : s.N_k / k;
      if (s.N_q < 1 || s.N_k < 1 || !explain_moves(x, NULL, &s, &x->plan.tiling, &m)) continue;
      explain_offer(x, CAUSE_OTHER_SHAPE, 0.003, m.read, m.write, "N of %lld and %lld instead of %lld and %lld",
                    (long long)s.N_q, (long long)s.N_k, (long long)x->plan.shape.N_q, (long long)x->plan.shape.N_k);
    }
}

static void orders(Explain *x) {
  const Moves *b = &x->base;
  const Shape *s = &x->plan.shape;
  Moves m;
  const double rows = (double)s->batch * (double)s->heads * (double)s->N_q;
  if (!x->plan.tiling.lse)
    explain_offer(x, CAUSE_LSE, 0, b->read, b->write + rows * FP32, "the log-sum-exp of every row written too");
  if (x->at_hbm) return;
  const char *own = x->model->schedule, *whole_head = shipped_whole_head()->name;
  if (strcmp(own, whole_head) && explain_moves(x, whole_head, s, &x->plan.tiling, &m))
    explain_offer(x, CAUSE_FA1_ORDER, 0.0005, m.read, m.write, "FA-1's order: O, m and l go back and forth");
  if (!strcmp(own, whole_head) && explain_moves(x, shipped_default()->name, s, &x->plan.tiling, &m))
    explain_offer(x, CAUSE_FA1_ORDER, 0.0005, m.read, m.write, "FA-2's order: O, m and l stay in the SM");
  for (int n = 2; n <= 128; n++) {
    const double parts = (double)n * rows * (double)(s->d + 1) * FP32;
    explain_offer(x, CAUSE_SPLIT, 0.002, b->read + parts, b->write + parts,
                  "keys split in %d: parts of O in fp32 and back", n);
    explain_offer(x, CAUSE_SPLIT, 0.003, b->read, b->write - x->O + parts, "keys split in %d: parts of O in fp32", n);
  }
}

void explain_launch(Explain *x) {
  mask(x);
  read_again(x);
  packing(x);
  spills(x);
  padding(x);
  sectors(x);
  scores(x);
  tiles(x);
  shapes(x);
  orders(x);
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
      const int64_t seen = (block + 1) * x->plan.tiling.B_r + s->N_k - s->N_q;
      keys += (double)(s->causal && seen < s->N_k ? seen > 0 ? seen : 0 : s->N_k);
    }
  return keys * (x->K + x->V) / ((double)sets * (double)s->N_k);
}

/* Between once and all that is asked for, L2 decides what HBM is read for. True: L2 is too small, and that is said. */
bool explain_l2_decides(Explain *x, double asked) {
  const Shape *s = &x->plan.shape;
  const double l2 = (double)x->context.l2_bytes, sets = (double)s->batch * (double)s->kv_heads;
  if (!x->context.l2_bytes || !x->context.n_sm) return true;
  if (s->window || x->Q + x->K + x->V <= l2 || !explain_differs(x, &x->read, x->base.read)) return false;
  const double head = (x->K + x->V) / sets, of_set = (double)x->plan.T_r * (double)(s->heads / s->kv_heads);
  const CauseKind kind = head > l2 ? CAUSE_L2_SMALL : CAUSE_L2_HEADS;
  char holds[24], needs[24];
  explain_bytes_text(l2, holds, sizeof holds);
  for (int per_sm = 1; per_sm <= 2; per_sm++) {
    const int64_t n_running = x->context.n_sm * per_sm;
    const double at_once = fmin(sets, fmax(1, ceil((double)n_running / of_set))), moved = read_by_waves(x, n_running);
    explain_bytes_text(head > l2 ? head : head * at_once, needs, sizeof needs);
    if (moved < 0 || head * at_once <= l2) continue;
    if (head > l2)
      explain_offer(x, kind, 0.0001 * per_sm, x->Q + moved, x->base.write,
                    "K and V of a head have %s, L2 %s: each wave of %lld CTAs reads them anew", needs, holds,
                    (long long)n_running);
    else
      explain_offer(x, kind, 0.0001 * per_sm, x->Q + moved, x->base.write,
                    "other heads in between: %.0f at once have %s of K and V, L2 %s; %lld CTAs a wave", at_once, needs,
                    holds, (long long)n_running);
  }
  explain_offer(x, CAUSE_L2_UNSHARED, 0.001, asked, x->base.write,
                "L2 holds no tile for a second CTA: each reads its own");
  if (x->n > 0 || head * fmin(sets, fmax(1, ceil((double)x->context.n_sm / of_set))) <= l2) return true;
  Cause *c = &x->found[x->n++]; /* no amount: L2 keeps a part */
  *c = (Cause){.kind = kind, .score = 0.3, .read = x->base.read, .write = x->base.write};
  explain_bytes_text(head, needs, sizeof needs);
  snprintf(c->text, sizeof c->text,
           "L2 (%s) keeps a part of K and V (%s a head): %.0f %% of what CTAs share comes from HBM again", holds, needs,
           100 * (x->read.value - x->base.read) / (asked - x->base.read));
  return true;
}

/* What no amount shows: what lay in L2 already, L1, launches too small to count. */
void explain_states(Explain *x) {
  const CounterRow *row = x->row;
  const double once = x->Q + x->K + x->V;
  if (row->known[COUNTER_L1_HIT_RATE] && row->value[COUNTER_L1_HIT_RATE] > 10000 && !x->at_hbm) {
    const double misses = 1 - (double)row->value[COUNTER_L1_HIT_RATE] * 1e-6;
    explain_offer(x, CAUSE_L1, 0, x->base.read * misses, x->base.write, "loads hit in L1 (%.1f %%)",
                  100 * (1 - misses));
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
