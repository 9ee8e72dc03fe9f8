/* wmma over mma.sync: 16 x 16 x 16 of fp16 or bf16, sums in fp32 or fp16. An element lies in the lane that mma has it
 * in; where NVIDIA's has it is not said. */
#pragma once

namespace nvcuda {
namespace wmma {
struct matrix_a {
  enum { is_b };
};
struct matrix_b {
  enum { is_b = true };
};
struct accumulator;
struct row_major {
  enum { by_columns };
};
struct col_major {
  enum { by_columns = true };
};
enum layout_t { mem_row_major, mem_col_major };

template <typename Use, int M, int N, int K, typename T, typename Layout = void> struct fragment {
  static_assert(M == 16 && N == 16 && K == 16 && sizeof(T) >= 2, "of wmma 16 x 16 x 16 of fp16 and bf16 is here");
  typedef T element_type;
  enum { num_elements = 8 };
  T x[num_elements];
};
template <typename T> using tw_sums = fragment<accumulator, 16, 16, 16, T>;

/* Where element e of a lane lies in a matrix, of A, C and D by rows, of B by columns. */
TW_DEVICE unsigned tw_element(bool is_b, bool by_columns, int e, unsigned stride) {
  const unsigned across = tw_lane() / 4 + 8 * (e / (is_b ? 4 : 2) % 2),
                 along = tw_lane() % 4 * 2 + e % 2 + 8 * (e / (is_b ? 2 : 4) % 2);
  return is_b != by_columns ? along * stride + across : across * stride + along;
}
template <typename F, typename V> TW_DEVICE void fill_fragment(F &f, V value) {
  for (auto &x : f.x) x = value;
}
template <typename Use, typename T, typename Layout>
TW_DEVICE void load_matrix_sync(fragment<Use, 16, 16, 16, T, Layout> &f, const T *from, unsigned stride) {
  for (int e = 0; e < f.num_elements; e++) f.x[e] = from[tw_element(Use::is_b, Layout::by_columns, e, stride)];
}
template <typename T> TW_DEVICE void load_matrix_sync(tw_sums<T> &f, const T *from, unsigned stride, layout_t layout) {
  for (int e = 0; e < f.num_elements; e++) f.x[e] = from[tw_element(false, layout == mem_col_major, e, stride)];
}
template <typename T> TW_DEVICE void store_matrix_sync(T *to, const tw_sums<T> &f, unsigned stride, layout_t layout) {
  for (int e = 0; e < f.num_elements; e++) to[tw_element(false, layout == mem_col_major, e, stride)] = f.x[e];
}

#define TW_MMA(T, TYPE)                                                                                                \
  TW_DEVICE void tw_mma(T, float *d, const unsigned *a, const unsigned *b, const float *c) {                           \
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." TYPE "." TYPE ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "    \
                 "{%8, %9}, {%10, %11, %12, %13};"                                                                     \
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])                                                      \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]),  \
                   "f"(c[3]));                                                                                         \
  }
TW_MMA(__half, "f16")
TW_MMA(__nv_bfloat16, "bf16")
TW_DEVICE void tw_mma(__half, __half *d, const unsigned *a, const unsigned *b, const __half *c) {
  unsigned sums[2];
  __builtin_memcpy(sums, c, sizeof sums);
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
               : "+r"(sums[0]), "+r"(sums[1])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  __builtin_memcpy(d, sums, sizeof sums);
}
template <typename S, typename T, typename LayoutA, typename LayoutB>
TW_DEVICE void mma_sync(tw_sums<S> &d, const fragment<matrix_a, 16, 16, 16, T, LayoutA> &a,
                        const fragment<matrix_b, 16, 16, 16, T, LayoutB> &b, const tw_sums<S> &c) {
  unsigned A[4], B[4];
  __builtin_memcpy(A, a.x, sizeof A);
  __builtin_memcpy(B, b.x, sizeof B);
  for (int half = 0; half < 2; half++) tw_mma(T(), d.x + 4 * half, A, B + 2 * half, c.x + 4 * half);
}
} // namespace wmma
} // namespace nvcuda
