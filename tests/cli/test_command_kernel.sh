#!/bin/bash
# tilewalk kernel as people use it: launches by options and by comments, names, templates, attention judged, refusals.
set -u
# shellcheck source=tests/support/expect.sh
. "$(dirname "$0")/../support/expect.sh"
export COLUMNS=120
ptx=tests/support/kernels/recorded/basics.ptx
run() { (ulimit -t 10 && exec timeout 300 "$tilewalk" kernel "$@"); }
how=-qF

saxpy=(--entry saxpy --grid 4 --block 256)
filled=(--arg i32:1024 --arg f32:2 --arg 'f32[1024]:normal:1' --arg 'f32[1024]:zero')
# 1,024 floats are 128 sectors; two loads of them and a store.
expect 0 'global load         64      256       4.00' "$ptx" "${saxpy[@]}" "${filled[@]}"
expect 0 '3,12288,4,1,,,1,' "$ptx" "${saxpy[@]}" "${filled[@]}" --csv
expect 0 'No fault in this run.' "$ptx" "${saxpy[@]}" "${filled[@]}" --faults
expect 1 'reads argument 3 at byte 0, which nobody wrote' "$ptx" "${saxpy[@]}" --arg i32:1024 --arg f32:2 --arg 'f32[1024]:normal:1' --arg 'f32[1024]:none' --faults
expect 1 '0 bytes past the end of argument 2' "$ptx" "${saxpy[@]}" --arg i32:1024 --arg f32:2 --arg 'f32[1000]:normal:1' --arg 'f32[1024]:zero' --faults
printf '\0\0\200?\0\0\0@' >"$work/two.bin" # 1 and 2
expect 0 'sum 6.00000, largest magnitude 4' "$ptx" "${saxpy[@]}" --arg i32:2 --arg f32:2 --arg "$work/two.bin" --arg 'f32[2]:zero'

# Twice a tensor, box by box; the sum of 2 (4 u - 2) over the 1,024 numbers of seed 1, in Python, is -45.22409.
maps=(--shared 2K --arg 'map:f32[32x32]:16x32:128:normal:1' --arg 'map:f32[32x32]:16x32:128:zero')
expect 0 'sum -45.2241, largest magnitude 3.99504' tests/support/kernels/tma.ptx "${maps[@]}" --faults
expect 0 'Bulk copies (counted): 4 KiB read, 4 KiB written.' tests/support/kernels/tma.ptx "${maps[@]}"
expect 2 'it takes 128 bytes: a tensor map' tests/support/kernels/tma.ptx --shared 2K --arg i32:1 --arg i32:1

# Refusals say what would be right.
expect 2 'give a .cu (clang compiles it) or a .ptx'
expect 2 'one file at a time' "$ptx" "$ptx"
expect 2 'holds 11 kernels; say which: --entry saxpy' "$ptx"
expect 2 "has no kernel 'saxpi'" "$ptx" --entry saxpi --grid 1 --block 32
expect 2 'Give --grid X,Y,Z and --block X,Y,Z' "$ptx" --entry saxpy
expect 2 "--grid '0' is not X, X,Y or X,Y,Z" "$ptx" --entry saxpy --grid 0 --block 32
expect 2 "takes 4 arguments" "$ptx" "${saxpy[@]}"
expect 2 "not given: number 3" "$ptx" "${saxpy[@]}" --arg i32:1 --arg f32:1 --arg 'f32[4]:zero'
expect 2 'takes 4 arguments, and more are given' "$ptx" "${saxpy[@]}" "${filled[@]}" --arg i32:1
expect 2 'it takes 4 bytes: i32, u32 or f32' "$ptx" "${saxpy[@]}" --arg i64:1 --arg f32:1 --arg 'f32[4]:zero' --arg 'f32[4]:zero'
expect 2 "the argument 'f32[4]:random'" "$ptx" "${saxpy[@]}" --arg i32:1 --arg f32:1 --arg 'f32[4]:zero' --arg 'f32[4]:random'
expect 1 '0 bytes past the end of argument 2' "$ptx" "${saxpy[@]}" --arg i32:1024 --arg f32:2 --arg 'f32[512]:normal:1' --arg 'f32[1024]:zero'
expect 2 "--out 'z' is no argument" "$ptx" "${saxpy[@]}" "${filled[@]}" --out z
expect 2 "--like 'gemm'" "$ptx" --like gemm
expect 2 'is not a number above 0' "$ptx" --scale none
printf 'nothing\n' >"$work/bad.ptx"
expect 2 'bad.ptx:1' "$work/bad.ptx"

