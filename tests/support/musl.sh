#!/bin/bash
# sim/ with another C library: all of it compiles with musl, and gives the same numbers as with the system's.
# Status 77 where there is no musl-gcc (Debian: musl-tools).
set -eu
cd "$(dirname "$0")/../.."
command -v musl-gcc >/dev/null || { echo "no musl-gcc"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
make -s build/libtilewalk.a # and with it programs.c
mapfile -t sources < <(find sim -name '*.c' ! -path 'sim/algorithms/compile/*')
sources+=(build/programs.c tests/support/sim_alone.c)
# shellcheck disable=SC2016  # expanded by the inner shell
printf '%s\n' "${sources[@]}" | xargs -P "$(nproc)" -I{} sh -c \
  'musl-gcc -std=c11 -O1 -Wall -Wextra -Wno-unknown-pragmas -Werror -I. -c "$1" -o "$0/$(echo "$1" | tr / _).o"' "$folder" {}
musl-gcc -static "$folder"/*.o -lm -o "$folder/musl"
"${CC:-gcc}" -std=c11 -fopenmp -I. tests/support/sim_alone.c build/libtilewalk.a -lm -o "$folder/system"
"$folder/musl" >"$folder/musl.out"
"$folder/system" >"$folder/system.out"
[ "$(wc -l <"$folder/musl.out")" -ge 40 ]
diff "$folder/system.out" "$folder/musl.out"
echo "musl: $((${#sources[@]} - 2)) files, the same $(wc -l <"$folder/musl.out") lines"
