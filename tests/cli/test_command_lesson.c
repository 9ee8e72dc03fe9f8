/* tilewalk lesson as learners, teachers and authors use it: through the built program, with a
 * folder of its own for the record of progress. */
#define _DEFAULT_SOURCE /* mkdtemp, setenv */
#include "tests/support/test.h"

#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/lesson_folder.h"

TEST(a_lesson_is_walked_with_right_and_wrong_answers) {
  write_file("two.md", LESSON);
  type_into("two.md", "zzz\nb\n77\nhint\n0,5\nsix\n64 MB\n\nskip\n");
  assert_int_equal(run.exit_status, 0);
  assert_string_equal(run.err, "");
  has("Predict, 1 of 3");
  has("'zzz' is none of the choices");
  has("Noted. Now look.");
  has("6 full, 4 masked in part (/), 6 skipped"); /* 4 x 4 tiles: 4 on the diagonal, 6 below, 6
                                                     above */
  has("You predicted: It is smaller.");
  has("The answer: It is larger.");
  has("Not yet.");
  has("Hint 1 of 2.");
  has("Hint 2 of 2.");
  has("The comma in 0,5 was read as the decimal sign");
  has("'six' may be right, but write it in digits");
  has("a plain number, without a unit");
  has("The answer is ");
  has("Stopped."); /* the input ended at the third question */
  type_into("two.md", "64 MB\n67.1 MB\n");
  has("Going on where you stopped");
  has("Nearly.");
  has("right in the other unit");
  has("Right.");
  has("Done.");
  has("The lesson is done: 1 of 2 right");
}

TEST(progress_is_kept_and_taken_up) {
  write_file("three.md", LESSON);
  type_into("three.md", "a\n");
  has("As you predicted: It is larger.");
  has("Stopped.");
  type_into("three.md", "skip\n64\n");
  assert_null(strstr(run.out, "Predict"));
  has("Going on where you stopped");
  has("The lesson is done: 1 of 2 right");
  type_into("three.md --restart", "quit\n");
  has("Predict, 1 of 3");
}

TEST(nothing_is_kept_without_a_home) {
  write_file("four.md", LESSON);
  char arguments[512];
  snprintf(arguments, sizeof arguments,
           "--version >/dev/null; env -u XDG_STATE_HOME -u HOME \"${TILEWALK:-build/tilewalk}\" "
           "lesson %s/four.md </dev/null",
           folder);
  program_run(&run, arguments);
  assert_int_equal(run.exit_status, 0);
  has("Larger or smaller?");
  assert_null(strstr(run.out, "goes on from here"));
}

/* A task waits for a state that does it: a change of the lesson's, or a whole one. */
TEST(a_task_is_done_by_typing_a_state) {
  write_file("do.md", "# Do\n\n- idea: Doing.\n- minutes: 5\n\nHello.\n\n"
                      "```state\nalgorithm=fa2 N=64 d=16 block=8 causal=1\n```\n\n"
                      "```task\nSkip a tile.\nuntil: view.event.kind == 'skip'\n"
                      "solution: step=12\nhint: First.\nhint: Second.\nexplain: Masked.\n```\n\n"
                      "```task\nAll of it.\nuntil: view.block == 64 and not view.causal\n"
                      "solution: block=64 causal=0\nhint: h\n```\n\n"
                      "```task\nJust look.\n```\n");
  type_into("do.md", "step=1\nstep=9999\nblok=4\nstep=12\nblock=64\n"
                     "algorithm=fa2 N=64 d=16 block=64 scene=main\n");
  assert_int_equal(run.exit_status, 0);
  has("tilewalk view --state 'algorithm=fa2 N=64 d=16 block=8 causal=1'");
  has("Not there yet.\n  Step 1 of 276, load: 256 B read and 0 B written so far."); /* Q_0: 8 x 16 x 2 B */
  has("Hint 1 of 2.\n  First.");
  /* Q, K, V, O of 2 KiB each, 4 x 64 x 64 x 16 FLOPs; an S of 8 KiB beside them, 8 B a row */
  has("Here 8 KiB move in the whole run, at 32.00 FLOPs a byte. The tiles need 16.5");
  has("step 9999 is beyond the end");
  has("'blok'");
  has("Done.\n  Masked.");
  has("Just look.");
  has("The lesson is done");
  type_into("do.md --restart", "hint\nskip\nskip\n");
  has("Such as: step=12\n  Masked.");
  has("Such as: block=64 causal=0");
}

