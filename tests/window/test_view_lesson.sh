#!/bin/sh
# A lesson beside the viewer as a learner goes through it: a real window under Xvfb with keys and mouse from xdotool. What happened is
# read from the record of progress, and from what the viewer prints.
set -u
fail() { echo "FAIL: $1"; cat "$box"/out "$box"/err "$box"/state/tilewalk/lessons.json 2>/dev/null; exit 1; }
# shellcheck source=tests/support/window.sh
. "$(dirname "$0")/../support/window.sh"
export TILEWALK_ASSETS="${TILEWALK_ASSETS:-$PWD/assets}" XDG_STATE_HOME="$box/state"

# A lesson that is missing or hostile: one line, status 2, and no window is tried for.
refused() { # refused LESSON PATTERN
  status=0
  SDL_VIDEODRIVER=dummy timeout 300 "$view" view --lesson "$1" >"$box/out" 2>"$box/err" || status=$?
  [ $status = 2 ] || fail "status $status for $1"
  [ "$(sed '/^====/,$d' "$box/err" | grep -c .)" = 1 ] || fail "not one line for $1"
  grep -q -- "$2" "$box/err" || fail "$1: not '$2'"
}
head='# T\n\n- idea: x\n- minutes: 5\n\n'
refused none "there is no lesson 'none'"
refused "$box/none.md" 'none.md'
# shellcheck disable=SC2016,SC2059 # the heads hold no %, and the backquotes are a lesson's
{
  printf "$head{(function() while true do end end)()}\n" >"$box/endless.md"
  printf "$head"'```ask a\nprompt: p\nanswer: os.execute("true")\nhint: h\n```\n' >"$box/hostile.md"
  printf "$head"'```state\nN=0\n```\n' >"$box/empty.md"
}
refused "$box/endless.md" 'endless.md:6: the expression does too much work'
refused "$box/hostile.md" "hostile.md:8: there is no name 'os'"
refused "$box/empty.md" 'empty.md:7: '

# The dummy driver draws every lesson's first page.
for lesson in 01 03 05 06 09; do
  SDL_VIDEODRIVER=dummy timeout 300 "$view" view --frames 2 --lesson ${lesson#0} --size 640x360 --theme dark >"$box/out" 2>"$box/err" || fail "the dummy driver, lesson $lesson"
done
rm -rf "$box/state"

start_display

start() { start_in "$box" "$@"; }
say() { xdotool type --delay 20 -- "$1"; }
record=$box/state/tilewalk/lessons.json
# answered ID RIGHT TRIES HINTS: the record says so.
answered() {
  answer="\"$1\":{\"hints\":$4,\"right\":$2,\"tries\":$3}"
  wait_until "a record that $1 is right $2 after $3 tries and $4 hints" is_answered
}
is_answered() { tr -d ' \n' <"$record" | grep -q "$answer"; }
block() { tr -d '\n' <"$record" | grep -oE '"block": [0-9]+' | head -n 1 | tr -dc 0-9; }

# Without a lesson l opens the list: a number and Return open a lesson, and what is done in it is kept.
start --size 1280x720
keys l 6 Return ctrl+Right
wait_for "$record" '06-judge-a-claim'
# The list again by mouse (between Back and Next): another lesson.
xdotool mousemove 1053 643 click 1
keys 3 Return ctrl+Right
wait_for "$record" '03-the-loop'
quits 'after the list'
rm -rf "$box/state"

cat >"$box/walk.md" <<'LESSON'
# A walk

- idea: Everything once.
- minutes: 5

Hello, [tile](glossary.md#tile).

```state
algorithm=fa2 N=64 d=16 block=8 causal=1 scene=walk
```

```ask sum
prompt: How many tiles has a row?
answer: 64 / 8
hint: Divide.
hint: N by the block.
wrong: 64 -> Those are the rows.
explain: 64 rows in blocks of 8.
```

## Predict

```ask guess
kind: predict
prompt: Is the second tile of the first row computed?
option: computed | It is computed.
option: skipped | It is skipped.
answer: 'skipped'
hint: The mask is causal.
```

```show
scene=walk steps=0-12
```

```ask sides
prompt: Which side of the diagonal is skipped?
option: above | Above it.
option: below | Below it.
answer: 'above'
hint: A query sees no later key.
wrong: below -> Those are earlier keys.
explain: Later keys are masked.
```

```task
Make the blocks larger.
until: view.block >= 16
solution: block=16
hint: Type block=16.
explain: Fewer tiles.
```

The end.
LESSON

# By keys: a wrong answer, a hint, the right one; then on.
start --size 1280x720 --lesson "$box/walk.md"
say 64
keys Return Tab Tab Return # a diagnosis; to the hint, and press it: the field has the focus again
say 8
keys Return
answered sum true 2 1
keys Return Return # on, and to the next page
say b              # the prediction: its show plays, and ends
answered guess false 1 0
keys Return
# By mouse: the wrong choice, then the right one. They lie where the layout of 1280 x 720 puts them: looked for from the top.
tries=0
until tr -d '\n' <"$record" | grep -q '"sides": {'; do
  tries=$((tries + 1))
  [ $tries -lt 90 ] || fail "the choices are not found by mouse"
  xdotool mousemove 1100 $((540 - tries % 30 * 9)) click 1
  drawn # what is pressed is what was drawn
done
answered sides true 2 0
keys Return
# The task is done in the viewer: its keys are its own now.
xdotool mousemove 300 300 click 1
keys colon; say 'block=16'; keys Return y
wait_for "$box/out" 'block=16'
keys period
wait_for "$record" '"finished": true'
quits 'at the end'
"$view" lesson --list >/dev/null 2>"$box/err" || fail "the terminal cannot read the record"

# Begun in the terminal, gone on with in the viewer, in presentation mode; and the other way round.
"$view" lesson "$box/walk.md" --restart >"$box/out" 2>"$box/err" <<'ANSWERS' || fail "the terminal"
8
quit
ANSWERS
before=$(block)
start --size 1280x720 --lesson "$box/walk.md" --presentation --theme dark
say b # it goes on at the question where the terminal stopped
answered guess false 1 0
keys l l question question t Escape
quits 'at the second end'
[ "$(block)" -gt "$before" ] || fail "the viewer did not go on: block $(block) after $before"
printf 'a\nblock=32\n' | "$view" lesson "$box/walk.md" >"$box/out" 2>"$box/err" || fail "the terminal, again"
grep -q 'Going on where you stopped' "$box/out" || fail "the terminal begins anew"
grep -q 'The lesson is done: 2 of 2 right' "$box/out" || fail "the terminal does not end it"
echo ok
