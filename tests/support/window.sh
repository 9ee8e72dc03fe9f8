# shellcheck shell=sh
# For tests of the window, sourced at their beginning: a folder $box that goes away, the program $view, and a display with
# keys on it. Each defines fail, which ends the test, before it starts anything.
cd "$(dirname "$0")/../.." || exit 1
view=${TILEWALK:-$PWD/build/tilewalk}
box=$(mktemp -d) || exit 1
server='' viewer=''
cleanup() {
  [ -z "$viewer" ] || kill "$viewer" 2>/dev/null
  [ -z "$server" ] || kill "$server" 2>/dev/null
  rm -rf "$box"
}
trap cleanup EXIT

# In a sanitizer build: fontconfig, X11 and dbus keep memory until the process ends, some in libraries that are unloaded by
# then, so that they have no name to suppress. What our own code allocated and lost has our file on the first line of its stack.
export LSAN_OPTIONS=exitcode=0
complains() {
  grep -E 'runtime error|ERROR: AddressSanitizer|#1 .* in [a-zA-Z_]+ (.*/)?(sim|viz|lessons|kernels)/' "$box/err" && return
  sed '/^====/,$d' "$box/err" | grep -v -e XDG_RUNTIME_DIR -e '^$' # libwayland mentions that it is not there
}

# A build without the window says in one line what to install; the rest cannot be tested then.
if SDL_VIDEODRIVER=dummy timeout 300 "$view" view --frames 1 2>&1 | grep -q libsdl2-dev; then echo "no window in this build"; exit 77; fi

# The display's number is this process's own: with numbers that Xvfb finds, a server that ends takes the socket of the next.
# Without -noreset it starts anew when its last client goes, and refuses who comes meanwhile; without -r a key repeats that
# a slow machine holds down for long.
start_display() {
  for tool in Xvfb xdotool; do command -v $tool >/dev/null || { echo "no $tool"; exit 77; }; done
  mkfifo "$box/number"
  Xvfb ":$((100 + $$))" -displayfd 3 -noreset -r -screen 0 1400x900x24 3>"$box/number" >"$box/xvfb.log" 2>&1 &
  server=$!
  DISPLAY=:$(timeout 300 head -n 1 "$box/number")
  [ "$DISPLAY" = ":$((100 + $$))" ] || fail "Xvfb does not start: $(cat "$box/xvfb.log")"
  export DISPLAY SDL_RENDER_DRIVER=software
  wait_until 'the display' xdotool getmouselocation
}

# Nothing here sleeps for a time that should be enough: each waits for what it needs to see, with a deadline that only a viewer
# that hangs reaches.

# wait_until WHAT COMMAND...: until the command succeeds.
wait_until() {
  waited_for=$1 deadline=$(($(date +%s) + 200))
  shift
  until "$@" >/dev/null 2>&1; do
    [ "$(date +%s)" -lt $deadline ] || fail "waited in vain for $waited_for"
    sleep 0.05
  done
}

# wait_for FILE PATTERN: until a line matches.
wait_for() { wait_until "'$2' in $1" grep -q -- "$2" "$1"; }

keys() { for pressed in "$@"; do xdotool key --delay 20 "$pressed"; done; }

# answers: the viewer has taken all that was sent before. Ctrl+C prints the state in every mode but an open list or line.
answers() {
  lines=$(wc -l <"$box/out")
  keys ctrl+c
  wait_until 'an answer' has_answered
}
has_answered() { [ "$(wc -l <"$box/out")" -gt "$lines" ]; }

# drawn: and it has drawn the outcome. It draws between two answers, when there is something to draw.
drawn() { answers && answers; }

# state PATTERN: the state, as y prints it, matches now or soon.
state() {
  deadline_of_state=$(($(date +%s) + 200))
  while :; do
    lines=$(wc -l <"$box/out")
    keys y
    wait_until 'a state' has_answered
    shown=$(tail -n 1 "$box/out")
    ! echo "$shown" | grep -qE -- "$1" || return 0
    [ "$(date +%s)" -lt $deadline_of_state ] || fail "the state is '$shown', not '$1'"
  done
}

# stands: it does not play: two states in a row are the same.
stands() {
  answers
  before=$(tail -n 1 "$box/out")
  answers
  [ "$(tail -n 1 "$box/out")" = "$before" ]
}

# take_window: waits for the window of the viewer just started, puts it at the corner and gives it the keyboard.
take_window() {
  wait_until 'the window' find_window
  xdotool windowmove "$window" 0 0
  give_keys "$window"
}
# give_keys WINDOW: it has the keyboard. SDL takes the focus 0.2 s after it hears of it, then looks which keys are down, and tells
# nobody; a Ctrl that it then sees released too early makes no answer, so it is asked again.
give_keys() {
  focused=$1
  wait_until 'the focus' take_focus
  answers
  sleep 0.3
  wait_until 'an answer with the focus' answers_soon
  answers
}
answers_soon() {
  lines=$(wc -l <"$box/out")
  keys ctrl+c
  soon=$(($(date +%s) + 30))
  until has_answered; do
    [ "$(date +%s)" -lt $soon ] || return 1
    sleep 0.05
  done
}
# xdotool fails when any window goes away while it looks, so it is asked again.
find_window() {
  window=$(xdotool search --onlyvisible --class tilewalk | head -n 1)
  [ -n "$window" ]
}
take_focus() { xdotool windowfocus "$focused" && [ "$(xdotool getwindowfocus)" = "$focused" ]; }

# ends WHEN: the viewer has, well, and without a complaint. quits WHEN: told to by its key.
ends() {
  wait "$viewer" || fail "status $? $1"
  viewer=''
  if complains; then fail "it complained $1"; fi
}
quits() { keys q; ends "$1"; }

# resize WIDTH HEIGHT: the window, and the viewer has seen it.
resize() {
  xdotool windowsize "$window" "$1" "$2"
  wait_until "a window of $1 x $2" has_size "$1x$2"
  drawn
}
has_size() { xdotool getwindowgeometry "$window" | grep -q "$1\$"; }

# start_in FOLDER ARGUMENTS: opens the viewer there, with the keyboard on it, and without the story of the first start.
start_in() {
  start_folder=$1
  shift
  start_plain_in "$start_folder" --no-story "$@"
}
start_plain_in() {
  folder=$1
  shift
  : >"$box/out"
  (cd "$folder" && exec timeout 550 "$view" view "$@") >"$box/out" 2>"$box/err" &
  viewer=$!
  take_window
}
