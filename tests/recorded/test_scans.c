/* The scans of assets/counters/h200/scan/first.csv, which an H200 ran and its counters counted, predicted from the same
 * lists (kernels/probes/scan_lists.h): what L2 keeps, apart from attention. Those that were counted at eight places
 * besides (pieces, scattered, rows, turns) are test_scan_places.c's. */
#include "tests/support/test.h"
#include "sim/cache/cache.h"
#include "tests/support/open_gpu.h"
#include "tests/support/recorded_rows.h"
#include "tests/support/scan_predicted.h"

enum { ROWS_MAX = SCAN_ROWS_MAX, GRANULE = 16384 };
#define MIB 1048576.0

/* Median and worst error of HBM reads. Each scan was counted at one place, and where the pieces of a working set fall
 * in the sets of L2 is luck, so the worst rows are those where L2 is full to the brim. */
static const struct {
  const char *family;
  double middle, worst;
} HOLDS[] = {{"between", 0.03, 0.08},
             {"hot", 0.02, 0.08},
             {"renewed", 0.01, 0.04},
             {"far", 0.01, 0.01},
             {"strided", 0.03, 0.14}};
enum { FAMILIES = COUNT_OF(HOLDS) };

typedef struct {
  ScanCounted rows[ROWS_MAX];
  int n, n_seen;
  Errors hbm[FAMILIES];
} Table;

/* FAMILIES: another test's. */
static int family_of(const char *name) {
  int f = strstr(name, "none") || strncmp(name, "strided one of 1 ", 17) == 0 ? FAMILIES : 0;
  while (f < FAMILIES && strncmp(name, ALL_OF(HOLDS[f].family)) != 0) f++;
  return f;
}

static void visit(void *context, const ScanList *scan) {
  Table *t = context;
  if (strstr(scan->name, " v ")) return; /* V at other places, on another card */
  t->n_seen++;
  const ScanCounted *row = scan_counted(t->rows, t->n, scan->name);
  const int f = family_of(scan->name);
  if (f == FAMILIES) return;
  const ClockResult r = scan_predicted(scan, (HierarchyConfig){.seed = 1}, 1, &PLACEMENT_H200);
  assert_near(r.bytes.read_bytes / row->boundary, 1, 0.01);
  errors_add(&t->hbm[f], r.bytes.hbm_read_bytes, row->hbm_read);
}

TEST(scans_are_predicted) {
  static Table t;
  t.n = scans_counted(t.rows, "counters/h200/scan/first.csv");
  assert_true(scan_lists_each(visit, &t));
  assert_int_equal(t.n_seen, t.n);
  for (int f = 0; f < FAMILIES; f++) {
    assert_true(t.hbm[f].n > 0);
    assert_below(errors_part(&t.hbm[f], 0.5), HOLDS[f].middle);
    assert_below(errors_part(&t.hbm[f], 1), HOLDS[f].worst);
  }
}

/* HBM bytes of a scan, in MiB. */
static double read_mib(const char *name) {
  static ScanCounted rows[ROWS_MAX];
  for (int i = 0, n = scans_counted(rows, "counters/h200/scan/first.csv"); i < n; i++)
    if (strcmp(rows[i].name, name) == 0) return rows[i].hbm_read / MIB;
  fail_msg("no scan is called '%s'", name);
  return 0;
}

/* By hand, of an LRU of 30 MiB a side. A (8 MiB), B (16), A, C, A: the last A is found as long as A and C fit, however
 * long ago A came first (first in, first out would lose it from 6 MiB of C on, as 8 + 16 + 6 fill the side); where A
 * and C fill 33, all of it is lost. */
TEST(what_is_read_again_stays_as_if_it_were_new) {
  for (int c = 4; c <= 28; c += 3) {
    const double once = 8 + 16 + c, read = read_mib(test_text("renewed a 8 b 16 c %d", c));
    if (c <= 16) assert_near(read / once, 1, 0.003);
    if (c >= 25) assert_near(read / (once + 8), 1, 0.02);
    assert_true(read > 0.999 * once && read < 1.003 * (once + 8));
  }
}

