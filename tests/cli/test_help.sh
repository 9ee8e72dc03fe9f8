#!/bin/sh
# Help fits a terminal and its examples work; output that cannot be written is an error, a closed pipe none.
set -u
tilewalk=${TILEWALK:-build/tilewalk}
fail() { echo "FAIL: $1"; exit 1; }
for command in $("$tilewalk" _names commands); do
  COLUMNS=60 "$tilewalk" "$command" --help=all | sed '/^Examples/,$d' | awk 'length > 60 { exit 1 }' || fail "$command --help=all is wider than 60 columns"
done
for command in kvcache 'kernel --warp' 'list gpus'; do
  # shellcheck disable=SC2086
  "$tilewalk" $command --help=all | sed -n "s/^  tilewalk //p" | grep -vE "OPTION|\[--" >"${TMPDIR:-/tmp}/examples.$$"
  while read -r line; do
    eval "$tilewalk $line" >/dev/null || fail "'$line' does not work"
  done <"${TMPDIR:-/tmp}/examples.$$"
  rm "${TMPDIR:-/tmp}/examples.$$"
done
lost() { # lost STATUS WORDS WHAT: ends so, and says so
  [ "$1" = 2 ] || fail "$3 ends in $1"
  case $2 in *'could not be written'*) ;; *) fail "$3: $2" ;; esac
}
said=$("$tilewalk" sim --json 2>&1 >/dev/full); lost $? "$said" "a full disk"
said=$("$tilewalk" sim 2>&1 >&-); lost $? "$said" "a closed stdout"
said=$(ulimit -f 1; "$tilewalk" trace -N 4K --block 16 2>&1 >"${TMPDIR:-/tmp}/limit.$$"); lost $? "$said" "a file that may not grow"
rm -f "${TMPDIR:-/tmp}/limit.$$"
for words in 'sim' 'list gpus' '--help' 'trace -N 4K --block 16'; do
  # shellcheck disable=SC2086
  said=$({ "$tilewalk" $words | true; } 2>&1) || fail "'$words' into a closed pipe"
  [ -z "$said" ] || fail "'$words' into a closed pipe says: $said"
done
