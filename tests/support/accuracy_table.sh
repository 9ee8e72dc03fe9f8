#!/bin/sh
# The tables of predicted and measured in the README, which `tilewalk crosscheck` prints (--markdown, and its first lines): `accuracy_table.sh write`
# brings them up to date, `accuracy_table.sh` alone says whether they are. ACCURACY names a folder that keeps what the program printed.
set -eu
cd "$(dirname "$0")/../.."
tilewalk=${TILEWALK:-${BUILD:-build}/tilewalk}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TILEWALK_ASSETS="${TILEWALK_ASSETS:-assets}" COLUMNS=80
kept=${ACCURACY:-$work}
[ -s "$kept/tables" ] || "$tilewalk" crosscheck --markdown >"$kept/tables"
grep -v '^l2' "$TILEWALK_ASSETS/gpus/h200" >"$work/h200" # the laws hold on any L2; to predict one takes long
[ -s "$kept/laws" ] || "$tilewalk" crosscheck --gpu "$work/h200" | sed '/^$/,$d' >"$kept/laws"
awk -v tables="$kept/tables" -v laws="$kept/laws" '
  /^\$ tilewalk crosscheck$/ { print; while ((getline line < laws) > 0) print line; sample = 1 }
  sample && /^\.\.\.$/ { sample = 0 }
  sample { next }
  /^<!-- accuracy: end -->/ { while ((getline line < tables) > 0) print line; inside = 0 }
  !inside { print }
  /^<!-- accuracy: begin/ { inside = 1; found = 1 }
  END { exit !found }' README.md >"$work/README.md" || { echo "README.md has no place for the tables" >&2; exit 1; }
if [ "${1:-}" = write ]; then
  cat "$work/README.md" >README.md
elif ! diff README.md "$work/README.md"; then
  echo "The tables in README.md are out of date: make accuracy" >&2
  exit 1
fi
