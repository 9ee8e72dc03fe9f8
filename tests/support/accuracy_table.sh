#!/bin/sh
# The tables of sim/l2/MODEL.md and the two of the README that `tilewalk crosscheck` prints. `accuracy_table.sh write` brings those of predicted and
# measured up to date, `accuracy_table.sh ablations` the table of the model's parts, `accuracy_table.sh` alone says whether the first are.
# ACCURACY names a folder that keeps what the program printed.
set -eu
cd "$(dirname "$0")/../.."
tilewalk=${TILEWALK:-${BUILD:-build}/tilewalk}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TILEWALK_ASSETS="${TILEWALK_ASSETS:-assets}" COLUMNS=80
kept=${ACCURACY:-$work}

# between NAME TABLE FILE: FILE with TABLE between its comments NAME: begin and NAME: end.
between() {
  awk -v name="$1" -v table="$2" '
    index($0, "<!-- " name ": end -->") == 1 { while ((getline line < table) > 0) print line; inside = 0 }
    !inside { print }
    index($0, "<!-- " name ": begin") == 1 { inside = 1; found = 1 }
    END { exit !found }' "$3" || { echo "$3 has no place for the tables of $1" >&2; exit 1; }
}

if [ "${1:-}" = ablations ]; then
  [ -s "$kept/parts" ] || "$tilewalk" crosscheck --markdown --ablations >"$kept/parts"
  between refinements "$kept/parts" sim/l2/MODEL.md >"$work/MODEL.md"
  cat "$work/MODEL.md" >sim/l2/MODEL.md
  exit
fi
[ -s "$kept/tables" ] || "$tilewalk" crosscheck --markdown >"$kept/tables"
grep -v '^l2' "$TILEWALK_ASSETS/gpus/h200" >"$work/h200" # the laws hold on any L2; to predict one takes long
[ -s "$kept/laws" ] || "$tilewalk" crosscheck --gpu "$work/h200" | sed '/^$/,$d' >"$kept/laws"
# shellcheck disable=SC2016 # Markdown's backquotes
awk '/^\| kernel: means/ { print; getline; print; inside = 1; next }
  inside && (/^$/ || /outside/) { exit }
  inside && /^\| (all|`(fa2_async|fa2_tensor|[a-z0-9-]*-sm90)`)/' "$kept/tables" >"$work/means"
between accuracy "$kept/tables" sim/l2/MODEL.md >"$work/MODEL.md"
awk -v laws="$kept/laws" '
  /^\$ tilewalk crosscheck$/ { print; while ((getline line < laws) > 0) print line; sample = 1 }
  sample && /^\.\.\.$/ { sample = 0 }
  !sample { print }' README.md >"$work/sampled"
between accuracy "$work/means" "$work/sampled" >"$work/README.md"
if [ "${1:-}" = write ]; then
  cat "$work/README.md" >README.md
  cat "$work/MODEL.md" >sim/l2/MODEL.md
elif ! diff README.md "$work/README.md" || ! diff sim/l2/MODEL.md "$work/MODEL.md"; then
  echo "The tables of predicted and measured are out of date: make accuracy" >&2
  exit 1
fi
