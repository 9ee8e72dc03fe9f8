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
[ "$(wc -w <<<"$names")" -ge 2 ] || fail "fewer than two stories"
for name in $names; do "$TILEWALK" story "$name" --lint >"$work/out" 2>&1 || fail "$(cat "$work/out")"; done
for file in story:lessons/stories/why-fast.md lesson:lessons/course/template.md; do # what another command prints is read as a file is
  "$TILEWALK" "${file%%:*}" --lint <(cat "${file#*:}") >"$work/out" 2>&1 || fail "from a pipe: $(cat "$work/out")"
done
"$TILEWALK" story </dev/null | grep -q '3.778x' || fail "the first story does not say 3.778x"
sed 's/^assert(fa2.loads_per_block.Q == 1/assert(fa2.loads_per_block.Q == 2/' lessons/stories/why-fast.md >"$work/false.md"
"$TILEWALK" story "$work/false.md" >/dev/null 2>"$work/err"
[ $? = 2 ] || fail "a false caption is told"
grep -q "false.md:48: the caption below is false" "$work/err" || fail "$(cat "$work/err")"
if ! "$TILEWALK" story --beat 4 --part 60 -o "$work/beat.png" || [ ! -s "$work/beat.png" ]; then fail "no picture"; fi
"$TILEWALK" story --beat 99 -o "$work/none.png" 2>/dev/null && fail "a beat that is not there"
# Films: of an .mp4 ffmpeg is given every frame; without it, and with another name, all that would do is named.
mkdir "$work/bin"
printf '#!/bin/sh\n{ wc -c; echo "$@"; } >/dev/fd/1\n' >"$work/bin/ffmpeg"
chmod +x "$work/bin/ffmpeg"
PATH="$work/bin:$PATH" "$TILEWALK" story my-kernel -N 256 --fps 2 --size 160x90 -o "$work/film.mp4" 2>/dev/null || fail "no film"
frames=$(($(head -n 1 "$work/film.mp4") / (160 * 90 * 4)))
[ "$frames" -gt 100 ] || fail "$frames frames"
[ $((frames * 160 * 90 * 4)) = "$(head -n 1 "$work/film.mp4")" ] || fail "$frames frames"
grep -q -- '-s 160x90 -r 2 ' "$work/film.mp4" || fail "$(tail -n 1 "$work/film.mp4")"
printf '#!/bin/sh\nexit 3\n' >"$work/bin/ffmpeg"
PATH="$work/bin:$PATH" "$TILEWALK" story my-kernel -N 256 --fps 1 --size 160x90 -o "$work/bad.mp4" 2>"$work/err" && fail "a film of an ffmpeg that fails"
{ [ ! -e "$work/bad.mp4" ] && grep -q 'exit status 3' "$work/err"; } || fail "$(cat "$work/err")"
PATH=/nowhere "$TILEWALK" story my-kernel -N 256 --fps 1 -o "$work/bad.mp4" 2>"$work/err" && fail "a film without ffmpeg"
grep -q 'ffmpeg, which is not installed' "$work/err" || fail "$(cat "$work/err")"
"$TILEWALK" story -o "$work/film.foo" 2>"$work/err" && fail "a film of no kind"
grep -q 'png, .svg or .pdf for one picture, in .webp, .gif or .mp4' "$work/err" || fail "$(cat "$work/err")"
exit $bad
