#!/bin/sh
# Writes files one after another, each after a line with its name and its size: `viz/web/bundle.sh OUT FILE...`.
# viz/web/page/engine.js reads it.
set -eu
out=$1
shift
for file in "$@"; do
  printf '%s %d\n' "$file" "$(wc -c <"$file")"
  cat "$file"
done >"$out.new"
mv "$out.new" "$out"
