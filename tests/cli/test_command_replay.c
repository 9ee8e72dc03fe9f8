/* tilewalk replay, as users and programs see it. */
#define _DEFAULT_SOURCE /* mkstemps, sigaction, getrusage, alarm */
#include "tests/support/test.h"

#include <jansson.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/cache/din.h"
#include "tests/support/program.h"
#include "tests/support/scratch.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static ProgramRun run;

/* --- traces in a file of their own --- */

static char path[32];

static FILE *begin_trace(void) {
  strcpy(path, "/tmp/tilewalk_trace.XXXXXX");
  const int file = mkstemp(path);
  assert_true(file >= 0);
  return fdopen(file, "w");
}

static void put_trace(const char *text) {
  FILE *file = begin_trace();
  fputs(text, file);
  fclose(file);
}

static json_t *replay_json(const char *options) {
  char line[256];
  snprintf(line, sizeof line, "replay %s %s --json", path, options);
  program_run(&run, line);
  assert_string_equal(run.err, "");
  assert_int_equal(run.exit_status, 0);
  json_t *json = json_loads(run.out, 0, NULL);
  assert_non_null(json);
  return json;
}

static int64_t whole(const json_t *json, const char *key) {
  const json_t *number = json_object_get(json, key);
  if (!json_is_integer(number)) fail_msg("no whole number '%s'", key);
  return json_integer_value(number);
}

/* --- one head of FlashAttention-2, N = 4096, d = 128, fp16, blocks of 128 --- */

static void put_tile(FILE *file, uint64_t address, DinLabel label) {
  for (uint64_t byte = 0; byte < 32768; byte += 128) {
    char text[DIN_TEXT_BYTES];
    const DinRecord record = {address + byte, 128, label};
    fwrite(text, 1, din_print(&record, text), file);
  }
}

static void put_head(void) {
  FILE *file = begin_trace();
  for (uint64_t i = 0; i < 32; i++) {
    put_tile(file, i << 15, DIN_READ);
    for (uint64_t j = 0; j < 32; j++) {
      put_tile(file, (1 << 20) + (j << 15), DIN_READ);
      put_tile(file, (2 << 20) + (j << 15), DIN_READ);
    }
    put_tile(file, (3 << 20) + (i << 15), DIN_WRITE);
  }
  fclose(file);
}

/* The counts of every exact simulator. */
TEST(a_head_counts_as_everywhere) {
  const struct {
    const char *options;
    int64_t line_misses, sector_misses, writebacks;
  } cases[] = {
      {"--cache 32M,16,128,32", 32768, 131072, 0},
      {"--cache 2M,16,128,32", 286720, 1146880, 7936},
      {"", 286720, 1146880, 7936},
      {"--cache 2M,full", 540672, 2162688, 7936},
  };
  put_head();
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    json_t *json = replay_json(cases[i].options);
    assert_int_equal(whole(json, "accesses"), 540672);
    assert_int_equal(whole(json, "line_misses"), cases[i].line_misses);
    assert_int_equal(whole(json, "sector_misses"), cases[i].sector_misses);
    assert_int_equal(whole(json, "writebacks"), cases[i].writebacks);
    json_decref(json);
  }
  remove(path);
}

TEST(a_small_trace_by_hand) {
  put_trace("# two lines of one set, and a fetch\nr 0 20\nw 20 0x20\n2 0\n1 200 4\n\nr 0 80\n0 200");
  json_t *json = replay_json("--cache 512,1,128,32 --flush"); /* 4 sets of one line */
  assert_int_equal(whole(json, "accesses"), 6);
  assert_int_equal(whole(json, "stores"), 2);
  assert_int_equal(whole(json, "line_misses"), 4);        /* 0, 200, 0, 200 */
  assert_int_equal(whole(json, "writebacks"), 2);         /* line 0, line 200 */
  assert_int_equal(whole(json, "read_sector_misses"), 6); /* 1, then 4, then 1: what was stored at 200 left */
  assert_int_equal(whole(json, "sector_misses"), 8);
  assert_int_equal(whole(json, "read_sectors"), 7);
  assert_int_equal(whole(json, "written_back_sectors"), 2);
  assert_int_equal(whole(json, "written_back_bytes"), 2 * 32);
  assert_int_equal(whole(json, "fetched_bytes"), 6 * 32);
  const double hit_rate = json_real_value(json_object_get(json, "hit_rate"));
  assert_true(hit_rate == 3.0 / 9); /* as ncu counts: the fetch, and both stores */
  json_decref(json);
  remove(path);
}

