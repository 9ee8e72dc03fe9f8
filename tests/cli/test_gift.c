/* The export for Moodle, read by a parser of its own that follows the published description of the format
 * (docs.moodle.org, "GIFT format", the table of format symbols):
 *
 *     file      blank lines delimit questions; "// ..." at the beginning of a line is a comment; $CATEGORY: path
 *     question  ::title:: [format] text { answers }
 *     answers   #NUMERIC... | =right ~wrong ... | =item -> match ...    and at the end ####general feedback
 *     numeric   = [%n%] value:tolerance [#feedback]
 *     text      ~ = # { } : take a backslash, and so does the backslash
 *
 * Anything else is an error here. What was read is then compared with the lesson's own questions, for all lessons. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "tests/support/test.h"

#include <ctype.h>

#include "lessons/engine/lesson_export.h"
#include "sim/base/utf8.h"
#include "viz/lesson/lesson_library.h"

enum { ANSWERS_MAX = 40, TEXT_BYTES = 5000, QUESTIONS_MAX = 60 };

typedef enum { GIFT_NUMERICAL, GIFT_CHOICE, GIFT_MATCHING } GiftKind;

typedef struct {
  bool right;
  double weight, value, tolerance;
  char text[600], match[600], feedback[TEXT_BYTES];
} GiftAnswer;

typedef struct {
  GiftKind kind;
  char category[200], title[100], format[20], stem[TEXT_BYTES], general[TEXT_BYTES];
  GiftAnswer answers[ANSWERS_MAX];
  int n;
} GiftQuestion;

typedef struct {
  const char *p;
  char error[200];
} Gift;

static bool refuse(Gift *g, const char *why) {
  if (!*g->error) snprintf(g->error, sizeof g->error, "%s at '%.60s'", why, g->p);
  return false;
}

static void blanks(Gift *g) {
  while (*g->p == ' ' || *g->p == '\t' || (*g->p == '\n' && g->p[1] != '\n')) g->p++;
}

static bool begins(const Gift *g, const char *mark) { return strncmp(g->p, mark, strlen(mark)) == 0; }

static bool eat(Gift *g, const char *mark) {
  if (!begins(g, mark)) return false;
  g->p += strlen(mark);
  return true;
}

/* Text up to a special character that is not escaped; blanks at its ends do not count. */
static bool read_text(Gift *g, const char *stops, char *out, size_t size) {
  size_t used = 0;
  while (*g->p) {
    char c = *g->p;
    if (c == '\n' && g->p[1] == '\n') break;
    if (c == '-' && g->p[1] == '>' && strchr(stops, '>')) break;
    if (c == '\\') {
      if (!g->p[1] || !strchr("~=#{}:\\n", g->p[1])) return refuse(g, "a backslash before nothing special");
      c = g->p[1] == 'n' ? '\n' : g->p[1];
      g->p++;
    } else if (strchr("~=#{}:", c)) {
      if (strchr(stops, c)) break;
      return refuse(g, "a special character without a backslash");
    }
    if (used + 1 >= size) return refuse(g, "a text that is too long");
    out[used++] = c;
    g->p++;
  }
  while (used > 0 && (out[used - 1] == ' ' || out[used - 1] == '\n')) used--;
  out[used] = '\0';
  return true;
}

/* Digits, perhaps a sign before and a fraction behind. No exponent. */
static bool read_number(Gift *g, double *value) {
  const char *begin = g->p;
  if (*g->p == '-') g->p++;
  if (!isdigit((unsigned char)*g->p)) return refuse(g, "no number");
  while (isdigit((unsigned char)*g->p)) g->p++;
  if (*g->p == '.') {
    g->p++;
    if (!isdigit((unsigned char)*g->p)) return refuse(g, "no fraction");
    while (isdigit((unsigned char)*g->p)) g->p++;
  }
  if (isalpha((unsigned char)*g->p)) return refuse(g, "a number with an exponent");
  *value = strtod(begin, NULL);
  return true;
}

