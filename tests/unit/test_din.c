/* Dinero traces: each form of a line by hand, each mistake with its line number, any cutting into
 * pieces, and the same counts as one cache access a record. */
#include "tests/support/test.h"
#include "sim/cache/din.h"
#include "tests/support/make_cache.h"
#include "tests/support/rand.h"

enum { MOST = 64 };

static size_t parse_all(const char *text, DinRecord *records, Error *error, Status expected) {
  DinParser parser = {0};
  size_t n, used;
  assert_int_equal(din_parse(&parser, ALL_OF(text), true, records, MOST, &n, &used, error), expected);
  if (expected == STATUS_OK) assert_int_equal(used, strlen(text));
  return n;
}

TEST(lines_in_every_form) {
  /* the label by its number, the address in hexadecimal, the size: din has no sizes, but words; lackey's are decimal,
   * as
   * CSV's without 0x */
  static const char *const cases[] = {"0 0 => 0 0 4",
                                      "1 70f60888 decoded as a store => 1 70f60888 4",
                                      "0 2000 bad => 0 2000 4",
                                      "0 1000 dead code => 0 1000 4",
                                      "0 1000 80 => 0 1000 4",
                                      "0 1003 => 0 1000 4",
                                      "2 0X40 => 2 40 4",
                                      "3 40 other => 3 40 4",
                                      "4 0 flush => 9 0 1",
                                      "w 7f3a80 80 => 1 7f3a80 128",
                                      "r 7f3a83 80 from here => 0 7f3a83 128",
                                      "W 10 8 => 1 10 8",
                                      "m 10 8 => 3 10 8",
                                      "c 10 8 => 5 10 8",
                                      "v 10 8 => 6 10 8",
                                      "c 0 0 => 7 0 1",
                                      "v 0 0 => 8 0 1",
                                      " \t r\tDEADbeef   0x10 \t => 0 deadbeef 16",
                                      "w ffffffffffffffff 1 => 1 ffffffffffffffff 1",
                                      "i 1#no blank needed => 2 1 4",
                                      "r 10 8 # a comment => 0 10 8",
                                      "r 10 20\r => 0 10 32",
                                      "r 00000000000000000000000000000012 1 => 0 12 1",
                                      "r 123456789abcdef 1 => 0 123456789abcdef 1",
                                      "r 123456789abcdef0 1 => 0 123456789abcdef0 1",
                                      "r 0 1000000 => 0 0 16777216",
                                      " L 10,1 => 0 10 1",
                                      " S 1ffeffe7e,8 => 1 1ffeffe7e 8",
                                      " M 20,16 => 4 20 16",
                                      "L 10,1 => 0 10 1",
                                      "read,0x1000,64 => 0 1000 64",
                                      "W, 4096, 64 => 1 1000 64",
                                      "store,0x10 => 1 10 4",
                                      "0x1000,w,64 => 1 1000 64",
                                      "0x1000,64 => 0 1000 64",
                                      "0x1000,64,store => 1 1000 64",
                                      "\"load\",\"0x1000\",\"32\" => 0 1000 32",
                                      "size,address,op\n32,0x40,w => 1 40 32",
                                      "time,addr,bytes\n1.5,64,32 => 0 40 32",
                                      "==12== Lackey, an example\n L 10,1 => 0 10 1",
                                      "\xef\xbb\xbf"
                                      "0 1000 => 0 1000 4",
                                      "0,0x1000,64 => 0 1000 64",
                                      "tick,cmd,addr,size\n0,w,4096,64 => 1 1000 64"};
  EACH (i, cases)
    for (int longer = 0; longer < 2; longer++) { /* at the end of the text, and with much behind it */
      DinRecord records[MOST];
      const TextSays row = test_says(cases[i]);
      uint64_t address;
      unsigned label, size;
      char text[256];
      assert_int_equal(sscanf(row.says, "%u %" SCNx64 " %u", &label, &address, &size), 3);
      snprintf(text, sizeof text, "%s\n%s", row.text, longer ? "# and then a line that is long enough\n" : "");
      assert_int_equal(parse_all(text, records, NULL, STATUS_OK), 1);
      assert_int_equal(records[0].label, label);
      assert_int_equal(records[0].address, address);
      assert_int_equal(records[0].size_bytes, size);
    }
}

