/* The L2 of l2_run.h against a slow LRU that is searched for every access, and against laws. */
#include "tests/support/test.h"
#include "tests/support/rand.h"
#include "tests/support/sanitized.h"
#include "tests/support/l2_run_case.h"

/* ---- A slow LRU: an array of names, the first one used last --------------------------------------- */

typedef struct {
  char kind; /* 'K' (with V), 'Q', 'O' */
  int64_t head, block;
  int home;
  double bytes;
} Half;

typedef struct {
  Half halves[4096];
  int n;
} SlowSide;

typedef struct {
  SlowSide sides[2];
  int n_sides;
  double capacity, fabric, hbm_read, hbm_write;
} SlowL2;

static int slow_find(const SlowSide *s, Half half) {
  int at = 0;
  while (at < s->n && !(s->halves[at].kind == half.kind && s->halves[at].head == half.head &&
                        s->halves[at].block == half.block && s->halves[at].home == half.home))
    at++;
  return at;
}

static bool slow_touch(SlowL2 *l2, int side, Half half) {
  SlowSide *s = &l2->sides[side];
  int at = slow_find(s, half);
  const bool hit = at < s->n;
  if (!hit) at = s->n++;
  assert_true(s->n < 4096);
  memmove(s->halves + 1, s->halves, (size_t)at * sizeof half);
  s->halves[0] = half;
  double sum = 0;
  for (int i = 0; i < s->n; i++) sum += s->halves[i].bytes;
  while (s->n > 1 && sum - s->halves[s->n - 1].bytes / 2 > l2->capacity) { /* what has room for its half stays */
    s->n--;
    sum -= s->halves[s->n].bytes;
    if (s->halves[s->n].kind == 'O') l2->hbm_write += s->halves[s->n].bytes;
  }
  return hit;
}

static void slow_read(SlowL2 *l2, int side, char kind, int64_t head, int64_t block, double bytes) {
  if (kind == 'K') { /* a tile of K and one of V */
    slow_read(l2, side, 'k', head, block, bytes / 2);
    slow_read(l2, side, 'v', head, block, bytes / 2);
    return;
  }
  for (int i = 0; i < 2; i++) {
    const int home = i == 0 ? side : 1 - side;
    const Half half = {kind, head, block, home, bytes / 2};
    if (slow_touch(l2, side, half)) continue;
    if (l2->n_sides == 1 || home == side)
      l2->hbm_read += bytes / 2;
    else {
      l2->fabric += bytes / 2;
      if (!slow_touch(l2, home, half)) l2->hbm_read += bytes / 2; /* a far request renews what it finds */
    }
  }
}

/* A row block of Q or O, in parts that are no larger than a tile of K, sixteen at most. */
typedef struct {
  int n;
  double bytes; /* of a part */
} Parts;

enum { PARTS_MOST = 16 };

static Parts slow_parts(double bytes, double tile_bytes) {
  const int n = (int)fmin(ceil(0.95 * bytes / tile_bytes), PARTS_MOST);
  return (Parts){n, bytes / n};
}

static void slow_read_q(SlowL2 *l2, int side, int64_t head, int64_t block, Parts parts) {
  for (int part = 0; part < parts.n; part++) slow_read(l2, side, 'Q', head, block * PARTS_MOST + part, parts.bytes);
}

static void slow_write(SlowL2 *l2, int side, int64_t head, int64_t block, double bytes) {
  for (int home = 0; home < 2; home++) {
    const Half half = {'O', head, block, home, bytes / 2};
    if (l2->n_sides == 2 && home != side) l2->fabric += bytes / 2;
    slow_touch(l2, l2->n_sides == 1 ? 0 : home, half);
  }
  if (l2->n_sides == 2)
    slow_touch(l2, side, (Half){'o', head, block, 1 - side, bytes / 2}); /* a clean copy stays on the own side */
}

