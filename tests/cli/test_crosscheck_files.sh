#!/bin/sh
# Counter files as other people export them, through `tilewalk crosscheck --ncu`: what is taken from the file, what is
# added up, which card is meant, and the first cause that is named. Values are worked by hand in the comments.
set -u
# shellcheck source=tests/support/expect.sh
. "$(dirname "$0")/../support/expect.sh"
run() { "$tilewalk" crosscheck --details --ncu "$@"; }
wraps=1

head='"ID","Process ID","Kernel Name","Block Size","Grid Size","CC",'
hbm='"dram__bytes_read.sum","dram__bytes_write.sum","gpu__time_duration.sum"'
units='"","","","","","",'

# A causal forward pass: 4 x 32 heads of 4,096, d = 128, tiles of 128 x 64. A head has 32 row blocks with 2, 4 ... 64
# tiles, 1,056 in all: K and V are 1,056 x 2 x 16,384 B, Q 1 MiB; 128 heads read 4,563,402,752 B. It writes O, 128 MiB,
# and 2 MiB of log-sum-exp: what is left of 490,602,496 B is 20.5 B for each of 128 threads and 135,168 tiles.
name='void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, 0, 0, bfloat16_t>, 0, 1, 0, 0, 1, 1, 0, 0>(Flash_fwd_params)'
{
  echo "$head\"l1tex__m_l1tex2xbar_write_bytes.sum\",\"l1tex__m_xbar2l1tex_read_bytes.sum\",\"gpu__time_duration.sum\""
  echo "$units\"Mbyte\",\"Gbyte\",\"ms\""
  echo "\"0\",\"7\",\"$name\",\"(128, 1, 1)\",\"(32, 4, 32)\",\"9.0\",\"490.602496\",\"4.563403\",\"1.5\""
} >"$work/causal.csv"
expect 0 'N = 4096, batch 4, 32 heads, causal, d = 128, bf16, tiles of 128 x 64' "$work/causal.csv"
expect 0 'taken for h200, --gpu says otherwise' "$work/causal.csv"
expect 0 'read across the boundary 4,563,402,752 4,563,403,000' "$work/causal.csv"
expect 0 '1 this build spills about 20.5 B a thread and tile, not 5' "$work/causal.csv"
expect 0 '"cause": "spills"' "$work/causal.csv" --json
expect 1 'N is from 3969 to 4096, not 2048' "$work/causal.csv" -N 2048 -d 128 --batch 4 --heads 32 --causal
expect 1 'says causal; add --causal' "$work/causal.csv" -N 4096 -d 128 --batch 4 --heads 32
expect 1 "1 the grid's shape, N = 4096, 128 heads in all, causal" "$work/causal.csv" -N 2048 -d 128 --batch 4 --heads 32 --causal
expect 1 'tiles of 128 x 64, but 64 x 64 are asked for' "$work/causal.csv" -N 4096 -d 128 --batch 4 --heads 32 --causal --block 64 --kernel fa2-sm90
expect 0 'file is of compute capability 9.0, but --gpu a100-80gb has 8.0' "$work/causal.csv" --gpu a100-80gb --kernel fa2-sm90
expect 0 'No counters of a100-80gb were ever recorded: of its .* numbers .* are measured and .* assumed' "$work/causal.csv" --gpu a100-80gb --kernel fa2-sm90
expect 1 "1 the grid's shape, N = 4096, 128 heads in all, causal" "$work/causal.csv" -N 4096 -d 128 --batch 2 --heads 32 --causal --block-q 128 --block-k 64

