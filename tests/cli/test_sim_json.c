/* `sim --json`, read back as a user's script would: the keys of version 1, and figures worked out by hand. */
#include <jansson.h>

#include "tests/support/test.h"
#include "tests/support/program.h"

static ProgramRun run;

static json_t *sim(const char *arguments) {
  char command[512];
  snprintf(command, sizeof command, "sim %s --json", arguments);
  program_run(&run, command);
  assert_int_equal(run.exit_status, 0);
  assert_string_equal(run.err, "");
  json_t *document = json_loads(run.out, 0, NULL);
  assert_non_null(document);
  return document;
}

/* The value at a path such as "runs.2.traffic.read.K". */
static json_t *at(json_t *value, const char *path) {
  char key[64];
  for (const char *p = path; *p;) {
    const size_t length = strcspn(p, ".");
    snprintf(key, sizeof key, "%.*s", (int)length, p);
    value = json_is_array(value) ? json_array_get(value, (size_t)(key[0] - '0')) : json_object_get(value, key);
    if (!value) fail_msg("no '%s' in %s", key, path);
    p += length + (p[length] == '.');
  }
  return value;
}

static long long number(json_t *document, const char *path) { return json_integer_value(at(document, path)); }

TEST(the_classic_case) {
  const long long MiB = 1 << 20;
  json_t *d = sim("-N 4096 -d 128 --block 128 --algorithm standard,fa1,fa2");
  assert_int_equal(number(d, "tilewalk"), 1);
  assert_int_equal(number(d, "runs.0.traffic.total_bytes"), 132 * MiB);
  assert_int_equal(number(d, "runs.2.traffic.total_bytes"), 66 * MiB);
  /* fa1: reads 2Nd + T_c (2Nd + 2N stats), writes T_c (Nd + 2N) + Nd + 2N; Nd is 1 MiB, 2N stats are 32 KiB, T_c = 32
   */
  assert_int_equal(number(d, "runs.1.traffic.read_bytes"), 2 * MiB + 32 * (2 * MiB + 32768));
  assert_int_equal(number(d, "runs.1.traffic.write_bytes"), 33 * (MiB + 32768));
  assert_int_equal(number(d, "runs.2.loads_per_block.K"), 32);
  assert_int_equal(number(d, "runs.2.sram.bytes"), 161 * 1024);
  assert_int_equal(number(d, "runs.2.hbm.total_bytes"), 66 * MiB); /* without L2 the two are equal */
  assert_true(json_is_null(at(d, "runs.2.l2")) && json_is_null(at(d, "runs.2.time")));
  json_decref(d);
}

TEST(causal_by_hand) {
  json_t *d = sim("-N 8 -d 4 --block 2 --causal --algorithm fa2");
  assert_int_equal(number(d, "runs.0.tiles.skipped"), 6);
  assert_int_equal(number(d, "runs.0.tiles.partial"), 4);
  assert_int_equal(number(d, "runs.0.tiles.full"), 6);
  assert_int_equal(number(d, "runs.0.tiles.total"), 16);
  assert_true(json_is_true(at(d, "shape.causal")));
  json_decref(d);
}

/* Every key that the contract names, and no other at the top. */
TEST(the_keys_of_version_1) {
  static const char *const PATHS[] = {"shape.batch",
                                      "shape.heads",
                                      "shape.kv_heads",
                                      "shape.seq_q",
                                      "shape.seq_k",
                                      "shape.head_dim",
                                      "shape.dtype",
                                      "shape.causal",
                                      "shape.window",
                                      "machine.name",
                                      "machine.sram_bytes",
                                      "machine.l2_bytes",
                                      "runs.0.algorithm",
                                      "runs.0.block_q",
                                      "runs.0.block_k",
                                      "runs.0.sram.bytes",
                                      "runs.0.sram.capacity_bytes",
                                      "runs.0.sram.fits",
                                      "runs.0.sram.max_block",
                                      "runs.0.tiles.total",
                                      "runs.0.loads_per_block.Q",
                                      "runs.0.loads_per_block.V",
                                      "runs.0.traffic.read.Q",
                                      "runs.0.traffic.read.stats",
                                      "runs.0.traffic.write.O",
                                      "runs.0.traffic.write.S",
                                      "runs.0.traffic.read.P",
                                      "runs.0.traffic.write_bytes",
                                      "runs.0.hbm.read_bytes",
                                      "runs.0.l2",
                                      "runs.0.storage.inputs_bytes",
                                      "runs.0.storage.outputs_bytes",
                                      "runs.0.storage.intermediates_bytes",
                                      "runs.0.flops",
                                      "runs.0.intensity_flops_per_byte",
                                      "runs.0.time"};
  json_t *d = sim("--heads 4 --kv-heads 2");
  for (size_t k = 0; k < sizeof PATHS / sizeof *PATHS; k++) assert_non_null(at(d, PATHS[k]));
  assert_int_equal(json_object_size(d), 4);
  json_decref(d);
}