static void slow_write_o(SlowL2 *l2, int side, int64_t head, int64_t block, Parts parts) {
  for (int part = 0; part < parts.n; part++) slow_write(l2, side, head, block * PARTS_MOST + part, parts.bytes);
}

typedef struct {
  bool busy;
  LaunchPiece piece;
  Span span;
  int64_t at;
} SlowSlot;

static void slow_run(SlowL2 *l2, const Case *c, const L2RunConfig *config) {
  static SlowSlot slots[64];
  memset(slots, 0, sizeof slots);
  const Launch *l = &c->launch;
  const Plan *p = &c->plan;
  const double row = (double)(p->shape.d * p->element_bytes),
               q_bytes = (double)p->shape.N_q / (double)p->T_r * row; /* of a mean tile, where the last is ragged */
  const double kv_bytes = 2 * (double)p->shape.N_k / (double)p->T_c * row;
  const Parts row_block = slow_parts(q_bytes, kv_bytes / 2);
  int64_t turn = 0, next = 0, n = l->n_slots < l->n_pieces ? l->n_slots : l->n_pieces;
  int64_t line[64], in_line = 0; /* slots at work: whoever begins in a turn comes first in it */
  for (bool busy = true, more = true; busy || more; turn++) {
    more = false;
    for (int64_t s = n - 1; s >= 0; s--) {
      const int64_t start = config->skew_turns * s / n;
      more = more || start > turn;
      if (start != turn) continue;
      memmove(line + 1, line, (size_t)in_line++ * sizeof *line);
      line[0] = s;
    }
    busy = false;
    for (int64_t k = 0; k < in_line; k++) {
      const int64_t s = line[k];
      SlowSlot *slot = &slots[s];
      const int side = l2->n_sides == 1 ? 0 : (int)(s % 2);
      if (!slot->busy && next < l->n_pieces) {
        slot->piece = launch_piece(l, next++);
        const int64_t head = slot->piece.batch * p->shape.heads + slot->piece.head;
        slot->span = band_row(&p->band, p->tiling.B_r, p->tiling.B_c, slot->piece.row_block).computed;
        slot->at = 0;
        slot->busy = slot->span.end > slot->span.begin;
        if (slot->busy)
          slow_read_q(l2, side, head, slot->piece.row_block, row_block);
        else {
          slow_write_o(l2, side, head, slot->piece.row_block, row_block);
          busy = true; /* a turn of its own */
        }
      }
      if (!slot->busy) continue;
      busy = true;
      const int64_t head = slot->piece.batch * p->shape.heads + slot->piece.head;
      const int64_t kv_head =
          slot->piece.batch * p->shape.kv_heads + slot->piece.head / (p->shape.heads / p->shape.kv_heads);
      const int64_t at = slot->at++;
      slow_read(l2, side, 'K', kv_head,
                l->config.walk == WALK_REVERSED ? slot->span.end - 1 - at : slot->span.begin + at, kv_bytes);
      if (slot->at < slot->span.end - slot->span.begin) continue;
      slow_write_o(l2, side, head, slot->piece.row_block, row_block);
      slot->busy = false;
    }
  }
}