# What a file names is a shipped GPU, or a regular file below its own folder: nothing else is opened, and no pipe waited for.
mkfifo "$work/pipe.cu" "$work/pipe.bin"
printf '\1\0\0\0' >"$work/one.bin"
named() { # named COMMENT...: a kernel of one buffer, whose source would be the pipe
  printf '// tilewalk: %s\n' 'block 32' "$@" >"$work/named.ptx"
  printf '.version 7.0\n.target sm_80\n.address_size 64\n.file 1 "/x/pipe.cu"\n.visible .entry k(.param .u64 a)\n{\n  ret;\n}\n' >>"$work/named.ptx"
}
named 'arg f32[1]:one.bin' 'grid 1' && expect 0 'k: grid 1' "$work/named.ptx"
named 'grid 3 arg f32[1]:zero entry k' && expect 0 'k: grid 3' "$work/named.ptx" --entry k
named 'grid 3 blocks 2' && expect 2 "named.ptx:2: --grid '3 blocks 2'" "$work/named.ptx"
named 'arg f32[1]:pipe.bin' 'grid 1' && expect 2 'pipe.bin: it is no regular file' "$work/named.ptx"
named 'arg f32[1]:/etc/passwd' 'grid 1' && expect 2 "'/etc/passwd' leads out of the folder" "$work/named.ptx"
named 'gpu /etc/passwd' && expect 2 'named.ptx:2: ' "$work/named.ptx" --arg 'f32[1]:zero'
named 'grid 2147483647,65535,65535' && expect 2 'blocks of 1 warps; 134217728 warps are the most' "$work/named.ptx" --arg 'f32[1]:zero'
named 'include ../x' && expect 2 "named.ptx:2: '../x' leads out" "$work/named.ptx"

if command -v clang >/dev/null; then
  cat >"$work/k.cu" <<'END'
// tilewalk: block 64
// tilewalk: entry twice
// tilewalk: grid 2
// tilewalk: arg x=f32[128]:iota
// tilewalk: arg i32:128
__global__ void twice(float *x, int n) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) x[i] *= 2;
}
// tilewalk: entry times<3>
// tilewalk: grid 1
// tilewalk: arg f32[64]:1
template <int K> __global__ void times(float *x) { x[threadIdx.x] *= K; }
END
  expect 0 'Output x: sum 16,256.0, largest magnitude 254' "$work/k.cu"
  expect 0 'sum 10,144.0' "$work/k.cu" --arg i32:64 --arg x='f32[128]:iota' # an --arg replaces the file's
  expect 0 'times: grid 1 x 1 x 1, blocks of 64' "$work/k.cu" --entry 'times<3>'
  expect 0 'Output x: sum 192.000, largest magnitude 3' "$work/k.cu" --entry 'times<3>'
  expect 0 'if (i < n) x[i] *= 2;' "$work/k.cu"
  expect 0 '.entry _Z5twicePfi' "$work/k.cu" --ptx
  expect 2 "'times' is a template; give its arguments" <(printf 'template <int K> __global__ void times(float *x) { x[0] = K; }\n')
  sed 's/grid 2/grid two/' "$work/k.cu" >"$work/m.cu"
  expect 2 "m.cu:3: --grid 'two'" "$work/m.cu"
  sed 's/grid 2/greed 2/' "$work/k.cu" >"$work/m.cu"
  expect 2 "m.cu:3: 'greed' is none of entry, grid" "$work/m.cu"
  sed 's/x\[i\]/y[i]/' "$work/k.cu" >"$work/m.cu"
  expect 2 "m.cu:8: use of undeclared identifier 'y'" "$work/m.cu"
  printf 'int main() { return 0; }\n' >"$work/m.cu"
  expect 2 'holds no kernel' "$work/m.cu"

  # Lanes that were active, of all: from the lines' own counts.
  printf '__global__ void partly(float *x) { if (threadIdx.x < 8) for (int k = 0; k < 8; k++) x[k] = sqrtf(x[k]); }\n' >"$work/d.cu"
  launch=(--grid 1 --block 32 --arg 'f32[32]:1')
  active=$("$tilewalk" kernel "$work/d.cu" "${launch[@]}" --json | awk -F '[:,]' '/"warps"/ { w += $2 } /"lanes"/ { l += $2 } END { printf "%.1f%%", 100 * l / (32 * w) }')
  expect 0 "split a warp; $active of lanes were active" "$work/d.cu" "${launch[@]}"

  # Tensor maps by the driver's header; the host's table of functions, which clang takes for the kernel's too.
  cat >"$work/map.cu" <<'END'
