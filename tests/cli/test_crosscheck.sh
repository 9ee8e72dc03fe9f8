#!/bin/sh
# `tilewalk crosscheck` from outside: what it says, and its exit status. 0: all that must be equal is; 1: something is
# not; 2: the request was wrong, with one line on stderr. A script stands in for tilewalk-kernels, as no GPU is needed.
set -u
# shellcheck source=tests/support/expect.sh
. "$(dirname "$0")/../support/expect.sh"
run() { "$tilewalk" crosscheck "$@"; }

expect 0 'read across the boundary' --recorded --kernel-name standard # all of them: test_accuracy_table.sh
expect 0 '^read, rungs 8 to 11, H100 *28 *28 *0.000% *0.000%  holds$' --recorded --kernel-name fa3_overlap
expect 0 '^written, rungs 8 to 11, H100 *20 *20 *0.000% *0.000%  holds$' --recorded --kernel-name fa3_backward
expect 0 'tensor instructions' --ncu tests/fuzz/corpus/ncu/recorded.csv --details
expect 0 '"holds": true' --json --kernel-name fa1
case $tilewalk in */san/*) shape='-N 128 -d 64' ;; *) shape= ;; esac # five shapes take ten seconds with sanitizers
if [ "$(getconf LONG_BIT)" = 32 ]; then
  expect 2 'only a program of 64 bits' --cpu
else
  # shellcheck disable=SC2086 # words
  expect 0 'bytes counted, read' --cpu $shape
  expect 0 'fa2_scalar' --cpu -N 20 -d 24 --causal --details # the tensor rungs do not take d = 24 and are left out
fi
expect 0 'fa2_async' --ncu tests/fuzz/corpus/ncu/recorded.csv --details
expect 2 'one source at a time' --cpu --live
expect 2 'takes d = 64 or 128' --cpu -N 20 -d 24 --kernel-name fa2_tensor
expect 2 'no kernel of the ladder' --cpu --kernel-name nonsense
expect 2 'give one with -N' --ncu tests/fuzz/corpus/ncu/raw.csv
expect 2 'line ' --ncu README.md
expect 2 'nosuch.csv' --ncu "$work/nosuch.csv"

# The first kernel in the file is N = 1024, d = 64, not causal, in 128 x 128 tiles; told otherwise, the model differs.
sed '7,$d' tests/fuzz/corpus/ncu/raw.csv >"$work/one.csv"
expect 0 'exact' --ncu "$work/one.csv" -N 1024 -d 64 --block 128
expect 1 'DIFFERS' --ncu "$work/one.csv" -N 1024 -d 64 --block 64 --details
head -c 700 "$work/one.csv" >"$work/cut.csv"
expect 2 'line ' --ncu "$work/cut.csv" -N 1024 -d 64 --block 128
# Few runs are shown one by one; many by quantity, unless --details asks.
expect 1 '4,325,376  2,228,224    -48.485%  DIFFERS' --ncu "$work/one.csv" -N 1024 -d 64 --block 64 # 128 KiB of Q, 16 x 256 KiB of K and V
expect 0 '^read across the boundary  *[0-9]* ' --ncu assets/counters/h200/kernels/first.csv --kernel-name fa1
grep -q '^fa1  N 1024 d 64' "$work/out" && { echo 'runs without --details'; failed=1; }
expect 0 '^fa1  N 1024 d 64' --ncu assets/counters/h200/kernels/first.csv --kernel-name fa1 --details

# A recording of our own says in its head which card it is of.
head -n 40 assets/counters/h100/fresh/first.csv >"$work/h100.csv"
expect 0 'GPU by the file: h100-sxm' --ncu "$work/h100.csv"

# Other people's kernels: recorded ones are known by name; a file of ncu's own is told with --kernel.
awk -F, '/^#/ || NR < 12 || $6 <= 4096' assets/counters/h200/others/first.csv >"$work/few.csv"
awk -F, '/^#/ || /^,/ || $1 == "rung" || (/^mem-eff/ && $6 == 512 && $4 == 1)' "$work/few.csv" >"$work/short.csv"
expect 0 'HBM reads' --ncu "$work/short.csv" --details
# shellcheck disable=SC2016 # Markdown's backquotes
expect 0 '`fa2-sm90`, causal' --ncu "$work/few.csv" --kernel-name fa2-sm90 --markdown
awk -F, '/^#/ || /^rung/ || /^,/ || ($1 == "fa2-sm90" && $12 > 1 && $6 == 4096 && $8 == 64 && !$9)' "$work/few.csv" >"$work/split.csv"
expect 0 'written, keys split *5,324,800 *5,324,800 *0.000%  exact' --ncu "$work/split.csv" --details # 4,800,512 of O and its parts, and 4 x 64 x 4 tiles of 512 spilled
# shellcheck disable=SC2016 # Markdown's backquotes
expect 0 '| shorter ones |' --ncu "$work/short.csv" --markdown
expect 0 'HBM reads' --ncu "$work/one.csv" -N 1024 -d 64 --kernel fa2_async
expect 1 'DIFFERS' --ncu "$work/one.csv" -N 1024 -d 64 --kernel mem-efficient-sm90 --details
expect 2 'nosuch' --ncu "$work/one.csv" -N 1024 -d 64 --kernel nosuch
expect 2 'nosuch' --gpu nosuch
expect 2 'leave it out' --sram 64K
expect 2 'did you mean coalescer' --without coalscer
expect 2 'leave out --json' --markdown --json
expect 0 'within' --ncu tests/fuzz/corpus/ncu/pytorch.csv --kernel fa2-sm90 -N 16K -d 64 --details
expect 1 'DIFFERS' --ncu tests/fuzz/corpus/ncu/pytorch.csv -N 16K -d 64 --block 128 --details # it writes spilled registers, which no schedule has
expect 2 'smaller shape' --ncu "$work/one.csv" -N 2G --heads 1M --kernel mem-efficient-sm90
sed 's/^fa2_async/stranger/' tests/fuzz/corpus/ncu/recorded.csv >"$work/stranger.csv"
expect 2 "there is no kernel 'stranger'" --ncu "$work/stranger.csv"
expect 0 'HBM reads' --ncu "$work/stranger.csv" --kernel fa2_async

# What chance decides in the model, drawn otherwise: the mean of several draws is another prediction, and that of one the usual.
for draws in 1 2; do
  expect 0 '"comparisons"' --ncu "$work/split.csv" --draws $draws --json
  mv "$work/out" "$work/draws$draws"
done
expect 0 '"worst_error"' --ncu "$work/split.csv" --json
if ! cmp -s "$work/out" "$work/draws1" || cmp -s "$work/out" "$work/draws2"; then
  echo "crosscheck --draws: 1 is not the usual draw, or 2 are"
  failed=1
fi
expect 2 'draws' --ncu "$work/split.csv" --draws 0
expect 2 'leave out --cpu' --cpu --draws 2

# A kernel described by someone else, and its walk told otherwise: another prediction of the same laws.
sed 's/^name .*/name = mine/' assets/kernels/fa2_async >"$work/mine"
expect 0 'HBM reads' --ncu "$work/stranger.csv" --kernel "$work/mine" --walk reversed --ctas-per-sm 1

