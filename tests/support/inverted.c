/* Loaded before libcmocka by inverted.py: TEST_INVERT=k turns round the k-th place of an assertion that each test
 * reaches, 0 none; TEST_INVERT_ALONE=NAME runs that test alone. TEST_INVERT_LOG gets a line for each test that begins,
 * each place it reaches and each test that passes. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "tests/support/test.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

enum { MOST = 4096 };

static struct {
  struct CMUnitTest tests[MOST], *running;
  const char *files[MOST]; /* the places that this test has reached */
  int lines[MOST], n, invert, log;
} now;

static void note(char kind, const char *name, int line) {
  if (now.log > 0) dprintf(now.log, "%c\t%ld\t%s\t%d\n", kind, (long)getpid(), name, line);
}

/* Whether this is the first time that the running test is here, and it is its turn to be turned round. */
static bool is_inverted(const char *file, int line) {
  for (int i = 0; i < now.n; i++)
    if (now.lines[i] == line && strcmp(now.files[i], file) == 0) return false;
  if (strncmp(file, "tests/", 6) != 0 || now.n == MOST) return false; /* cmocka has some of its own */
  now.files[now.n] = file;
  now.lines[now.n++] = line;
  note('S', file, line);
  return now.running > now.tests && now.n == now.invert;
}

static void judge(bool holds, const char *file, int line) {
  if (holds != is_inverted(file, line)) return;
  print_error("%s:%d: does not hold\n", file, line);
  _fail(file, line);
}

static void run_next(void **state) {
  struct CMUnitTest *test = ++now.running;
  now.n = 0;
  note('T', test->name, 0);
  test->test_func(state);
  note('P', test->name, 0);
}

int _cmocka_run_group_tests(const char *group, const struct CMUnitTest *const tests, const size_t n,
                            CMFixtureFunction set_up, CMFixtureFunction tear_down) {
  struct CMUnitTest wrapped[MOST];
  int (*run)(const char *, const struct CMUnitTest *, size_t, CMFixtureFunction, CMFixtureFunction);
  *(void **)&run = dlsym(RTLD_NEXT, "_cmocka_run_group_tests");
  if (!run || n >= MOST) abort();
  const char *k = getenv("TEST_INVERT"), *log = getenv("TEST_INVERT_LOG"), *alone = getenv("TEST_INVERT_ALONE");
  now.invert = k ? atoi(k) : 0;
  now.log = log ? open(log, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
  size_t asked = 0;
  now.running = now.tests;
  for (size_t i = 0; i < n; i++) {
    if (alone && strcmp(alone, tests[i].name) != 0) continue;
    wrapped[asked] = now.tests[asked + 1] = tests[i];
    wrapped[asked++].test_func = run_next;
  }
  return run(group, wrapped, asked, set_up, tear_down);
}

typedef LargestIntegralType Whole;
#define PLACE const char *const file, const int line

void _assert_true(const Whole holds, const char *const text, PLACE) {
  (void)text;
  judge(holds != 0, file, line);
}
void _assert_int_equal(const Whole a, const Whole b, PLACE) { judge(a == b, file, line); }
void _assert_int_not_equal(const Whole a, const Whole b, PLACE) { judge(a != b, file, line); }
void _assert_in_range(const Whole a, const Whole least, const Whole most, PLACE) {
  judge(least <= a && a <= most, file, line);
}
void _assert_not_in_range(const Whole a, const Whole least, const Whole most, PLACE) {
  judge(a < least || a > most, file, line);
}
void _assert_string_equal(const char *const a, const char *const b, PLACE) { judge(strcmp(a, b) == 0, file, line); }
void _assert_string_not_equal(const char *const a, const char *const b, PLACE) { judge(strcmp(a, b) != 0, file, line); }
void _assert_memory_equal(const void *const a, const void *const b, const size_t size, PLACE) {
  judge(memcmp(a, b, size) == 0, file, line);
}
void _assert_memory_not_equal(const void *const a, const void *const b, const size_t size, PLACE) {
  judge(memcmp(a, b, size) != 0, file, line);
}
void _assert_float_equal(const float a, const float b, const float epsilon, PLACE) {
  judge(fabsf(a - b) <= epsilon, file, line);
}
