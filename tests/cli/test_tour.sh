#!/bin/sh
# The tour: seconds, every part, and every command it ends with works as printed.
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
for part in 1 2 3 4 5 6 7; do grep -q "^$part\. " "$scratch/tour" || fail "part $part is missing"; done
[ "$(sed '/^What to try next/,$d' "$scratch/tour" | LC_ALL=C.UTF-8 wc -L)" -le 80 ] || fail "it is wider than 80 columns"
# 2 x 32 blocks of K and V of 32 KiB each for each of 32 blocks of queries, and Q once: 65 MiB.
grep -q '^FlashAttention-2  *65 MiB  *1 MiB  *66 MiB  *2.00x' "$scratch/tour" || fail "FlashAttention-2 does not move 66 MiB"
grep -q '^read by the SMs  *258 MiB  *258 MiB' "$scratch/tour" || fail "no counters of a GPU"
tr '\n' ' ' <"$scratch/tour" | grep -q 'on an H100: of 136 runs, 136 read and wrote what the model says' || fail 'no counters of the upper rungs'
sed -n '/^What to try next/,$p' "$scratch/tour" | sed -n 's/^  \([^ ]*tilewalk .*[^ ]\)   *.*/\1/p' >"$scratch/next"
[ "$(wc -l <"$scratch/next")" -ge 5 ] || fail "it does not end in what to try next"
while read -r line; do
  case $line in
  *' view'* | *' lesson'* | *' crosscheck'*) sh -c "$line -h" ;;
  *) sh -c "$line" ;;
  esac >/dev/null 2>"$scratch/err" </dev/null || fail "'$line' does not work: $(cat "$scratch/err")"
done <"$scratch/next"
"$tilewalk" tour -o "$scratch/a folder" >/dev/null || fail "tour -o"
[ "$(find "$scratch/a folder" -type f | wc -l)" = 4 ] || fail "tour -o draws $(ls "$scratch/a folder")"
echo "a tour of $seconds s"
