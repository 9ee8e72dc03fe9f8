#!/bin/sh
# Links of pages lead somewhere; pages are short and say the field's words (tests/support/words.sh); what the README prints is what the program prints;
# --doctor names every library that the Makefile links.
# Not with sanitizers: it runs little or nothing of ours.
set -u
cd "$(dirname "$0")/../.." || exit 1
tilewalk=${TILEWALK:-build/tilewalk}
fail() { echo "FAIL: $1"; exit 1; }
tests/support/words.sh --check || fail "words"
find . -name '*.md' -not -path './build/*' -not -path './tests/fuzz/*' -not -path './.git/*' -print0 | xargs -0 tests/support/links.py || fail "links"
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
out=$tree/out
awk '/^```/ { if (on) exit } on { print } /^\$ tilewalk sim/ { on = 1; print }' README.md >"$tree/sample"
# shellcheck disable=SC2046
"$tilewalk" $(sed -n '1s/^\$ tilewalk //p' "$tree/sample") >"$out"
sed 1d "$tree/sample" | diff - "$out" || fail "the README's sample is not what is printed"
"$tilewalk" --doctor >"$out"
for library in cairo pango jansson Lua md4c zlib libwebp giflib SDL2 OpenMP; do
  grep -q "^$library " "$out" || fail "doctor does not name $library"
done
# What is on PATH and can be run is here, and wants nothing; a file that cannot be run is not.
mkdir "$tree/bin"
: >"$tree/bin/nvidia-smi"
printf '#!/bin/sh\n' >"$tree/bin/clang-14"
chmod +x "$tree/bin/clang-14"
PATH=$tree/bin "$tilewalk" --doctor --json | tr -s '\n ' ' ' >"$out"
for check in "clang-14\", \"present\": true, \"required\": false, \"found\": \"$tree/bin/clang-14\", \"used_for\": \"make web: the viewer as web pages\", \"remedy\": null" \
  'nvidia-smi", "present": false, "required": false, "found": "", "used_for": "running the CUDA kernels", "remedy": "an NVIDIA GPU and its driver"'; do
  grep -qF "{ \"what\": \"$check }" "$out" || fail "doctor --json does not say $check"
done
echo "plain words"
