#!/bin/bash
# Brings assets/counters/INDEX.md up to date: `kernels/collect/index.sh [FOLDER]`. Rows keep their words; files that came are named,
# files that went are not, a new folder has a row whose "?" a person fills in, with the first test or source that reads it.
# `index.sh --check [FOLDER]` writes nothing and says what is wrong: an index that is not so, a "?", a stage or reader that is not there.
set -u
cd "$(dirname "$0")/../.." || exit 1
check=0
[ "${1:-}" != --check ] || { check=1; shift; }
counters=${1:-assets/counters}
files() { (cd "$counters" && find . -mindepth 2 -type f | sed 's#^\./##' | LC_ALL=C sort); }

# The index, as it should be.
made() {
  files | awk -F'|' -v index_file="$counters/INDEX.md" '
    { there[$0] = 1; order[++n] = $0 }
    END {
      while ((getline line < index_file) > 0) {
        rows[++m] = line
        if (split(line, cell, "|") < 7 || cell[2] !~ /`.*\//  && cell[2] !~ /`nvcc`/) continue
        folder[m] = cell[2]; gsub(/[` ]/, "", folder[m])
        k = split(cell[3], names, ",")
        for (i = 1; i <= k; i++) { gsub(/[` ]/, "", names[i]); path = folder[m] "/" names[i]; if (path in there && !(path in row)) row[path] = m }
        if (!(folder[m] in first)) first[folder[m]] = m
      }
      for (i = 1; i <= n; i++) {
        path = order[i]; f = path; sub(/\/[^\/]*$/, "", f); name = path; sub(/.*\//, "", name)
        if (!(f in first)) { rows[++m] = "| `" f "` | | ? | ? | ? |"; folder[m] = f; first[f] = m }
        if (!(path in row)) row[path] = first[f]
        list[row[path]] = list[row[path]] (list[row[path]] == "" ? "" : ", ") "`" name "`"
      }
      for (i = 1; i <= m; i++) {
        if (!(i in folder)) { print rows[i]; continue }
        if (list[i] == "") continue
        split(rows[i], cell, "|")
        print "|" cell[2] "| " list[i] " |" cell[4] "|" cell[5] "|" cell[6] "|"
      }
    }'
}

# What is wrong with the words of a row.
judge() {
  # shellcheck disable=SC2016 # Markdown's backquotes
  grep '^| `' "$counters/INDEX.md" | while IFS='|' read -r _ folder _ what how reader _; do
    folder=${folder//[\` ]/} reader=${reader//[\` ]/} stage=${how##*collect.sh } name=${how//[\` ]/}
    [ -n "${what//[ ?]/}" ] || echo "$folder: the row does not say what it is"
    case $how in
    *collect.sh*) grep -qE "^([a-z0-9 |-]*[ |])?${stage%%\`*}([ |][a-z0-9 |-]*)?\)$" kernels/collect/collect.sh || echo "$folder: collect.sh has no stage ${stage%%\`*}" ;;
    *.sh*) [ -x "kernels/collect/$name" ] || echo "$folder: no script $name" ;;
    *"by hand"*) ;;
    *) echo "$folder: the row does not say how it was taken" ;;
    esac
    if [ ! -f "$reader" ]; then echo "$folder: no reader $reader"
    else grep -qE "$folder/|\"${folder##*/}[ \"]" "$reader" || echo "$folder: $reader does not read it"; fi
  done
}

new=$(made)
if [ $check = 1 ]; then
  wrong=$(diff "$counters/INDEX.md" - <<<"$new" || echo "INDEX.md is not so: kernels/collect/index.sh"; judge)
  [ -z "$wrong" ] || { echo "$wrong"; exit 1; }
else
  echo "$new" >"$counters/INDEX.md"
  judge
fi