static bool read_weight(Gift *g, double *weight) {
  *weight = NAN;
  if (!eat(g, "%")) return true;
  return (read_number(g, weight) && *weight >= -100 && *weight <= 100 && eat(g, "%")) || refuse(g, "no weight");
}

static bool read_feedback(Gift *g, GiftAnswer *a) {
  blanks(g);
  if (*g->p != '#' || begins(g, "####")) return true;
  g->p++;
  return read_text(g, "~=#}", a->feedback, sizeof a->feedback);
}

static bool read_answer(Gift *g, GiftQuestion *q) {
  if (q->n == ANSWERS_MAX) return refuse(g, "too many answers");
  GiftAnswer *a = &q->answers[q->n];
  *a = (GiftAnswer){.right = *g->p == '='};
  if (!eat(g, "=") && !eat(g, "~")) return refuse(g, "no answer");
  if (!read_weight(g, &a->weight)) return false;
  if (q->kind == GIFT_NUMERICAL) {
    if (!read_number(g, &a->value) || !eat(g, ":") || !read_number(g, &a->tolerance))
      return refuse(g, "not value:tolerance");
    if (a->tolerance < 0) return refuse(g, "a tolerance below 0");
  } else {
    blanks(g);
    if (!read_text(g, ">~=#}", a->text, sizeof a->text) || !*a->text) return refuse(g, "an empty answer");
    if (eat(g, "->")) {
      blanks(g);
      if (q->n > 0 && q->kind != GIFT_MATCHING) return refuse(g, "a pair among choices");
      q->kind = GIFT_MATCHING;
      if (!read_text(g, "~=#}", a->match, sizeof a->match) || !*a->match) return refuse(g, "an empty match");
    } else if (q->kind == GIFT_MATCHING) {
      return refuse(g, "a choice among pairs");
    }
  }
  q->n++;
  if (q->kind == GIFT_MATCHING) return true; /* pairs have no feedback of their own */
  return read_feedback(g, a);
}

static bool read_question(Gift *g, GiftQuestion *q) {
  *q = (GiftQuestion){.kind = GIFT_CHOICE};
  if (!eat(g, "::") || !read_text(g, ":", q->title, sizeof q->title) || !eat(g, "::")) return refuse(g, "no ::title::");
  if (*g->p == '[') {
    const size_t n = strcspn(g->p, "]");
    snprintf(q->format, sizeof q->format, "%.*s", (int)(n < 18 ? n + 1 : 0), g->p);
    if (strcmp(q->format, "[html]") && strcmp(q->format, "[moodle]") && strcmp(q->format, "[plain]") &&
        strcmp(q->format, "[markdown]"))
      return refuse(g, "no format");
    g->p += n + 1;
  }
  if (!read_text(g, "{", q->stem, sizeof q->stem) || !*q->stem || !eat(g, "{")) return refuse(g, "no question text");
  blanks(g);
  if (*g->p == '#' && !begins(g, "####")) {
    g->p++;
    q->kind = GIFT_NUMERICAL;
    blanks(g);
  }
  while (*g->p == '=' || *g->p == '~') {
    if (!read_answer(g, q)) return false;
    blanks(g);
  }
  if (eat(g, "####") && !read_text(g, "}", q->general, sizeof q->general)) return false;
  blanks(g);
  if (!eat(g, "}")) return refuse(g, "the answers do not end");
  while (*g->p == ' ') g->p++;
  return *g->p == '\0' || begins(g, "\n\n") || strcmp(g->p, "\n") == 0 || refuse(g, "no blank line after a question");
}

/* Returns the questions; -1: *error says what is wrong. */
static int read_gift(const char *text, GiftQuestion *questions, char error[200]) {
  Gift g = {.p = text};
  const char *category = "";
  int n = 0;
  while (*g.p) {
    if (*g.p == '\n')
      g.p++;
    else if (begins(&g, "//"))
      g.p += strcspn(g.p, "\n");
    else if (eat(&g, "$CATEGORY: ")) {
      category = g.p;
      g.p += strcspn(g.p, "\n");
      if (!begins(&g, "\n\n")) refuse(&g, "no blank line after the category");
    } else if (n == QUESTIONS_MAX || !read_question(&g, &questions[n++]))
      break;
    else
      snprintf(questions[n - 1].category, 200, "%.*s", (int)strcspn(category, "\n"), category);
  }
  snprintf(error, 200, "%s", g.error);
  return *g.error ? -1 : n;
}

