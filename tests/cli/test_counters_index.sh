#!/bin/bash
# assets/counters/INDEX.md has a row for every recording, every row has its files, how it was taken exists and the reader named
# there reads it; and each kind of mistake is found out.
# Not with sanitizers: it runs little or nothing of ours.
set -u
cd "$(dirname "$0")/../.." || exit 1

# check FOLDER: prints what is wrong with its index; readers and scripts are those of this tree.
check() {
  local counters=$1 bad=0 folder files what how reader name file stage
  : >"$work/named"
  # shellcheck disable=SC2016 # Markdown's backquotes
  while IFS='|' read -r _ folder files what how reader _; do
    folder=${folder//[\` ]/} reader=${reader//[\` ]/} name=${folder##*/}
    [ -n "${what// /}" ] || { echo "$folder: the row does not say what it is"; bad=1; }
    for file in ${files//[\`,]/}; do
      echo "$folder/$file" >>"$work/named"
      [ -s "$counters/$folder/$file" ] || { echo "$folder/$file: named, but not there"; bad=1; }
    done
    case $how in
    *collect.sh*) stage=${how##*collect.sh } && stage=${stage%%\`*}
      grep -qE "^([a-z0-9 |-]*[ |])?$stage([ |][a-z0-9 |-]*)?\)$" kernels/collect/collect.sh || { echo "$folder: collect.sh has no stage $stage"; bad=1; } ;;
    *.sh*) [ -x "kernels/collect/${how//[\` ]/}" ] || { echo "$folder: no script$how"; bad=1; } ;;
    *"by hand"*) ;;
    *) echo "$folder: the row does not say how it was taken"; bad=1 ;;
    esac
    if [ ! -f "$reader" ]; then echo "$folder: no reader $reader"; bad=1
    elif ! grep -qE "$folder/|\"$name\"" "$reader"; then echo "$folder: $reader does not read it"; bad=1; fi
  done < <(grep '^| `' "$counters/INDEX.md")
  (cd "$counters" && find . -type f ! -name INDEX.md | sed 's#^\./##' | sort) >"$work/there"
  sort "$work/named" >"$work/sorted"
  [ -s "$work/there" ] || { echo "no recordings in $counters"; bad=1; }
  uniq -d "$work/sorted" | sed 's/$/: named twice/' | grep . && bad=1
  comm -13 "$work/sorted" "$work/there" | sed 's/$/: no row in INDEX.md/' | grep . && bad=1
  return $bad
}

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
check assets/counters || exit 1

planted=0
# refused TEXT COMMAND...: in a fresh copy COMMAND plants a mistake; the check must fail and name TEXT.
refused() {
  local text=$1
  shift
  rm -rf "$work/copy" && cp -al assets/counters "$work/copy" && (cd "$work/copy" && "$@") || exit 1
  if check "$work/copy" >"$work/out"; then echo "not found out: $text"; exit 1; fi
  grep -qF "$text" "$work/out" || { echo "found out without '$text':"; cat "$work/out"; exit 1; }
  planted=$((planted + 1))
}
# shellcheck disable=SC2016 # Markdown's backquotes
{
  refused 'h200/scan/fifth.csv: no row in INDEX.md' cp h200/scan/first.csv h200/scan/fifth.csv
  refused 'h200/scan/first.csv: named, but not there' rm h200/scan/first.csv
  refused 'h200/warp/first.csv: no row in INDEX.md' sed -i '/^| `h200\/warp`/d' INDEX.md
  refused 'h200/warp: no reader tests/unit/test_none.c' sed -i 's#tests/unit/test_warp.c#tests/unit/test_none.c#' INDEX.md
  refused 'h200/warp: tests/unit/test_cache.c does not read it' sed -i 's#tests/unit/test_warp.c#tests/unit/test_cache.c#' INDEX.md
  refused 'h200/scan: collect.sh has no stage scans' sed -i '/^| `h200\/scan`/s/collect.sh scan`/collect.sh scans`/' INDEX.md
  refused 'h200/scan: the row does not say how' sed -i '/^| `h200\/scan`/s/`collect.sh scan`/somehow/' INDEX.md
}
echo "$(wc -l <"$work/there") recordings, $planted mistakes found out"