#include <cuda.h>
static int host(int x) { return x; }
struct Table { int n; int (*run)(int); };
extern const Table TABLE;
const Table TABLE = {1, host};
__global__ void first(const __grid_constant__ CUtensorMap map, float *x) { x[threadIdx.x] = (float)(map.opaque[0] != 0); }
END
  expect 0 'sum 32.0000' "$work/map.cu" --grid 1 --block 32 --arg 'map:f16[64x64]:64x64:128:zero' --arg 'f32[32]:zero'

  # Each fault has its own kind and buffer: x[1000] (threads 999 and 1000) and x[1001] are read, y[1000] is written. Of
  # 32 warps one is split.
  cat >"$work/faults.cu" <<'END'
// tilewalk: entry past
// tilewalk: grid 4 block 256 arg i32:1000 arg f32[1000]:normal:1 arg f32[1000]:zero
__global__ void past(int n, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) y[i] = x[i + 1] - x[i];
}
// tilewalk: entry halves
// tilewalk: grid 1 block 32 arg f32[32]:normal:1 arg f32[32]:zero
__global__ void halves(const float *x, float *y) {
  float v = x[threadIdx.x];
  if (threadIdx.x < 16) v = __shfl_sync(~0u, v, threadIdx.x + 16);
  y[threadIdx.x] = v;
}
// tilewalk: entry one
// tilewalk: grid 1 block 16 arg f32[32]:normal:1 arg f32[32]:zero
__global__ void one(const float *x, float *y) {
  float v = x[threadIdx.x];
  for (int o = 8; o; o >>= 1) v += __shfl_down_sync(~0u, v, o);
  if (threadIdx.x == 0) y[0] = v;
}
// tilewalk: entry unsynced
// tilewalk: grid 1 block 64 arg f32[64]:normal:1 arg f32[64]:zero
__global__ void unsynced(const float *x, float *y) {
  __shared__ float s[64];
  s[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = s[63 - threadIdx.x];
}
// tilewalk: entry rows
// tilewalk: grid 1 block 32 arg f32[1024]:normal:1 arg f32[32]:zero
__global__ void rows(const float *x, float *y) {
  __shared__ float q[32][32];
  for (int r = 0; r < 32; r++) q[r][threadIdx.x] = x[32 * r + threadIdx.x];
  __syncthreads();
  float s = 0;
  for (int c = 0; c < 32; c++) s += q[31 - threadIdx.x][c];
  y[threadIdx.x] = s;
}
template <int B> __global__ void scale(float *y) { y[threadIdx.x] *= B; }
template __global__ void scale<128>(float *);
template __global__ void scale<64>(float *);
END
  faulty=("$work/faults.cu" --faults --entry)
  expect 1 'bytes past the end of x (3 times)' "${faulty[@]}" past
  expect 1 'thread 232 of block 3 stores 4 bytes, 0 bytes past the end of y' "${faulty[@]}" past
  expect 1 'Divergence: 1 of 32 branches' "${faulty[@]}" past
  expect 1 'line 12: thread 0 of block 0 uses what the shuffle of line 11 takes from a lane that is not there' "${faulty[@]}" halves
  expect 0 'No fault in this run.' "${faulty[@]}" one # lanes 8 to 15 take what is not there; lane 0, which alone is stored, does not
  expect 1 'race: line 25: ' "${faulty[@]}" unsynced
  "$tilewalk" kernel "${faulty[@]}" unsynced | grep -q uninitialised && { echo 'a race is told as an uninitialised read too'; failed=1; }
  # 8 reads of 16 bytes by lanes 128 bytes apart: 32 wavefronts each, where 4 would do; with and without --faults.
  expect 0 'shared load          8        -          -      -         256        224' "${faulty[@]}" rows
  expect 0 'shared load          8        -          -      -         256        224' "$work/faults.cu" --entry rows
  expect 0 '35,,,,256,224,' "${faulty[@]}" rows --csv
  grep -v tilewalk "$work/faults.cu" >"$work/many.cu"
  expect 2 "say which: --entry past, halves, one, unsynced, rows, 'scale<128>', 'scale<64>'" "$work/many.cu"
  expect 2 'mma.h is not here (-I DIR says where)' <(printf '#include <mma.h>\nusing namespace nvcuda;\n')

  # The GPU whose caches and SMs are modelled.
  expect 0 'L2 of h100-sxm (predicted)' "$work/k.cu"
  expect 0 'L2 of a100-80gb (predicted)' "$work/k.cu" --gpu a100-80gb
  expect 2 "the L2 of 'paper'" "$work/k.cu" --gpu paper
  expect 2 'PTX runs in warps of 32' "$work/k.cu" --gpu mi300x
  expect 0 'to 32 blocks an SM' "$work/k.cu"
  expect 0 '4 blocks an SM' "$work/k.cu" --registers 255

  # Attention by the names of its arguments, against fp64; a mistake is found with its line.
  student=(--like fa2 --causal -N 128 -d 32 --arg Bc=i32:32 --grid 2 --block 64 --shared 24K)
  expect 0 'It is attention' tests/support/kernels/student.cu "${student[@]}"
  printf '%s\n' '__global__ void f(const float *Q, const float *K, const float *V, float *O, float *S, int N, int d, float scale) {' \
    '  int i = threadIdx.x; float m = -1e30f, l = 0;' \
    '  for (int j = 0; j < N; j++) { float s = 0; for (int c = 0; c < d; c++) s += Q[i * d + c] * K[j * d + c]; m = fmaxf(m, S[i * N + j] = s * scale); }' \
    '  for (int j = 0; j < N; j++) l += S[i * N + j] = expf(S[i * N + j] - m);' \
    '  for (int c = 0; c < d; c++) { float o = 0; for (int j = 0; j < N; j++) o += S[i * N + j] * V[j * d + c]; O[i * d + c] = o / l; }' '}' >"$work/naive.cu"
  expect 0 'It is attention' "$work/naive.cu" --like standard -N 64 -d 8 --grid 1 --block 64 --arg 'S=f32[4096]:none' --faults # S is larger than O
  sed 's/l = l \* f + p/l = l + p/' tests/support/kernels/student.cu >"$work/student.cu"
  expect 1 'The first is O[head 0][row ' "$work/student.cu" "${student[@]}"
  expect 1 "last written by line $(grep -n '/\*store\*/' "$work/student.cu" | cut -d: -f1), thread" "$work/student.cu" "${student[@]}"
  expect 2 'give its size: --shared BYTES' tests/support/kernels/student.cu "${student[@]:0:13}"
  expect 2 'not given: Bc' tests/support/kernels/student.cu --like fa2 --grid 2 --block 64 --shared 24K

  # A picture of it: code has its room, a cut line says so, and a count is whole.
  "$tilewalk" kernel viz/web/kernels/transpose.cu --entry transpose_plain -o "$work/scene.svg" || failed=1
  for text in '>73,728<' 'transpose_plain(int N[^<]*…<' '>  int column = blockIdx.x \* 32 + threadIdx.x;<'; do
    grep -q -- "$text" "$work/scene.svg" || { echo "scene of a .cu: no '$text'"; failed=1; }
  done
fi

# The scene and the trace: what they add up to is what is counted.
matmul=(tests/support/kernels/recorded/basics.ptx --entry matmul_tiled --grid '4,4' --block '16,16' --arg i32:64
  --arg f32[4096]:normal:1 --arg f32[4096]:normal:2 --arg f32[4096]:zero)
"$tilewalk" kernel "${matmul[@]}" -o "$work/trace.json" && "$tilewalk" kernel "${matmul[@]}" --json --no-caches >"$work/counts.json"
sum() { grep -o "\"$2\": *[0-9]*" "$1" | awk -F: '{ s += $2 } END { print s }'; }
totals() { # of counts.json: of the kernel, before its lines
  sed '/"lines"/,$d' "$work/counts.json" | tr -d ' \n' | grep -o "\"$1\":[0-9]*" | awk -F: '{ s += $2 } END { print s }'
}
for what in sectors wavefronts conflicts; do
  [ "$(sum "$work/trace.json" $what)" = "$(totals $what)" ] || { echo "trace: $what $(sum "$work/trace.json" $what), counted $(totals $what)"; failed=1; }
done
[ "$(grep -c '"ph":"X"' "$work/trace.json")" = 144 ] || { echo "steps: $(grep -c '"ph":"X"' "$work/trace.json")"; failed=1; } # 16 blocks of 8 barriers and one after
"$tilewalk" render --kernel-file "${matmul[@]}" --step 3 --line 786 -o "$work/scene.svg" || failed=1
for text in 'matmul_tiled: 4 x 4 blocks of 256 threads' 'Step 4 of 144: up to block 1 of 16, after 3 of its barriers' 'Line 786 reads shared memory'; do
  grep -q "$text" "$work/scene.svg" || { echo "scene: no '$text'"; failed=1; }
done
# A column of 32 rows of 128 bytes is one bank: 31 conflicts in each of 4 x 4 blocks x 8 warps x 4 loads. Units of 16 bytes
# XORed by 3 bits of the row are 8 banks: 4 passes, 3 conflicts.
transpose=(tests/support/kernels/recorded/basics.ptx --entry transpose_tiled --grid '4,4' --block '32,8' --arg i32:128
  --arg f32[16384]:iota --arg f32[16384]:zero)
"$tilewalk" kernel "${transpose[@]}" --swizzle 128 -o "$work/scene.svg" || failed=1
for text in "Swizzled by rows of 128 B: $((512 * 3)) bank conflicts, not $((512 * 31))" '4 passes; as it is, 32'; do
  sed 's/\([0-9]\),\([0-9]\)/\1\2/g' "$work/scene.svg" | grep -q "$text" || { echo "scene: no '$text'"; failed=1; }
done
expect 2 '--swizzle is 96; it must be 128, 256, 512 or 1024' "${transpose[@]}" --swizzle 96 -o "$work/scene.svg"
expect 2 '--step 144: the launch has 144 steps' "${matmul[@]}" --step 144 -o "$work/scene.svg"
expect 2 '--line 90000: the source has' "${matmul[@]}" --line 90000 -o "$work/scene.svg"

# Beside counters of Nsight Compute: what is counted must be equal, what is predicted has its error.
ncu() { # ncu KERNEL SECTORS
  printf '"ID","Process ID","Kernel Name","Block Size","Grid Size","Metric Name","Metric Unit","Metric Value"\n'
  printf '"0","7","%s(int)","(16, 16, 1)","(4, 4, 1)","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum","sector","%s"\n' "$1" "$2"
  printf '"0","7","%s(int)","(16, 16, 1)","(4, 4, 1)","dram__bytes_read.sum","byte","35,000"\n' "$1"
}
ncu matmul_tiled 4,096 >"$work/ncu.csv"
expect 0 'sectors that loads touched  counted    131,072  131,072     0%' "${matmul[@]}" --ncu "$work/ncu.csv"
expect 0 'read from HBM               predicted' "${matmul[@]}" --ncu "$work/ncu.csv"
"$tilewalk" crosscheck --kernel-file "${matmul[@]}" --ncu "$work/ncu.csv" --json | tr -d ' \n' | grep -q '"counter":"sectorsthatloadstouched","kind":"counted","here":131072,"ncu":131072' || { echo "crosscheck --json"; failed=1; }
ncu matmul_tiled 4,097 >"$work/ncu.csv"
expect 1 'counted    131,072  131,104' "${matmul[@]}" --ncu "$work/ncu.csv"
ncu saxpy 4,096 >"$work/ncu.csv"
expect 2 "has no launch of 'matmul_tiled'" "${matmul[@]}" --ncu "$work/ncu.csv"
line=$(PATH=/nowhere "$tilewalk" kernel tests/support/kernels/student.cu 2>&1)
case $line in *'needs clang 14 or later on PATH'*) ;; *) echo "without clang: $line"; failed=1 ;; esac
exit $failed
