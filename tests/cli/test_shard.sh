#!/bin/bash
# --shard I/N: parts of a run put together are the run, byte for byte, however many there are and in whatever order they
# are made; a part that died is made again.
set -u
cd "$(dirname "$0")/../.." || exit 1
tilewalk=${TILEWALK:-build/tilewalk}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
fail() { echo "FAIL: $1"; exit 1; }

# same NAME PARTS WORDS...: `cat` of the parts, the last made first, is the whole.
same() {
  local name=$1 parts=$2 k
  shift 2
  "$tilewalk" "$@" --csv >"$work/whole" || [ $? = 1 ] || fail "$name is refused"
  for ((k = parts; k > 0; k--)); do
    "$tilewalk" "$@" --csv --shard "$k/$parts" >"$work/part.$(printf %04d "$k")" || [ $? = 1 ] || fail "$name --shard $k/$parts is refused"
  done
  cat "$work"/part.* >"$work/together"
  rm "$work"/part.*
  [ "$(wc -l <"$work/whole")" -gt 2 ] || fail "$name has no rows to deal out"
  cmp "$work/whole" "$work/together" || fail "$name: $parts parts are not the whole"
}
same steps 7 sweep --from 64 --step 1 --to 1000
same few 9 sweep --from 1K --to 16K
# The kernel splits keys where its grid is small: the column has its name, in part 1 of one point too.
same kernel 8 sweep --gpu h200 --kernel fa2-sm90 --heads 2 --from 128 --to 16K --metric time
[ "$(getconf LONG_BIT)" = 32 ] || same processor 3 crosscheck --cpu -N 64 --kernel-name fa1
same counters 4 crosscheck --ncu assets/counters/h200/kernels/first.csv --kernel-name fa1

# Two files answer for one student: neither counts, in whichever part the rows are.
mkdir "$work/class"
for k in 1 2 3; do
  printf 'student,lesson,id,answer\nAnn,bytes,ridge,%d\nBo %d,bytes,ridge,2\nann,bytes,limits,a\n' $k $k
done >"$work/all"
for k in 1 2 3; do sed -n "$((4 * k - 3)),$((4 * k))p" "$work/all" >"$work/class/$k.csv"; done
for parts in 2 5 20; do same class $parts lesson --answers "$work/class"; done
grep -c conflict "$work/whole" | grep -qx 3 || fail "no conflict in the class"

# Blocks of a kernel: counts add up.
launch=(tests/support/kernels/recorded/basics.ptx --entry saxpy --grid 5 --block 256 --arg i32:1100 --arg f32:2 --arg 'f32[1280]:normal:1' --arg 'f32[1280]:zero')
for k in 1 2 3; do "$tilewalk" kernel "${launch[@]}" --csv --shard "$k/3" | sed 's/,"[^"]*"$//'; done |
  awk -F, -v OFS=, '/^line/ { next } { for (c = 2; c < 11; c++) sum[$1, c] += $c } END { for (k in sum) print k, sum[k] }' | sort >"$work/sums"
"$tilewalk" kernel "${launch[@]}" --csv --shard 1/1 | sed 's/,"[^"]*"$//' |
  awk -F, -v OFS=, '/^line/ { next } { for (c = 2; c < 11; c++) sum[$1, c] += $c } END { for (k in sum) print k, sum[k] }' | sort >"$work/whole"
cmp "$work/whole" "$work/sums" || fail "counts of three parts are not those of the launch"

# says TEXT WORDS...: refused with it.
says() {
  local text=$1 line
  shift
  line=$("$tilewalk" "$@" 2>&1 >/dev/null) && fail "'$*' is not refused"
  case $line in *"$text"*) ;; *) fail "'$*' is answered by: $line" ;; esac
}
says 'give I/N with I from 1 to N' sweep --csv --shard 0/8
says 'give I/N with I from 1 to N' sweep --csv --shard 9/8
says 'add --csv' sweep --shard 1/8
says 'leave out --shard' sweep --over gpu=h200,h100-sxm --csv --shard 1/2
says 'with --csv 131072' sweep --from 1 --step 1 --to 1000000 --csv
says 'leave out --faults' kernel "${launch[@]}" --csv --faults --shard 1/2
says 'leave out --scores' lesson --answers "$work/class" --scores --csv --shard 1/2
says 'leave out --live' crosscheck --live --csv --shard 1/2
echo "parts are the whole"
