#!/bin/sh
# `tilewalk crosscheck` where a table of commands does not reach: this computer's processor, parts of recordings, and a script that
# stands in for tilewalk-kernels, as no GPU is needed. Exit status 0: all that must be equal is; 1: something is not; 2: refused.
set -u
# shellcheck source=tests/support/expect.sh
. "$(dirname "$0")/../support/expect.sh"
run() { "$tilewalk" crosscheck "$@"; }

case $tilewalk in */san/*) shape='-N 128 -d 64' ;; *) shape= ;; esac # five shapes take ten seconds with sanitizers
if [ "$(getconf LONG_BIT)" = 32 ]; then
  expect 2 'only a program of 64 bits' --cpu
else
  # shellcheck disable=SC2086 # words
  expect 0 'bytes counted, read' --cpu $shape
  expect 0 'fa2_scalar' --cpu -N 20 -d 24 --causal --details # the tensor rungs do not take d = 24 and are left out
fi
expect 2 'takes d = 64 or 128' --cpu -N 20 -d 24 --kernel-name fa2_tensor
head -c 700 tests/fuzz/corpus/ncu/raw.csv >"$work/cut.csv"
expect 2 'line ' --ncu "$work/cut.csv" -N 1024 -d 64 --block 128

# A recording of our own says in its head which card it is of; other people's kernels are known by name.
head -n 40 assets/counters/h100/fresh/first.csv >"$work/h100.csv"
expect 0 'GPU by the file: h100-sxm' --ncu "$work/h100.csv"
awk -F, '/^#/ || NR < 12 || $6 <= 4096' assets/counters/h200/others/first.csv >"$work/few.csv"
awk -F, '/^#/ || /^,/ || $1 == "rung" || (/^mem-eff/ && $6 == 512 && $4 == 1)' "$work/few.csv" >"$work/short.csv"
# shellcheck disable=SC2016 # Markdown's backquotes
expect 0 '`fa2-sm90`, causal' --ncu "$work/few.csv" --kernel-name fa2-sm90 --markdown
expect 0 '| shorter ones |' --ncu "$work/short.csv" --markdown
awk -F, '/^#/ || /^rung/ || /^,/ || ($1 == "fa2-sm90" && $12 > 1 && $6 == 4096 && $8 == 64 && !$9)' "$work/few.csv" >"$work/split.csv"
expect 0 'written, keys split *5,324,800 *5,324,800 *0.000%  exact' --ncu "$work/split.csv" --details # 4,800,512 of O and its parts, and 4 x 64 x 4 tiles of 512 spilled

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

# A kernel described by someone else, and its walk told otherwise: another prediction of the same laws.
sed 's/^fa2_async/stranger/' tests/fuzz/corpus/ncu/recorded.csv >"$work/stranger.csv"
sed 's/^name .*/name = mine/' assets/kernels/fa2_async >"$work/mine"
expect 2 "there is no kernel 'stranger'" --ncu "$work/stranger.csv"
expect 0 'HBM reads' --ncu "$work/stranger.csv" --kernel fa2_async
expect 0 'HBM reads' --ncu "$work/stranger.csv" --kernel "$work/mine" --walk reversed --ctas-per-sm 1

# A GPU that counts N = 256, d = 64 in 64 x 64 tiles: Q once, K and V four times, 128-byte rows; and an ncu that counts a byte more.
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
fake 294912
# shellcheck disable=SC2016 # of the script
printf '#!/bin/sh\ncase $* in *--once*--rung\\ fa2_scalar*--block-k\\ 64*) ;; *) exit 9 ;; esac\necho "%s"\n' '\"ID\",\"Kernel Name\",\"dram__bytes_read.sum\"
\"\",\"\",\"byte\"
\"0\",\"fa2_scalar\",\"98,304\"' >"$work/ncu"
chmod +x "$work/ncu"
PATH=$work:$PATH expect 0 'read from HBM *98,304 to 360,448' --live --kernels "$work/kernels" -N 256 -d 64 --details
printf '#!/bin/sh\necho "tilewalk-kernels: no CUDA GPU here" >&2\nexit 2\n' >"$work/kernels"
expect 2 'no CUDA GPU here' --live --kernels "$work/kernels"
expect 2 'there is no program' --live --kernels "$work/nothing"
exit $failed
