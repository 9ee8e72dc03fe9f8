#!/bin/sh
# The tables of sim/l2/MODEL.md and that of the README. `accuracy_table.sh write` brings those of predicted and measured up to date,
# `accuracy_table.sh ablations` those of the model's parts (`seldom`: the second of them alone), `accuracy_table.sh` alone says whether the first are.
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

# Of two recordings at six places each: 4 heads, d = 128, and the counters that are predicted.
few() {
  for folder in l2-places others-places; do
    grep -v '^#' "$TILEWALK_ASSETS/counters/h200/$folder/first.csv" | awk -F, -v first=$folder '
      NR == 1 { n = split("rung dtype batch heads kv_heads seq_q seq_k head_dim causal block_q block_k dram__bytes_read.sum lts__t_sectors_srcunit_ltcfabric.sum" \
          " lts__t_sectors_srcunit_tex_op_read.sum lts__t_sectors_srcunit_tex_lookup_hit.sum lts__t_sectors_srcunit_tex_lookup_miss.sum", want, " ")
        for (c = 1; c <= NF; c++) at[$c] = c }
      (NR > 2 && $at["heads"] == 4 && $at["head_dim"] == 128) || (NR <= 2 && first == "l2-places") { for (k = 1; k <= n; k++) printf "%s%s", $at[want[k]], k < n ? "," : "\n" }'
  done
}
# The table of parts, with the figures of today: the line of means over all shapes, without each.
parts() {
  few >"$work/few.csv"
  sed -n '/^<!-- refinements: begin/,/^<!-- refinements: end/p' sim/l2/MODEL.md | grep '^|' | while IFS= read -r line; do
    # shellcheck disable=SC2016 # Markdown's backquotes
    name=$(echo "$line" | sed -n 's/^| `\([a-z0-9-]*\)`.*/\1/p')
    case $line in "| without"* | "| ---"*) echo "$line" && continue ;; esac
    "$tilewalk" crosscheck --markdown --ncu "$work/few.csv" ${name:+--without "$name"} | sed -n '/kernel: means/,$ s/^| all | [0-9]* |//p' |
      awk -F'|' -v line="$line" '{ split(line, was, "|"); for (c = 2; c <= 5; c++) printf "|%s", was[c]; print "|" $0 }'
  done
}

if [ "${1:-}" = ablations ] || [ "${1:-}" = seldom ]; then
  cp sim/l2/MODEL.md "$work/MODEL.md"
  if [ "$1" = ablations ]; then
    parts >"$work/parts"
    between refinements "$work/parts" sim/l2/MODEL.md >"$work/MODEL.md"
  fi
  seldom >"$work/seldom"
  between seldom "$work/seldom" "$work/MODEL.md" >"$work/written"
  cat "$work/written" >sim/l2/MODEL.md
  exit
fi

# The least time of `sim` beside medians of what was timed with nothing profiling: measured over bound, all and N = 16384 alone.
bounds() {
  printf '\n| kernel | runs | measured over the bound, median (range) | N = 16384 alone |\n| --- | ---: | ---: | ---: |\n'
  for kernel in pytorch_cudnn:cudnn-sm90 pytorch_fa2:fa2-sm90 pytorch_mem_efficient:mem-efficient-sm90 fa2_async:fa2_async fa2_tensor:fa2_tensor; do
    grep "^${kernel%:*}," "$TILEWALK_ASSETS/counters/h200/time/first.csv" | while IFS=, read -r _ dtype batch heads N d causal _ _ warm _; do
      bound=$("$tilewalk" sim --json --gpu h200 --kernel "${kernel#*:}" --dtype "$dtype" --batch "$batch" --heads "$heads" -N "$N" -d "$d" --causal="$causal" | sed -n 's/.*"least_s": \([^,]*\),.*/\1/p')
      echo "$N $warm $bound"
    done | awk '{ print $1, $2 * 1e-6 / $3 }' | sort -n -k2 | awk -v kernel="${kernel#*:}" '
      function range(r, n) { return sprintf("%.1f (%.1f to %.1f)", r[int(n / 2) + 1], r[1], r[n]) }
      { all[++n] = $2 } $1 == 16384 { long[++m] = $2 }
      END { printf "| `%s` | %d | %s | %s |\n", kernel, n, range(all, n), range(long, m) }'
  done
}
[ -s "$kept/tables" ] || { "$tilewalk" crosscheck --markdown && bounds; } >"$kept/tables"
# shellcheck disable=SC2016 # Markdown's backquotes
awk '/^\| kernel: means/ { print; getline; print; inside = 1; next }
  inside && (/^$/ || /outside/) { exit }
  inside && /^\| all/' "$kept/tables" >"$work/means"
between accuracy "$kept/tables" sim/l2/MODEL.md >"$work/MODEL.md"
between accuracy "$work/means" README.md >"$work/README.md"
if [ "${1:-}" = write ]; then
  cat "$work/README.md" >README.md
  cat "$work/MODEL.md" >sim/l2/MODEL.md
elif ! diff README.md "$work/README.md" || ! diff sim/l2/MODEL.md "$work/MODEL.md"; then
  echo "The tables of predicted and measured are out of date: make accuracy" >&2
  exit 1
fi
