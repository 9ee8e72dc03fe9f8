/* Kernel profiles: every file in assets/kernels is read and agrees with what its kernel's source says, and a wrong file
 * says where and why. */
#define _POSIX_C_SOURCE 200809L

#include "tests/support/test.h"
#include "sim/algorithms/shipped.h"
#include "sim/planner.h"
#include "tests/support/open_gpu.h"
#include "tests/support/open_profile.h"
#include "tests/support/recorded_rows.h"

/* And every number in it has a source. */
TEST(every_file_is_read_and_runs_on_an_h200) {
  const Gpu gpu = open_gpu("h200");
  DIR *folder = open_folder("kernels");
  int n_files = 0, n_fields;
  const KeyfileField *fields = profile_fields(&n_fields);
  assert_int_equal(n_fields, PROFILE_FIELD_COUNT);
  for (const struct dirent *entry; (entry = readdir(folder));) {
    if (entry->d_name[0] == '.') continue;
    const Profile p = open_profile(entry->d_name);
    must(keyfile_check_sources(p.name, fields, n_fields, p.notes, fresh_error()));
    assert_string_equal(p.name, entry->d_name);
    for (int d = 0; d < PROFILE_D_COUNT; d++) {
      for (int causal = 0; causal < 2 && p.tiles[d][0].block_q; causal++) {
        LaunchConfig config;
        Launch launch;
        const Shape shape = {.N_q = 4096, .d = PROFILE_D[d], .causal = causal};
        must(profile_config(&p, &shape, &config, fresh_error()) ||
             launch_make(&launch, &shape, &config, &gpu, fresh_error()));
      }
    }
    for (int f = 0; f < n_fields; f++)
      if (keyfile_is_number(fields[f].kind) && p.notes[f].line) assert_true(p.notes[f].source[0]);
    n_files++;
  }
  closedir(folder);
  assert_int_equal(n_files, 19);
}

static Launch launched(const char *name, int64_t d, bool causal) {
  const Profile p = open_profile(name);
  const Gpu gpu = open_gpu("h200");
  const Shape shape = {.heads = 2048 / d, .N_q = 16384, .d = d, .causal = causal};
  LaunchConfig config;
  Launch l;
  must(profile_config(&p, &shape, &config, fresh_error()) || launch_make(&l, &shape, &config, &gpu, fresh_error()));
  return l;
}

/* FlashAttention-2 was seen to run two CTAs on an SM (64 x 64 was chosen for that with d = 256); the persistent kernels
 * run one. The kernel, d, causal; CTAs on an SM, CTAs in all, pieces, whether long rows come first. */
TEST(ctas_per_sm_as_seen) {
  const char *rows = "fa2-sm90 64 0 2 4096 4096 0\n"
                     "fa2-sm90 128 1 2 2048 2048 0\n"
                     "fa2-sm90 256 0 2 2048 2048 0\n"
                     "cudnn-sm90 128 1 1 132 2048 0\n"
                     "fa3-sm90 64 1 1 132 2752 1\n"
                     "mem-efficient-sm90 64 0 4 8192 8192 0\n"
                     "mem-efficient-sm90 128 0 2 4096 4096 0\n"
                     "fa2_async 128 0 2 2048 2048 0";
  char kernel[32];
  int causal, descending;
  int64_t d, of_sm, ctas, pieces;
  while (test_row(&rows, "%31s %" SCNd64 " %d %" SCNd64 " %" SCNd64 " %" SCNd64 " %d", kernel, &d, &causal, &of_sm,
                  &ctas, &pieces, &descending)) {
    const Launch l = launched(kernel, d, causal);
    assert_true(l.occupancy.ctas_per_sm == of_sm && l.n_ctas == ctas && l.n_pieces == pieces &&
                l.descending == descending);
  }
  const Launch l = launched("fa2-sm90", 64, false);
  assert_true(l.occupancy.binds == LIMIT_REGISTERS && l.n_slots == 264);
  assert_int_equal(launched("fa1", 128, false).n_pieces, 16); /* a CTA a head */
}

