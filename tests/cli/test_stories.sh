#!/bin/bash
# Every story that comes with Tilewalk: its captions hold and its moments come at each size; one with a false caption is
# refused with its line; a beat is drawn, and a short film.
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
bad=0
fail() { echo "FAIL: $*"; bad=1; }

names=$("$TILEWALK" story --list | cut -d' ' -f1)
[ "$(wc -w <<<"$names")" -ge 3 ] || fail "fewer than three stories"
for name in $names; do "$TILEWALK" story "$name" --lint >"$work/out" 2>&1 || fail "$(cat "$work/out")"; done
"$TILEWALK" story </dev/null | grep -q '3.778x' || fail "the first story does not say 3.778x"
sed 's/^holds    fa2.loads_per_block.Q == 1$/holds    fa2.loads_per_block.Q == 2/' lessons/stories/why-fast.txt >"$work/false.txt"
"$TILEWALK" story "$work/false.txt" >/dev/null 2>"$work/err"
[ $? = 2 ] || fail "a false caption is told"
grep -q "false.txt:[0-9]*: the caption of 'stream' is false" "$work/err" || fail "$(cat "$work/err")"
if ! "$TILEWALK" story --beat 7 --part 60 -o "$work/beat.png" || [ ! -s "$work/beat.png" ]; then fail "no picture"; fi
"$TILEWALK" story --beat 99 -o "$work/none.png" 2>/dev/null && fail "a beat that is not there"
exit $bad
