#!/bin/sh
# A kernel in the window: walked through by keys under Xvfb; where it was left is printed.
set -u
fail() { echo "FAIL: $1"; cat "$box"/out "$box"/err 2>/dev/null; exit 1; }
# shellcheck source=tests/support/window.sh
. "$(dirname "$0")/../support/window.sh"
export TILEWALK_ASSETS="${TILEWALK_ASSETS:-$PWD/assets}"
ptx=tests/support/kernels/recorded/basics.ptx
matmul() { exec "$view" "$@" --entry matmul_tiled --grid 4,4 --block 16,16 --arg i32:64 --arg 'f32[4096]:normal:1' --arg 'f32[4096]:normal:2' --arg 'f32[4096]:zero'; }
status=0
SDL_VIDEODRIVER=none timeout 300 "$view" kernel $ptx --view --entry saxpy --grid 1 --block 32 --arg i32:1 --arg f32:1 --arg 'f32[1]:zero' --arg 'f32[1]:zero' >"$box/out" 2>"$box/err" || status=$?
[ $status = 2 ] || fail "status $status without a display"
grep -q 'no display for a window' "$box/err" || fail 'without a display'
start_display
matmul kernel $ptx --view --size 900x600 --step 0 >"$box/out" 2>"$box/err" &
viewer=$!
take_window
is_at() { answers && tail -n 1 "$box/out" | grep -q -- "^--step $1 --line "; }
walks() { # walks STEP KEY...
  to=$1
  shift
  keys "$@"
  wait_until "step $to after $*" is_at "$to"
}
walks 0 Home
walks 2 Right Right
walks 1 Left t t
walks 143 End
walks 143 Right
walks 134 Page_Up
walks 0 Home Left
line=$(tail -n 1 "$box/out")
keys Down
is_elsewhere() { answers && [ "$(tail -n 1 "$box/out")" != "$line" ]; }
wait_until 'another line' is_elsewhere
keys s
is_swizzled() { answers && tail -n 1 "$box/out" | grep -q -- '--swizzle 128$'; }
wait_until 'a swizzle' is_swizzled
quits 'at the end'
echo ok
