/* Going through a lesson: draws, filled texts, questions and grades, against values worked out by
 * hand; what --lint finds; and the lesson on online softmax, whose answers are computed here once
 * more from the definition. */
#include "tests/support/test.h"
#include "lessons/engine/lesson_lint.h"
#include "tests/support/alloc_fail.h"

#define HEADER "# T\n- idea: one\n- minutes: 5\n"

static Lesson lesson_of(const char *text) {
  Lesson l;
  must(lesson_from_buffer(&l, ALL_OF(text), "t.md", fresh_error()));
  return l;
}

/* The lesson that is gone through. */
static Lesson lesson;
static LessonRun run;

static void begin(const char *text, uint64_t seed) {
  lesson = lesson_of(text);
  must(lesson_run_start(&run, &lesson, NULL, seed, fresh_error()));
}

static void end(void) {
  lesson_run_end(&run);
  lesson_free(&lesson);
}

static LessonQuestion question;
static LessonGrade grade;

static void ask(int index) { must(lesson_run_question(&run, index, &question, fresh_error())); }

static LessonVerdict type(const char *typed) {
  must(lesson_run_grade(&run, &question, typed, &grade, fresh_error()));
  return grade.verdict;
}

/* ---- Texts */

TEST(texts_are_filled_but_code_is_not) {
  static const char *const ROWS[] = {
      "two is {1 + 1} => two is 2",
      "{{1} => {1}",
      "`sim{N=1}` and {2 * 3} => `sim{N=1}` and 6",
      "``a ` {b}`` {1} => ``a ` {b}`` 1",
      "a ` alone {1} => a ` alone 1",
      "```text\n{x}\n```\n{1} => ```text\n{x}\n```\n1",
      "{N} of {size'4 KiB'} => 2,048 of 4,096",
      "{word} => many",
  };
  EACH_SAYS (row, ROWS) {
    char filled[256];
    begin(test_text("%s- draw: N from 2048, 2048\n\n%s\n\n```setup\nword = 'many'\n```\n", HEADER, row.text), 3);
    must(lesson_run_fill(&run, lesson.blocks[0].text, filled, sizeof filled, fresh_error()));
    assert_string_equal(filled, row.says);
    end();
  }
}

TEST(states_have_no_thousands_separators) {
  begin(HEADER "- draw: N from 4096, 4096\n\n```state\nalgorithm=fa1,fa2 N={N}\n  "
               "d=128\n```\n```show\nscene=softmax scores=1,2,-3.5 block=2\n```\n",
        1);
  char line[256];
  LessonShow show;
  must(lesson_run_state(&run, &lesson.blocks[0], line, sizeof line, NULL));
  assert_string_equal(line, "algorithm=fa1,fa2 N=4096 d=128");
  must(lesson_run_show(&run, &lesson.blocks[1], &show, NULL));
  assert_true(show.scene == SCENE_SOFTMAX && show.n_scores == 3 && show.scores[2] == -3.5 && show.block == 2);
  end();
}

/* ---- Draws */

TEST(draws_depend_on_the_seed_alone) {
  static const char TEXT[] = HEADER "- draw: N from 1, 2, 3, 4\n\n```ask x\nprompt: {N} {w}\nanswer: "
                                    "N\ndraw: w from left, right\n```\n";
  int seen[5] = {0}, left = 0;
  for (uint64_t seed = 0; seed < 200; seed++) {
    begin(TEXT, seed);
    ask(0);
    const int N = (int)question.key.value;
    const char *first = test_text("%s", question.prompt);
    end();
    begin(TEXT, seed);
    ask(0);
    assert_string_equal(question.prompt, first);
    end();
    assert_true(N >= 1 && N <= 4);
    seen[N]++;
    left += strstr(first, "left") != NULL;
  }
  for (int k = 1; k <= 4; k++)
    assert_true(seen[k] > 25 && seen[k] < 80); /* 50 of 200 each, give or take five standard deviations */
  assert_true(left > 65 && left < 135);
  lesson = lesson_of(TEXT);
  assert_int_equal(lesson.n_variants, 4);
  for (int k = 0; k < 4; k++) {
    must(lesson_run_start_variant(&run, &lesson, NULL, k, NULL));
    ask(0);
    assert_true(question.key.value == k + 1);
    lesson_run_end(&run);
  }
  lesson_free(&lesson);
}

