#!/bin/sh
# The gallery's page lists the commands of its script, its pictures are there, and the commands still draw.
# Not with sanitizers: test_render.sh and test_scene draw the same.
set -eu
cd "$(dirname "$0")/../.."
tests/support/gallery.sh --check
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed -n 's/^    tilewalk \(.*\) -o \(.*\)$/\1 -o \2/p' assets/pictures/GALLERY.md >"$work/commands"
[ "$(wc -l <"$work/commands")" -ge 8 ] || { echo "FAIL: few commands in the gallery"; exit 1; }
tilewalk=${TILEWALK:-$PWD/build/tilewalk}
while read -r line; do
  (cd "$work" && eval "\"$tilewalk\" $line --size 320x180") || { echo "FAIL: tilewalk $line"; exit 1; }
done <"$work/commands"
[ "$(find "$work" -name '*.png' | wc -l)" = "$(wc -l <"$work/commands")" ] || { echo "FAIL: a picture is missing"; exit 1; }
echo "a gallery of $(wc -l <"$work/commands") pictures"
