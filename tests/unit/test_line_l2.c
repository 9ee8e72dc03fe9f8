/* L2 at the grain of lines: small streams counted by hand, random ones beside an obvious model without an end. */
#include "tests/support/test.h"
#include "sim/base/splitmix.h"
#include "sim/l2/line_l2.h"

static LineL2 *l2_of(int64_t bytes, int64_t sides) {
  Gpu gpu = {.name = "test", .l2_bytes = bytes, .l2_partitions = sides, .l2_ways = 16};
  LineL2 *l2;
  must(line_l2_new(&l2, &gpu, fresh_error()));
  return l2;
}

static uint32_t sector(int s) { return 255u << 8 * s; }

TEST(pairs_and_parts) {
  LineL2 *l2 = l2_of(1 << 20, 1);
  line_l2_read(l2, 0, 0, sector(0)); /* brings sector 1 too */
  line_l2_read(l2, 0, 0, sector(1));
  line_l2_read(l2, 0, 0, sector(1) | sector(2)); /* and 3 */
  LineL2Counts c = line_l2_counts(l2);
  assert_int_equal(c.reads, 4);
  assert_int_equal(c.hits, 2);
  assert_int_equal(c.hbm_reads, 4);
  line_l2_write(l2, 0, 128, sector(0)); /* whole: nothing is fetched, and what is read later is there */
  line_l2_read(l2, 0, 128, sector(0));
  line_l2_write(l2, 0, 256, 0x0f); /* half of a sector */
  c = line_l2_counts(l2);
  assert_int_equal(c.hbm_reads, 4);
  assert_int_equal(c.hits, 3);
  assert_int_equal(c.dirty, 2);
  assert_int_equal(c.partly_written, 1);
  line_l2_write(l2, 0, 256, 0xf0); /* the other half */
  line_l2_read(l2, 0, 256, 1);
  assert_int_equal(line_l2_counts(l2).hbm_reads, 4);
  line_l2_write(l2, 0, 384, 1); /* a word, which is read again, then the rest: the pair */
  line_l2_read(l2, 0, 384, 1);
  assert_int_equal(line_l2_counts(l2).hbm_reads, 4);
  line_l2_read(l2, 0, 384, 2);
  assert_int_equal(line_l2_counts(l2).hbm_reads, 6);
  line_l2_reduce(l2, 0, 512, 1); /* reads what it adds to */
  c = line_l2_counts(l2);
  assert_int_equal(c.hbm_reads, 8);
  assert_int_equal(c.reductions, 1);
  assert_int_equal(c.hbm_writes, 0);
  assert_int_equal(c.fabric, 0);
  line_l2_free(l2);
}

/* What both sides read comes from HBM once and crosses once; what one stores leaves no old copy. */
TEST(two_sides) {
  LineL2 *l2 = l2_of(4 << 20, 2);
  const uint64_t n = 1000;
  for (int side = 0; side < 2; side++)
    for (uint64_t k = 0; k < n; k++) line_l2_read(l2, (uint32_t)side, k * 128, ~0u);
  LineL2Counts c = line_l2_counts(l2);
  assert_int_equal(c.hbm_reads, 4 * n);
  assert_int_equal(c.fabric, 4 * n);
  const uint64_t at_home = c.hits; /* of side 1: side 0 has had them fetched */
  assert_in_range(at_home, 4 * 400, 4 * 600);
  for (int side = 0; side < 2; side++)
    for (uint64_t k = 0; k < n; k++) line_l2_read(l2, (uint32_t)side, k * 128, ~0u);
  assert_int_equal(line_l2_counts(l2).hits, at_home + 8 * n);
  for (uint64_t k = 0; k < n; k++) line_l2_write(l2, 0, k * 128, ~0u);
  const uint64_t crossed = line_l2_counts(l2).fabric - c.fabric; /* stores to homes on the other side */
  assert_int_equal(crossed, at_home);
  for (uint64_t k = 0; k < n; k++) line_l2_read(l2, 1, k * 128, ~0u);
  c = line_l2_counts(l2);
  assert_int_equal(c.hbm_reads, 4 * n);
  assert_int_equal(c.fabric, 4 * n + crossed + (4 * n - crossed)); /* copies of the lines at home on side 0 */
  line_l2_free(l2);
}

