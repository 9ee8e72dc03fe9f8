/* warp_picture.h: the lines drawn for accesses that can be followed by hand, and for random ones
 * against the counts of sim/machine/warp.h. */
#include "tests/support/test.h"
#include "tests/support/rand.h"
#include "viz/text/warp_picture.h"

static void expect(const WarpPicture *picture, const char *const *lines, int n) {
  assert_int_equal(picture->n, n);
  for (int k = 0; k < n; k++) assert_string_equal(picture->line[k], lines[k]);
}

/* 32 words three apart: 384 bytes are three lines, and every sector holds two or three of them. */
TEST(a_stride_of_three_words) {
  static const char *const LINES[] = {
      "Words of 4 bytes, 8 to a sector: █ asked for, ░ moved as well, · not moved",
      "  line 0    █░░█░░█░ ░█░░█░░█ ░░█░░█░░ █░░█░░█░",
      "  line 1    ░█░░█░░█ ░░█░░█░░ █░░█░░█░ ░█░░█░░█",
      "  line 2    ░░█░░█░░ █░░█░░█░ ░█░░█░░█ ░░█░░█░░",
      "12 sectors, 384 bytes moved for 128 that are asked for",
  };
  const WarpAccess access = warp_strided(0, 12, 4);
  WarpPicture picture;
  warp_picture_memory(&access, &picture);
  expect(&picture, LINES, 5);
}

/* The 128-byte swizzle has eight places, 16 bytes apart, and row r takes place r mod 8. */
TEST(a_swizzled_column) {
  static const char *const LINES[] = {
      "The 32 banks, bank 0 on the left: █ serves a lane, · idle",
      "  cycle 1   █···█··· █···█··· █···█··· █···█···  lanes 0 to 7",
      "  cycle 2   █···█··· █···█··· █···█··· █···█···  lanes 8 to 15",
      "  cycle 3   █···█··· █···█··· █···█··· █···█···  lanes 16 to 23",
      "  cycle 4   █···█··· █···█··· █···█··· █···█···  lanes 24 to 31",
      "4 cycles",
  };
  const WarpTile tile = {.row_bytes = 128, .swizzle = WARP_SWIZZLE_128B};
  const WarpAccess access = warp_column(&tile, 0, 4);
  WarpPicture picture;
  must(warp_picture_banks(&access, &picture, fresh_error()));
  expect(&picture, LINES, 6);
}

/* 32 cycles, of which the first seven and the last are drawn. */
TEST(a_plain_column_is_cut_short) {
  const WarpTile tile = {.row_bytes = 128};
  const WarpAccess access = warp_column(&tile, 0, 4);
  WarpPicture picture;
  must(warp_picture_banks(&access, &picture, fresh_error()));
  assert_int_equal(picture.n, 11);
  assert_string_equal(picture.line[7], "  cycle 7   █······· ········ ········ ········  lane 6");
  assert_string_equal(picture.line[8], "  ... 24 more cycles like these ...");
  assert_string_equal(picture.line[9], "  cycle 32  █······· ········ ········ ········  lane 31");
  assert_string_equal(picture.line[10], "32 cycles");
}

/* Two lanes that want the same word are served by one reading. */
TEST(a_word_serves_all_who_want_it) {
  const WarpAccess access = {.address = {0, 0, 128, 4}, .active = 0xF, .element_bytes = 4};
  WarpPicture picture;
  must(warp_picture_banks(&access, &picture, fresh_error()));
  assert_int_equal(picture.n, 4);
  assert_string_equal(picture.line[1], "  cycle 1   ██······ ········ ········ ········  2 lanes"); /* 0 and 3 */
  assert_string_equal(picture.line[2], "  cycle 2   █······· ········ ········ ········  lane 2");
}

TEST(wide_lanes_are_refused) {
  const WarpAccess access = warp_strided(0, 16, 16);
  WarpPicture picture;
  must_refuse(warp_picture_banks(&access, &picture, fresh_error()), STATUS_BAD_REQUEST, "at most 4 bytes");
}

static int columns(const char *line) {
  int n = 0;
  for (; *line; line++) n += ((unsigned char)*line & 0xC0) != 0x80;
  return n;
}

static void bounded(const WarpPicture *picture) {
  assert_in_range(picture->n, 2, WARP_PICTURE_LINES);
  for (int k = 0; k < picture->n; k++) assert_in_range(columns(picture->line[k]), 1, WARP_PICTURE_COLUMNS);
}

/* Random accesses: never too many lines nor too wide, and the sums are those of sim/machine/warp.h, which
 * counts in another way. */
TEST(sums_are_the_counted_ones) {
  Rand rand = {.state = 11};
  for (int k = 0; k < 2000; k++) {
    WarpAccess access = {.element_bytes = 1u << rand_in(&rand, 0, 4)};
    const int64_t span = (int64_t)1 << rand_in(&rand, 0, 12);
    access.active = (uint32_t)rand_next(&rand) | 1;
    for (int lane = 0; lane < WARP_LANES; lane++)
      access.address[lane] = access.element_bytes * (uint64_t)rand_in(&rand, 0, span);
    WarpPicture picture;
    warp_picture_memory(&access, &picture);
    bounded(&picture);
    assert_int_equal(strtol(picture.line[picture.n - 1], NULL, 10), warp_global(&access).sectors);
    if (warp_picture_banks(&access, &picture, fresh_error()) != STATUS_OK) {
      assert_true(access.element_bytes > WARP_BANK_BYTES);
      continue;
    }
    bounded(&picture);
    assert_int_equal(strtol(picture.line[picture.n - 1], NULL, 10), warp_shared(&access).wavefronts);
  }
}
