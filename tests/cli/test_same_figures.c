/* Commands that speak of the same thing say the same, to the last digit: sim, roofline, sweep and kvcache. */
#include <jansson.h>
#include <math.h>

#include "tests/support/test.h"
#include "tests/support/program.h"
#include "viz/lesson/lesson_library.h"

static ProgramRun run;

/* The number behind the first `key` of what a command prints as JSON; NAN where it is null. */
static double first(const char *command, const char *key) {
  char quoted[64];
  program_run(&run, command);
  if (run.exit_status != 0) fail_msg("%s: %s", command, run.err);
  snprintf(quoted, sizeof quoted, "\"%s\": ", key);
  const char *at = strstr(run.out, quoted);
  if (!at) fail_msg("%s has no %s", command, key);
  return strtod(at + strlen(quoted), NULL);
}

static const char *const REQUESTS[] = {
    "--gpu h200 --kernel cudnn-sm90 -N 4096",
    "--gpu h100-sxm --kernel fa2-sm90 -N 2048 --heads 8 --causal",
    "--gpu h100-sxm --kernel fa2-sm90 -N 1 --seq-len-k 32768 --heads 32 --kv-heads 8",
    "--gpu h200 --kernel mem-efficient-sm90 -N 3000 -d 64 --heads 4",
    "--gpu a100-80gb --algorithm fa2 -N 2048 --block 128 --heads 4 --window 255,0",
    "--gpu rtx4090 --algorithm standard -N 2048 --block 64",
};

TEST(sim_roofline_and_sweep_agree) {
  for (size_t k = 0; k < sizeof REQUESTS / sizeof *REQUESTS; k++) {
    char command[256];
    snprintf(command, sizeof command, "sim %s --json", REQUESTS[k]);
    const double least = first(command, "least_s"), predicted = first(command, "predicted_s"),
                 seconds = first(command, "seconds");
    snprintf(command, sizeof command, "roofline %s --json", REQUESTS[k]);
    assert_true(first(command, "least_s") == least && first(command, "seconds") == seconds);
    if (strstr(REQUESTS[k], "--kernel")) assert_true(predicted > 0 && first(command, "predicted_s") == predicted);
    const char *N = strstr(REQUESTS[k], "-N ") + 3;
    const int decode = strncmp(N, "1 ", 2) == 0;
    snprintf(command, sizeof command, "sweep %s %s --values %d --metric time --csv", REQUESTS[k],
             decode ? "--over keys" : "", decode ? 32768 : atoi(N));
    program_run(&run, command);
    if (run.exit_status != 0) fail_msg("%s: %s", command, run.err);
    const double swept = strtod(strchr(strchr(run.out, '\n'), ',') + 1, NULL);
    if (swept != seconds) fail_msg("%s: %.17g, sim has %.17g", command, swept, predicted);
  }
}

/* What crosses links: K and V of each of 8 ranks, 7 times, by hand; 7 messages one after the other at 50 GB/s. */
#define RING "--algorithm ring-attention -N 2048 --heads 4 --ranks 8 --link ib-ndr --causal"
TEST(sim_sweep_and_ranks_agree_about_links) {
  const double rank = 7 * (2 * 256 * 128 * 2 * 4), bound_s = 7 * (1e-6 + rank / 7 / 50e9);
  char csv[64];
  snprintf(csv, sizeof csv, ",8,ib-ndr,%.0f,%.0f,", 8 * rank, rank);
  assert_true(first("sim " RING " --json", "sent_bytes") == 8 * rank);
  assert_true(first("sim " RING " --json", "rank_bytes") == rank);
  const char *links = strstr(run.out, "\"boundary_bytes\"");
  assert_true(links && fabs(strtod(strstr(links, "bound_s") + 9, NULL) - bound_s) < 1e-12);
  const double all = strtod(links + 18, NULL);
  program_run(&run, "sim " RING " --csv");
  assert_non_null(strstr(run.out, csv));
  program_run(&run, "ranks " RING " --json");
  const char *sums = strstr(run.out, "\"boundaries\"");
  assert_true(sums && strtod(strstr(sums, "hbm_bytes") + 12, NULL) == all);
  assert_true(strtod(strstr(sums, "link_bytes") + 13, NULL) == 8 * rank);
  program_run(&run, "sweep " RING " --values 2048 --metric links --csv");
  assert_true(strtod(strchr(strchr(run.out, '\n'), ',') + 1, NULL) == 8 * rank);
}

