#!/bin/sh
# What a classroom does with the window: piles, a click into the table, a drag while it plays, presentation mode, decode.
set -u
fail() { echo "FAIL: $1"; cat "$box"/out* "$box"/err* 2>/dev/null; exit 1; }
# shellcheck source=tests/support/window.sh
. "$(dirname "$0")/../support/window.sh"
export TILEWALK_ASSETS="${TILEWALK_ASSETS:-$PWD/assets}" XDG_CONFIG_HOME="$box/config"

start_display
start() { start_in "$box" "$@"; }

# Piles: two algorithms open them, they play, and the end is that of the first.
start --size 1280x720 --algorithm standard,fa2
state 'scene=piles$'
keys plus plus plus space
state 'scene=piles step=[1-9]'
keys End 6
state 'scene=many step=580$'
quits 'after piles'

# A click into the table goes to that tile, and no further: it stands there.
start --size 1280x720 --state 'algorithm=fa2 N=8192 d=64 causal=1 block=64 scene=walk step=20000'
state 'step=20000$'
xdotool mousemove 300 300
drawn
xdotool click 1
state 'scene=walk step=(1[0-9]{4}|2[1-9][0-9]{3}|20[1-9][0-9]{2}|200[1-9][0-9]|2000[1-9])$'
stands || fail "a click into the table plays"
quits 'after the table'

# Dragging the scrub bar while it plays stops it where it is let go.
start --size 1280x720
keys space
state 'step=[1-9]'
"${BUILD:-build}/tests/test_view_player" controls >"$box/controls" || fail "the layout is not told"
spot=$(grep -m 1 -E '^[0-9]+ [0-9]+ scrub$' "$box/controls") || fail "no scrub bar"
x=${spot%% *} y=${spot#* } y=${y%% *}
xdotool mousemove "$x" "$y" mousedown 1 mousemove_relative 60 0 mouseup 1
state 'step=1[0-9][0-9]$'
stands || fail "it plays on after a drag"

# In presentation mode a click goes on by a tile; Escape leaves the mode, asks, and any other key goes on.
keys Home p
xdotool mousemove 400 300
drawn
xdotool click 1
state 'step=[1-9]'
keys Escape Escape Right
answers
keys Escape Escape
ends 'by Escape'
# The speaker's page is a second window. It follows, its keys are the viewer's, and it goes away alone.
start --size 1280x720 --state 'algorithm=fa2 N=16 d=4 block=8 scene=walk'
state 'N=16 .*scene=walk$'
windows() { xdotool search --onlyvisible --class . | sort; }
has_page() { [ "$(windows | wc -l)" = 2 ]; }
has_no_page() { [ "$(windows | wc -l)" = 1 ]; }
has_no_page || fail "more windows than one"
scene_window=$(windows)
keys K
wait_until "the speaker's page" has_page
keys Home Right Right
state 'step=2$'
give_keys "$(windows | grep -v "$scene_window")"
keys Right
state 'step=3$'
keys K
wait_until 'the page to go' has_no_page
give_keys "$scene_window" # no window manager gives it back what the page had
keys K
wait_until 'the page again' has_page
quits "after the speaker's page"

# The first start begins with the story: keys are its own until Escape. The next does not, and J opens it again.
rm -rf "$box/config"
start_plain_in "$box" --size 1280x720
keys Right Escape Right
state 'step=1$'
keys J Right Right Escape Right
state 'step=2$'
quits 'after the story'
grep -q '^story = seen$' "$box/config/tilewalk/view.conf" || fail "the story is not remembered"
start_plain_in "$box"
keys Right Right
state 'step=2$'
quits 'after a second start'

echo "piles, table, drag, presentation, decode and the speaker's page work in a window"
