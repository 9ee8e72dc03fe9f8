/* One document, three writers: what people read, CSV and JSON of the same cells. */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/test.h"
#include "tests/support/alloc_fail.h"
#include "viz/document/document.h"

static void fill(Document *d) {
  static const TableColumn COLUMNS[] = {{.heading = "run", .key = "algorithm"},
                                        {.heading = "read", .csv = "read_bytes", .key = "read_bytes", .right = true},
                                        {.heading = "takes", .csv = "-", .key = "seconds", .right = true},
                                        {.csv = "fits", .key = "fits"},
                                        {.key = "only_json"}};
  put_values(d, "gpu:s", "h200");
  Table *t = document_table(d, DOCUMENT_ALL, "runs", COLUMNS, 5);
  table_title(t, "Two runs");
  for (int k = 0; k < 2; k++) {
    table_text(t, ROLE_PLAIN, k ? "fa2, \"2\"" : "fa1");
    table_whole(t, ROLE_PLAIN, number_bytes, k ? 3 << 20 : 1024);
    if (k)
      table_number(t, ROLE_PLAIN, number_seconds, 0.25);
    else
      table_empty(t, true);
    table_flag(t, ROLE_PLAIN, k == 1, "yes", "no");
    table_whole(t, ROLE_PLAIN, number_count, wide(k));
    put_row(d, t);
    put_values(d, "nested[:n", 7 + k);
    put_values(d, "]");
    put_end(d);
  }
  table_note(t, "A note.");
  Table *people = document_table(d, DOCUMENT_TEXT, NULL, COLUMNS, 1);
  table_text(people, ROLE_PLAIN, "people");
  document_gap(d);
  document_line(d, ROLE_PLAIN, "%d lines", 2);
  put_values(d, "rate:f large:w", 0.0 / 0.0, (Wide)1 << 72);
}

static char *written(DocumentForm form, Error *error) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  assert_non_null(out);
  Document d = document_new(form);
  fill(&d);
  const Status status = document_print(&d, out, &(TextStyle){.utf8 = true, .width = 80}, error);
  document_free(&d);
  fclose(out);
  if (!status) return text;
  assert_int_equal(strlen(text), 0); /* nothing half-written */
  free(text);
  return NULL;
}

TEST(same_cells_in_every_form) {
  char *text = written(DOCUMENT_TEXT, fresh_error()), *csv = written(DOCUMENT_CSV, fresh_error()),
       *json = written(DOCUMENT_JSON, fresh_error());
  assert_string_equal(text, "Two runs\n"
                            "run        read   takes\n"
                            "───────────────────────\n"
                            "fa1       1 KiB       -\n"
                            "fa2, \"2\"  3 MiB  250 ms\n"
                            "A note.\n"
                            "run\n"
                            "──────\n"
                            "people\n"
                            "\n"
                            "2 lines\n");
  assert_string_equal(csv, "run,read_bytes,fits\nfa1,1024,false\n\"fa2, \"\"2\"\"\",3145728,true\n");
  json_t *is = json_loads(json, 0, NULL),
         *expected = json_loads("{\"tilewalk\": 1, \"gpu\": \"h200\", \"runs\": ["
                                "{\"algorithm\": \"fa1\", \"read_bytes\": 1024, \"seconds\": null, \"fits\": false, "
                                "\"only_json\": 0, \"nested\": [7]},"
                                "{\"algorithm\": \"fa2, \\\"2\\\"\", \"read_bytes\": 3145728, \"seconds\": 0.25, "
                                "\"fits\": true, \"only_json\": 1, \"nested\": [8]}],"
                                "\"rate\": null, \"large\": 4.7223664828696452e21}",
                                0, NULL);
  assert_non_null(expected);
  assert_true(json_equal(is, expected));
  json_decref(is);
  json_decref(expected);
  free(text);
  free(csv);
  free(json);
}

static Status write_in(void *context, Error *error) {
  char *text = written(*(DocumentForm *)context, error);
  free(text);
  return text ? STATUS_OK : error->status;
}

TEST(memory_may_run_out) {
  for (int k = 0; k < 3; k++) {
    DocumentForm form = (DocumentForm)(1 << k);
    assert_true(alloc_fail_each(write_in, &form) > 5);
  }
}
