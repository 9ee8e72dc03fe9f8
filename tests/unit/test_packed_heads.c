/* Grouped heads: the query heads of a KV head as rows of one tile. Guards when kernels pack, that packing changes no
 * pair of query and key, what it saves, and what was counted in decode on an H100. */
#include "tests/support/test.h"
#include "sim/simulate.h"
#include "tests/support/implied.h"
#include "tests/support/open_gpu.h"
#include "tests/support/open_profile.h"
#include "tests/support/rand.h"

static Simulation run(const Problem *problem, const char *algorithm) {
  Simulation s;
  Error error = {0};
  if (simulate(&s, problem, schedule_find(algorithm), &error)) fail_msg("%s", error.message);
  return s;
}

/* FlashAttention-3's should_pack_gqa by hand, tiles of 128 rows: 1 of 128 rows against 4; 100 of 128 (0.781) against
 * 800 of 896 (0.893, of which nine tenths are 0.804); 1000 of 1024 against 4000 of 4096, both 0.977. */
TEST(kernels_pack_as_their_sources_say) {
  assert_true(packing_packs(PACKING_FILL, 1, 4, 128, false, false));
  assert_true(packing_packs(PACKING_FILL, 64, 4, 128, false, false));
  assert_true(packing_packs(PACKING_FILL, 100, 8, 128, true, false));
  assert_false(packing_packs(PACKING_FILL, 4096, 4, 128, false, false));
  assert_false(packing_packs(PACKING_FILL, 1000, 4, 128, false, false));
  assert_true(packing_packs(PACKING_FILL, 4096, 4, 128, false, true)); /* split keys: always */
  assert_false(packing_packs(PACKING_FILL, 1, 1, 128, false, true));   /* nothing is shared */
  assert_true(packing_packs(PACKING_ONE_QUERY, 1, 4, 128, false, false));
  assert_false(packing_packs(PACKING_ONE_QUERY, 1, 4, 128, true, false)); /* FlashAttention-2: not with a window */
  assert_false(packing_packs(PACKING_ONE_QUERY, 2, 4, 128, false, false));
  assert_false(packing_packs(PACKING_NEVER, 1, 4, 128, false, false));
}

/* Decode, 8 query heads over one KV head of 32K keys, d = 128, fp16: K and V are 8 MiB each. Packed they are read once,
 * else eight times; Q and O are 2 KiB either way. */
TEST(multi_query_decode_reads_each_key_once) {
  Problem p = {.shape = {.heads = 8, .kv_heads = 1, .N_q = 1, .N_k = 32768, .d = 128},
               .tiling = {.B_r = 128, .B_c = 128},
               .machine = machine_paper()};
  Simulation s = run(&p, "fa2");
  assert_int_equal(s.plan.shape.group, 8);
  assert_int_equal(s.read_bytes, (16 << 20) + 2048);
  assert_int_equal(s.write_bytes, 2048);
  assert_int_equal(s.read_bytes, s.inputs_bytes);
  p.pack = PACK_OFF;
  s = run(&p, "fa2");
  assert_int_equal(s.plan.shape.group, 1);
  assert_int_equal(s.read_bytes, 8 * (16 << 20) + 2048);
  p.pack = PACK_ON;
  p.shape.N_q = 4096; /* whole tiles: as many tiles of rows, so as many reads of K and V */
  p.shape.N_k = 4096;
  const Wide packed = run(&p, "fa2").read_bytes;
  p.pack = PACK_AUTO;
  assert_int_equal(run(&p, "fa2").plan.shape.group, 1);
  assert_true(run(&p, "fa2").read_bytes == packed);
}

static Shape random_grouped(Rand *r) {
  const int64_t kv_heads = rand_in(r, 1, 3);
  Shape s = {.heads = kv_heads * rand_in(r, 2, 5),
             .kv_heads = kv_heads,
             .N_q = rand_in(r, 1, 30),
             .N_k = rand_in(r, 1, 40),
             .d = rand_in(r, 1, 9),
             .d_v = rand_in(r, 1, 9),
             .causal = rand_in(r, 0, 1),
             .top_left = rand_in(r, 0, 3) == 0};
  if (rand_in(r, 0, 1)) {
    s.sided = true;
    s.left = rand_in(r, -1, 12);
    s.right = rand_in(r, -1, 12);
  }
  return s;
}

/* Events of every algorithm add up to the closed forms, and packed heads see the pairs that heads apart see. */
TEST(events_of_packed_heads_add_up) {
  Rand r = {11};
  for (int n = 0; n < 400; n++) {
    Problem p = {.shape = random_grouped(&r),
                 .tiling = {.B_r = rand_in(&r, 1, 24), .B_c = rand_in(&r, 1, 24), .n_splits = rand_in(&r, 1, 4)},
                 .machine = machine_paper(),
                 .pack = PACK_ON};
    for (int k = 0; k < N_SCHEDULES; k++) {
      const Simulation s = run(&p, SCHEDULES[k]->name);
      assert_int_equal(s.plan.shape.group, p.shape.heads / p.shape.kv_heads);
      Traffic walked = {0};
      Cursor cursor = {0};
      Event event;
      bool overflow = false;
      while (schedule_next(SCHEDULES[k], &s.plan, &cursor, &event)) traffic_add(&walked, SCHEDULES[k], &event);
      traffic_scale(&walked, wide(s.plan.shape.heads), &overflow);
      assert_true(walked.flops == s.traffic.flops && traffic_read_bytes(&walked, &overflow) == s.read_bytes &&
                  traffic_write_bytes(&walked, &overflow) == s.write_bytes);
      for (int kind = 0; kind < TILE_KIND_COUNT; kind++) assert_true(walked.tiles[kind] == s.traffic.tiles[kind]);
      p.pack = PACK_OFF;
      const Simulation apart = run(&p, SCHEDULES[k]->name);
      p.pack = PACK_ON;
      assert_true(mask_pairs(&s.plan.mask) * wide(s.plan.shape.heads) ==
                  mask_pairs(&apart.plan.mask) * wide(apart.plan.shape.heads));
      assert_true(s.inputs_bytes == apart.inputs_bytes && s.outputs_bytes == apart.outputs_bytes);
    }
  }
}

