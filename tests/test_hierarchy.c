/* The two-sided L2 against a slow list that is searched for every access, by hand, and against the
 * laws of counting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/hierarchy.h"
#include "tests/rand.h"

static Hierarchy *make(const HierarchyConfig *config) {
  Hierarchy *h = malloc(hierarchy_state_bytes(config));
  assert_non_null(h);
  assert_int_equal(hierarchy_init(h, config, NULL), STATUS_OK);
  return h;
}

static bool near(double a, double b) {
  return fabs(a - b) <= 1e-9 * (1 + fabs(b));
}

/* --- the slow way: each side an array of half granules, last used first --- */

enum { SLOW_MAX = 4096, SLOW_EDGES = 11 };

typedef struct {
  int64_t granule;
  bool is_copy, dirty;
  int zone; /* edges that it has fallen over */
} Half;

typedef struct {
  Half halves[2][SLOW_MAX];
  int n[2];
  HierarchyCounts counts;
} Slow;

static double slow_half(const HierarchyConfig *c, int64_t granule) {
  return (granule < (int64_t)c->kinds[0].n ? c->kinds[0].bytes : c->kinds[1].bytes) / 2;
}

/* The part still there of a half that has fallen over so many edges: from the definition. */
static double slow_part(int zone) {
  if (zone >= SLOW_EDGES) return 0;
  const double part = zone ? 0.5 * erfc((-2.5 + 0.5 * zone - 0.25) / sqrt(2)) : 1;
  return part > 1 - 1.0 / 64 ? 1 : part;
}

static int slow_find(const Slow *s, int side, int64_t granule, bool is_copy) {
  for (int i = 0; i < s->n[side]; i++)
    if (s->halves[side][i].granule == granule && s->halves[side][i].is_copy == is_copy) return i;
  return SLOW_MAX;
}

static double slow_missing(const Slow *s, int side, int64_t granule, bool is_copy) {
  const int at = slow_find(s, side, granule, is_copy);
  return 1 - slow_part(at == SLOW_MAX ? SLOW_EDGES : s->halves[side][at].zone);
}

/* For each edge: as long as there are too many bytes before it, the last one there falls over it. Over the middle edge it is
 * written back; over the last it is forgotten. */
static void slow_settle(const HierarchyConfig *c, Slow *s, int side) {
  Half *halves = s->halves[side];
  for (int edge = 0; edge < SLOW_EDGES; edge++) {
    const double room = c->side_capacity_bytes + 0.5 * (edge - 5) * c->side_knee_bytes;
    double bytes = 0;
    for (int i = 0; i < s->n[side]; i++)
      if (halves[i].zone <= edge) bytes += slow_half(c, halves[i].granule);
    for (int i = s->n[side] - 1; i >= 0 && bytes > room; i--) {
      if (halves[i].zone > edge) continue;
      bytes -= slow_half(c, halves[i].granule);
      halves[i].zone = edge + 1;
      if (edge != 5) continue;
      if (halves[i].dirty) s->counts.hbm_write_bytes += slow_half(c, halves[i].granule);
      halves[i].dirty = false;
    }
  }
  while (s->n[side] > 0 && halves[s->n[side] - 1].zone == SLOW_EDGES)
    s->n[side]--;
}

static void slow_remove(Slow *s, int side, int at) {
  if (at == SLOW_MAX) return;
  s->n[side]--;
  memmove(s->halves[side] + at, s->halves[side] + at + 1, (size_t)(s->n[side] - at) * sizeof(Half));
}

static void slow_front(const HierarchyConfig *c, Slow *s, int side, Half half) {
  const int at = slow_find(s, side, half.granule, half.is_copy);
  if (at != SLOW_MAX) half.dirty |= s->halves[side][at].dirty;
  slow_remove(s, side, at);
  memmove(s->halves[side] + 1, s->halves[side], (size_t)s->n[side]++ * sizeof half);
  s->halves[side][0] = half;
  slow_settle(c, s, side);
}

