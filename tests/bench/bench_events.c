/* The spine's speed: events per second per core, one `tilewalk sim` from start to exit, 2^31 tokens against 4096,
 * memory at a million tokens. Ratios are against something measured in the same run. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/simulate.h"
#include "tests/bench/bench.h"
#include "tests/support/implied.h"

enum { RUNS = 21 };

/* The yardstick: a loop that knows fa2 without a mask by heart, fills in an event for each operation and adds up its
 * bytes, without a cursor that can be copied, sought or stopped. */
static double plain_loop_s(const Plan *plan, Traffic *traffic) {
  static const struct {
    uint8_t kind, tensor;
  } TILE[] = {{EVENT_LOAD, IMPLIED_K},    {EVENT_PRODUCT, IMPLIED_S}, {EVENT_NEW_MAX, IMPLIED_STATS},
              {EVENT_RESCALE, IMPLIED_O}, {EVENT_LOAD, IMPLIED_V},    {EVENT_ACCUMULATE, IMPLIED_O}};
  const uint64_t tile_bytes = (uint64_t)(plan->tiling.B_r * plan->shape.d * plan->element_bytes);
  const uint64_t flops = 2 * (uint64_t)(plan->tiling.B_r * plan->tiling.B_c * plan->shape.d);
  const Schedule *fa2 = schedule_find("fa2");
  uint8_t ops[9], n_ops = 0; /* Q, the six of a tile, the division, O */
  for (int op = 0; op < fa2->n_ops && n_ops < 9; op++)
    if (fa2->ops[op].kind == OP_EVENT && fa2->ops[op].event != EVENT_MASK) ops[n_ops++] = (uint8_t)op;
  const double start = now_s();
  Event e = {.kind = EVENT_LOAD};
  for (e.i = 0; e.i < plan->T_r; e.i++) {
    e.row0 = e.i * plan->tiling.B_r;
    e.row1 = e.row0 + plan->tiling.B_r;
    const struct {
      uint8_t kind, tensor;
    } edge[] = {{EVENT_LOAD, IMPLIED_Q}, {EVENT_NORMALISE, IMPLIED_O}, {EVENT_STORE, IMPLIED_O}};
    for (int k = 0; k < 3; k++) {
      e.kind = edge[k].kind;
      e.tensor = edge[k].tensor;
      e.op = ops[k ? 6 + k : 0];
      e.bytes = k == 1 ? 0 : tile_bytes;
      e.flops = 0;
      traffic_add(traffic, fa2, &e);
    }
    for (e.j = 0; e.j < plan->T_c; e.j++) {
      e.col0 = e.j * plan->tiling.B_c;
      e.col1 = e.col0 + plan->tiling.B_c;
      for (int k = 0; k < 6; k++) {
        e.kind = TILE[k].kind;
        e.tensor = TILE[k].tensor;
        e.op = ops[1 + k];
        e.bytes = TILE[k].kind == EVENT_LOAD ? tile_bytes : 0;
        e.flops = TILE[k].kind == EVENT_PRODUCT || TILE[k].kind == EVENT_ACCUMULATE ? flops : 0;
        e.step++;
        traffic_add(traffic, fa2, &e);
      }
    }
  }
  return now_s() - start;
}

static void bench_events(void) {
  const Shape shape = {.N_q = 131072, .d = 128};
  const Tiling tiling = {.B_r = 64, .B_c = 64};
  Plan plan;
  if (plan_make(&plan, &shape, &tiling, NULL)) exit(1);
  Traffic by_heart = {0};
  const double loop_s = plain_loop_s(&plan, &by_heart);
  printf("events, N = 131,072, B = 64, one core (aim: 100 million a second)\n");
  printf("  %-10s %14s %14s %22s\n", "", "events", "M events/s", "time / plain loop*");
  for (int k = 0; k < N_SCHEDULES; k++) {
    Traffic traffic = {0};
    Cursor cursor = {0};
    Event event;
    const double start = now_s();
    while (schedule_next(SCHEDULES[k], &plan, &cursor, &event)) traffic_add(&traffic, SCHEDULES[k], &event);
    const double seconds = now_s() - start;
    printf("  %-10s %14.0f %14.1f %21.1fx\n", SCHEDULES[k]->name, (double)traffic.steps,
           (double)traffic.steps / seconds / 1e6, seconds / (double)traffic.steps / (loop_s / (double)by_heart.steps));
    if (strcmp(SCHEDULES[k]->name, "fa2") == 0 && !traffic_equal(&traffic, &by_heart)) {
      fprintf(stderr, "bench_events: the plain loop and the events disagree\n");
      exit(1);
    }
  }
  printf("  * per event, against a loop that has fa2 without a mask written out (%.1f M events/s)\n",
         (double)by_heart.steps / loop_s / 1e6);
}

