/* Grading a class: what hostile hand-ins may not do, worked out by hand on lessons of two lines. */
#include "tests/support/test.h"
#include "lessons/engine/lesson_class.h"
#include "sim/base/text_add.h"
#include "tests/support/alloc_fail.h"

/* The answer of lesson 01-two is twice the number drawn; that of 02-three three times. `guess` is a prediction. */
#define LESSON(times)                                                                                                  \
  "# T\n- idea: one\n- minutes: 5\n- draw: N from 2, 3, 5, 7, 11, 13, 17, 19\n\nHello {N}.\n\n"                        \
  "```ask sum\nprompt: p\nanswer: " times " * N\nhint: h\nexplain: e\n```\n\n"                                         \
  "```ask guess\nkind: predict\nprompt: p\noption: yes | A.\noption: no | B.\nanswer: 'yes'\nhint: h\n```\n\n"         \
  "```ask bytes\nprompt: p\nanswer: 64\nhint: h\nexplain: e\n```\n"

static int n_loads;

static Status load(const char *name, Lesson *lesson, Error *error) {
  n_loads++;
  if (strcmp(name, "01-two") == 0 || strcmp(name, "two") == 0)
    return lesson_from_buffer(lesson, LESSON("2"), strlen(LESSON("2")), "01-two.md", error);
  if (strcmp(name, "02-three") == 0)
    return lesson_from_buffer(lesson, LESSON("3"), strlen(LESSON("3")), "02-three.md", error);
  return error_refuse(error, "there is no lesson '%s'", name);
}

/* The number that a seed draws. */
static int number_in(const char *name, uint64_t seed) {
  Lesson l;
  LessonRun run;
  char text[64];
  must(load(name, &l, fresh_error()));
  must(lesson_run_start(&run, &l, NULL, seed, fresh_error()));
  must(lesson_run_fill(&run, l.blocks[0].text, text, sizeof text, fresh_error()));
  lesson_run_end(&run);
  lesson_free(&l);
  return atoi(text + strlen("Hello "));
}
static int number_of(uint64_t seed) { return number_in("two", seed); }

enum { ROWS = 64, CELL = 200 };
typedef struct {
  char student[CELL], lesson[CELL], id[CELL], verdict[CELL], remark[600];
  uint64_t seed;
  int line;
  bool is_error;
} Row;

static Row rows[ROWS];
static int n_rows;
static ClassSum sum;

static Status keep(void *data, const ClassRow *row, Error *why) {
  (void)data, (void)why;
  if (n_rows == ROWS) return STATUS_OK;
  Row *r = &rows[n_rows++];
  snprintf(r->student, CELL, "%s", row->student);
  snprintf(r->lesson, CELL, "%s", row->lesson);
  snprintf(r->id, CELL, "%s", row->id);
  snprintf(r->verdict, CELL, "%s", row->verdict);
  snprintf(r->remark, sizeof r->remark, "%s", row->remark);
  r->seed = row->seed;
  r->line = row->line;
  r->is_error = row->is_error;
  return STATUS_OK;
}

static Status grade_bytes(const char *text, size_t length, ClassRules rules) {
  Submission s = {0};
  n_rows = 0;
  if (!rules.load) rules.load = load;
  if (!rules.seed) rules.seed = 1;
  Status status = submission_add(&s, text, length, "class.csv", fresh_error());
  if (!status) status = lesson_class_grade(&s, &rules, keep, NULL, &sum, &test_error);
  submission_free(&s);
  return status;
}

static void grade(const char *text, ClassRules rules) { must(grade_bytes(ALL_OF(text), rules)); }

static void is(int row, const char *verdict, const char *remark) {
  assert_true(row < n_rows);
  assert_true(strcmp(rows[row].verdict, verdict) == 0 && strstr(rows[row].remark, remark));
  assert_int_equal(rows[row].is_error, strcmp(verdict, "error") == 0);
}

/* ---- What a row may name */

