#define _GNU_SOURCE
#include "viz/compile/child_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined __linux__ && __has_include(<linux/landlock.h>)
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

enum { EXIT_NOT_STARTED = 127 };

static double now_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void limit(int what, uint64_t value) {
  const struct rlimit r = {.rlim_cur = (rlim_t)value, .rlim_max = (rlim_t)value};
  setrlimit(what, &r);
}

/* In the child. A folder that is not there is left out; a kernel without Landlock restricts nothing. */
static void stay_below(const char *const *folders) {
#ifdef LANDLOCK_ACCESS_FS_READ_DIR
  const uint64_t reading = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
  const uint64_t all = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1; /* every right of the first version */
  const struct landlock_ruleset_attr handled = {.handled_access_fs = all};
  const int rules = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0);
  if (rules < 0) return;
  for (int k = 0; folders[k]; k++) {
    struct landlock_path_beneath_attr below = {.allowed_access = k == 0 ? all : reading,
                                               .parent_fd = open(folders[k], O_PATH | O_CLOEXEC)};
    if (below.parent_fd < 0) continue;
    syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &below, 0);
    close(below.parent_fd);
  }
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_landlock_restrict_self, rules, 0)) _exit(EXIT_NOT_STARTED);
  close(rules);
#else
  (void)folders;
#endif
}

/* In the child: never returns. */
static void become(const char *const *argv, const ChildLimits *limits, int out, int err) {
  const int null = open("/dev/null", O_RDONLY);
  setpgid(0, 0);
  if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0) _exit(EXIT_NOT_STARTED);
  close(out), close(err), close(null);
  signal(SIGXFSZ, SIG_IGN); /* writing more fails */
  limit(RLIMIT_FSIZE, limits->out_bytes + 1);
  limit(RLIMIT_CPU, (uint64_t)limits->cpu_seconds);
  limit(RLIMIT_AS, limits->memory_bytes);
  limit(RLIMIT_CORE, 0);
  if (limits->folders) stay_below(limits->folders);
  execv(argv[0], (char *const *)argv);
  _exit(EXIT_NOT_STARTED);
}

/* What was printed, up to `most` bytes; NULL: no memory. */
static char *printed(FILE *file, size_t most, size_t *n) {
  const long size = fseek(file, 0, SEEK_END) ? 0 : ftell(file);
  *n = size < 0 ? 0 : (size_t)size < most ? (size_t)size : most;
  char *text = malloc(*n + 1);
  rewind(file);
  if (text) text[ *n = fread(text, 1, *n, file)] = '\0';
  return text;
}

/* Waits for the program's end; whatever is left of it then, or when the time is over, is killed. */
static int reap(pid_t pid, double deadline, int *timed_out) {
  const struct timespec pause = {.tv_nsec = 1000000};
  int status = 0;
  pid_t done = waitpid(pid, &status, WNOHANG);
  while (done == 0 && now_seconds() < deadline) {
    nanosleep(&pause, NULL);
    done = waitpid(pid, &status, WNOHANG);
  }
  kill(-pid, SIGKILL);
  if (done == 0) {
    *timed_out = 1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
  }
  return status;
}

Status child_run(const char *const *argv, const ChildLimits *limits, ChildResult *result, Error *error) {
  FILE *const out = tmpfile(), *const err = out ? tmpfile() : NULL;
  int status = 0;
  memset(result, 0, sizeof *result);
  const pid_t pid = err ? fork() : -1;
  const int reason = errno;
  if (pid == 0) become(argv, limits, fileno(out), fileno(err));
  if (pid > 0) {
    setpgid(pid, pid); /* as the child does: whichever is first */
    status = reap(pid, now_seconds() + limits->wall_seconds, &result->timed_out);
    result->out = printed(out, limits->out_bytes + 1, &result->n_out);
    result->err = printed(err, limits->err_bytes, &result->n_err);
    result->out_cut = result->n_out > limits->out_bytes;
  }
  if (out) fclose(out);
  if (!err) return error_refuse(error, "cannot make a temporary file: %s", strerror(reason));
  fclose(err);
  if (pid < 0) return error_refuse(error, "cannot start '%.100s': %s", argv[0], strerror(reason));
  if (!result->out || !result->err) return error_no_memory(error, "for what '%.100s' prints", argv[0]);
  result->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (result->exit_status == EXIT_NOT_STARTED) return error_refuse(error, "'%.100s' cannot be started", argv[0]);
  return STATUS_OK;
}

void child_result_free(ChildResult *result) {
  free(result->out);
  free(result->err);
  memset(result, 0, sizeof *result);
}
