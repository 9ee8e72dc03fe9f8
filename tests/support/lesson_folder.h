/* A folder of lessons of its own for each test of `tilewalk lesson`, and what the program says of them. */
#ifndef TILEWALK_TESTS_SUPPORT_LESSON_FOLDER_H
#define TILEWALK_TESTS_SUPPORT_LESSON_FOLDER_H

#include "tests/support/test.h"
#include "tests/support/guide_lesson.h"
#include "tests/support/program.h"
#include "tests/support/scratch.h"

static ProgramRun run;
static char folder[SCRATCH_BYTES];

static inline int open_folder(void **state) {
  (void)state;
  if (!scratch_folder(folder)) return 1;
  return setenv("XDG_STATE_HOME", folder, 1);
}

static inline int close_folder(void **state) {
  (void)state;
  char command[SCRATCH_BYTES + 16];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return system(command);
}

static inline void write_file(const char *name, const char *text) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

/* `format` may name the folder once. */
static inline void tilewalk(const char *format) {
  char arguments[1024];
  snprintf(arguments, sizeof arguments, format, folder);
  program_run(&run, arguments);
}

/* Types these lines into a lesson of the folder. */
static inline void type_into(const char *lesson, const char *lines) {
  char arguments[512];
  write_file("typed", lines);
  snprintf(arguments, sizeof arguments, "lesson %s/%s <%s/typed", folder, lesson, folder);
  program_run(&run, arguments);
}

static inline void has(const char *text) {
  if (!strstr(run.out, text)) fail_msg("'%s' is not in:\n%s\n%s", text, run.out, run.err);
}

static const char LESSON[] =
    "# Two and two\n\n- idea: Adding.\n- minutes: 5\n- draw: N from 2, 3\n\nHello.\n\n"
    "```ask guess\nkind: predict\nprompt: Larger or smaller?\noption: larger | It is "
    "larger.\noption: smaller | It is smaller.\n"
    "answer: 'larger'\nhint: h\n```\n\n```state\nN=8 d=4 block=2 "
    "causal=1\n```\n\n```show\nscene=causal\n```\n\n## More\n\n"
    "```ask sum\nprompt: What is {N} and {N}?\nanswer: 2 * N\nhint: First.\nhint: Second.\nwrong: "
    "N -> You forgot one.\nexplain: It is {answer}.\n```\n\n"
    "```ask bytes\nprompt: How much?\nanswer: 67108864\nunit: MiB\nhint: h\nexplain: Done.\n```\n";

#endif