static void slow_read(const HierarchyConfig *c, Slow *s, int side, int64_t granule) {
  const double half = slow_half(c, granule);
  const double home = slow_missing(s, side, granule, false);
  slow_front(c, s, side, (Half){granule, false, false, 0});
  const double copy = slow_missing(s, side, granule, true);
  slow_front(c, s, side, (Half){granule, true, false, 0});
  s->counts.read_bytes += 2 * half;
  s->counts.miss_bytes += (home + copy) * half;
  s->counts.fabric_bytes += copy * half;
  s->counts.hbm_read_bytes += home * half;
  if (copy > 0) {
    const double far = slow_missing(s, 1 - side, granule, false);
    if (far > 0.5 || c->far_requests_renew)
      slow_front(c, s, 1 - side, (Half){granule, false, false, 0});
    s->counts.hbm_read_bytes += copy * far * half;
  }
}

/* Both homes take their half; the other side's copy is dropped, one stays on the own side. */
static void slow_write(const HierarchyConfig *c, Slow *s, int own, int64_t granule) {
  s->counts.fabric_bytes += slow_half(c, granule) * (1 + 0.1 * slow_missing(s, 1 - own, granule, false)); /* the first time 5 % of the whole more */
  for (int side = 0; side < 2; side++) {
    slow_front(c, s, side, (Half){granule, false, true, 0});
    if (side != own) slow_remove(s, side, slow_find(s, side, granule, true));
  }
  slow_front(c, s, own, (Half){granule, true, false, 0});
  s->counts.write_bytes += 2 * slow_half(c, granule);
}

static void random_accesses_count_like_the_slow_lists(void **unused) {
  (void)unused;
  Rand r = {31};
  Slow *slow = malloc(sizeof *slow);
  for (int round = 0; round < 60; round++) {
    const HierarchyConfig c = {.kinds = {{(uint64_t)rand_in(&r, 1, 200), 1024}, {(uint64_t)rand_in(&r, 0, 200), round % 5 ? 1536 : 20480}},
                               .side_capacity_bytes = 512.0 * (double)rand_in(&r, 20, 300),
                               .side_knee_bytes = 512.0 * (double)rand_in(&r, 1, 6),
                               .far_requests_renew = round % 3 == 0};
    Hierarchy *h = make(&c);
    memset(slow, 0, sizeof *slow);
    int64_t granule = 0;
    double bytes = 0;
    for (int i = 0; i < 1500; i++) {
      const int64_t n = (int64_t)(c.kinds[0].n + c.kinds[1].n);
      granule = rand_in(&r, 0, 3) ? (granule + 1) % n : rand_in(&r, 0, n - 1);
      bytes += 2 * slow_half(&c, granule);
      const int side = (int)rand_in(&r, 0, 1);
      if (rand_in(&r, 0, 4)) {
        hierarchy_read(h, (uint32_t)side, (uint64_t)granule);
        slow_read(&c, slow, side, granule);
      } else {
        hierarchy_write(h, (uint32_t)side, (uint64_t)granule);
        slow_write(&c, slow, side, granule);
      }
      assert_true(near(h->counts.miss_bytes, slow->counts.miss_bytes));
      assert_true(near(h->counts.fabric_bytes, slow->counts.fabric_bytes));
      assert_true(near(h->counts.hbm_read_bytes, slow->counts.hbm_read_bytes));
      assert_true(near(h->counts.hbm_write_bytes, slow->counts.hbm_write_bytes));
    }
    assert_true(near(h->counts.read_bytes + h->counts.write_bytes, bytes));
    double dirty = 0;
    for (int side = 0; side < 2; side++)
      for (int i = 0; i < slow->n[side]; i++)
        if (slow->halves[side][i].dirty) dirty += slow_half(&c, slow->halves[side][i].granule);
    assert_true(near(hierarchy_dirty_bytes(h), dirty));
    free(h);
  }
  free(slow);
}

/* --- by hand --- */

static void the_first_reader_pays_and_the_other_side_gets_a_copy(void **unused) {
  (void)unused;
  Hierarchy *h = make(&(HierarchyConfig){.kinds = {{4, 16384}}});
  HierarchyRead read = hierarchy_read(h, 0, 2);
  assert_true(read.home_missing == 1 && read.copy_missing == 1 && read.far_missing == 1);
  assert_true(h->counts.hbm_read_bytes == 16384 && h->counts.fabric_bytes == 8192);
  read = hierarchy_read(h, 0, 2);
  assert_true(read.home_missing == 0 && read.copy_missing == 0);
  read = hierarchy_read(h, 1,
                        2); /* its home half came when side 0 asked; the other half comes across */
  assert_true(read.home_missing == 0 && read.copy_missing == 1 && read.far_missing == 0);
  assert_true(h->counts.hbm_read_bytes == 16384 && h->counts.fabric_bytes == 16384);
  assert_true(h->counts.miss_bytes ==
              16384 + 8192); /* 1.5 times the granule, as measured with CTAs apart */
  free(h);
}

