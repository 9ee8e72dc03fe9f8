#!/bin/sh
# Registers, spills and shared memory of every kernel, as the assembler reports them: `kernels/collect/resources.sh [ARCH...]`
# prints CSV (default: 75 80 90 90a). Shared memory of the tile kernels is asked for at launch and is not in it; dynamic
# sizes follow from the block (each rung's shared_bytes). Needs nvcc; no GPU.
set -eu
cd "$(dirname "$0")/../.."
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
echo "# nvcc: $("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p'), -O3"
echo "arch,rung,kernel,type,template,registers,spill_store_bytes,spill_load_bytes,static_shared_bytes"
[ $# -gt 0 ] || set -- 75 80 90 90a
for arch in "$@"; do
  for rung in ${RUNGS:-standard_naive standard_tiled fa1 fa2_scalar fa2_causal fa2_tensor fa2_async fa2_wgmma fa3_overlap fa2_decode fa2_backward fa2_backward_twice fa3_backward}; do
    case $rung in
    fa2_wgmma | fa3_*) [ "$arch" = 90a ] || continue ;;
    fa2_tensor | fa2_async | fa2_decode | fa2_backward*) case $arch in 75 | *a) continue ;; esac ;;
    *) case $arch in *a) continue ;; esac ;;
    esac
    "$nvcc" -std=c++17 -O3 -Wno-deprecated-gpu-targets -gencode="arch=compute_$arch,code=sm_$arch" -I. -Xptxas -v -cubin \
      -o /dev/null "kernels/ladder/$rung.cu" 2>&1 |
      awk -v arch="sm_$arch" -v rung="$rung" '
        /Compiling entry function/ { split($0, q, "\047"); name = q[2] }
        /spill stores/ { for (i = 1; i <= NF; i++) { if ($(i + 2) == "spill" && $(i + 3) ~ /^stores/) st = $i; if ($(i + 2) == "spill" && $(i + 3) ~ /^loads/) ld = $i } }
        /Used [0-9]+ registers/ {
          match($0, /Used [0-9]+/); regs = substr($0, RSTART + 5, RLENGTH - 5)
          smem = 0; if (match($0, /[0-9]+ bytes smem/)) { split(substr($0, RSTART, RLENGTH), s, " "); smem = s[1] }
          type = name ~ /bf16/ ? "bf16" : name ~ /fp16/ ? "fp16" : "fp32"
          args = ""; rest = name; while (match(rest, /L[ib][0-9]+E/)) { args = args (args == "" ? "" : " ") substr(rest, RSTART + 2, RLENGTH - 3); rest = substr(rest, RSTART + RLENGTH) }
          kernel = name; sub(/^_ZN5plain[0-9]+/, "", kernel); sub(/I.*/, "", kernel)
          printf "%s,%s,%s,%s,%s,%s,%s,%s,%s\n", arch, rung, kernel, type, args, regs, st, ld, smem
        }'
  done
done
