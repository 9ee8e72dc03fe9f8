/* Rung 4 with one load too many: its output is right, its bytes are not. tests/unit/test_kernels.cpp shows that the
 * count notices. Everything else is the rung's own source. */
#define TW_COUNTING
#define counted broken
#include "kernels/lib/scalar_tile.cuh"

namespace broken {
/* What the rung calls instead of load_rows. */
template <class T>
static void load_rows_and_one_more(const Attention &a, int tensor, T *to, int row, const T *from, int n_rows) {
  load_rows(a, tensor, to, row, from, n_rows);
  if (threadIdx.x == 0 && tensor == KERNEL_K && blockIdx.x == 0) to[0] = hbm_read(a, tensor, &from[0]);
}
} // namespace broken
#define load_rows load_rows_and_one_more
#include "kernels/ladder/fa2_scalar.cu"
