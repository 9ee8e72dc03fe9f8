#!/bin/sh
# Fuzzes every parser: `tests/fuzz/fuzz.sh SECONDS` (or `make fuzz FUZZ_SECONDS=600`) runs each target of tests/fuzz that
# long under clang's libFuzzer with the address and undefined-behaviour sanitizers. FUZZ_TARGETS="ncu din" chooses.
#
# Seeds come from tests/fuzz/corpus/NAME/; what the search finds interesting is kept in build/fuzz/corpus/NAME/, a crashing
# input in build/fuzz/crash-NAME-*. The words of a format are the texts in the sources of its readers. Edges of code that
# were reached are printed. Ends with `N passed, N failed`, targets counted.
set -u
cd "$(dirname "$0")/../.." || exit 1
seconds=$1 out=build/fuzz passed=0 failed=0
clang=$(command -v clang || command -v clang-19 || command -v clang-16 || command -v clang-14)
if [ -z "$clang" ]; then
  echo "No clang: nothing is fuzzed (\`make test\` still replays the corpus); install the package clang."
  exit 0
fi
make --no-print-directory "-j$(nproc)" BUILD=$out CC="$clang" CXX="$(echo "$clang" | sed 's/clang\(-[0-9]*\)*$/clang++\1/')" SAN= \
  CFLAGS="-O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined" $out/tests/libfuzzer || exit 1

# dictionary READER...: the words of these sources and tables, a line each, in libFuzzer's form.
dictionary() {
  for stem; do
    cat "$stem"*.c "$(dirname "$stem")"/*_names.c 2>/dev/null
    sed -e '/^#/d' -e 's/[A-Za-z0-9_]*/"&"/g' "$stem"*.txt 2>/dev/null
  done |
    sed -e '/^#include/d' -e 's|/\*.*\*/||' | grep -oE '"([^"\\]|\\.)*"' | LC_ALL=C grep -xE '"[ !#$&-[^-~]{2,40}"' |
    grep -vE '^" |[A-Za-z]+ [A-Za-z]+ [A-Za-z]' | sort -u | head -n 1000
}
$out/tests/libfuzzer >$out/targets
while read -r name readers; do
  case " ${FUZZ_TARGETS:-$name} " in *" $name "*) ;; *) continue ;; esac
  mkdir -p "$out/corpus/$name"
  # shellcheck disable=SC2086  # stems without blanks
  dictionary $readers >"$out/$name.dict"
  set -- "$out/corpus/$name" "tests/fuzz/corpus/$name"
  [ ! -s "$out/$name.dict" ] || set -- "-dict=$out/$name.dict" "$@" # an empty one is refused
  if FUZZ_TARGET=$name $out/tests/libfuzzer -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -artifact_prefix="$out/crash-$name-" -print_final_stats=1 "$@" >"$out/$name.log" 2>&1 </dev/null; then
    passed=$((passed + 1)) verdict=ok
  else
    failed=$((failed + 1)) verdict="FAILED, $out/$name.log:"
  fi
  inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$out/$name.log")
  edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$out/$name.log" | tail -n 1)
  printf '  %-16s %12s inputs in %s s, %6s edges, %3d words  %s\n' "$name" "${inputs:-?}" "$seconds" "${edges:-?}" \
    "$(wc -l <"$out/$name.dict")" "$verdict"
  [ "$verdict" = ok ] || tail -n 40 "$out/$name.log"
done <$out/targets
echo "$passed passed, $failed failed"
[ $failed = 0 ]