# A GPU that counts N = 256, d = 64 in 64 x 64 tiles: Q once, K and V four times, 128-byte rows.
fake() {
  printf '#!/bin/sh\ncat <<END\nrung,dtype,batch,heads,kv_heads,seq_q,seq_k,head_dim,causal,block_q,block_k,counted_read_bytes,counted_write_bytes\n' >"$work/kernels"
  printf ',,,,,,,,,,,byte,byte\nfa2_scalar,fp16,1,1,1,256,256,64,0,64,64,%s,32768\nEND\n' "$1" >>"$work/kernels"
  chmod +x "$work/kernels"
}
no_ncu() { PATH=/usr/bin:/bin expect "$@"; }
if ! PATH=/usr/bin:/bin command -v ncu >/dev/null; then
  fake 294912
  no_ncu 0 'no ncu here' --live --kernels "$work/kernels" -N 256 -d 64
  fake 294913
  no_ncu 1 'DIFFERS' --live --kernels "$work/kernels" -N 256 -d 64 --details
fi
printf '#!/bin/sh\necho "tilewalk-kernels: no CUDA GPU here" >&2\nexit 2\n' >"$work/kernels"
expect 2 'no CUDA GPU here' --live --kernels "$work/kernels"
expect 2 'there is no program' --live --kernels "$work/nothing"
exit $failed