/* 2^31 tokens, 128 heads: 2^72 + 2^48 bytes for standard attention, a real number that is exact in double precision. */
TEST(totals_beyond_64_bits_are_reals) {
  json_t *d = sim("-N 2G --heads 128 --algorithm standard");
  assert_true(json_is_real(at(d, "runs.0.traffic.total_bytes")));
  assert_true(json_real_value(at(d, "runs.0.traffic.total_bytes")) == 4722366482869645213696.0 + 281474976710656.0);
  json_decref(d);
}

/* A machine named with --gpu is timed: HBM alone on the papers' machine, 66 MiB over 1555 GB/s; with L2 all five parts.
 */
TEST(time_comes_with_a_gpu) {
  json_t *d = sim("-N 4096 -d 128 --block 128 --algorithm fa2 --gpu paper");
  const double hbm_s = json_real_value(at(d, "runs.0.time.hbm_s"));
  assert_true(hbm_s > 44.504e-6 && hbm_s < 44.506e-6);
  assert_true(json_is_null(at(d, "runs.0.time.l2_s")));
  assert_string_equal(json_string_value(at(d, "runs.0.time.bound")), "hbm");
  json_decref(d);
  d = sim("-N 16K -d 128 --heads 16 --block 128 --algorithm fa2 --gpu h200");
  const double math_s = json_real_value(at(d, "runs.0.time.math_s"));
  assert_true(math_s > 2.222e-3 && math_s < 2.223e-3); /* 4 x 16384^2 x 2048 / 989.5 TFLOP/s */
  static const char *const PARTS[] = {"runs.0.time.hbm_s", "runs.0.time.l2_s", "runs.0.time.sram_s",
                                      "runs.0.time.exp_s"};
  for (int k = 0; k < 4; k++) assert_true(json_real_value(at(d, PARTS[k])) > 0);
  assert_string_equal(json_string_value(at(d, "runs.0.time.bound")), "math");
  assert_string_equal(json_string_value(at(d, "runs.0.time.kind")), "bound");
  const double least_s = json_real_value(at(d, "runs.0.time.least_s"));
  assert_true(fabs(least_s - math_s * 16 * 132 / 2048) < 1e-9 * least_s); /* 2048 CTAs: one SM has 16 */
  assert_true(json_is_null(at(d, "runs.0.time.predicted_s")));            /* no kernel is named */
  json_decref(d);
}

/* The runs that assets/kernels/fa2-sm90 counts: of split keys held out, of windows fitted; of so few tokens none. */
TEST(a_time_says_which_runs_it_was_compared_with) {
  static const struct {
    const char *options, *regime;
    int held_out, fitted;
  } CASES[] = {{"-N 4096", "split", 44, 0},
               {"-N 8192 --heads 16 --batch 4 --causal --window 1024", "window", 0, 40},
               {"-N 64", NULL, 0, 0}};
  for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++) {
    char options[128];
    snprintf(options, sizeof options, "%s --gpu h200 --kernel fa2-sm90", CASES[k].options);
    json_t *d = sim(options);
    const char *regime = json_string_value(at(d, "runs.0.time.error.regime"));
    assert_true(CASES[k].regime ? regime && strcmp(regime, CASES[k].regime) == 0 : !regime);
    assert_int_equal(number(d, "runs.0.time.error.held_out_runs"), CASES[k].held_out);
    assert_int_equal(number(d, "runs.0.time.error.fitted_runs"), CASES[k].fitted);
    assert_int_equal(json_is_null(at(d, "runs.0.time.error.median")), !CASES[k].regime);
    json_decref(d);
  }
}

