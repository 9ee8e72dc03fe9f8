/* Many CTAs over L2: against a slow, obvious LRU; laws that must hold; cases by hand; and against an H200's counters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "sim/many_ctas.h"
#include "sim/profile.h"
#include "tests/alloc_fail.h"
#include "tests/rand.h"

static const Gpu SMALL = {.name = "small", .n_sm = 6, .warp_size = 32};

typedef struct {
  Plan plan;
  Launch launch;
} Case;

static Case make(Shape shape, Tiling tiling, LaunchConfig config, const Gpu *gpu) {
  Case c;
  Error error = {0};
  config.block_q = tiling.B_r;
  config.block_k = tiling.B_c;
  if (plan_make(&c.plan, &shape, &tiling, &error) || launch_make(&c.launch, &shape, &config, gpu, &error)) fail_msg("%s", error.message);
  return c;
}

static ManyCtas run(const Case *c, ManyCtasConfig config) {
  ManyCtas result;
  Error error = {0};
  if (many_ctas_run(&result, &c->launch, &c->plan, &config, &error)) fail_msg("%s", error.message);
  return result;
}

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
  double capacity, misses, fabric, hbm_read, hbm_write;
} SlowL2;

static bool slow_touch(SlowL2 *l2, int side, Half half) {
  SlowSide *s = &l2->sides[side];
  int at = 0;
  while (at < s->n && !(s->halves[at].kind == half.kind && s->halves[at].head == half.head && s->halves[at].block == half.block && s->halves[at].home == half.home)) at++;
  const bool hit = at < s->n;
  if (!hit) at = s->n++;
  assert_true(s->n < 4096);
  memmove(s->halves + 1, s->halves, (size_t)at * sizeof half);
  s->halves[0] = half;
  double sum = 0;
  for (int i = 0; i < s->n; i++) sum += s->halves[i].bytes;
  while (sum > l2->capacity) {
    s->n--;
    sum -= s->halves[s->n].bytes;
    if (s->halves[s->n].kind == 'O') l2->hbm_write += s->halves[s->n].bytes;
  }
  return hit;
}

static void slow_read(SlowL2 *l2, int side, char kind, int64_t head, int64_t block, double bytes) {
  for (int i = 0; i < 2; i++) {
    const int home = i == 0 ? side : 1 - side;
    const Half half = {kind, head, block, home, bytes / 2};
    if (slow_touch(l2, side, half)) continue;
    l2->misses += bytes / 2;
    if (l2->n_sides == 1 || home == side) l2->hbm_read += bytes / 2;
    else {
      l2->fabric += bytes / 2;
      if (!slow_touch(l2, home, half)) l2->hbm_read += bytes / 2;
    }
  }
}

static void slow_write(SlowL2 *l2, int side, int64_t head, int64_t block, double bytes) {
  for (int home = 0; home < 2; home++) {
    slow_touch(l2, l2->n_sides == 1 ? 0 : home, (Half){'O', head, block, home, bytes / 2});
    if (l2->n_sides == 2 && home != side) l2->fabric += bytes / 2;
  }
}

typedef struct {
  bool busy;
  LaunchPiece piece;
  Span span;
  int64_t at, wait;
} SlowSlot;

static void slow_run(SlowL2 *l2, const Case *c, const ManyCtasConfig *config) {
  static SlowSlot slots[64];
  memset(slots, 0, sizeof slots);
  const Launch *l = &c->launch;
  const Plan *p = &c->plan;
  const double row = (double)(p->shape.d * p->element_bytes), q_bytes = (double)p->tiling.B_r * row, kv_bytes = 2 * (double)p->tiling.B_c * row;
  int64_t next = 0, n = l->n_slots < l->n_pieces ? l->n_slots : l->n_pieces;
  for (int64_t s = 0; s < n; s++) slots[s].wait = config->skew_turns * s / n;
  for (bool busy = true; busy;) {
    busy = false;
    for (int64_t s = 0; s < n; s++) {
      SlowSlot *slot = &slots[s];
      const int side = l2->n_sides == 1 ? 0 : (int)(launch_sm(l, s) % 2);
      if (slot->wait > 0) {
        slot->wait--;
        busy = true;
        continue;
      }
      while (!slot->busy && next < l->n_pieces) {
        slot->piece = launch_piece(l, next++);
        const int64_t head = slot->piece.batch * p->shape.heads + slot->piece.head;
        slot->span = band_row(&p->band, p->tiling.B_r, p->tiling.B_c, slot->piece.row_block).computed;
        slot->at = 0;
        slot->busy = slot->span.end > slot->span.begin;
        if (slot->busy) slow_read(l2, side, 'Q', head, slot->piece.row_block, q_bytes);
        else slow_write(l2, side, head, slot->piece.row_block, q_bytes);
      }
      if (!slot->busy) continue;
      busy = true;
      const int64_t head = slot->piece.batch * p->shape.heads + slot->piece.head;
      const int64_t kv_head = slot->piece.batch * p->shape.kv_heads + slot->piece.head / (p->shape.heads / p->shape.kv_heads);
      slow_read(l2, side, 'K', kv_head, launch_walk_tile(l, slot->span, slot->at++), kv_bytes);
      if (slot->at < slot->span.end - slot->span.begin) continue;
      slow_write(l2, side, head, slot->piece.row_block, q_bytes);
      slot->busy = false;
    }
  }
}

static void equals_the_slow_lru(void **state) {
  (void)state;
  static SlowL2 slow;
  Rand r = {11};
  for (int round = 0; round < 300; round++) {
    const int64_t kv_heads = rand_in(&r, 1, 2), heads = kv_heads * rand_in(&r, 1, 3), N = rand_in(&r, 1, 200);
    const Shape shape = {.batch = rand_in(&r, 1, 2), .heads = heads, .kv_heads = kv_heads, .N_q = N, .N_k = rand_in(&r, 1, 200), .d = 16,
                         .causal = rand_in(&r, 0, 1)};
    const Tiling tiling = {.B_r = 8 * rand_in(&r, 1, 4), .B_c = 8 * rand_in(&r, 1, 4)};
    const LaunchConfig config = {.order = (LaunchOrder)rand_in(&r, 0, ORDER_COUNT - 1), .rows = (LaunchRows)rand_in(&r, 0, ROWS_COUNT - 1),
                                 .walk = (LaunchWalk)rand_in(&r, 0, 1), .ctas_per_sm = rand_in(&r, 1, 3)};
    const Case c = make(shape, tiling, config, &SMALL);
    const ManyCtasConfig l2 = {.l2_bytes = 2048 * rand_in(&r, 4, 60), .l2_partitions = rand_in(&r, 1, 2), .skew_turns = rand_in(&r, 0, 5)};
    memset(&slow, 0, sizeof slow);
    slow.n_sides = (int)l2.l2_partitions;
    slow.capacity = (double)(l2.l2_bytes / l2.l2_partitions);
    slow_run(&slow, &c, &l2);
    const ManyCtas fast = run(&c, l2);
    if (fast.hbm_read_bytes != slow.hbm_read || fast.fabric_bytes != slow.fabric || fast.own_miss_bytes != slow.misses || fast.hbm_write_bytes != slow.hbm_write)
      fail_msg("round %d: HBM %g, %g; fabric %g, %g; misses %g, %g; written %g, %g", round, fast.hbm_read_bytes, slow.hbm_read, fast.fabric_bytes,
               slow.fabric, fast.own_miss_bytes, slow.misses, fast.hbm_write_bytes, slow.hbm_write);
  }
}

/* Requests are hits and misses; HBM gives at least what is needed once; a single partition has no fabric; all of O is
 * written or still there. */
