#!/bin/sh
# One command in two programs (viz/cli/two_programs.h): the small one loads nothing to draw with, and answers as the full one.
# Not with sanitizers: test_course_commands asks as much of them; there is no static program then.
set -u
BUILD=${BUILD:-build}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $1"; exit 1; }

needs=$(readelf -d "$BUILD/tilewalk" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')
others='lua md4c stdc++' # static but for sanitizers, which link nothing so
case $needs in *asan*) others= ;; esac
for library in cairo pango glib SDL2 webp gif fontconfig X11 $others; do
  case $needs in *"$library"*) fail "the small program loads $library" ;; esac
done
readelf -d "$BUILD/tilewalk-full" | grep -q cairo || fail "the full program does not draw"

# same WORDS...: the same output, errors and status from both.
same() {
  "$BUILD/tilewalk" "$@" >"$scratch/small" 2>"$scratch/small.err"; small=$?
  "$BUILD/tilewalk-full" "$@" >"$scratch/full" 2>"$scratch/full.err"; full=$?
  [ $small = $full ] || fail "'$*' ends in $small, and in $full in the full program"
  cmp -s "$scratch/small" "$scratch/full" || fail "'$*' prints something else in the full program"
  cmp -s "$scratch/small.err" "$scratch/full.err" || fail "'$*' complains otherwise in the full program"
}
same
same --help
same --version
same no-such-command
for command in $("$BUILD/tilewalk" _names commands); do
  same "$command" --help
  same help "$command"
  same "$command" --no-such-option
done
same sim -N 64 -d 16 --block 8 --json
same roofline -N 64 -d 16 --block 8

# What draws becomes the full program, wherever -o stands.
for command in 'sweep --over block --values 8,16 -N 64 -d 16 -o' 'roofline -N 64 -d 16 --block 8 -o' 'render -o'; do
  # shellcheck disable=SC2086  # words
  "$BUILD/tilewalk" $command "$scratch/a.svg" >/dev/null || fail "'$command FILE' draws nothing"
  # shellcheck disable=SC2086
  "$BUILD/tilewalk-full" $command "$scratch/b.svg" >/dev/null || fail "'$command FILE' draws nothing in the full program"
  cmp -s "$scratch/a.svg" "$scratch/b.svg" || fail "'$command FILE' draws something else in the full program"
done

# Alone, it says what is missing.
cp "$BUILD/tilewalk" "$scratch/tilewalk"
"$scratch/tilewalk" sim -N 64 >/dev/null || fail "sim needs the full program"
said=$("$scratch/tilewalk" lesson 2>&1) && fail "no full program, and no complaint"
case $said in *'needs the program tilewalk-full'*) ;; *) fail "a missing program is not explained: $said" ;; esac
echo "two programs, one command"