/* Sizes are hexadecimal, but 128 can only be meant in decimal: 0x128 is no power of two. */
TEST(a_power_of_two_is_known_in_either_spelling) {
  for (uint32_t size = 1; size <= DIN_SIZE_MAX; size *= 2)
    for (int decimal = 0; decimal < 2; decimal++)
      for (int padded = 0; padded < 2; padded++) {
        DinRecord records[MOST];
        assert_int_equal(parse_all(test_text(decimal ? "r 0 %u\n%s" : "r 0 0%x\n%s", size,
                                             padded ? "#                              \n" : ""),
                                   records, NULL, STATUS_OK),
                         1);
        assert_int_equal(records[0].size_bytes, size);
      }
  DinRecord records[MOST];
  parse_all("r 0 0x128", records, NULL, STATUS_OK);
  assert_int_equal(records[0].size_bytes, 0x128);
  parse_all("r 0 24", records, NULL, STATUS_OK); /* no power of two either way */
  assert_int_equal(records[0].size_bytes, 36);
}

TEST(a_mistake_is_named_with_its_line) {
  static const char *const cases[] = {
      "0 10\n\n# c\n9 10\n => trace line 4: '9' is no label",
      "00 10\n => trace line 1: '00' is no label",
      "r 10 4\nr xyz 4\n => trace line 2: 'xyz' is no address",
      "0\n => '' is no address",
      "0 0x\n => '0x' is no address",
      "0 11112222333344445 4\n => '11112222333344445' is no address",
      "r 10 4z\n => '4z' is no size",
      "r 10 load\n => 'load' is no size",
      "r 10 add\n => 'add' may be a size or the first word of a comment",
      "r 10 0\n => a size of 0 bytes",
      "r 10 1000001\n => a size of 16777217 bytes",
      "r ffffffffffffffff 2\n => run past the end of the address space",
      "0 \x1b[31m 2\n => '?[31m' is no address",
      " L 10,1\n L 10\n => trace line 2: '10' is no address with a comma behind it",
      " L 10,1\n X 10,1\n => trace line 2: 'X' is no label",
      " L 10,1\n L 10,0x4\n => trace line 2: '0x4' is no size",
      "read,0x10,4\njump,0x10,4\n => trace line 2: 'jump' is no operation",
      "read,0x10,4\nread,10a0,4\n => trace line 2: '10a0' is no address (hexadecimal ones begin with 0x)",
      "read,0x10,4\nread\n => trace line 2: 'read' is no line with all columns",
      "read,0x10,4\nread,0x10,four\n => trace line 2: 'four' is no size",
      "0,r,4096,64,0,1000\n => trace line 1: which of these 6 columns is the address is not guessed",
      "0,4096,64\n => which of these 3 columns",
      "4096\t64,r\n => which of these 2 columns"};
  EACH_SAYS (row, cases) {
    const int n_good = strchr(row.text, '\n')[1] != '\0'; /* the first of several lines */
    DinRecord records[MOST];
    assert_int_equal(parse_all(row.text, records, fresh_error(), STATUS_BAD_FILE), n_good);
    assert_said(row.says);
  }
}

/* What follows an address of din may have been meant as a size where it is one number, and nothing else. */
TEST(comments_that_could_be_sizes_are_counted) {
  static const char TEXT[] = "0 10 80\n0 10\n0 10 read\n0 10 4 bytes\n0 10 8 # eight\n";
  DinParser parser = {0};
  DinRecord records[MOST];
  size_t n, used;
  must(din_parse(&parser, TEXT, sizeof TEXT - 1, true, records, MOST, &n, &used, NULL));
  assert_int_equal(n, 5);
  assert_int_equal(parser.n_numbers, 2);
}

TEST(an_endless_line_is_refused_early) {
  char text[DIN_LINE_BYTES_MAX + 2];
  memset(text, ' ', sizeof text);
  DinParser parser = {.line = 41};
  DinRecord record;
  size_t n, used;
  must_refuse(din_parse(&parser, text, sizeof text, false, &record, 1, &n, &used, fresh_error()), STATUS_BAD_FILE,
              "trace line 42: more than 1024");
  parser = (DinParser){0};
  must(din_parse(&parser, text, DIN_LINE_BYTES_MAX, false, &record, 1, &n, &used, NULL));
  assert_int_equal(used, 0); /* it may still end in time */
  must(din_parse(&parser, text, DIN_LINE_BYTES_MAX, true, &record, 1, &n, &used, NULL));
  assert_int_equal(used, DIN_LINE_BYTES_MAX);
}

