/* What kernels' names and grids say, and which launches are one attention. Names are those that the kernels have under
 * ncu; what they must say is read off their launch templates by hand. */
#include "tests/support/test.h"
#include "kernels/counters/launches.h"

/* The grid; role; d, tile; what the grid says => the kernel. Of version 2.0 with five switches; a backward pass of 32
 * blocks of 128 keys; cut off; a tile that no block has. */
static const char *const NAMES[] = {
    "32 4 32 attention; d128 128x64 bf16 causal; N4096 even b4 h32 => void "
    "flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, 0, 0, bfloat16_t>, 0, 1, 0, 0, 1, 1, 0, "
    "0>(Flash_fwd_params)",
    "8 1 12 attention; d64 128x128 fp16 full; N1024 b1 h12 => void "
    "pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<(int)64, (int)128, (int)128, (int)4, "
    "(bool)0, (bool)0, cutlass::half_t>, (bool)0, (bool)0, (bool)0, (bool)0, (bool)0, (bool)1, (bool)0, "
    "(bool)0>(params)",
    "2 3 4 attention; d64 128x64 fp16 causal; N256 even b3 h4 => void flash_fwd_kernel<Flash_fwd_kernel_traits<64, "
    "128, 64, 4, false, false, half_t>, false, true, true, true, false>(p)",
    "1 4 64 split keys; d128 64x128; splits4 N64 => void flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, "
    "128, 4>>(Flash_fwd_params)",
    "64 1 1 combine; d128 64x128;  => void flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4>,"
    " 4, 2, 1>(p)",
    "1 1 1 D of the backward pass; d128 64x128;  => void flash_bwd_dot_do_o_kernel<true, Flash_bwd_kernel_traits<128,"
    " 64, 128, 8>>(p)",
    "1 1 1 a backward pass; d64 128x128 fp16; N128 b1 h1 => void "
    "flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<64, 128, 128, 8, 4, 4, 4, 0, 0, half_t>>(p)",
    "32 2 16 a backward pass; d128 64x128 fp16 causal; N4096 even b2 h16 => void "
    "pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<pytorch_flash::Flash_bwd_kernel_traits<(int)128, "
    "(int)64, (int)128, (int)8, (int)2, (int)4, (int)2, (bool)0, (bool)0, cutlass::half_t, "
    "pytorch_flash::Flash_kernel_traits<(int)128, (int)64, (int)128, (int)8, cutlass::half_t>>, (bool)0, (bool)1, "
    "(bool)0, (bool)0, (bool)1, (bool)1, (bool)0>(pytorch_flash::Flash_bwd_params)",
    "1 1 1 dQ converted; d128 64x128;  => void flash_bwd_convert_dq_kernel<Flash_bwd_kernel_traits<128, 64, 128, "
    "8>>(p)",
    "16 8 2 attention; d128 64x128 fp16; N1024 b2 h8 => "
    "fmha_cutlassF_f16_aligned_64x128_rf_sm80(PyTorchMemEffAttention::AttentionKernel<cutlass::half_t>::Params)",
    "132 1 1 attention; fp16;  => "
    "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_128x128x128_4x1x1_kernel0_0",
    "132 1 1 attention; ;  => "
    "void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<flash::CollectiveMainloopFwdSm90<2>>>>(p)",
    "1 1 1 a product; fp16;  => "
    "sm90_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel",
    "1 1 1 a softmax; fp16;  => void (anonymous namespace)::softmax_warp_forward<c10::Half, c10::Half, float, 10, "
    "false, false>(x)",
    "1 1 1 an elementwise pass; fp32;  => void at::native::vectorized_elementwise_kernel<4, "
    "at::native::MulFunctor<float>>(int)",
    "64 1 1 attention; fp32;  => attn_kernel(const float *, float *, int)",
    "1 1 1 a kernel; ;  => reduce_everything",
    "0 0 0 a kernel; ;  => ",
    "1 1 1 attention; ;  => flash_fwd_kernel<Flash_fwd_kernel_traits<128",
    "1 1 1 attention; ;  => flash_fwd_kernel<Flash_fwd_kernel_traits<(int",
    "1 1 1 attention; ;  => flash_fwd_kernel<Flash_fwd_kernel_traits<999999999, 64, 64>>"};

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
  EACH_SAYS (name, NAMES) {
    CounterRow row = {.block = {128, 1, 1}};
    char said[256];
    int at;
    assert_int_equal(
        sscanf(name.text, "%" SCNd64 " %" SCNd64 " %" SCNd64 "%n", &row.grid[0], &row.grid[1], &row.grid[2], &at), 3);
    const char *says = name.text + at + 1;
    snprintf(row.kernel, sizeof row.kernel, "%s%c64, 64, 64>", name.says, 0); /* behind its end: not read */
    const LaunchFacts f = launch_facts(&row);
    describe(&f, said, sizeof said);
    /* A name longer than there is room for loses its end: its switches may be cut. */
    if (strlen(name.says) >= NCU_NAME_BYTES && strncmp(said, says, 20) == 0) continue;
    assert_string_equal(said, says);
  }
}

