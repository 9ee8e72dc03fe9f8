#!/bin/sh
# Which lines and branches of sim/, lessons/ and viz/ the tests run: builds with gcov into build/coverage, runs every
# test (or those of COVERAGE_TESTS, paths below build/coverage), prints a figure per file and the total of each room.
# A branch counts when it was taken at least once. Inline functions of headers are counted where gcov reports them: not
# here. `coverage.sh report` prints again what the last run left.
set -eu
cd "$(dirname "$0")/../.."
out=build/coverage
status=0 # of the tests; the figures are shown in any case
if [ "${1:-}" != report ]; then
  find $out -name '*.gcda' -delete 2>/dev/null || true
  if [ -n "${COVERAGE_TESTS:-}" ]; then
    # shellcheck disable=SC2086  # paths without blanks
    make --no-print-directory "-j$(nproc)" BUILD=$out SAN= CFLAGS='-O0 -g --coverage' $COVERAGE_TESTS &&
      tests/support/run.sh $out $COVERAGE_TESTS || status=1
  else
    make --no-print-directory "-j$(nproc)" BUILD=$out SAN= CFLAGS='-O0 -g --coverage' check || status=1
  fi
fi
echo
find sim lessons viz -name '*.c' | sort | while read -r source; do
  object=$out/${source%.c}
  if [ -f "$object.gcda" ]; then gcov -n -b -o "$(dirname "$object")" "$object.gcda" 2>/dev/null; fi |
    awk -v want="$source" -F"[':% ]+" '
      /^File/ { mine = $2 == want }
      mine && /^Lines executed/ { lines = $3; n_lines = $NF }
      mine && /^Taken at least once/ { branches = $5; n_branches = $NF; mine = 0 }
      END { print want, lines + 0, n_lines + 0, branches + 0, n_branches + 0 }'
done | awk '
  { room = $1; sub(/\/.*/, "", room); n = int($2 * $3 / 100 + 0.5); b = int($4 * $5 / 100 + 0.5) }
  $3 == 0 { printf "  %-36s not run\n", $1; next }
  { printf "  %-36s %6.2f %% of %5d lines  %6.2f %% of %5d branches\n", $1, $2, $3, $4, $5
    lines[room] += n; all_lines[room] += $3; branches[room] += b; all_branches[room] += $5 }
  END { for (room in all_lines)
      printf "%-8s %6.2f %% of %5d lines, %6.2f %% of %5d branches\n", room, 100 * lines[room] / all_lines[room], \
        all_lines[room], all_branches[room] ? 100 * branches[room] / all_branches[room] : 0, all_branches[room] }'
exit $status
