/* Makes the n-th allocation fail, so that a test can walk through every "out of memory" path of a module.
 *
 * Test programs are linked with --wrap for malloc, calloc, realloc and free, so every allocation made by
 * Tilewalk's own code passes through here (those inside shared libraries do not). Nothing else changes: a
 * test that does not use this file gets the ordinary allocator, and the sanitizers still see every block.
 * While armed, only one thread may allocate.
 *
 *     static Status build(void *context, Error *error) {      // does the work, frees everything it got
 *       Cache *cache = NULL;
 *       Status status = cache_create(&cache, context, error);
 *       cache_destroy(cache);
 *       return status;
 *     }
 *     assert_true(alloc_fail_each(build, &config) >= 2);
 */
#ifndef TILEWALK_TESTS_SUPPORT_ALLOC_FAIL_H
#define TILEWALK_TESTS_SUPPORT_ALLOC_FAIL_H

#include <stddef.h>

#include "sim/base/error.h"

/* Does one piece of work from start to end and releases all of it, whether it worked or not. */
typedef Status AllocFailRun(void *context, Error *error);

/* Calls run(context, ...) once undisturbed, then with its allocations failing in turn. Fails the
 * running cmocka test when a call with a failed allocation does not return STATUS_NO_MEMORY with a one-line
 * message, when any call leaves a block behind, or when the last, undisturbed one does not return STATUS_OK.
 * Of thousands those fail that are enough for each call on the way (alloc_fail.c): of a loop's the first two and the
 * last. Returns how many allocations a whole run makes; assert a lower bound on it, so that the test cannot
 * silently lose its subject. */
size_t alloc_fail_each(AllocFailRun *run, void *context);

#endif
