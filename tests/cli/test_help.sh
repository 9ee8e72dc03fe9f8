#!/bin/sh
# Help as people read it: short, whole, shared options once; names that are nearly right; 80 columns; closed pipes.
set -u
tilewalk=${TILEWALK:-build/tilewalk}
export COLUMNS=80
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
fail() { echo "FAIL: $1"; exit 1; }

for command in $("$tilewalk" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
  short=$("$tilewalk" "$command" -h) || fail "$command -h"
  whole=$("$tilewalk" "$command" --help) || fail "$command --help"
  [ "$(echo "$short" | wc -l)" -lt "$(echo "$whole" | wc -l)" ] || fail "$command -h is no shorter than --help"
  [ "$(echo "$short" | wc -l)" -le 50 ] || fail "$command -h is longer than a screen"
  for columns in 60 80; do
    [ -z "$(COLUMNS=$columns "$tilewalk" "$command" --help | sed '/^Examples/,$d' | awk -v c=$columns 'length > c')" ] || fail "$command --help is wider than $columns columns"
  done
done
"$tilewalk" kernel --help | grep -q '^      --ptx  *Print the PTX' || fail "kernel --help does not say what --ptx prints"
"$tilewalk" completion fish >"$box/fish" || fail "completion fish"
grep -q "'Tell it at this N, one of the story\\\\'s sizes'" "$box/fish" || fail "fish gets no quote within quotes"
grep -q "\\\\[^'\\\\]" "$box/fish" && fail "fish gets letters that need no backslash with one"
# Of each program that computes something else, once and by its name.
sed '1,2s/no-rescale/other/' tests/cli/no_rescale.walk >"$box/other.walk"
wrong=$("$tilewalk" sim --algorithm "tests/cli/no_rescale.walk,$box/other.walk,fa2" -N 64 2>&1 >/dev/null)
for name in tests/cli/no_rescale.walk "$box/other.walk"; do
  [ "$(echo "$wrong" | grep -c "^$name: O is wrong")" = 1 ] || fail "sim says of $name: $wrong"
done
[ -z "$(COLUMNS=60 "$tilewalk" --help | awk 'length > 60')" ] || fail "--help is wider than 60 columns"
"$tilewalk" help options | grep -q -- '--algorithm LIST' || fail "help options lacks the shared options"
last=$("$tilewalk" sim --help | sed '/^Examples/,$d' | grep '^[A-Z].*' | tail -n 1)
case $last in *'for experts') ;; *) fail "the options for experts do not come last, but '$last'" ;; esac
"$tilewalk" sim -h | grep -q -- '--pace' && fail "sim -h names an option for experts"

# says "WORDS" PATTERN: refused, and the line has it.
says() {
  # shellcheck disable=SC2086  # words
  line=$("$tilewalk" $1 2>&1 >/dev/null) && fail "'$1' is not refused"
  case $line in *"$2"*) ;; *) fail "'$1' is answered by: $line" ;; esac
}
says 'sim --gpu a100x' "did you mean 'a100'?"
says 'sim --gpu 4090' "did you mean 'rtx4090'?"
says 'sim --gpu H2O' "did you mean 'h20'?"
says 'sim --gpu rtx50' "did you mean 'rtx5070', 'rtx5070ti', 'rtx5080' or 'rtx5090'?"
says 'sim --algorithm mem-efficient' 'give --kernel mem-efficient-sm90 --algorithm fa2'
says 'sim --algorithm FA2' "did you mean 'fa2'"
says 'plot' "drawn by 'sweep' and 'roofline'"
says 'compare' '--algorithm fa1,fa2'
says 'embed' 'make web'
says 'kvcache --model 405b' "did you mean 'llama-3.1-405b'?"
[ "$("$tilewalk" sim --gpu H200 --json)" = "$("$tilewalk" sim --gpu h200 --json)" ] || fail "capital letters change the GPU"
[ "$("$tilewalk" sim --gpu H100 --json)" = "$("$tilewalk" sim --gpu h100-sxm --json)" ] || fail "H100 is not the SXM card"
[ "$("$tilewalk" sim --algorithm naive)" = "$("$tilewalk" sim --algorithm standard)" ] || fail "naive is not standard"

# The widest tables stay tables.
"$tilewalk" sim --algorithm all | grep -q '^  total  *132 MiB  *101.0 MiB  *66 MiB  *80.09 MiB$' || fail "sim --algorithm all is no table at 80 columns"
for words in 'sim --algorithm all' 'sim --algorithm all --gpu h200 --heads 16' 'kvcache --list'; do
  # shellcheck disable=SC2086
  [ "$("$tilewalk" $words | LC_ALL=C.UTF-8 wc -L)" -le 80 ] || fail "'$words' is wider than 80 columns"
done

# Every JSON document begins with the version of its form.
for words in 'sim' 'sweep --values 64,128' 'advise' 'roofline' 'softmax --scores 1,2' 'kvcache --model llama-3-8b' 'lesson --list' \
  'check --only A-cyu1' 'warp --stride 4' 'gpus' 'gpus h200' 'algorithms fa2' 'kernels'; do
  # shellcheck disable=SC2086
  "$tilewalk" $words --json | head -n 2 | tr -d '\n' | grep -q '^{  "tilewalk": 1,' || fail "'$words --json' does not say its version"
done

# "-" is standard input, also where a file is read twice.
from() { # from FILE WORDS: the answer of the file and of the pipe are one
  # shellcheck disable=SC2002,SC2086  # a pipe is what is tried
  [ "$(cat "$1" | "$tilewalk" ${2%@*}-${2#*@})" = "$("$tilewalk" ${2%@*}"$1"${2#*@})" ] || fail "'$2' differs from standard input"
}
from assets/gpus/h200 'sweep --gpu @ --metric hbm --to 1K --csv'
from assets/kernels/fa2_async 'sim --gpu h200 --kernel=@ --csv'
from assets/models/llama-3-8b 'sim --model @ --csv'
from tests/cli/no_rescale.walk 'sim --algorithm @ --csv'
[ "$(printf 100,200 | "$tilewalk" sim --lengths - --csv)" = "$("$tilewalk" sim --lengths 100,200 --csv)" ] || fail "--lengths - is not standard input"
"$tilewalk" --version | sed -n 2p | grep -q '^with ' || fail "--version does not say its parts"

# A closed pipe is silent.
for words in 'sim' 'gpus' 'check' '--help' 'algorithms'; do
  # shellcheck disable=SC2086
  said=$( { "$tilewalk" $words | true; } 2>&1) || fail "'$words' into a closed pipe"
  [ -z "$said" ] || fail "'$words' into a closed pipe says: $said"
done
echo "help helps"
