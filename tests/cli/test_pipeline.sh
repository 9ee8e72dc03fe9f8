#!/bin/bash
# A recorded pipeline for Perfetto: lanes that do not overlap, and what is refused.
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
bad=0
fail() { echo "FAIL: $*"; bad=1; }

"$TILEWALK" trace -N 4096 -d 128 --heads 16 --pipeline -o "$work/p.json" || fail "no trace"
# Products of 64 tiles of both groups, 1,024 cycles each; in each lane one after the other.
awk -F'[:,]' '/"ph":"X"/ { lane = $6; ts = $8; dur = $10
  if (ts < end[lane]) { print "lane " lane " overlaps at " ts; exit 1 }
  end[lane] = ts + dur; if (lane == 1) sum += dur }
  END { if (sum != 131072) { print "products: " sum; exit 1 } }' "$work/p.json" || fail "lanes"
grep -q '"Warpgroup B"' "$work/p.json" || fail "no second warpgroup"
"$TILEWALK" trace -d 96 --pipeline >"$work/out" 2>"$work/err" && fail "d = 96 is not recorded"
{ grep -q 'd = 64 and 128' "$work/err" && [ ! -s "$work/out" ]; } || fail "$(cat "$work/err")"
"$TILEWALK" trace -d 64 --pipeline --limit 5 2>/dev/null && fail "--limit means nothing there"
exit $bad
