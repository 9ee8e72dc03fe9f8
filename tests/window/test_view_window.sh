#!/bin/sh
# The viewer as a user drives it: a real window under Xvfb with keys and mouse from xdotool, then the dummy driver, then
# no display at all. What it did is read from what it prints (y prints the one-line state) and from the files it saves.
# shellcheck disable=SC2015 # fail ends the test
set -u
fail() { echo "FAIL: $1"; cat "$box"/out* "$box"/err* 2>/dev/null; exit 1; }
# shellcheck source=tests/support/window.sh
. "$(dirname "$0")/../support/window.sh"

# The dummy driver draws, in every scene, theme and at the least size.
for scene in walk tiles softmax time; do
  SDL_VIDEODRIVER=dummy timeout 300 "$view" view --frames 3 --scene $scene --theme dark --size 320x180 >"$box/out" 2>"$box/err" || fail "the dummy driver, $scene"
  grep -q '^3 frames of 320 x 180, software' "$box/out" && grep -q 'frame while playing: median' "$box/out" || fail "no frames of $scene"
done

# No display: one line, status 2.
status=0
env -u DISPLAY -u WAYLAND_DISPLAY -u XDG_RUNTIME_DIR -u SDL_VIDEODRIVER timeout 300 "$view" view >"$box/out" 2>"$box/err" || status=$?
[ $status = 2 ] || fail "status $status without a display"
[ "$(wc -l <"$box/err")" = 1 ] || grep -q LeakSanitizer "$box/err" || fail "not one line without a display"
grep -q 'no display for a window' "$box/err" || fail "does not say that there is no display"

start_display
mkdir "$box/home"
export XDG_CONFIG_HOME="$box/config"

start() { start_in "$box/home" "$@"; }

start --size 1280x720
state 'algorithm=fa2 N=64 d=16 causal=1 block=8 scene=walk$' # paused at the start
keys Right Right Right Left
state 'step=2$'
keys End
state "step=$(TILEWALK_STATE='' "$view" render --describe 2>/dev/null | sed -n 's/.*of \([0-9]*\).*/\1/p' | head -n 1)"
keys Home
state 'scene=walk$'
keys Next; keys Prior
state 'scene=walk$'
keys plus plus plus plus space # plays
state 'step=[1-9][0-9]*$'
keys space
stands || fail "it does not pause"
state 'step=[1-9][0-9]*$'
keys 2
state 'scene=softmax'
keys 1
state 'scene=walk'
keys s
state 'scene=walk step=[1-9]'

# Parameters by key, and the place stays within the run.
keys Home c
state 'N=64 d=16 block=8 scene=walk$'
keys a
state 'algorithm=fa2-split'
keys A n
state 'algorithm=fa2 N=128 d=16 block=8'

line() { keys colon; xdotool type --delay 20 "$1"; keys Return; }
# An impossible block explains itself, and the line stays to be put right.
line 'block=0'
for _ in 1 2 3 4 5 6 7; do keys BackSpace; done
xdotool type --delay 20 'block=32 causal=1 step=5'
keys Return
state 'N=128 d=16 causal=1 block=32 scene=walk step=5$'

keys Home
line 'N=64 block=8'