/* A question that is answered with a file: through a pipe its name is typed; with --watch it is written, and judged at
 * each save. */
TEST(a_program_answers_a_question) {
  static const char RIGHT[] =
      "algorithm mine\ninput Q_i: B_r x d\ninput K_j: B_c x d\ninput V_j: B_c x d_v\ninput G_i: B_r x d_v\n"
      "output O_i = sigmoid(G) x (softmax(mask(Q K^T / sqrt(d))) V)\n"
      "kernel forward\n  for every row block i\n    load Q_i\n    O_i, l_i = 0; m_i = "
      "-inf\n    for each column block j of i\n      load K_j, V_j\n      S = Q_i K_j^T / sqrt(d)\n"
      "      mask S\n      m' = max(m_i, row max of S)\n      l_i, O_i *= e^(m_i - m')\n      P = "
      "e^(S - m'); l_i += row sum of P; O_i += P V_j; m_i = m'\n    load G_i\n"
      "    store O_i = (sigmoid G_i) x O_i / l_i\n";
  char wrong[sizeof RIGHT], *at;
  write_file("write.md", "# Write\n\n- idea: Writing.\n- minutes: 5\n\nHello.\n\n```ask mend\nkind: program\n"
                         "answer: gate\ndraw: N from 320, 448\nstate: N={N} d=32 block=64\n"
                         "explain: Both.\n```\n\nThe end.\n");
  strcpy(wrong, RIGHT);
  at = strstr(wrong, "l_i, O_i *=");
  memcpy(at, "l_i      *=", 11);
  write_file("right.walk", RIGHT);
  write_file("wrong.walk", wrong);
  char typed[600];
  snprintf(typed, sizeof typed, "hint\nnone.walk\n%1$s\n%1$s/wrong.walk\n%1$s/write.md\n%1$s/right.walk\n", folder);
  type_into("write.md", typed);
  assert_int_equal(run.exit_status, 0);
  has("Hint 1 of 2.");
  has("'none.walk' cannot be read: No such file or directory");
  has("is no file of at most 64 KiB");
  has("O was added up under the old maximum and is not rescaled");
  has("  gate.walk:3: ");
  has("Right.\n  Both.");
  has("The lesson is done: 1 of 1 right");
  type_into("write.md --restart", "skip\n");
  has("One that passes: A gate behind attention");
  has("l_i, O_i *= e^(m_i - m')");
  tilewalk(
      "--version >/dev/null; p=$(realpath \"${TILEWALK:-build/tilewalk}\"); a=$(realpath assets); cd %1$s; : >said; "
      "after() { for k in $(seq 2000); do ! grep -q \"$1\" said || break; sleep 0.1; done; }; "
      "{ after 'Your file'; cp wrong.walk new; mv new gate.walk; after 'is not rescaled'; "
      "cp right.walk new; mv new gate.walk; after 'The lesson is done'; } | TILEWALK_ASSETS=$a timeout "
      "500 $p lesson write.md --restart --watch >said; status=$?; cat said; exit $status");
  assert_int_equal(run.exit_status, 0);
  has("Your file: ./gate.walk.");
  has("gate.walk was saved");
  has("O was added up under the old maximum and is not rescaled");
  has("The lesson is done: 1 of 1 right");
}