/* Each row is graded against its own lesson, in whatever order they come; the first one does not serve for all. */
TEST(every_row_has_its_own_lesson) {
  char text[600];
  const int n = number_of(1), m = number_in("02-three", 1);
  snprintf(text, sizeof text,
           "student,lesson,id,answer\nA,01-two,sum,%d\nB,02-three,sum,%d\nC,two,sum,%d\nD,02-three,sum,%d\n", 2 * n,
           3 * m, 3 * n, 2 * m);
  grade(text, (ClassRules){0});
  is(0, "right", "");
  is(1, "right", "");
  assert_string_not_equal(rows[2].verdict, "right");
  assert_string_not_equal(rows[3].verdict, "right");
  assert_string_equal(rows[0].lesson, "01-two");
  assert_string_equal(rows[1].lesson, "02-three");
  assert_string_equal(rows[2].lesson, "01-two");
  assert_int_equal(sum.n_right, 2);
  assert_int_equal(sum.n_counted, 4);
}

/* Rows that take turns open each lesson once. */
TEST(a_lesson_is_opened_once) {
  char text[4000] = "student,lesson,id,answer\n";
  for (int k = 0; k < 30; k++)
    snprintf(text + strlen(text), sizeof text - strlen(text), "S%d,%s,sum,1\n", k, k % 2 ? "01-two" : "02-three");
  n_loads = 0;
  grade(text, (ClassRules){0});
  assert_int_equal(n_loads, 2);
  assert_int_equal(n_rows, 30);
  for (int k = 0; k < 30; k++) assert_int_equal(rows[k].line, k + 2);
}

/* ---- Seeds */

/* Under a key Eve's copy of Ada's answer is an answer to Ada's numbers. */
TEST(a_key_gives_own_numbers) {
  const char *key = "a long key";
  char text[600], name[16] = "";
  const uint64_t ada = class_seed(key, "Ada");
  for (char c = 'A'; c <= 'Z' && !*name; c++) { /* somebody with another number */
    char one[2] = {c, 0};
    if (number_of(class_seed(key, one)) != number_of(ada)) snprintf(name, sizeof name, "%s", one);
  }
  snprintf(
      text, sizeof text,
      "student,lesson,id,answer,seed\nAda,two,sum,%1$d,\n%2$s,two,sum,%1$d,\n%2$s,two,guess,a,%3$d\n,two,sum,%1$d,\n",
      2 * number_of(ada), name, (int)ada);
  grade(text, (ClassRules){.key = key});
  is(0, "right", "");
  assert_string_not_equal(rows[1].verdict, "right");
  is(2, "error", "the student's own is"); /* copied with its seed */
  is(3, "error", "without a student");
  assert_true(rows[0].seed == ada);
}

/* The vectors of the paper (Appendix A) and of its reference program. */
TEST(siphash_is_that_of_the_paper) {
  unsigned char key[16], text[15];
  for (int k = 0; k < 16; k++) key[k] = (unsigned char)k;
  for (int k = 0; k < 15; k++) text[k] = (unsigned char)k;
  assert_true(siphash(key, text, 15) == 0xa129ca6149be45e5);
  assert_true(siphash(key, text, 0) == 0x726fdb47dd0e0e31);
}

TEST(a_seed_follows_from_key_and_name) {
  const uint64_t seed = class_seed("a long key", "Ada Lovelace");
  assert_true(seed >= CLASS_SEED_MIN && seed <= 999999999);
  assert_true(seed == class_seed("a long key", "  Ada \t Lovelace "));
  assert_true(seed == class_seed("a long key", "ada LOVELACE"));
  assert_true(seed != class_seed("a long kez", "Ada Lovelace"));
  /* computed once more by the definition, in another language */
  assert_int_equal(seed, 265346656);
  assert_true(seed != class_seed("a long key", "Ada Lovelac"));
}

/* ---- Rows of a file ---- */

