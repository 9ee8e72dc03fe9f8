#!/bin/sh
# gcc's static analyser (-fanalyzer: use after free, double free, leaks, null and uninitialised reads along a path) over the
# rooms that read files of others. A warning fails; objects are made, as a cache of compilers wants. ANALYZE_KNOWN lists false ones, as "FILE WARNING"; today there is none.
set -u
cd "$(dirname "$0")/../.." || exit 1
ANALYZE_KNOWN=''
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
log=$work/log
flags=$(pkg-config --cflags jansson lua5.4 md4c | sed 's/-I/-isystem /g')
# The largest first, so that none is left for one core at the end.
# shellcheck disable=SC2086,SC2016  # flags and names without blanks; $0 and $@ are the inner shell's
find sim lessons/engine kernels/counters -name '*.c' -printf '%s\t%p\n' | sort -rn | cut -f2 |
  xargs -n 2 -P "$(nproc)" sh -c 'flags=$1; shift; for f; do gcc -std=c11 -O1 -fanalyzer -I. $flags -c "$f" -o "$0/$$.o" 2>&1; done' "$work" "$flags" >"$log"
found=$(sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: warning: .*\[-W\(analyzer-[a-z-]*\)\]$/\1 \2/p' "$log" | sort -u)
[ -s "$log" ] || { echo "nothing found"; exit 0; }
[ -n "$found" ] || { cat "$log"; exit 1; } # it did not compile
new=$(echo "$found" | grep -vxF "$ANALYZE_KNOWN")
[ -z "$new" ] || { cat "$log"; exit 1; }