TEST(lint_looks_at_the_start_and_the_solution_of_a_task) {
  static const char *const ROWS[][3] = {
      {"view.N > 64", "N=128", NULL},
      {"view.N > 8", "N=128", "task.md:13: the task is done before it begins"},
      {"view.N > 256", "N=128", "task.md:14: the solution does not solve the task"},
      {"view.blok > 64", "N=128", "task.md:13: the view has no 'blok'; did you mean 'block'?"},
      {"view.N", "N=128", "task.md:13: 'until' must be true or false"},
      {"view.N > 64", "N=0", "task.md:14: --seq-len"},
      {"view.N > 64", "step=100000", "task.md:14: step 100000 is beyond the end"},
      {"(function() while true do end end)()", "N=128", "task.md:13: the expression does too much work"},
      {"os.execute('true')", "N=128", "task.md:13: there is no name 'os'"},
      {"view.run.loads_per_block.K == 16 and view.N == 64", "block=4", NULL},
      {"view.run.traffic.total_bytes < 16384", "block=64", "task.md:13: the task is done by 'N=8', too"},
      {"view.run.traffic.total_bytes < 20000 and view.N == 64 and view.dtype == 'fp16'", "block=64",
       "done by 'd=8', too"},
  };
  for (size_t k = 0; k < sizeof ROWS / sizeof *ROWS; k++) {
    char text[1024];
    snprintf(text, sizeof text,
             "# Do\n\n- idea: Doing.\n- minutes: 5\n\nHello.\n\n```state\nN=64 d=16 "
             "block=8\n```\n```task\nDo.\nuntil: %s\nsolution: %s\nhint: h\n```\n",
             ROWS[k][0], ROWS[k][1]);
    write_file("task.md", text);
    tilewalk("lesson --lint %s/task.md");
    if (ROWS[k][2])
      has(ROWS[k][2]);
    else if (strstr(run.out, "task.md:1") && !strstr(run.out, "task.md:1:"))
      fail_msg("%s", run.out);
  }
}

/* What is predicted stands in the picture that follows, or below it. */
TEST(lint_looks_for_what_is_predicted) {
  static const char *const ROWS[][2] = {
      {"sim{N=64, d=16, block=8, causal=true}.tiles.skipped", NULL}, /* the picture counts */
      {"sim{N=64, d=16, block=8}.traffic.total_bytes", "does not hold what 'p' predicts, 36,864"}};
  for (size_t k = 0; k < sizeof ROWS / sizeof *ROWS; k++) {
    char text[1024];
    snprintf(text, sizeof text,
             "# See\n\n- idea: x\n- minutes: 5\n\nA [t](glossary.md#tile).\n\n```ask p\nkind: predict\n"
             "prompt: How many?\nanswer: %s\nhint: h h h\n```\n"
             "```state\nN=64 d=16 block=8 causal=1\n```\n```show\nscene=causal\n```\n",
             ROWS[k][0]);
    write_file("see.md", text);
    tilewalk("lesson --lint %s/see.md");
    if (ROWS[k][1])
      has(ROWS[k][1]);
    else
      assert_null(strstr(run.out, "predicts"));
  }
}

/* ---- At a terminal */

enum { TERMINAL_BYTES = 1 << 16, TERMINAL_WAIT_MS = 60000 };

/* A learner at a terminal types `first`, and "quit" once `then` is on the screen. Returns what was on it in `said`. */
static void sit_at_a_terminal(const char *lesson, const char *first, const char *then, char said[TERMINAL_BYTES]) {
  const struct winsize size = {.ws_row = 50, .ws_col = 100};
  const char *named = getenv("TILEWALK");
  char path[SCRATCH_BYTES + 32];
  int terminal;
  bool has_quit = false;
  size_t n = 0;
  snprintf(path, sizeof path, "%s/%s", folder, lesson);
  const pid_t child = forkpty(&terminal, NULL, NULL, &size);
  assert_true(child >= 0);
  if (child == 0) {
    setenv("TERM", "xterm", 1);
    setenv("NO_COLOR", "1", 1);
    execl(named ? named : "build/tilewalk", "tilewalk", "lesson", path, "--restart", (char *)NULL);
    _exit(127);
  }
  assert_int_equal(write(terminal, first, strlen(first)), strlen(first));
  for (struct pollfd screen = {.fd = terminal, .events = POLLIN};;) {
    if (poll(&screen, 1, TERMINAL_WAIT_MS) == 0) fail_msg("nothing comes after:\n%s", said + (n > 800 ? n - 800 : 0));
    const ssize_t got = read(terminal, said + n, TERMINAL_BYTES - 1 - n);
    if (got <= 0) break; /* it ended */
    said[n += (size_t)got] = '\0';
    if (has_quit || !strstr(said, then)) continue;
    assert_int_equal(write(terminal, "quit\n", 5), 5);
    has_quit = true;
  }
  close(terminal);
  assert_int_equal(waitpid(child, NULL, 0), child);
  assert_true(has_quit);
}

