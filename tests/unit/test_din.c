/* Dinero traces: each form of a line by hand, each mistake with its line number, any cutting into
 * pieces, and the same counts as one cache access a record. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cache/din.h"
#include "tests/support/make_cache.h"
#include "tests/support/rand.h"

enum { MOST = 64 };

static size_t parse_all(const char *text, DinRecord *records, Error *error, Status expected) {
  DinParser parser = {0};
  size_t n, used;
  assert_int_equal(din_parse(&parser, text, strlen(text), true, records, MOST, &n, &used, error), expected);
  if (expected == STATUS_OK) assert_int_equal(used, strlen(text));
  return n;
}

static void lines_in_every_form(void **unused) {
  (void)unused;
  const struct {
    const char *line;
    DinLabel label;
    uint64_t address;
    uint32_t size_bytes;
  } cases[] = {
      {"0 0", DIN_READ, 0, 4},
      {"1 7f3a80 80", DIN_WRITE, 0x7f3a80, 128},
      {"2 0X40 4", DIN_FETCH, 0x40, 4},
      {" \t r\tDEADbeef   0x10 \t", DIN_READ, 0xdeadbeef, 16},
      {"w ffffffffffffffff 1", DIN_WRITE, UINT64_MAX, 1},
      {"i 1#no blank needed", DIN_FETCH, 1, 4},
      {"0 10 8 # a comment", DIN_READ, 16, 8},
      {"0 10 20\r", DIN_READ, 16, 32},
      {"0 00000000000000000000000000000012 1", DIN_READ, 18, 1},
      {"0 123456789abcdef 1", DIN_READ, 0x123456789abcdef, 1},   /* 15 digits: the fast way */
      {"0 123456789abcdef0 1", DIN_READ, 0x123456789abcdef0, 1}, /* 16: the other */
      {"0 0 1000000", DIN_READ, 0, 1 << 24},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    for (int longer = 0; longer < 2; longer++) { /* at the end of the text, and with much behind it */
      DinRecord records[MOST];
      char text[256];
      snprintf(text, sizeof text, "%s\n%s", cases[i].line, longer ? "# and then a line that is long enough\n" : "");
      assert_int_equal(parse_all(text, records, NULL, STATUS_OK), 1);
      assert_int_equal(records[0].label, cases[i].label);
      assert_int_equal(records[0].address, cases[i].address);
      assert_int_equal(records[0].size_bytes, cases[i].size_bytes);
    }
}

/* Sizes are hexadecimal, but 128 can only be meant in decimal: 0x128 is no power of two. */
static void a_power_of_two_is_known_in_either_spelling(void **unused) {
  (void)unused;
  for (uint32_t size = 1; size <= DIN_SIZE_MAX; size *= 2)
    for (int decimal = 0; decimal < 2; decimal++)
      for (int padded = 0; padded < 2; padded++) {
        char text[128];
        DinRecord records[MOST];
        snprintf(text, sizeof text, decimal ? "0 0 %u\n%s" : "0 0 %x\n%s", size,
                 padded ? "#                              \n" : "");
        assert_int_equal(parse_all(text, records, NULL, STATUS_OK), 1);
        assert_int_equal(records[0].size_bytes, size);
      }
  DinRecord records[MOST];
  parse_all("0 0 0x128", records, NULL, STATUS_OK);
  assert_int_equal(records[0].size_bytes, 0x128);
  parse_all("0 0 24", records, NULL, STATUS_OK); /* no power of two either way */
  assert_int_equal(records[0].size_bytes, 36);
}

