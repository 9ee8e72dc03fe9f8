/* Which lines share a set of L2 and what it keeps of them (assets/counters/h200/sets/first.csv, h200/replacement,
 * kernels/probes/probe_sets.cu): what an H200's sets are, against what can be said without it; and an H100's
 * (h100/sets, h100/replacement). */
#include "tests/support/test.h"
#include "sim/l2/hierarchy.h"
#include "tests/support/open_asset.h"

enum { POOL_LINES = 1 << 24, LINE_BYTES = 128, PROBED = 8, LINES_MAX = 2048, PAGE_LINES = 16384 /* 2 MiB */ };

typedef struct {
  uint32_t probed;
  int hit_cycles, miss_cycles, ways, n;
  uint32_t lines[LINES_MAX]; /* all of the set, in order */
} Set;

static int by_number(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static bool read_set(char *row, Set *s) {
  int length = 0;
  if (sscanf(row, "%u,%d,%d,%d,%n", &s->probed, &s->hit_cycles, &s->miss_cycles, &s->ways, &length) != 4 || !length)
    return false;
  s->lines[0] = s->probed;
  s->n = 1;
  for (char *line = strtok(row + length, " \n"); line; line = strtok(NULL, " \n")) {
    assert_true(s->n < LINES_MAX);
    s->lines[s->n++] = (uint32_t)strtoul(line, NULL, 10);
  }
  qsort(s->lines, (size_t)s->n, sizeof *s->lines, by_number);
  return true;
}

/* Returns how many there are, PROBED at most. */
static int read_sets(Set all[PROBED], const char *name) {
  static char row[1 << 15];
  int n = 0;
  FILE *file = open_asset(name);
  while (fgets(row, sizeof row, file))
    if (n < PROBED && read_set(row, &all[n])) n++;
  fclose(file);
  return n;
}

static const Set *sets(void) {
  static Set all[PROBED];
  if (!all[0].n) assert_int_equal(read_sets(all, "counters/h200/sets/first.csv"), PROBED);
  return all;
}

static const Set *set_of(uint32_t line) {
  for (int i = 0; i < PROBED; i++)
    if (sets()[i].probed == line) return &sets()[i];
  fail_msg("line %u was not probed", line);
  return NULL;
}

static bool has(const Set *s, uint32_t line) {
  return bsearch(&line, s->lines, (size_t)s->n, sizeof line, by_number) != NULL;
}

/* 29.3 MiB a side in sets of 16 lines are 15,007 sets; each has its share of any 2^24 lines, 1,118, of which fifteen or
 * so were not found. */
TEST(sixteen_ways_make_a_side) {
  const int n_sets = 15007;
  for (int i = 0; i < PROBED; i++) {
    const Set *s = &sets()[i];
    assert_int_equal(s->ways, 16);
    assert_true(s->miss_cycles > s->hit_cycles + 100);
    assert_in_range(s->n, POOL_LINES / n_sets * 98 / 100, POOL_LINES / n_sets);
    for (int k = 1; k < s->n; k++) assert_true(s->lines[k - 1] < s->lines[k] && s->lines[k] < POOL_LINES);
  }
}

/* To share a set is mutual: who is in another's set has the same set (but for 1 % that was not found). */
TEST(sets_do_not_overlap) {
  assert_true(has(set_of(8), 64));
  for (int i = 0; i < PROBED; i++)
    for (int k = 0; k < i; k++) {
      const Set *a = &sets()[i], *b = &sets()[k];
      int shared = 0;
      for (int line = 0; line < a->n; line++) shared += has(b, a->lines[line]);
      if (has(b, a->probed))
        assert_true(shared > 0.98 * a->n);
      else
        assert_int_equal(shared, 0);
    }
}

/* How many lines of a page share the set. */
static int of_page(const Set *s, uint32_t page) {
  int n = 0;
  for (int i = 0; i < s->n; i++) n += s->lines[i] / PAGE_LINES == page;
  return n;
}

/* The bits by which a line at home and one that is held as a copy differ, where one lies near the other. */
static const uint32_t PAIRS[] = {34, 72, 178, 184, 194, 400, 402};

static bool is_paired(const Set *s, uint32_t line) {
  for (size_t i = 0; i < sizeof PAIRS / sizeof *PAIRS; i++)
    if (has(s, line ^ PAIRS[i])) return true;
  return false;
}

/* Lines come to a set in pairs, and it has room for eight of these: 3.66 MiB of addresses are a pair for each of 15,007
 * sets. So a page of 2 MiB has one for 8,192 of them, 55 %, and none for the others; a few have two. */
TEST(a_set_takes_pairs_of_lines) {
  for (int i = 0; i < PROBED; i++) {
    const Set *s = &sets()[i];
    int alone = 0, none = 0, two = 0;
    for (int k = 0; k < s->n; k++) alone += !is_paired(s, s->lines[k]);
    for (uint32_t page = 0; page < POOL_LINES / PAGE_LINES; page++) {
      const int n = of_page(s, page);
      none += n == 0, two += n == 2;
      assert_true(n <= 4);
    }
    assert_true(alone < 0.04 * s->n);
    assert_in_range(none, 1024 * 45 / 100, 1024 * 49 / 100);
    assert_in_range(two, 1024 * 47 / 100, 1024 * 51 / 100);
  }
}

/* To the nearest line of a set. */
static uint32_t distance(const Set *s, uint32_t line) {
  uint32_t least = UINT32_MAX;
  for (int i = 0; i < s->n; i++) {
    const uint32_t apart = line > s->lines[i] ? line - s->lines[i] : s->lines[i] - line;
    if (apart < least) least = apart;
  }
  return least;
}

/* What lies together shares sets with what lies together: of the lines 1 KiB apart (0 and 8) each finds the other's set
 * within 256 KiB everywhere, of those 128 KiB apart (0 and 1024) within 320; of those 1 MiB apart (0 and 8192) never.
 * So intervals of addresses are intervals of sets, and two pieces overlap whole or not at all. Were sets shuffled, half
 * of them would be further than 1 MiB. */
TEST(intervals_stay_together) {
  const Set *s = set_of(0);
  for (int i = 0; i < s->n; i++) {
    assert_true(distance(set_of(8), s->lines[i]) < 2048);
    assert_true(distance(set_of(1024), s->lines[i]) < 2560);
    assert_true(distance(set_of(8192), s->lines[i]) > 2048);
  }
}

/* --- what is drawn in the model, sim/l2/hierarchy.h, against these sets --- */

enum { PAIRS_MAX = 1024, NEAR_LINES = 2000, POOL_MIB = 2048 };

/* Where the tiles of a set lie, MiB. */
typedef struct {
  int n;
  double at[PAIRS_MAX];
} Tiles;

/* Lines near each other are one tile's: 1,472 lines apart at most, and the next tile is 3,000 away and more. Where the
 * second was not found it is counted all the same: who probes a set twice (8 and 64) finds each time 15 of its 1118
 * lines pushed out too late, and other ones. */
static Tiles tiles_of(const Set *s) {
  Tiles t = {0};
  for (int i = 0; i < s->n; i++)
    if (i == 0 || s->lines[i] - s->lines[i - 1] > NEAR_LINES) t.at[t.n++] = s->lines[i] / 8192.0;
  return t;
}

/* For each 29.3 / 8 MiB of addresses one: six of eight probed sets have 559 tiles of the 2 GiB, one 558, one 556. */
TEST(a_side_has_room_for_29_mib) {
  double sum = 0;
  for (int i = 0; i < PROBED; i++) {
    const int n = tiles_of(&sets()[i]).n;
    assert_in_range(n, 556, 559);
    sum += n;
  }
  assert_true(fabs(8 * POOL_MIB / (sum / PROBED) / (HIERARCHY_SIDE_BYTES / (1 << 20)) - 1) < 0.002);
}

/* For each 25 / 8 MiB one: it has room for all of its 50 MiB. (Two of eight lines were not found to be pushed out by so
 * few others, and not probed.) */
TEST(an_h100_has_room_for_25_mib) {
  static Set all[PROBED];
  const int n_sets = read_sets(all, "counters/h100/sets/first.csv");
  assert_int_equal(n_sets, 6);
  for (int i = 0; i < n_sets; i++) {
    assert_int_equal(all[i].ways, 16);
    assert_in_range(tiles_of(&all[i]).n, POOL_MIB * 8 / 25, POOL_MIB * 8 / 25 + 1); /* 655.4 */
  }
}

/* Probed twice, a set's lines are all in pairs. */
TEST(a_set_probed_twice_is_pairs) {
  const Set *a = set_of(8), *b = set_of(64);
  static Set both;
  both.n = 0;
  for (int i = 0; i < a->n; i++) both.lines[both.n++] = a->lines[i];
  for (int i = 0; i < b->n; i++)
    if (!has(a, b->lines[i])) both.lines[both.n++] = b->lines[i];
  qsort(both.lines, (size_t)both.n, sizeof *both.lines, by_number);
  assert_int_equal(both.n, 2 * 559);
  for (int i = 0; i < both.n; i += 2) {
    assert_true(both.lines[i + 1] - both.lines[i] < NEAR_LINES);
    assert_true(i == 0 || both.lines[i] - both.lines[i - 1] > NEAR_LINES);
  }
}

/* How many of a set lie in a window of so many MiB, wherever it begins: sums of their number and its square. */
static void add_windows(const Tiles *t, double mib, double sums[3]) {
  int first = 0, end = 0;
  for (double begin = 0; begin + mib < POOL_MIB - 1; begin++) {
    while (first < t->n && t->at[first] < begin) first++;
    while (end < t->n && t->at[end] < begin + mib) end++;
    const double n = end - first;
    sums[0] += 1, sums[1] += n, sums[2] += n * n;
  }
}

static double variance(const double sums[3]) { return sums[2] / sums[0] - pow(sums[1] / sums[0], 2); }

static double variance_found(double mib) {
  double sums[3] = {0};
  for (int i = 0; i < PROBED; i++) {
    const Tiles t = tiles_of(&sets()[i]);
    add_windows(&t, mib, sums);
  }
  return variance(sums);
}

static double variance_drawn(const Tiles *tiles, uint32_t n, double mib) {
  double sums[3] = {0};
  for (uint32_t set = 0; set < n; set++) add_windows(&tiles[set], mib, sums);
  return variance(sums);
}

/* By how much sets differ in how much of a piece each has: a third to a half of a tile squared, from pieces of 2 MiB to
 * those of 40 (were each set's share drawn anew it would be as many tiles squared as there are; did each have one of
 * every 3.66 MiB, a third). TILEWALK_DEPTH=2 prints them. */
TEST(sets_differ_as_those_that_are_drawn) {
  enum { GRANULE_BYTES = 16384, SETS_MOST = 256, LENGTHS = 20 };
  static const double lengths_mib[LENGTHS] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 24, 28, 32, 36, 40};
  static Tiles tiles[SETS_MOST];
  const HierarchyConfig config = {
      .kinds = {{.n = (uint64_t)POOL_MIB * 1048576 / GRANULE_BYTES, .bytes = GRANULE_BYTES}}};
  Hierarchy *h = malloc(hierarchy_state_bytes(&config));
  assert_non_null(h);
  assert_int_equal(hierarchy_init(h, &config, NULL), STATUS_OK);
  assert_in_range(h->n_sets, 1, SETS_MOST);
  for (uint64_t granule = 0; granule < config.kinds[0].n; granule++) {
    Tiles *t = &tiles[hierarchy_set(h, granule, 0)];
    assert_true(t->n < PAIRS_MAX);
    t->at[t->n++] = (double)granule * GRANULE_BYTES / 1048576;
  }
  double off = 0;
  for (int i = 0; i < LENGTHS; i++) {
    const double found = variance_found(lengths_mib[i]), drawn = variance_drawn(tiles, h->n_sets, lengths_mib[i]);
    if (test_depth() > 1) print_message("%4g MiB: %.3f, drawn %.3f\n", lengths_mib[i], found, drawn);
    assert_true(fabs(drawn - found) < 0.08);
    off += fabs(drawn - found) / LENGTHS;
  }
  assert_true(off < 0.03);
  free(h);
}

/* LRU of 16, and no other policy that is known: of lines read in a circle 16 stay and of 17 not one is found; a line
 * that was found again outlives 15 others from then on, whatever came before, and not 16 (were the oldest pushed out, 8
 * would be too many). A read in 50 takes longer though its line is there. */
static void keeps_what_was_used_last(const char *name) {
  char row[64], order[8];
  int n_rows = 0;
  FILE *file = open_asset(name);
  while (fgets(row, sizeof row, file)) {
    int n, reads, hits;
    if (sscanf(row, "%7[a-z],%d,%d,%d", order, &n, &reads, &hits) != 4) continue;
    n_rows++;
    const int most_that_stay = strcmp(order, "circle") == 0 ? 16 : 15;
    assert_true(reads >= 20);
    if (n <= most_that_stay)
      assert_true(hits >= 0.95 * reads);
    else
      assert_int_equal(hits, 0);
  }
  fclose(file);
  assert_int_equal(n_rows, 2 * 21);
}

TEST(a_set_keeps_what_was_used_last) {
  keeps_what_was_used_last("counters/h200/replacement/first.csv");
  keeps_what_was_used_last("counters/h100/replacement/first.csv");
}