/* Requested, L2 and HBM are three figures. 4 heads of N = 4096, d = 128 fit an H200's L2: Q, K, V are read from HBM
 * once, 12 MiB, and O goes back, 4 MiB, with a log-sum-exp for every row. Two-level traffic is what it was. */
TEST(l2_comes_with_a_gpu) {
  const long long MiB = 1 << 20, lse = 4 * 4096 * 4;
  json_t *d = sim("-N 4096 -d 128 --heads 4 --algorithm standard,fa2 --kernel fa2-sm90 --gpu h200");
  assert_int_equal(number(d, "runs.1.block_q"), 128);
  assert_int_equal(number(d, "runs.1.block_k"), 64);
  assert_int_equal(number(d, "runs.1.traffic.read_bytes"), 4 * 65 * MiB);
  assert_int_equal(number(d, "runs.1.l2.read_bytes"), 4 * 65 * MiB);
  assert_int_equal(number(d, "runs.1.hbm.read_bytes"), 12 * MiB);
  const long long spilled = 128 * 7168; /* of each row block; it stays in local memory */
  assert_int_equal(number(d, "runs.1.hbm.write_bytes"), 4 * MiB + lse + spilled);
  assert_int_equal(number(d, "runs.1.hbm.total_bytes"), 16 * MiB + lse + spilled);
  const double hit_rate = json_real_value(at(d, "runs.1.l2.hit_rate"));
  assert_true(hit_rate > 0.88 && hit_rate < 0.92);
  assert_true(number(d, "runs.1.l2.fabric_bytes") >=
              8 * MiB); /* the far half of Q and O, and of K and V for both sides */
  assert_int_equal(number(d, "runs.1.launch.ctas"), 128);
  assert_int_equal(number(d, "runs.1.launch.ctas_per_sm"), 2);
  assert_string_equal(json_string_value(at(d, "runs.1.launch.limited_by")), "registers");
  assert_int_equal(number(d, "runs.1.launch.waves"), 1);
  assert_true(json_real_value(at(d, "runs.1.launch.tail_fill")) == 128.0 / 264);
  /* standard is no run of that kernel: usual blocks of 128 x 128. S and P of a head are 32 MiB each, so in units of
   * 1 MiB a head: Q and K are read 32 times for the scores, S twice for the softmax, P once and V 32 times for O. */
  assert_int_equal(number(d, "runs.0.block_k"), 128);
  assert_int_equal(number(d, "runs.0.l2.read_bytes"), 4 * (32 + 32 + 2 * 32 + 32 + 32) * MiB);
  assert_int_equal(number(d, "runs.0.hbm.write_bytes"), 4 * (32 + 32 + 1) * MiB);
  assert_true(number(d, "runs.0.hbm.read_bytes") >= 12 * MiB &&
              number(d, "runs.0.hbm.read_bytes") < number(d, "runs.0.l2.read_bytes"));
  json_decref(d);
}

/* Single options override the kernel's: with one CTA an SM, two heads never pass through L2 side by side. */
TEST(launch_options_matter) {
  json_t *a = sim("-N 64K -d 128 --heads 4 --kernel fa2_async --gpu h200");
  json_t *b = sim("-N 64K -d 128 --heads 4 --kernel fa2_async --gpu h200 --ctas-per-sm 1"); /* twice the waves over K
                                                                                               and V that do not fit */
  json_t *c = sim(
      "--state 'N=65536 d=128 heads=4 kernel=fa2_async gpu=h200 ctas-per-sm=1 walk=forward order=query-head-batch'");
  assert_true(5 * number(b, "runs.0.hbm.read_bytes") > 7 * number(a, "runs.0.hbm.read_bytes"));
  assert_true(json_equal(b, c));
  json_decref(a);
  json_decref(b);
  json_decref(c);
}

TEST(wrong_launches_are_refused) {
  static const char *const WRONG[] = {
      "--kernel fa2-sm9", "--kernel fa2-sm90 --algorithm standard", "--kernel fa2_async -d 256", "--order upside-down",
      "--walk around",    "--ctas-per-sm 0 --gpu h200 --walk x",    "--ctas-per-sm 5000"};
  for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
    char command[256];
    snprintf(command, sizeof command, "sim %s", WRONG[i]);
    program_run(&run, command);
    if (run.exit_status != 2 || *run.out) fail_msg("%s: exit %d", WRONG[i], run.exit_status);
    assert_ptr_equal(strchr(run.err, '\n'), run.err + strlen(run.err) - 1);
  }
}

