/* The lists of the scans: what an H200 counted of them, orders by hand, and nothing outside the lists or the pool. */
#include "tests/support/test.h"
#include "tests/support/recorded_rows.h"
#include "tests/support/scan_predicted.h"

typedef struct {
  char name[80];
  double read, written; /* bytes */
} Counted;

typedef struct {
  Counted counted[SCAN_ROWS_MAX];
  int n_counted, n_scans;
  char last_name[80];
} Walk;

static void read_counted(Walk *walk, const char *file) {
  static RecordedRows table;
  for (recorded_open(&table, file); recorded_next(&table);) {
    Counted *c = &walk->counted[walk->n_counted++];
    *c = (Counted){.read = recorded_number(&table, "boundary_read_bytes"),
                   .written = 32 * recorded_number(&table, "l2_write_sectors")};
    snprintf(c->name, sizeof c->name, "%s", recorded_cell(&table, "name"));
  }
}

/* Each granule in the pool, each part in the list; and as many bytes as the counters say, but for what a launch reads
 * besides, 1 MB and 0.4 in 1,000, and a few sectors in a million. */
static void check(void *context, const ScanList *s) {
  Walk *walk = context;
  uint64_t n_read = 0, n_written = 0;
  walk->n_scans++;
  assert_null(strchr(s->name, ','));
  assert_true(strlen(s->name) < sizeof s->name - 1); /* not cut */
  assert_string_not_equal(s->name, walk->last_name);
  memcpy(walk->last_name, s->name, sizeof walk->last_name);
  bool inside = true; /* asserted once: there are millions */
  for (uint32_t i = 0; i < s->n_ops; i++)
    inside = inside && scan_op_granule(s->ops[i], SCAN_SLOTS - 1) < SCAN_POOL_GRANULES &&
             scan_op_granule(s->ops[i], s->n_ctas - 1) < SCAN_POOL_GRANULES;
  assert_true(inside);
  for (uint32_t p = 0; p < s->n_ctas * SCAN_PARTS; p++) {
    assert_true(s->parts[p].begin <= s->parts[p].end && s->parts[p].end <= s->n_ops);
    for (uint32_t i = s->parts[p].begin; i < s->parts[p].end; i++)
      if (scan_op_stores(s->ops[i]))
        n_written++;
      else
        n_read++;
  }
  const double read = (double)n_read * SCAN_GRANULE_BYTES, written = (double)n_written * SCAN_GRANULE_BYTES;
  int at = 0;
  while (at < walk->n_counted && strcmp(walk->counted[at].name, s->name)) at++;
  assert_true(at != walk->n_counted);
  const Counted *c = &walk->counted[at];
  assert_true(c->read >= read && c->read <= read * 1.0004 + 1e6 && fabs(c->written - written) <= 1e-5 * written);
}

TEST(as_many_bytes_as_a_gpu_counted) {
  static Walk here, there;
  read_counted(&here, "counters/h200/scan/fourth.csv");
  assert_true(scan_lists_each(check, &here));
  assert_int_equal(here.n_scans, here.n_counted);
  read_counted(&there, "counters/h200/scan-places/first.csv");
  assert_true(scan_lists_each_place(check, &there));
  assert_int_equal(there.n_scans, there.n_counted);
}

/* The CTA, its part, the operation of that, its granule => the scan: by hand. */
static const char *const OPS[] = {
    /* the first key in the list, and its value: of 256 of a head the last, where the walk is backward; 64 a MiB */
    "127 1 0 255 => rows 128 heads 8 mib 8 ascending backward own 2 hot write work 3000",
    "127 1 1 19455 => rows 128 heads 8 mib 8 ascending backward own 2 hot write work 3000",
    "127 1 1 4991 => rows 128 heads 8 mib 8 ascending backward own 2 hot write work 3000 v 74",
    "0 0 1 33921 => turns 256 heads 4 mib 16 v 530",
    /* a backward walk begins with the last key that it sees, of row 9 of head 1 the 20th, and ends with the first */
    "137 1 0 275 => rows 128 heads 8 mib 8 ascending backward own 0 hot none work 4000",
    "137 1 38 256 => rows 128 heads 8 mib 8 ascending backward own 0 hot none work 4000",
    /* in step the first 256 rows and the first 8 of the next head begin together: row 0 with granule 1 of 512 of K and
     * of V, row 1 with granule 3, ...; row 0 has two, and row 8 of head 1 takes its place */
    "0 0 0 1 => turns 256 heads 4 mib 16",
    "0 0 2 3 => turns 256 heads 4 mib 16",
    "0 0 3 19203 => turns 256 heads 4 mib 16",
    "0 0 526 527 => turns 256 heads 4 mib 16",
    "0 0 528 0 => turns 256 heads 4 mib 16",
    "0 0 1056 529 => turns 256 heads 4 mib 16",
};

static void find(void *context, const ScanList *s) {
  EACH_SAYS (row, OPS) {
    uint32_t cta, part, at, granule;
    if (strcmp(s->name, row.says)) continue;
    assert_int_equal(sscanf(row.text, "%u %u %u %u", &cta, &part, &at, &granule), 4);
    at += s->parts[cta * SCAN_PARTS + part].begin;
    assert_int_equal(scan_op_granule(s->ops[at], cta), granule);
    ++*(size_t *)context;
  }
}

TEST(orders_by_hand) {
  size_t n_found = 0;
  assert_true(scan_lists_each(find, &n_found));
  assert_int_equal(n_found, COUNT_OF(OPS));
}

typedef struct {
  int n_found;
  uint32_t keys[SCAN_PLACES], values[SCAN_PLACES];
} Places;

static void find_places(void *context, const ScanList *s) {
  Places *p = context;
  if (strncmp(s->name, "turns 256 heads 4 mib 16 place ", 31)) return;
  assert_int_equal(atoi(s->name + 31), p->n_found + 1);
  p->keys[p->n_found] = s->ops[0] - 1; /* the first is key 1 */
  p->values[p->n_found++] = s->ops[1] - 1;
}

/* 2 MiB are 128 granules; K and V of 32 MiB each do not overlap, and no place is another. */
TEST(test_places) {
  Places p = {0};
  assert_true(scan_lists_each_place(find_places, &p));
  assert_int_equal(p.n_found, SCAN_PLACES);
  for (int i = 0; i < SCAN_PLACES; i++) {
    assert_true(p.keys[i] % 128 == 0 && p.values[i] % 128 == 0 && p.values[i] >= p.keys[i] + 2048);
    for (int k = 0; k < i; k++) assert_true(p.keys[i] != p.keys[k] || p.values[i] != p.values[k]);
  }
}
