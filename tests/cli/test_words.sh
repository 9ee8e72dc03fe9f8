#!/bin/sh
# Pages are short and say the field's words (tests/support/words.sh); what the README prints is what the program prints;
# doctor names every library that the Makefile links.
set -u
cd "$(dirname "$0")/../.." || exit 1
tilewalk=${TILEWALK:-build/tilewalk}
fail() { echo "FAIL: $1"; exit 1; }
tests/support/words.sh --check || fail "words"
out=$(mktemp)
trap 'rm -f "$out"' EXIT
"$tilewalk" sim -N 4096 -d 128 --block 128 --algorithm naive,fa2 >"$out"
sed -n '/^\$ tilewalk sim -N 4096/,/^```/p' README.md | sed '1d; $d; /^\.\.\.$/d' | while IFS= read -r line; do
  grep -qxF -- "$line" "$out" || { echo "FAIL: the README prints: $line"; exit 1; }
done || exit 1
"$tilewalk" doctor >"$out"
for library in cairo pango jansson Lua md4c libwebp giflib SDL2 OpenMP; do
  grep -q "^$library " "$out" || fail "doctor does not name $library"
done
echo "plain words"
