/* `tilewalk advise`, and `tilewalk sim --gpu A,B`: best first, equal to what sim says of each tile, and refusals. */
#include <jansson.h>

#include "tests/support/test.h"
#include "tests/support/program.h"

static ProgramRun run;

static json_t *ask(const char *command) {
  program_run(&run, command);
  if (run.exit_status != 0) fail_msg("%s: %s", command, run.err);
  json_t *document = json_loads(run.out, 0, NULL);
  assert_non_null(document);
  return document;
}

static double number(json_t *object, const char *key) { return json_number_value(json_object_get(object, key)); }

/* Every tile of 16 to 256 that runs, the fastest first; its bytes are those of sim. 256 x 256 with d = 128 needs 192
 * KiB for Q, K and V, and (256 + 128) x 256 x 4 B = 384 KiB of registers, which no SM has. */
TEST(the_best_tile_comes_first) {
  json_t *d = ask("advise --gpu h100-sxm -N 1K --heads 4 --causal --json");
  json_t *tiles = json_object_get(d, "tiles");
  const size_t n = json_array_size(tiles);
  assert_true(n > 20 && n + (size_t)number(d, "tiles_that_do_not_fit") == 36);
  double last = 0;
  for (size_t k = 0; k < n; k++) {
    json_t *tile = json_array_get(tiles, k), *its_run = json_object_get(tile, "run");
    const double takes = number(tile, "takes_s"), least = number(json_object_get(its_run, "time"), "least_s");
    assert_true(takes >= last && takes >= least);
    assert_false(number(its_run, "block_q") == 256 && number(its_run, "block_k") == 256);
    last = takes;
  }
  json_t *first = json_object_get(json_array_get(tiles, 0), "run");
  char command[256];
  snprintf(command, sizeof command,
           "sim --gpu h100-sxm -N 1K --heads 4 --causal --algorithm fa2 --block-q %.0f --block-k %.0f --json",
           number(first, "block_q"), number(first, "block_k"));
  json_t *s = ask(command), *same = json_array_get(json_object_get(s, "runs"), 0);
  assert_true(json_equal(json_object_get(first, "traffic"), json_object_get(same, "traffic")));
  assert_true(json_equal(json_object_get(first, "tiles"), json_object_get(same, "tiles")));
  json_decref(s);
  json_decref(d);
}

/* Kernels that exist are candidates, with the times that sim predicts of them; the first is named, and why. Rows of
 * fewer than 64 have no wgmma. By hand: 128 x 128 with d = 128 are two warpgroups and one that copies, 384 threads; Q
 * of 32 KiB and two stages of K and V of 64 KiB; S and O, 128 registers, and 30 besides, for two thirds of the threads.
 */
TEST(kernels_and_tiles_are_candidates) {
  json_t *d = ask("advise --gpu h100-sxm -N 4K --heads 16 --json");
  json_t *kernels = json_object_get(d, "kernels"), *tiles = json_object_get(d, "tiles");
  assert_true(json_array_size(kernels) >= 5 && *json_string_value(json_object_get(d, "reason")));
  size_t n_found = 0;
  for (size_t k = 0; k < json_array_size(kernels); k++) {
    json_t *kernel = json_array_get(kernels, k);
    if (strcmp(json_string_value(json_object_get(kernel, "kernel")), "cudnn-sm90") != 0) continue;
    json_t *s = ask("sim --gpu h100-sxm -N 4K --heads 16 --kernel cudnn-sm90 --json");
    assert_true(json_equal(json_array_get(json_object_get(s, "runs"), 0), json_object_get(kernel, "run")));
    json_decref(s);
    n_found++;
  }
  for (size_t k = 0; k < json_array_size(tiles); k++) {
    json_t *tile = json_array_get(tiles, k), *its_run = json_object_get(tile, "run");
    const bool has_wgmma = (int)number(its_run, "block_q") % 64 == 0;
    assert_string_equal(json_string_value(json_object_get(tile, "instruction")), has_wgmma ? "wgmma" : "mma.sync");
    if (number(its_run, "block_q") != 128 || number(its_run, "block_k") != 128) continue;
    assert_true(number(tile, "threads") == 384 && number(tile, "shared_bytes") == (32 + 2 * 64) * 1024);
    assert_true(number(tile, "registers") == (2 * (128 + 30) + 24 + 2) / 3);
    n_found++;
  }
  assert_int_equal(n_found, 2);
  json_decref(d);
}

