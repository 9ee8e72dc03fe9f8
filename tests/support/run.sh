#!/bin/sh
# Runs the given test programs and scripts, one line each, and sums them up: `tests/support/run.sh BUILD TEST...`.
#
# A line has the wall's time, and the CPU's, which other things that run do not lengthen. One more at once than there are
# cores (some wait for windows), or TEST_JOBS; each must therefore keep to files of its own.
# A cmocka program counts as many tests as it holds; a script counts as one, by its exit
# status (77: skipped). Output is kept in BUILD/tests/NAME.log (of runs side by side, the last one's) and shown when
# something fails, at the end. What took longest the last time begins first; scripts, where nothing is known. The last lines
# are how many were skipped, the names of what failed and `N passed, N failed`; the exit status is 0 when none failed.
set -u

# count WORD: the sum of cmocka's `[  WORD  ] N test(s)` lines in the log.
count() { sed -n "s/^\[ *$1 *\] \([0-9]*\) test.*/\1/p" "$log" | awk '{ n += $1 } END { print n + 0 }'; }

# run_one PROGRAM: its line on the screen, in one piece, and its sums in NAME.sum.
run_one() {
  name=$(basename "$1")
  log=$RUN/$name.log
  began=$(date +%s%N)
  case $name in
  test_lesson_walk) # strict checks measure a long text to its end at each search in it: half of this test's time
    ASAN_OPTIONS=detect_leaks=1 timeout "${TEST_SECONDS:-600}" "$1" ;;
  *) timeout "${TEST_SECONDS:-600}" "$1" ;;
  esac >"$log" 2>&1 </dev/null
  status=$?
  times >"$RUN/$name.times" # not in a pipe, where it would be another shell's
  cpu=$(awk 'NR == 2 { split($1, u, /[ms]/); split($2, s, /[ms]/); printf "%.1f", 60 * (u[1] + s[1]) + u[2] + s[2] }' "$RUN/$name.times")
  p=$(count PASSED) f=$(count FAILED) s=$(count SKIPPED)
  if [ $((p + f + s)) = 0 ]; then # no cmocka summary: a script, or an early death
    case $status in 0) p=1 ;; 77) s=1 ;; *) f=1 ;; esac
  elif [ $status != 0 ] && [ "$f" = 0 ]; then f=1; fi # all passed, then it died (a leak, a time-out)
  verdict=ok
  [ "$s" = 0 ] || verdict="ok, $s skipped"
  [ "$f" = 0 ] || verdict="$f FAILED (status $status), $BUILD/tests/$name.log"
  took=$((($(date +%s%N) - began) / 1000000))
  echo $took >"$BUILD/tests/$name.ms"
  printf '  %-28s %4d tests %6d ms %6s s CPU  %s\n' "$name" $((p + f + s)) $took "$cpu" "$verdict"
  echo "$p $f $s" >"$RUN/$name.sum"
  mv -f "$log" "$BUILD/tests/$name.log"
}

if [ "$1" = --one ]; then
  run_one "$2"
  exit
fi
BUILD=$(cd "$1" && pwd) || exit 1
shift
cd "$(dirname "$0")/../.." || exit 1
export BUILD TILEWALK="$BUILD/tilewalk" TILEWALK_ASSETS="$PWD/assets" LC_ALL=C.UTF-8
export OMP_NUM_THREADS=1 # the tests themselves use all cores
export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1 UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS="suppressions=$PWD/tests/support/lsan.supp:print_suppressions=0"
unset TILEWALK_STATE NO_COLOR COLUMNS
mkdir -p "$BUILD/tests"
RUN=$(mktemp -d "$BUILD/tests/run.XXXXXX") || exit 1 # this run's own
trap 'rm -rf "$RUN"' EXIT
export RUN
for program in "$@"; do
  read -r ms 2>/dev/null <"$BUILD/tests/$(basename "$program").ms" || case $program in *.sh) ms=10000 ;; *) ms=1000 ;; esac
  printf '%s\t%s\0' "$ms" "$program"
done | sort -rnz | cut -zf2- | xargs -0 -n 1 -P "${TEST_JOBS:-$(($(nproc) + 1))}" tests/support/run.sh --one
passed=0 failed=0 skipped=0 names=
for program in "$@"; do # one without sums was killed
  name=$(basename "$program")
  read -r p f s 2>/dev/null <"$RUN/$name.sum" || p=0 f=1 s=0
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
  [ "$f" != 0 ] || continue
  names="$names $name"
  printf '\n%s:\n' "$name"
  grep -v '\[ *\(RUN\|OK\) *\]' "$BUILD/tests/$name.log" | tail -n 60
done
[ $skipped = 0 ] || echo "$skipped skipped"
[ -z "$names" ] || echo "failed:$names"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
