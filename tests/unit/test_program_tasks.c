/* Tasks that are answered with a program: the reference passes, the start does not, each mutant is told its sentence,
 * and a grader that is played with does not give way. */
#include "tests/support/test.h"

#include "tests/support/mutate_program.h"
#include "tests/support/sanitized.h"
#include "viz/lesson/lesson_workshop.h"

static const char *const TASKS[] = {"row-maximum",  "running-sum", "two-values", "whole-loop",
                                    "keys-outside", "parts",       "gate",       "weights-stay"};
enum { N_TASKS = COUNT_OF(TASKS) };

static ProgramTask *task_of(const char *name) {
  ProgramTask *task = task_open(name, fresh_error());
  must(!task);
  return task;
}

static TaskJudgement judge(const ProgramTask *task, const char *text) {
  TaskJudgement j;
  must(program_judge(task, ALL_OF(text), "mine.walk", &j, fresh_error()));
  return j;
}

/* A mutant fails, and is told its own sentence or, where an earlier one computes the same, that one's. */
TEST(mutants_are_told_what_they_are) {
  int n = 0, own = 0;
  for (int k = 0; k < N_TASKS; k++) {
    ProgramTask *task = task_of(TASKS[k]);
    for (int m = 0; m < task->n_mutants; m++) {
      char text[PROGRAM_TASK_PROGRAM_BYTES];
      must(program_task_mutant(task, m, text, NULL));
      const TaskJudgement j = judge(task, text);
      if (j.verdict == TASK_SOLVED) fail_msg("%s: mutant '%s' passes", TASKS[k], task->mutants[m].replace);
      assert_true(j.verdict >= TASK_WRONG);
      if (j.mutant < 0) fail_msg("%s: mutant '%s' gets no word", TASKS[k], task->mutants[m].replace);
      n++;
      own += j.mutant == m;
    }
    free(task);
  }
  print_message("%d mutants, %d with a sentence of their own\n", n, own);
  assert_true(n >= 40 && 10 * own >= 9 * n);
}

/* What would make it easier is no answer: other inputs or outputs, loads that are counted once. */
TEST(a_grader_is_not_fooled) {
  static const char *const FOOLS[][3] = {
      {"kernel forward", "output U_i = Z\nkernel forward", "'Z' is no input declared"},
      {"softmax(mask(Q K^T / sqrt(d)))", "softmax(Q K^T / sqrt(d))", "not those of the task"},
      {"kernel forward", "input X_i: B_r x d\nkernel forward", "not those of the task"},
      {"column block j of i", "column block j", "load all: 144 now; right 88; bar 108"},
      {"load Q_i", "load Q_i once", "'once' counts a load once"},
  };
  ProgramTask *task = task_of("gate");
  EACH (k, FOOLS) {
    char text[PROGRAM_TEXT_BYTES];
    strcpy(text, task->reference);
    assert_true(mutate_replace(text, FOOLS[k][0], FOOLS[k][1], 0));
    const TaskJudgement j = judge(task, text);
    assert_true(j.verdict != TASK_SOLVED && strstr(j.why, FOOLS[k][2]));
  }
  char *huge = malloc(1 << 20);
  assert_non_null(huge);
  memset(huge, 'x', (1 << 20) - 1);
  huge[(1 << 20) - 1] = '\0';
  assert_int_equal(judge(task, huge).verdict, TASK_UNREADABLE);
  assert_int_equal(judge(task, "").verdict, TASK_UNREADABLE);
  free(huge);
  free(task);
}

/* The line that is wrong, not the one that stores. Lines count from 1, declarations among them. */
TEST(the_line_that_is_wrong_is_named) {
  static const struct {
    const char *from, *to, *why;
    int line;
    const char *says;
  } ROWS[] = {
      {"; m_i = m'", "", "; line 19 is wrong", 19, "m' is never kept"},
      {"max(m_i, row max of S)", "row max of S", "; line 16 is wrong", 16, "of this block alone"},
      {"l_i, O_i, U_i *=", "l_i, O_i *=", "; line 17 is wrong", 17, "U was added up under the old maximum"},
      {"l_i += row sum of P; ", "", "; line 19 is wrong", 19, "l is never added up"},
      {"mask S\n", "S = S\n", "; line 15 is wrong", 15, "Nothing is masked"},
      {"      mask S\n", "", "; something is missing behind line 14", 14, "Nothing is masked"},
  };
  ProgramTask *task = task_of("two-values");
  EACH (k, ROWS) {
    char text[PROGRAM_TEXT_BYTES];
    TaskJudgement j;
    strcpy(text, task->reference);
    assert_true(mutate_replace(text, ROWS[k].from, ROWS[k].to, 0));
    must(task_judge("two-values", task, ALL_OF(text), "mine.walk", &j, NULL));
    assert_true(j.verdict == TASK_WRONG && strstr(j.why, ROWS[k].why) && (!ROWS[k].line || j.line == ROWS[k].line) &&
                strstr(j.says, ROWS[k].says));
  }
  free(task);
}