/* The cache lab's first example, s = 4, E = 1, b = 4: 4 hits, 5 misses, 3 evictions, also as xdin. */
TEST(a_lackey_trace) {
  static const char *const traces[] = {"I 0400,4\n L 10,1\n M 20,1\n L 22,1\n S 18,1\n L 110,1\n L 210,1\n M 12,1\n",
                                       "r 10 1\nr 20 1\nw 20 1\nr 22 1\nw 18 1\nr 110 1\nr 210 1\nr 12 1\nw 12 1\n"};
  for (size_t i = 0; i < COUNT_OF(traces); i++) {
    put_trace(traces[i]);
    json_t *json = replay_json("--cache 256,1,16,16");
    assert_string_equal(json_string_value(json_object_get(json, "format")), i ? "xdin" : "lackey");
    assert_int_equal(whole(json, "accesses"), 9);
    assert_int_equal(whole(json, "lines_touched") - whole(json, "line_misses"), 4);
    assert_int_equal(whole(json, "line_misses"), 5);
    assert_int_equal(whole(json, "evictions"), 3);
    assert_int_equal(whole(json, "fetches_left_out"), i ? 0 : 1);
    json_decref(json);
    remove(path);
  }
}

/* Words behind an address are a comment, and said so where they look like a size. */
TEST(comments_are_no_sizes) {
  put_trace("2 0 an instruction fetch\n0 1000 a data read\n1 70f60888 decoded as a store\n0 2000 bad\n");
  json_t *json = replay_json("");
  assert_string_equal(json_string_value(json_object_get(json, "format")), "din");
  assert_int_equal(whole(json, "accesses"), 4);
  assert_int_equal(whole(json, "read_sectors") + whole(json, "write_sectors"), 4);
  json_decref(json);
  remove(path);
  put_trace("0 1000 80\n");
  char line[128];
  snprintf(line, sizeof line, "replay %s", path);
  program_run(&run, line);
  assert_non_null(strstr(run.out, "--format xdin"));
  json = replay_json("--format xdin");
  assert_int_equal(whole(json, "read_sectors"), 4);
  json_decref(json);
  remove(path);
}

static void refused(const char *arguments, const char *says) {
  program_run(&run, arguments);
  assert_int_equal(run.exit_status, 2);
  assert_string_equal(run.out, "");
  if (!strstr(run.err, says)) fail_msg("%s: %s", arguments, run.err);
  assert_ptr_equal(strchr(run.err, '\n'), run.err + strlen(run.err) - 1); /* one line */
}

