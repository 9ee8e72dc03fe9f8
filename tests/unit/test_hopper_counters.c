/* What rungs 8 and 9 moved across the boundary of the SMs on an H100 (assets/counters/h100/hopper/first.csv): to the
 * byte what their schedule says, and in rung 9 what its own two habits cost. Its counter of row blocks moves a sector
 * each way for each block taken. TMA counts the rows of a box of Q that lie outside the tensor, which arrive as zeros.
 */
#include "tests/support/test.h"
#include "kernels/counters/kernel_model.h"
#include "tests/support/open_counter_table.h"

enum { SECTOR_BYTES = 32, LAUNCHES = 56 };

static void expect_equal(const CounterRow *row) {
  const Shape *s = &row->shape;
  const int64_t blocks = (s->N_q + row->tiling.B_r - 1) / row->tiling.B_r * s->heads * s->batch;
  const int64_t outside = blocks * row->tiling.B_r - s->N_q * s->heads * s->batch;
  const uint64_t taken = strcmp(row->kernel, "fa3_overlap") ? 0 : (uint64_t)blocks * SECTOR_BYTES;
  KernelTraffic traffic;
  must(kernel_model_traffic(kernel_model_find(row->kernel), s, &row->tiling, &traffic, fresh_error()));
  assert_true(row->known[COUNTER_BOUNDARY_READ] && row->known[COUNTER_BOUNDARY_WRITE]);
  assert_int_equal(row->value[COUNTER_BOUNDARY_READ],
                   kernel_traffic_read(&traffic) + taken + (uint64_t)(outside * s->d * 2));
  assert_int_equal(row->value[COUNTER_BOUNDARY_WRITE], kernel_traffic_write(&traffic) + taken);
}

TEST(test_boundary_bytes) {
  CounterTable table = open_counter_table("counters/h100/hopper/first.csv");
  assert_int_equal(table.n_rows, LAUNCHES);
  for (size_t i = 0; i < table.n_rows; i++) expect_equal(&table.rows[i]);
  counter_table_free(&table);
}
