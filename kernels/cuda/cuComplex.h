/* Complex numbers as CUDA's header of this name has them. */
#ifndef TILEWALK_KERNELS_CUDA_CUCOMPLEX_H
#define TILEWALK_KERNELS_CUDA_CUCOMPLEX_H

#define TW_COMPLEX(PAIR, REAL, COMPLEX, MAKE, F)                                                                       \
  typedef PAIR COMPLEX;                                                                                                \
  __host__ __device__ static inline COMPLEX MAKE(REAL x, REAL y) { return make_##PAIR(x, y); }                         \
  __host__ __device__ static inline REAL cuCreal##F(COMPLEX a) { return a.x; }                                         \
  __host__ __device__ static inline REAL cuCimag##F(COMPLEX a) { return a.y; }                                         \
  __host__ __device__ static inline COMPLEX cuConj##F(COMPLEX a) { return MAKE(a.x, -a.y); }                           \
  __host__ __device__ static inline COMPLEX cuCadd##F(COMPLEX a, COMPLEX b) { return MAKE(a.x + b.x, a.y + b.y); }     \
  __host__ __device__ static inline COMPLEX cuCsub##F(COMPLEX a, COMPLEX b) { return MAKE(a.x - b.x, a.y - b.y); }     \
  __host__ __device__ static inline COMPLEX cuCmul##F(COMPLEX a, COMPLEX b) {                                          \
    return MAKE(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                                                         \
  }                                                                                                                    \
  __host__ __device__ static inline COMPLEX cuCdiv##F(COMPLEX a, COMPLEX b) {                                          \
    const REAL n = b.x * b.x + b.y * b.y;                                                                              \
    return MAKE((a.x * b.x + a.y * b.y) / n, (a.y * b.x - a.x * b.y) / n);                                             \
  }                                                                                                                    \
  __host__ __device__ static inline REAL cuCabs##F(COMPLEX a) { return sqrt(a.x * a.x + a.y * a.y); }

TW_COMPLEX(float2, float, cuFloatComplex, make_cuFloatComplex, f)
TW_COMPLEX(double2, double, cuDoubleComplex, make_cuDoubleComplex, )
typedef cuFloatComplex cuComplex;
__host__ __device__ static inline cuComplex make_cuComplex(float x, float y) { return make_cuFloatComplex(x, y); }
__host__ __device__ static inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) {
  return make_cuDoubleComplex(a.x, a.y);
}
__host__ __device__ static inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) {
  return make_cuFloatComplex((float)a.x, (float)a.y);
}

#endif