# Decode of 8 sequences with 32 heads on 8, 32K keys: split, and a kernel that combines. K and V are 8 x 8 x 32,768 x
# 128 x 2 x 2 B = 1,073,741,824 B, read once for the four query heads of a group.
{
  echo "$head$hbm"
  echo "$units\"byte\",\"byte\",\"ns\""
  echo "\"0\",\"7\",\"void flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4>>(Flash_fwd_params)\",\"(128, 1, 1)\",\"(1, 4, 64)\",\"9.0\",\"1073870000\",\"2628096\",\"342688\""
  echo "\"1\",\"7\",\"void flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4>, 4, 2, 1>(Flash_fwd_params)\",\"(128, 1, 1)\",\"(64, 1, 1)\",\"9.0\",\"550000\",\"0\",\"5952\""
} >"$work/decode.csv"
decode="-N 1 --seq-len-k 32K --batch 8 --heads 32 --kv-heads 8 -d 128 --gpu h100-sxm"
# shellcheck disable=SC2086 # options
expect 0 'added up: flash_fwd_splitkv_kernel 342.7 us + flash_fwd_splitkv_combine_kernel 6.0 us' "$work/decode.csv" $decode
# shellcheck disable=SC2086
expect 0 'The 4 query heads of a group are packed' "$work/decode.csv" $decode
# shellcheck disable=SC2086
expect 0 'read from HBM 1,073,807,360 to 1,074,420,000 0.000% in range' "$work/decode.csv" $decode
# The least time is 1.074 GB over 3.35 TB/s, 321 us, and launching: less than was measured.
# shellcheck disable=SC2086
expect 0 'time at best 32[0-9]\.[0-9] us 348.6 us' "$work/decode.csv" $decode

# Four kernels of an eager attention in fp32, 128 heads of 4,096: S has 8.59 GB; scaling and masking is a pass of its
# own. Read are S three times, P once and the inputs: 0.54 + 8.59 + 9.70 + 9.00 = 27.8 GB.
{
  echo "$head$hbm"
  echo "$units\"byte\",\"byte\",\"ns\""
  echo '"0","9","gemm_kernel<1>(Operand)","(16, 16, 1)","(256, 256, 128)","9.0","539985000","8573748000","137385664"'
  echo '"1","9","scale_mask_kernel(float *)","(256, 1, 1)","(8388608, 1, 1)","9.0","8590401000","8567907000","8853600"'
  echo '"2","9","softmax_kernel(float *)","(256, 1, 1)","(524288, 1, 1)","9.0","9702316000","8570286000","6829376"'
  echo '"3","9","gemm_kernel<0>(Operand)","(16, 16, 1)","(8, 256, 128)","9.0","9001000000","135000000","133756000"'
} >"$work/eager.csv"
expect 0 'One attention, added up: gemm_kernel .* + scale_mask_kernel .* + softmax_kernel .* + gemm_kernel' "$work/eager.csv"
expect 0 'N = 4096, batch 1, 128 heads, d = 128, fp32' "$work/eager.csv"
expect 0 'read from HBM 805,306,368 to [0-9,]* 27,833,702,000 0.000% says nothing\|27,833,702,000' "$work/eager.csv"
expect 0 '1 an unfused pass over S' "$work/eager.csv"

# The page of details of a card that nobody described: its bytes are judged, and nothing is predicted for another card.
{
  echo '==PROF== Connected to process 3'
  echo 'wrote 7 rows'
  echo "$head\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\""
  for metric in 'dram__bytes_op_read.sum","byte","134,221,568' 'dram__bytes_op_write.sum","byte","43,631' 'lts__t_sector_hit_rate.pct","%","33.26'; do
    echo "\"0\",\"3\",\"attn_kernel(const float *, int)\",\"(256, 1, 1)\",\"(64, 1, 1)\",\"12.0\",\"Metrics\",\"$metric\""
  done
} >"$work/details.csv"
expect 0 'compute capability 12.0, of which no GPU is described' "$work/details.csv" -N 16K -d 64
expect 0 'read from HBM .* 134,221,568' "$work/details.csv" -N 16K -d 64
if grep -q 'h200' "$work/out"; then
  echo "a file of compute capability 12.0 is judged by an H200"
  failed=1
