#!/bin/sh
# shellcheck disable=SC2015  # `a && b || fail` is meant
# What somebody new asks for first, with the commands that README and help offer.
set -u
tilewalk=${TILEWALK:-$PWD/build/tilewalk}
case $tilewalk in /*) ;; *) tilewalk=$PWD/$tilewalk ;; esac
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
fail() { echo "FAIL: $1"; exit 1; }
# README 'TEXT': the line stands in the README.
readme() { grep -qF -- "$1" "$root/README.md" || fail "the README does not offer: $1"; }
# Runs a line of the README: `tilewalk` is ours.
tilewalk() { "$tilewalk" "$@"; }

# A plot on an A100 for a slide.
readme "tilewalk sweep --gpu a100-80gb --heads 16 --to 8K --metric hbm --title 'HBM traffic' -o slide.png"
tilewalk sweep --gpu a100-80gb --heads 16 --to 8K --metric hbm --title 'HBM traffic' -o slide.png && [ -s slide.png ] || fail "a plot"
# Other bytes in ncu: a file of ncu's, as recorded.
readme 'tilewalk crosscheck --ncu FILE.csv'
tilewalk crosscheck --help=all | grep -q '^  ncu --cache-control all .* ./PROGRAM >mine.csv$' || fail "no line that records a kernel"
# A block for a 4090: K, V, Q of 64 x 128 fp16 take 48 of its 99 KiB, of 256 x 128 far more than that.
readme 'tilewalk advise --gpu rtx4090 -N 8K '
tilewalk advise --gpu rtx4090 -N 8K >tiles || fail "advise"
grep -q '^64 x 64, mma.sync ' tiles || fail "a block for a 4090: $(cat tiles)"
grep -q '^256 x 256' tiles && fail "a block that a 4090 cannot hold"
# Decode of a 70B model: 80 layers x 8 heads x 128 x K and V x 2 bytes = 320 KiB a token, 10 GiB for 32K tokens.
readme 'tilewalk kvcache --model llama-3.1-70b -N 32K'
tilewalk kvcache --model llama-3.1-70b -N 32K | grep -q '10 GiB' || fail "the KV cache of a 70B model"
readme 'tilewalk sim -N 1 --seq-len-k 32K --heads 64 --kv-heads 8 --algorithm fa2,fa2-split'
tilewalk sim -N 1 --seq-len-k 32K --heads 64 --kv-heads 8 --algorithm fa2,fa2-split >/dev/null || fail "decode"
# Two GPUs.
readme 'tilewalk sim --gpu h200,a100-80gb --algorithm fa2'
tilewalk sim --gpu h200,a100-80gb --algorithm fa2 | grep -q '  fa2 on h200  fa2 on a100-80gb$' || fail "columns of two GPUs"
[ "$(tilewalk list gpus h200 a100-80gb | grep -c '^[a-z0-9-]*: NVIDIA')" = 2 ] || fail "two GPUs"
# An algorithm of one's own, as in the README.
readme "tilewalk list algorithms fa2 | sed 's/^algorithm fa2/algorithm mine/' >mine.walk"
tilewalk list algorithms fa2 | sed 's/^algorithm fa2/algorithm mine/' >mine.walk
tilewalk sim --algorithm fa2,./mine.walk | grep -q '^total, SRAM boundary  *MiB  *66  *66$' || fail "an algorithm of one's own"
tilewalk render -N 64 -d 16 --block 8 --algorithm ./mine.walk --step 40 -o mine.png && [ -s mine.png ] || fail "its picture"
# A kernel of one's own, described in three lines.
printf 'tile = 128 x 64\nthreads = 128\nregisters = 255\nshared = 64 KiB\n' >mine.kernel
tilewalk sim --gpu h200 --kernel ./mine.kernel -N 4K --algorithm fa2 --details | grep -q 'resident per SM  *[12]$' || fail "a kernel of one's own"
# A lesson of one's own, clean as it is written.
tilewalk lesson --new my-lesson >/dev/null && tilewalk lesson --lint my-lesson.md | grep -q '0 findings\|^1 lesson: nothing' || fail "a new lesson: $(tilewalk lesson --lint my-lesson.md)"
# A claim about an article: 64 blocks of 128 queries read 2 MiB of K and V each; Q and O once: 260 MiB.
# The file is the one that help shows.
tilewalk lesson claims --help=all | sed -n 's/^  #  *//p; s/^  #$//p' | sed -n '/^## X-mine/,/^```$/p' >claim.md
tilewalk lesson claims --file claim.md | grep -q 'X-mine .*holds' || fail "a claim"
# A picture of what somebody else saw.
tilewalk render --state 'algorithm=fa2 N=64 d=16 causal=1 block=8 scene=tiles step=40' -o bug.svg && grep -q 'step=40' bug.svg || fail "a bug's picture"
echo "a new user gets there"