/* A reader with a small buffer and little room for records sees what one with all of it sees. */
TEST(pieces_cut_anywhere_make_no_difference) {
  enum { LINES = 500 };
  Rand r = {5};
  char *text = malloc(LINES * 64);
  DinRecord *expected = malloc(LINES * sizeof *expected);
  size_t length = 0;
  for (int i = 0; i < LINES; i++) {
    expected[i] = (DinRecord){.address = rand_next(&r) >> rand_in(&r, 1, 60),
                              .size_bytes = (uint32_t)rand_in(&r, 1, 300),
                              .label = (DinLabel)rand_in(&r, 0, 2)};
    length += din_print(&expected[i], text + length);
    if (i % 7 == 0) length += (size_t)sprintf(text + length, "\n # note %d\n", i);
  }
  for (int round = 0; round < 200; round++) {
    DinParser parser = {0};
    size_t begin = 0, end = 0, got = 0;
    while (begin < length) {
      DinRecord records[10];
      size_t n, used;
      end += (size_t)rand_in(&r, 0, 50);
      if (end > length) end = length;
      char *piece = malloc(end - begin + 1); /* its own block: the sanitizer sees a step too far */
      memcpy(piece, text + begin, end - begin);
      const Status status =
          din_parse(&parser, piece, end - begin, end == length, records, (size_t)rand_in(&r, 1, 10), &n, &used, NULL);
      free(piece);
      must(status);
      assert_true(got + n <= LINES);
      for (size_t i = 0; i < n; i++, got++) {
        assert_int_equal(records[i].address, expected[got].address);
        assert_int_equal(records[i].size_bytes, expected[got].size_bytes);
        assert_int_equal(records[i].label, expected[got].label);
      }
      begin += used;
    }
    assert_int_equal(got, LINES);
    assert_int_equal(parser.line, LINES + 2 * (LINES / 7 + 1));
  }
  free(text);
  free(expected);
}

TEST(every_size_can_be_printed_and_read_back) {
  for (uint32_t size = 1; size <= DIN_SIZE_MAX; size += size / 1000 + 1) {
    const DinRecord record = {.address = size * 77u, .size_bytes = size, .label = (DinLabel)(size % 4)};
    char text[DIN_TEXT_BYTES + 1];
    DinRecord again[MOST];
    text[din_print(&record, text)] = '\0';
    assert_int_equal(parse_all(text, again, NULL, STATUS_OK), 1);
    assert_int_equal(again[0].size_bytes, size);
    assert_int_equal(again[0].address, record.address);
    assert_int_equal(again[0].label, record.label);
  }
}

/* The same text under each format's name. */
TEST(a_named_format_is_kept_to) {
  const struct {
    DinFormat format;
    const char *text;
    uint32_t size_bytes; /* 0: refused */
  } cases[] = {
      {DIN_FORMAT_DIN, "0 1000 80", 4},     {DIN_FORMAT_XDIN, "0 1000 80", 128}, {DIN_FORMAT_XDIN, "r 1000 add", 0xadd},
      {DIN_FORMAT_DIN, "r 1000 80", 0},     {DIN_FORMAT_LACKEY, "0 1000 80", 0}, {DIN_FORMAT_CSV, "0 1000 80", 0},
      {DIN_FORMAT_XDIN, " L 1000,8", 0},    {DIN_FORMAT_CSV, "r,0x1000,8", 8},   {DIN_FORMAT_XDIN, "0 1000 a load", 10},
      {DIN_FORMAT_DIN, "0 1000 a load", 4},
  };
  EACH (i, cases) {
    DinParser parser = {.format = cases[i].format};
    DinRecord records[MOST];
    size_t n, used;
    const Status status = din_parse(&parser, ALL_OF(cases[i].text), true, records, MOST, &n, &used, fresh_error());
    assert_int_equal(status, cases[i].size_bytes ? STATUS_OK : STATUS_BAD_FILE);
    if (status == STATUS_OK) assert_int_equal(records[0].size_bytes, cases[i].size_bytes);
  }
}

