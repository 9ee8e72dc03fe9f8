#!/bin/sh
# `tilewalk kernels`, and kernels of one's own: in a line, in three, from a counter file, and refused with their line.
set -u
# shellcheck source=tests/support/expect.sh
. "$(dirname "$0")/../support/expect.sh"
run() { "$tilewalk" "$@"; }
wraps=1

expect 0 'fa2-sm90 128 128 x 64 128 255 64 KiB reversed' kernels
expect 0 'fa2-sm90 192 128 x 64 256 255 96 KiB reversed' kernels
expect 0 'run_mha_fwd_hdim128' kernels fa2-sm90
expect 0 'tile = 128 x 64' kernels --format
expect 0 'ctas_per_sm' kernels --format
expect 0 '"head_dim": 192' kernels fa2-sm90 --json
expect 0 'kernel,d,mask,tile' kernels --csv
expect 2 "there is no kernel 'fa2-sm91'; did you mean 'fa2-sm90'" kernels fa2-sm91

# One line is a kernel. With 64 rows a head of 4,096 reads K and V 64 times: 2 x 64 MiB and Q.
echo 'tile = 64 x 64' >"$work/mine"
expect 0 'all reads 129 MiB' sim -N 4096 -d 128 --gpu h200 --kernel "$work/mine"
expect 0 'mine tile 64 x 64\|tile 64 x 64' kernels "$work/mine"
printf 'tile = 128x64\nthreads = 128\nshared = 64 KiB\nwalk = reversed\nctas_per_sm = 2\n' >"$work/mine"
expect 0 'all reads 65 MiB' sim -N 4096 -d 128 --gpu h200 --kernel "$work/mine"
expect 0 '65536' kernels "$work/mine" --json
echo 'tile = 64' >"$work/mine"
expect 2 'mine:1: tile = 64 is no pair of rows and keys' sim --gpu h200 --kernel "$work/mine"
echo 'threads = 64' >"$work/mine"
expect 2 'mine:1: threads is said of every tile' kernels "$work/mine"
printf 'tile = 64 x 64\nthread = 64\n' >"$work/mine"
expect 2 "did you mean 'threads'" kernels "$work/mine"

# The launch of a counter file is a kernel: its name has the tile, its block the threads.
csv="$work/run.csv"
{
  echo '"ID","Kernel Name","Block Size","Grid Size","CC","launch__shared_mem_per_block_dynamic","launch__registers_per_thread","dram__bytes_read.sum"'
  echo '"","","","","","byte/block","register/thread","byte"'
  echo '"0","void my_flash_fwd_kernel<my_kernel_traits<128, 64, 32, 8>>(int)","(256, 1, 1)","(64, 1, 1)","8.0","32768","200","7"'
} >"$csv"
sed 's/my_kernel_traits/Flash_fwd_kernel_traits/; s/my_flash/flash/' "$csv" >"$work/flash.csv"
expect 0 'threads 256 .*registers 200 .*shared 32 KiB' kernels "$work/flash.csv"
expect 0 'all reads 129 MiB' sim -N 4096 -d 128 --gpu a100-80gb --kernel "$work/flash.csv"
sed 's/"8.0"/"9.0"/; s/128, 64, 32, 8/128, 128, 64, 4/' "$work/flash.csv" >"$work/hopper.csv"
expect 0 'FlashAttention-2 on Hopper' kernels "$work/hopper.csv"
sed 's/void .*(int)"/attention"/; s/"attention",/"attention",/' "$csv" >"$work/bare.csv"
expect 2 'does not say the tile' kernels "$work/bare.csv"
exit $failed