/* Its rows: STUDENT/ID/ANSWER LINE SEED, and how a problem begins. */
static const char *rows_of(const char *text, size_t length, const char *file) {
  static char shown[4 * SUBMISSION_FIELD_BYTES];
  Submission s = {0};
  *shown = '\0';
  submission_add(&s, text, length, file, fresh_error());
  for (size_t k = 0; k < s.n_rows; k++) {
    const SubmissionRow *r = &s.rows[k];
    text_add(shown, sizeof shown, "%s/%s/%.9s %d %.0f%s%.28s|", r->student, r->id, r->answer, r->line,
             r->seed == UINT64_MAX ? -1 : (double)r->seed, r->problem ? ": " : "", r->problem ? r->problem : "");
  }
  submission_free(&s);
  return test_error.status ? test_error.message : shown;
}

/* A field beyond the last column belongs to no column, whatever lies behind the names in memory; one too few is empty.
 * A wrong row is a row with its reason, and the next line is read as if it were not there; 4,095 bytes fit. A seed is a
 * whole number of at most 18 digits; a line without anything is none. */
TEST(rows_are_read_one_by_one) {
  static char longest[SUBMISSION_FIELD_BYTES];
  memset(longest, 'x', sizeof longest - 1);
  const char *text = test_text("id,answer,student\nb,2\nc,\"3\"4,5\nd,4\ne,%s\nf,%sy,z,z\ng,7\nh,\"never closed\ni,9\n",
                               longest, longest);
  const TextSays FILES[] = {
      {"id,answer,student\na,1\nb,2,,3\nc\n", "/a/1 2 -1|/b/2 3 -1: 4 fields under 3 columns; pu|/c/ 4 -1|"},
      {text, "/b/2 2 -1|/c/3 3 -1: a field ends at its closing |/d/4 4 -1|/e/xxxxxxxxx 5 -1|"
             "/f/xxxxxxxxx 6 -1: a field is longer than 4095 |/g/7 7 -1|"
             "/h/never clo 8 -1: a quotation mark is never cl|/i/9 9 -1|"},
      {"id,answer,seed,student\na,1,0\n\n , ,\nb,2,999999999999999999\nc,3,1000000000000000000\nd,4,-1\ne,5,\n"
       ",6,,\n",
       "/a/1 2 0|/b/2 5 1000000000000000000|/c/3 6 -1: the seed '100000000000000000|"
       "/d/4 7 -1: the seed '-1' is no whole nu|"
       "/e/5 8 -1|//6 9 -1: the id of the question is mi|"},
      {"{\"student\": \"A\", \"answers\": {\"a\": 1,}}", /* a comma too many */
       "A/a/1 1 -1|A// 1 -1: f:1: this is not JSON: strin|"},
  };
  EACH (k, FILES) assert_string_equal(rows_of(ALL_OF(FILES[k].text), "f"), FILES[k].says);
}

/* A hand-in cut off at any byte: the answers that had ended are kept, and the last row says what was lost. */
TEST(a_cut_file_keeps_its_whole_answers) {
  static const char TEXT[] = "[{\"student\": \"A\", \"answers\": {\"a\": \"1\", \"b\": \"2,}\", \"c\": \"\\\"]\"}},"
                             " {\"student\": \"B\", \"answers\": {\"d\": 4, \"e\": \"5\"}}]";
  static const char *const ENDS[] = {"\"1\"", "\"2,}\"", "\\\"]\"", "4,", "\"5\""}, *const ROWS_OF[] = {
                                                                                        "A/a/1 1 -1|", "A/b/2,} 1 -1|",
                                                                                        "A/c/\"] 1 -1|", "B/d/4 2 -1|",
                                                                                        "B/e/5 2 -1|"};
  for (size_t length = sizeof TEXT - 2; length > 0; length--) {
    const char *shown = rows_of(TEXT, length, "f.json");
    bool any = false;
    EACH (k, ENDS) {
      if ((size_t)(strstr(TEXT, ENDS[k]) - TEXT) + strlen(ENDS[k]) > length) break;
      any = true;
      assert_true(strncmp(shown, ALL_OF(ROWS_OF[k])) == 0);
      shown += strlen(ROWS_OF[k]);
    }
    const bool is_of_b = (size_t)(strstr(TEXT, "\"B\"") - TEXT) + 3 <= length,
               is_refused = strncmp(shown, "f.json:1: this is not JSON", 26) == 0;
    assert_false(is_refused ? any
                            : strncmp(shown, is_of_b ? "B// 2 -1: f.json:1: this" : "A// 1 -1: f.json:1: this", 24));
  }
}