/* The same request as options and as a one-line state; an option beside the state wins. */
TEST(the_state_is_the_options) {
  json_t *a = sim("-N 64 -d 16 --block 8 --causal --algorithm fa2 --dtype bf16");
  json_t *b = sim("--state 'algorithm=fa2 N=64 d=16 block=8 causal=1 dtype=bf16'");
  json_t *c = sim("--block 8 --state 'algorithm=fa2 N=64 d=16 block=32 causal=1 dtype=bf16'");
  assert_true(json_equal(a, b));
  assert_true(json_equal(a, c));
  json_decref(a);
  json_decref(b);
  json_decref(c);
}

/* What the trace lists is what sim counts. */
TEST(the_trace_adds_up_to_sim) {
  static const char *const PROBLEM =
      "-N 50 --seq-len-k 70 -d 8 --block-q 16 --block-k 12 --causal --window 33 --algorithm fa1";
  json_t *d = sim(PROBLEM);
  char command[256];
  snprintf(command, sizeof command, "trace %s", PROBLEM);
  program_run(&run, command);
  assert_int_equal(run.exit_status, 0);
  long long bytes = 0, flops = 0;
  for (char *line = strtok(run.out, "\n"); line; line = strtok(NULL, "\n")) {
    const char *last = strrchr(line, ',');
    const char *before = last;
    while (before > line && before[-1] != ',') before--;
    bytes += atoll(before);
    flops += atoll(last + 1);
  }
  assert_int_equal(bytes, number(d, "runs.0.traffic.total_bytes"));
  assert_int_equal(flops, number(d, "runs.0.flops"));
  json_decref(d);
}

/* Windows by their sides, the other corner, another d of V, packed heads: the same from options and from the state,
 * shown as asked for, and the trace of one KV head adds up. 2 KV heads; 4 rows of Q a head; keys 0 to 1023, of which
 * query 0 sees the first alone: one column tile. */
TEST(a_shape_is_shown_as_it_was_asked_for) {
  static const char OPTIONS[] = "-N 1 --seq-len-k 1K -d 192 --head-dim-v 128 --heads 8 --kv-heads 2 --causal=top-left "
                                "--window 3,0 --pack-gqa on --algorithm fa2 --block 64";
  json_t *by_options = sim(OPTIONS),
         *by_state = sim("--state 'algorithm=fa2 N=1 seq-len-k=1024 d=192 head-dim-v=128 heads=8 kv-heads=2 "
                         "causal=top-left window=3,0 pack-gqa=on block=64'");
  assert_true(json_equal(by_options, by_state));
  assert_int_equal(number(by_options, "shape.heads"), 8);
  assert_int_equal(number(by_options, "shape.seq_q"), 1);
  assert_int_equal(number(by_options, "shape.head_dim_v"), 128);
  assert_int_equal(number(by_options, "shape.window_left"), 3);
  assert_string_equal(json_string_value(at(by_options, "shape.aligned")), "top-left");
  assert_int_equal(number(by_options, "runs.0.packed_heads"), 4);
  assert_int_equal(number(by_options, "runs.0.tiles.full"), 0);
  assert_int_equal(number(by_options, "runs.0.tiles.partial"), 1);
  assert_int_equal(number(by_options, "runs.0.traffic.read.K"), 2 * 64 * 192 * 2);
  assert_int_equal(number(by_options, "runs.0.traffic.read.V"), 2 * 64 * 128 * 2);
  assert_int_equal(number(by_options, "runs.0.traffic.write.O"), 8 * 128 * 2);
  json_decref(by_options);
  json_decref(by_state);
  char command[512];
  snprintf(command, sizeof command, "sweep --over block --values 64 %s --csv", OPTIONS);
  *strstr(command, "--block 64") = '\0';
  strcat(command, "--csv");
  program_run(&run, command);
  assert_int_equal(run.exit_status, 0);
  snprintf(command, sizeof command, "trace %s", OPTIONS);
  program_run(&run, command);
  assert_non_null(strstr(run.out, "load,Q,"));
  assert_non_null(strstr(run.out, ",1536,")); /* 4 rows x 192 x 2 bytes of Q */
}