/* One query against 32K keys: something that splits them is first (52 us were recorded of FlashAttention-2 and cuDNN).
 */
TEST(decode_is_split) {
  json_t *d = ask("advise --gpu h100-sxm -N 1 --seq-len-k 32K --heads 32 --kv-heads 8 --json");
  const char *first = json_string_value(json_object_get(d, "first"));
  assert_non_null(strstr(first, "splits"));
  json_t *kernels = json_object_get(d, "kernels");
  const double takes = number(json_array_get(kernels, 0), "takes_s");
  assert_true(takes > 45e-6 && takes < 60e-6);
  json_decref(d);
}

/* A tile that is asked for is tried as it is, whatever the queries. By hand: 128 x 128 with d = 128 by mma.sync has
 * eight warps of 16 rows: 16 x (128 + 128) / 32 = 128 registers a thread for S and O, and 30 besides; with 32 rows each
 * they would spill. */
TEST(a_tile_that_is_asked_for_is_tried) {
  json_t *d = ask("advise --gpu a100-80gb -N 1 --seq-len-k 8192 --heads 12 -d 128 --block-q 128 --block-k 128 --json");
  json_t *tile = json_array_get(json_object_get(d, "tiles"), 0);
  assert_true(number(tile, "threads") == 256 && number(tile, "registers") == 158);
  json_decref(d);
  d = ask("advise --gpu a100-80gb -N 1K --block-q 100 --block-k 40 --algorithm fa2 --json");
  tile = json_array_get(json_object_get(d, "tiles"), 0);
  assert_int_equal(json_array_size(json_object_get(d, "tiles")), 1);
  assert_true(number(json_object_get(tile, "run"), "block_q") == 100);
  json_decref(d);
  program_run(&run, "advise --gpu a100-80gb -N 1K -d 128 --block-q 256 --block-k 128");
  assert_true(run.exit_status == 2 && strstr(run.err, "256 x 128") && strstr(run.err, "do not fit an SM"));
}

/* The papers' two levels have no instructions. By hand: 160 x 16 keeps 2 x 128 x (2 x 160 + 2 x 16) + 2 x 160 x 16 +
 * 8 x 160 = 96,512 B, 176 x 16 too much; 26 passes over K and V of 2 MiB, Q and O of 1 MiB. */
TEST(on_paper_bytes_decide) {
  program_run(&run, "advise --gpu paper --sram 100K --csv");
  assert_non_null(strstr(run.out, "time_is\n160 x 16,,,,,56623104,,"));
  program_run(&run, "advise --gpu paper --sram 100K");
  assert_true(strstr(run.out, "69 tiles have no room in 100 KiB of SRAM") && !strstr(run.out, "mma.sync"));
  program_run(&run, "advise --gpu paper --block 512");
  assert_true(run.exit_status == 2 && strstr(run.err, "no room in SRAM"));
}

/* The costs of a tile are those of two products and an exponential a pair: of three products there is a bound alone. */
TEST(other_tiles_have_bounds) {
  program_run(&run, "advise --algorithm two-pass --gpu h100 --heads 8 -N 4K");
  assert_int_equal(run.exit_status, 0);
  assert_non_null(strstr(run.out, "All times are of one kind: bound."));
  assert_null(strstr(run.out, "as cuDNN and FlashAttention-2 do"));
}

