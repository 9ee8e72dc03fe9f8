/* Lesson files: what is read from one, and that every broken or hostile one is refused, with file
 * and line, within a second. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "tests/support/test.h"

#include "lessons/engine/lesson_lint.h"
#include "sim/base/text_add.h"
#include "tests/support/alloc_fail.h"

#define HEADER "# T\n- idea: one\n- minutes: 5\n"

static const char WHOLE[] = "# A title\n"
                            "\n"
                            "- idea: One idea.\n"
                            "- minutes: 7\n"
                            "- draw: N from 1024, 2048\n"
                            "\n"
                            "Some [prose](glossary.md#tile).\n"
                            "\n"
                            "## A page\n"
                            "\n"
                            "```text\n"
                            "## not a page, {not filled}\n"
                            "```\n"
                            "\n"
                            "```state\n"
                            "N={N}\n"
                            "```\n"
                            "\n"
                            "```ask first-one\n"
                            "prompt: How\n"
                            "  many?\n"
                            "answer: local x = 1\n"
                            "  return x + N\n"
                            "unit: MiB\n"
                            "tolerance: 1%\n"
                            "hint: One.\n"
                            "hint: Two.\n"
                            "wrong: N - 1 -> You took\n"
                            "  one away.\n"
                            "wrong: 64 MiB -> A literal.\n"
                            "explain: So.\n"
                            "```\n"
                            "\n"
                            "```show\n"
                            "scene=walk steps=0-4\n"
                            "A caption.\n"
                            "```\n"
                            "```task\n"
                            "Look: at it.\n"
                            "\n"
                            "- until: is no key here\n"
                            "until: view.N > 1\n"
                            "  and true\n"
                            "solution: N={N}\n"
                            "hint: One.\n"
                            "explain: So.\n"
                            "```\n"
                            "~~~ teacher\n"
                            "A page.\n"
                            "~~~\n";

TEST(a_whole_lesson_is_read) {
  Lesson l;
  char shown[1024] = "";
  must(lesson_from_buffer(&l, ALL_OF(WHOLE), "some/where/03-x.md", fresh_error()));
  text_add(shown, sizeof shown, "%s|%s|%s|%s|%d minutes|%s %d", l.file, l.name, l.title.text, l.idea.text, l.minutes,
           l.draw[0].name, l.draw[0].n);
  for (size_t k = 0; k < l.n_blocks; k++)
    text_add(shown, sizeof shown, "|%d: %d %s", l.blocks[k].text.line, (int)l.blocks[k].kind,
             lesson_text(l.blocks[k].caption));
  assert_string_equal(shown,
                      "03-x.md|03-x|A title|One idea.|7 minutes|N 2|7: 0 |9: 0 |16: 2 |0: 5 |35: 3 A caption.|39: 4 |"
                      "49: 6 ");
  assert_non_null(strstr(l.blocks[1].text.text, "## not a page"));
  assert_string_equal(l.blocks[5].text.text, "Look: at it.\n\n- until: is no key here");
  const LessonTask *task = &l.tasks[l.blocks[5].task];
  const LessonAsk *ask = &l.asks[0];
  *shown = '\0';
  text_add(shown, sizeof shown, "%d: %s|%s|%s|%d|%d: %s %d|%d|%d hints|%d wrong|%d: %s", task->until.line,
           task->until.text, task->solution.text, task->explain.text, task->n_hints, ask->line, ask->id, (int)ask->kind,
           ask->answer.line, ask->n_hints, ask->n_wrong, ask->wrong[0].key.line, ask->wrong[0].key.text);
  assert_string_equal(shown, "42: view.N > 1\n  and true|N={N}|So.|1|19: first-one 0|22|2 hints|2 wrong|28: N - 1");
  assert_true(ask->unit.factor == 1048576 && ask->tolerance.kind == TOLERANCE_PART && ask->tolerance.amount == 0.01);
  assert_true(lesson_find_ask(&l, "first-one") == 0 && lesson_find_ask(&l, "none") == -1 &&
              lesson_block_of(&l, 0) == 3);
  lesson_free(&l);
}

#define IDEA(line)     "# T\n- idea: x\n" line "\n"
#define ASKED(keys)    HEADER "```ask x\n" keys "\n```\n"
#define PROMPTED(keys) ASKED("prompt: x\n" keys)
#define TASK(keys)     HEADER "```task\nDo.\n" keys "\n```\n"

static const char *const REFUSED[] = {
    " => 1: does not begin with '# Title'",
    "\n\ntext\n => 3: does not begin with '# Title'",
    "# \n => 1: does not begin",
    "\xEF\xBB\xBF# T\n => 1: idea",
    "# T\n => 1: idea",
    "# T\n- idea: x\n => 1: minutes",
    IDEA("- minutes: soon") " => 3: whole number",
    IDEA("- minutes: 61") " => 3: whole number",
    IDEA("- minutes: 600") " => 3: whole number",
    IDEA("- minuets: 5") " => 3: no key 'minuets' (did you mean 'minutes'?) in a header; there are idea",
    IDEA("- idea: y") " => 3: twice",
    "# T\n- idea x\n => 2: key: value",
    IDEA("  more") " => 3: cannot go on",
    HEADER "- draw: N 1, 2\n => 4: no draw",
    HEADER "- draw: N from 1\n => 4: two values",
    HEADER "- draw: N from 1,,2\n => 4: empty",
    HEADER "- draw: 1N from 1, 2\n => 4: name",
    HEADER "\n```state\nN=1\n => 5: no closing ```",
    HEADER "\n```sh\nls\n => 5: no closing ```",
    HEADER "\n~~~~ask x\n```\n => 5: no closing ~~~~",
    HEADER "```state\n```\n => 4: is empty",
    HEADER "```state now\nN=1\n```\n => 4: means nothing",
    HEADER "```aks x\n```\n => 4: did you mean 'ask'",
    HEADER "```States\nN=1\n```\n => 4: did you mean 'state'",
    HEADER "```ask\nprompt: x\n```\n => 4: id of a question",
    HEADER "```ask a b\nprompt: x\n```\n => 4: id of a question",
    ASKED("prompt: x") " => 4: no answer",
    ASKED("answer: 1") " => 4: no prompt",
    ASKED("prompt x") " => 5: key: value",
    ASKED("  prompt: x") " => 5: key: value",
    ASKED("prompt:\nanswer: 1") " => 5: no value",
    PROMPTED("prompt: y") " => 6: twice",
    ASKED("hnt: x") " => 5: did you mean 'hint'",
    ASKED("kind: essay") " => 5: no kind of question",
    PROMPTED("answer: 1\nunit: Mb") " => 7: bits",
    PROMPTED("answer: 1\ntolerance: some") " => 7: no tolerance",
    PROMPTED("  goes on\nanswer: 1\nwrong: 2") " => 8: no '->'",
    PROMPTED("wrong: -> why") " => 6: missing",
    PROMPTED("answer: 1\noption: one") " => 4: two options",
    PROMPTED("option: yes\nitem: no") " => 7: options or items",
    PROMPTED("option: yes\noption: yes") " => 7: two choices",
    PROMPTED("answer: 1\noption: b | one\noption: c | two") " => 7: taken for the letter",
    PROMPTED("option: two words | one") " => 6: one word",
    ASKED("kind: predict\nprompt: x\nanswer: 1\nitem: one\nitem: two") " => 4: cannot be predicted",
    PROMPTED("answer: 1\nunit: x\noption: one\noption: two") " => 4: only numbers",
    PROMPTED("answer: 1\n```\n\n```ask x\nprompt: x\nanswer: 1") " => 9: two questions 'x'",
    HEADER "```task\nuntil: true\nsolution: N=1\n```\n => 4: does not say what is to be done",
    TASK("solution: N=1") " => 4: no 'until",
    TASK("until: true") " => 4: no 'solution",
    TASK("untill: true") " => 6: did you mean 'until:'",
    TASK("until: true\nunit: x") " => 7: no key 'unit' (did you mean 'until'?) in a task; indent a line",
    TASK("\nuntil: true\nuntil: false") " => 8: twice",
    TASK("until:") " => 6: no value",
    HEADER "```task\n\nDo.\n\n<b>raw</b>\nuntil: true\n```\n => 8: raw HTML",
    HEADER "\n<div>\nraw\n</div>\n => 5: raw HTML",
    HEADER "\nSome\n<b>raw</b> text\n => 6: raw HTML",
    HEADER "\n> > > > > > > > > deep\n => 5: too deeply",
    HEADER "\nSome\n\n>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>> deep\n => 7: too deeply",
    HEADER "\nbad \xFF byte\n => 5: byte 5 is 0xFF, which is not UTF-8",
    HEADER "\n```ask x\nprompt: \xC0\x80\n```\n => 6: not UTF-8",
    HEADER "\nbell \a\n => 5: byte 6 is a control character (0x07)",
};

TEST(broken_files_are_refused_with_their_line) {
  EACH_SAYS (row, REFUSED) {
    Lesson l;
    const int line = atoi(row.says);
    const char *begins = test_text("x.md:%d: ", line);
    assert_true(lesson_from_buffer(&l, ALL_OF(row.text), "x.md", fresh_error()) == STATUS_BAD_FILE);
    assert_true(strncmp(test_error.message, ALL_OF(begins)) == 0 &&
                strstr(test_error.message, strchr(row.says, ' ') + 1));
    assert_true(l.blocks == NULL && l.asks == NULL && l.tasks == NULL && l.pool.blocks == NULL);
  }
}

/* ---- Hostile files */

