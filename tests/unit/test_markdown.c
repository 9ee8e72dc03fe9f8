/* Markdown in a terminal: every element by its text, at a width that breaks lines, in ASCII. */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/capture.h"
#include "viz/text/markdown.h"

static const struct {
  const char *markdown, *text;
} ROWS[] = {
    {"", ""},
    {"One *two* **three** `four`.", "One two three `four`.\n"},
    {"One\ntwo", "One two\n"},
    {"One  \ntwo", "One\ntwo\n"},
    {"One\n\ntwo", "One\n\ntwo\n"},
    {"# Title\nText", "Title\n\nText\n"},
    {"123456789 123456789 123456789 12345", "123456789 123456789 123456789\n12345\n"},
    {"- one\n- two\n  three", "- one\n- two three\n"},
    {"Text\n\n- one\n- two\n\nMore", "Text\n\n- one\n- two\n\nMore\n"},
    {"3. one\n4. two", "3. one\n4. two\n"},
    {"- 123456789 123456789 123456789 x", "- 123456789 123456789\n  123456789 x\n"},
    {"- one\n  - two\n- three", "- one\n  - two\n- three\n"},
    {"> said", "| said\n"},
    {"```sh\na  b\n\nc\n```", "    a  b\n    \n    c\n"},
    {"[tile](glossary.md#tile) and [web](https://a.b/c)", "tile and web (https://a.b/c)\n"},
    {"![a grid](x.png)", "[picture: a grid]\n"},
    {"a &lt; b &amp; c", "a < b & c\n"},
    {"<b>raw</b>", "<b>raw</b>\n"},
    {"---", "------------------------------\n"},
    {"a \\* b", "a * b\n"},
};

static void print(const char *markdown, Capture *c) {
  const TextStyle style = {.width = 30};
  capture_open(c);
  must(text_markdown(c->out, &style, ALL_OF(markdown), fresh_error()));
}

TEST(every_element_is_printed) {
  EACH (k, ROWS) {
    Capture c;
    print(ROWS[k].markdown, &c);
    assert_string_equal(capture_text(&c), ROWS[k].text);
    capture_close(&c);
  }
}

/* Cells fill their columns; the numbers' column is aligned right. */
TEST(tables_are_aligned) {
  Capture c;
  print("| what | bytes |\n| --- | --: |\n| Q | 1 |\n| K and V | 640 |\n", &c);
  const char *text = capture_text(&c);
  assert_non_null(strstr(text, "what     bytes\n"));
  assert_non_null(strstr(text, "\nQ            1\n"));
  assert_non_null(strstr(text, "\nK and V    640\n"));
  capture_close(&c);
}

/* A text from outside cannot drive the terminal. */
TEST(control_characters_do_not_pass) {
  Capture c;
  print("a\033[31mb", &c);
  assert_null(strchr(capture_text(&c), '\033'));
  capture_close(&c);
}

/* What is nested more deeply than it is printed neither crashes nor loses its words. */
TEST(deep_nesting_is_flattened) {
  Capture c;
  print("> > > > > > > > > > > > > > > > > > > > deep", &c);
  assert_non_null(strstr(capture_text(&c), "deep\n"));
  capture_close(&c);
}

static Status print_all(void *context, Error *error) {
  static const char TEXT[] = "# T\n\nA [b](c) *d*\n\n- e\n\n| f | g |\n| --- | --- |\n| h | i |\n";
  const TextStyle style = {.width = 60};
  return text_markdown(context, &style, ALL_OF(TEXT), error);
}

TEST(every_allocation_may_fail) { printing_may_fail(print_all, 2); }