static void a_mistake_is_named_with_its_line(void **unused) {
  (void)unused;
  const struct {
    const char *text, *says;
    size_t n_good;
  } cases[] = {
      {"0 10\n\n# c\n3 10\n", "trace line 4: '3' is no label", 1},
      {"00 10\n", "trace line 1: '00' is no label", 0},
      {"0 10 4\n0 xyz 4\n", "trace line 2: 'xyz' is no address", 1},
      {"0\n", "'' is no address", 0},
      {"0 0x\n", "'0x' is no address", 0},
      {"0 11112222333344445 4\n", "'11112222333344445' is no address", 0},
      {"0 10 4z\n", "'4z' is no size", 0},
      {"0 10 4 5\n", "'5' is no comment", 0},
      {"0 10 0\n", "a size of 0 bytes", 0},
      {"0 10 1000001\n", "a size of 16777217 bytes", 0},
      {"0 ffffffffffffffff 2\n", "run past the end of the address space", 0},
      {"0 \x1b[31m 2\n", "'?[31m' is no address", 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    DinRecord records[MOST];
    Error error = {0};
    assert_int_equal(parse_all(cases[i].text, records, &error, STATUS_BAD_FILE), cases[i].n_good);
    if (!strstr(error.message, cases[i].says)) fail_msg("%s: %s", cases[i].text, error.message);
  }
}

static void an_endless_line_is_refused_early(void **unused) {
  (void)unused;
  char text[DIN_LINE_BYTES_MAX + 2];
  memset(text, ' ', sizeof text);
  DinParser parser = {.line = 41};
  DinRecord record;
  Error error = {0};
  size_t n, used;
  assert_int_equal(din_parse(&parser, text, sizeof text, false, &record, 1, &n, &used, &error), STATUS_BAD_FILE);
  assert_non_null(strstr(error.message, "trace line 42: more than 1024"));
  parser = (DinParser){0};
  assert_int_equal(din_parse(&parser, text, DIN_LINE_BYTES_MAX, false, &record, 1, &n, &used, NULL), STATUS_OK);
  assert_int_equal(used, 0); /* it may still end in time */
  assert_int_equal(din_parse(&parser, text, DIN_LINE_BYTES_MAX, true, &record, 1, &n, &used, NULL), STATUS_OK);
  assert_int_equal(used, DIN_LINE_BYTES_MAX);
}

/* A reader with a small buffer and little room for records sees what one with all of it sees. */
static void pieces_cut_anywhere_make_no_difference(void **unused) {
  (void)unused;
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
      assert_int_equal(status, STATUS_OK);
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

static void every_size_can_be_printed_and_read_back(void **unused) {
  (void)unused;
  for (uint32_t size = 1; size <= DIN_SIZE_MAX; size += size / 1000 + 1) {
    const DinRecord record = {.address = size * 77u, .size_bytes = size, .label = (DinLabel)(size % 3)};
    char text[DIN_TEXT_BYTES + 1];
    DinRecord again[MOST];
    text[din_print(&record, text)] = '\0';
    assert_int_equal(parse_all(text, again, NULL, STATUS_OK), 1);
    assert_int_equal(again[0].size_bytes, size);
    assert_int_equal(again[0].address, record.address);
    assert_int_equal(again[0].label, record.label);
  }
}

static void replay_counts_as_one_access_a_record(void **unused) {
  (void)unused;
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
      assert_int_equal(din_replay(b, records + from, n, NULL), STATUS_OK);
    }
    assert_memory_equal(&a->counts, &b->counts, sizeof a->counts);
    assert_same_lines_in(a, b);
    cache_reset(b);
    const size_t joined = din_join(records, RECORDS, line_bytes);
    assert_true(joined < RECORDS);
    assert_int_equal(din_replay(b, records, joined, NULL), STATUS_OK);
    assert_int_equal(b->counts.accesses, joined);
    b->counts.accesses = RECORDS; /* nothing else may differ */
    assert_memory_equal(&a->counts, &b->counts, sizeof a->counts);
    assert_same_lines_in(a, b);
    free(a);
    free(b);
  }
  free(records);
}

static void an_address_the_cache_cannot_hold_is_explained(void **unused) {
  (void)unused;
  const CacheConfig config = {.address_bits = 32};
  CacheState *cache = malloc(cache_state_bytes(&config));
  cache_init(cache, &config, NULL);
  const DinRecord records[] = {{0, 128, DIN_READ}, {0xfffffff0, 32, DIN_READ}};
  Error error = {0};
  assert_int_equal(din_replay(cache, records, 2, &error), STATUS_BAD_REQUEST);
  assert_non_null(strstr(error.message, "32 bytes at address fffffff0 lie beyond the 32 address bits"));
  assert_int_equal(cache->counts.accesses, 1);
  free(cache);
}

/* Whole lines, one kind, one after the other: those and no others become one. */
static void what_is_joined(void **unused) {
  (void)unused;
  DinRecord records[] = {
      {0, 128, DIN_READ},     {128, 256, DIN_READ},
      {384, 128, DIN_FETCH},  {512, 128, DIN_FETCH},
      {640, 64, DIN_FETCH},   {704, 128, DIN_FETCH},
      {832, 64, DIN_FETCH},   {896, 128, DIN_FETCH},
      {2048, 128, DIN_WRITE}, {UINT64_MAX - 127, 128, DIN_READ},
      {0, 128, DIN_READ},     {0, 128, DIN_READ},
  };
  const DinRecord expected[] = {
      {0, 384, DIN_READ},   {384, 256, DIN_FETCH}, {640, 64, DIN_FETCH},   {704, 128, DIN_FETCH},
      {832, 64, DIN_FETCH}, {896, 128, DIN_FETCH}, {2048, 128, DIN_WRITE}, {UINT64_MAX - 127, 128, DIN_READ},
      {0, 128, DIN_READ},   {0, 128, DIN_READ},
  };
  const size_t n = din_join(records, sizeof records / sizeof records[0], 128);
  assert_int_equal(n, sizeof expected / sizeof expected[0]);
  for (size_t i = 0; i < n; i++) {
    assert_int_equal(records[i].address, expected[i].address);
    assert_int_equal(records[i].size_bytes, expected[i].size_bytes);
    assert_int_equal(records[i].label, expected[i].label);
  }
  DinRecord huge[] = {{0, UINT32_MAX - 127, DIN_READ}, {UINT32_MAX - 127, 128, DIN_READ}};
  assert_int_equal(din_join(huge, 2, 128), 2); /* 4 GiB have no room in a record */
  assert_int_equal(din_join(huge, 0, 128), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines_in_every_form),
      cmocka_unit_test(a_power_of_two_is_known_in_either_spelling),
      cmocka_unit_test(a_mistake_is_named_with_its_line),
      cmocka_unit_test(an_endless_line_is_refused_early),
      cmocka_unit_test(pieces_cut_anywhere_make_no_difference),
      cmocka_unit_test(every_size_can_be_printed_and_read_back),
      cmocka_unit_test(replay_counts_as_one_access_a_record),
      cmocka_unit_test(what_is_joined),
      cmocka_unit_test(an_address_the_cache_cannot_hold_is_explained),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