/* One line of 32 bytes in two sectors of 16, and what leaves it: by hand. */
TEST(flush_copy_back_and_invalidate) {
  /* misses of lines, of sectors read, sectors written back */
  static const char *const cases[] = {
      "r 0 20\nr 0 20\n => 1 2 0",
      "0 0\n4 0\n0 0\n => 2 2 0",                  /* read, emptied, read again */
      "w 0 20\n4 0\nr 0 20\n => 2 2 2",            /* what was stored is written back */
      "w 0 20\nc 0 10\nc 0 20\nr 0 20\n => 1 0 2", /* each sector once; both stay */
      "w 0 20\nc 0 0\nr 0 20\n => 1 0 2",
      "w 0 20\nv 0 10\nr 0 20\n => 1 1 0", /* one sector is lost, dirty as it was */
      "w 0 20\nv 0 0\nr 0 20\n => 2 2 0",
      "r 0 20\nv 10000 20\nr 0 20\n => 1 2 0",          /* not there */
      "w 4 4\nv 0 10\nw 0 4\nw 8 8\nr 0 10\n => 1 1 0", /* bytes stored before it left do not count */
      "r 0 20\nv 0 fffff0\nr 0 20\n => 1 4 0",          /* more lines than there are sets */
      " M 0,32\n => 1 2 0",
  };
  const CacheConfig config = {
      .size_bytes = 32 * 4, .ways = 2, .line_bytes = 32, .sector_bytes = 16, .address_bits = 64};
  EACH_SAYS (row, cases) {
    uint64_t misses, sectors, written;
    CacheState *cache = make_cache(&config);
    assert_int_equal(sscanf(row.says, "%" SCNu64 " %" SCNu64 " %" SCNu64, &misses, &sectors, &written), 3);
    DinRecord records[MOST];
    const size_t n = parse_all(row.text, records, NULL, STATUS_OK);
    must(din_replay(cache, records, n, NULL));
    const CacheCounts *c = &cache->counts;
    assert_true(c->line_misses == misses && c->read_sector_misses == sectors && c->written_back_sectors == written);
    free(cache);
  }
}

TEST(replay_counts_as_one_access_a_record) {
  enum { RECORDS = 3000 };
  Rand r = {21};
  DinRecord *records = malloc(RECORDS * sizeof *records);
  for (int round = 0; round < 60; round++) {
    const uint64_t line_bytes = round % 3 ? 128 : 96;
    const CacheConfig config = {.size_bytes = line_bytes * 16 * 24, .line_bytes = line_bytes, .address_bits = 64};
    CacheState *a = make_cache(&config), *b = make_cache(&config);
    uint64_t address = 0;
    for (int i = 0; i < RECORDS; i++) {
      records[i] = (DinRecord){.address = address, .size_bytes = (uint32_t)line_bytes};
      if (rand_in(&r, 0, 9) == 0) records[i].size_bytes = (uint32_t)rand_in(&r, 1, 500);
      if (rand_in(&r, 0, 9) == 0) records[i].label = DIN_WRITE;
      if (rand_in(&r, 0, 19) == 0) records[i].label = DIN_FETCH;
      address += records[i].size_bytes;
      if (rand_in(&r, 0, 30) == 0) address = (uint64_t)rand_in(&r, 0, 2000) * line_bytes;
    }
    if (round % 10 == 1) /* a run up to the very end, then from the start: not one run */
      records[500] = (DinRecord){UINT64_MAX - 127, 128, DIN_READ}, records[501] = (DinRecord){0, 128, DIN_READ};
    for (int i = 0; i < RECORDS; i++)
      cache_access(a, records[i].address, records[i].size_bytes,
                   records[i].label == DIN_WRITE ? CACHE_WRITE : CACHE_READ);
    for (size_t from = 0, n; from < RECORDS; from += n) {
      n = (size_t)rand_in(&r, 1, 400);
      if (n > RECORDS - from) n = RECORDS - from;
      must(din_replay(b, records + from, n, NULL));
    }
    assert_memory_equal(&a->counts, &b->counts, sizeof a->counts);
    assert_same_lines_in(a, b);
    free(a);
    free(b);
  }
  free(records);
}

TEST(an_address_the_cache_cannot_hold_is_explained) {
  const CacheConfig config = {.address_bits = 32};
  CacheState *cache = make_cache(&config);
  const DinRecord records[] = {{0, 128, DIN_READ}, {0xfffffff0, 32, DIN_READ}};
  must_refuse(din_replay(cache, records, 2, fresh_error()), STATUS_BAD_REQUEST,
              "32 bytes at address fffffff0 lie beyond the 32 address bits");
  assert_int_equal(cache->counts.accesses, 1);
  free(cache);
}