TEST(equals_the_slow_lru) {
  static SlowL2 slow;
  Rand r = {11};
  for (int round = 0; round < 300 / ONE_OF; round++) {
    const int64_t kv_heads = rand_in(&r, 1, 2), heads = kv_heads * rand_in(&r, 1, 3), N = rand_in(&r, 1, 200);
    const Shape shape = {.batch = rand_in(&r, 1, 2),
                         .heads = heads,
                         .kv_heads = kv_heads,
                         .N_q = N,
                         .N_k = rand_in(&r, 1, 200),
                         .d = 16,
                         .causal = rand_in(&r, 0, 1)};
    const Tiling tiling = {.B_r = 8 * rand_in(&r, 1, 4), .B_c = 8 * rand_in(&r, 1, 4)};
    const LaunchConfig config = {.order = (LaunchOrder)rand_in(&r, 0, ORDER_COUNT - 1),
                                 .rows = (LaunchRows)rand_in(&r, 0, ROWS_COUNT - 1),
                                 .walk = (LaunchWalk)rand_in(&r, 0, 1),
                                 .ctas_per_sm = rand_in(&r, 1, 3)};
    const Case c = make(shape, tiling, config, &SMALL);
    /* No sum of tiles comes so close to the capacity that rounding decides. */
    const L2RunConfig l2 = {.l2_bytes = 1,
                            .l2_partitions = rand_in(&r, 1, 2),
                            .skew_turns = rand_in(&r, 0, 5),
                            .in_step = true,
                            .side_capacity_bytes = 1024 * (double)rand_in(&r, 4, 60) + 0.3331,
                            .side_ways = -1,
                            .without = refinement_bit(REFINEMENT_COALESCER)};
    memset(&slow, 0, sizeof slow);
    slow.n_sides = (int)l2.l2_partitions;
    slow.capacity = l2.side_capacity_bytes * (l2.l2_partitions == 1 ? 2 : 1);
    slow_run(&slow, &c, &l2);
    const L2Run fast = run(&c, l2);
    slow.hbm_read = fmin(slow.hbm_read, fast.read_bytes); /* ragged tiles are whole ones in both walks */
    if (differs(fast.hbm_read_bytes, slow.hbm_read) || differs(fast.fabric_bytes, slow.fabric) ||
        differs(fast.hbm_write_bytes, slow.hbm_write))
      fail_msg("round %d: HBM %.3f, %.3f; fabric %.3f, %.3f; written %.3f, %.3f", round, fast.hbm_read_bytes,
               slow.hbm_read, fast.fabric_bytes, slow.fabric, fast.hbm_write_bytes, slow.hbm_write);
  }
}

/* Requests are hits and misses; HBM gives at least what is needed once; a single partition has no fabric; all of O is
 * written or still there. */
TEST(laws) {
  Rand r = {5};
  for (int round = 0; round < 100 / ONE_OF; round++) {
    const bool causal = rand_in(&r, 0, 1);
    const int64_t N = 16 * rand_in(&r, 1, 40), heads = rand_in(&r, 1, 6);
    const Case c = make((Shape){.heads = heads, .N_q = N, .d = 32, .causal = causal}, (Tiling){.B_r = 16, .B_c = 16},
                        (LaunchConfig){.ctas_per_sm = 2}, &SMALL);
    const double once = 2.0 * 32 * (double)(N * heads), T = (double)(N / 16),
                 tiles = (double)heads * (causal ? T * (T + 1) / 2 : T * T);
    double before = INFINITY;
    for (int64_t l2 = 32 << 10; l2 <= 4 << 20; l2 *= 2) {
      for (int64_t parts = 1; parts <= 2; parts++) {
        const L2Run t =
            run(&c, (L2RunConfig){.l2_bytes = l2, .l2_partitions = parts, .max_steps = 2000}); /* fewer walks */
        assert_true(t.read_bytes ==
                    once + tiles * 2 * 16 * 32 * 2); /* Q once, and a K and a V tile for each tile of S */
        assert_true(t.write_bytes == once);
        assert_true(t.hbm_read_bytes >= 3 * once);
        assert_true(t.own_miss_bytes <= t.read_bytes && t.hbm_read_bytes <= t.read_bytes + t.own_miss_bytes);
        assert_true(t.left_dirty_bytes >= 0 && t.hbm_write_bytes + t.left_dirty_bytes == once);
        assert_true(parts == 2 || t.fabric_bytes == 0);
        assert_true(l2_run_hit_rate(&t) >= 0 && l2_run_hit_rate(&t) <= 1);
        assert_true(t.simulated == 1);
        if (parts == 1) { /* LRU: a larger one never misses more */
          assert_true(t.hbm_read_bytes <= before);
          before = t.hbm_read_bytes;
        }
      }
    }
    const L2Run t = run(&c, (L2RunConfig){.l2_bytes = 64 << 20, .l2_partitions = 2});
    assert_true(t.hbm_read_bytes == 3 * once); /* all of it fits */
  }
}