static void bench_seek(void) {
  const Shape shape = {.N_q = 1 << 20, .d = 128, .causal = true};
  const Tiling tiling = {.B_r = 64, .B_c = 64};
  Plan plan;
  if (plan_make(&plan, &shape, &tiling, NULL)) exit(1);
  const Schedule *fa2 = schedule_find("fa2");
  const uint64_t n = (uint64_t)schedule_n_steps(fa2, &plan);
  double seconds[RUNS];
  for (int r = 0; r < RUNS; r++) {
    Cursor cursor;
    const double start = now_s();
    for (int k = 0; k < 1000; k++) schedule_seek(fa2, &plan, &cursor, n / 1000 * (uint64_t)k);
    seconds[r] = (now_s() - start) / 1000;
  }
  printf("seek to any of %.2g steps (N = 1M, causal): %.2f us\n", (double)n, 1e6 * quantile(seconds, RUNS, 0.5));
}

/* Starts a program of BUILD, or one by its path, output thrown away: the median of the seconds from fork to exit; the
 * memory that it took. */
static double program_s(const char *program, const char *words, long *peak_KiB) {
  const char *build = getenv("BUILD");
  char path[4096], text[256], *arguments[16] = {path};
  double seconds[RUNS];
  snprintf(path, sizeof path, "%s%s%s",
           *program == '/' ? ""
           : build         ? build
                           : "build",
           *program == '/' ? "" : "/", program);
  snprintf(text, sizeof text, "%s", words);
  for (int n = 1; (arguments[n] = strtok(n > 1 ? NULL : text, " ")); n++) {
  }
  fflush(stdout);
  for (int r = 0; r < RUNS; r++) {
    int status;
    struct rusage usage;
    const double start = now_s();
    const pid_t child = fork();
    if (child == 0) {
      if (!freopen("/dev/null", "w", stdout)) _exit(126);
      execv(path, arguments);
      _exit(127);
    }
    wait4(child, &status, 0, &usage);
    seconds[r] = now_s() - start;
    *peak_KiB = usage.ru_maxrss;
    if (status) fprintf(stderr, "bench_events: %s %s failed\n", path, words), exit(1);
  }
  return quantile(seconds, RUNS, 0.5);
}

static void bench_program(void) {
  static const struct {
    const char *program, *words, *aim;
    int beside; /* which row */
  } ROWS[] = {{"/bin/true", "", "", 0},
              {"tilewalk", "sim", "of /bin/true (aim: 3)", 0},
              {"tilewalk-full", "sim", "of /bin/true", 0},
              {"tilewalk", "sim -N 4096 --json", "of sim (aim: 10 ms)", 1},
              {"tilewalk", "sim -N 2G --heads 128 --json", "of N = 4096 (aim: not slower)", 3},
              {"tilewalk", "sim -N 1M --causal --algorithm all", "of N = 4096 (aim: the same memory)", 3}};
  double seconds[COUNT_OF(ROWS)];
  printf("from start to exit, median of %d\n", RUNS);
  for (size_t k = 0; k < COUNT_OF(ROWS); k++) {
    long KiB;
    seconds[k] = program_s(ROWS[k].program, ROWS[k].words, &KiB);
    printf("  %-14s %-36s %6.2f ms %8ld KiB %6.2fx %s\n", ROWS[k].program, ROWS[k].words, 1e3 * seconds[k], KiB,
           seconds[k] / seconds[ROWS[k].beside], ROWS[k].aim);
  }
}

int main(void) {
  bench_events();
  bench_seek();
  bench_program();
  return 0;
}
