#!/bin/bash
# sim/ with another C library: all of it compiles with musl, and gives the same numbers as with the system's.
# Status 77 where there is no musl-gcc (Debian: musl-tools).
set -eu
cd "$(dirname "$0")/../.."
command -v musl-gcc >/dev/null || { echo "no musl-gcc"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
make -s build/programs.c
mapfile -t sources < <(find sim -name '*.c' ! -path 'sim/algorithms/compile/*')
sources+=(build/programs.c tests/support/sim_alone.c)
build() { # build NAME COMPILER: one object a core at a time, then the program
  mkdir -p "$folder/$1"
  # shellcheck disable=SC2016  # expanded by the inner shell
  printf '%s\n' "${sources[@]}" | xargs -P "$(nproc)" -I{} sh -c \
    '$1 -std=c11 -O1 -Wall -Wextra -Wno-unknown-pragmas -Werror -I. -c "$2" -o "$0/$(echo "$2" | tr / _).o"' "$folder/$1" "$2" {}
  $2 -static "$folder/$1"/*.o -lm -o "$folder/$1/sim_alone"
  "$folder/$1/sim_alone" >"$folder/$1.out"
}
build musl musl-gcc
build system "${CC:-gcc}"
[ "$(wc -l <"$folder/musl.out")" -ge 40 ]
diff "$folder/system.out" "$folder/musl.out"
echo "musl: $((${#sources[@]} - 2)) files, the same $(wc -l <"$folder/musl.out") lines"