TEST(a_prediction_is_shown_at_a_terminal) {
  char *said = malloc(TERMINAL_BYTES);
  assert_non_null(said);
  said[0] = '\0';
  write_file("seen.md",
             "# Seen\n\n- idea: x\n- minutes: 5\n\nHello.\n\n```ask sum\nkind: predict\nprompt: p\nanswer: 4\nhint: "
             "h\n```\n\n```state\nN=8 d=4 block=2\n```\n\n```show\nscene=hierarchy\n```\n\n## More\n\nText.\n");
  sit_at_a_terminal("seen.md", "4\n", "[Enter] ", said);
  assert_non_null(strstr(said, "As you predicted: 4"));
  free(said);
}

/* ---- Checking and writing */

TEST(the_lessons_that_come_with_it_are_clean) {
  program_run(&run, "lesson --lint");
  if (run.exit_status != 0) fail_msg("%s", run.out);
  has(" 0 findings");
}

/* A course of one's own: a hundred lessons, and a name with dots in it. */
TEST(a_large_course_is_listed_whole) {
  tilewalk("--version >/dev/null; mkdir -p %1$s/tree/assets %1$s/tree/lessons/course; cp lessons/course/template.md "
           "%1$s/tree/lessons/course; for k in $(seq 10 99); do cp lessons/course/template.md "
           "%1$s/tree/lessons/course/$k-x.md; done; cp lessons/course/template.md %1$s/tree/lessons/course/03-a..b.md; "
           "TILEWALK_ASSETS=%1$s/tree/assets \"${TILEWALK:-build/tilewalk}\" lesson --list --csv");
  assert_int_equal(run.exit_status, 0);
  int lines = 0;
  for (const char *p = run.out; *p; p++) lines += *p == '\n';
  assert_int_equal(lines, 1 + 91);
  has("\n03-a..b,");
  has("\n99-x,");
  tilewalk("lesson --lint %1$s/tree/lessons/course/*.md"); /* each by name */
  assert_int_equal(run.exit_status, 0);
  has("92 lessons, 0 findings"); /* with the template */
}

/* An expression names a GPU that comes with Tilewalk, never a file: neither one that is there nor one that waits. */
TEST(a_lesson_opens_no_paths) {
  char text[1024];
  snprintf(text, sizeof text, "rm -f %1$s/pipe.gpu; mkfifo %1$s/pipe.gpu; cp assets/gpus/h200 %1$s/copy.gpu", folder);
  assert_int_equal(system(text), 0);
  static const char *const NAMES[] = {"pipe.gpu", "copy.gpu"};
  for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++) {
    snprintf(text, sizeof text,
             "# T\n- idea: x\n- minutes: 5\n\n```ask a\nprompt: p\nanswer: gpu'%s/%s'.n_sm\nhint: h\n```\n", folder,
             NAMES[k]);
    write_file("path.md", text);
    tilewalk("lesson %s/path.md </dev/null");
    assert_int_equal(run.exit_status, 2);
    if (!strstr(run.err, "is no GPU that comes with Tilewalk")) fail_msg("%s", run.err);
  }
}