/* ---- What cannot be read */

TEST(files_of_which_nothing_can_be_read_are_refused) {
  static const char *const BROKEN[] = {
      " => class.csv:1: the file is empty",
      " \r\n\t => class.csv:1: the file is empty",
      "Ada,3\n => class.csv:1: the first line must name the columns",
      "id,student\n => class.csv:1: the first line must name the columns",
      "id,answer\na,1\n => class.csv:1: the first line must name the columns, with 'student'",
      "id,answer,ID\n => class.csv:1: two columns are called 'id'",
      "id,\"answer\n => class.csv:1: a quotation mark",
      "a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a\n => class.csv:1: more than 32 columns",
      "\xFF\xFEi => class.csv:1: the file is empty", /* UTF-16 of half a letter */
      "{\n\"answers\" 1} => class.csv:2: this is not JSON",
  };
  EACH_SAYS (row, BROKEN) {
    assert_int_equal(grade_bytes(ALL_OF(row.text), (ClassRules){0}), STATUS_BAD_FILE);
    assert_said(row.says);
  }
}

TEST(entries_of_json_are_rows) {
  grade("[1, {\"student\": \"A\", \"lesson\": \"two\", \"answers\": {\"bytes\": [], \"guess\": \"a\"}},"
        " {\"student\": \"B\", \"lesson\": 7, \"answers\": {\"bytes\": 64}},"
        " {\"student\": \"C\", \"lesson\": \"two\", \"answers\": {\"bytes\": 64}},"
        " {\"student\": \"D\", \"lesson\": \"two\", \"seed\": -1, \"answers\": {\"bytes\": 64.0}},"
        " {\"student\": \"E\", \"lesson\": \"two\", \"seed\": 1, \"answers\": {\"bytes\": 64.0}}]",
        (ClassRules){0});
  assert_int_equal(n_rows, 7);
  is(0, "error", "an entry must be an object");
  is(1, "error", "the answer must be a text or a number");
  assert_string_equal(rows[1].id, "bytes");
  is(2, "predicted", "");
  is(3, "error", "'lesson' must be a text");
  is(4, "right", "");
  is(5, "error", "'seed' must be a whole number");
  is(6, "right", "");
  n_rows = 0;
  grade("{\"lesson\": \"two\", \"seed\": 1, \"answers\": {\"bytes\": 64.0}}", (ClassRules){0});
  is(0, "right", "");
}

/* ---- Ways to write a file */

