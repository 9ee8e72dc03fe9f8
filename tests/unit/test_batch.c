/* Sequences of unequal lengths: the text of lengths, and sums against walks of each sequence. Packed launches on an
 * H100: tests/model/test_recorded_launches.c. */
#include "tests/support/test.h"
#include "sim/time/batch.h"
#include "tests/support/open_gpu.h"
#include "tests/support/rand.h"
#include "tests/support/sanitized.h"

static Lengths *lengths_of(const char *text) {
  Lengths *lengths = lengths_read(ALL_OF(text), "t", fresh_error());
  must(!lengths);
  return lengths;
}

TEST(lengths_are_read) {
  Lengths *l = lengths_of("3001, 777\n1Kx2,5\r\n");
  assert_int_equal(l->n, 5);
  assert_int_equal(l->lengths[0], 3001);
  assert_int_equal(l->lengths[4], 5);
  assert_true(l->shortest == 5 && l->longest == 3001);
  assert_true(lengths_sum(l) == 5 + 777 + 2 * 1024 + 3001);
  free(l);
  static const TextSays BAD[] = {
      {"", "t: no lengths"},
      {" \n,", "t: no lengths"},
      {"5,x", "t:1: 'x' is no length"},
      {"5\n6\n0", "t:3: '0' is no length"},
      {"5x0", "t:1: '5x0' is no length"},
      {"-5", "t:1: '-5' is no length"},
      {"2Tx", "t:1: '2Tx' is no length"},
      {"1x1M,1", "t: more than 1048576 sequences"},
  };
  EACH (k, BAD) {
    assert_null(lengths_read(ALL_OF(BAD[k].text), "t", fresh_error()));
    assert_begins(BAD[k].says);
  }
}

/* Every event of every sequence, one by one. */
TEST(packed_is_the_sum_of_its_walks) {
  Rand r = {7};
  for (int n = 0; n < 200 / ONE_OF; n++) {
    const Schedule *s = schedule_find((const char *[]){"fa2", "fa1", "standard", "fa2-split"}[n % 4]);
    const Problem problem = {.shape = {.heads = rand_in(&r, 1, 3),
                                       .N_q = rand_in(&r, 0, 1) * rand_in(&r, 1, 9),
                                       .d = 4,
                                       .causal = n % 3 == 0},
                             .tiling = {.B_r = rand_in(&r, 1, 7), .B_c = rand_in(&r, 1, 7), .n_splits = 2},
                             .machine = machine_paper()};
    char text[64] = "";
    int64_t longest = 0, lengths[6];
    const int n_lengths = (int)rand_in(&r, 1, 6);
    for (int k = 0; k < n_lengths; k++) {
      lengths[k] = rand_in(&r, 1, 30);
      if (lengths[k] > longest) longest = lengths[k];
      snprintf(text + strlen(text), sizeof text - strlen(text), "%d ", (int)lengths[k]);
    }
    Lengths *l = lengths_of(text);
    for (int layout = 0; layout < BATCH_LAYOUT_COUNT; layout++) {
      BatchRun run;
      Wide read = 0, written = 0, flops = 0, tiles = 0, tokens = 0;
      for (int k = 0; k < n_lengths; k++) {
        Shape shape = problem.shape;
        Plan plan;
        Cursor c = {0};
        Event e;
        shape.N_k = layout == BATCH_PADDED ? longest : lengths[k];
        if (!shape.N_q) shape.N_q = shape.N_k;
        must(plan_make(&plan, &shape, &problem.tiling, NULL));
        tokens += wide(shape.N_k);
        int64_t last_i = -1, last_j = -1;
        int pass = -1;
        while (schedule_next(s, &plan, &c, &e)) {
          if (e.kind == EVENT_LOAD) read += e.bytes * wide(shape.heads);
          if (e.kind == EVENT_STORE) written += e.bytes * wide(shape.heads);
          flops += e.flops * wide(shape.heads);
          if (e.kind == EVENT_PRODUCT && (e.i != last_i || e.j != last_j || e.pass != pass))
            tiles += wide(shape.heads), last_i = e.i, last_j = e.j, pass = e.pass;
        }
      }
      must(batch_run(&run, &problem, l, (BatchLayout)layout, s, NULL, NULL));
      assert_true(run.tokens == tokens && run.read_bytes == read && run.write_bytes == written);
      assert_true(run.traffic.flops == flops);
      assert_true(run.traffic.tiles[TILE_FULL] + run.traffic.tiles[TILE_PARTIAL] == tiles);
      assert_true(layout == BATCH_PACKED || run.idle == 0);
    }
    free(l);
  }
}

/* Packed as padded, the busiest SM of an H100 binds (64 B a clock of 1.98 GHz through its port to L2):
 * of one query, 4 heads packed, the CTA that reads all 3,001 keys, with its rows of Q and O;
 * of 17 prompts and a short one, 8 x 8 x 17 CTAs of 128 x 1,024 on 132 SMs: one has 9. */
TEST(the_busiest_sm_binds) {
  const Gpu gpu = open_gpu("h100-sxm");
  const double port = 64 * 1.98e9, products = 989.4e12 / 132;
  const struct {
    const char *lengths;
    Shape shape;
    Tiling tiling;
    double seconds;
  } CASES[] = {
      {"3001,777,512x2",
       {.heads = 8, .kv_heads = 2, .N_q = 1, .d = 128},
       {0},
       (3001.0 * (128 + 128) * 2 + 4 * (128 + 128) * 2) / port},
      {"1024x17,128", {.heads = 8, .d = 128}, {.B_r = 128, .B_c = 128}, 9 * 128.0 * 1024 * 4 * 128 / products},
  };
  EACH (k, CASES) {
    const Problem problem = {.shape = CASES[k].shape, .tiling = CASES[k].tiling, .machine = machine_of_gpu(&gpu)};
    Lengths *l = lengths_of(CASES[k].lengths);
    BatchRun run;
    must(batch_run(&run, &problem, l, BATCH_PACKED, schedule_find("fa2"), &gpu, fresh_error()));
    assert_true(run.timed && run.kind == TIME_BOUND);
    assert_near(run.seconds / CASES[k].seconds, 1, 1e-3);
    free(l);
  }
}
