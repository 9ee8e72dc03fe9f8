#!/bin/sh
# The tour: a screen, within seconds, and every command that it ends with works as printed.
set -u
tilewalk=${TILEWALK:-build/tilewalk}
export COLUMNS=80
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $1"; exit 1; }
"$tilewalk" tour >"$scratch/tour" 2>"$scratch/err" || fail "the tour ends in $?"
[ ! -s "$scratch/err" ] || fail "it complains: $(cat "$scratch/err")"
seconds=$( { TIMEFORMAT=%U; export TIMEFORMAT; bash -c "time '$tilewalk' tour >/dev/null"; } 2>&1 | tail -n 1)
echo "$seconds" | awk '{ exit !($1 < 10) }' || fail "it takes $seconds s of a processor"
# Q once, K and V for each of 8 blocks of queries, O once: 18 x 128 KiB; with S and P out and in, 4 x 2 MiB + 4 x 128 KiB.
grep -q '^total.* 8.5  *2.25$' "$scratch/tour" || fail "standard and FlashAttention-2 do not move 8.5 and 2.25 MiB"
grep -q 'SMs read 258 MiB (model: 258 MiB)' "$scratch/tour" || fail "no counters of a GPU"
sed -n 's/^\(See\|Ask\|Check\|Learn\)  *//p' "$scratch/tour" >"$scratch/next"
[ "$(wc -l <"$scratch/next")" = 4 ] || fail "it does not end in what to try next"
while read -r line; do
  sh -c "$line" >/dev/null 2>"$scratch/err" </dev/null || fail "'$line' does not work: $(cat "$scratch/err")"
done <"$scratch/next"
"$tilewalk" tour -o "$scratch/a folder" >/dev/null || fail "tour -o"
[ "$(find "$scratch/a folder" -type f | wc -l)" = 4 ] || fail "tour -o draws $(ls "$scratch/a folder")"
echo "a tour of $seconds s"
