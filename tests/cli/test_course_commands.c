/* Every command line that the course prints, in its lessons, its teacher's notes and its plan, runs: they
 * are cut out of the Markdown, `tilewalk ...` in backticks or on an indented line, and run in a
 * folder of their own. */
#define _GNU_SOURCE /* glob, mkdtemp, realpath, setenv */
#include "tests/support/test.h"

#include <glob.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILE_BYTES = 1 << 18, COMMAND_BYTES = 512, COMMANDS_MAX = 400, FILES = 10, A_FILE = 2 };

typedef struct {
  char text[COMMAND_BYTES], file[64];
} CommandLine;

static CommandLine commands[COMMANDS_MAX];
static int n_commands;
static char folder[] = "/tmp/tilewalk-course-XXXXXX";
static char few_recordings[PATH_MAX + 16]; /* " --ncu FILE" */

/* ---- Cutting them out */

static void add(const char *file, const char *from, size_t length) {
  if (strncmp(from, "tilewalk ", 9) != 0) return;
  assert_in_range(length, 1, COMMAND_BYTES - 1);
  assert_in_range(n_commands, 0, COMMANDS_MAX - 1);
  CommandLine *c = &commands[n_commands++];
  snprintf(c->file, sizeof c->file, "%s", strrchr(file, '/') + 1);
  for (size_t k = 0; k < length; k++) c->text[k] = from[k] == '\n' ? ' ' : from[k];
  c->text[length] = '\0';
}

static void cut(const char *file, const char *text) {
  for (const char *p = text; *p;) {
    const size_t line = strcspn(p, "\n");
    if (strncmp(p, "```", 3) == 0) { /* a fence */
      p += line + (p[line] == '\n');
      continue;
    }
    if (strncmp(p, "    ", 4) == 0) {
      const char *from = p + strspn(p, " ");
      add(file, from, line - (size_t)(from - p));
    }
    const char *tick = memchr(p, '`', line);
    while (tick) { /* an inline command may go on in the next line */
      const char *end = strchr(tick + 1, '`');
      assert_non_null(end);
      add(file, tick + 1, (size_t)(end - tick - 1));
      p = end + 1;
      tick = memchr(p, '`', strcspn(p, "\n"));
    }
    p += strcspn(p, "\n");
    p += *p == '\n';
  }
}

static int cut_all(void **state) {
  (void)state;
  glob_t found;
  if (!mkdtemp(folder) || glob("lessons/course/[0-9][0-9]-*.md", 0, NULL, &found)) return 1;
  if (glob("lessons/course/plan.md", GLOB_APPEND, NULL, &found)) return 1;
  if (found.gl_pathc != FILES) return 1;
  for (size_t k = 0; k < found.gl_pathc; k++) {
    FILE *file = fopen(found.gl_pathv[k], "r");
    char *text = malloc(FILE_BYTES);
    if (!file || !text) return 1;
    text[fread(text, 1, FILE_BYTES - 1, file)] = '\0';
    fclose(file);
    cut(found.gl_pathv[k], text);
    free(text);
  }
  globfree(&found);
  return 0;
}

static int clean_up(void **state) {
  (void)state;
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command);
}

/* ---- Running them */

/* `tilewalk` in the shell is the built program, whatever is installed. */
static void install_program(void) {
  char program[PATH_MAX], link[128], path[PATH_MAX + 256], recordings[PATH_MAX];
  const char *named = getenv("TILEWALK"), *old = getenv("PATH");
  assert_non_null(realpath(named ? named : "build/tilewalk", program));
  snprintf(link, sizeof link, "%s/tilewalk", folder);
  assert_int_equal(symlink(program, link), 0);
  snprintf(path, sizeof path, "%s:%s", folder, old ? old : "/usr/bin:/bin");
  setenv("PATH", path, 1);
  assert_non_null(realpath("tests/fuzz/corpus/ncu/recorded.csv", recordings));
  snprintf(few_recordings, sizeof few_recordings, " --ncu '%s'", recordings);
  setenv("XDG_STATE_HOME", folder, 1);
  setenv("SDL_VIDEODRIVER", "dummy", 1);
}

static void write_file(const char *name, const char *text) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

/* A class of two, of which one has handed something in. */
static void make_class(void) {
  char path[128];
  snprintf(path, sizeof path, "%s/in", folder);
  assert_int_equal(mkdir(path, 0700), 0);
  write_file("names", "Ada\nBob\n");
  write_file("in/ada.json", "[{\"student\": \"Ada\", \"lesson\": \"03-the-loop\", \"answers\": {\"stores\": \"1\"}}]");
}

static int run(const char *text, const char *more) {
  char line[COMMAND_BYTES + 256];
  snprintf(line, sizeof line, "cd '%s' && { %s%s ; } </dev/null >out 2>err", folder, text, more);
  const int status = system(line);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void tell(const CommandLine *c, int status) {
  char path[128], said[1024];
  snprintf(path, sizeof path, "%s/err", folder);
  FILE *file = fopen(path, "r");
  const size_t n = file ? fread(said, 1, sizeof said - 1, file) : 0;
  said[n] = '\0';
  if (file) fclose(file);
  fail_msg("%s: `%s` ends with %d: %s", c->file, c->text, status, said);
}

/* One frame of a window; one kernel of all that were recorded, or a few recordings of one:
 * tests/recorded/test_accuracy_table.sh predicts them all. */
static const char *less_of(const char *text) {
  if (strncmp(text, "tilewalk view", 13) == 0) return " --frames 1";
  if (strncmp(text, "tilewalk crosscheck --kernel-name", 33) == 0) return few_recordings;
  return strcmp(text, "tilewalk crosscheck --recorded") == 0 ? " --kernel-name standard" : "";
}

TEST(test_every_command_runs) {
  install_program();
  make_class();
  const bool has_window = run("tilewalk view --frames 1", "") == 0; /* SDL2 is optional */
  for (int k = 0; k < n_commands; k++) {
    const CommandLine *c = &commands[k];
    bool is_new = true; /* the same line is run once */
    for (int earlier = 0; earlier < k && is_new; earlier++) is_new = strcmp(commands[earlier].text, c->text) != 0;
    const bool is_window = strncmp(c->text, "tilewalk view", 13) == 0;
    if (!is_new || (is_window && !has_window)) continue;
    if (sizeof(void *) < 8 && strstr(c->text, "--cpu")) continue; /* it refuses there */
    const int status = run(c->text, less_of(c->text));
    if (status != (strstr(c->text, "./mine.walk --judge") != NULL)) tell(c, status); /* a start is not yet right */
  }
}

/* A lesson without commands, or with few, would make the other test pass for nothing. */
TEST(test_every_lesson_has_some) {
  char last[64] = "";
  int n_files = 0, here = 0;
  for (int k = 0; k <= n_commands; k++) {
    if (k < n_commands && strcmp(commands[k].file, last) == 0) {
      here++;
      continue;
    }
    if (n_files > 0 && here < A_FILE) fail_msg("%s has %d commands", last, here);
    if (k == n_commands) break;
    snprintf(last, sizeof last, "%s", commands[k].file);
    here = 1;
    n_files++;
  }
  assert_int_equal(n_files, FILES);
}

GROUP(cut_all, clean_up)
