/* The default machine, built in so that nothing needs a file: the text of assets/gpus/paper, line by line.
 * Change both together; tests/unit/test_gpu.c compares them. */
#include "sim/machine/gpu.h"

#include <assert.h>

// clang-format off
static const char PAPER[] =
    "# The two-level machine of the FlashAttention papers: SRAM and HBM, nothing between. Numbers are the A100's.\n"
    "# This is the default, built into the program; it is here so that it can be read, copied and changed.\n"
    "\n"
    "name                 = paper\n"
    "product              = two-level model, SRAM and HBM (A100 numbers)\n"
    "vendor               = none\n"
    "architecture         = two-level model\n"
    "compute_capability   = 8.0\n"
    "\n"
    "# SM\n"
    "year                 = 2022           # source: Dao et al., FlashAttention (arXiv 2205.14135)\n"
    "n_sm                 = 108            # source: Dao et al., FlashAttention (arXiv 2205.14135), section 2.1\n"
    "sram                 = 192 KiB        # source: Dao et al., FlashAttention (arXiv 2205.14135), section 2.1: 192 KB of on-chip SRAM for each of 108 SMs\n"
    "shared_per_sm        = 192 KiB        # assumed: the papers let an algorithm use all of it\n"
    "shared_per_cta       = 192 KiB        # assumed: the papers let an algorithm use all of it\n"
    "shared_reserved      = 0 B            # assumed: nothing is lost\n"
    "registers_per_sm     = 64K            # source: NVIDIA A100 Tensor Core GPU Architecture whitepaper, table 5 (p. 43)\n"
    "registers_per_thread = 255            # source: NVIDIA A100 Tensor Core GPU Architecture whitepaper, table 5 (p. 43)\n"
    "threads_per_sm       = 2048           # source: NVIDIA A100 Tensor Core GPU Architecture whitepaper, table 5 (p. 43)\n"
    "threads_per_cta      = 1024           # source: CUDA C++ Programming Guide 13, table 27 (Technical Specifications), compute capability 8.0\n"
    "warps_per_sm         = 64             # source: NVIDIA A100 Tensor Core GPU Architecture whitepaper, table 5 (p. 43)\n"
    "ctas_per_sm          = 32             # source: NVIDIA A100 Tensor Core GPU Architecture whitepaper, table 5 (p. 43)\n"
    "warp_size            = 32             # source: CUDA C++ Programming Guide 13, table 27 (Technical Specifications), compute capability 8.0\n"
    "clock                = 1410 MHz       # source: NVIDIA A100 Tensor Core GPU Architecture whitepaper, table 4 (p. 36-37)\n"
    "sram_port            = 128 B/clk      # source: CUDA C++ Programming Guide 13, section 20.4.3: 32 banks of 32 bits per clock; 19.5 TB/s in all, where Dao et al., FlashAttention (arXiv 2205.14135), section 2.1, estimates 19\n"
    "exp                  = 16 op/clk      # source: CUDA C++ Programming Guide 12.8, section 5.4.1, table 4: exp2f, results per clock and SM, compute capability 8.0\n"
    "\n"
    "# HBM\n"
    "hbm                  = 40 GB          # source: Dao et al., FlashAttention (arXiv 2205.14135), figure 1\n"
    "hbm_bandwidth        = 1555 GB/s      # source: NVIDIA A100 Tensor Core GPU Architecture whitepaper, table 4 (p. 36-37); Dao et al., FlashAttention (arXiv 2205.14135), figure 1, says 1.5 TB/s\n"
    "\n"
    "# Arithmetic, dense\n"
    "fp32                 = 19.5 TFLOP/s   # source: NVIDIA A100 Tensor Core GPU Architecture whitepaper, table 4 (p. 36-37)\n"
    "fp16                 = 78 TFLOP/s     # source: NVIDIA A100 Tensor Core GPU Architecture whitepaper, table 4 (p. 36-37)\n"
    "bf16                 = 39 TFLOP/s     # source: NVIDIA A100 Tensor Core GPU Architecture whitepaper, table 4 (p. 36-37)\n"
    "tf32_tensor          = 156 TFLOP/s    # source: NVIDIA A100 Tensor Core GPU Architecture whitepaper, table 4 (p. 36-37)\n"
    "fp16_tensor          = 312 TFLOP/s    # source: NVIDIA A100 Tensor Core GPU Architecture whitepaper, table 4 (p. 36-37)\n"
    "bf16_tensor          = 312 TFLOP/s    # source: NVIDIA A100 Tensor Core GPU Architecture whitepaper, table 4 (p. 36-37)\n"
    "\n"
    "# Launch\n"
    "launch_overhead      = 3 us           # assumed: between the 1.7 us measured on an H200 and the 5000 clocks (3.5 us) of Accel-Sim SM80_A100/gpgpusim.config\n";
// clang-format on

void gpu_paper(Gpu *gpu) {
  const Status status = gpu_parse(PAPER, sizeof PAPER - 1, "paper", gpu, NULL);
  assert(status == STATUS_OK);
  (void)status;
}
