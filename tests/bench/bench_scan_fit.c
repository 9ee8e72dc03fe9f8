/* How well what is known of an H200's L2 says what scans read: the errors of HBM reads, the root of their mean square,
 * over the lists of h200/scan (those at other places, h200/scan/fourth.csv, as one), and over the means of the
 * eight places of h200/scan-places. None of it was chosen by these; how much worse other numbers would be:
 *
 *     bench_scan_fit          the numbers of the model (sim/l2/hierarchy.h)
 *     bench_scan_fit grid     those about them, half an hour, line by line
 *     bench_scan_fit 29 14    29 MiB, 14 lines to a set
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "sim/l2/hierarchy.h"
#include "tests/support/scan_predicted.h"

enum { DRAWS = 4 /* of where a list lies in the model, a mean */ };
#define MIB 1048576.0

/* Bytes read from HBM, over the places of a list. */
typedef struct {
  char name[80]; /* without the place */
  double counted, predicted;
} Scan;

typedef struct {
  HierarchyConfig l2;
  ScanCounted here[SCAN_ROWS_MAX], elsewhere[SCAN_ROWS_MAX];
  int n_here, n_elsewhere, n;
  uint64_t n_drawn;
  Scan scans[SCAN_ROWS_MAX];
} Fit;

static Scan *scan_of(Fit *f, const char *name, size_t length) {
  int at = 0;
  while (at < f->n && (strlen(f->scans[at].name) != length || strncmp(f->scans[at].name, name, length))) at++;
  assert_true(at < SCAN_ROWS_MAX);
  if (at < f->n) return &f->scans[at];
  Scan *s = &f->scans[f->n++];
  *s = (Scan){.counted = 0};
  memcpy(s->name, name, length);
  return s;
}

static void add(Fit *f, const ScanList *scan, const char *place, const ScanCounted *counted, const Placement *card) {
  char name[80];
  snprintf(name, sizeof name, "%s", scan->name);
  Scan *s = scan_of(f, name, place ? (size_t)(place - scan->name) : strlen(name));
  s->counted += counted->hbm_read;
  for (int draw = 0; draw < DRAWS; draw++) {
    f->l2.seed = ++f->n_drawn;
    s->predicted += scan_predicted(scan, f->l2, f->l2.seed, card).bytes.hbm_read_bytes / DRAWS;
  }
}

static void add_scan(void *context, const ScanList *scan) {
  Fit *f = context;
  const char *place = strstr(scan->name, " v ");
  if (strncmp(scan->name, "few", 3) == 0 || strncmp(scan->name, "stores", 6) == 0)
    return; /* of coalescing and of stores */
  add(f, scan, place,
      place ? scan_counted(f->elsewhere, f->n_elsewhere, scan->name) : scan_counted(f->here, f->n_here, scan->name),
      place ? &PLACEMENT_H200_FOURTH : &PLACEMENT_H200);
}

static void add_place(void *context, const ScanList *scan) {
  Fit *f = context;
  add(f, scan, strstr(scan->name, " place "), scan_counted(f->here, f->n_here, scan->name), &PLACEMENT_H200);
}

static double error_of(const Fit *f) {
  double sum = 0;
  for (int i = 0; i < f->n; i++) sum += pow(f->scans[i].predicted / f->scans[i].counted - 1, 2);
  return sqrt(sum / f->n);
}

/* Prints a line. */
static void fit(double room_mib, double lines) {
  static Fit lists, places;
  const HierarchyConfig l2 = {.side_capacity_bytes = room_mib * MIB, .side_ways = lines};
  lists.l2 = places.l2 = l2;
  lists.n = places.n = 0;
  lists.n_drawn = places.n_drawn = 0;
  lists.n_here = scans_counted(lists.here, "counters/h200/scan/first.csv");
  lists.n_elsewhere = scans_counted(lists.elsewhere, "counters/h200/scan/fourth.csv");
  places.n_here = scans_counted(places.here, "counters/h200/scan-places/first.csv");
  assert_true(scan_lists_each(add_scan, &lists));
  assert_true(scan_lists_each_place(add_place, &places));
  const double a = error_of(&lists), b = error_of(&places), both = sqrt((a * a + b * b) / 2);
  printf("%6g MiB, %2g lines to a set: %d lists %5.2f %%, %d means of places %5.2f %%, together %5.2f %%\n", room_mib,
         lines, lists.n, 100 * a, places.n, 100 * b, 100 * both);
  fflush(stdout);
}

static void fit_grid(void) {
  for (double room_mib = 28.8; room_mib < 29.7; room_mib += 0.2)
    for (double lines = 12; lines < 21; lines += 4) fit(room_mib, lines);
}

static int n_args;
static char **args;

static void print_fits(void **state) {
  (void)state;
  if (n_args == 2 && strcmp(args[1], "grid") == 0)
    fit_grid();
  else if (n_args == 3)
    fit(atof(args[1]), atof(args[2]));
  else
    fit(HIERARCHY_SIDE_BYTES / MIB, HIERARCHY_SET_LINES);
}

int main(int argc, char **argv) {
  n_args = argc, args = argv;
  const struct CMUnitTest tests[] = {cmocka_unit_test(print_fits)};
  return cmocka_run_group_tests_name("scan fit", tests, NULL, NULL);
}