/* Shared memory of our rungs from the bytes of their tiles, in fp16: Q and one or two of each K and V. */
TEST(shared_memory_is_the_tiles) {
  static const struct {
    const char *name;
    int copies;
  } CASES[] = {{"fa2_tensor", 1}, {"fa2_async", 2}, {"fa2-sm90", 1}, {"fa3-sm90", 2}};
  EACH (i, CASES) {
    const Profile p = open_profile(CASES[i].name);
    for (int d = 0; d < PROFILE_D_COUNT; d++) {
      for (int causal = 0; causal < 2; causal++) {
        const ProfileTile *t = &p.tiles[d][causal];
        assert_int_equal(t->shared_bytes, 2 * PROFILE_D[d] * (t->block_q + CASES[i].copies * 2 * t->block_k));
      }
    }
  }
}

/* A causal key that is left out is the plain one; a d in between or beyond has none: kernels choose tiles of their own
 * there. FlashAttention-2's for d = 96 and 192 are its own, not those of the next larger d.
 * A kernel, d, causal; rows, keys, threads. */
TEST(tiles_are_found) {
  const char *rows = "fa3-sm90 128 0 128 176 384\n"
                     "fa3-sm90 128 1 128 128 384\n"
                     "fa3-sm90 80 0 192 144 512\n"
                     "fa3-sm90 192 1 128 112 384\n"
                     "fa3-sm90 64 0 192 192 512\n"
                     "fa3-sm90 257 0 0 0 0\n"
                     "fa2-sm90 192 0 128 64 256\n"
                     "fa2-sm90 80 0 128 64 128\n"
                     "fa2-sm90 256 1 64 64 128";
  char kernel[32];
  int64_t d, block_q, block_k, threads;
  int causal;
  while (test_row(&rows, "%31s %" SCNd64 " %d %" SCNd64 " %" SCNd64 " %" SCNd64, kernel, &d, &causal, &block_q,
                  &block_k, &threads)) {
    const Profile p = open_profile(kernel);
    const ProfileTile *t = profile_tile(&p, d, causal), none = {0};
    if (!t) t = &none;
    assert_true(t->block_q == block_q && t->block_k == block_k && t->threads == threads);
  }
  const Profile tensor = open_profile("fa2_tensor");
  const Shape shape = {.N_q = 64, .d = 256};
  LaunchConfig config;
  assert_int_equal(profile_config(&tensor, &shape, &config, fresh_error()), STATUS_BAD_REQUEST);
  assert_string_equal(
      test_error.message,
      "fa2_tensor has no tile for d = 256; its description has d = 64, 128, and kernels choose others between them");
}

/* Multi-head latent attention in prefill, d = 192 and V of 128: FlashAttention-3 has a tile for it, hopper/tile_size.h.
 * Shared memory is that of Q and two stages of K and V. Kernels without one refuse it; a tile for every d holds. */
TEST(a_narrow_V_has_its_own_tile) {
  const Profile fa3 = open_profile("fa3-sm90"), fa2 = open_profile("fa2-sm90");
  LaunchConfig config;
  Shape shape = {.N_q = 4096, .d = 192, .d_v = 128};
  for (int k = 0; k < 4; k++) {
    shape.causal = k % 2;
    shape.d = k < 2 ? 129 : 192; /* those above 128 */
    must(profile_config(&fa3, &shape, &config, fresh_error()));
    assert_true(config.block_q == 128 && config.block_k == 128 && config.threads == 384);
    assert_int_equal(config.shared_bytes, 2 * (128 * 192 + 2 * 128 * (192 + 128)));
  }
  shape.d_v = 192;
  must(profile_config(&fa3, &shape, &config, fresh_error()));
  assert_int_equal(config.block_k, 112);
  static const Shape NONE[] = {
      {.d = 256, .d_v = 128}, {.d = 193, .d_v = 128}, {.d = 128, .d_v = 64}, {.d = 192, .d_v = 129}};
  EACH (k, NONE) {
    must_refuse(profile_config(&fa3, &NONE[k], &config, fresh_error()), STATUS_BAD_REQUEST,
                "and for d = 192 with V of 128");
  }
  shape = (Shape){.N_q = 4096, .d = 192, .d_v = 128};
  must_refuse(profile_config(&fa2, &shape, &config, fresh_error()), STATUS_BAD_REQUEST,
              "heads of V as large as those of K; leave");
  Profile any;
  must(profile_parse("tile = 64 x 32\n", 15, "mine", &any, NULL));
  must(profile_config(&any, &shape, &config, fresh_error()));
  assert_int_equal(config.block_k, 32);
}

