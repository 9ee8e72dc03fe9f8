/* What kernels' names and grids say, and which launches are one attention. Names are those that the kernels have under
 * ncu; what they must say is read off their launch templates by hand. */
#include "tests/support/test.h"
#include "kernels/counters/launches.h"

static const struct {
  const char *kernel;
  int64_t grid[3];
  const char *says; /* role; d, tile; what the grid says */
} NAMES[] = {
    {"void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, 0, 0, bfloat16_t>, 0, 1, 0, 0, 1, 1, 0, "
     "0>(Flash_fwd_params)",
     {32, 4, 32},
     "attention; d128 128x64 bf16 causal; N4096 even b4 h32"},
    {"void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<(int)64, (int)128, (int)128, (int)4, "
     "(bool)0, (bool)0, cutlass::half_t>, (bool)0, (bool)0, (bool)0, (bool)0, (bool)0, (bool)1, (bool)0, "
     "(bool)0>(params)",
     {8, 1, 12},
     "attention; d64 128x128 fp16 full; N1024 b1 h12"},
    {"void flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 64, 4, false, false, half_t>, false, true, true, true, "
     "false>(p)",
     {2, 3, 4},
     "attention; d64 128x64 fp16 causal; N256 even b3 h4"}, /* version 2.0: five switches */
    {"void flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4>>(Flash_fwd_params)",
     {1, 4, 64},
     "split keys; d128 64x128; splits4 N64"},
    {"void flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4>, 4, 2, 1>(p)",
     {64, 1, 1},
     "combine; d128 64x128; "},
    {"void flash_bwd_dot_do_o_kernel<true, Flash_bwd_kernel_traits<128, 64, 128, 8>>(p)",
     {1, 1, 1},
     "D of the backward pass; d128 64x128; "},
    {"void flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<64, 128, 128, 8, 4, 4, 4, 0, 0, "
     "half_t>>(p)",
     {1, 1, 1},
     "a backward pass; d64 128x128 fp16; N128 b1 h1"},
    {"void "
     "pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<pytorch_flash::Flash_bwd_kernel_traits<(int)128, "
     "(int)64, (int)128, (int)8, (int)2, (int)4, (int)2, (bool)0, (bool)0, cutlass::half_t, "
     "pytorch_flash::Flash_kernel_traits<(int)128, (int)64, (int)128, (int)8, cutlass::half_t>>, (bool)0, (bool)1, "
     "(bool)0, (bool)0, (bool)1, (bool)1, (bool)0>(pytorch_flash::Flash_bwd_params)",
     {32, 2, 16}, /* 32 blocks of 128 keys */
     "a backward pass; d128 64x128 fp16 causal; N4096 even b2 h16"},
    {"void flash_bwd_convert_dq_kernel<Flash_bwd_kernel_traits<128, 64, 128, 8>>(p)",
     {1, 1, 1},
     "dQ converted; d128 64x128; "},
    {"fmha_cutlassF_f16_aligned_64x128_rf_sm80(PyTorchMemEffAttention::AttentionKernel<cutlass::half_t>::Params)",
     {16, 8, 2},
     "attention; d128 64x128 fp16; N1024 b2 h8"},
    {"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_128x128x128_4x1x1_kernel0_0",
     {132, 1, 1},
     "attention; fp16; "},
    {"void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<flash::CollectiveMainloopFwdSm90<2>>>>(p)",
     {132, 1, 1},
     "attention; ; "},
    {"sm90_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel",
     {1, 1, 1},
     "a product; fp16; "},
    {"void (anonymous namespace)::softmax_warp_forward<c10::Half, c10::Half, float, 10, false, false>(x)",
     {1, 1, 1},
     "a softmax; fp16; "},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor<float>>(int)",
     {1, 1, 1},
     "an elementwise pass; fp32; "},
    {"attn_kernel(const float *, float *, int)", {64, 1, 1}, "attention; fp32; "},
    {"reduce_everything", {1, 1, 1}, "a kernel; ; "},
    {"", {0, 0, 0}, "a kernel; ; "},
    {"flash_fwd_kernel<Flash_fwd_kernel_traits<128", {1, 1, 1}, "attention; ; "}, /* cut off */
};

static void describe(const LaunchFacts *f, char *to, size_t size) {
  static const char *const roles[] = {
      "a kernel",        "attention",    "split keys", "combine",   "D of the backward pass",
      "a backward pass", "dQ converted", "a product",  "a softmax", "an elementwise pass"};
  snprintf(to, size, "%s; ", roles[f->role]);
#define PUT(...) snprintf(to + strlen(to), size - strlen(to), __VA_ARGS__)
  if (f->block_q) PUT("d%lld %lldx%lld", (long long)f->d, (long long)f->block_q, (long long)f->block_k);
  if (f->says_dtype) PUT("%s%s", f->block_q ? " " : "", dtype_name(f->dtype));
  if (f->says_causal) PUT(" %s", f->causal ? "causal" : "full");
  PUT("; ");
  if (f->n_splits) PUT("splits%lld ", (long long)f->n_splits);
  if (f->shape.N_q) PUT("N%lld", (long long)f->shape.N_q);
  if (f->is_even) PUT(" even");
  if (f->shape.batch) PUT(" b%lld h%lld", (long long)f->shape.batch, (long long)f->shape.heads);
}