/* Sizes that four ranks do not share out: a word, unless ranks are asked for. */
TEST(links_that_cannot_be_counted_are_said) {
  program_run(&run, "sim --algorithm ring-attention -N 1026");
  assert_true(run.exit_status == 0 && strstr(run.out, "Links are not counted") && !strstr(run.out, "send K"));
  program_run(&run, "sim --algorithm ring-attention -N 1026 --ranks 4");
  assert_true(run.exit_status == 2 && strstr(run.err, "give -N 1028"));
  program_run(&run, "sim --algorithm fa2 -N 1024 --ranks 4");
  assert_true(run.exit_status == 2 && strstr(run.err, "no program here says what ranks do"));
}

/* What `source` is in a lesson. */
static double in_a_lesson(const char *source) {
  ExpressionValue value;
  Error error = {0};
  if (expression_eval(source, &LESSON_LIMITS, &value, &error)) fail_msg("%s: %s", source, error.message);
  return value.numbers[0];
}

/* sim{...} in a lesson's answer, and sim on the command line: traffic, HBM and time. */
TEST(lessons_have_the_figures_of_sim) {
  static const struct {
    const char *lesson, *command;
  } ASKED[] = {
      {"sim{N=8192, heads=16, block=128, causal=true, gpu='h200', algorithm='fa2'}",
       "sim -N 8192 --heads 16 --block 128 --causal --gpu h200 --algorithm fa2 --json"},
      {"sim{N=1024, d=64, heads=4, gpu='a100-80gb', algorithm='standard'}",
       "sim -N 1024 -d 64 --heads 4 --gpu a100-80gb --algorithm standard --json"},
      {"sim{N=4096, d=256, block_q=128, block_k=64, gpu='a100-80gb', algorithm='fa2'}",
       "sim -N 4096 -d 256 --block-q 128 --block-k 64 --gpu a100-80gb --algorithm fa2 --json"},
  };
  static const char *const FIGURES[][2] = {{".time.least_s", "least_s"},
                                           {".time.hbm_s", "hbm_s"},
                                           {".time.math_s", "math_s"},
                                           {".l2.hit_rate", "hit_rate"},
                                           {".sram.max_block", "max_block"}};
  for (size_t k = 0; k < sizeof ASKED / sizeof *ASKED; k++)
    for (size_t f = 0; f < sizeof FIGURES / sizeof *FIGURES; f++) {
      char source[256];
      snprintf(source, sizeof source, "%s%s", ASKED[k].lesson, FIGURES[f][0]);
      const double lesson = in_a_lesson(source), said = first(ASKED[k].command, FIGURES[f][1]);
      if (lesson != said) fail_msg("%s: %.17g, sim has %.17g", source, lesson, said);
    }
}

static json_t *run_of(json_t *document) { return json_array_get(json_object_get(document, "runs"), 0); }

static double number_at(json_t *run_json, const char *object, const char *key) {
  json_t *at = json_object_get(json_object_get(run_json, object), key);
  if (!at) fail_msg("no %s.%s", object, key);
  return json_number_value(at);
}

/* Standard attention's traffic across the boundary is the same three passes with L2 and without: 4 N d + 4 N^2 elements
 * a head. What its tiles read again is a row of its own, and adds up to what L2 serves; HBM serves a part of that. By
 * hand, with T x T tiles: S = Q K^T reads Q and K T times each; the softmax reads S twice; P V reads P once, V T times.
 */
