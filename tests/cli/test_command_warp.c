/* tilewalk warp, as users and programs see it. */
#include "tests/support/test.h"

#include <jansson.h>

#include "tests/support/program.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static ProgramRun run;

/* The whole number at object.key of `tilewalk warp ARGUMENTS --json`. */
static int64_t value(const char *arguments, const char *object, const char *key) {
  char line[256];
  snprintf(line, sizeof line, "warp %s --json", arguments);
  program_run(&run, line);
  assert_int_equal(run.exit_status, 0);
  assert_string_equal(run.err, "");
  json_t *json = json_loads(run.out, 0, NULL);
  assert_non_null(json);
  const json_t *number = json_object_get(json_object_get(json, object), key);
  if (!json_is_integer(number)) fail_msg("%s: no %s.%s in %s", line, object, key, run.out);
  const int64_t result = json_integer_value(number);
  json_decref(json);
  return result;
}

TEST(what_the_lessons_ask) {
  const struct {
    const char *arguments, *object, *key;
    int64_t expected;
  } cases[] = {
      {"", "global", "sectors", 4},
      {"", "global", "lines", 1},
      {"--stride 32", "global", "sectors", 32},
      {"--stride 32", "global", "moved_bytes", 1024},
      {"--stride 32", "global", "used_bytes", 128},
      {"--stride 32", "shared", "ways", 32},
      {"--stride 2", "global", "sectors", 8},
      {"--stride 2", "shared", "ways", 2},
      {"--base 4", "global", "sectors", 5},
      {"--pad 1", "shared", "ways", 1},
      {"--pad 1", "shared_plain", "ways", 32},
      {"--pad 1", "global", "sectors", 32}, /* padding is the tile's, not the tensor's */
      {"--stride 64 --pad 2", "shared", "ways", 2},
      {"--swizzle 128B", "shared", "ways", 4},
      {"--swizzle 128B --lane-bytes 16", "shared", "ways", 1},
      {"--swizzle 128B --lane-bytes 16", "shared", "conflicts", 0},
      {"--swizzle 128B --lane-bytes 16", "shared_plain", "conflicts", 28},
      {"--swizzle 64B --lane-bytes 16 --stride 4", "shared", "ways", 1},
      {"--swizzle 32B --lane-bytes 16 --stride 2", "shared", "ways", 1},
      {"--stride 0 --lane-bytes 16", "shared", "parts", 2}, /* equal pairs of a load go together */
      {"--stride 0 --lane-bytes 16 --store", "shared", "parts", 4},
      {"--addresses 0,4,,132", "access", "active_lanes", 3},
      {"--addresses 0,4,,132", "shared", "ways", 2}, /* 4 and 132: bank 1 */
      {"--addresses 1K,1K", "global", "used_bytes", 4},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    const int64_t got = value(cases[i].arguments, cases[i].object, cases[i].key);
    if (got != cases[i].expected)
      fail_msg("warp %s: %s.%s is %lld, not %lld", cases[i].arguments, cases[i].object, cases[i].key, (long long)got,
               (long long)cases[i].expected);
  }
}

TEST(people_read_it_within_a_terminal) {
  program_run(&run, "warp --stride 32");
  assert_int_equal(run.exit_status, 0);
  assert_non_null(strstr(run.out, "32 lanes load 4 B each, 128 B apart"));
  assert_non_null(strstr(run.out, "32-way"));
  assert_non_null(strstr(run.out, "8.00x"));
  assert_null(strstr(run.out, "plain")); /* nothing to compare with */
  program_run(&run, "warp --pad 1");
  assert_non_null(strstr(run.out, "rows lie 132 B apart (4 B of padding), swizzle none"));
  size_t columns = 0;
  for (const char *c = run.out; *c; c++) {
    if (*c == '\n')
      columns = 0;
    else if (((unsigned char)*c & 0xC0) != 0x80)
      columns++;
    assert_true(columns <= 80);
  }
}

TEST(csv_is_one_count_a_row) {
  program_run(&run, "warp --swizzle 128B --lane-bytes 16 --csv");
  assert_string_equal(run.out,
                      "memory,count,value\nglobal,sectors,32\nglobal,lines,32\nglobal,used,512\n"
                      "global,moved,1024\nglobal,overfetch,2\n"
                      "\"shared, plain\",ways,8\n\"shared, plain\",wavefronts,32\n\"shared, plain\",conflicts,28\n"
                      "shared,ways,1\nshared,wavefronts,4\nshared,conflicts,0\n");
}

TEST(bad_requests) {
  const struct {
    const char *arguments, *says;
  } cases[] = {
      {"warp --lane-bytes 3", "1, 2, 4, 8 or 16 bytes, not 3"},
      {"warp --lane-bytes 0 --stride 1 --base 2", "multiple of 4"},
      {"warp --base 2", "lane 0 asks for 4 bytes at address 2"},
      {"warp --swizzle 256B", "32B, 64B and 128B"},
      {"warp --addresses 0,4 --stride 2", "leave out --stride"},
      {"warp --addresses 0,x", "'x'"},
      {"warp --addresses ,,", "no lane has an address"},
      {"warp --addresses "
       "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32",
       "a warp has 32 lanes"},
      {"warp --stride -1", "stride"},
      {"warp --stride 1e99", "stride"},
      {"warp 32", "32"},
      {"warp --json --csv", "give one of them"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    program_run(&run, cases[i].arguments);
    if (run.exit_status != 2 || !strstr(run.err, cases[i].says))
      fail_msg("%s: status %d, says: %s", cases[i].arguments, run.exit_status, run.err);
    assert_string_equal(run.out, "");
    assert_ptr_equal(strchr(run.err, '\n'), run.err + strlen(run.err) - 1); /* one line */
  }
}