TEST(test_names) {
  EACH (i, NAMES) {
    CounterRow row = {.block = {128, 1, 1}};
    char said[256];
    snprintf(row.kernel, sizeof row.kernel, "%s", NAMES[i].kernel);
    memcpy(row.grid, NAMES[i].grid, sizeof row.grid);
    const LaunchFacts f = launch_facts(&row);
    describe(&f, said, sizeof said);
    /* A name longer than there is room for loses its end: its switches may be cut. */
    if (strlen(NAMES[i].kernel) >= NCU_NAME_BYTES && strncmp(said, NAMES[i].says, 20) == 0) continue;
    if (strcmp(said, NAMES[i].says)) fail_msg("%s:\n  '%s', not '%s'", NAMES[i].kernel, said, NAMES[i].says);
  }
}

#define ROW(kernel_, launches, bytes)                                                                                  \
  {                                                                                                                    \
    .kernel = kernel_, .n_launches = launches, .known = {[COUNTER_HBM_READ] = true}, .value = {                        \
      [COUNTER_HBM_READ] = bytes                                                                                       \
    }                                                                                                                  \
  }

/* Which launches are added up, how often, and to how much. */
TEST(test_runs) {
  CounterRow rows[] = {
      ROW("copy_kernel", 1, 1000),
      ROW("flash_fwd_splitkv_kernel", 10, 100),
      ROW("flash_fwd_splitkv_combine_kernel", 10, 7),
      ROW("gemm_qk", 4, 10),
      ROW("scale_mask", 4, 20),
      ROW("softmax_kernel", 4, 30),
      ROW("dropout_kernel", 4, 5),
      ROW("gemm_pv", 4, 40),
      ROW("copy_out", 8, 3),       /* twice a run */
      ROW("softmax_kernel", 1, 9), /* of something else */
      ROW("flash_bwd_dot_do_o", 2, 1),
      ROW("flash_bwd_dq_dk_dv_loop", 2, 2),
      ROW("flash_bwd_convert_dq", 2, 4),
      ROW("flash_bwd_dot_do_o", 1, 10), /* the next one */
      ROW("flash_bwd_dq_dk_dv_loop", 1, 20),
      ROW("gemm", 1, 11), /* a product without a softmax */
      ROW("flash_fwd_kernel", 1, 50),
      ROW("flash_fwd_kernel", 1, 60),
  };
  static const struct {
    uint64_t bytes;
    int n_parts;
    int64_t n_runs;
  } RUNS[] = {{1000, 1, 1}, {107, 2, 10}, {111, 6, 4}, {9, 1, 1}, {7, 3, 2},
              {30, 2, 1},   {11, 1, 1},   {50, 1, 1},  {60, 1, 1}};
  const CounterTable table = {.rows = rows, .n_rows = COUNT_OF(rows)};
  LaunchRun *runs;
  size_t n;
  must(launch_runs(&table, "", &runs, &n, NULL));
  for (size_t i = 0; i < n && i < COUNT_OF(RUNS); i++) {
    if (runs[i].sum.value[COUNTER_HBM_READ] != RUNS[i].bytes || runs[i].n_parts != RUNS[i].n_parts ||
        runs[i].n_runs != RUNS[i].n_runs)
      fail_msg("run %zu: %llu bytes in %d parts, %lld times (%s)", i,
               (unsigned long long)runs[i].sum.value[COUNTER_HBM_READ], runs[i].n_parts, (long long)runs[i].n_runs,
               runs[i].parts);
  }
  assert_int_equal(n, COUNT_OF(RUNS));
  free(runs);
  must(launch_runs(&table, "combine", &runs, &n, NULL));
  assert_int_equal(n, 1);
  free(runs);
}

TEST(test_cards) {
  static const struct {
    const char *device;
    int capability;
    const char *gpu;
    bool several;
  } CARDS[] = {{"NVIDIA H200", 90, "h200", false},
               {"NVIDIA H100 80GB HBM3", 90, "h100-sxm", false},
               {"NVIDIA H100 PCIe", 90, "h100-pcie", false},
               {"NVIDIA A100-SXM4-80GB", 80, "a100-80gb", false},
               {"NVIDIA A100-PCIE-40GB", 80, "a100-40gb", false},
               {"NVIDIA L4", 89, "l4", false},
               {"NVIDIA L40S", 89, "l40s", false},    /* not an L4 */
               {"NVIDIA L40", 89, "rtx4090", true},   /* not an L4 either: by its compute capability alone */
               {"NVIDIA GB200", 100, "gb200", false}, /* not a B200 */
               {"NVIDIA GeForce RTX 5070 Ti", 120, "rtx5070ti", false},
               {"NVIDIA GeForce RTX 5070", 120, "rtx5070", false},
               {"NVIDIA GeForce RTX 4070 SUPER", 89, "rtx4090", true}, /* another card */
               {"NVIDIA GeForce RTX 3080 Laptop GPU", 86, "rtx3090", true},
               {"NVIDIA RTX PRO 6000 Blackwell Workstation Edition", 120, "rtx-pro-6000", false},
               {"NVIDIA H20", 90, "h20", false},
               {"NVIDIA A40", 86, "a40", false},
               {"", 90, "h200", true},
               {"", 75, "t4", false},
               {"", 120, NULL, false},
               {"", 0, NULL, false}};
  EACH (i, CARDS) {
    CounterRow row = {.capability = CARDS[i].capability};
    const char *candidates;
    strcpy(row.device, CARDS[i].device);
    const char *gpu = launch_gpu(&row, &candidates);
    if (CARDS[i].gpu ? !gpu || strcmp(gpu, CARDS[i].gpu) : gpu != NULL)
      fail_msg("%s, %d: %s", CARDS[i].device, CARDS[i].capability, gpu ? gpu : "none");
    assert_int_equal(*candidates != '\0', CARDS[i].several);
  }
}
