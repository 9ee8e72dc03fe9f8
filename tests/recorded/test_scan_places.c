/* Scans at eight places each (assets/counters/h200/scan-places/first.csv, h100/scan-places): what L2 keeps of a working
 * set depends on where its pieces lie, so what is predicted is the mean of places. */
#include "tests/support/test.h"
#include "sim/l2/l2_run.h"
#include "tests/support/scan_predicted.h"

enum { SCANS = 44, DRAWS = 4 /* places of the model */ };

typedef enum { PIECE, PIECES, SCATTERED, ROWS, HOT_ROWS, TURNS, FAMILIES } Family;

/* One scan: HBM reads over its places. */
typedef struct {
  char name[80]; /* without the place */
  double sum, least, most;
  int n;
  double predicted; /* mean */
} Scan;

typedef struct {
  ScanCounted rows[SCAN_ROWS_MAX];
  Scan scans[SCANS];
  int n_rows, n;
  double side_bytes; /* what a side of L2 has room for; 0: as an H200's */
} Table;

static Scan *scan_of(Table *t, const char *name) {
  const char *place = strstr(name, " place ");
  const int length = (int)(place ? (size_t)(place - name) : strlen(name));
  int at = 0;
  while (at < t->n && ((int)strlen(t->scans[at].name) != length || strncmp(t->scans[at].name, name, (size_t)length)))
    at++;
  assert_true(at < SCANS);
  if (at == t->n) {
    t->scans[t->n++].least = INFINITY;
    snprintf(t->scans[at].name, sizeof t->scans[at].name, "%.*s", length, name);
  }
  return &t->scans[at];
}

static void read_counted(Table *t, const char *file) {
  t->n_rows = scans_counted(t->rows, file);
  for (int i = 0; i < t->n_rows; i++) {
    Scan *s = scan_of(t, t->rows[i].name);
    s->sum += t->rows[i].hbm_read;
    s->least = fmin(s->least, t->rows[i].hbm_read);
    s->most = fmax(s->most, t->rows[i].hbm_read);
    s->n++;
  }
  assert_int_equal(t->n, SCANS);
  for (int i = 0; i < t->n; i++) assert_int_equal(t->scans[i].n, SCAN_PLACES);
}

static Table *counted(void) {
  static Table t;
  if (!t.n) read_counted(&t, "counters/h200/scan-places/first.csv");
  return &t;
}

static Family family_of(const char *name) {
  if (strncmp(name, "pieces 1 ", 9) == 0) return PIECE;
  if (strncmp(name, "pieces", 6) == 0) return PIECES;
  if (strncmp(name, "scattered", 9) == 0) return SCATTERED;
  if (strncmp(name, "turns", 5) == 0) return TURNS;
  assert_true(strncmp(name, "rows", 4) == 0);
  return strstr(name, "hot none") ? ROWS : HOT_ROWS;
}

/* Each place is one in the model too, drawn. */
static void predict(void *context, const ScanList *scan) {
  Table *t = context;
  const uint64_t place = (uint64_t)atoi(strstr(scan->name, " place ") + 7);
  assert_true(fabs(scan_counted(t->rows, t->n_rows, scan->name)->boundary) > 0);
  if (place > DRAWS) return;
  const ClockResult r = scan_predicted(scan, (HierarchyConfig){.seed = place, .side_capacity_bytes = t->side_bytes},
                                       place, &PLACEMENT_H200);
  Scan *s = scan_of(t, scan->name);
  s->predicted += r.bytes.hbm_read_bytes / DRAWS;
}

/* Of a family: the mean error of its scans, with its sign, and the worst without. */
typedef struct {
  double mean, worst;
} Holds;

static void compare(Table *t, const Holds holds[FAMILIES]) {
  double sums[FAMILIES] = {0}, worst[FAMILIES] = {0};
  int n[FAMILIES] = {0};
  assert_true(scan_lists_each_place(predict, t));
  for (int i = 0; i < t->n; i++) {
    const Scan *s = &t->scans[i];
    const Family family = family_of(s->name);
    const double mean = s->sum / SCAN_PLACES, off = s->predicted / mean - 1;
    sums[family] += off, n[family]++;
    worst[family] = fmax(worst[family], fabs(off));
  }
  for (int f = 0; f < FAMILIES; f++) {
    assert_below(fabs(sums[f] / n[f]), holds[f].mean);
    assert_below(worst[f], holds[f].worst);
  }
}

/* With eight places drawn instead of four `turns` are within 5 %. */
TEST(the_mean_of_places_is_predicted) {
  compare(counted(), (Holds[FAMILIES]){[PIECE] = {0.02, 0.03},
                                       [PIECES] = {0.01, 0.06},
                                       [SCATTERED] = {0.01, 0.05},
                                       [ROWS] = {0.015, 0.085},
                                       [HOT_ROWS] = {0.02, 0.088},
                                       [TURNS] = {0.09, 0.09}});
}

/* An H100's sides have room for all of their 25 MiB (h100/sets, tests/model/test_measured.c). */
TEST(on_an_h100_likewise) {
  static Table t = {.side_bytes = 25 << 20};
  read_counted(&t, "counters/h100/scan-places/first.csv");
  compare(&t, (Holds[FAMILIES]){[PIECE] = {0.02, 0.04},
                                [PIECES] = {0.01, 0.05},
                                [SCATTERED] = {0.015, 0.05},
                                [ROWS] = {0.01, 0.048},
                                [HOT_ROWS] = {0.045, 0.11},
                                [TURNS] = {0.09, 0.13}});
}

static double spread(const char *name) {
  const Scan *s = scan_of(counted(), name);
  return s->most / s->least;
}

/* Two pieces of 15 MiB fill sets evenly or not, as they lie: 38 to 48 MB are read; by `turns` twice as much at one
 * place as at another. Of 1500 pieces some lie well and some badly, wherever all of them are. What fits with room to
 * spare is read once. */
TEST(where_pieces_lie_decides) {
  assert_true(spread("pieces 2 mib 30") > 1.2 && spread("turns 256 heads 4 mib 16") > 1.8 &&
              spread("turns 384 heads 3 mib 24") > 1.3);
  assert_true(spread("scattered kib 16 mib 24") < 1.04 && spread("scattered kib 4096 mib 24") > 1.3);
  assert_true(spread("rows 512 heads 2 mib 16 descending forward own 1 hot none work 1000") < 1.005);
}
