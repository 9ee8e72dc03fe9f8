/* The list of a program's tests, and the main that runs them. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include <time.h>

#include "tests/support/test.h"

static struct {
  struct CMUnitTest tests[128];
  size_t n;
  CMFixtureFunction set_up, tear_down; /* of the group */
  CMFixtureFunction each;              /* behind each test */
} listed;

/* The row of a table, and the text of one, that a test is at: said where it ends there. */
static struct {
  const char *table;
  size_t row;
  char text[1 << 10];
  bool is_over;
} at;

bool test_at(const char *table, size_t row, size_t n) {
  at.table = row < n ? table : NULL;
  at.row = row;
  *at.text = '\0';
  return row < n;
}

static void at_text(const char *text) { snprintf(at.text, sizeof at.text, "%s", text); }

void test_over(void) { at.is_over = true; }

static int end_test(void **state) {
  if (!at.is_over && at.table) print_error("in row %zu of %s\n", at.row, at.table);
  if (!at.is_over && *at.text) print_error("at '%s'\n", at.text);
  if (!at.is_over && *test_error.message) print_error("it was said last: %s\n", test_error.message);
  test_at(NULL, 0, 1);
  at.is_over = false;
  return listed.each ? listed.each(state) : 0;
}

void test_list(const char *name, CMUnitTestFunction test) {
  if (listed.n == COUNT_OF(listed.tests)) abort();
  listed.tests[listed.n++] = (struct CMUnitTest){.name = name, .test_func = test, .teardown_func = end_test};
}

void test_group(CMFixtureFunction set_up, CMFixtureFunction tear_down) {
  listed.set_up = set_up;
  listed.tear_down = tear_down;
}

/* Stands behind the tests: it is theirs. */
void test_each(CMFixtureFunction set_up, CMFixtureFunction tear_down) {
  for (size_t i = 0; i < listed.n; i++) listed.tests[i].setup_func = set_up;
  listed.each = tear_down;
}

/* fontconfig keeps what it has read until the process ends. Asked by the leak checker, where there is one. */
const char *__lsan_default_suppressions(void);
__attribute__((weak)) const char *__lsan_default_suppressions(void) { return "leak:libfontconfig"; }

int test_depth(void) {
  const char *asked = getenv("TILEWALK_DEPTH");
  return asked && atoi(asked) > 0 ? atoi(asked) : 1;
}

Error test_error;

Error *fresh_error(void) {
  test_error = (Error){0};
  return &test_error;
}

static bool next_until(const char *end, const char **texts, char text[TEST_TEXT]) {
  if (!*texts) return false;
  const size_t n = strcspn(*texts, end);
  if (n >= TEST_TEXT) abort();
  snprintf(text, TEST_TEXT, "%.*s", (int)n, *texts);
  *texts = (*texts)[n] ? *texts + n + 1 : NULL;
  at_text(text);
  return true;
}

bool test_next(const char **texts, char text[TEST_TEXT]) { return next_until("|", texts, text); }

bool test_row(const char **rows, const char *format, ...) {
  char text[TEST_TEXT];
  int n = 0;
  va_list fields;
  if (!next_until("\n", rows, text)) return false;
  for (const char *c = format; *c; c++) n += *c == '%';
  va_start(fields, format);
  assert_int_equal(vsscanf(text, format, fields), n);
  va_end(fields);
  return true;
}

TextSays test_says(const char *row) {
  static char text[1 << 13];
  const char *says = strstr(row, " => ");
  at_text(row);
  assert_true(says && strlen(row) < sizeof text); /* it has two parts */
  strcpy(text, row)[says - row] = '\0';
  return (TextSays){text, says + 4};
}

static struct {
  const char *table, *const *rows;
  size_t at, n;
} walked;

TextSays test_says_next(void) {
  const size_t k = walked.at++;
  if (!test_at(walked.table, k, walked.n)) return (TextSays){0};
  return test_says(walked.rows[k]);
}

TextSays test_says_first(const char *table, const char *const rows[], size_t n) {
  walked.table = table, walked.rows = rows, walked.at = 0, walked.n = n;
  return test_says_next();
}

void test_walk(void *of, bool (*does)(void *of, const char *what), const char *(*says)(void *of),
               const char *const rows[]) {
  char what[TEST_TEXT];
  for (; *rows; rows++) {
    TextSays row = test_says(*rows);
    while (test_next(&row.text, what))
      if (does(of, what + (*what == '!')) == (*what == '!')) fail_msg("'%s': who takes '%s'?", *rows, what);
    const bool is_wanted = *row.says != '-';
    const char *said = says(of);
    if ((strstr(said, row.says + !is_wanted) != NULL) != is_wanted) fail_msg("'%s', but:\n%s", *rows, said);
  }
}

const char *test_text(const char *format, ...) {
  static char texts[8][1 << 17];
  static size_t n;
  char *text = texts[n++ % COUNT_OF(texts)];
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(text, sizeof *texts, format, arguments);
  va_end(arguments);
  if (length >= (int)sizeof *texts) abort();
  return text;
}

const char *test_quoted(const char *text, char mark) {
  static char quoted[1 << 14];
  if (strlen(text) >= sizeof quoted) abort();
  strcpy(quoted, text);
  for (char *c = quoted; (c = strchr(c, mark));) *c = '"';
  return quoted;
}

void test_must(int failed, const char *call, const char *file, int line) {
  if (!failed) return;
  print_error("%s fails: %s\n", call, test_error.message);
  _fail(file, line);
}

void test_said(const char *part, bool first, const char *file, int line) {
  const char *found = strstr(test_error.message, part);
  if (found && (!first || found == test_error.message)) return;
  print_error("'%s' does not %s '%s'\n", test_error.message, first ? "begin with" : "say", part);
  _fail(file, line);
}

void test_near(double is, double should, double within, const char *file, int line) {
  if (fabs(is - should) <= within) return;
  print_error("%.17g is not %.17g, nor within %g\n", is, should, within);
  _fail(file, line);
}

void test_has(const char *text, const char *part, const char *file, int line) {
  if (strstr(text, part)) return;
  print_error("'%s' has no '%s'\n", text, part);
  _fail(file, line);
}

void test_refuse(Status got, Status wanted, const char *part, const char *call, const char *file, int line) {
  if (got == wanted && strstr(test_error.message, part)) return;
  print_error("%s: status %d, not %d; '%s' has to say '%s'\n", call, got, wanted, test_error.message, part);
  _fail(file, line);
}

double test_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void test_below(double measured, double bound, const char *what, const char *file, int line) {
  print_message("%s: %.4g, below %.4g\n", what, measured, bound);
  if (!(measured < bound)) _fail(file, line);
}

__attribute__((weak)) int main(int argc, char **argv) { /* test_fuzz has its own */
  if (argc > 1) cmocka_set_test_filter(argv[1]);
  return _cmocka_run_group_tests("tests", listed.tests, listed.n, listed.set_up, listed.tear_down);
}