/* What all read is held twice: both sides scan 40 MiB over and over and find nothing; one partition
 * of twice the size finds all of it. */
static void what_both_sides_read_has_room_on_one(void **unused) {
  (void)unused;
  for (int one_partition = 0; one_partition < 2; one_partition++) {
    const HierarchyConfig c = {.kinds = {{40 * 64, 16384}}, .one_partition = one_partition};
    Hierarchy *h = make(&c);
    for (int round = 0; round < 3; round++)
      for (uint64_t granule = 0; granule < c.kinds[0].n; granule++)
        for (uint32_t side = 0; side < 2; side++)
          hierarchy_read(h, side, granule);
    const double buffer = 40.0 * 1048576;
    assert_true(near(h->counts.hbm_read_bytes, one_partition ? buffer : 3 * buffer));
    assert_true(near(h->counts.fabric_bytes, one_partition ? 0 : 3 * buffer));
    free(h);
  }
}

/* The knee as it was measured: 28 MiB nearly fit, of 32 MiB a quarter is found, of 36 MiB nothing.
 */
static void the_knee_is_soft_and_narrow(void **unused) {
  (void)unused;
  const struct {
    uint64_t mib;
    double readings, within;
  } cases[] = {{24, 1, 0.001}, {28, 1.011, 0.012}, {32, 1.746, 0.08}, {36, 2, 0.001}};
  for (int i = 0; i < 4; i++) {
    const HierarchyConfig c = {.kinds = {{cases[i].mib * 64, 16384}}};
    Hierarchy *h = make(&c);
    for (int round = 0; round < 2; round++)
      for (uint64_t granule = 0; granule < c.kinds[0].n; granule++)
        for (uint32_t side = 0; side < 2; side++)
          hierarchy_read(h, side, granule);
    const double readings = h->counts.hbm_read_bytes / (double)(cases[i].mib << 20);
    assert_true(fabs(readings - cases[i].readings) < cases[i].within);
    free(h);
  }
}

static void stores_fetch_nothing_and_half_of_them_cross(void **unused) {
  (void)unused;
  const HierarchyConfig c = {.kinds = {{6000, 16384}}};
  Hierarchy *h = make(&c);
  hierarchy_read(h, 1, 5);
  hierarchy_write(h, 0, 5);
  assert_true(h->counts.fabric_bytes == 8192 + 8192);
  HierarchyRead read =
      hierarchy_read(h, 1, 5); /* its copy was dropped, the homes have the new bytes */
  assert_true(read.home_missing == 0 && read.copy_missing == 1 && read.far_missing == 0);
  assert_true(h->counts.hbm_write_bytes == 0);
  for (uint64_t granule = 6; granule < 6000; granule++)
    hierarchy_write(h, 0, granule);
  /* Each side holds 31.1 MiB of halves of 8 KiB, side 0 as many copies as home halves; what was stored before has been written back. */
  const double halves = floor(31.1 * 1048576 / 8192), held = (floor(halves / 2) + halves) * 8192;
  assert_true(near(h->counts.hbm_write_bytes, (6000 - 5) * 16384.0 - held));
  assert_true(h->counts.hbm_read_bytes == 16384);
  free(h);
}

/* --- laws --- */

static void counts_obey_their_laws(void **unused) {
  (void)unused;
  Rand r = {6};
  for (int round = 0; round < 20; round++) {
    const HierarchyConfig c = {.kinds = {{3000, 4096}},
                               .side_capacity_bytes = 2 << 20,
                               .side_knee_bytes = 64 << 10};
    Hierarchy *h = make(&c);
    static bool seen[3000];
    memset(seen, 0, sizeof seen);
    double compulsory = 0;
    for (int i = 0; i < 20000; i++) {
      const uint64_t granule = (uint64_t)(rand_in(&r, 0, 54) * rand_in(&r, 0, 54));
      compulsory += seen[granule] ? 0 : 4096;
      seen[granule] = true;
      hierarchy_read(h, (uint32_t)rand_in(&r, 0, 1), granule);
    }
    const HierarchyCounts *k = &h->counts;
    assert_true(k->hbm_read_bytes >= compulsory);
    assert_true(k->hbm_read_bytes <= k->miss_bytes && k->miss_bytes <= k->read_bytes);
    assert_true(k->fabric_bytes <= k->read_bytes / 2);
    assert_true(k->hbm_write_bytes == 0);
    free(h);
  }
}

