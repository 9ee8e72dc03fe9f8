#!/bin/sh
# Fuzzes every parser: `tests/fuzz/fuzz.sh SECONDS` (or `make fuzz FUZZ_SECONDS=600`) runs each tests/fuzz/fuzz_<stem>.c
# that long under clang's libFuzzer with the address and undefined-behaviour sanitizers.
#
# Seeds come from tests/fuzz/corpus/<stem>/; what the search finds interesting is kept in build/fuzz/corpus/<stem>/,
# a crashing input in build/fuzz/crash-<stem>-*. The words of a format are those of its reader: its dictionary, build/fuzz/<stem>.dict,
# is made of the texts in the sources behind the headers that the target includes. FUZZ_TARGETS="ncu din" chooses; the
# edges of code that were reached are printed. Ends with `N passed, N failed`, targets counted.
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

# dictionary TARGET: the words of its readers, a line each, in libFuzzer's form.
dictionary() {
  sed -n 's/^#include "\([a-z0-9_/]*\)\.h"$/\1/p' "$1" | grep -v -e '^tests/' -e '^sim/base/' | while read -r stem; do
    cat "$stem"*.c "$(dirname "$stem")"/*_names.c 2>/dev/null
  done | sed -e '/^#include/d' -e 's|/\*.*\*/||' | grep -oE '"([^"\\]|\\.)*"' | LC_ALL=C grep -xE '"[ !#$&-[^-~]{2,40}"' |
    grep -vE '^" |[A-Za-z]+ [A-Za-z]+ [A-Za-z]' |
    sort -u | head -n 400
}
for target in tests/fuzz/fuzz_*.c; do
  stem=$(basename "$target" .c)
  stem=${stem#fuzz_}
  [ "$stem" = driver ] || [ ! -f "$target" ] && continue
  case " ${FUZZ_TARGETS:-$stem} " in *" $stem "*) ;; *) continue ;; esac
  make --no-print-directory "-j$(nproc)" BUILD=$out CC="$clang" CXX="$clangxx" SAN= CFLAGS="-O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined" \
    "$out/tests/libfuzzer_$stem" || exit 1
  mkdir -p "$out/corpus/$stem"
  set -- "$out/corpus/$stem"
  [ ! -d "tests/fuzz/corpus/$stem" ] || set -- "$@" "tests/fuzz/corpus/$stem"
  dictionary "$target" >"$out/$stem.dict"
  [ ! -s "$out/$stem.dict" ] || set -- "-dict=$out/$stem.dict" "$@" # an empty one is refused
  if "$out/tests/libfuzzer_$stem" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -artifact_prefix="$out/crash-$stem-" \
    -print_final_stats=1 "$@" >"$out/$stem.log" 2>&1; then
    passed=$((passed + 1)) verdict=ok
  else
    failed=$((failed + 1)) verdict="FAILED, $out/$stem.log:"
  fi
  inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$out/$stem.log")
  edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$out/$stem.log" | tail -n 1)
  printf '  %-24s %12s inputs in %s s, %6s edges, %3d words  %s\n' "fuzz_$stem" "${inputs:-?}" "$seconds" "${edges:-?}" \
    "$(wc -l <"$out/$stem.dict")" "$verdict"
  [ "$verdict" = ok ] || tail -n 40 "$out/$stem.log"
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