/* One CTA reads A (8 MiB), other things, A, as much else, A. Its side loses A each time; the other side, at home for
 * half of everything, gets half as much, and has the far half of A the second time (36 / 2 + 4 of 30 MiB ago) and, if
 * that request has renewed it, the third time too. */
TEST(a_request_from_the_other_side_renews) {
  const int between[] = {36, 44};
  for (int i = 0; i < 2; i++) {
    const char *name = test_text("far a 8 between %d", between[i]);
    const double near_half_twice = 2 * 4, far_half_forgotten = 4, once = 8 + 2 * between[i];
    assert_near(read_mib(name) / (once + near_half_twice), 1, 0.003);
    assert_true(read_mib(name) < 0.99 * (once + near_half_twice + far_half_forgotten));
  }
}

/* What lies side by side fills the sets of L2 evenly, and 28 MiB of it stay; of every second, fourth or sixteenth
 * granule of 16 KiB less and less does. If each lay in any set, and a set had room for 12, 24 MiB would put 9.6 there
 * on average, and P(Poisson(9.6) >= 12) = 26 % be lost a time. */
TEST(granules_apart_fill_sets_unevenly) {
  double lost[17] = {0};
  for (int stride = 1; stride <= 16; stride = stride == 4 ? 16 : 2 * stride) {
    lost[stride] = (read_mib(test_text("strided one of %d mib 24", stride)) / 24 - 1) / 2; /* two of three passes */
  }
  assert_true(lost[1] < 0.002 && read_mib("strided one of 1 mib 28") < 1.02 * 28);
  assert_true(lost[2] > 0.1 && lost[4] > 1.5 * lost[2] && lost[16] > 1.2 * lost[4] && lost[16] < 0.4);
}

static void use_granules(void *cache, const ScanList *scan) {
  if (strcmp(scan->name, "turns 256 heads 4 mib 16")) return;
  for (uint32_t i = 0; i < scan->n_ops; i++)
    cache_access_range(cache, (uint64_t)scan->ops[i] * GRANULE, GRANULE, CACHE_READ);
}

/* Turns of which an LRU of 26 of the 30 MiB would keep everything: 64 MiB would be read. */
TEST(sets_overflow_before_a_side_is_full) {
  const CacheConfig config = {.size_bytes = 26 << 20, .ways = (26 << 20) / GRANULE, .line_bytes = GRANULE};
  CacheState *cache;
  must(cache_new(&cache, &config, NULL));
  assert_true(scan_lists_each(use_granules, cache));
  assert_int_equal(cache->counts.line_misses, (64 << 20) / GRANULE);
  assert_true(read_mib("turns 256 heads 4 mib 16") > 1.5 * 64);
  free(cache);
}

/* `few N`: N CTAs read 4 MiB, of which half comes across to each side that reads; the rest is what descriptions of GPUs
 * say. */
TEST(launches_move_something_across_whatever_they_read) {
  static const char *const GPUS[][2] = {{"h200", "counters/h200/scan/first.csv"},
                                        {"h100-sxm", "counters/h100/scan/first.csv"}};
  static ScanCounted rows[ROWS_MAX];
  for (int i = 0; i < 2; i++) {
    const Gpu gpu = open_gpu(GPUS[i][0]);
    int n_few = 0;
    for (int r = 0, n = scans_counted(rows, GPUS[i][1]), ctas; r < n; r++) {
      if (sscanf(rows[r].name, "few %d", &ctas) != 1) continue;
      const double said = (double)gpu.l2_fabric_launch_bytes + ctas * (double)gpu.l2_fabric_sm_bytes,
                   counted = fmod(rows[r].fabric, 2 * MIB);
      assert_near(counted, said, 20000);
      n_few++;
    }
    assert_int_equal(n_few, 8);
  }
}
