/* Counter files: both layouts read, and every way in which a file can be wrong named with its line. */
#include "tests/support/test.h"
#include "kernels/counters/ncu.h"
#include "tests/support/alloc_fail.h"

static Status read_text(const char *text, CounterTable *table, Error *error) {
  *error = (Error){0};
  return counter_table_from_buffer(table, text, strlen(text), error);
}

static void expect_error(const char *text, Status expected, const char *part) {
  CounterTable table;
  assert_int_equal(read_text(text, &table, fresh_error()), expected);
  assert_null(table.rows);
  assert_said(part);
}

#define RAW_HEADER   "\"ID\",\"Kernel Name\",\"dram__bytes_read.sum\",\"gpu__time_duration.sum\"\n"
#define RAW_UNITS    "\"\",\"\",\"byte\",\"ns\"\n"
#define SHAPE_HEADER "rung,dtype,batch,heads,kv_heads,seq_q,seq_k,head_dim,causal,block_q,block_k,"

TEST(test_recorded_layout) {
  CounterTable table;
  must(read_text("# gpu: NVIDIA H200\n" SHAPE_HEADER "sm__inst_executed_pipe_tensor_op_hmma.sum\n"
                 ",,,,,,,,,,,inst\nfa2_async,bf16,2,8,4,1024,2048,64,1,128,64,65536\n",
                 &table, fresh_error()));
  const CounterRow *row = &table.rows[0];
  assert_string_equal(row->kernel, "fa2_async");
  assert_true(row->has_shape && row->shape.causal);
  assert_int_equal(row->shape.dtype, DTYPE_BF16);
  assert_int_equal(row->shape.kv_heads, 4);
  assert_int_equal(row->shape.N_k, 2048);
  assert_int_equal(row->tiling.B_r, 128);
  assert_int_equal(row->tiling.B_c, 64);
  assert_int_equal(row->value[COUNTER_HMMA], 65536);
  counter_table_free(&table);
}

TEST(test_not_a_counter_file) {
  expect_error("", STATUS_BAD_FILE, "no header");
  expect_error("a,b\nc,d\n", STATUS_BAD_FILE, "line 2: no header");
}

/* What no locale writes. Numbers of other locales are in test_ncu_dialects.c. */
TEST(test_no_numbers) {
  static const char *const numbers[] = {",123", "0x10", "1.", "1 23", "1,234,56", "1..5", "e6"};
  EACH (i, numbers) {
    expect_error(test_text(RAW_HEADER RAW_UNITS "\"0\",\"f\",\"%s\",\"2\"\n", numbers[i]), STATUS_BAD_FILE,
                 "line 3: dram__bytes_read.sum is");
  }
}

/* Cut a good file anywhere: it is refused, unless what is left is a whole number of rows, with or without the end of
 * the last line. */
TEST(test_truncated) {
  const char *good = RAW_HEADER RAW_UNITS "\"0\",\"f\",\"438,272\",\"19,296\"\n\"1\",\"g\",\"1\",\"2\"\n";
  const size_t first_row_end = strlen(RAW_HEADER RAW_UNITS "\"0\",\"f\",\"438,272\",\"19,296\"\n");
  for (size_t length = 0; length < strlen(good); length++) {
    CounterTable table;
    const Status status = counter_table_from_buffer(&table, good, length, fresh_error());
    const bool whole_rows = length == first_row_end || length == first_row_end - 1 || length == strlen(good) - 1;
    assert_true(status != STATUS_OK || whole_rows);
    assert_true(status == STATUS_OK || strstr(test_error.message, "line "));
    counter_table_free(&table);
  }
  expect_error(SHAPE_HEADER "dram__bytes_read.sum\n,,,,,,,,,,,byte\nfa1,fp16,1,1,1,8,8,8,0,8,8,123", STATUS_BAD_FILE,
               "line 3: the last line has no end"); /* 1234 cut to 123 would pass for a number */
}

TEST(test_bad_shape) {
#define RECORDED SHAPE_HEADER "dram__bytes_read.sum\n,,,,,,,,,,,byte\n"
  expect_error(RECORDED "fa1,fp12,1,1,1,8,8,8,0,8,8,1\n", STATUS_BAD_FILE, "line 3: the dtype");
  expect_error(RECORDED "fa1,fp16,1,1,1,0,8,8,0,8,8,1\n", STATUS_BAD_FILE, "line 3: seq_q is '0'");
  expect_error(RECORDED "fa1,fp16,1,3,2,8,8,8,0,8,8,1\n", STATUS_BAD_FILE, "line 3: ");
  expect_error(RECORDED "fa1,fp16,1,1,1,8,8,8,yes,8,8,1\n", STATUS_BAD_FILE, "line 3: causal");
  expect_error("rung,dtype,dram__bytes_read.sum\n,,byte\n", STATUS_BAD_FILE,
               "line 1: a column of the shape is missing");
}

/* Control characters of a kernel's name never reach a terminal, and a long name is cut. */
TEST(test_names_are_safe) {
  CounterTable table;
  must(read_text(test_text(RAW_HEADER RAW_UNITS "\"0\",\"\033[31m%0600d\",\"1\",\"2\"\n", 0), &table, fresh_error()));
  assert_int_equal(strlen(table.rows[0].kernel), NCU_NAME_BYTES - 1);
  assert_int_equal(table.rows[0].kernel[0], '?');
  counter_table_free(&table);
}

static Status read_many(void *context, Error *error) {
  CounterTable table;
  const Status status = counter_table_from_buffer(&table, context, strlen(context), error);
  counter_table_free(&table);
  return status;
}
TEST(test_out_of_memory) {
  char text[8192] = RAW_HEADER RAW_UNITS;
  for (int i = 0; i < 100; i++) strcat(text, "\"0\",\"f\",\"1\",\"2\"\n");
  assert_true(alloc_fail_each(read_many, text) >= 4);
}
