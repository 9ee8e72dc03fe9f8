#!/bin/sh
# A picture for a slide: --title and labels of the axes stand in it in place of its own, escaped; without a picture they
# are refused. The y axis says which bytes are shown.
# Not with sanitizers: test_render.sh and test_chart draw the same.
set -u
tilewalk=${TILEWALK:-build/tilewalk}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAIL: $1"; exit 1; }
for command in 'sweep --values 64,128 -d 16 --block 8' 'roofline -N 64 -d 16 --block 8'; do
  # shellcheck disable=SC2086  # words
  "$tilewalk" $command -o "$work/own.svg" || fail "$command"
  # shellcheck disable=SC2086
  "$tilewalk" $command --title 'K & V <here>' -o "$work/title.svg" || fail "$command --title"
  grep -q 'K &amp; V &lt;here&gt;' "$work/title.svg" || fail "'$command --title' draws no title"
  grep -q 'K &amp; V' "$work/own.svg" && fail "'$command' has the title of another"
  # shellcheck disable=SC2086
  "$tilewalk" $command --title 'K' >/dev/null 2>&1
  [ $? = 2 ] || fail "'$command --title' without a picture is not refused"
done
"$tilewalk" sweep --values 64,128 -d 16 --block 8 --x-label 'length <N>' --y-label 'bytes & more' -o "$work/label.svg" || fail "labels"
grep -q 'length &lt;N&gt;' "$work/label.svg" || fail "--x-label draws no label"
grep -q 'bytes &amp; more' "$work/label.svg" || fail "--y-label draws no label"
grep -q 'sequence length N, tokens' "$work/label.svg" && fail "the axis has two labels"
# Two points or more lie on an axis of doublings.
"$tilewalk" sweep --values 64,4096 -d 16 --block 8 -o "$work/two.svg" || fail "a sweep of two points"
for n in 64 128 256 512 1K 2K 4K; do grep -q ">$n</text>" "$work/two.svg" || fail "the axis of two points lacks $n"; done
"$tilewalk" sweep --over gpu=h100-sxm,h200 --y-label K -o "$work/bars.svg" 2>/dev/null
[ $? = 2 ] || fail "bars have no axis to label"
"$tilewalk" sweep --over gpu=h100-sxm,h200 -N 1K --title 'Mine' -o "$work/bars.svg" || fail "bars with a title"
grep -q 'Mine' "$work/bars.svg" || fail "bars without their title"
grep -q 'Time on each GPU' "$work/bars.svg" || fail "bars do not say what they show"
grep -q '…' "$work/bars.svg" && fail "words of bars are cut"
"$tilewalk" sweep --y-label K >/dev/null 2>&1
[ $? = 2 ] || fail "'--y-label' without a picture is not refused"
for metric in 'boundary=across the SRAM boundary' 'l2=between SMs and L2' 'hbm=between L2 and HBM'; do
  "$tilewalk" sweep --gpu a100-80gb --values 64,128 -d 16 --block 8 --metric "${metric%%=*}" --title T -o "$work/y.svg" || fail "$metric"
  grep -q "bytes ${metric#*=}, read and written" "$work/y.svg" || fail "the y axis of ${metric%%=*} does not say which bytes"
done
"$tilewalk" render --step 40 --title 'K & V <here>' -o "$work/scene.svg" || fail "render --title"
grep -q 'K &amp; V &lt;here&gt;' "$work/scene.svg" || fail "'render --title' draws no title"
grep -q '>FlashAttention-2<' "$work/scene.svg" && fail "the scene has two titles"
echo "titles"
