/* `tilewalk sweep --over l2` and `--over skew`: what is left for HBM as L2 grows or CTAs spread, and requests without
 * L2. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "tests/support/test.h"
#include "tests/support/program.h"

static ProgramRun run;

/* 16 heads of N = 8192, d = 128: Q, K, V and O are 32 MiB each, and this kernel writes the log-sum-exp of every row. */
#define ONCE ((128LL << 20) + 16 * 8192 * 4)

/* A large enough L2 leaves every byte once; a larger one never more; the smallest leaves
 * more than that. */
TEST(hbm_traffic_falls_to_every_byte_once) {
  program_run(&run, "sweep --over l2 --values 2M,16M,60M,256M --gpu h200 --kernel fa2-sm90 -N 8K --heads 16 --csv");
  assert_int_equal(run.exit_status, 0);
  long long before = 0, first = 0, bytes = 0;
  int n = 0;
  strtok(run.out, "\n");
  for (char *line; (line = strtok(NULL, "\n")); n++) {
    long long l2, once;
    assert_int_equal(sscanf(line, "%lld,%lld,%lld", &l2, &bytes, &once), 3);
    assert_int_equal(once, ONCE);
    assert_true(bytes >= once && (n == 0 || bytes <= before));
    if (n == 0) first = bytes;
    before = bytes;
  }
  assert_int_equal(n, 4);
  const long long spilled =
      264 * 7168; /* of a row block, by each CTA at work: stored again and again, and written at the end */
  assert_int_equal(bytes, ONCE + spilled);
  assert_true(first > bytes);
}

/* A named mask fits every length. strided:2, 512 tokens: 8 x 8 blocks of 64, 4 of a row seen, 8 KiB each of K and V; Q
 * and O are 64 KiB. */
TEST(mask_of_every_length) {
  program_run(&run, "sweep --values 512,1K --mask strided:2 --block 64 --head-dim 64 --algorithm fa2 --csv");
  assert_int_equal(run.exit_status, 0);
  assert_non_null(strstr(run.out, "\n512,655360,"));   /* 32 x 16 KiB + 128 KiB */
  assert_non_null(strstr(run.out, "\n1024,2359296,")); /* 128 x 16 KiB + 256 KiB */
}

/* The same pace as an option, as a state and as a point of a sweep; time is the default. */
TEST(skew_is_a_pace) {
  static ProgramRun step, plain;
  const char *problem = "--gpu h200 --kernel fa2-sm90 -N 32K --heads 4 --json";
  char command[256];
  snprintf(command, sizeof command, "sim %s --pace skew:200", problem);
  program_run(&run, command);
  assert_int_equal(run.exit_status, 0);
  program_run(&step, "sim --state 'gpu=h200 kernel=fa2-sm90 N=32768 heads=4 pace=skew:200' --json");
  assert_string_equal(run.out, step.out);
  snprintf(command, sizeof command, "sim %s --pace time", problem);
  program_run(&step, command);
  snprintf(command, sizeof command, "sim %s", problem);
  program_run(&plain, command);
  assert_string_equal(step.out, plain.out);
  assert_string_not_equal(step.out, run.out);
  snprintf(command, sizeof command, "sim %s --pace step", problem);
  program_run(&step, command);
  assert_string_not_equal(step.out, run.out);
  assert_string_not_equal(step.out, plain.out);
  program_run(&run, "sim --state 'gpu=h200 kernel=fa2-sm90 N=32768 heads=4 pace=step' --json");
  assert_string_equal(run.out, step.out);
  program_run(&run, "sweep --over skew --values 1,200 --gpu h200 --kernel fa2-sm90 -N 32K --heads 4 --csv");
  assert_int_equal(run.exit_status, 0);
  program_run(&run, "sim --pace skew:x");
  assert_int_equal(run.exit_status, 2);
}

/* Nothing given but what to vary: a problem where it matters, named in the title without the swept key, as chart and
 * table. What does not fit begins where it does by hand: fa2 of fp16 keeps 2 d (2 B_r + 2 B_c) + 2 B_r B_c + 8 B_r
 * bytes. */