typedef struct {
  int n;
  char last[512];
} Findings;

static void keep(void *context, const char *message) {
  Findings *f = context;
  f->n++;
  snprintf(f->last, sizeof f->last, "%s", message);
}

/* Reads and checks; the message of the first thing that is wrong with it. */
static const char *judge(const char *text, size_t length, Findings *f) {
  Lesson l;
  *f = (Findings){0};
  if (lesson_from_buffer(&l, text, length, "x.md", fresh_error())) {
    keep(f, test_error.message);
    return f->last;
  }
  LessonRun run;
  if (lesson_run_start(&run, &l, NULL, 1, fresh_error()) == STATUS_OK) {
    LessonQuestion *q = malloc(sizeof *q);
    assert_non_null(q);
    for (size_t k = 0; k < l.n_asks && !test_error.status; k++) lesson_run_question(&run, (int)k, q, fresh_error());
    free(q);
    lesson_run_end(&run);
  }
  keep(f, test_error.message);
  lesson_free(&l);
  return f->last;
}

/* Many of them in one file share one budget. */
TEST(many_slow_expressions_share_one_budget) {
  char text[8192] = HEADER;
  for (int k = 0; k < 30; k++) {
    const size_t used = strlen(text);
    snprintf(text + used, sizeof text - used,
             "```ask x%d\nprompt: x\nanswer: local n = 0 for k = 1, 9000000 do n = n + k end "
             "return n\n```\n",
             k);
  }
  Findings f;
  const double began = test_seconds();
  const char *message = judge(ALL_OF(text), &f);
  assert_true(test_seconds() - began <= 1.5);
  assert_non_null(strstr(message, "too much work"));
}

