/* table.h: alignment, fitting a width, CSV. Expected tables are drawn by hand. */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/capture.h"
#include "tests/support/rand.h"
#include "viz/text/table.h"

static const TextStyle ascii = {.width = 80};
static const TextStyle unicode = {.utf8 = true, .width = 80};
static const TextStyle coloured = {.colour = true, .utf8 = true, .width = 80};

static void expect(const Table *table, const TextStyle *style, const char *expected) {
  Capture capture;
  capture_open(&capture);
  must(table_print(table, capture.out, style, fresh_error()));
  capture_is(&capture, expected);
}

static void expect_csv(const Table *table, const char *expected) {
  Capture capture;
  capture_open(&capture);
  must(table_csv(table, capture.out, fresh_error()));
  capture_is(&capture, expected);
}

static Table sample(TableShrink shrink) {
  Table table = table_new((TableColumn[]){{.heading = "algorithm"},
                                          {.heading = "HBM read", .right = true},
                                          {.heading = "share", .unit = "part", .right = true},
                                          {.heading = "why", .shrink = shrink}},
                          4);
  table_text(&table, ROLE_PLAIN, "standard");
  table_whole(&table, ROLE_PLAIN, number_bytes, (Wide)132 << 20);
  table_number(&table, ROLE_PLAIN, number_percent, 1);
  table_text(&table, ROLE_DIM, "S and P cross twice");
  table_text(&table, ROLE_PLAIN, "fa2");
  table_whole(&table, ROLE_GOOD, number_bytes, (Wide)66 << 20);
  table_number(&table, ROLE_GOOD, number_percent, 0.5);
  table_text(&table, ROLE_DIM, "K and V per block of rows");
  return table;
}

TEST(test_columns_align) {
  Table table = sample(TABLE_KEEP);
  table_title(&table, "Traffic, N = %d", 4096);
  expect(&table, &ascii,
         "Traffic, N = 4096\n"
         "                      share\n"
         "algorithm  HBM read  (part)  why\n"
         "------------------------------------------------------\n"
         "standard    132 MiB    100%  S and P cross twice\n"
         "fa2          66 MiB   50.0%  K and V per block of rows\n");
  table_free(&table);
}

TEST(test_csv_holds_exact_values) {
  Table table = sample(TABLE_KEEP);
  table_note(&table, "not data");
  expect_csv(&table, "algorithm,hbm_read,share_part,why\n"
                     "standard,138412032,1,S and P cross twice\n"
                     "fa2,69206016,0.5,K and V per block of rows\n");
  table_free(&table);
}

/* RFC 4180, section 2: fields with commas, quotes or line breaks stand in quotes, quotes are
 * doubled. */
TEST(test_csv_quotes) {
  Table table = table_new(
      (TableColumn[]){{.heading = "a"}, {.heading = "people only", .csv = "-"}, {.heading = "b", .csv = "b_bytes"}}, 3);
  table_text(&table, ROLE_PLAIN, "x, y");
  table_text(&table, ROLE_PLAIN, "unseen");
  table_text(&table, ROLE_PLAIN, "say \"hi\"");
  table_text(&table, ROLE_PLAIN, "two\nlines");
  table_text(&table, ROLE_PLAIN, "unseen");
  table_text(&table, ROLE_PLAIN, "\033[2J");
  expect_csv(&table, "a,b_bytes\n\"x, y\",\"say \"\"hi\"\"\"\n\"two\nlines\",?[2J\n");
  table_free(&table);
}

TEST(test_groups_rules_notes_and_gaps) {
  Table table = table_new((TableColumn[]){{.heading = "n", .right = true}, {.heading = "x"}}, 2);
  table_group(&table, "first");
  table_whole(&table, ROLE_PLAIN, number_count, 1234);
  table_note(&table, "under the table");
  table_rule(&table);
  table_empty(&table, true);
  table_text(&table, ROLE_PLAIN, "b");
  expect(&table, &ascii,
         "    n  x\n"
         "--------\n"
         "first\n"
         "1,234\n"
         "--------\n"
         "    -  b\n"
         "under the table\n");
  expect_csv(&table, "n,x\n1234,\n,b\n");
  table_free(&table);
}

/* Rule 1 and 2: headings break, then the marked column wraps. */
TEST(test_wraps_to_width) {
  Table table = sample(TABLE_WRAP);
  TextStyle narrow = {.width = 46};
  expect(&table, &narrow,
         "               HBM   share\n"
         "algorithm     read  (part)  why\n"
         "----------------------------------------------\n"
         "standard   132 MiB    100%  S and P cross\n"
         "                            twice\n"
         "fa2         66 MiB   50.0%  K and V per block\n"
         "                            of rows\n");
  table_free(&table);
}

/* Rule 3: cut with an ellipsis, in the alphabet of the style. */
TEST(test_cuts_to_width) {
  Table table =
      table_new((TableColumn[]){{.heading = "name", .shrink = TABLE_CUT}, {.heading = "n", .right = true}}, 2);
  table_text(&table, ROLE_PLAIN, "a name that is far too long");
  table_whole(&table, ROLE_PLAIN, number_count, 123456);
  TextStyle narrow = {.width = 22};
  expect(&table, &narrow,
         "name                 n\n"
         "----------------------\n"
         "a name tha...  123,456\n");
  narrow.utf8 = true;
  expect(&table, &narrow,
         "name                 n\n"
         "──────────────────────\n"
         "a name that …  123,456\n");
  table_free(&table);
}

