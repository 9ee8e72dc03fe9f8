/* Warp accesses as counted on an H200; tests/commands/warp.txt has those by hand. */
#include "tests/support/test.h"
#include "sim/machine/warp.h"
#include "tests/support/open_asset.h"

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
    must(warp_check(&access, NULL));
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
