#!/bin/bash
# assets/counters/INDEX.md is what kernels/collect/index.sh makes of the recordings, each row says how it was taken and names a reader
# that reads it; and each kind of mistake is found out.
# Not with sanitizers: it runs little or nothing of ours.
set -u
cd "$(dirname "$0")/../.." || exit 1
index=$PWD/kernels/collect/index.sh
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
"$index" --check || exit 1

# refused TEXT COMMAND...: in a fresh copy COMMAND plants a mistake; the check must fail and name TEXT.
refused() {
  local text=$1
  shift
  rm -rf "$work/copy" && cp -al assets/counters "$work/copy" && cp --remove-destination assets/counters/INDEX.md "$work/copy" || exit 1
  (cd "$work/copy" && "$@") || exit 1
  if "$index" --check "$work/copy" >"$work/out"; then echo "not found out: $text"; exit 1; fi
  grep -qF -- "$text" "$work/out" || { echo "found out without '$text':"; cat "$work/out"; exit 1; }
}
# shellcheck disable=SC2016 # Markdown's backquotes
{
  refused '> | `h200/scan` | `fifth.csv`, `first.csv`' cp h200/scan/first.csv h200/scan/fifth.csv
  refused '< | `h200/scan` | `first.csv`' rm h200/scan/first.csv
  refused '> | `h200/warp` | `first.csv` | ? | ? | ? |' sed -i '/^| `h200\/warp`/d' INDEX.md
  refused 'h200/warp: no reader tests/unit/test_none.c' sed -i 's#tests/unit/test_warp.c#tests/unit/test_none.c#' INDEX.md
  refused 'h200/warp: tests/unit/test_cache.c does not read it' sed -i 's#tests/unit/test_warp.c#tests/unit/test_cache.c#' INDEX.md
  refused 'h200/scan: collect.sh has no stage scans' sed -i '/^| `h200\/scan`/s/collect.sh scan`/collect.sh scans`/' INDEX.md
  refused 'h200/scan: the row does not say how' sed -i '/^| `h200\/scan`/s/`collect.sh scan`/somehow/' INDEX.md
}
# What the command writes is what it then finds right, but for the words of a new row.
cp -r assets/counters "$work/new" && cp -r "$work/new/h200/warp" "$work/new/h200/weft" || exit 1
sed -i 's/first.csv/last.csv/' "$work/new/INDEX.md"
"$index" "$work/new" | grep -q 'h200/weft: the row does not say what it is' || { echo "a new folder is not asked about"; exit 1; }
grep -v weft "$work/new/INDEX.md" | diff - assets/counters/INDEX.md >"$work/out"
grep -q '^[<>] | `' "$work/out" && { echo "what was written:"; cat "$work/out"; exit 1; }
exit 0