static void laws(void **state) {
  (void)state;
  Rand r = {5};
  for (int round = 0; round < 200; round++) {
    const bool causal = rand_in(&r, 0, 1);
    const int64_t N = 16 * rand_in(&r, 1, 40), heads = rand_in(&r, 1, 6);
    const Case c = make((Shape){.heads = heads, .N_q = N, .d = 32, .causal = causal}, (Tiling){.B_r = 16, .B_c = 16},
                        (LaunchConfig){.ctas_per_sm = 2}, &SMALL);
    const double once = 2.0 * 32 * (double)(N * heads), T = (double)(N / 16), tiles = (double)heads * (causal ? T * (T + 1) / 2 : T * T);
    double before = INFINITY;
    for (int64_t l2 = 32 << 10; l2 <= 4 << 20; l2 *= 2) {
      for (int64_t parts = 1; parts <= 2; parts++) {
        const ManyCtas t = run(&c, (ManyCtasConfig){.l2_bytes = l2, .l2_partitions = parts});
        assert_true(t.read_bytes == once + tiles * 2 * 16 * 32 * 2); /* Q once, and a K and a V tile for each tile of S */
        assert_true(t.write_bytes == once);
        assert_true(t.hbm_read_bytes >= 3 * once);
        assert_true(t.own_miss_bytes <= t.read_bytes && t.hbm_read_bytes <= t.read_bytes + t.own_miss_bytes);
        assert_true(t.left_dirty_bytes >= 0 && t.hbm_write_bytes + t.left_dirty_bytes == once);
        assert_true(parts == 2 || t.fabric_bytes == 0);
        assert_true(many_ctas_hit_rate(&t) >= 0 && many_ctas_hit_rate(&t) <= 1);
        assert_true(t.simulated == 1);
        if (parts == 1) { /* LRU: a larger one never misses more */
          assert_true(t.hbm_read_bytes <= before);
          before = t.hbm_read_bytes;
        }
      }
    }
    const ManyCtas t = run(&c, (ManyCtasConfig){.l2_bytes = 64 << 20, .l2_partitions = 2});
    assert_true(t.hbm_read_bytes == 3 * once); /* all of it fits */
  }
}

