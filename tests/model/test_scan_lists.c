/* The lists of the scans: counts worked out by hand, and nothing outside the lists or the pool. */
#include "tests/support/test.h"
#include "kernels/counters/scan_lists.h"
#include "tests/support/alloc_fail.h"

typedef struct {
  const char *name; /* of the one wanted */
  bool found;
  uint64_t reads, stores, first_cta, last_cta, distinct; /* granules; in all, and those of two CTAs */
  unsigned char touched[SCAN_POOL_GRANULES];
} Count;

static Status count_named(void *context, const ScanList *s, Error *error) {
  (void)error;
  Count *n = context;
  if (strcmp(s->name, n->name)) return STATUS_OK;
  n->found = true;
  for (uint32_t c = 0; c < s->n_ctas; c++)
    for (uint32_t k = 0; k < SCAN_PARTS; k++) {
      const ScanPart part = s->parts[c * SCAN_PARTS + k];
      for (uint32_t at = part.begin; at < part.end; at++) {
        const uint32_t granule = scan_op_granule(s->ops[at], c);
        if (scan_op_stores(s->ops[at]))
          n->stores++;
        else
          n->reads++;
        n->first_cta += c == 0;
        n->last_cta += c == s->n_ctas - 1;
        n->distinct += !n->touched[granule];
        n->touched[granule] = 1;
      }
    }
  return STATUS_OK;
}

static void expect(const char *name, uint64_t reads, uint64_t stores, uint64_t first_cta, uint64_t last_cta,
                   uint64_t distinct) {
  Count *n = calloc(1, sizeof *n);
  assert_non_null(n);
  n->name = name;
  assert_int_equal(scan_lists_each(count_named, n, NULL), STATUS_OK);
  if (!n->found) fail_msg("no scan is called '%s'", name);
  assert_int_equal(n->reads, reads);
  assert_int_equal(n->stores, stores);
  assert_int_equal(n->first_cta, first_cta);
  assert_int_equal(n->last_cta, last_cta);
  assert_int_equal(n->distinct, distinct);
  free(n);
}

/* 64 granules a MiB, read twice by each of 264 CTAs, however many pieces they lie in. */
TEST(test_a_buffer_read_twice) {
  expect("pieces 1 mib 20 seed 1", 264 * 2 * 1280, 0, 2560, 2560, 1280);
  expect("pieces 8 mib 34 seed 3", 264 * 2 * 2176, 0, 4352, 4352, 2176);
  expect("scattered kib 16 mib 36", 264 * 2 * 2304, 0, 4608, 4608, 2304);
  expect("scattered kib 256 mib 28", 264 * 2 * 1792, 0, 3584, 3584, 1792);
}

/* A of 16 MiB twice, and 6 granules of the CTA's own between. */
TEST(test_own_granules_between) {
  expect("between read a 16 own 6", 264 * (2048 + 6), 0, 2054, 2054, 1024 + 264 * 6);
  expect("between write a 24 own 1", 264 * 3072, 264, 3073, 3073, 1536 + 264);
}

/* R rows of a head read g, 2 g, ..., R g granules of K and as many of V: g R (R + 1) a head. */
TEST(test_rows) {
  expect("rows 256 heads 4 mib 16 ascending backward own 2 hot none work 3000", 4u * 2 * 256 * 257 + 1024 * 2, 1024 * 2,
         4 + 4, 1024 + 4, 4 * 1024 + 1024 * 4);
  expect("rows 512 heads 2 mib 32 descending forward own 2 hot none work 1000", 2u * 2 * 512 * 513 + 1024 * 2, 1024 * 2,
         2048 + 4, 4 + 4, 2 * 2048 + 1024 * 4);
  /* With a hot granule: half as many again, and the CTA's own granule of Q is no new one. */
  expect("rows 1024 heads 2 mib 32 ascending forward own 1 hot read work 3000", 3u * 1024 * 1025 + 2048, 2048, 3 + 2,
         3072 + 2, 2 * 2048 + 2048 * 2);
  /* Stored instead: one for each of the 264 slots. */
  expect("rows 128 heads 8 mib 8 ascending backward own 2 hot write work 3000", 8u * 2 * 128 * 129 + 1024 * 2,
         8u * 128 * 129 + 1024 * 2, 6 + 4, 768 + 4, 8 * 512 + 1024 * 4 + 264);
}

static Status find_v(void *context, const ScanList *s, Error *error) {
  (void)error;
  Count *n = context;
  if (strcmp(s->name, n->name)) return STATUS_OK;
  n->found = true;
  n->first_cta = scan_op_granule(s->ops[0], 0);
  n->last_cta = scan_op_granule(s->ops[1], 0);
  return STATUS_OK;
}