/* ---- What a parser must refuse and accept, from the documentation's own examples ---- */

TEST(the_parser_knows_the_documented_examples) {
  static const struct {
    const char *text;
    int n;
  } ROWS[] = {
      {"// multiple choice with specified feedback\n::Q2:: What's between orange and green in the spectrum? { =yellow "
       "# right; good! ~red # wrong, it's yellow ~blue # wrong, it's yellow }\n",
       1},
      {"::Q4:: Which animal eats which food? { =cat -> cat food =dog -> dog food }", 1},
      {"::Q5:: What is a number from 1 to 5? {#=3:2}", 1},
      {"::Q::When was Grant born? {#\n =1822:0\n =%50%1822:2#half\n}", 1},
      {"::Q::[html]2 \\= 1 \\+ 1?{=a ~b}", -1},
      {"::Q::[html]2 \\= 1 + 1?{=a ~b}", 1},
      {"::Q::2 = 1 + 1?{=a ~b}", -1},
      {"::Q::x{=a ~b}\n::R::y{=a ~b}", -1},
      {"::Q::x{=a ~b}\n\n::R::y{=a ~b}", 2},
      {"::Q::x{#=1e6:0}", -1},
      {"::Q::x{#=1:-1}", -1},
      {"::Q::x{=a ~b", -1},
      {"::Q::x{=a#b:c ~b}", -1},
      {"::Q::[rtf]x{=a ~b}", -1},
  };
  static GiftQuestion questions[QUESTIONS_MAX];
  for (size_t k = 0; k < sizeof ROWS / sizeof *ROWS; k++) {
    char error[200];
    const int n = read_gift(ROWS[k].text, questions, error);
    if (n != ROWS[k].n) fail_msg("row %zu: %d questions, %s", k, n, error);
  }
}

/* ---- Every lesson ---- */

/* As the export writes texts: one blank for a run, and an arrow for "->". */
static const char *flat(const char *text, char *out, size_t size) {
  size_t used = 0;
  for (const char *p = text; *p && used + 4 < size; p++) {
    const bool blank = *p == ' ' || *p == '\n';
    if (blank && (used == 0 || out[used - 1] == ' ')) continue;
    if (p[0] == '-' && p[1] == '>') {
      memcpy(out + used, "\xe2\x86\x92", 3);
      used += 3;
      p++;
    } else {
      out[used++] = blank ? ' ' : *p;
    }
  }
  while (used > 0 && out[used - 1] == ' ') used--;
  out[used] = '\0';
  return out;
}

static char expected[TEXT_BYTES];

#define SAME(read, text)                                                                                               \
  do {                                                                                                                 \
    if (strcmp(read, flat(text, expected, sizeof expected)) != 0)                                                      \
      fail_msg("%s: '%s' is not '%s'", q->title, read, expected);                                                      \
  } while (0)

static void compare_number(const GiftQuestion *q, const LessonAsk *ask, const LessonQuestion *own) {
  const double factor = own->key.unit.factor, low = own->key.low / factor, high = own->key.high / factor;
  const GiftAnswer *right = &q->answers[0];
  assert_int_equal(q->kind, GIFT_NUMERICAL);
  assert_true(right->right && isnan(right->weight));
  const double slack = 1e-9 * fmax(fabs(low), fabs(high));
  if (right->value - right->tolerance > low + slack || right->value + right->tolerance < high - slack)
    fail_msg("%s: %g:%g leaves out %g to %g", q->title, right->value, right->tolerance, low, high);
  assert_true(right->tolerance <= 0.05 * fabs(right->value) + fabs(high - low) + own->key.tolerance.amount);
  int n = 1;
  for (int k = 0; k < ask->n_wrong; k++) {
    if (!own->wrong[k].is_known) continue;
    assert_true(n < q->n);
    const GiftAnswer *a = &q->answers[n++];
    const double value = own->wrong[k].value / factor;
    if (a->weight != 0 || fabs(a->value - value) > 1e-9 * fabs(value))
      fail_msg("%s: %g is not %g", q->title, a->value, value);
    if (fabs(a->value - right->value) <= right->tolerance)
      fail_msg("%s: the wrong %g is within the right one's tolerance", q->title, a->value);
    assert_true(*a->feedback != '\0');
  }
  assert_int_equal(n, q->n);
}

