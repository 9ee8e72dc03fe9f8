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
if SDL_VIDEODRIVER=dummy timeout 60 "$view" view --frames 1 2>&1 | grep -q libsdl2-dev; then echo "no window in this build"; exit 77; fi

start_display() {
  for tool in Xvfb xdotool; do command -v $tool >/dev/null || { echo "no $tool"; exit 77; }; done
  mkfifo "$box/number"
  Xvfb -displayfd 3 -screen 0 1400x900x24 3>"$box/number" >"$box/xvfb.log" 2>&1 &
  server=$!
  DISPLAY=:$(timeout 20 head -n 1 "$box/number") || fail "Xvfb does not start"
  export DISPLAY SDL_RENDER_DRIVER=software
}

# start_in FOLDER ARGUMENTS: opens the viewer there, with the keyboard on it.
start_in() {
  folder=$1
  shift
  : >"$box/out"
  (cd "$folder" && exec timeout 120 "$view" view "$@") >"$box/out" 2>"$box/err" &
  viewer=$!
  window=$(timeout 30 xdotool search --sync --onlyvisible --class tilewalk | head -n 1)
  [ -n "$window" ] || fail "no window"
  xdotool windowmove "$window" 0 0
  timeout 10 xdotool windowfocus --sync "$window"
}

keys() { for key in "$@"; do xdotool key --delay 20 "$key"; done; }

wait_for() { # wait_for FILE PATTERN: until a line matches
  tries=0
  until grep -q -- "$2" "$1" 2>/dev/null; do
    tries=$((tries + 1))
    [ $tries -lt 600 ] || fail "waited in vain for '$2' in $1"
    sleep 0.1
  done
}