TEST(standard_has_one_traffic) {
  static const struct {
    const char *options;
    double N, d, heads, T;
  } ASKED[] = {{"-N 4096 -d 128 --heads 2 --block 128", 4096, 128, 2, 32},
               {"-N 2048 -d 64 --heads 3 --block 64", 2048, 64, 3, 32},
               {"-N 1024 -d 64 --block 128", 1024, 64, 1, 8}};
  static const char *const MACHINES[] = {"", "--gpu h200", "--gpu rtx4090", "--gpu a100-80gb"};
  for (size_t k = 0; k < sizeof ASKED / sizeof *ASKED; k++)
    for (size_t m = 0; m < sizeof MACHINES / sizeof *MACHINES; m++) {
      char command[256];
      snprintf(command, sizeof command, "sim --algorithm standard %s %s --json", ASKED[k].options, MACHINES[m]);
      program_run(&run, command);
      if (run.exit_status != 0) fail_msg("%s: %s", command, run.err);
      json_t *document = json_loads(run.out, 0, NULL), *r = run_of(document);
      const double N = ASKED[k].N, d = ASKED[k].d, heads = ASKED[k].heads, T = ASKED[k].T;
      const double read = heads * 2 * (3 * N * d + 2 * N * N), written = heads * 2 * (N * d + 2 * N * N);
      assert_true(number_at(r, "traffic", "read_bytes") == read);
      assert_true(number_at(r, "traffic", "write_bytes") == written);
      if (m == 0) {
        assert_true(number_at(r, "hbm", "read_bytes") == read);
      } else {
        const double asked = heads * 2 * (3 * T * N * d + 3 * N * N);
        assert_true(number_at(r, "l2", "read_bytes") == asked);
        assert_true(number_at(r, "overheads", "reread_bytes") == asked - read);
        assert_true(number_at(r, "l2", "write_bytes") == written);
        assert_true(number_at(r, "hbm", "read_bytes") <= asked);
      }
      json_decref(document);
    }
}

/* GPUs as points of a sweep: each has what sim says of it, and says which times are bounds. */
TEST(sweep_over_gpus_agrees_with_sim) {
  static const char *const GPUS[] = {"a100-80gb", "h100-sxm", "h200", "rtx4090"};
  static const char *const KINDS[] = {",extrapolated,true", ",predicted,true", ",predicted,true", ",extrapolated,true"};
  double time[4];
  char command[256];
  for (int k = 0; k < 4; k++) {
    snprintf(command, sizeof command, "sim --gpu %s --kernel fa2-sm90 -N 2048 --heads 16 --json", GPUS[k]);
    time[k] = first(command, "seconds");
    assert_true(first(command, "predicted_s") == time[k]);
  }
  program_run(&run, "sweep --over gpu=a100-80gb,h100,h200,rtx4090 --kernel fa2-sm90 -N 2048 --heads 16 --csv");
  assert_int_equal(run.exit_status, 0);
  char *line = strtok(run.out, "\n");
  assert_string_equal(line, "gpu,fa2,lower_bound_bytes,time_is,fa2_fits");
  for (int k = 0; k < 4; k++) {
    assert_non_null(line = strtok(NULL, "\n"));
    const size_t name = strlen(GPUS[k]);
    assert_memory_equal(line, GPUS[k], name);
    assert_true(strtod(line + name + 1, NULL) == time[k]);
    assert_string_equal(line + strlen(line) - strlen(KINDS[k]), KINDS[k]);
  }
  assert_null(strtok(NULL, "\n"));
}

