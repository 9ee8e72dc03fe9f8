/* Predicts every scan of assets/counters/h200/l2-scan/first.csv and prints it beside what was counted,
 * with the median and the worst error of each column, and the time that the prediction took.
 * `bench_hierarchy all` prints every row. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include <math.h>
#include <time.h>

#include "tests/support/scan_table.h"

typedef struct {
  const char *name;
  double errors[SCAN_ROWS_MAX];
  int n;
} Column;

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void note(Column *column, double predicted, double counted) {
  column->errors[column->n++] = fabs(predicted / counted - 1);
}

static void print_column(Column *c) {
  if (!c->n) return;
  qsort(c->errors, (size_t)c->n, sizeof c->errors[0], ascending);
  printf("  %-28s %3d rows   median %5.1f %%   nine of ten within %5.1f %%   worst %5.1f %%\n", c->name, c->n,
         100 * c->errors[c->n / 2], 100 * c->errors[c->n * 9 / 10], 100 * c->errors[c->n - 1]);
}

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv) {
  static Scan rows[SCAN_ROWS_MAX];
  static Column columns[3][5]; /* in step, apart, triangular */
  static const char *const groups[] = {"in step", "starting apart", "triangular"};
  static const char *const names[] = {"HBM read", "fabric", "sectors reaching L2", "look-ups that miss", "time"};
  const int n = scan_read_table(rows);
  const bool all = argc > 1 && strcmp(argv[1], "all") == 0;
  double steps = 0;
  const double began = seconds_now();
  for (int i = 0; i < n; i++) {
    const Scan *s = &rows[i];
    const ClockResult r = scan_mean(s);
    steps += (double)r.steps;
    const double buffer = (double)s->n_tiles * SCAN_TILE_BYTES;
    double fabric = r.bytes.fabric_bytes + SCAN_FABRIC_BASE_BYTES;
    if (strstr(s->load, "256B")) fabric += SCAN_PREFETCH_256_FABRIC * r.bytes.hbm_read_bytes;
    Column *group = columns[s->walk == SCAN_TRIANGULAR ? 2 : s->phase_step ? 1 : 0];
    const bool through_l1 = strcmp(s->load, "cp.async.ca") == 0; /* two CTAs share what L1 holds: not modelled */
    note(&group[0], r.bytes.hbm_read_bytes, s->hbm_read);
    note(&group[1], fabric, s->fabric);
    if (!through_l1) {
      note(&group[2], r.l2_read_bytes, s->l2_read);
      note(&group[3], r.l2_miss_bytes, s->l2_miss);
    }
    note(&group[4], r.cycles / 1.98, s->time_ns);
    if (all)
      printf("%-10s %-20s %u CTAs %3.0f MiB x%u step %2u work %4.0f | HBM %6.2f %6.2f | fabric "
             "%6.2f %6.2f | L2 %.3f %.3f | miss "
             "%6.2f %6.2f | us %5.0f %5.0f\n",
             groups[s->walk == SCAN_TRIANGULAR ? 2
                    : s->phase_step            ? 1
                                               : 0],
             s->load, s->ctas, buffer / 1048576, s->rounds, s->phase_step, s->work_cycles, s->hbm_read / buffer,
             r.bytes.hbm_read_bytes / buffer, s->fabric / buffer, fabric / buffer, s->l2_read / s->boundary,
             r.l2_read_bytes / r.bytes.read_bytes, s->l2_miss / buffer, r.l2_miss_bytes / buffer, s->time_ns * 1e-3,
             r.cycles / 1980);
  }
  const double seconds = seconds_now() - began;
  printf("%d scans of an H200 predicted, %.1f million tile reads in %.1f s (%.0f ns each)\n", n, 1e-6 * steps, seconds,
         1e9 * seconds / steps);
  for (int g = 0; g < 3; g++) {
    printf("%s\n", groups[g]);
    for (int c = 0; c < 5; c++) {
      columns[g][c].name = names[c];
      print_column(&columns[g][c]);
    }
  }
  return n ? 0 : 1;
}