/* The same laws for the other algorithms, in time and in step: what is asked for is the schedule's traffic, HBM
 * delivers every input at least once, all that is stored is written to HBM or still there, and a larger L2 never reads
 * more (in step, LRU). */
TEST(laws_of_other_streams) {
  static const char *const NAMES[] = {"fa1", "fa2-split", "standard"};
  Rand r = {8};
  for (int round = 0; round < 90 / ONE_OF; round++) {
    const char *name = NAMES[round % 3];
    const int64_t heads = rand_in(&r, 1, 5), N = 16 * rand_in(&r, 1, 24),
                  splits = round % 3 == 1 ? rand_in(&r, 1, 7) : 1;
    const Case c = make_for(name, (Shape){.heads = heads, .N_q = N, .d = 32, .causal = rand_in(&r, 0, 1)},
                            (Tiling){.B_r = 16, .B_c = 16, .n_splits = splits},
                            (LaunchConfig){.ctas_per_sm = rand_in(&r, 1, 2)}, &SMALL);
    const double once = 2.0 * 32 * (double)(N * heads), all = (double)(N / 16);
    Traffic traffic = {0};
    bool overflow = false;
    schedule_traffic(c.schedule, &c.plan, &traffic, &overflow);
    double asked = (double)heads * (double)traffic_read_bytes(&traffic, &overflow);
    /* Q and K for each tile; S twice, P once for each block of d (two), V for each row block */
    if (strcmp(name, "standard") == 0)
      asked = (double)heads * (2 * all * all * 16 * 64 + 4 * (double)N * (double)N * 2 + all * (double)N * 64);
    double before = INFINITY;
    for (int64_t l2 = 64 << 10; l2 <= 4 << 20; l2 *= 4) {
      for (int in_step = 0; in_step < 2; in_step++) {
        const L2Run t = run(&c, (L2RunConfig){.l2_bytes = l2, .l2_partitions = 1 + (round & 1), .in_step = in_step});
        assert_true(fabs(t.read_bytes - asked) < 1e-6 * asked);
        assert_true(t.write_bytes == (double)heads * (double)traffic_write_bytes(&traffic, &overflow));
        assert_true(t.hbm_read_bytes >= (1 - 1e-9) * 3 * once);
        assert_true(t.l2_read_bytes <= (1 + 1e-9) * t.read_bytes && t.own_miss_bytes >= 0);
        assert_true(l2_run_hit_rate(&t) >= 0 && l2_run_hit_rate(&t) <= 1);
        assert_true(t.hbm_write_bytes + t.left_dirty_bytes >= (1 - 1e-9) * once &&
                    t.hbm_write_bytes + t.left_dirty_bytes <= (1 + 1e-9) * t.write_bytes);
        assert_true(t.simulated == 1 ||
                    strcmp(name, "standard") == 0); /* whose heads are alike: two and more are walked */
        if (!in_step || (round & 1)) continue;
        assert_true(t.hbm_read_bytes <= (1 + 1e-9) * before);
        before = t.hbm_read_bytes;
      }
    }
    const L2Run t = run(&c, (L2RunConfig){.l2_bytes = 256 << 20, .l2_partitions = 2});
    assert_true(fabs(t.hbm_read_bytes - 3 * once) < 1e-6 * once); /* all of it fits */
    const L2Run flushed = run(&c, (L2RunConfig){.l2_bytes = 256 << 20, .l2_partitions = 2, .profiled = true});
    const double between = strcmp(name, "standard") == 0 ? (double)heads * 4 * (double)N * (double)N /* S and P */
                           : splits > 1                  ? (double)(heads * N * splits) * (32 * 4 + 4)
                                                         : 0; /* partial O and log-sum-exp */
    assert_true(fabs(flushed.hbm_read_bytes - 3 * once - between) < 1e-6 * (once + between));
  }
}