static void compare_choice(const GiftQuestion *q, const LessonQuestion *own) {
  assert_int_equal(q->kind, GIFT_CHOICE);
  assert_int_equal(q->n, own->n_choices);
  for (int p = 0; p < q->n; p++) {
    SAME(q->answers[p].text, own->choice[p]);
    assert_int_equal(q->answers[p].right, p == own->right);
  }
}

static void compare_order(const GiftQuestion *q, const LessonQuestion *own) {
  assert_int_equal(q->kind, GIFT_MATCHING);
  assert_int_equal(q->n, own->n_choices);
  assert_true(q->n >= 3);
  for (int p = 0; p < q->n; p++) {
    SAME(q->answers[p].text, own->choice[p]);
    for (int other = 0; other < q->n; other++) /* places rise as ranks do */
      if (own->rank[p] < own->rank[other]) assert_true(atoi(q->answers[p].match) < atoi(q->answers[other].match));
  }
}

static char *export(const Lesson *lesson, uint64_t seed) {
  char *text = NULL;
  size_t size = 0;
  Error error = {0};
  FILE *out = open_memstream(&text, &size);
  assert_non_null(out);
  if (lesson_export_gift(lesson, &LESSON_LIMITS, (ExportDraws){seed, 0}, out, &error)) fail_msg("%s", error.message);
  fclose(out);
  for (size_t k = 0, n; k < size; k += n) {
    n = utf8_sequence((const unsigned char *)text + k, size - k);
    assert_true(n > 0);
  }
  return text;
}

static int compare(const char *name, uint64_t seed) {
  static GiftQuestion questions[QUESTIONS_MAX];
  Lesson lesson;
  LessonRun run;
  Error error = {0};
  char path[ASSETS_PATH_BYTES], why[200], words[TEXT_BYTES];
  LessonQuestion *own = malloc(sizeof *own);
  assert_non_null(own);
  if (lesson_load(name, &lesson, path, &error) || lesson_run_start(&run, &lesson, &LESSON_LIMITS, seed, &error))
    fail_msg("%s", error.message);
  char *text = export(&lesson, seed);
  const int n = read_gift(text, questions, why);
  if (n < 0) fail_msg("%s: %s", name, why);
  int next = 0; /* predictions, programs and kernels stay behind */
  for (int k = 0; k < (int)lesson.n_asks; k++) {
    const LessonAsk *ask = &lesson.asks[k];
    if (ask->is_prediction || ask->kind == LESSON_WORK) continue;
    assert_true(next < n);
    const GiftQuestion *q = &questions[next++];
    if (lesson_run_question(&run, k, own, &error)) fail_msg("%s", error.message);
    snprintf(words, sizeof words, "Tilewalk/%s/%s", lesson.name, ask->id);
    assert_string_equal(q->category, words);
    assert_string_equal(q->title, ask->id);
    assert_string_equal(q->format, "[plain]");
    snprintf(words, sizeof words, "%s%s%s%s", own->prompt, *ask->unit.name ? " (in " : "", ask->unit.name,
             *ask->unit.name ? ")" : "");
    flat(words, expected, sizeof expected); /* below the prose of its page */
    const size_t stem = strlen(q->stem), own_words = strlen(expected);
    if (stem < own_words || strcmp(q->stem + stem - own_words, expected) != 0) fail_msg("%s: '%s'", q->title, q->stem);
    if (ask->kind == LESSON_NUMBER)
      compare_number(q, ask, own);
    else if (ask->kind == LESSON_CHOICE)
      compare_choice(q, own);
    else
      compare_order(q, own);
    if (lesson_run_explain(&run, own, words, sizeof words, &error)) fail_msg("%s", error.message);
    SAME(q->general, words);
  }
  assert_int_equal(next, n);
  free(text);
  free(own);
  lesson_run_end(&run);
  lesson_free(&lesson);
  return n;
}

