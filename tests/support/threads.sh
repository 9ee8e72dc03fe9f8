#!/bin/sh
# What runs on several threads, under clang's ThreadSanitizer: the cache sets of a replay, the scattered starts of L2's model, the
# frames of an animation, the rows of a cross-check. clang's OpenMP tells the sanitizer of its barriers (archer); gcc's does not.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=build/threads
tests="test_animation"
targets="all"
for test in $tests; do targets="$targets $build/tests/$test"; done
# shellcheck disable=SC2086  # words
make --no-print-directory "-j$(nproc)" SAN=thread CC=clang-14 CXX=clang++-14 BUILD=$build CFLAGS='-O1' $targets || exit 1
archer=$(find /usr/lib/llvm-14/lib -name libarcher.so | head -n 1)
[ -n "$archer" ] || { echo "libarcher.so is missing: install libomp-14-dev"; exit 1; }
export OMP_TOOL_LIBRARIES="$archer" OMP_NUM_THREADS=4 TILEWALK_ASSETS="$PWD/assets" TILEWALK="$PWD/$build/tilewalk"
export TSAN_OPTIONS="halt_on_error=1 ignore_noninstrumented_modules=1 exitcode=66"
for test in $tests; do "$build/tests/$test" || exit 1; done
"$TILEWALK" sim --gpu h200 -N 2K -d 64 --heads 8 --block 64 --json >/dev/null || exit 1
"$TILEWALK" crosscheck --recorded --gpu h200 --shard "${SHARD:-7/60}" --csv >"$build/rows" # all rows take half an hour
[ $? -le 1 ] && [ "$(wc -l <"$build/rows")" -gt 1 ] # 66: a race; 1: a recorded run is not the model's
