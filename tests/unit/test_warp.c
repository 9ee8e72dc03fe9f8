/* Warp accesses worked out by hand, byte by byte, and as counted on an H200. */
#include "tests/support/test.h"
#include "sim/machine/warp.h"
#include "tests/support/open_asset.h"
#include "tests/support/rand.h"

/* --- global memory --- */

TEST(lanes_that_want_the_same_share) {
  WarpAccess access = warp_strided(64, 0, 8);
  WarpGlobal g = warp_global(&access);
  assert_int_equal(g.sectors, 1);
  assert_int_equal(g.requested_bytes, 256);
  assert_int_equal(g.used_bytes, 8);
  assert_true(g.overfetch == 4);
  access.active = 0;
  g = warp_global(&access);
  assert_int_equal(g.sectors + g.lines + g.active_lanes, 0);
  assert_true(g.overfetch == 0);
}

/* Every byte a lane asks for is marked; marks are counted byte by byte. */
TEST(random_patterns_count_as_their_bytes_do) {
  enum { SPAN = 4096 };
  Rand r = {11};
  for (int round = 0; round < 2000; round++) {
    WarpAccess access = {.element_bytes = 1u << rand_in(&r, 0, 4), .active = (uint32_t)rand_next(&r)};
    if (rand_in(&r, 0, 1)) access.active = UINT32_MAX;
    static bool asked[SPAN];
    memset(asked, 0, sizeof asked);
    const int64_t span = rand_in(&r, 1, SPAN / access.element_bytes);
    for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
      access.address[lane] = (uint64_t)rand_in(&r, 0, span - 1) * access.element_bytes;
      if (access.active >> lane & 1) memset(asked + access.address[lane], true, access.element_bytes);
    }
    uint32_t used = 0, sectors = 0, lines = 0;
    for (int line = 0; line < SPAN; line += 128) {
      bool in_line = false;
      for (int sector = line; sector < line + 128; sector += 32) {
        bool in_sector = false;
        for (int byte = sector; byte < sector + 32; byte++) used += asked[byte], in_sector |= asked[byte];
        sectors += in_sector;
        in_line |= in_sector;
      }
      lines += in_line;
    }
    const WarpGlobal g = warp_global(&access);
    assert_int_equal(g.used_bytes, used);
    assert_int_equal(g.sectors, sectors);
    assert_int_equal(g.lines, lines);
  }
}

/* --- shared memory --- */

/* The k-th 16-byte chunk of 8 rows, as a matrix fragment is read: 8-way without a swizzle, none
 * with it. */
TEST(a_swizzle_spreads_the_chunks_of_a_fragment) {
  for (uint64_t chunk = 0; chunk < 8; chunk++)
    for (int swizzled = 0; swizzled < 2; swizzled++) {
      const WarpTile tile = {.row_bytes = 128, .swizzle = swizzled ? WARP_SWIZZLE_128B : WARP_SWIZZLE_NONE};
      const WarpAccess access = warp_column(&tile, chunk, 16);
      const WarpShared s = warp_shared(&access);
      assert_int_equal(s.parts, 4); /* 8 lanes each */
      assert_int_equal(s.ways, swizzled ? 1 : 8);
      assert_int_equal(s.wavefronts, swizzled ? 4 : 32);
    }
}

/* --- swizzles --- */

/* Row r of 128 bytes holds logical chunk c at place c XOR r; narrower modes take 2 or 4 rows
 * together. */
TEST(a_swizzle_is_the_table_of_its_rows) {
  for (uint64_t offset = 0; offset < 4096; offset++) {
    assert_int_equal(warp_swizzle(offset, WARP_SWIZZLE_NONE), offset);
    for (int mode = 1; mode <= 3; mode++) {
      const uint64_t span = 16u << mode, row = offset / span, chunk = offset % span / 16;
      const uint64_t turn = row / (128 / span) % (span / 16);
      const uint64_t place = row * span + (chunk ^ turn) * 16 + offset % 16;
      assert_int_equal(warp_swizzle(offset, (WarpSwizzle)mode), place);
      assert_int_equal(warp_swizzle(place, (WarpSwizzle)mode), offset); /* its own inverse */
    }
  }
}

TEST(swizzles_have_names) {
  for (int mode = 0; mode < 4; mode++) {
    WarpSwizzle swizzle = WARP_SWIZZLE_NONE;
    assert_true(warp_swizzle_from_name(warp_swizzle_name((WarpSwizzle)mode), &swizzle));
    assert_int_equal(swizzle, mode);
  }
  WarpSwizzle unchanged = WARP_SWIZZLE_64B;
  assert_false(warp_swizzle_from_name("256B", &unchanged));
  assert_int_equal(unchanged, WARP_SWIZZLE_64B);
}

/* --- as counted on the hardware --- */

/* One row of the file; false for a comment or the heading. */
static bool read_row(const char *line, WarpAccess *access, bool *shared, const char **counts) {
  char space[8], op[4], offsets[512];
  unsigned bytes, active;
  int length = 0;
  if (sscanf(line, "%7[a-z],%3[a-z],%u,%x,%511[0-9a-f ],%n", space, op, &bytes, &active, offsets, &length) != 5)
    return false;
  *access = (WarpAccess){.active = active, .element_bytes = bytes, .is_store = strcmp(op, "st") == 0};
  const char *p = offsets;
  for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
    char *end;
    access->address[lane] = strtoull(p, &end, 16);
    assert_true(end > p);
    p = end;
  }
  *shared = strcmp(space, "shared") == 0;
  *counts = line + length;
  return true;
}

TEST(every_counted_pattern_is_predicted_exactly) {
  FILE *file = open_asset("counters/h200/warp/first.csv");
  char line[1024];
  int n_shared = 0, n_global = 0;
  while (fgets(line, sizeof line, file)) {
    WarpAccess access;
    bool shared;
    const char *counts;
    if (!read_row(line, &access, &shared, &counts)) continue;
    assert_int_equal(warp_check(&access, NULL), STATUS_OK);
    unsigned wavefronts, conflicts, sectors;
    if (shared) {
      assert_int_equal(sscanf(counts, "%u,%u,", &wavefronts, &conflicts), 2);
      const WarpShared s = warp_shared(&access);
      assert_int_equal(s.wavefronts, wavefronts);
      assert_int_equal(s.conflicts, conflicts);
      n_shared++;
    } else {
      assert_int_equal(sscanf(counts, ",,%u", &sectors), 1);
      assert_int_equal(warp_global(&access).sectors, sectors);
      n_global++;
    }
  }
  fclose(file);
  assert_int_equal(n_shared, 662);
  assert_int_equal(n_global, 172);
}

/* --- requests that are refused --- */

TEST(a_fault_names_the_lane) {
  Error error = {0};
  WarpAccess access = warp_strided(0, 6, 4);
  assert_int_equal(warp_check(&access, &error), STATUS_BAD_REQUEST);
  assert_non_null(strstr(error.message, "lane 1 asks for 4 bytes at address 6"));
  access.active = 0x55555555; /* even lanes: 0, 12, 24, ... */
  assert_int_equal(warp_check(&access, NULL), STATUS_OK);
  error = (Error){0};
  access.element_bytes = 3;
  assert_int_equal(warp_check(&access, &error), STATUS_BAD_REQUEST);
  assert_non_null(strstr(error.message, "1, 2, 4, 8 or 16"));
}