/* By hand from hopper/heuristics.h: 8 KV heads against 187 tiles of 176 keys: 15 parts are 120 CTAs on 132 SMs, 0.909
 * of the 33 parts that fill two waves; 14 are 0.848, too few. 32 heads: 4 parts, 0.970. Three tiles are not split; 106
 * row blocks fill 0.8 of the SMs. With more than 64 rows the tile has 128: 64 row blocks, 2 parts. A head of 131,072
 * keys is 64 MiB: two parts where 320 row blocks read it. */
TEST(flash_attention_3_splits_as_its_source_says) {
  /* N_q, N_k, heads, KV heads; splits */
  const char *rows = "1 32768 32 8 15\n"
                     "1 16384 32 32 4\n"
                     "1 512 8 1 1\n"
                     "1 16384 106 106 1\n"
                     "2048 2048 4 4 2\n"
                     "40960 131072 1 1 2";
  int64_t N_q, N_k, heads, kv_heads, splits;
  const Profile p = open_profile("fa3-sm90");
  while (test_row(&rows, "%" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 "", &N_q, &N_k, &heads, &kv_heads,
                  &splits)) {
    const Shape shape = {
        .batch = 1, .heads = heads, .kv_heads = kv_heads, .N_q = N_q, .N_k = N_k, .d = 128, .d_v = 128};
    assert_int_equal(profile_splits(&p, &shape, 132), splits);
  }
}

/* Our decode takes the fewest splits that fill the last wave as well as any, one CTA on each of 132 SMs, none empty;
 * its heads are packed whatever the number of queries. By hand: 8 KV heads x 16 = 128 of 132, 97 %, which 33 (264 of
 * 264) beats by less than 5 %; 64 CTAs twice are 97 % too; 1,000 keys are 16 tiles. */
TEST(decode_splits_as_its_source_says) {
  const Profile p = open_profile("fa2_decode");
  Shape shape = {.heads = 32, .kv_heads = 8, .N_q = 1, .N_k = 32768, .d = 128};
  must(shape_complete(&shape, NULL));
  assert_int_equal(profile_splits(&p, &shape, 132), 16);
  shape.batch = 8;
  assert_int_equal(profile_splits(&p, &shape, 132), 2);
  shape.batch = 1, shape.heads = 8, shape.kv_heads = 1, shape.N_k = 1000;
  assert_int_equal(profile_splits(&p, &shape, 132), 16);
  assert_true(packing_packs(PACKING_ALWAYS, 64, 4, 16, true, false));
  assert_false(packing_packs(PACKING_ALWAYS, 1, 1, 16, false, true)); /* there is nothing to pack */
}

/* Keys are split where the kernel would, but not where tiles are asked for, which are another kernel's. */
TEST(a_kernel_becomes_its_split_one) {
  const Profile p = open_profile("fa3-sm90");
  Problem problem = {.shape = {.N_q = 1, .N_k = 32768, .d = 128}, .machine = {.n_SM = 132}, .kernel = &p};
  assert_ptr_equal(planner_algorithm(&problem), shipped_splitting());
  problem.tiling.B_r = 64;
  assert_ptr_equal(planner_algorithm(&problem), p.schedule);
  LaunchConfig c = {0};
  must(shape_complete(&problem.shape, NULL));
  profile_become_split(&p, &problem.shape, 7, &c);
  assert_int_equal(c.n_splits, 7);
}

TEST(what_is_assumed_says_so) {
  const Profile cudnn = open_profile("cudnn-sm90");
  const Profile fa3 = open_profile("fa3-sm90");
  assert_true(profile_note(&fa3, "launch")->assumed);
  assert_false(profile_note(&cudnn, "d64_block_q")->assumed);
}

/* Other people's kernels as ncu saw them launched: tiles, CTAs, threads, registers and shared memory of every recorded
 * run. */