fi

# A backward pass is added up, with its words; a launch of another kind beside an attention is left out, and said so.
{
  echo "$head$hbm"
  echo "$units\"byte\",\"byte\",\"ns\""
  i=0
  for kernel in flash_bwd_dot_do_o_kernel flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel flash_bwd_convert_dq_kernel; do
    echo "\"$i\",\"7\",\"void $kernel<Flash_bwd_kernel_traits<128, 64, 128, 8>>(Flash_bwd_params)\",\"(256, 1, 1)\",\"(32, 4, 32)\",\"9.0\",\"1000000000\",\"1\",\"1000\""
    i=$((i + 1))
  done
  echo '"3","7","vectorized_elementwise_kernel","(128, 1, 1)","(32, 1, 1)","9.0","5","5","5"'
} >"$work/backward.csv"
expect 0 'A backward pass, added up and not judged: .*loop_seqk_parallel_kernel .* 3.000 GB read from HBM' "$work/backward.csv"
expect 0 '1 other kernel left out' "$work/backward.csv"
expect 0 'not judged: .*; the file says nothing of shapes; give one with -N, --batch and --heads' "$work/backward.csv"

# FlashAttention-2's backward passes as assets/counters/h100/backward recorded them: 1 and 16 heads of 4,096, d = 128. By hand
# for one head: D reads O and dO, 2 MiB; each of 32 column blocks reads Q and dO, 2 MiB (causal: 33/2 of 32), and 2 x 64 fp32 of
# each of its 64 tiles (33); K and V once, 2 MiB; the conversion reads dQ in fp32, 2 MiB: 74,448,896 B and 41,435,136 B. The rung
# reads the log-sum-exp once more, 16,384 B.
backward() { # backward CAUSAL HEADS READ WRITE READ WRITE READ WRITE: of D, the loop, the conversion
  traits='pytorch_flash::Flash_bwd_kernel_traits<128, 64, 128, 8, 2, 4, 2, 0, 0, cutlass::half_t>'
  echo "$head\"l1tex__m_xbar2l1tex_read_bytes.sum\",\"l1tex__m_l1tex2xbar_write_bytes.sum\""
  echo "$units\"byte\",\"byte\""
  echo "\"0\",\"7\",\"void pytorch_flash::flash_bwd_dot_do_o_kernel<1, $traits>(Flash_bwd_params)\",\"(256, 1, 1)\",\"(64, 1, $2)\",\"9.0\",\"$3\",\"$4\""
  echo "\"1\",\"7\",\"void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<$traits, 0, $1, 0, 0, 1, 1, 0>(Flash_bwd_params)\",\"(256, 1, 1)\",\"(32, 1, $2)\",\"9.0\",\"$5\",\"$6\""
  echo "\"2\",\"7\",\"void pytorch_flash::flash_bwd_convert_dq_kernel<$traits>(Flash_bwd_params, int)\",\"(256, 1, 1)\",\"(64, 1, $2)\",\"9.0\",\"$7\",\"$8\""
}
backward 0 1 2097152 2128000 70254592 69271552 2097152 1048576 >"$work/flash.csv"
expect 0 'judged by the formulas of fa2_backward' "$work/flash.csv"
expect 0 'N = 4096, batch 1, 1 heads, d = 128, fp16, tiles of 64 x 128\|N = 4096, batch 1, 1 heads, d = 128, tiles of 64 x 128' "$work/flash.csv"
expect 0 'read across the boundary 74,465,280 74,448,896' "$work/flash.csv"
expect 1 'read across the boundary .* 74,448,896 .* DIFFERS' "$work/flash.csv" -N 2048 -d 128
expect 1 'not causal; leave out --causal' "$work/flash.csv" -N 4096 -d 128 --causal
backward 1 1 2097152 2127232 37240832 36798464 2097152 1048576 >"$work/causal_back.csv"
expect 0 'read across the boundary 41,451,520 41,435,136' "$work/causal_back.csv"
expect 1 'says causal; add --causal' "$work/causal_back.csv" -N 4096 -d 128
backward 0 16 33554432 34065984 1124100096 1108344832 33554432 16777216 >"$work/heads.csv"
expect 0 'read across the boundary 1,191,444,480 1,191,208,960' "$work/heads.csv"
expect 0 'which is not described' "$work/heads.csv" -N 4096 -d 128 --heads 16 --kv-heads 4
grep -v convert_dq "$work/flash.csv" >"$work/two.csv"
expect 0 'not judged: .*it is three launches' "$work/two.csv"
sed -e 's/pytorch_flash::flash_bwd_dot_do_o_kernel/cudnn::compute_dot_do_o_specialized/' -e 's/pytorch_flash::flash_bwd_dq[a-z_]*/cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_/' \
  -e 's/pytorch_flash::flash_bwd_convert_dq_kernel/cudnn::convert_dq_to_16bits/' -e 's/<[^>]*>*//g' "$work/flash.csv" >"$work/cudnn.csv"