/* ---- Grades */

/* d = 128 in fp16: K of 4,096 rows has 4,096 x 128 x 2 = 1,048,576 bytes; blocks of 128 rows read
 * it 32 times. */
TEST(numbers_are_graded_and_diagnosed) {
  begin(HEADER "```ask bytes\n"
               "prompt: How much of K is read?\n"
               "answer: sim{N=4096, d=128, block=128}.traffic.read.K\n"
               "unit: MiB\n"
               "hint: x\n"
               "wrong: 1 -> Once only: {answer}.\n"
               "wrong: sim{N=4096, d=128, block=128}.traffic.read.K / 2 -> One byte each.\n"
               "wrong: 128 MiB -> A literal.\n"
               "explain: {binary(answer)} in all.\n"
               "```\n",
        1);
  ask(0);
  assert_string_equal(question.answer, "32 MiB");
  static const char *const ROWS[] = {
      "32 => right -1: 32 MiB in all.",
      "33.6 MB => right -1: 32 MiB in all.",
      "32,0 MiB => right -1: read as the decimal sign",
      "1 => diagnosed 0: Once only: 33,554,432.",
      "1 MiB => diagnosed 0: Once only",
      "16 MiB => diagnosed 1: One byte each.",
      "16.8 MB => diagnosed 1: One byte each.",
      "0.125 GiB => diagnosed 2: A literal.",
      "32 MB => nearly -1: other unit",
      "3e1 => nearly -1: one digit more",
      "31 => wrong -1: Close",
      "32,000 => right -1: read as the decimal sign", /* as thousands it would be wrong */
      "77 => wrong -1: ",
      "8 => diagnosed -1: That is a quarter.",
      "77,125 => wrong -1: thousands",
      "many => unreadable -1: not a number",
      "32 tiles => unreadable -1: you wrote",
      " => unreadable -1: write a number",
  };
  EACH_SAYS (row, ROWS) {
    char begins[32];
    const LessonVerdict verdict = type(row.text);
    const int n = snprintf(begins, sizeof begins, "%s %d: ", lesson_verdict_name(verdict), grade.wrong);
    assert_true(strncmp(row.says, begins, (size_t)n) == 0 && strstr(grade.message, row.says + n));
  }
  end();
}

TEST(choices_are_graded) {
  begin(HEADER "```ask which\nprompt: p\noption: q | Q\noption: k | K\noption: "
               "Neither\nanswer: 'k'\nwrong: q -> Q stays.\n```\n"
               "```ask truth\nprompt: p\noption: yes | So it is.\noption: no | It "
               "is not.\nanswer: 1 > 2\n```\n",
        1);
  ask(0);
  assert_string_equal(question.answer, "K");
  assert_int_equal(type("b"), LESSON_RIGHT);
  assert_int_equal(type("K"), LESSON_RIGHT);
  assert_int_equal(type("a"), LESSON_DIAGNOSED);
  assert_string_equal(grade.message, "Q stays.");
  assert_int_equal(type("neither"), LESSON_NOT_RIGHT);
  assert_int_equal(type("z"), LESSON_UNREADABLE);
  ask(1);
  assert_int_equal(question.right, 1);
  assert_int_equal(type("No"), LESSON_RIGHT);
  end();
}

/* Items by their letters as shown, in the order given by indices as written. */
static const char *letters(const int *written_order, int n) {
  static char text[64];
  for (int k = 0; k < n; k++)
    for (int p = 0; p < n; p++)
      if (question.written[p] == written_order[k]) snprintf(text + 2 * k, sizeof text - 2 * (size_t)k, "%c ", 'a' + p);
  return text;
}

