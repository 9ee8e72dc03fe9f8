#define _GNU_SOURCE
#include "viz/compile/child_run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
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
static void become(const char *const *argv, const ChildLimits *limits, const int out[2], const int err[2]) {
  const int null = open("/dev/null", O_RDONLY);
  setpgid(0, 0);
  if (null < 0 || dup2(null, 0) < 0 || dup2(out[1], 1) < 0 || dup2(err[1], 2) < 0) _exit(EXIT_NOT_STARTED);
  close(out[0]), close(err[0]), close(out[1]), close(err[1]), close(null);
  limit(RLIMIT_CPU, (uint64_t)limits->cpu_seconds);
  limit(RLIMIT_AS, limits->memory_bytes);
  limit(RLIMIT_CORE, 0);
  if (limits->folders) stay_below(limits->folders);
  execv(argv[0], (char *const *)argv);
  _exit(EXIT_NOT_STARTED);
}

typedef struct {
  int fd;
  char **text;
  size_t *n, max, capacity;
  int *cut;
} Stream;

/* One read: false at its end. What goes beyond `max` is dropped. */
static int take(Stream *s) {
  char dropped[4096];
  if (*s->n + 1 >= s->capacity && s->capacity < s->max + 1) {
    const size_t more = s->capacity ? 2 * s->capacity : 65536, capacity = more < s->max + 1 ? more : s->max + 1;
    char *text = realloc(*s->text, capacity);
    if (text) *s->text = text, s->capacity = capacity;
  }
  const size_t room = s->capacity > *s->n + 1 ? s->capacity - *s->n - 1 : 0;
  const ssize_t n = room ? read(s->fd, *s->text + *s->n, room) : read(s->fd, dropped, sizeof dropped);
  if (n < 0) return errno == EINTR;
  if (room)
    *s->n += (size_t)n;
  else if (n > 0 && s->cut)
    *s->cut = 1;
  return n > 0;
}

/* Until both streams end, or the time is over. */
static void drain(Stream streams[2], double deadline, int *timed_out) {
  for (int open_streams = 2; open_streams > 0;) {
    struct pollfd fds[2];
    for (int k = 0; k < 2; k++) fds[k] = (struct pollfd){.fd = streams[k].fd, .events = POLLIN};
    const double left = deadline - now_seconds();
    if (left <= 0) {
      *timed_out = 1;
      return;
    }
    if (poll(fds, 2, (int)(left * 1000) + 1) < 0 && errno != EINTR) return;
    for (int k = 0; k < 2; k++)
      if (streams[k].fd >= 0 && fds[k].revents && !take(&streams[k])) streams[k].fd = -1, open_streams--;
  }
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
  int out[2], err[2], status = 0;
  memset(result, 0, sizeof *result);
  result->out = calloc(1, 1), result->err = calloc(1, 1);
  if (!result->out || !result->err)
    return error_set(error, STATUS_NO_MEMORY, "no memory for what '%.100s' prints", argv[0]);
  if (pipe(out)) return error_set(error, STATUS_BAD_REQUEST, "cannot start '%.100s': %s", argv[0], strerror(errno));
  if (pipe(err)) {
    close(out[0]), close(out[1]);
    return error_set(error, STATUS_BAD_REQUEST, "cannot start '%.100s': %s", argv[0], strerror(errno));
  }
  const pid_t pid = fork();
  if (pid == 0) become(argv, limits, out, err);
  close(out[1]), close(err[1]);
  if (pid > 0) {
    setpgid(pid, pid); /* as the child does: whichever is first */
    Stream streams[2] = {
        {.fd = out[0], .text = &result->out, .n = &result->n_out, .max = limits->out_bytes, .cut = &result->out_cut},
        {.fd = err[0], .text = &result->err, .n = &result->n_err, .max = limits->err_bytes}};
    const double deadline = now_seconds() + limits->wall_seconds;
    drain(streams, deadline, &result->timed_out);
    status = reap(pid, deadline, &result->timed_out);
  }
  close(out[0]), close(err[0]);
  result->out[result->n_out] = '\0', result->err[result->n_err] = '\0';
  result->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (pid < 0 || result->exit_status == EXIT_NOT_STARTED)
    return error_set(error, STATUS_BAD_REQUEST, "'%.100s' cannot be started", argv[0]);
  return STATUS_OK;
}

void child_result_free(ChildResult *result) {
  free(result->out);
  free(result->err);
  memset(result, 0, sizeof *result);
}