/* Neither does a state, whatever it names, nor a link: none of these files is read, and the pipe is not waited for. */
TEST(a_state_and_a_link_open_no_paths) {
  static const char *const STATES[] = {"gpu=/etc/passwd",
                                       "gpu=%s/pipe.gpu",
                                       "gpu=copy.gpu",
                                       "kernel=%s/copy.gpu",
                                       "model=%s/pipe.gpu",
                                       "algorithm=fa2,%s/pipe.walk",
                                       "mask=documents:%s/pipe.gpu",
                                       "mask=%s/pipe.gpu"};
  char line[512], text[1024];
  for (size_t k = 0; k < sizeof STATES / sizeof *STATES; k++) {
    snprintf(line, sizeof line, STATES[k], folder);
    snprintf(text, sizeof text, "# T\n- idea: x\n- minutes: 5\n\n```state\nN=64 %s\n```\n", line);
    write_file("state.md", text);
    tilewalk("lesson --lint %s/state.md </dev/null");
    assert_int_equal(run.exit_status, 1);
    if (!strstr(run.out, "own are named on the command line alone")) fail_msg("%s", run.out);
    if (strstr(run.out, "root:")) fail_msg("%s", run.out);
  }
  write_file("link.md", "# T\n- idea: x\n- minutes: 5\n\n[a](../../etc/passwd) [b](pipe.gpu) [c](/etc/passwd)\n");
  tilewalk("lesson --lint %s/link.md </dev/null");
  has("link.md:5: the link '../../etc/passwd' leads nowhere");
  has("link.md:5: the link 'pipe.gpu' leads nowhere");
  has("link.md:5: the link '/etc/passwd' is neither");
}

TEST(findings_have_file_and_line) {
  write_file("bad.md", "# T\n- idea: x\n- minutes: 5\n\n[gone](nowhere.md) "
                       "[lost](bad.md#x)\n\n```state\nN=0\n```\n\n```ask a\nprompt: p\nanswer: "
                       "1\nhint: h\nexplain: e\n```\n");
  write_file("worse.md", "# T\n- idea: x\n- minutes: 5\n\n```ask a\nprompt: p\n");
  tilewalk("lesson --lint %1$s/bad.md %1$s/worse.md");
  assert_int_equal(run.exit_status, 1);
  has("bad.md:5: the link 'nowhere.md' leads nowhere");
  has("bad.md:5: the link 'bad.md#x' leads nowhere");
  has("bad.md:8: --seq-len");
  has("worse.md:5: the block that begins here has no closing");
  tilewalk("lesson %s/worse.md");
  assert_int_equal(run.exit_status, 2);
  assert_non_null(strstr(run.err, "worse.md:5: "));
}

/* Two programs on one sheet, each of which begins with what the other lacks: a task, and the same turned round. */
TEST(programs_that_answer_each_other_are_found) {
  tilewalk(
      "--version >/dev/null; p=$(realpath \"${TILEWALK:-build/tilewalk}\"); t=%1$s/tree; mkdir -p $t/assets; "
      "ln -s $(realpath assets)/* $t/assets; cp -r lessons $t; cp lessons/course/glossary.md %1$s/; "
      "sed 's/^start$/old/; "
      "s/^reference$/start/; s/^old$/reference/; /^mutant/,$d; /^demand/d; /^says/d' lessons/tasks/running-sum.task >"
      "$t/lessons/tasks/back.task; { sed "
      "'/^```teacher/,$d' lessons/course/template.md; for k in running-sum back; do printf '```ask write-%%s\nkind: "
      "program\nanswer: %%s\ndraw: rows from 208 to 1024 by 16\nstate: N={rows} d=32 block=32 causal=1\nexplain: "
      "Done.\n```\n\n' $k $k; done; sed -n '/^```teacher/,$p' lessons/course/template.md; } >%1$s/two.md; "
      "TILEWALK_ASSETS=$t/assets $p lesson --lint %1$s/two.md");
  has("what 'write-back' asks for stands in the program that 'write-running-sum' begins with");
  has("what 'write-running-sum' asks for stands in the program that 'write-back' begins with");
  has("1 lesson, 2 findings");
}