/* A hit rate of nothing is no figure: what was taken for a trace was not read as one. */
TEST(a_trace_of_no_access_is_refused) {
  const struct {
    const char *text, *says;
  } cases[] = {
      {"# nothing\n\n", "the trace holds no access: of 2 lines all are blank, comments"},
      {"4 0\n", "the trace holds no access"},
      {"I  04000a0,3\nI  04000a3,2\n", "all 2 accesses of the trace are instruction fetches; --fetches counts them"},
      {"\x1f\x8b\x08 packed\n", "is packed with gzip; unpack it: gunzip -c FILE | tilewalk replay -"},
      {"BZh91AY\n", "packed with bzip2"},
      {"\xfd"
       "7zXZ\n",
       "packed with xz"},
      {"\x28\xb5\x2f\xfd\n", "packed with zstd"},
      {"PK\x03\x04\n", "packed with zip"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    char line[128];
    put_trace(cases[i].text);
    snprintf(line, sizeof line, "replay %s", path);
    refused(line, cases[i].says);
    remove(path);
  }
  refused("replay - </dev/null", "the trace holds no access: of 0 lines");
}

TEST(options_choose_the_cache) {
  put_trace("0 0\n0 10000\n0 0\n"); /* 64 KiB apart: one set of a small cache, two of a hashed one */
  json_t *json = replay_json("--cache 64K,1 --index xor --policy fifo --seed 7 --access-bytes 64");
  const json_t *cache = json_object_get(json, "cache");
  assert_int_equal(whole(cache, "size_bytes"), 65536);
  assert_int_equal(whole(cache, "sets"), 512);
  assert_string_equal(json_string_value(json_object_get(cache, "index")), "xor");
  assert_string_equal(json_string_value(json_object_get(cache, "policy")), "fifo");
  assert_int_equal(whole(json, "line_misses"), 2);
  assert_int_equal(whole(json, "read_sectors"), 6); /* 64 bytes each */
  json_decref(json);
  json = replay_json("--cache 64K,1");
  assert_int_equal(whole(json, "line_misses"), 3);
  json_decref(json);
  remove(path);
}

TEST(a_limit_stops_early_and_threads_change_nothing) {
  put_head();
  FILE *file = fopen(path, "a");
  fputs("this is no record\n", file);
  fclose(file);
  for (int threads = 1; threads <= 3; threads++) {
    char options[64];
    snprintf(options, sizeof options, "--limit 540672 --threads %d", threads);
    json_t *json = replay_json(options);
    assert_int_equal(whole(json, "accesses"), 540672);
    assert_int_equal(whole(json, "line_misses"), 286720);
    assert_int_equal(whole(json, "writebacks"), 7936);
    assert_int_equal(whole(json, "stores"), 8192);
    json_decref(json);
    snprintf(options, sizeof options, "--limit 3 --threads %d", threads);
    json = replay_json(options);
    assert_int_equal(whole(json, "accesses"), 3);
    assert_int_equal(whole(json, "read_sectors"), 12);
    json_decref(json);
    char line[128];
    snprintf(line, sizeof line, "replay %s --threads %d", path, threads);
    program_run(&run, line);
    assert_int_equal(run.exit_status, 2);
    assert_non_null(strstr(run.err, "trace line 540673: 'this' is no label"));
  }
  remove(path);
}

TEST(csv_is_one_count_a_row) {
  put_trace("r 0 80\n");
  char line[128];
  snprintf(line, sizeof line, "replay %s --csv", path);
  program_run(&run, line);
  assert_int_equal(run.exit_status, 0);
  assert_non_null(strstr(run.out, "\naccesses,1,"));
  assert_non_null(strstr(run.out, "\nfetched_bytes,128,"));
  assert_non_null(strstr(run.out, "\nhit_rate,0,"));
  remove(path);
}

TEST(mistakes_name_the_line_and_print_nothing) {
  put_trace("0 0\n0 20\n\n9 30\n");
  const struct {
    const char *before, *after, *says; /* around the name of the trace */
  } cases[] = {
      {"", "", "trace line 4: '9' is no label"},
      {"", "--cache 2M,16,128,48", "sectors of 48"},
      {"", "--cache 2M,16,128,32,1", "is no cache"},
      {"", "--cache 2M,0", "--cache"},
      {"", "--cache 0", "is zero"},
      {"", "--cache 1000T", "more than the 2147483648 that can be simulated"},
      {"", "--cache 64G", "to simulate"},
      {"", "--cache 3M,3 --policy plru", "power of two"},
      {"", "--format elf", "auto, din, xdin, lackey, csv, pin, words and hash"},
      {"", "--index hash", "modulo, xor and random"},
      {"", "--policy mru", "lru, plru, fifo and random"},
      {"", "--access-bytes 0", "an access of 0 bytes"},
      {"", "--limit 0", "a count is at least 1"},
      {"", "--threads 0", "the number of threads"},
      {"", "--threads 65", "the number of threads"},
      {"", "another", "one trace at a time"},
      {"/tmp/no/such", "", "one trace at a time"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    char line[256];
    snprintf(line, sizeof line, "replay %s %s %s", cases[i].before, path, cases[i].after);
    refused(line, cases[i].says);
  }
  refused("replay /tmp/no/such", "No such file");
  refused("replay /tmp", "Is a directory");
  refused("replay", "no trace is named");
  refused("replay ''", "is empty");
  remove(path);
}

/* 60 MB through a pipe in little more memory than 60 bytes. */
TEST(a_long_trace_streams_in_constant_memory) {
  struct rusage before, after;
  program_run(&run, "replay - --cache 64K </dev/null");
  getrusage(RUSAGE_CHILDREN, &before);
  char line[256];
  const char *program = getenv("TILEWALK") ? getenv("TILEWALK") : "build/tilewalk";
  snprintf(line, sizeof line,
           "yes '0 1000 80 # sixty characters a line, of which most are comment ' | head -n 1000000 | "
           "'%s' replay - --cache 64K --json | grep -q '\"accesses\": 1000000,'",
           program);
  assert_int_equal(system(line), 0);
  getrusage(RUSAGE_CHILDREN, &after);
  assert_true(after.ru_maxrss - before.ru_maxrss < 8 * 1024); /* KiB */
}

TEST(an_interrupt_stops_it_cleanly) {
  char line[1024], out[SCRATCH_BYTES], err[SCRATCH_BYTES];
  int status = 1;
  assert_true(scratch_file(out, ".out") && scratch_file(err, ".err"));
  const char *program = getenv("TILEWALK") ? getenv("TILEWALK") : "build/tilewalk";
  for (int after_s = 1; status && after_s < 100; after_s *= 4) { /* a slow machine has not read two lines in a second */
    snprintf(line, sizeof line,
             "{ printf '0 0\\n0 80\\n'; sleep %d; } | timeout --preserve-status -s INT %d '%s' replay "
             "- >%s 2>%s; test $? = 130 && test ! -s %s && grep -q 'interrupted after line 2; nothing was printed' %s",
             after_s + 1, after_s, program, out, err, out, err);
    status = system(line);
  }
  remove(out);
  remove(err);
  assert_int_equal(status, 0);
}
