#include "tests/support/alloc_fail.h"

#include <execinfo.h>
#include <limits.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *block);

/* Blocks handed out since arming. A run under test holds few at once and frees the newest first, so a plain
 * array searched from its end is quick enough. The linker's --wrap leaves no other place for this state. */
enum { LIVE_MAX = 1 << 16, FRAMES = 48 };
static struct {
  int armed;
  int happened;
  long remaining;
  size_t n_live;
  uintptr_t live[LIVE_MAX];
} watch;

/* Of a run's allocations those that shall fail. Where a run returns to (a call's place in the code) is on the way out
 * of several failures: of the first two that pass there, and of the last. */
enum { PLACES_MAX = 4096, TIMES = 2 };
static struct {
  int listing;
  size_t n, n_places;
  char fails[LIVE_MAX];
  struct {
    void *returns_to;
    int times;
    size_t last;
  } places[PLACES_MAX];
} plan;

static size_t place_of(void *returns_to) {
  size_t k = 0;
  while (k < plan.n_places && plan.places[k].returns_to != returns_to) k++;
  if (k == plan.n_places && k < PLACES_MAX - 1) {
    plan.places[plan.n_places++].returns_to = returns_to;
    plan.places[k].times = 0;
  }
  return k;
}

static void plan_next(void) {
  void *frames[FRAMES];
  size_t places[FRAMES];
  const int n = backtrace(frames, FRAMES);
  int fails = 0;
  if (plan.n == LIVE_MAX) return;
  for (int i = 0; i < n; i++) {
    places[i] = place_of(frames[i]);
    fails |= plan.places[places[i]].times < TIMES;
    plan.places[places[i]].last = plan.n;
  }
  for (int i = 0; i < n && fails; i++) plan.places[places[i]].times++;
  plan.fails[plan.n++] = (char)fails;
}

/* Code under test may allocate in several threads. */
static int watch_should_fail(void) {
  int fails = 0;
#pragma omp critical(watch)
  if (watch.armed && plan.listing) plan_next();
  if (watch.armed && !watch.happened) fails = watch.happened = watch.remaining-- <= 0;
  return fails;
}

static void *watch_add(void *block) {
  int full = 0;
#pragma omp critical(watch)
  if (watch.armed && block) {
    full = watch.n_live == LIVE_MAX;
    if (!full) watch.live[watch.n_live++] = (uintptr_t)block;
  }
  if (full) fail_msg("more than %d live blocks: use a smaller case", LIVE_MAX);
  return block;
}

static void watch_remove(uintptr_t block) {
#pragma omp critical(watch)
  for (size_t i = watch.armed ? watch.n_live : 0; i-- > 0;) {
    if (watch.live[i] != block) continue;
    memmove(&watch.live[i], &watch.live[i + 1], (watch.n_live - i - 1) * sizeof watch.live[0]);
    watch.n_live--;
    break;
  }
}

void *__wrap_malloc(size_t size) { return watch_should_fail() ? NULL : watch_add(__real_malloc(size)); }

void *__wrap_calloc(size_t count, size_t size) {
  return watch_should_fail() ? NULL : watch_add(__real_calloc(count, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  return watch_should_fail() ? NULL : watch_add(__real_aligned_alloc(alignment, size));
}

void *__wrap_realloc(void *block, size_t size) {
  if (watch_should_fail()) return NULL;
  uintptr_t old = (uintptr_t)block;
  void *moved = __real_realloc(block, size);
  if (!moved && size) return NULL;
  watch_remove(old);
  return watch_add(moved);
}

void __wrap_free(void *block) {
  watch_remove((uintptr_t)block);
  __real_free(block);
}

/* Lets n more allocations succeed and fails the one after them, once; a negative n disarms. */
static void alloc_fail_after(long n) {
  watch.armed = n >= 0;
  watch.happened = 0;
  watch.remaining = n;
  watch.n_live = 0;
}

/* A run whose n-th allocation fails, from 0; whether one did. */
static int run_failing(AllocFailRun *run, void *context, long n) {
  Error error = {STATUS_OK, ""};
  alloc_fail_after(n);
  const Status status = run(context, &error);
  const int happened = watch.happened;
  const size_t left = watch.n_live;
  alloc_fail_after(-1);
  if (left) fail_msg("allocation %ld failed: %zu blocks were left behind", n + 1, left);
  if (!happened && status != STATUS_OK) fail_msg("undisturbed run: status %d: %s", (int)status, error.message);
  if (!happened) return 0;
  if (status != STATUS_NO_MEMORY) fail_msg("allocation %ld failed: the run returned status %d", n + 1, (int)status);
  if (error.status != STATUS_NO_MEMORY || !error.message[0] || strchr(error.message, '\n'))
    fail_msg("allocation %ld failed: the message is \"%s\"", n + 1, error.message);
  return 1;
}

size_t alloc_fail_each(AllocFailRun *run, void *context) {
  plan.n = plan.n_places = 0;
  plan.listing = 1;
  run_failing(run, context, LONG_MAX);
  plan.listing = 0;
  if (plan.n == LIVE_MAX || plan.n_places == PLACES_MAX - 1) fail_msg("too many allocations: use a smaller case");
  for (size_t k = 0; k < plan.n_places; k++) plan.fails[plan.places[k].last] = 1;
  for (size_t n = 0; n < plan.n; n++)
    if (plan.fails[n] && !run_failing(run, context, (long)n))
      fail_msg("allocation %zu came once, and not again", n + 1);
  run_failing(run, context, LONG_MAX);
  return plan.n;
}
