/* Store, then load: does a sector that L1 holds still hit? One block; each mode stores and loads differently.
 * assets/counters/h100/store-load has what an H100 did. */
__device__ __forceinline__ float ld(const float *p) {
  float v;
  asm volatile("ld.global.ca.f32 %0, [%1];" : "=f"(v) : "l"(p) : "memory");
  return v;
}
__device__ __forceinline__ void st(float *p, float v) {
  asm volatile("st.global.f32 [%0], %1;" ::"l"(p), "f"(v) : "memory");
}
__device__ __forceinline__ void spin(int cycles) {
  if (cycles) {
    long long t = clock64();
    while (clock64() - t < cycles) {
    }
  }
}
extern "C" __global__ void store_load(float *x, float *out, int mode, int gap, int turns) {
  const int t = threadIdx.x, lane = t & 31;
  float s = 0;
  for (int k = 0; k < turns; k++) {
    float *line = x + k * 1024; /* 32 lines a turn */
    float *own = line + lane;
    switch (mode) {
    case 0:
      s += ld(own);
      __syncwarp();
      spin(gap);
      s += ld(own);
      break; /* no store: all of the second hit */
    case 1:
      s += ld(own);
      if (s > 1e30f) out[1] = s;
      st(own, s);
      spin(gap);
      s += ld(own);
      break; /* load, whole line stored, load */
    case 2:
      s += ld(own);
      if (s > 1e30f) out[1] = s;
      if (lane == 0) st(own, s);
      spin(gap);
      s += ld(own);
      break; /* one word stored */
    case 3:
      st(own, s + k);
      spin(gap);
      s += ld(own);
      break; /* never loaded before */
    case 4:
      s += ld(line + lane * 32);
      if (s > 1e30f) out[1] = s;
      st(line + lane * 32, s);
      spin(gap);
      s += ld(line + lane * 32 + 1);
      break; /* a row a lane: one word of a sector stored, its neighbour loaded */
    case 5:
      for (int e = 0; e < 8; e++) {
        float v = ld(line + lane * 32 + e);
        st(line + lane * 32 + e, v * 2 + 1);
        spin(gap);
        s += v;
      }
      break; /* a row a lane, added to word by word */
    case 6:
      for (int r = 0; r < 4; r++)
        for (int e = 0; e < 32; e++) {
          float v = ld(line + lane * 32 + e);
          st(line + lane * 32 + e, v * 2 + 1);
          spin(gap);
          s += v;
        }
      break; /* the same, four passes of 128 bytes a lane */
    case 7:
      if (t < 32) s += ld(own);
      __syncthreads();
      if (t >= 32) st(own, 2.0f + k);
      __syncthreads();
      spin(gap);
      if (t < 32) s += ld(own);
      break; /* another warp stores */
    case 8:
      s += ld(own);
      if (s > 1e30f) out[1] = s;
      st(own, s);
      spin(gap);
      s += ld(own);
      spin(gap);
      s += ld(own);
      break; /* and loaded once more */
    case 9:
      s += ld(own);
      if (s > 1e30f) out[1] = s;
      st(own + 32, s);
      spin(gap);
      s += ld(own);
      break; /* another line stored */
    case 10:
      for (int e = 0; e < 32; e++) st(line + lane * 32 + e, s + e);
      spin(gap);
      for (int e = 0; e < 32; e++) s += ld(line + lane * 32 + e);
      break; /* a row stored word by word, then loaded */
    }
    __syncwarp();
  }
  out[t + 32] = s;
}