/* ---- Every task against every program there is ---- */

static bool begins_with(const char *line, const char *word) { return strncmp(line, ALL_OF(word)) == 0; }

/* A program with a task's declarations in place of its own. */
static void paste(const char *program, const char *declarations, char text[2 * PROGRAM_TEXT_BYTES]) {
  size_t used = 0;
  bool in_kernel = false;
  for (const char *p = program, *end; *p; p = end) {
    end = p + strcspn(p, "\n") + 1;
    in_kernel |= begins_with(p, "kernel");
    if (!in_kernel && (begins_with(p, "input") || begins_with(p, "output"))) continue;
    used += (size_t)sprintf(text + used, "%.*s", (int)(end - p), p);
    if (begins_with(p, "algorithm")) used += (size_t)sprintf(text + used, "%s", declarations);
  }
}

/* Programs that are shipped, references and starts, as they are and with the task's declarations: the task's own
 * reference passes, and nothing else. */
TEST(no_other_program_passes) {
  ProgramTask *tasks[N_TASKS];
  static const char *programs[100];
  static char pasted[2 * PROGRAM_TEXT_BYTES];
  int n = 0, judged = 0, passed = 0;
  for (int k = 0; k < N_PROGRAMS; k++) programs[n++] = SCHEDULES[k]->text;
  for (int k = 0; k < N_TASKS; k++) {
    tasks[k] = task_of(TASKS[k]);
    programs[n++] = tasks[k]->reference;
    programs[n++] = tasks[k]->start;
  }
  for (int k = 0; k < N_TASKS; k++) {
    for (int p = 0; p < n; p++) {
      const bool own = programs[p] == tasks[k]->reference, is_start = programs[p] == tasks[k]->start;
      if (!own && !is_start && (p + k) % ONE_OF) continue;
      for (int pastes = 0; pastes < 2; pastes++) {
        if (pastes) paste(programs[p], tasks[k]->declarations, pasted);
        const TaskJudgement j = judge(tasks[k], pastes ? pasted : programs[p]);
        assert_true((j.verdict == TASK_SOLVED) == own);
        if (is_start && !pastes) assert_true(j.verdict >= TASK_WRONG);
        judged++, passed += own;
      }
    }
  }
  print_message("%d judged, %d pass\n", judged, passed);
  for (int k = 0; k < N_TASKS; k++) free(tasks[k]);
}

TEST(broken_tasks_are_refused) {
  static const char *const ROWS[][2] = {
      {"", "t:1: a task has lines"},
      {"nosuch 1\n", "t:1: 'nosuch' is no line of a task"},
      {"task a\ntask b\n", "t:2: the line is there twice"},
      {"task a\n    x\n", "t:2: an indented line belongs to no program"},
      {"mutant a\n", "t:1: a mutant is"},
      {"mutant a => b\nmutant c => d\n", "t:2: the mutant before has no line 'says'"},
      {"bytes 3\n", "t:1: 'bytes' is no line of a task"},
      {"demand load K\n", "t:1: a demand is 'LEFT <= RIGHT'"},
      {"demand load <= 3\n", "t:1: 'load' is nothing that a run does"},
      {"demand load K <= 3 blocks\n", "t:1: '3 blocks' is no amount"},
      {"demand load K <= 1000001 tiles\n", "t:1: '1000001 tiles' is no amount"},
      {"demand kernels <= -1\n", "t:1: '-1' is no amount"},
      {"task a\nteaches b\nask c\nhidden N=64\nstart\n    s\nreference\n    r\n", "t:1: the first state is shown"},
      {"says a\n", "t:1: 'says' is no line"},
      {"start x\n", "t:1: the program follows"},
      {"task a\nteaches b\nask c\nstate N=64\nstart\n    s\nreference\n    r\nmutant x => y\nsays z\n",
       "t:9: 'x' is nowhere in the reference"},
      {"task a\nteaches b\nask c\nstate N=64\ndraw n 1 |  | 2\nhidden N={n}\nstart\n    s\nreference\n    r\n",
       "t:6: braces hold names"},
  };
  EACH (k, ROWS) {
    ProgramTask *task = program_task_read(ALL_OF(ROWS[k][0]), "t", fresh_error());
    assert_true(!task && strncmp(test_error.message, ALL_OF(ROWS[k][1])) == 0);
  }
  for (int over = 0; over < 2; over++) { /* with the zero at its end a program may fill its room */
    char text[2 * PROGRAM_TASK_PROGRAM_BYTES];
    int used = sprintf(text, "start\n");
    for (int left = PROGRAM_TASK_PROGRAM_BYTES - 1 + over, n; left > 0; left -= n) {
      n = left < 100 ? left : 100;
      used += sprintf(text + used, "    %0*d\n", n - 1, 0);
    }
    assert_null(program_task_read(text, (size_t)used, "t", fresh_error()));
    assert_int_equal(strstr(test_error.message, ": a program has at most") != NULL, over);
  }
}