TEST(deep_and_long_texts_are_refused_quickly) {
  const size_t size = 1 << 18;
  char *text = malloc(size + 64);
  assert_non_null(text);
  static const char *const UNITS[] = {">",     "> ", "- ", "* > ", "[",    "![", "**",     "`",    "a",
                                      "{",     "{{", "(",  "_",    "| a ", "\n", "\n\n> ", "\n- ", "\n```ask a\n",
                                      "\n1. ", "<",  "&",  "\\"};
  EACH (u, UNITS) {
    /* as one long line, and as lines just below the longest */
    for (int wrapped = 0; wrapped < 2; wrapped++) {
      size_t used = strlen(strcpy(text, HEADER "\n")), column = 0;
      while (used + strlen(UNITS[u]) + 2 < size) {
        const size_t n = strlen(UNITS[u]);
        memcpy(text + used, UNITS[u], n);
        used += n;
        column += n;
        if (wrapped && column > 1900) text[used++] = '\n', column = 0;
      }
      Findings f;
      const double began = test_seconds();
      judge(text, used, &f);
      assert_true(test_seconds() - began <= 1);
    }
  }
  free(text);
}

TEST(a_hundred_megabytes_are_refused_at_once) {
  const size_t size = (size_t)100 << 20;
  char *text = malloc(size);
  assert_non_null(text);
  memset(text, 'x', size);
  Findings f;
  const double began = test_seconds();
  assert_non_null(strstr(judge(text, size, &f), "x.md:1: the file is longer than 256 KiB"));
  assert_true(test_seconds() - began < 1);
  free(text);
}

static Status read_whole(void *context, Error *error) {
  (void)context;
  Lesson l;
  const Status status = lesson_from_buffer(&l, ALL_OF(WHOLE), "x.md", error);
  lesson_free(&l);
  return status;
}

TEST(every_allocation_may_fail) { assert_true(alloc_fail_each(read_whole, NULL) >= 2); }