/* The first key in the list, and its value: of 256 of a head the last, where the walk is backward; of the two of the
 * first row the second. 64 a MiB. */
TEST(test_v_elsewhere) {
  static const char *const NAMES[] = {"rows 128 heads 8 mib 8 ascending backward own 2 hot write work 3000",
                                      "rows 128 heads 8 mib 8 ascending backward own 2 hot write work 3000 v 74",
                                      "turns 256 heads 4 mib 16 v 530"};
  static const uint64_t KEYS[] = {255, 255, 1}, V_MIB[] = {300, 74, 530};
  Count *n = calloc(1, sizeof *n);
  assert_non_null(n);
  for (int i = 0; i < 3; i++) {
    n->name = NAMES[i];
    n->found = false;
    assert_int_equal(scan_lists_each(find_v, n, NULL), STATUS_OK);
    assert_true(n->found);
    assert_int_equal(n->first_cta, KEYS[i]);
    assert_int_equal(n->last_cta, V_MIB[i] * 64 + KEYS[i]);
  }
  free(n);
  expect(NAMES[1], 8u * 2 * 128 * 129 + 1024 * 2, 8u * 128 * 129 + 1024 * 2, 6 + 4, 768 + 4, 8 * 512 + 1024 * 4 + 264);
}

TEST(test_stores) {
  expect("stores own 2 times 1", 0, 264 * 2, 2, 2, 264 * 2);
  expect("stores own 16 times 2", 0, 264 * 32, 32, 32, 264 * 16);
}

/* A (8 MiB), B (16 MiB), A, C, A; of a stride of 16, granules 0, 16, ... */
TEST(test_what_l2_keeps) {
  expect("renewed a 8 b 16 c 13", 264u * 64 * (8 + 16 + 8 + 13 + 8), 0, 64 * 53, 64 * 53, 64 * (8 + 16 + 13));
  expect("far a 8 between 36", 64 * (3 * 8 + 2 * 36), 0, 64 * 96, 64 * 96, 64 * (8 + 2 * 36));
  expect("strided one of 16 mib 24", 264u * 3 * 1536, 0, 3 * 1536, 3 * 1536, 1536);
}

/* One CTA reads what all CTAs of these rows read. In step the first 256 rows and the first 8 of the next head begin
 * together: row 0 with granule 1 of 512 of K and of V, row 1 with granule 3, ... */
static Status check_turns(void *context, const ScanList *s, Error *error) {
  (void)error;
  if (strcmp(s->name, "turns 256 heads 4 mib 16")) return STATUS_OK;
  assert_int_equal(s->ops[0], 1);
  assert_int_equal(s->ops[2], 3);
  assert_int_equal(s->ops[3], s->ops[2] + 300 * 64); /* V */
  assert_int_equal(s->ops[2 * 263], 512 + 15);
  assert_int_equal(s->ops[2 * 264], 0);            /* the second step of row 0 */
  assert_int_equal(s->ops[2 * 2 * 264], 512 + 17); /* it had two; row 8 of head 1 takes its place */
  *(bool *)context = true;
  return STATUS_OK;
}

TEST(test_turns) {
  bool found = false;
  expect("turns 256 heads 4 mib 16", 4u * 2 * 256 * 257, 0, 4u * 2 * 256 * 257, 4u * 2 * 256 * 257, 4 * 1024);
  expect("turns 384 heads 3 mib 24", 3u * 2 * 384 * 385, 0, 3u * 2 * 384 * 385, 3u * 2 * 384 * 385, 3 * 1536);
  assert_int_equal(scan_lists_each(check_turns, &found, NULL), STATUS_OK);
  assert_true(found);
}

/* A CTA of a backward walk begins with the last key it sees and ends with the first of its head. */
static Status check_order(void *context, const ScanList *s, Error *error) {
  (void)error;
  if (strcmp(s->name, "rows 128 heads 8 mib 8 ascending backward own 0 hot none work 4000")) return STATUS_OK;
  const ScanPart walk = s->parts[(128 + 9) * SCAN_PARTS + 1]; /* row 9 of head 1; 256 granules of K a head, 2 a row */
  assert_int_equal(walk.end - walk.begin, 40);
  assert_int_equal(scan_op_granule(s->ops[walk.begin], 137), 256 + 19);
  assert_int_equal(scan_op_granule(s->ops[walk.end - 2], 137), 256);
  *(bool *)context = true;
  return STATUS_OK;
}

TEST(test_backward) {
  bool found = false;
  assert_int_equal(scan_lists_each(check_order, &found, NULL), STATUS_OK);
  assert_true(found);
}

