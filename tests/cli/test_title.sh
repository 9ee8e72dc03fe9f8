#!/bin/sh
# A chart for a slide: --title stands in the picture in place of its own, escaped; without a picture it is refused.
set -u
tilewalk=${TILEWALK:-build/tilewalk}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAIL: $1"; exit 1; }
for command in 'sweep --values 64,128 -d 16 --block 8' 'roofline -N 64 -d 16 --block 8'; do
  # shellcheck disable=SC2086  # words
  "$tilewalk" $command -o "$work/own.svg" || fail "$command"
  # shellcheck disable=SC2086
  "$tilewalk" $command --title 'K & V <here>' -o "$work/title.svg" || fail "$command --title"
  grep -q 'K &amp; V &lt;here&gt;' "$work/title.svg" || fail "'$command --title' draws no title"
  grep -q 'K &amp; V' "$work/own.svg" && fail "'$command' has the title of another"
  # shellcheck disable=SC2086
  "$tilewalk" $command --title 'K' >/dev/null 2>&1
  [ $? = 2 ] || fail "'$command --title' without a picture is not refused"
done
echo "titles"