TEST(defaults_that_show_something) {
  static const struct {
    const char *request, *title;
  } CASES[] = {
      {"sweep --over l2 --values 32M,256M",
       "the size of L2, all partitions; algorithm=fa2 N=32768 d=128 heads=8 gpu=h200\n"},
      {"sweep --over skew --values 1,128",
       "the first CTA and the last; algorithm=fa2 N=32768 d=128 heads=8 gpu=h200\n"},
      {"sweep --over N --values 1K,2K --algorithm fa2", "sequence length N, tokens; algorithm=fa2 d=128\n"},
      {"sweep --over block --values 16,32 --block 64 --algorithm fa2", "rows; algorithm=fa2 N=4096 d=128\n"},
      {"sweep --over head-dim --values 16,32 --algorithm fa2", "head dimension d; algorithm=fa2 N=4096\n"},
      {"sweep --over block --sram 100K", "x from 86 to 512: does not fit"},
      {"sweep --over block=85,86 --sram 100K", "x from 86 to 86: does not fit"},
      {"sweep --over block-q --block-k 16 --sram 100K", "x from 171 to 512: does not fit"},
      {"sweep --over head-dim --block 64 --sram 100K", "x from 184 to 512: does not fit"},
      {"sweep --over sram --block 128", "x from 16 KiB to 161.0 KiB: does not fit"},
  };
  setenv("COLUMNS", "160", 1);
  for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
    program_run(&run, CASES[i].request);
    assert_int_equal(run.exit_status, 0);
    if (!strstr(run.out, CASES[i].title)) fail_msg("%s:\n%s", CASES[i].request, run.out);
    assert_non_null(strstr(run.out, ", read and written\n")); /* the chart */
  }
  unsetenv("COLUMNS");
  program_run(&run, "sweep --over block=85,86 --algorithm fa2 --sram 100K --csv");
  assert_non_null(strstr(run.out, ",fa2_fits\n85,"));
  assert_non_null(strstr(run.out, ",true\n86,"));
  assert_non_null(strstr(run.out, ",false\n"));
  program_run(&run, "sweep --over l2 --values 32M,256M --csv");
  char *line = strchr(run.out, '\n') + 1;
  const double small = strtod(strchr(line, ',') + 1, NULL);
  line = strchr(line, '\n') + 1;
  const double large = strtod(strchr(line, ',') + 1, NULL);
  assert_true(large < 0.6 * small && large == 268435456); /* Q, K, V and O of 8 heads once */
}

/* The user says what is shown, and the title follows. 64 MiB cross the boundary where Q, K, V are read and O is written
 * once behind L2; a timed kernel's time is the one of sim. */
TEST(the_metric_is_chosen) {
  program_run(&run, "sweep --gpu h200 -N 4K --block 128 --algorithm fa2 --values 4096 --metric hbm --csv");
  assert_int_equal(strtod(strchr(strchr(run.out, '\n'), ',') + 1, NULL), 4 << 20);
  program_run(&run, "sweep --gpu h200 --block 128 --algorithm fa2 --values 4096 --csv");
  assert_int_equal(strtod(strchr(strchr(run.out, '\n'), ',') + 1, NULL), 66 << 20);
  program_run(&run, "sweep --gpu h200 --block 128 --algorithm fa2 --values 4096");
  assert_non_null(strstr(run.out, "Traffic across the SRAM boundary"));
  program_run(&run, "sweep --gpu h200 --kernel cudnn-sm90 --values 4096 --metric time --csv");
  const double swept = strtod(strchr(strchr(run.out, '\n'), ',') + 1, NULL);
  program_run(&run, "sim --gpu h200 --kernel cudnn-sm90 -N 4096 --json");
  const char *predicted = strstr(run.out, "\"predicted_s\": ");
  assert_non_null(predicted);
  assert_true(strtod(predicted + 15, NULL) == swept);
  program_run(&run, "roofline --gpu h200 --kernel cudnn-sm90 -N 4096 --json");
  predicted = strstr(run.out, "\"predicted_s\": ");
  assert_non_null(predicted);
  assert_true(strtod(predicted + 15, NULL) == swept); /* one function */
}

TEST(nothing_to_sweep) {
  static const char *const WRONG[] = {"sweep --over l2 --gpu paper",           "sweep --over l2 --gpu nope",
                                      "sweep --over l2 --gpu h200 --values 0", "sweep --metric hbm",
                                      "sweep --metric bytes --gpu h200",       "sweep --over l2 --metric boundary"};
  for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
    program_run(&run, WRONG[i]);
    if (run.exit_status != 2 || *run.out) fail_msg("%s: exit %d", WRONG[i], run.exit_status);
    assert_ptr_equal(strchr(run.err, '\n'), run.err + strlen(run.err) - 1);
  }
}