/* Each point has its GPU's own L2 and SRAM; --gpu A,B names the points as well as --over gpu=A,B. */
TEST(each_gpu_has_its_own_levels) {
  static ProgramRun other;
  char command[256];
  program_run(&run, "sweep --over gpu=h200,rtx4090 --metric hbm -N 8K --heads 16 --algorithm fa2 --csv");
  assert_int_equal(run.exit_status, 0);
  program_run(&other, "sweep --over gpu --gpu h200,rtx4090 --metric hbm -N 8K --heads 16 --algorithm fa2 --csv");
  assert_string_equal(run.out, other.out);
  const char *at = run.out;
  for (int k = 0; k < 2; k++) {
    snprintf(command, sizeof command, "sim --gpu %s -N 8K --heads 16 --algorithm fa2 --json", k ? "rtx4090" : "h200");
    program_run(&other, command);
    const char *hbm = strstr(other.out, "\"hbm\": {");
    assert_non_null(hbm);
    const double total = strtod(strstr(hbm, "\"total_bytes\": ") + strlen("\"total_bytes\": "), NULL);
    at = strchr(at, '\n') + 1;
    assert_true(strtod(strchr(at, ',') + 1, NULL) == total);
  }
  program_run(&run, "sweep --over gpu=h100,h200 --algorithm fa2 --json");
  json_t *d = json_loads(run.out, 0, NULL), *points = json_object_get(d, "points");
  assert_int_equal(json_array_size(points), 2);
  assert_string_equal(json_string_value(json_object_get(json_array_get(points, 1), "value")), "h200");
  json_decref(d);
}

TEST(gpus_that_cannot_be_swept) {
  static const char *const BAD[][2] = {
      {"sweep --over gpu", "which GPUs?"},          {"sweep --over gpu=", "followed by no values"},
      {"sweep --over gpu=h100,,h200", "empty"},     {"sweep --over gpu=h100,h100", "twice"},
      {"sweep --over gpu=h100 --from 1", "--from"}, {"sweep --over gpu=h100 --gpu h200", "the same"},
      {"sweep --over gpu=h100,x9000", "x9000"},     {"sweep --over gpu=h100,mi300x --metric hbm", "mi300x"},
  };
  for (size_t k = 0; k < sizeof BAD / sizeof *BAD; k++) {
    program_run(&run, BAD[k][0]);
    if (run.exit_status != 2 || !strstr(run.err, BAD[k][1])) fail_msg("%s: %d %s", BAD[k][0], run.exit_status, run.err);
    assert_ptr_equal(strchr(run.err, '\n'), run.err + strlen(run.err) - 1); /* one line */
  }
}

/* One layer of 8 KV heads: what a step of decode reads of K and V is the cache, once; and takes as long. */
TEST(a_decode_reads_the_cache_once) {
  static const char SIM[] = "sim -N 1 --seq-len-k 32K --heads 32 --kv-heads 8 --gpu h100-sxm --kernel fa2-sm90 --json";
  static const char CACHE[] = "kvcache --layers 1 --kv-heads 8 -d 128 -N 32K --dtype fp16 --gpu h100-sxm --json";
  const double bytes = first(CACHE, "bytes"), read_s = first(CACHE, "read_s");
  assert_true(first(SIM, "K") > 0); /* of the budget: the first K is a tile's */
  json_t *d = json_loads(run.out, 0, NULL);
  json_t *read = json_object_get(json_object_get(json_array_get(json_object_get(d, "runs"), 0), "traffic"), "read");
  assert_true((double)json_integer_value(json_object_get(read, "K")) +
                  (double)json_integer_value(json_object_get(read, "V")) ==
              bytes);
  json_decref(d);
  const double in = first(SIM, "inputs_bytes"), least_s = first(SIM, "least_s");
  assert_true(in - bytes == 32 * 128 * 2); /* Q besides */
  assert_true(least_s == in / (bytes / read_s) || least_s / in == read_s / bytes);
}

/* A tensor of a program has its row whatever stands to its left: S and P are values on chip in fa2. */
TEST(every_tensor_has_its_row) {
  static const char *const ORDER[] = {"standard,fa2", "fa2,standard", "fa2-backward,standard-backward"};
  static const char *const ROWS[] = {"read S", "read S", "read P"};
  for (size_t k = 0; k < sizeof ORDER / sizeof *ORDER; k++) {
    char command[128];
    snprintf(command, sizeof command, "sim -N 256 -d 64 --block 64 --algorithm %s", ORDER[k]);
    program_run(&run, command);
    if (run.exit_status != 0 || !strstr(run.out, ROWS[k])) fail_msg("%s has no row '%s'", command, ROWS[k]);
  }
}