TEST(launched_as_recorded) {
  static RecordedRows row;
  int n_rows = 0;
  const Gpu gpu = open_gpu("h200");
  for (recorded_open(&row, "counters/h200/others/first.csv"); recorded_next(&row);) {
    const char *kernel = recorded_cell(&row, "rung");
    if (!*kernel) continue; /* the units */
    const int64_t N = recorded_whole(&row, "seq_q"), d = recorded_whole(&row, "head_dim"),
                  splits = recorded_whole(&row, "splits");
    const Profile p = open_profile(kernel);
    Shape shape = {.batch = recorded_whole(&row, "batch"),
                   .heads = recorded_whole(&row, "heads"),
                   .N_q = N,
                   .d = d,
                   .causal = recorded_is(&row, "causal", "1")};
    must(shape_complete(&shape, NULL));
    if (profile_splits(&p, &shape, gpu.n_sm) != splits) /* what a request is answered with is what ran */
      fail_msg("%s, N = %d, d = %d: %d splits, not %d", kernel, (int)N, (int)d,
               (int)profile_splits(&p, &shape, gpu.n_sm), (int)splits);
    if (splits > 1) continue; /* another kernel: see the note in assets/kernels/fa2-sm90 */
    LaunchConfig c;
    Launch l;
    must(profile_config(&p, &shape, &c, fresh_error()) || launch_make(&l, &shape, &c, &gpu, fresh_error()));
    int64_t blocks = 1;
    const char *size = recorded_cell(&row, "grid");
    for (char *end; *size; size = end) blocks *= strtoll(size, &end, 10);
    assert_true(c.block_q == recorded_whole(&row, "block_q") && c.block_k == recorded_whole(&row, "block_k") &&
                c.threads == recorded_whole(&row, "threads") &&
                c.registers_per_thread == recorded_whole(&row, "registers") &&
                c.shared_bytes == recorded_whole(&row, "shared_bytes") && l.n_ctas == blocks);
    n_rows++;
  }
  assert_true(n_rows >= 250);
}

#define MINIMAL                                                                                                        \
  "name = mine\nalgorithm = fa2\norder = query-head-batch\nd128_block_q = 128 # assumed\nd128_block_k = 64 # "         \
  "assumed\n"

TEST(the_least_that_is_enough) {
  Profile p;
  must(profile_parse(ALL_OF(MINIMAL), "f", &p, fresh_error()));
  assert_string_equal(p.product, "mine");
  assert_int_equal(p.rows, ROWS_ASCENDING);
  assert_int_equal(p.walk, WALK_FORWARD);
  assert_false(p.persistent || p.reloads_q || p.lse);
  int k = 0;
  while (!p.tiles[k][0].block_q) k++;
  assert_int_equal(profile_tile(&p, PROFILE_D[k], true)->block_k, 64);
}

TEST(a_kernel_that_waits_is_launched_as_one) {
  const Shape shape = {.batch = 1, .heads = 1, .kv_heads = 1, .N_q = 4096, .N_k = 4096, .d = 128};
  for (int waits = 0; waits < 2; waits++) {
    char text[512];
    snprintf(text, sizeof text, "waits = %s\n%s",
             waits ? "yes\nround = 8 KiB # assumed\nlatency_cycles = 700 # assumed\nsteady = yes"
                   : "no\nslip_percent = 70 # assumed",
             MINIMAL);
    if (!waits)
      strncat(text, "d128_ahead_percent = 40 # assumed\nd128_alone_permille = 250 # assumed\n",
              sizeof text - strlen(text) - 1);
    Profile p;
    LaunchConfig config;
    must(profile_parse(ALL_OF(text), "f", &p, fresh_error()) || profile_config(&p, &shape, &config, fresh_error()));
    assert_true(p.waits == waits && config.waits == waits && config.round_bytes == waits * 8192 &&
                config.latency_cycles == waits * 700 && config.steady == waits &&
                config.slip_percent == (waits ? 0 : 70));
    assert_int_equal(config.ahead_percent, waits ? 0 : 40);
    assert_int_equal(config.alone_permille, waits ? 0 : 250);
  }
}