/* Rule 4: numbers are never cut; a list takes over. */
TEST(test_lists_when_nothing_else_fits) {
  Table table = sample(TABLE_KEEP);
  TextStyle narrow = {.width = 36};
  expect(&table, &narrow,
         "algorithm     standard\n"
         "HBM read      132 MiB\n"
         "share (part)  100%\n"
         "why           S and P cross twice\n"
         "\n"
         "algorithm     fa2\n"
         "HBM read      66 MiB\n"
         "share (part)  50.0%\n"
         "why           K and V per block of\n"
         "              rows\n");
  table_free(&table);
}

/* Columns line up by what is seen, not by bytes; in ASCII the replacements count. */
TEST(test_unicode_lines_up) {
  Table table = table_new((TableColumn[]){{.heading = "\xce\xa9"}, {.heading = "b"}}, 2);
  table_text(&table, ROLE_PLAIN, "N\xc3\x97N");
  table_text(&table, ROLE_PLAIN, "1");
  table_text(&table, ROLE_PLAIN, "\xe6\xbc\xa2\xe5\xad\x97"); /* two wide characters */
  table_text(&table, ROLE_PLAIN, "2");
  expect(&table, &unicode, "\xce\xa9     b\n───────\nN\xc3\x97N   1\n\xe6\xbc\xa2\xe5\xad\x97  2\n");
  expect(&table, &ascii, "Omega  b\n--------\nNxN    1\n??     2\n");
  table_free(&table);
}

/* Escapes surround the text, not the padding, and roles vanish without colour. */
TEST(test_colour_only_when_asked) {
  Table table = table_new((TableColumn[]){{.heading = "n", .right = true}}, 1);
  table_text(&table, ROLE_PLAIN, "wide text");
  table_text(&table, ROLE_BAD, "no");
  Capture capture;
  capture_open(&capture);
  table_print(&table, capture.out, &coloured, NULL);
  assert_non_null(strstr(capture_text(&capture), "       \033[1;31mno\033[0m\n"));
  capture_close(&capture);
  capture_open(&capture);
  table_print(&table, capture.out, &unicode, NULL);
  assert_null(strchr(capture_text(&capture), '\033'));
  capture_close(&capture);
  table_free(&table);
}

/* Text from outside cannot drive the terminal. */
TEST(test_controls_are_harmless) {
  Table table = table_new((TableColumn[]){{.heading = "name"}}, 1);
  table_text(&table, ROLE_PLAIN, "a\033[2J\x7f\xff\xc2\x9b\rb");
  expect(&table, &unicode, "name\n──────────\na?[2J????b\n");
  table_free(&table);
}

/* Whatever is in it, no line is wider than asked, and every cell's words are still there unless
 * cut. */
TEST(test_random_tables_fit) {
  Rand rand = {7};
  static const char *const words[] = {"",
                                      "a",
                                      "tile",
                                      "N\xc3\x97N",
                                      "132 MiB",
                                      "a longer piece of text",
                                      "unbreakable_identifier_of_some_length",
                                      "two\nlines"};
  for (int round = 0; round < 500; round++) {
    int n = (int)rand_in(&rand, 1, 6);
    TableColumn columns[6] = {{0}};
    for (int i = 0; i < n; i++) {
      columns[i].heading = words[rand_in(&rand, 0, 5)];
      columns[i].right = rand_in(&rand, 0, 1) != 0;
      columns[i].shrink = (TableShrink)rand_in(&rand, 0, 2);
    }
    Table table = table_new(columns, n);
    int64_t cells = rand_in(&rand, 0, 20);
    for (int64_t i = 0; i < cells; i++) table_text(&table, ROLE_PLAIN, words[rand_in(&rand, 0, 7)]);
    TextStyle style = {.utf8 = rand_in(&rand, 0, 1) != 0, .width = (int)rand_in(&rand, 20, 100)};
    Capture capture;
    capture_open(&capture);
    must(table_print(&table, capture.out, &style, NULL));
    capture_fits(&capture, &style);
    table_free(&table);
  }
}

/* For CSV alone no other text is kept; of numbers, one like that above it is its text. */
TEST(csv_alone_says_the_same) {
  static const double NUMBERS[] = {0.1, 0.1, 0.30000000000000004, 0.3, 0, -0.0, NAN, NAN, 1e300, 0.1};
  static const TableColumn COLUMNS[] = {{.heading = "name"}, {.heading = "s"}, {.heading = "part"}};
  char expected[512] = "name,s,part\n";
  for (int is_exact = 0; is_exact < 2; is_exact++) {
    Table table = table_new(COLUMNS, 3);
    table.is_exact = is_exact;
    EACH (k, NUMBERS) {
      table_text(&table, ROLE_PLAIN, k % 2 ? "a, b" : "a \"b\"");
      table_number(&table, ROLE_PLAIN, number_seconds, NUMBERS[k]);
      table_number(&table, ROLE_PLAIN, number_percent, NUMBERS[k / 2]);
      if (is_exact) continue;
      const size_t at = strlen(expected);
      snprintf(expected + at, sizeof expected - at, "%s,%s,%s\n", k % 2 ? "\"a, b\"" : "\"a \"\"b\"\"\"",
               number_exact_double(NUMBERS[k]).text, number_exact_double(NUMBERS[k / 2]).text);
    }
    expect_csv(&table, expected);
    table_free(&table);
  }
}

static Status build_and_print(void *context, Error *error) {
  FILE *out = context;
  Table table = sample(TABLE_WRAP);
  for (int i = 0; i < 40; i++) table_format(&table, ROLE_PLAIN, "cell %d", i);
  table_note(&table, "a note");
  Status status = table_print(&table, out, &ascii, error);
  if (status == STATUS_OK) status = table_csv(&table, out, error);
  table_free(&table);
  return status;
}

TEST(test_out_of_memory) { printing_may_fail(build_and_print, 4); }
