/* How long a command takes from start to exit, as a ratio to /bin/true: `tilewalk sim` is to stay under 3.
 *
 * The two are run in turn, 200 times each; the medians of the time on the clock are compared. */
#define _GNU_SOURCE /* posix_spawn, clock_gettime */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;
enum { RUNS = 200 };

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double run_s(char **argv) {
  posix_spawn_file_actions_t actions;
  pid_t child;
  int status;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  const double began = now_s();
  if (posix_spawn(&child, argv[0], &actions, NULL, argv, environ) != 0 || waitpid(child, &status, 0) < 0 || status) {
    fprintf(stderr, "bench_start: %s cannot be run\n", argv[0]);
    exit(1);
  }
  posix_spawn_file_actions_destroy(&actions);
  return now_s() - began;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values) {
  qsort(values, RUNS, sizeof *values, ascending);
  return (values[RUNS / 2 - 1] + values[RUNS / 2]) / 2;
}

int main(void) {
  static double empty[RUNS], sim[RUNS], full[RUNS];
  char program[4096], whole[4096];
  const char *build = getenv("BUILD");
  snprintf(program, sizeof program, "%s/tilewalk", build ? build : "build");
  snprintf(whole, sizeof whole, "%s/tilewalk-full", build ? build : "build");
  for (int k = 0; k < RUNS; k++) {
    empty[k] = run_s((char *[]){"/bin/true", NULL});
    sim[k] = run_s((char *[]){program, "sim", NULL});
    full[k] = run_s((char *[]){whole, "sim", NULL});
  }
  const double base = median(empty), ours = median(sim), drawing = median(full);
  printf("start      /bin/true %.2f ms, tilewalk sim %.2f ms (%.1f x), with drawing libraries %.2f ms (%.1f x)\n",
         1e3 * base, 1e3 * ours, ours / base, 1e3 * drawing, drawing / base);
  return 0;
}