/* Two CTAs on two sides, one tile of 1 KiB each of Q, K, V and O, L2 ample. Side 0 reads Q0: 1 KiB from HBM, half of it
 * over the fabric; K and V 2 KiB, half over. Side 1: Q1 the same; K and V: only the far half, over the fabric. Half of
 * each O crosses. */
static void by_hand(void **state) {
  (void)state;
  const Case c = make((Shape){.N_q = 32, .N_k = 16, .d = 32}, (Tiling){.B_r = 16, .B_c = 16}, (LaunchConfig){.ctas_per_sm = 1}, &SMALL);
  const ManyCtas t = run(&c, (ManyCtasConfig){.l2_bytes = 1 << 20, .l2_partitions = 2});
  assert_true(t.read_bytes == 6 * 1024 && t.write_bytes == 2 * 1024);
  assert_true(t.hbm_read_bytes == 4 * 1024);
  assert_true(t.own_miss_bytes == 1024 + 2048 + 1024 + 1024);
  assert_true(t.fabric_bytes == 512 + 1024 + 512 + 1024 + 2 * 512);
  assert_true(t.hbm_write_bytes == 0 && t.left_dirty_bytes == 2 * 1024);
}

/* Where only some heads are walked the rest must come out as if they were: within 1 %. */
static void going_on_is_close(void **state) {
  (void)state;
  for (int causal = 0; causal < 2; causal++) {
    const Case c = make((Shape){.heads = 64, .N_q = 2048, .d = 64, .causal = causal}, (Tiling){.B_r = 32, .B_c = 32},
                        (LaunchConfig){.ctas_per_sm = 2, .rows = ROWS_LONGEST_FIRST}, &SMALL);
    const ManyCtasConfig config = {.l2_bytes = 400 << 10, .l2_partitions = 2};
    ManyCtasConfig few = config;
    few.max_steps = 60000;
    const ManyCtas all = run(&c, config), some = run(&c, few);
    assert_true(all.simulated == 1 && some.simulated < 0.5);
    assert_true(fabs(some.hbm_read_bytes / all.hbm_read_bytes - 1) < 0.01);
    assert_true(fabs(some.fabric_bytes / all.fabric_bytes - 1) < 0.01);
    assert_true(fabs(some.read_bytes / all.read_bytes - 1) < 0.01);
  }
}

/* ---- Counters ------------------------------------------------------------------------------------- */