/* Each GPU as by itself. */
TEST(gpus_side_by_side_are_each_alone) {
  json_t *both = ask("sim --gpu a100-80gb,h200 -N 1K --algorithm fa2 --json"),
         *a = ask("sim --gpu a100-80gb -N 1K --algorithm fa2 --json"),
         *b = ask("sim --gpu h200 -N 1K --algorithm fa2 --json"), *machines = json_object_get(both, "machines");
  assert_int_equal(json_array_size(machines), 2);
  assert_true(json_equal(json_array_get(machines, 0), a));
  assert_true(json_equal(json_array_get(machines, 1), b));
  json_decref(both);
  json_decref(a);
  json_decref(b);
  program_run(&run, "sim --gpu a100-80gb,h200 -N 1K --algorithm fa2");
  assert_int_equal(run.exit_status, 0);
  assert_non_null(strstr(run.out, "Time on each GPU"));
  const char *const first = strstr(run.out, "  fa2 on a100-80gb  "); /* each column says whose it is */
  assert_non_null(first);
  assert_non_null(strstr(first, "  fa2 on h200\n"));
}

TEST(wrong_requests) {
  static const char *const WRONG[] = {"advise --kernel fa2-sm90", "advise --algorithm fa1,fa2", "sim --gpu h200,",
                                      "sim --gpu h200,nope", "advise --gpu tiny -d 4096"};
  for (size_t k = 0; k < sizeof WRONG / sizeof *WRONG; k++) {
    program_run(&run, WRONG[k]);
    if (run.exit_status != 2 || *run.out) fail_msg("%s: exit %d", WRONG[k], run.exit_status);
    assert_ptr_equal(strchr(run.err, '\n'), run.err + strlen(run.err) - 1);
  }
}

/* The tile of an answer; NULL: it is not there. */
static json_t *tile_of(json_t *answer, int B_r, int B_c) {
  size_t k;
  json_t *tile;
  json_array_foreach(json_object_get(answer, "tiles"), k, tile) {
    json_t *its_run = json_object_get(tile, "run");
    if (number(its_run, "block_q") == B_r && number(its_run, "block_k") == B_c) return tile;
  }
  return NULL;
}

/* Does d = 256 train on an RTX 4090? FlashAttention-2 takes 64 x 64 from 144 KiB of shared memory on (an A100), and on
 * the 99 KiB of sm86 and sm89 64 x 32 with V in registers (flash_bwd_launch_template.h, run_mha_bwd_hdim256). By hand:
 * Q and dO of 32 KiB, K and V of 32 KiB, P and dS of 8 KiB are 144 KiB; 64 x 32 without V 64 + 16 + 8 = 88 KiB. dK and
 * dV of 64 x 512, S and dP of 64 x 64 each: 160 registers of 256 threads, and 30 besides. No time is claimed. */
TEST(backward_by_its_own_tiles) {
  json_t *a100 = ask("advise --algorithm fa2-backward -d 256 --heads 16 --causal --gpu a100-80gb --json");
  json_t *large = tile_of(a100, 64, 64);
  assert_non_null(large);
  assert_true(number(large, "shared_bytes") == 144 * 1024 && number(large, "registers") == 190);
  assert_string_equal(json_string_value(json_object_get(large, "kind")), "bound");
  json_t *rtx = ask("advise --algorithm fa2-backward -d 256 --heads 16 --causal --gpu rtx4090 --json");
  json_t *own = tile_of(rtx, 64, 32);
  assert_true(own && !tile_of(rtx, 64, 64));
  assert_true(number(own, "shared_bytes") == 88 * 1024 && number(own, "registers") == 110 + 16);
  assert_string_equal(json_string_value(json_object_get(own, "instruction")), "mma.sync, V in registers");
  json_decref(a100);
  json_decref(rtx);
  program_run(&run, "advise --algorithm fa2-backward -d 256 --gpu rtx4090 --block-q 64 --block-k 64");
  assert_int_equal(run.exit_status, 2);
}
