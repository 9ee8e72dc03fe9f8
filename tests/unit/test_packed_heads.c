/* Grouped heads: the query heads of a KV head as rows of one tile. When kernels pack, and that packing changes no pair
 * of query and key. What was counted in decode: tests/model/test_decode.c. */
#include "tests/support/test.h"
#include "sim/simulate.h"
#include "tests/support/rand.h"

static Simulation run(const Problem *problem, const char *algorithm) {
  Simulation s;
  must(simulate(&s, problem, schedule_find(algorithm), fresh_error()));
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
