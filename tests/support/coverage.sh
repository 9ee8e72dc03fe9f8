#!/bin/sh
# Which lines of sim/ the tests run: builds with gcov into build/coverage, runs every test, prints a figure per
# file and the total. Inline functions of headers are counted where gcov reports them: not here.
set -eu
cd "$(dirname "$0")/../.."
out=build/coverage
find build/coverage -name '*.gcda' -delete 2>/dev/null || true
make --no-print-directory "-j$(nproc)" BUILD=$out SAN= CFLAGS='-O0 -g --coverage' check
echo
for source in $(find sim -name "*.c" | sort); do
  object=$out/${source%.c}
  if [ -f "$object.gcda" ]; then gcov -n -o "$(dirname "$object")" "$object.gcda" 2>/dev/null; fi |
    awk -v want="$source" -F"[':%]" '
      /^File/ { mine = $2 == want }
      /^Lines executed/ && mine { percent = $2; of = $0; sub(/.* of /, "", of); mine = 0; found = 1 }
      END { if (!found) { percent = 0; of = 0 } print want, percent, of }'
done | awk '
  $3 == 0 { printf "  %-28s not run\n", $1; next }
  { hit = int($2 * $3 / 100 + 0.5); printf "  %-28s %6.2f %%  %5d of %5d lines\n", $1, $2, hit, $3; all += $3; hits += hit }
  END { if (all) printf "  %-28s %6.2f %%  %5d of %5d lines\n", "sim/ in all", 100 * hits / all, hits, all }'