TEST(orders_are_shuffled_and_graded) {
  static const char TEXT[] =
      HEADER "```ask steps\nprompt: p\nitem: load\nitem: multiply\nitem: store\nitem: skip\nanswer: 'load "
             "multiply store skip'\nwrong: store load multiply skip -> Too early.\n```\n"
             "```ask sizes\nprompt: p\nitem: large\nitem: small\nitem: also-small\nanswer: {3, 1, "
             "1}\n```\n";
  int shuffled = 0;
  for (uint64_t seed = 0; seed < 20; seed++) {
    begin(TEXT, seed);
    ask(0);
    for (int p = 0; p < 4; p++) shuffled += question.written[p] != p;
    assert_int_equal(type(letters((int[]){0, 1, 2, 3}, 4)), LESSON_RIGHT);
    assert_int_equal(type("load multiply store skip"), LESSON_RIGHT);
    assert_int_equal(type(question.answer), LESSON_RIGHT);
    assert_int_equal(type(letters((int[]){1, 0, 2, 3}, 4)), LESSON_NOT_RIGHT);
    assert_int_equal(type(letters((int[]){2, 0, 1, 3}, 4)), LESSON_DIAGNOSED);
    assert_int_equal(type("a b"), LESSON_UNREADABLE);
    ask(1);
    assert_int_equal(type(letters((int[]){1, 2, 0}, 3)), LESSON_RIGHT);
    assert_int_equal(type(letters((int[]){2, 1, 0}, 3)), LESSON_RIGHT); /* equal: either way */
    assert_int_equal(type(letters((int[]){0, 1, 2}, 3)), LESSON_NOT_RIGHT);
    end();
  }
  assert_true(shuffled > 40); /* 60 of 80 places on average */
}

TEST(answers_of_the_wrong_kind_are_errors_with_a_line) {
  static const char *const ROWS[] = {
      "answer: 'x'\n => t.md:6: the answer of 'x' must be a number",
      "option: ab\noption: cd\nanswer: 'ef'\n => t.md:8: the answer of 'x' is 'ef'",
      "option: ab\noption: cd\nanswer: 1\n => t.md:8: the answer of 'x' must be the key",
      "item: ab\nitem: cd\nanswer: 'ab ab'\n => t.md:8: the answer of 'x' must name",
      "item: ab\nitem: cd\nanswer: {1, 2, 3}\n => t.md:8: the answer of 'x' must be its keys",
      "answer: 1\nwrong: 'x' -> y\n => t.md:7: a wrong answer must be a number",
      "option: ab\noption: cd\nanswer: 'ab'\nwrong: zz -> y\n => t.md:9: 'zz' is the key of no option",
      "answer: sim{N=0}.flops\n => t.md:6:",
  };
  EACH_SAYS (row, ROWS) {
    begin(test_text(HEADER "```ask x\nprompt: p\n%s```\n", row.text), 1);
    assert_int_equal(lesson_run_question(&run, 0, &question, fresh_error()), STATUS_BAD_FILE);
    assert_begins(row.says);
    end();
  }
}

/* ---- Lint */

static char findings[1 << 14];

static void keep(void *context, const char *message) {
  (void)context;
  strcat(strcat(findings, message), "\n");
}

static int lint(const char *text) {
  Lesson l = lesson_of(text);
  const LessonHooks hooks = {.finding = keep};
  int n = -1;
  findings[0] = '\0';
  must(lesson_lint(&l, NULL, &hooks, &n, NULL));
  lesson_free(&l);
  return n;
}

#define GOOD_HEAD HEADER "\nA [tile](glossary.md#tile) is small.\n\n"
#define GOOD_PREDICTION                                                                                                \
  "```ask guess\nkind: predict\nprompt: p\nanswer: abs(12)\nhint: h h h\n```\n```show\nscene=walk\n```\n"
#define GOOD_ASK(id) "```ask " id "\nfixed: f\nprompt: p\nanswer: abs(12)\nhint: h h h\nexplain: e\n```\n"
#define SAME_ASK(id, more)                                                                                             \
  "```ask " id "\nfixed: f\nprompt: p\nanswer: abs(37)\nunit: tiles\nhint: h h h\nexplain: e\n" more "```\n"
