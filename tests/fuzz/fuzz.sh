#!/bin/sh
# Fuzzes every parser: `tests/fuzz/fuzz.sh SECONDS` (or `make fuzz FUZZ_SECONDS=600`) runs each tests/fuzz/fuzz_<stem>.c
# that long under clang's libFuzzer with the address and undefined-behaviour sanitizers.
#
# Seeds come from tests/fuzz/corpus/<stem>/; what the search finds interesting is kept in build/fuzz/corpus/<stem>/,
# a crashing input in build/fuzz/crash-<stem>-*. Ends with `N passed, N failed`, targets counted.
set -u
cd "$(dirname "$0")/../.." || exit 1
seconds=$1
clang=$(command -v clang || command -v clang-19 || command -v clang-16 || command -v clang-14)
if [ -z "$clang" ]; then
  echo "No clang: nothing is fuzzed (\`make test\` still replays the corpus); install the package clang."
  exit 0
fi
clangxx=$(echo "$clang" | sed 's/clang\(-[0-9]*\)*$/clang++\1/')
out=build/fuzz passed=0 failed=0
for target in tests/fuzz/fuzz_*.c; do
  stem=$(basename "$target" .c)
  stem=${stem#fuzz_}
  [ "$stem" = driver ] || [ ! -f "$target" ] && continue
  make --no-print-directory "-j$(nproc)" BUILD=$out CC="$clang" CXX="$clangxx" SAN= CFLAGS="-O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined" \
    "$out/tests/libfuzzer_$stem" || exit 1
  mkdir -p "$out/corpus/$stem"
  set -- "$out/corpus/$stem"
  [ ! -d "tests/fuzz/corpus/$stem" ] || set -- "$@" "tests/fuzz/corpus/$stem"
  if "$out/tests/libfuzzer_$stem" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -artifact_prefix="$out/crash-$stem-" \
    -print_final_stats=1 "$@" >"$out/$stem.log" 2>&1; then
    passed=$((passed + 1)) verdict=ok
  else
    failed=$((failed + 1)) verdict="FAILED, $out/$stem.log:"
  fi
  inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$out/$stem.log")
  printf '  %-24s %12s inputs in %s s  %s\n' "fuzz_$stem" "${inputs:-?}" "$seconds" "$verdict"
  [ "$verdict" = ok ] || tail -n 40 "$out/$stem.log"
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