static size_t read_asset(const char *name, char *text, size_t size) {
  char path[512];
  const char *assets = getenv("TILEWALK_ASSETS");
  snprintf(path, sizeof path, "%s/%s", assets ? assets : "assets", name);
  FILE *file = fopen(path, "rb");
  if (!file) fail_msg("cannot open %s", path);
  const size_t length = fread(text, 1, size - 1, file);
  fclose(file);
  text[length] = '\0';
  return length;
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

typedef struct {
  double error[128];
  int n;
} Errors;

static double median(Errors *e) {
  qsort(e->error, (size_t)e->n, sizeof *e->error, by_size);
  return e->error[e->n / 2];
}

static int above(const Errors *e, double limit) {
  int n = 0;
  for (int i = 0; i < e->n; i++) n += e->error[i] > limit;
  return n;
}

/* fa2_async on an H200, N = 4K to 64K, d = 64 and 128, 1 to 16 heads, with the tiles of its profile. Nothing here was
 * fitted: 30 MiB a side, two CTAs an SM (from its registers), in step. */
static void as_an_h200_counts(void **state) {
  (void)state;
  static char text[1 << 18];
  Gpu gpu;
  Profile profile;
  Error error = {0};
  size_t length = read_asset("gpus/h200", text, sizeof text);
  if (gpu_parse(text, length, "h200", &gpu, &error)) fail_msg("%s", error.message);
  length = read_asset("kernels/fa2_async", text, sizeof text);
  if (profile_parse(text, length, "fa2_async", &profile, &error)) fail_msg("%s", error.message);
  read_asset("counters/h200_kernels.csv", text, sizeof text);
  Errors hbm[2] = {0}, fabric = {0};
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
    long long batch, heads, kv_heads, N_q, N_k, d, causal, B_r, B_c;
    double boundary_read, boundary_write, l2_read, l2_write, fabric_sectors, hbm_read;
    if (sscanf(line, "fa2_async,fp16,%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lf,%lf,%lf,%lf,%lf,%lf", &batch, &heads, &kv_heads, &N_q, &N_k,
               &d, &causal, &B_r, &B_c, &boundary_read, &boundary_write, &l2_read, &l2_write, &fabric_sectors, &hbm_read) != 15)
      continue;
    const Shape shape = {.batch = batch, .heads = heads, .kv_heads = kv_heads, .N_q = N_q, .N_k = N_k, .d = d, .causal = causal};
    LaunchConfig config;
    if (profile_config(&profile, &shape, &config, &error)) fail_msg("%s", error.message);
    if (N_q < 4096 || B_r != config.block_q || B_c != config.block_k) continue;
    const Case c = make(shape, (Tiling){.B_r = B_r, .B_c = B_c}, config, &gpu);
    const ManyCtas t = run(&c, (ManyCtasConfig){.l2_bytes = gpu.l2_bytes, .l2_partitions = gpu.l2_partitions});
    if (t.simulated == 1) assert_true(fabs(t.read_bytes / boundary_read - 1) < 1e-3);
    hbm[causal].error[hbm[causal].n++] = fabs(t.hbm_read_bytes / hbm_read - 1);
    fabric.error[fabric.n++] = fabs(t.fabric_bytes / (32 * fabric_sectors) - 1);
  }
  assert_true(hbm[0].n >= 30 && hbm[1].n >= 30);
  const double full = median(&hbm[0]), masked = median(&hbm[1]), over = median(&fabric);
  if (getenv("TILEWALK_TABLE"))
    print_message("HBM reads: full median %.2f %%, worst %.1f %%; causal median %.2f %%, worst %.1f %%; fabric median %.1f %%, worst %.1f %%\n", 100 * full,
                  100 * hbm[0].error[hbm[0].n - 1], 100 * masked, 100 * hbm[1].error[hbm[1].n - 1], 100 * over, 100 * fabric.error[fabric.n - 1]);
  assert_true(full < 0.01 && masked < 0.01); /* the target is 2 % */
  assert_true(hbm[1].error[hbm[1].n - 1] < 0.10); /* a row differs by up to 6 % from one recording to the next */
  assert_true(above(&hbm[0], 0.10) <= 1); /* d = 64, N = 64K, 16 heads: two heads of 16 MiB in 30 MiB, where LRU falls off a cliff */
  assert_true(hbm[0].error[hbm[0].n - 1] < 0.45);
  assert_true(over < 0.05);
}

/* ---- Refusals ------------------------------------------------------------------------------------- */

static void impossible_requests(void **state) {
  (void)state;
  const Case c = make((Shape){.N_q = 64, .d = 32}, (Tiling){.B_r = 16, .B_c = 16}, (LaunchConfig){0}, &SMALL);
  const Case vast = make((Shape){.N_q = 1 << 24, .d = 32}, (Tiling){.B_r = 16, .B_c = 16}, (LaunchConfig){0}, &SMALL);
  const ManyCtasConfig three = {.l2_bytes = 1 << 20, .l2_partitions = 3}, two = {.l2_bytes = 1 << 20, .l2_partitions = 2};
  ManyCtas t = {.read_bytes = 77};
  Error error = {0};
  assert_int_equal(many_ctas_run(&t, &c.launch, &c.plan, &three, &error), STATUS_BAD_REQUEST);
  assert_non_null(strstr(error.message, "1 or 2"));
  assert_int_equal(many_ctas_run(&t, &vast.launch, &c.plan, &two, NULL), STATUS_BAD_REQUEST);
  assert_int_equal(many_ctas_run(&t, &vast.launch, &vast.plan, &two, NULL), STATUS_TOO_LARGE);
  assert_true(t.read_bytes == 77);
}

static Status small_run(void *context, Error *error) {
  const Case *c = context;
  const ManyCtasConfig two = {.l2_bytes = 1 << 20, .l2_partitions = 2};
  ManyCtas t;
  return many_ctas_run(&t, &c->launch, &c->plan, &two, error);
}

static void no_memory(void **state) {
  (void)state;
  Case c = make((Shape){.N_q = 64, .d = 32}, (Tiling){.B_r = 16, .B_c = 16}, (LaunchConfig){0}, &SMALL);
  assert_true(alloc_fail_each(small_run, &c) >= 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equals_the_slow_lru), cmocka_unit_test(laws),
      cmocka_unit_test(by_hand),             cmocka_unit_test(going_on_is_close),
      cmocka_unit_test(as_an_h200_counts),   cmocka_unit_test(impossible_requests),
      cmocka_unit_test(no_memory),
  };
  return cmocka_run_group_tests_name("many_ctas", tests, NULL, NULL);
}