/* More than it holds: what was stored is either there or in HBM; what passes twice is read twice. */
TEST(more_than_it_holds) {
  LineL2 *l2 = l2_of(1 << 20, 1);
  const uint64_t n = 4 * (1 << 20) / 128;
  for (int pass = 0; pass < 2; pass++)
    for (uint64_t k = 0; k < n; k++) line_l2_read(l2, 0, k * 128, ~0u);
  LineL2Counts c = line_l2_counts(l2);
  assert_int_equal(c.hbm_reads, 8 * n);
  for (uint64_t k = 0; k < n; k++) line_l2_write(l2, 0, k * 128, ~0u);
  c = line_l2_counts(l2);
  assert_int_equal(c.hbm_writes + c.dirty, 4 * n);
  assert_in_range(c.dirty, 1, (1 << 20) / 32);
  assert_int_equal(c.hbm_reads, 8 * n);
  line_l2_free(l2);
}

/* Bytes of an endless L2: which words are there. */
enum { LINES = 64 };
typedef struct {
  uint32_t valid[LINES], stored[LINES]; /* words */
  uint64_t hbm_reads;
} Endless;

static void endless_read(Endless *e, int line, uint32_t words) {
  uint32_t want = line_l2_sectors(words), missing = 0;
  if (!(words & ~e->stored[line])) return; /* all of it was stored */
  for (int s = 0; s < 4; s++)
    if (want >> s & 1 && (e->valid[line] & sector(s)) != sector(s)) missing |= 3u << (s & 2);
  for (int s = 0; s < 4; s++)
    if (missing >> s & 1 && (e->valid[line] & sector(s)) != sector(s)) e->hbm_reads++, e->valid[line] |= sector(s);
}

TEST(beside_an_endless_one) {
  LineL2 *l2 = l2_of(1 << 20, 1);
  Endless e = {0};
  for (uint64_t k = 0; k < 20000; k++) {
    const uint64_t r = mix(k);
    const int line = (int)(r % LINES);
    uint32_t words = (uint32_t)(r >> 32) & (uint32_t)mix(r);
    if (k % 5 == 0) words |= sector((int)(r >> 8 & 3));
    if (!words) continue;
    if (r >> 16 & 1) {
      line_l2_read(l2, 0, (uint64_t)line * 128, words);
      endless_read(&e, line, words);
    } else {
      line_l2_write(l2, 0, (uint64_t)line * 128, words);
      e.valid[line] |= words, e.stored[line] |= words;
    }
    if (k % 97 == 0) { /* soon all is there: begin again */
      line_l2_free(l2);
      l2 = l2_of(1 << 20, 1);
      e = (Endless){0};
    }
    assert_int_equal(line_l2_counts(l2).hbm_reads, e.hbm_reads);
  }
  line_l2_free(l2);
}

TEST(sectors_of_words) {
  for (uint64_t k = 0; k < 5000; k++) {
    const uint32_t words = (uint32_t)mix(k) & (uint32_t)mix(k + 9000) & (uint32_t)(mix(k + 1) >> 32);
    uint32_t slow = 0;
    for (int w = 0; w < 32; w++)
      if (words >> w & 1) slow |= 1u << w / 8;
    assert_int_equal(line_l2_sectors(words), slow);
  }
}

TEST(an_unknown_l2) {
  LineL2 *l2;
  const Gpu none = {.name = "bare"}, odd = {.name = "odd", .l2_bytes = 1 << 20, .l2_line_bytes = 64};
  assert_int_equal(line_l2_new(&l2, &none, fresh_error()), STATUS_BAD_REQUEST);
  assert_null(l2);
  assert_said("bare");
  must_refuse(line_l2_new(&l2, &odd, fresh_error()), STATUS_BAD_REQUEST, "64");
  const Gpu usual = {.name = "usual", .l2_bytes = 1 << 20, .l2_line_bytes = 128, .l2_ways = 16};
  must(line_l2_new(&l2, &usual, fresh_error()));
  line_l2_free(l2);
}
