/* tilewalk gpus, as users and programs see it. */
#define _DEFAULT_SOURCE /* mkstemps */
#include <dirent.h>
#include <jansson.h>

#include "tests/support/test.h"
#include "tests/support/program.h"
#include "tests/support/scratch.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static ProgramRun run;

static json_t *run_json(const char *arguments) {
  program_run(&run, arguments);
  assert_int_equal(run.exit_status, 0);
  assert_string_equal(run.err, "");
  json_error_t where;
  json_t *json = json_loads(run.out, 0, &where);
  if (!json) fail_msg("%s: line %d: %s", arguments, where.line, where.text);
  return json;
}

/* Every machine is in the overview, and no line is wider than a terminal. */
TEST(the_overview_fits_and_is_complete) {
  static const char *const NAMES[] = {
      "v100",    "t4",      "a100-40gb", "a100-80gb", "rtx3060", "rtx3090",     "a10",      "a6000",
      "rtx4060", "rtx4070", "rtx4090",   "l4",        "l40s",    "h100-pcie",   "h100-sxm", "gh200",
      "h200",    "b200",    "b300",      "rtx5090",   "mi300x",  "mi325x",      "mi355x",   "tiny",
      "paper",   "a30",     "a40",       "rtx3080",   "rtx5070", "rtx5070ti",   "rtx5080",  "rtx-pro-6000",
      "l20",     "h20",     "h800",      "gb200",     "gb300",   "jetson-orin", "m4-max"};
  program_run(&run, "gpus");
  assert_int_equal(run.exit_status, 0);
  for (size_t i = 0; i < COUNT_OF(NAMES); i++) {
    char begins[64];
    snprintf(begins, sizeof begins, "\n%s ", NAMES[i]);
    if (!strstr(run.out, begins)) fail_msg("%s is missing", NAMES[i]);
  }
  assert_non_null(strstr(run.out, "60 MiB"));   /* L2 of h200 */
  assert_non_null(strstr(run.out, "4.8 TB/s")); /* its bandwidth */
  assert_null(strstr(run.out, "\033"));         /* piped: no colour */
  int rules = 0;                                /* below the headings, and before what nobody sells */
  for (const char *c = run.out; (c = strchr(c, '\n')); c++) rules += c[1] == '-' || strncmp(c + 1, "\u2500", 3) == 0;
  assert_int_equal(rules, 2);
  size_t columns = 0; /* characters, not bytes */
  for (const char *c = run.out; *c; c++) {
    if (*c == '\n')
      columns = 0;
    else if (((unsigned char)*c & 0xC0) != 0x80)
      columns++;
    assert_true(columns <= 80);
  }
}

/* JSON carries value, unit and source of each number. */
TEST(json_says_where_numbers_come_from) {
  json_t *json = run_json("gpus h200 paper --json");
  assert_int_equal(json_integer_value(json_object_get(json, "tilewalk")), 1);
  json_t *gpus = json_object_get(json, "gpus");
  assert_int_equal(json_array_size(gpus), 2);
  json_t *h200 = json_array_get(gpus, 0), *paper = json_array_get(gpus, 1);
  assert_string_equal(json_string_value(json_object_get(h200, "name")), "h200");
  assert_string_equal(json_string_value(json_object_get(h200, "compute_capability")), "9.0");
  json_t *numbers = json_object_get(h200, "numbers"), *l2 = json_object_get(numbers, "l2");
  assert_int_equal(json_integer_value(json_object_get(l2, "value")), 62914560);
  assert_string_equal(json_string_value(json_object_get(l2, "unit")), "B");
  assert_true(json_is_false(json_object_get(l2, "assumed")));
  assert_string_equal(json_string_value(json_object_get(l2, "source")),
                      "measured on an NVIDIA H200 (driver 580, CUDA 13.0), device property");
  json_t *bandwidth = json_object_get(numbers, "hbm_bandwidth");
  assert_true(json_real_value(json_object_get(bandwidth, "value")) == 4.8e12);
  assert_string_equal(json_string_value(json_object_get(bandwidth, "unit")), "B/s");
  assert_true(json_is_false(json_object_get(json_object_get(numbers, "launch_overhead"), "assumed")));
  json_t *paper_numbers = json_object_get(paper, "numbers");
  assert_true(json_is_true(json_object_get(json_object_get(paper_numbers, "launch_overhead"), "assumed")));
  assert_null(json_object_get(paper_numbers, "l2"));
  json_decref(json);

  json = run_json("gpus --json");
  int n_files = 0;
  DIR *folder = opendir("assets/gpus");
  assert_non_null(folder);
  for (const struct dirent *entry; (entry = readdir(folder));) n_files += entry->d_name[0] != '.';
  closedir(folder);
  assert_int_equal(json_array_size(json_object_get(json, "gpus")), n_files);
  json_decref(json);
}

