#!/bin/bash
# What is recorded of the ladder is of the sources that are here: assets/ladder/index.tsv has their SHA-256 (less blanks), and each
# kernel's member lies where it says.
set -u
cd "$(dirname "$0")/../.." || exit 1
shopt -s extglob
fail() { echo "FAIL: $1"; exit 1; }
export LC_ALL=C

recorded=$(sed -n 's/^# sources //p' assets/ladder/index.tsv)
now=$(cat kernels/ladder/!(*_cublas|rungs).cu kernels/lib/*.cuh kernels/lib/rung.h | tr -d '[:space:]' | sha256sum | cut -d' ' -f1)
[ "$recorded" = "$now" ] || fail "the ladder's sources have changed since its PTX was recorded; run kernels/collect/record_ladder.py"

n=0
while IFS=$'\t' read -r kernel file from bytes; do
  case $kernel in '#'*) continue ;; esac
  n=$((n + 1))
  [ $((n % 10)) = 1 ] || continue
  tail -c "+$((from + 1))" "assets/ladder/$file" | head -c "$bytes" | gzip -dc 2>/dev/null | c++filt 2>/dev/null |
    grep -qF "${kernel#void }" || fail "$file has no $kernel at byte $from"
done <assets/ladder/index.tsv
[ "$n" -ge 100 ] || fail "only $n kernels are recorded"
echo ok