TEST(other_spellings_of_csv_are_read) {
  static const char *const ROWS_OF[] = {
      "student,lesson,id,answer\nAda,two,bytes,64\n => Ada",
      "\xEF\xBB\xBFStudent;Lesson;ID;Answer\r\nAda;two;bytes;64,0\r\n => Ada",
      "student\tlesson\tid\tanswer\rAda\ttwo\tbytes\t64 => Ada",
      "\"student\",\"lesson\",\"id\",\"answer\"\n\"A \"\"x\"\", B\",\"two\",\"bytes\",\" 64 \" \n => A \"x\", B",
      "student,lesson,id,answer\n\"Jos\xE9 \x80\x81L\",two,bytes,64\n => Jos\xC3\xA9 \xE2\x82\xAC?L", /* Windows-1252 */
      "student,lesson,id,answer\nJos\xC3\xA9,two,bytes,64\n => Jos\xC3\xA9",
      "student,lesson,id,answer\n\"Ada\nL\",two,bytes,64\n => Ada L",
      "student,lesson,id,answer\nA\x1B[2J\xE2\x80\xAE"
      "B,two,bytes,64\n => A?[2J?B",
      "student,lesson,id,answer\n\xC0\xAF,two,bytes,64\n => \xC3\x80\xC2\xAF", /* overlong '/': no UTF-8 */
      "other,student,lesson,id,answer\nx,Ada,two,bytes,64\n\n , , , , \n => Ada",
  };
  EACH_SAYS (row, ROWS_OF) {
    grade(row.text, (ClassRules){0});
    assert_int_equal(n_rows, 1);
    assert_string_equal(rows[0].student, row.says);
    is(0, "right", "");
  }
  grade("student,lesson,id,answer\n\"Ada\nL\",two,bytes,64\nBob,two,bytes,64\n", (ClassRules){0});
  assert_int_equal(rows[1].line, 4); /* a field went on */
}

TEST(zero_bytes_are_no_ends) {
  static const char TEXT[] = "student,lesson,id,answer\nA\0B,two,bytes,64\n";
  must(grade_bytes(TEXT, sizeof TEXT - 1, (ClassRules){0}));
  assert_string_equal(rows[0].student, "A?B");
  is(0, "right", "");
}

/* A class's budget is that of each row: a hundred answers with one seed are all graded. */
TEST(a_large_class_does_not_run_out_of_steps) {
  enum { MANY = 100 };
  static char text[MANY * 32];
  int used = snprintf(text, sizeof text, "student,id,answer\n");
  for (int k = 0; k < MANY; k++) used += snprintf(text + used, sizeof text - (size_t)used, "S%d,work,1\n", k);
  Lesson own;
  const char *work =
      "# T\n- idea: one\n- minutes: 5\n\n```ask work\nprompt: p\nanswer: (function() local n = 0; for k = 1, "
      "200000 do n = k end return n end)()\nhint: h\nexplain: e\n```\n";
  must(lesson_from_buffer(&own, ALL_OF(work), "own.md", fresh_error()));
  grade(text, (ClassRules){.lesson = &own});
  lesson_free(&own);
  assert_int_equal(sum.n_errors, 0);
  assert_int_equal(sum.n_counted, MANY);
}

TEST(more_rows_than_a_class_has_are_refused) {
  const size_t n = SUBMISSION_ROWS_MAX + 1;
  enum { HEAD = sizeof "student,id,answer\n" - 1 };
  char *text = malloc(HEAD + 6 * n + 1);
  assert_non_null(text);
  strcpy(text, "student,id,answer\n");
  for (size_t k = 0; k < n; k++) memcpy(text + HEAD + 6 * k, "A,a,1\n", 6);
  Submission s = {0};
  assert_int_equal(submission_add(&s, text, HEAD + 6 * n, "class.csv", fresh_error()), STATUS_TOO_LARGE);
  must(submission_add(&s, text, HEAD + 6 * (n - 1), "class.csv", fresh_error()));
  assert_int_equal(s.n_rows, SUBMISSION_ROWS_MAX);
  submission_free(&s);
  free(text);
}

static Status grade_small(void *context, Error *why) {
  (void)context;
  static const char TEXT[] = "student,lesson,id,answer\nAda,two,bytes,64\nAda,two,bytes,64\nBob,none,x,\n";
  const ClassRules rules = {.load = load, .seed = 1, .key = "a long key"};
  Submission s = {0};
  ClassSum own;
  Status status = submission_add(&s, TEXT, sizeof TEXT - 1, "class.csv", why);
  n_rows = 0;
  if (!status) status = lesson_class_grade(&s, &rules, keep, NULL, &own, why);
  submission_free(&s);
  return status;
}

TEST(every_allocation_may_fail) { assert_true(alloc_fail_each(grade_small, NULL) >= 10); }