#define GOOD_TEACHER   "```teacher\nNote.\n```\n"
#define GOOD           GOOD_HEAD GOOD_PREDICTION GOOD_ASK("one") GOOD_ASK("two") GOOD_TEACHER
#define SHOWN(line)    GOOD "```show\n" line "\n```\n"
#define ASKED(keys)    GOOD "```ask three\n" keys "\nexplain: e\n```\n"
#define ANSWERED(keys) ASKED("prompt: p\nhint: h h h\n" keys)
#define FIVE(keys)     GOOD "```ask three\nfixed: f\nprompt: p\nanswer: abs(5)\nhint: h h h\n" keys "\n```\n"

/* A lesson, and what is found; "": nothing. */
static const char *const LINTED[] = {
    GOOD " => ",
    GOOD_HEAD GOOD_PREDICTION GOOD_ASK("one") GOOD_TEACHER " => 2 questions",
    GOOD_HEAD GOOD_ASK("one") GOOD_ASK("two") GOOD_ASK("three") GOOD_TEACHER " => nothing is predicted",
    GOOD_HEAD GOOD_ASK("one") GOOD_ASK("two") GOOD_ASK("three") GOOD_TEACHER " => no picture",
    GOOD_HEAD GOOD_PREDICTION GOOD_ASK("one") GOOD_ASK("two") " => 0 teacher blocks",
    HEADER "\nNo link.\n\n" GOOD_PREDICTION GOOD_ASK("one") GOOD_ASK("two") GOOD_TEACHER " => glossary",
    HEADER "\nA [link](elsewhere-entirely.md) to something else.\n\n" GOOD_PREDICTION GOOD_ASK("one") GOOD_ASK("two")
        GOOD_TEACHER " => no term is linked to the glossary",
    GOOD "```ask three\nkind: predict\nprompt: p\nanswer: abs(1)\nhint: h h h\n```\n"
         " => nothing is shown after the prediction 'three'",
    ASKED("prompt: p\nanswer: abs(1)") " => 'three' has no hint",
    GOOD "```ask three\nprompt: p\nanswer: abs(1)\nhint: h h h\n```\n => 'three' has no explain",
    ANSWERED("answer: nil") " => no value",
    ASKED("prompt: p\nanswer: abs(1)\nhint: h h {x.y}") " => x",
    GOOD "```ask three\nprompt: p\nanswer: abs(12)\nhint: h h h\nexplain: {zz}\n```\n => zz",
    ANSWERED("answer: abs(12)\nwrong: 12 -> d") " => '12' of 'three' is right",
    ANSWERED("answer: abs(12)\nwrong: 1 -> d\nwrong: 3 - 2 -> d") " => are the same",
    ANSWERED("answer: abs(12.5)\ntolerance: 5%\nwrong: 12.6 -> d") " => within the tolerance",
    ANSWERED("answer: abs(12.5)\ntolerance: 0.6%") " => the tolerance of 'three' begins with neither 1 nor 3",
    ASKED("prompt: p\nanswer: abs(12)\nhint: It is 12.") " => the hint of 'three' gives the answer away: 12",
    ASKED("prompt: Is it 12?\nanswer: abs(12)\nhint: h h h") " => the prompt of 'three' gives",
    GOOD "\nThere are 12 multiplications.\n\n```ask three\nprompt: p\nanswer: abs(12)\nunit: multiplications\n"
         "hint: h h h\nexplain: e\n```\n => prose before",
    ASKED("fixed: f\nprompt: p\nanswer: abs(12)\nallow: 12\nhint: It is 12.") " => ",
    ASKED("prompt: p\nanswer: abs(67108864)\nunit: MiB\nhint: That is 67.1 MB.") " => gives the answer away: 67.1",
    ASKED("prompt: p\nanswer: abs(67108864)\nunit: MiB\n"
          "hint: Blocks of 64 rows, N = 4096, 64 KiB.") " => gives the answer away: 64",
    ASKED("fixed: f\nprompt: p\nanswer: abs(67108864)\nunit: MiB\nhint: N = 4096, {64} KiB.") " => ",
    ASKED("fixed: f\nprompt: p\nanswer: abs(0.4375)\nunit: %\nhint: Less than 50%.") " => ",
    ASKED("prompt: p\nanswer: abs(0.36788)\nhint: e^-1 is 0.368 of it.") " => gives the answer away: 0.368",
    ASKED("prompt: p\noption: It grows fast.\noption: It falls.\nanswer: 'It grows fast.'\n"
          "hint: Well, it grows fast. Yes.") " => word for word",
    SHOWN("scene=wark") " => did you mean 'walk'",
    SHOWN("scene=walk steps=9-2") " => are no steps",
    SHOWN("scene=walk steps=0-1000000000000000") " => are no steps",
    SHOWN("scene=walk steps=0-100000000000000") " => ",
    SHOWN("steps=1-2") " => names no scene",
    SHOWN("scene=walk scores=1,2") " => belong to scene=softmax",
    SHOWN("scene=bank column=0 row_bytes=128 pad_bytes=4 swizzle=none") " => ",
    SHOWN("scene=warp stride=12") " => ",
    SHOWN("scene=decode") " => ",
    SHOWN("scene=bank") " => stride (bytes from lane to lane) or column",
    SHOWN("scene=bank stride=4 column=0") " => stride (bytes from lane to lane) or",
    SHOWN("scene=bank stride=4 pad_bytes=4") " => go with column",
    SHOWN("scene=bank stride=6 bytes=4") " => no multiple of 4",
    SHOWN("scene=bank column=0 bytes=16") " => at most 4 bytes",
    SHOWN("scene=bank stride=9999999") " => between 0 and 1048576",
    SHOWN("scene=bank column=0 swizzle=256B") " => is no swizzle",
    SHOWN("scene=bank stride=4 steps=0-3") " => leave out steps",
    SHOWN("scene=walk stride=4") " => belong to scene=bank",
    /* the faults that lessons have had: each is found */
    ASKED("fixed: f\nprompt: And with d = 96?\nanswer: abs(5)\nhint: h h h") " => cannot stand alone",
    ASKED("fixed: f\nprompt: How many does it read?\nanswer: abs(5)\nhint: h h h") " => 'it' points",
    ANSWERED("fixed: f\nanswer: 2 * 6") " => is typed in: 2 * 6",
    ASKED("fixed: f\nprompt: p\nanswer: abs(5)\nhint: Divide.") " => 'Divide.' of 'three' says nothing",
    FIVE("explain: the [bottleneck](glossary.md#bottleneck).") " => has a link",
    FIVE("allow: 1.21\nexplain: So 1 / 0.82 = 1.21 us.") " => ",
    FIVE("explain: So 1 / 0.82 = 1.21 times.") " => '1 / 0.82 = 1.21', and that",
    FIVE("explain: So:10 - 3 = 8.") " => '10 - 3 = 8', and that",
    /* figures are computed, or quoted; sizes of an element are what they are */
    FIVE("explain: It has 80 GB.") " => '80 GB' of 'three' is typed in",
    FIVE("allow: 80\nexplain: It has 80 GB, of 2 bytes, {binary(MiB)} and `9 GB`.") " => ",
    GOOD "It has 80 GB.\n => '80 GB' is typed in",
    /* what a sentence recommends is computed */
    FIVE("explain: It runs. Best are 64 parts.") " => '64 parts' is recommended",
    FIVE("explain: 2.5 parts are the fastest, they say.") " => is recommended",
    FIVE("explain: {8 * 8} parts are best, `64` too. There are 64 of them.") " => ",
    FIVE("allow: 64\nexplain: 64 parts are best.") " => ",
    /* parentheses in each other are read */
    FIVE("explain: So ((((((((((((((((((((1)))))))))))))))))))) + 2 = 4.") " => that is not so",
    FIVE("explain: So 1 / 0.82 = 1.21.") " => '1 / 0.82 = 1.21', and that",
    FIVE("explain: 4 (4 - 1) / 2 = 6, 63 / 128 = 49.2 %, 2^10 = 1,024.") " => ",
    FIVE("explain: So (2 + 3) (4 - 1) = 15, e^0 = 1.") " => ",
    FIVE("explain: So (2 + 3) (4 - 1) = 16.") " => '(2 + 3) (4 - 1) = 16', and that",
    FIVE("explain: So e^0 = 2.") " => 'e^0 = 2', and that",
    ASKED("fixed: f\nprompt: p\noption: 37 tiles\noption: none\nanswer: '37 tiles'\nhint: h h h\n"
          "explain: e\n```\n```ask four\nfixed: f\nprompt: p\n"
          "answer: abs(37)\nunit: tiles\nhint: h h h") " => of 'four' gives the answer away: 37",
    /* an answer that an earlier question, or a caption, has printed with its unit */
    GOOD SAME_ASK("three", "") SAME_ASK("four", "") " => the answer to 'four' is printed before it: 37",
    GOOD SAME_ASK("three", "") SAME_ASK("four", "allow: 37\n") " => ",
    SHOWN("scene=walk\nAll 37 tiles.") SAME_ASK("three", "") " => the answer to 'three' is printed",
    SHOWN("scene=walk\nAll 37 rows.") SAME_ASK("three", "") " => ",
    ANSWERED("answer: abs(5)") " => 12 learners have 1 answer to 'three'",
    "# T\n- idea: x\n- minutes: 50\n\n[t](glossary.md)\n\n" GOOD_PREDICTION GOOD_ASK("one") GOOD_ASK("two") GOOD_TEACHER
    " => 50 minutes",
    GOOD "```ask three\nprompt: p {n}\nanswer: n\nhint: h h h\nexplain: e\ndraw: n from 101 to 180\nallow: 101\n```\n"
         " => prompt",
    GOOD "```ask three\nprompt: p {n}\nanswer: 2 * n\nhint: h h h\nexplain: e\ndraw: n from 101 to 180\n```\n => ",
    GOOD "```ask three\nprompt: p {n}\nanswer: 2 * n\nhint: h h h\nexplain: e\ndraw: n from 101 to 105\n```\n"
         " => 12 learners have 5 answers to 'three'",
};