/* ---- What was counted ---- */

/* h100/decode: FlashAttention-2 and cuDNN, one query of 32 heads, fp16, d = 128; one row a launch. */
typedef struct {
  const char *kernel;
  int64_t batch, kv_heads, N_k, ctas;
  double read_bytes;
} Counted;
static const Counted COUNTED[] = {{"fa2-sm90", 1, 8, 32768, 232, 134455296},
                                  {"cudnn-sm90", 1, 8, 32768, 256, 135069696},
                                  {"fa2-sm90", 4, 32, 16384, 256, 1073807360},
                                  {"cudnn-sm90", 4, 32, 16384, 128, 1074143232}};

/* A decode as the library launches it: packed, and split where its description says so. */
static Simulation decode(const char *kernel, const Gpu *gpu, int64_t batch, int64_t kv_heads, int64_t N_k) {
  const Profile profile = open_profile(kernel);
  const Problem p = {.shape = {.batch = batch, .heads = 32, .kv_heads = kv_heads, .N_q = 1, .N_k = N_k, .d = 128},
                     .machine = machine_of_gpu(gpu),
                     .kernel = &profile};
  Simulation s;
  Error error = {0};
  if (simulation_answer(&s, &p, NULL, gpu, &error)) fail_msg("%s", error.message);
  return s;
}

TEST(counted_decode_is_within_half_a_percent) {
  const Gpu gpu = open_gpu("h100-sxm");
  for (size_t k = 0; k < sizeof COUNTED / sizeof *COUNTED; k++) {
    const Counted *c = &COUNTED[k];
    const Simulation s = decode(c->kernel, &gpu, c->batch, c->kv_heads, c->N_k);
    const Wide *read = s.traffic.read; /* of the first kernel: partial results of O come with the second */
    const double boundary = (double)(read[IMPLIED_Q] + read[IMPLIED_K] + read[IMPLIED_V]);
    assert_int_equal(s.plan.T_r * s.plan.shape.heads * c->batch * s.plan.tiling.n_splits, c->ctas);
    if (fabs(boundary / c->read_bytes - 1) > 0.005)
      fail_msg("%s: %.0f B across the boundary, %.0f counted", c->kernel, boundary, c->read_bytes);
  }
}

/* Microseconds of decode: h100/decode-time (events around both kernels, 32K keys, 32 heads on 8), and h100/decode (ncu,
 * the sum of both launches; 16K keys, 32 heads of their own). All within 15 %, none below the bound. */
TEST(recorded_decode_times_are_within_15_percent) {
  static const struct {
    const char *kernel;
    int64_t batch, kv_heads, N_k;
    double us;
  } TIMED[] = {
      {"fa2-sm90", 1, 8, 32768, 64.61},   {"cudnn-sm90", 1, 8, 32768, 55.74},   {"fa2-sm90", 2, 8, 32768, 107.04},
      {"cudnn-sm90", 2, 8, 32768, 99.10}, {"fa2-sm90", 4, 8, 32768, 191.20},    {"cudnn-sm90", 4, 8, 32768, 185.02},
      {"fa2-sm90", 16, 8, 32768, 706.27}, {"cudnn-sm90", 16, 8, 32768, 691.30}, {"fa2-sm90", 1, 8, 32768, 67.78},
      {"cudnn-sm90", 1, 8, 32768, 55.23}, {"fa2-sm90", 4, 32, 16384, 357.89},   {"cudnn-sm90", 4, 32, 16384, 351.42}};
  const Gpu gpu = open_gpu("h100-sxm");
  for (size_t k = 0; k < sizeof TIMED / sizeof *TIMED; k++) {
    const Simulation s = decode(TIMED[k].kernel, &gpu, TIMED[k].batch, TIMED[k].kv_heads, TIMED[k].N_k);
    const double us = s.timing.predicted_s * 1e6;
    print_message("| %s | %d x %d KV heads, %dK keys | %.1f | %.1f | %+.1f %% |\n", TIMED[k].kernel,
                  (int)TIMED[k].batch, (int)TIMED[k].kv_heads, (int)(TIMED[k].N_k / 1024), TIMED[k].us, us,
                  100 * (us / TIMED[k].us - 1));
    assert_true(s.timing.least_s * 1e6 < TIMED[k].us);
    assert_true(fabs(us / TIMED[k].us - 1) < 0.15);
  }
}