/* Which launches are added up, how often, and to how much. */
TEST(test_runs) {
  /* The kernel, how often it was launched, the bytes it read. copy_out runs twice a run; the second softmax is of
   * something else, the second backward pass another run; the last product has no softmax. */
  const char *launches = "copy_kernel 1 1000\n"
                         "flash_fwd_splitkv_kernel 10 100\n"
                         "flash_fwd_splitkv_combine_kernel 10 7\n"
                         "gemm_qk 4 10\n"
                         "scale_mask 4 20\n"
                         "softmax_kernel 4 30\n"
                         "dropout_kernel 4 5\n"
                         "gemm_pv 4 40\n"
                         "copy_out 8 3\n"
                         "softmax_kernel 1 9\n"
                         "flash_bwd_dot_do_o 2 1\n"
                         "flash_bwd_dq_dk_dv_loop 2 2\n"
                         "flash_bwd_convert_dq 2 4\n"
                         "flash_bwd_dot_do_o 1 10\n"
                         "flash_bwd_dq_dk_dv_loop 1 20\n"
                         "gemm 1 11\n"
                         "flash_fwd_kernel 1 50\n"
                         "flash_fwd_kernel 1 60";
  /* bytes, parts, times of each run */
  const char *expected = "1000 1 1\n"
                         "107 2 10\n"
                         "111 6 4\n"
                         "9 1 1\n"
                         "7 3 2\n"
                         "30 2 1\n"
                         "11 1 1\n"
                         "50 1 1\n"
                         "60 1 1";
  CounterRow rows[32] = {{.n_launches = 0}};
  char kernel[64];
  size_t n_rows = 0;
  for (CounterRow *row = rows;
       test_row(&launches, "%63s %" SCNd64 " %" SCNu64, kernel, &row->n_launches, &row->value[COUNTER_HBM_READ]);
       row++, n_rows++) {
    row->known[COUNTER_HBM_READ] = true;
    strcpy(row->kernel, kernel);
  }
  const CounterTable table = {.rows = rows, .n_rows = n_rows};
  LaunchRun *runs;
  size_t n;
  must(launch_runs(&table, "", &runs, &n, NULL));
  size_t at = 0;
  uint64_t bytes;
  int n_parts;
  for (int64_t times; at < n && test_row(&expected, "%" SCNu64 " %d %" SCNd64, &bytes, &n_parts, &times); at++)
    assert_true(runs[at].sum.value[COUNTER_HBM_READ] == bytes && runs[at].n_parts == n_parts &&
                runs[at].n_runs == times);
  assert_true(at == n && !expected);
  free(runs);
  must(launch_runs(&table, "combine", &runs, &n, NULL));
  assert_int_equal(n, 1);
  free(runs);
}

/* Launches of two processes are two runs; a rate is of one launch alone. */
TEST(test_apart) {
  static const CounterRow ROWS[] = {
      {.kernel = "flash_fwd_splitkv", .process = 1, .known = {[COUNTER_L2_HIT_RATE] = true}},
      {.kernel = "combine", .process = 1, .known = {[COUNTER_L2_HIT_RATE] = true}},
      {.kernel = "flash_fwd_splitkv", .process = 1},
      {.kernel = "combine", .process = 2, .known = {[COUNTER_L2_HIT_RATE] = true}}};
  const CounterTable table = {.rows = (CounterRow *)(uintptr_t)ROWS, .n_rows = 4};
  LaunchRun *runs;
  size_t n;
  must(launch_runs(&table, "", &runs, &n, NULL));
  assert_int_equal(n, 3);
  assert_int_equal(runs[0].n_parts, 2);
  assert_false(runs[0].sum.known[COUNTER_L2_HIT_RATE]);
  assert_true(runs[2].sum.known[COUNTER_L2_HIT_RATE]);
  free(runs);
}

TEST(test_cards) {
  /* the compute capability, the GPU, whether several would do => the device; an L40 is neither an L4 nor an L40S, nor a
   * GB200 a B200 */
  static const char *const CARDS[] = {"90 h200 0 => NVIDIA H200",
                                      "90 h100-sxm 0 => NVIDIA H100 80GB HBM3",
                                      "90 h100-pcie 0 => NVIDIA H100 PCIe",
                                      "80 a100-80gb 0 => NVIDIA A100-SXM4-80GB",
                                      "80 a100-40gb 0 => NVIDIA A100-PCIE-40GB",
                                      "89 l4 0 => NVIDIA L4",
                                      "89 l40s 0 => NVIDIA L40S",
                                      "89 rtx4090 1 => NVIDIA L40",
                                      "100 gb200 0 => NVIDIA GB200",
                                      "120 rtx5070ti 0 => NVIDIA GeForce RTX 5070 Ti",
                                      "120 rtx5070 0 => NVIDIA GeForce RTX 5070",
                                      "89 rtx4090 1 => NVIDIA GeForce RTX 4070 SUPER",
                                      "86 rtx3090 1 => NVIDIA GeForce RTX 3080 Laptop GPU",
                                      "120 rtx-pro-6000 0 => NVIDIA RTX PRO 6000 Blackwell Workstation Edition",
                                      "90 h20 0 => NVIDIA H20",
                                      "86 a40 0 => NVIDIA A40",
                                      "90 h200 1 => ",
                                      "75 t4 0 => ",
                                      "120 - 0 => ",
                                      "0 - 0 => "};
  EACH_SAYS (card, CARDS) {
    CounterRow row = {.capability = 0};
    char wanted[32];
    const char *candidates;
    int several;
    assert_int_equal(sscanf(card.text, "%d %31s %d", &row.capability, wanted, &several), 3);
    strcpy(row.device, card.says);
    const char *gpu = launch_gpu(&row, &candidates);
    assert_string_equal(gpu ? gpu : "-", wanted);
    assert_int_equal(*candidates != '\0', several);
  }
}