TEST(every_lesson_is_read_back) {
  LessonFiles *files = NULL;
  Error error = {0};
  int n = 0;
  if (lesson_files(&files, &error)) fail_msg("%s", error.message);
  assert_true(files->n >= 6);
  for (int k = 0; k < files->n; k++)
    for (uint64_t seed = 1; seed <= 3; seed++) n += compare(files->names[k], seed);
  print_message("%d questions of %d lessons read back, with three seeds each\n", n, files->n);
  free(files);
}

/* Everything that the format takes for something else. */
TEST(special_characters_come_back) {
  static const char LESSON[] =
      "# ~ = # {{ } :\n\n- idea: x\n- minutes: 5\n\n"
      "```ask a\nprompt: ~ = # {{ } : \\ // -> [html] %50% ::x:: \xC3\xA4\xE2\x86\x92 <b> $CATEGORY\noption: one | = "
      "~one -> 1\noption: two | #{{}: \\n\n"
      "answer: 'one'\nhint: h\nwrong: two -> ####{{= \\\nexplain: } ~ = # \\\\ end\n```\n"
      "```ask b\nprompt: [plain] // x\nanswer: 1e-9\nunit: s\nhint: h\nwrong: 2e12 -> =x:y\nexplain: e\n```\n"
      "```ask c\nprompt: two\nitem: one | First.\nitem: two | Second.\nanswer: {2, 1}\nhint: h\nexplain: e\n```\n"
      "```ask d\nprompt: range\nanswer: {low=-2.5, high=3e15}\nhint: h\nexplain: e\n```\n";
  static GiftQuestion questions[QUESTIONS_MAX];
  Lesson lesson;
  Error error = {0};
  char why[200];
  if (lesson_from_buffer(&lesson, LESSON, strlen(LESSON), "x.md", &error)) fail_msg("%s", error.message);
  char *text = export(&lesson, 1);
  const int n = read_gift(text, questions, why);
  if (n != 4) fail_msg("%d: %s\n%s", n, why, text);
  assert_string_equal(questions[0].stem,
                      "~ = # { } : \\ // \xE2\x86\x92 [html] %50% ::x:: \xC3\xA4\xE2\x86\x92 <b> $CATEGORY");
  assert_string_equal(questions[0].answers[0].text, "= ~one \xE2\x86\x92 1");
  assert_string_equal(questions[0].answers[1].text, "#{}: \\n");
  assert_string_equal(questions[0].answers[1].feedback, "####{= \\");
  assert_string_equal(questions[0].general, "} ~ = # \\\\ end");
  assert_true(questions[0].answers[0].right && !questions[0].answers[1].right);
  assert_string_equal(questions[1].stem, "[plain] // x (in s)");
  assert_true(fabs(questions[1].answers[0].value - 1e-9) < 1e-18);
  assert_string_equal(questions[1].answers[1].feedback, "=x:y");
  assert_int_equal(questions[2].kind, GIFT_CHOICE); /* two items are no pairs for Moodle */
  for (int p = 0; p < 2; p++)
    assert_true(strstr(questions[2].answers[p].text, questions[2].answers[p].right ? "Second." : "First.") != NULL);
  assert_true(questions[3].answers[0].value - questions[3].answers[0].tolerance <= -2.5 + 1e5);
  const ExpressionLimits none = {.max_memory_bytes = 1};
  FILE *out = fopen("/dev/null", "w");
  assert_int_not_equal(lesson_export_gift(&lesson, &none, (ExportDraws){1, 0}, out, &error), STATUS_OK);
  fclose(out);
  free(text);
  lesson_free(&lesson);
}