TEST(csv_has_a_row_for_each_number) {
  program_run(&run, "gpus a100-40gb --csv");
  assert_int_equal(run.exit_status, 0);
  assert_int_equal(strncmp(run.out, "gpu,key,value,unit,assumed,source\n", 34), 0);
  assert_non_null(strstr(run.out, "\na100-40gb,l2,41943040,B,0,\"NVIDIA A100"));
  assert_non_null(strstr(run.out, "\na100-40gb,n_sm,108,,0,"));
  assert_non_null(strstr(run.out, "\na100-40gb,hbm_bandwidth,1.555e+12,B/s,0,"));
}

static void own_gpu(const char *format, const char *path) {
  char arguments[SCRATCH_BYTES + 64];
  snprintf(arguments, sizeof arguments, format, path);
  program_run(&run, arguments);
}

/* A file of the user's own is shown with what was filled in for it; a wrong one is explained. */
TEST(a_users_file_is_shown_and_checked) {
  char path[SCRATCH_BYTES], expected[SCRATCH_BYTES + 64];
  assert_true(scratch_file(path, ".gpu"));
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs("name = mine\nn_sm = 10 # assumed\nsram = 100 KiB # assumed\nclock = 1 GHz # assumed\n"
        "hbm = 8 GB # source: my own measurement\nhbm_bandwidth = 100 GB/s # assumed\n",
        file);
  fclose(file);
  own_gpu("gpus %s", path);
  assert_int_equal(run.exit_status, 0);
  assert_non_null(strstr(run.out, "my own measurement"));
  assert_non_null(strstr(run.out, "assumed: not given, all of sram"));
  own_gpu("sim -N 64 --gpu %s --json", path);
  assert_int_equal(run.exit_status, 0);
  assert_non_null(strstr(run.out, "\"sram_bytes\": 102400"));

  file = fopen(path, "a");
  fputs("l2 = 4 MiB\n", file);
  fclose(file);
  own_gpu("gpus %s", path);
  assert_int_equal(run.exit_status, 2);
  assert_string_equal(run.out, "");
  snprintf(expected, sizeof expected, "%s:7: l2 does not say where its number comes from", path);
  assert_non_null(strstr(run.err, expected));
  remove(path);
}

TEST(bad_requests) {
  static const struct {
    const char *arguments, *says;
  } CASES[] = {
      {"gpus h2o0", "did you mean 'h20'?"},
      {"gpus abacus", "'tilewalk gpus' lists the known ones"},
      {"gpus ''", "is empty"},
      {"gpus --csv --json", "give one of them"},
      {"gpus ..", "is a folder"},
      {"gpus /dev/null", "no 'name'"},
      {"gpus ./no/such", "cannot open"},
      {"gpus /dev/zero", "larger than 65536 bytes"},
      {"gpus --model x", "there is no option '--model'"},
  };
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    program_run(&run, CASES[i].arguments);
    assert_int_equal(run.exit_status, 2);
    assert_string_equal(run.out, "");
    if (!strstr(run.err, CASES[i].says)) fail_msg("%s says: %s", CASES[i].arguments, run.err);
    assert_ptr_equal(strchr(run.err, '\n'), run.err + strlen(run.err) - 1); /* one line */
  }
}