# The mouse: the scrub bar, a value that is dragged, stepped, and typed into, an impossible one.
mouse() { # mouse LABEL [ARGUMENTS]: to a control of the fresh layout of 1280 x 720, then what xdotool is told to do there
  spot=$(grep -m 1 -E "^[0-9]+ [0-9]+ $1\$" "$box/controls") || fail "no control '$1'"
  x=${spot%% *} y=${spot#* } y=${y%% *}
  shift
  drawn # what is pressed is what was drawn
  # shellcheck disable=SC2086 # two numbers
  xdotool mousemove $x $y "$@"
}
"${BUILD:-build}/tests/test_view_player" controls >"$box/controls" || fail "the layout is not told"
mouse scrub mousedown 1 mousemove_relative 60 0 mouseup 1
state 'step=1[0-9][0-9]$'
mouse 'N 64' mousedown 1
xdotool mousemove_relative 30 0; xdotool mousemove_relative 30 0; xdotool mouseup 1
state 'N=256 '
mouse 'N 64' click 3 click 3
state 'N=64 '
mouse 'N 64' click 1 # its key stands in the line; what is refused stays there
xdotool type --delay 20 '0'
keys Return BackSpace
xdotool type --delay 20 '128'
keys Return
state 'N=128 '
mouse 'fa2' click 1
xdotool type --delay 20 'standard N=64'
keys Return
state 'algorithm=standard N=64 '
mouse 'fa2' click 4
state 'algorithm=fa1 '
line 'algorithm=fa2'
mouse 'Softmax' click 1
state 'block=8 scene=softmax'
mouse 'Walk' click 1
keys Home
xdotool mousemove 400 300 click 5
state 'scene=walk step=1$'
xdotool mousemove 300 400

# Saving what is shown, in three formats; the files carry the state.
keys e v P e
wait_for "$box/out" 'saved .*-2.png'
[ "$(find "$box/home" -name 'tilewalk-walk-[0-9]*' | wc -l)" = 4 ] || fail "not four files"
grep -q 'scene=walk' "$box"/home/*.svg || fail "the SVG does not carry the state"
keys d
wait_for "$box/out" 'Moved so far'
keys t p question question p f f
resize 60 40
keys Right Left # too small for anything but its ground
resize 700 420
quits 'at the end'

# The theme, the speed and the size that the window had are there again; a damaged file is said in one line.
settings=$box/config/tilewalk/view.conf
grep -q '^theme = dark' "$settings" && grep -q '^speed = 50$' "$settings" && grep -q '^size = 700x420$' "$settings" || { cat "$settings"; fail "the settings are not kept"; }
start --presentation
xdotool getwindowgeometry "$window" | grep -q '700x420' || fail "the size does not come back"
keys t p
quits 'after it came back'
grep -q '^theme = light' "$settings" && grep -q '^presentation = off' "$settings" || fail "what was changed is not kept"
echo 'speed = fast' >"$settings"
start --size 1280x720
keys q
wait $viewer || fail "damaged settings end it"
[ "$(grep -c 'view.conf:1: speed: .fast. is not a count' "$box/err")" = 1 ] && grep -q 'speed = fast' "$settings" || fail "damaged settings are not said, and left as they are"
rm "$settings"
viewer=''

# A disk that is full while saving (files may grow to 2 KiB here): said in a line, nothing is left, and it goes on.
: >"$box/out"
(cd "$box/home" && rm -f tilewalk-* && trap '' XFSZ && ulimit -f 4 && exec timeout 550 "$view" view -N 16 -d 16 --block 8 --scene tiles --size 1280x720) 2>"$box/err" | cat >"$box/out" &
viewer=$!
take_window
keys e v Right
state 'step=1$'
keys q
wait $viewer
viewer=''
[ -z "$(find "$box/home" -name '*tilewalk*' -o -name '*.png')" ] || fail "a full disk leaves files: $(ls -A "$box/home")"
if complains; then fail "it complained"; fi

# A state restores exactly what it says.
whole='algorithm=fa1 N=48 d=8 block-q=8 block-k=16 scene=softmax step=33 seed=3'
start --state "$whole"
state "^$whole\$"
if command -v xrandr >/dev/null; then # a monitor is unplugged, and plugged in again
  xrandr --output screen --off >/dev/null 2>&1
  keys Right f f
  xrandr --output screen --auto >/dev/null 2>&1
  keys Left
  state "^$whole\$"
fi
keys Escape
answers # Escape does not quit without asking
keys Escape Escape
ends 'by Escape'

# The other way to the screen, through a texture; where there is no OpenGL it falls back.
SDL_RENDER_DRIVER=opengl timeout 300 "$view" view --frames 3 --size 640x360 --scene tiles >"$box/out" 2>"$box/err" || fail "a texture"
grep -q '^3 frames of 640 x 360, .* renderer' "$box/out" || fail "no frames through a texture"

# A window that another program destroys is a window closed, whether it plays or sleeps.
for key in Right space; do
  start --size 640x360 --scene tiles --reduced-motion
  keys "$key"
  state 'step=[1-9]'
  xdotool windowclose "$window"
  ends 'when its window is destroyed'
done

# A display that goes away: one line that says how to go on, status 2.
start --size 640x360 --scene tiles
keys space
state 'step=[1-9]'
kill $server
status=0
wait $viewer || status=$?
viewer='' server=''
[ $status = 2 ] || fail "status $status when the display goes away"
[ "$(grep -v -e '^X' -e XDG_RUNTIME_DIR -e '^$' "$box/err" | sed '/^====/,$d' | wc -l)" = 1 ] || fail "not one line when the display goes away"
grep -q "display went away.*--state 'algorithm=fa2 N=64 .*scene=walk" "$box/err" || fail "it does not say how to go on"
echo "the window plays, steps, scrubs, types, saves and quits"
