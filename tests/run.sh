#!/bin/sh
# Runs the given test programs and scripts, one line each, and sums them up: `tests/run.sh BUILD TEST...`.
#
# A cmocka program counts as many tests as it holds; a script or a fuzz replay counts as one, by its exit
# status (77: skipped). Output is kept in BUILD/tests/NAME.log and shown when something fails. The last
# line is `N passed, N failed` (and how many were skipped); the exit status is 0 when none failed.
set -u
BUILD=$(cd "$1" && pwd) || exit 1
shift
cd "$(dirname "$0")/.." || exit 1
export BUILD TILEWALK="$BUILD/tilewalk" TILEWALK_ASSETS="$PWD/assets" LC_ALL=C.UTF-8
export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1 UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS="suppressions=$PWD/tests/lsan.supp:print_suppressions=0"
unset TILEWALK_STATE NO_COLOR COLUMNS
passed=0 failed=0 skipped=0

# count WORD: the sum of cmocka's `[  WORD  ] N test(s)` lines in the log.
count() { sed -n "s/^\[ *$1 *\] \([0-9]*\) test.*/\1/p" "$log" | awk '{ n += $1 } END { print n + 0 }'; }

for program in "$@"; do
  name=$(basename "$program")
  log=$BUILD/tests/$name.log
  mkdir -p "$BUILD/tests"
  began=$(date +%s%N)
  case $name in
  replay_*) timeout "${TEST_SECONDS:-600}" "$program" "tests/corpus/${name#replay_}" ;;
  *) timeout "${TEST_SECONDS:-600}" "$program" ;;
  esac >"$log" 2>&1 </dev/null
  status=$?
  p=$(count PASSED) f=$(count FAILED) s=$(count SKIPPED)
  if [ $((p + f + s)) = 0 ]; then # no cmocka summary: a script, a replay, or an early death
    case $status in 0) p=1 ;; 77) s=1 ;; *) f=1 ;; esac
  elif [ $status != 0 ] && [ "$f" = 0 ]; then f=1; fi # all passed, then it died (a leak, a time-out)
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
  verdict=ok
  [ "$s" = 0 ] || verdict="ok, $s skipped"
  [ "$f" = 0 ] || verdict="$f FAILED (status $status), $log:"
  printf '  %-28s %4d tests %6d ms  %s\n' "$name" $((p + f + s)) $((($(date +%s%N) - began) / 1000000)) "$verdict"
  if [ "$f" != 0 ]; then grep -v '\[ *\(RUN\|OK\) *\]' "$log" | tail -n 60; fi
done
[ $skipped = 0 ] || echo "$skipped skipped"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
