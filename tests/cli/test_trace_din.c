/* Addresses of the event stream: sent through the cache model by another command, they give the counts that every exact
 * cache simulator must give, and their bytes are the bytes that sim counts. */
#include <jansson.h>

#include "tests/support/test.h"
#include "tests/support/program.h"

static ProgramRun run;

static json_t *json_of(const char *arguments) {
  program_run(&run, arguments);
  assert_int_equal(run.exit_status, 0);
  json_t *document = json_loads(run.out, 0, NULL);
  assert_non_null(document);
  return document;
}

static long long number(const json_t *document, const char *key) {
  return json_integer_value(json_object_get(document, key));
}

/* FA-2, N = 4096, d = 128, fp16, B = 128, Q|K|V|O of 1 MiB each, lines of 128 bytes: 32 row blocks read 64 MiB of K and
 * V, 1 MiB of Q, and write 1 MiB, 66 MiB / 128 B = 540,672 records. With 32 MiB every line misses once. With 2 MiB K
 * and V, 2 MiB together, do fit beside Q and O, and most of every pass misses. The counts are those of Dinero IV on the
 * same trace. */
TEST(the_counts_of_every_exact_simulator) {
  static const char *const PIPE =
      "trace -N 4096 -d 128 --block 128 --format din | \"${TILEWALK:-build/tilewalk}\" replay - --cache %s --json";
  char arguments[256];
  snprintf(arguments, sizeof arguments, PIPE, "32M,16,128,32");
  json_t *large = json_of(arguments);
  assert_int_equal(number(large, "accesses"), 540672);
  assert_int_equal(number(large, "line_misses"), 32768);
  assert_int_equal(number(large, "sector_misses"), 131072);
  json_decref(large);
  snprintf(arguments, sizeof arguments, PIPE, "2M,16,128,32");
  json_t *small = json_of(arguments);
  assert_int_equal(number(small, "line_misses"), 286720);
  assert_int_equal(number(small, "sector_misses"), 1146880);
  assert_int_equal(number(small, "writebacks"), 7936);
  json_decref(small);
}

/* Ragged, masked, every algorithm: the sizes in the trace add up to what sim says is read and written. */
TEST(the_bytes_are_those_of_sim) {
  static const char *const ALGORITHMS[] = {"standard", "fa1", "fa2 --lse", "fa2-split --splits 3 --lse"};
  for (size_t k = 0; k < sizeof ALGORITHMS / sizeof *ALGORITHMS; k++) {
    char problem[256], arguments[320];
    snprintf(problem, sizeof problem,
             "-N 37 --seq-len-k 53 -d 24 --block-q 16 --block-k 8 --causal --window 29 --algorithm %s", ALGORITHMS[k]);
    snprintf(arguments, sizeof arguments, "sim %s --json", problem);
    json_t *sim = json_of(arguments);
    json_t *traffic = json_object_get(json_array_get(json_object_get(sim, "runs"), 0), "traffic");
    const long long want[2] = {number(traffic, "read_bytes"), number(traffic, "write_bytes")};
    json_decref(sim);
    snprintf(arguments, sizeof arguments, "trace %s --format din", problem);
    program_run(&run, arguments);
    assert_int_equal(run.exit_status, 0);
    long long bytes[2] = {0, 0};
    for (char *line = strtok(run.out, "\n"); line; line = strtok(NULL, "\n")) {
      char *end;
      assert_true(line[0] == 'r' || line[0] == 'w');
      const int label = line[0] == 'w';
      strtoll(line + 1, &end, 16);
      bytes[label] += strtoll(end, NULL, 16);
    }
    assert_int_equal(bytes[0], want[0]);
    assert_int_equal(bytes[1], want[1]);
  }
}
