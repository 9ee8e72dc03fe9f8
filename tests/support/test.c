/* The list of a program's tests, and the main that runs them. */
#include "tests/support/test.h"

static struct {
  struct CMUnitTest tests[128];
  size_t n;
  CMFixtureFunction set_up, tear_down; /* of the group */
} listed;

void test_list(const char *name, CMUnitTestFunction test) {
  if (listed.n == sizeof listed.tests / sizeof listed.tests[0]) abort();
  listed.tests[listed.n++] = (struct CMUnitTest){.name = name, .test_func = test};
}

void test_group(CMFixtureFunction set_up, CMFixtureFunction tear_down) {
  listed.set_up = set_up;
  listed.tear_down = tear_down;
}

/* Stands behind the tests: it is theirs. */
void test_each(CMFixtureFunction set_up, CMFixtureFunction tear_down) {
  for (size_t i = 0; i < listed.n; i++) {
    listed.tests[i].setup_func = set_up;
    listed.tests[i].teardown_func = tear_down;
  }
}

int test_depth(void) {
  const char *asked = getenv("TILEWALK_DEPTH");
  return asked && atoi(asked) > 0 ? atoi(asked) : 1;
}

void test_below(double measured, double bound, const char *what, const char *file, int line) {
  print_message("%s: %.4g, below %.4g\n", what, measured, bound);
  if (!(measured < bound)) _fail(file, line);
}

int main(int argc, char **argv) {
  if (argc > 1) cmocka_set_test_filter(argv[1]);
  return _cmocka_run_group_tests("tests", listed.tests, listed.n, listed.set_up, listed.tear_down);
}
