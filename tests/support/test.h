/* What every test begins with: cmocka, the usual headers, and tests that list themselves.
 *
 *     TEST(an_empty_cache_misses) { assert_int_equal(...); }
 *
 * They run in the order in which they stand; `build/tests/test_x 'an_empty*'` runs those of that name. GROUP's
 * functions run before the first test and after the last, EACH_TEST's around each; NULL for none. `state` is
 * cmocka's. */
#ifndef TILEWALK_TESTS_SUPPORT_TEST_H
#define TILEWALK_TESTS_SUPPORT_TEST_H

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/base/error.h"

/* As in each.h, and a test that fails in a row says in which. */
#define EACH(k, table) for (size_t k = 0; test_at(#table, k, COUNT_OF(table)); k++)
bool test_at(const char *table, size_t row, size_t n);
#include "tests/support/each.h"

#define TEST_AT_START(name, does)                                                                                      \
  __attribute__((constructor)) static void name(void) { does; }
#define TEST(name)                                                                                                     \
  static void name(void **state);                                                                                      \
  static void name##_whole(void **state) {                                                                             \
    name(state);                                                                                                       \
    test_over();                                                                                                       \
  }                                                                                                                    \
  TEST_AT_START(name##_listed, test_list(#name, name##_whole))                                                         \
  static void name(__attribute__((unused)) void **state)
#define GROUP(set_up, tear_down)     TEST_AT_START(group_listed, test_group(set_up, tear_down))
#define EACH_TEST(set_up, tear_down) TEST_AT_START(each_listed, test_each(set_up, tear_down))

void test_list(const char *name, CMUnitTestFunction test);
void test_over(void); /* it has not failed */
void test_group(CMFixtureFunction set_up, CMFixtureFunction tear_down);
void test_each(CMFixtureFunction set_up, CMFixtureFunction tear_down);

/* TILEWALK_DEPTH: how many times as deep as in `make test`; from 2 on, what was measured is printed, too. */
int test_depth(void);

/* Where a call says why it fails: the one error of all tests, cleared by each fresh_error(). */
extern Error test_error;
Error *fresh_error(void);

/* A call that must succeed, and one that must be refused with this status, in words that hold this part; what was said
 * last holds a part, or begins with it. */
#define must(call)                      test_must(call, #call, __FILE__, __LINE__)
#define must_refuse(call, status, part) test_refuse(call, status, part, #call, __FILE__, __LINE__)
#define assert_said(part)               test_said(part, false, __FILE__, __LINE__)
#define assert_begins(with)             test_said(with, true, __FILE__, __LINE__)
void test_must(int failed, const char *call, const char *file, int line);
void test_said(const char *part, bool first, const char *file, int line);
void test_refuse(Status got, Status wanted, const char *part, const char *call, const char *file, int line);

/* Two numbers, and how far apart they may be; both are said where it is more. */
#define assert_near(is, should, within) test_near(is, should, within, __FILE__, __LINE__)
void test_near(double is, double should, double within, const char *file, int line);

/* A text as a buffer: where it begins, and its length. */
#define ALL_OF(text) text, strlen(text)

/* A text has a part. */
#define assert_has(text, part) test_has(text, part, __FILE__, __LINE__)
void test_has(const char *text, const char *part, const char *file, int line);

/* A row of a table: what is given, and a part of what must be said of it. */
typedef struct {
  const char *text, *says;
} TextSays;

/* The two parts of "TEXT => SAYS", until the next; those of each row of a table, one loop at a time. */
TextSays test_says(const char *row);
#define EACH_SAYS(row, rows)                                                                                           \
  for (TextSays row = test_says_first(#rows, rows, COUNT_OF(rows)); row.text; row = test_says_next())
TextSays test_says_first(const char *table, const char *const rows[], size_t n);
TextSays test_says_next(void);

/* The next of several texts with a line between two, "64|64.|+64"; false: there is none. */
enum { TEST_TEXT = 128 };
bool test_next(const char **texts, char text[TEST_TEXT]);

/* Rows of "WHAT|WHAT => SAYS", up to NULL: each WHAT is done, and taken, "!WHAT" is not; then SAYS is in what `says`
 * returns, "-SAYS" is not. */
void test_walk(void *of, bool (*does)(void *of, const char *what), const char *(*says)(void *of),
               const char *const rows[]);

/* The next row of a table in text, a line each, "64 4096 0.5\n128 512 1e3", each field of it read as the format of
 * sscanf says; false: there is none. */
bool test_row(const char **rows, const char *format, ...) __attribute__((format(scanf, 2, 3)));

/* As printf has it, until the eighth after it. */
const char *test_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A text with quotation marks where it has these marks, until the next. */
const char *test_quoted(const char *text, char mark);

/* What this process has taken of a CPU. */
double test_seconds(void);

/* Prints what was measured and its bound: today's value and a margin, which stands beside it. */
#define assert_below(measured, bound) test_below(measured, bound, #measured, __FILE__, __LINE__)
void test_below(double measured, double bound, const char *what, const char *file, int line);

#endif