#define BEGIN "name = a\nalgorithm = fa2\norder = query-head-batch\n"
TEST(wrong_files_say_where_and_why) {
  static const char *const CASES[] = {
      "name = a b\nalgorithm = fa2\norder = query-head-batch\n => :1: name is taken on the command line",
      "name = a\nalgorithm = fa9\norder = query-head-batch\n => :2: there is no algorithm 'fa9'; did you mean 'fa",
      "name = a\nalgorithm = fa2\norder = sideways\n => :3: there is no order 'sideways'; there are query-batch-head,"
      " query-head-batch, "
      "head-query-batch, head-batch-query",
      BEGIN "walk = revered\n => :4: there is no walk 'revered'; did you mean 'reversed'?",
      BEGIN "round = 8192 B # assumed\n => :4: round says how much a kernel asks for before it waits; give waits = yes",
      BEGIN
      "latency_cycles = 700 # assumed\n => :4: a kernel that asks ahead hides what its tiles wait; give waits = yes",
      BEGIN "slip_percent = 50 # assumed\nsteady = yes\n => :4: a CTA that gets ahead steadily does not slip",
      BEGIN
      "waits = yes\nd64_block_q = 64 # assumed\nd64_block_k = 64 "
      "# assumed\nd64_ahead_percent = 50 # assumed\n => :7: d64_ahead_percent is said of kernels that do not wait",
      BEGIN
      "waits = yes\nd64_block_q = 64 # assumed\nd64_block_k = 64 "
      "# assumed\nd64_alone_permille = 50 # assumed\n => :7: d64_alone_permille is said of kernels that do not wait",
      BEGIN "\nd64_block_q = 64 # assumed\n => :5: a tile for d = 64 has no two sides",
      BEGIN "d64_causal_block_k = 64 # assumed\n => :4: a tile for d = 64 has no two sides",
      BEGIN "d64_block_q = 0 # assumed\n => :4: d64_block_q: '0': a count is at least 1",
      "name = a\norder = query-head-batch\n =>  no tile is given; write tile = 128 x 64",
      "tile = 128\n => :1: tile = 128 is no pair of rows and keys",
      "tile = 0 x 64\n => :1: tile = 0 x 64 is no pair",
      "tile = 128 x 64 k\n => :1: tile = 128 x 64 k is no pair",
      "tile = 64 x 65537\n => :1: tile = 64 x 65537 is no pair",
      "tile = 65537 x 64\n => :1: tile = 65537 x 64 is no pair",
      "threads = 128\n => :1: threads is said of every tile, but there is none",
  };
  EACH_SAYS (row, CASES) {
    Profile p;
    memset(&p, 0x5A, sizeof p);
    must_refuse(profile_parse(ALL_OF(row.text), "f", &p, fresh_error()), STATUS_BAD_FILE, row.says);
    assert_begins("f:");
    assert_int_equal(p.pull_bytes, 0x5A5A5A5A5A5A5A5A); /* unchanged */
  }
}

/* Three lines are a kernel: for every d, with the file's name. */
TEST(a_kernel_in_three_lines) {
  const char *text =
      "tile = 128 x 64\nthreads = 256\nshared = 64 KiB\nwalk = reversed\nd256_block_q = 64\nd256_block_k = 32\n";
  Profile p;
  must(profile_parse(ALL_OF(text), "my kernels/fused attention.txt", &p, fresh_error()));
  assert_string_equal(p.name, "fused-attention.txt");
  assert_string_equal(p.schedule->name, "fa2");
  assert_int_equal(p.order, ORDER_QUERY_HEAD_BATCH);
  assert_int_equal(p.walk, WALK_REVERSED);
  for (int64_t d = 64; d <= 192; d += 32)
    for (int causal = 0; causal < 2; causal++) {
      const ProfileTile *tile = profile_tile(&p, d, causal);
      assert_int_equal(tile->block_q, 128);
      assert_int_equal(tile->block_k, 64);
      assert_int_equal(tile->threads, 256);
      assert_int_equal(tile->shared_bytes, 65536);
    }
  assert_int_equal(profile_tile(&p, 256, true)->block_q, 64); /* its own */
  assert_int_equal(profile_tile(&p, 256, false)->threads, 0);
}