TEST(a_new_lesson_is_clean_and_runs) {
  tilewalk("--version >/dev/null; p=$(realpath \"${TILEWALK:-build/tilewalk}\"); cp lessons/course/glossary.md "
           "%1$s/; cd %1$s && $p lesson --new mine && $p lesson --lint mine.md && $p lesson --new mine");
  has("mine.md is a small lesson");
  has("1 lesson, 0 findings");
  assert_int_equal(run.exit_status, 2); /* a second --new leaves it as it is */
  assert_non_null(strstr(run.err, "is there already"));
}

/* The whole lesson of the author's guide, in under 30 lines, runs as it stands there. */
TEST(the_lesson_of_the_guide_runs) {
  write_file("guide.md", guide_lesson());
  tilewalk("--version >/dev/null; cp lessons/course/glossary.md %s/");
  tilewalk("lesson --lint %s/guide.md");
  has("guide.md:1: the lesson has 2 questions");
  has("0 teacher blocks");
  has("1 lesson, 2 findings"); /* as the guide says */
  type_into("guide.md --seed 1", "Q\n1\n32\n8\n16\n");
  has("You predicted: Q");
  has("The answer: K");
  has("That would be so if all of Q fitted");
  has("Right.");
  has("The lesson is done: 1 of 1 right");
}

/* The page, and below it what is right for a learner with that seed. */
TEST(teachers_get_their_page_and_the_answers) {
  write_file("taught.md", "# T\n- idea: x\n- minutes: 5\n\nText.\n\n```ask a\nprompt: How often?\nanswer: 1\n"
                          "unit: launches\nhint: h\nexplain: e\n```\n\n```ask b\nkind: order\nprompt: p\n"
                          "item: one | First.\nitem: two | Then.\nitem: three | Last.\nanswer: 'one two three'\n"
                          "hint: h\nexplain: e\n```\n\n```teacher\n**Goal.** It is {6 * 7}.\n\n"
                          "    tilewalk sim -N 8\n```\n");
  tilewalk("lesson %s/taught.md --teacher");
  assert_int_equal(run.exit_status, 0);
  has("Goal. It is 42.");
  has("    tilewalk sim -N 8\n");
  has("Answers, computed for seed 1");
  has("1 launch\n");
  has("one, two, three"); /* however they are shuffled */
}

TEST(wrong_requests_are_refused) {
  static const char *const ROWS[][2] = {
      {"lesson 99", "there is no lesson '99'"},
      {"lesson one-roe", "did you mean 'one-row'"},
      {"lesson 04-online-softmax", "there are 01-bytes, 02-one-row, 03-the-loop,"},
      {"lesson 1 2", "one lesson at a time"},
      {"lesson --export-moodle", "name a lesson"},
      {"lesson --list --lint", "one thing at a time"},
      {"lesson none.md", "none.md"},
      {"lesson --answers none.csv", "none.csv"},
      {"lesson --report class.html", "go with --answers"},
      {"lesson --json --csv", "two formats"},
      {"lesson 4 --seed x", "--seed"},
      {"lesson --answers x.csv --seed 1 --key 'a long key'", "three ways"},
      {"lesson --answers x.csv --key short", "soon guessed"},
      {"lesson --seeds x", "needs --key"},
      {"lesson 4 --submit -", "add --student NAME"},
      {"lesson 4 --submit - --student ' '", "add --student NAME"},
      {"lesson 8 --submit - --student Ada", "nothing was answered in 08-backward yet"},
      {"lesson 4 --slides x.png", "ends in .pdf"},
      {"lesson 4 --teacher --json", "go with --list"},
      {"lesson --handout x.pdf", "name a lesson"},
      {"lesson 4 --handout x.pdf --student Ada", "with --key"},
  };
  for (size_t k = 0; k < sizeof ROWS / sizeof *ROWS; k++) {
    program_run(&run, ROWS[k][0]);
    assert_int_equal(run.exit_status, 2);
    assert_string_equal(run.out, "");
    if (!strstr(run.err, ROWS[k][1])) fail_msg("%s: %s", ROWS[k][0], run.err);
  }
}

GROUP(open_folder, close_folder)
