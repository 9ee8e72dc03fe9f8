#!/bin/sh
# Whether every C, C++ and CUDA file has the form of .clang-format, and no line over 120 columns, which clang-format leaves
# where it cannot break one. Other versions of clang-format differ in details: 14 decides.
#
# Left out: what jansson's own configure wrote.
set -u
cd "$(dirname "$0")/../.." || exit 1
files=$(git ls-files '*.c' '*.h' '*.cpp' '*.cu' '*.cuh' | grep -v '^viz/web/libc/jansson_private_config.h$')
failed=0
# shellcheck disable=SC2086  # names without blanks
echo $files | xargs -n 40 -P "$(nproc)" clang-format-14 --dry-run -Werror || failed=1
# shellcheck disable=SC2086
long=$(echo $files | LC_ALL=C.UTF-8 xargs grep -nE '^.{121}')
[ -z "$long" ] || { echo "$long"; failed=1; }
[ $failed = 0 ] || echo "clang-format-14 -i FILE puts the form right."
exit $failed
