/* The test of the test: alloc_fail_each accepts a module that gives everything back, and refuses one that
 * leaks, one that hides the failure and one that says nothing. */
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/test.h"
#include "tests/support/alloc_fail.h"

static Status no_memory(Error *error) {
  return error_set(error, STATUS_NO_MEMORY, "no memory for 64 bytes; use a smaller case");
}

/* Three allocations, the last one growing the second. */
static Status tidy(void *context, Error *error) {
  (void)context;
  Status status = no_memory(NULL);
  char *volatile a = malloc(64);
  char *b = a ? calloc(4, 16) : NULL;
  char *grown = b ? realloc(b, 128) : NULL;
  if (grown) {
    b = grown;
    status = STATUS_OK;
  } else {
    no_memory(error);
  }
  free(b);
  free(a);
  return status;
}

/* Volatile, so that no allocation is optimised away; reachable, so that only alloc_fail_each sees a leak. */
static void *volatile kept;

static Status leaks_on_failure(void *context, Error *error) {
  (void)context;
  kept = malloc(64);
  if (!kept) return no_memory(error);
  void *volatile second = malloc(64);
  if (!second) return no_memory(error); /* kept stays */
  free(second);
  free(kept);
  return STATUS_OK;
}

static Status hides_the_failure(void *context, Error *error) {
  (void)context, (void)error;
  kept = malloc(64);
  free(kept);
  return STATUS_OK;
}

static Status says_nothing(void *context, Error *error) {
  (void)context, (void)error;
  kept = malloc(64);
  free(kept);
  return kept ? STATUS_OK : STATUS_NO_MEMORY;
}

TEST(a_tidy_run_is_counted) {
  assert_int_equal(alloc_fail_each(tidy, NULL), 3);
  assert_int_equal(alloc_fail_live_blocks(), 0);
}

static void run_one(void **state) { alloc_fail_each(*(AllocFailRun **)*state, NULL); }

/* Whether alloc_fail_each refuses `run`: in a child process, because a refusal fails the test. */
static int is_refused(AllocFailRun *run) {
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(0);
    const struct CMUnitTest inner[] = {cmocka_unit_test_prestate(run_one, &run)};
    _exit(cmocka_run_group_tests(inner, NULL, NULL) == 0 ? 0 : 1);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

TEST(faulty_runs_are_refused) {
  assert_false(is_refused(tidy));
  assert_true(is_refused(leaks_on_failure));
  assert_true(is_refused(hides_the_failure));
  assert_true(is_refused(says_nothing));
}
