#!/bin/sh
# The tables of sim/l2/MODEL.md and the two of the README that `tilewalk crosscheck` prints. `accuracy_table.sh write` brings those of predicted and
# measured up to date, `accuracy_table.sh ablations` those of the model's parts (`seldom`: the second of them alone), `accuracy_table.sh` alone says whether the first are.
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

# l2 WORDS...: bytes read from HBM and moved between the sides of L2, and the hit rate in %, of `sim` on an H200.
l2() {
  # shellcheck disable=SC2086 # words
  "$tilewalk" sim --gpu h200 --json --kernel $1 $2 |
    awk -F'[:,]' '/"hbm"/ { in_hbm = 1 } in_hbm && /"read_bytes"/ { read = $2; in_hbm = 0 } /"fabric_bytes"/ { fabric = $2 } /"hit_rate"/ { hits = 100 * $2 }
      END { print read + 0, fabric + 0, hits }'
}
# Of the parts that matter seldom, the launches for which they matter most: without the part, against all.
# shellcheck disable=SC2016 # Markdown's backquotes
seldom() {
  printf '| without | of `sim --gpu h200 --kernel` | HBM reads, %% | fabric, %% | hit rate, points |\n| --- | --- | ---: | ---: | ---: |\n'
  for row in pull-order:cudnn-sm90~-N~4096~--heads~4~--causal pull-order:cudnn-sm90~-N~4096~--heads~4 pull-order:cudnn-sm90~-N~65536~--heads~4~--causal \
    lasting-spread:fa2-sm90~-N~65536~--heads~16~--causal shared-sm:fa2_tensor~-N~4096~--heads~4~--causal \
    latency:fa2_tensor~-N~65536~--heads~16 unknown-home:fa2_wgmma~-N~4096~--heads~16 alone-rate:fa2-sm90~-N~4096~--heads~4; do
    request=$(echo "${row#*:}" | tr '~' ' ')
    { l2 "$request" ""; l2 "$request" "--without ${row%%:*}"; } | awk -v part="${row%%:*}" -v request="$request" '
      NR == 1 { read = $1; fabric = $2; hits = $3 }
      NR == 2 { printf "| `%s` | `%s` | %+.1f | %+.1f | %+.1f |\n", part, request, 100 * ($1 / read - 1), 100 * ($2 / fabric - 1), $3 - hits }'
  done
}

if [ "${1:-}" = ablations ] || [ "${1:-}" = seldom ]; then
  [ "$1" = seldom ] || [ -s "$kept/parts" ] || "$tilewalk" crosscheck --markdown --ablations >"$kept/parts"
  seldom >"$work/seldom"
  [ ! -s "$kept/parts" ] || between refinements "$kept/parts" sim/l2/MODEL.md >"$work/MODEL.md"
  [ -s "$work/MODEL.md" ] || cp sim/l2/MODEL.md "$work/MODEL.md"
  between seldom "$work/seldom" "$work/MODEL.md" >"$work/written"
  cat "$work/written" >sim/l2/MODEL.md
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