typedef struct {
  uint32_t n_scans;
  uint64_t hash;
  char last_name[80];
} Walk;

static uint64_t mixed(uint64_t hash, uint64_t x) { return (hash ^ x) * 0x100000001b3u; /* FNV-1a */ }

static Status check_bounds(void *context, const ScanList *s, Error *error) {
  (void)error;
  Walk *walk = context;
  walk->n_scans++;
  assert_null(strchr(s->name, ','));
  assert_true(strlen(s->name) < sizeof s->name - 1); /* not cut */
  assert_string_not_equal(s->name, walk->last_name);
  memcpy(walk->last_name, s->name, sizeof walk->last_name);
  for (uint32_t i = 0; i < s->n_ops; i++) {
    walk->hash = mixed(walk->hash, s->ops[i]);
    assert_true(scan_op_granule(s->ops[i], SCAN_SLOTS - 1) <
                SCAN_POOL_GRANULES); /* of the last slot and of the last CTA */
    assert_true(scan_op_granule(s->ops[i], s->n_ctas - 1) < SCAN_POOL_GRANULES);
  }
  for (uint32_t c = 0; c < s->n_ctas; c++)
    for (uint32_t k = 0; k < SCAN_PARTS; k++) {
      const ScanPart part = s->parts[c * SCAN_PARTS + k];
      assert_true(part.begin <= part.end && part.end <= s->n_ops);
      walk->hash = mixed(mixed(walk->hash, part.begin), part.end);
    }
  return STATUS_OK;
}

typedef struct {
  int n_found;
  uint32_t keys[SCAN_PLACES], values[SCAN_PLACES];
} Places;

static Status find_places(void *context, const ScanList *s, Error *error) {
  (void)error;
  Places *p = context;
  if (strncmp(s->name, "turns 256 heads 4 mib 16 place ", 31)) return STATUS_OK;
  assert_int_equal(atoi(s->name + 31), p->n_found + 1);
  assert_int_equal(s->n_ops, 4u * 2 * 256 * 257);
  p->keys[p->n_found] = s->ops[0] - 1; /* the first is key 1 */
  p->values[p->n_found++] = s->ops[1] - 1;
  return STATUS_OK;
}

/* 2 MiB are 128 granules; K and V of 32 MiB each do not overlap, and no place is another. */
TEST(test_places) {
  Places p = {0};
  Walk walk = {0};
  assert_int_equal(scan_lists_each_place(find_places, &p, NULL), STATUS_OK);
  assert_int_equal(p.n_found, SCAN_PLACES);
  for (int i = 0; i < SCAN_PLACES; i++) {
    assert_true(p.keys[i] % 128 == 0 && p.values[i] % 128 == 0 && p.values[i] >= p.keys[i] + 2048);
    for (int k = 0; k < i; k++) assert_true(p.keys[i] != p.keys[k] || p.values[i] != p.values[k]);
  }
  assert_int_equal(scan_lists_each_place(check_bounds, &walk, NULL), STATUS_OK);
  assert_int_equal(walk.n_scans, SCAN_PLACES * (16 + 2 + 16 + 10));
}

/* Every granule in the pool, every part in the list; and the same scans each time. */
TEST(test_bounds_and_sameness) {
  Walk first = {0}, second = {0};
  assert_int_equal(scan_lists_each(check_bounds, &first, NULL), STATUS_OK);
  assert_int_equal(scan_lists_each(check_bounds, &second, NULL), STATUS_OK);
  assert_int_equal(first.n_scans, 80 + 15 + 36 + 37 + 8 + 8 + 27 + 9 + 3 + 16 + 2 + 6 * 12);
  assert_int_equal(first.hash, second.hash);
}

static Status stop_at_third(void *context, const ScanList *s, Error *error) {
  (void)s;
  return ++*(int *)context == 3 ? error_set(error, STATUS_BAD_REQUEST, "enough") : STATUS_OK;
}

TEST(test_visitor_stops) {
  int n = 0;
  Error error = {0};
  assert_int_equal(scan_lists_each(stop_at_third, &n, &error), STATUS_BAD_REQUEST);
  assert_int_equal(n, 3);
  assert_string_equal(error.message, "enough");
}

static Status ignore(void *context, const ScanList *s, Error *error) {
  (void)context, (void)s, (void)error;
  return STATUS_OK;
}

static Status all_of_them(void *context, Error *error) { return scan_lists_each(ignore, context, error); }

TEST(test_no_memory) { assert_true(alloc_fail_each(all_of_them, NULL) >= 1); }