static void more_room_never_reads_more(void **unused) {
  (void)unused;
  double last = 1e30;
  for (int kib = 256; kib <= 8192; kib *= 2) {
    const HierarchyConfig c = {.kinds = {{2000, 2048}},
                               .side_capacity_bytes = kib * 1024.0,
                               .side_knee_bytes = 16384};
    Hierarchy *h = make(&c);
    Rand r = {12};
    for (int i = 0; i < 30000; i++)
      hierarchy_read(h, 0, (uint64_t)(rand_in(&r, 0, 44) * rand_in(&r, 0, 44)));
    assert_true(h->counts.hbm_read_bytes <= last);
    last = h->counts.hbm_read_bytes;
    free(h);
  }
}

static void a_copy_goes_on_as_the_original_does(void **unused) {
  (void)unused;
  const HierarchyConfig c = {.kinds = {{300, 1024}},
                             .side_capacity_bytes = 65536,
                             .side_knee_bytes = 2048};
  const size_t bytes = hierarchy_state_bytes(&c);
  Hierarchy *h = make(&c), *bookmark = malloc(bytes);
  Rand r = {2};
  for (int i = 0; i < 3000; i++) {
    if (i == 1000) memcpy(bookmark, h, bytes);
    const uint64_t granule = (uint64_t)rand_in(&r, 0, 299);
    const uint32_t side = (uint32_t)rand_in(&r, 0, 1);
    for (int k = 0; k < (i >= 1000 ? 2 : 1); k++)
      if (i % 4)
        hierarchy_read(k ? bookmark : h, side, granule);
      else
        hierarchy_write(k ? bookmark : h, side, granule);
  }
  assert_memory_equal(h, bookmark, bytes);
  free(h);
  free(bookmark);
}

static void bad_configs_are_explained(void **unused) {
  (void)unused;
  const struct {
    HierarchyConfig config;
    const char *says;
  } cases[] = {
      {{.kinds = {{0, 0}}}, "0 granules"},
      {{.kinds = {{(uint64_t)1 << 40, 1024}}}, "too many"},
      {{.kinds = {{UINT64_MAX, 1024}, {1, 1024}}}, "too many"},
      {{.kinds = {{1, 0}}}, "0 bytes"},
      {{.kinds = {{1, NAN}}}, "nan bytes"},
      {{.kinds = {{1, 1024}}, .side_capacity_bytes = 1 << 20}, "0.4 of it"},
      {{.kinds = {{1, 1024}}, .side_capacity_bytes = -1}, "0.4 of it"},
      {{.kinds = {{1, 1024}}, .side_capacity_bytes = NAN}, "0.4 of it"},
      {{.kinds = {{1, 1024}}, .side_knee_bytes = NAN}, "0.4 of it"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    Error error = {0};
    Hierarchy h;
    assert_int_equal(hierarchy_init(&h, &cases[i].config, &error), STATUS_BAD_REQUEST);
    if (!strstr(error.message, cases[i].says)) fail_msg("%s", error.message);
    assert_int_equal(hierarchy_state_bytes(&cases[i].config), 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_accesses_count_like_the_slow_lists),
      cmocka_unit_test(the_first_reader_pays_and_the_other_side_gets_a_copy),
      cmocka_unit_test(what_both_sides_read_has_room_on_one),
      cmocka_unit_test(the_knee_is_soft_and_narrow),
      cmocka_unit_test(stores_fetch_nothing_and_half_of_them_cross),
      cmocka_unit_test(counts_obey_their_laws),
      cmocka_unit_test(more_room_never_reads_more),
      cmocka_unit_test(a_copy_goes_on_as_the_original_does),
      cmocka_unit_test(bad_configs_are_explained),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