expect 0 "not judged: .*its name does not say its tiles, and only FlashAttention-2's order" "$work/cudnn.csv"

# HBM alone, 8 heads of 131,072, d = 128: K and V of a head have 67.1 MB, an H200's L2 62.9. A head's 1,024 row blocks meet 8 or 9 of
# the waves of 132 CTAs, 70 in all (counted by hand: 1,024 s to 1,024 s + 1,023 over 132): 268 MB of Q and 70 x 67.1 MB.
{
  echo "$head$hbm"
  echo "$units\"byte\",\"byte\",\"ms\""
  echo "\"0\",\"7\",\"void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, 0, 0, half_t>, 0, 0, 0, 0, 1, 1, 0, 0>(p)\",\"(128, 1, 1)\",\"(1024, 1, 8)\",\"9.0\",\"4966055936\",\"268435456\",\"9\""
} >"$work/l2.csv"
expect 0 '1 K and V of a head have 67.1 MB, L2 .*: each wave of 132 CTAs reads them anew: would read 4.97 GB, 0.0 % off' "$work/l2.csv"

# The same forward pass of an A100: no description is taken, but the tile, and the log-sum-exp that FlashAttention-2
# always writes: O has 134,217,728 B and it 2,097,152.
sed 's/"9.0","490.602496"/"8.0","136.314880"/' "$work/causal.csv" >"$work/ampere.csv"
expect 0 'taken for a100-80gb' "$work/ampere.csv"
expect 0 'written across it 136,314,880 136,314,880 0.000% exact' "$work/ampere.csv"
expect 0 'written across it 136,314,880 136,314,880 0.000% exact' "$work/ampere.csv" --kernel-name flash

# A file with a time alone says so.
printf 'ID,Kernel Name,gpu__time_duration.sum\n,,us\n0,flash,5.5\n' >"$work/time.csv"
expect 0 'No counter of bytes is in the file' "$work/time.csv" -N 4096

# Through a pipe, and a report that is no CSV.
"$tilewalk" crosscheck --ncu - <"$work/causal.csv" >"$work/out" 2>&1 || { echo "--ncu - fails"; cat "$work/out"; failed=1; }
expect 2 "line 1: a recording of Tilewalk's own" assets/counters/h100/decode/first.csv
expect 2 "line 1: a recording of Tilewalk's own" assets/counters/h100/pipeline/fa2_async_16_4096_128_0.csv
printf 'NVR\001\000' >"$work/report.ncu-rep"
expect 2 'ncu --import FILE.ncu-rep --csv --page raw' "$work/report.ncu-rep"
"$tilewalk" crosscheck --help | tr -s ' \n' ' ' | grep -q 'ncu --cache-control all .*dram__bytes_read.sum' || { echo "--help does not name the command"; failed=1; }
exit $failed