TEST(lint_finds_what_is_missing_or_wrong) {
  EACH_SAYS (row, LINTED) {
    const int n = lint(row.text);
    assert_true(*row.says ? n > 0 && strstr(findings, row.says) : n == 0);
  }
}

/* Only one of the drawn values makes the wrong answer right. */
TEST(lint_sees_every_drawn_value) {
  assert_int_equal(lint(GOOD "```ask three\nprompt: p\nanswer: 2 * n\nhint: h h h\nwrong: n + 30 -> "
                             "d\nexplain: e\ndraw: n from 10, 20, 30\n```\n"),
                   1);
  assert_non_null(strstr(findings, "'n + 30' of 'three' is right"));
  assert_int_equal(lint(GOOD "```ask three\nprompt: p\nanswer: 2 * n\nhint: h h h\nwrong: n + 30 -> "
                             "d\nexplain: e\nfixed: f\ndraw: n from 10, 20\n```\n"),
                   0);
}

static Status whole_run(void *context, Error *error) {
  (void)context;
  static const char TEXT[] = GOOD;
  Status status = lesson_from_buffer(&lesson, ALL_OF(TEXT), "t.md", error);
  if (status) return status;
  status = lesson_run_start(&run, &lesson, NULL, 1, error);
  if (!status) {
    status = lesson_run_question(&run, 1, &question, error);
    if (!status) status = lesson_run_grade(&run, &question, "12", &grade, error);
    lesson_run_end(&run);
  }
  lesson_free(&lesson);
  return status;
}

TEST(every_allocation_may_fail) { assert_true(alloc_fail_each(whole_run, NULL) >= 20); }
