#!/bin/sh
# make install into an empty DESTDIR: the program runs from there, the manual page and the completions know every
# command and option, and make uninstall leaves nothing.
# Not with sanitizers: it runs little or nothing of ours.
set -eu
cd "$(dirname "$0")/../.."
BUILD=${BUILD:-$PWD/build}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
root="$scratch/a folder's name" # blanks and quotation marks
mkdir "$root"
fail() { echo "FAIL: $1"; exit 1; }
build=${BUILD#"$PWD"/} # as make was told; what other tests run is not built anew beneath them, whatever make thinks of it
made=$(printf -- '-o %s ' "$build"/tilewalk "$build"/tilewalk-full "$build"/libtilewalk.so)
# shellcheck disable=SC2086  # options
make --no-print-directory $made BUILD="$build" DESTDIR="$root" PREFIX=/usr install >"$root.log" 2>&1 || { cat "$root.log"; fail "make install"; }
rm -f "$root.log"
unset TILEWALK_ASSETS
usr=$root/usr tilewalk=$root/usr/bin/tilewalk

find assets lessons kernels/cuda -type f \( -path 'kernels/*' -o ! -name '*.[ch]' \) ! -path 'assets/pictures/*' ! -path 'assets/package/*' -print0 |
  xargs -0 sha256sum >"$scratch/sums"
(cd "$usr/share/tilewalk" && sha256sum --quiet -c "$scratch/sums") || fail "a data file is not installed"
[ "$(ls "$usr/bin")" = tilewalk ] || fail "more than one command is installed"
(cd / && "$tilewalk" sim -N 64 -d 16 --block 8 --json >/dev/null) || fail "the installed program does not run"
(cd / && "$tilewalk" lesson --list >/dev/null) || fail "the installed full program does not find its data"
if [ -d assets/gpus ]; then (cd / && "$tilewalk" sim -N 64 --gpu h200 >/dev/null) || fail "the installed program does not find its data"; fi
if ldd "$usr/lib/tilewalk/tilewalk-full" | grep -q SDL2; then
  if ldd "$tilewalk" 2>/dev/null | grep -q SDL2; then fail "every run loads SDL2, not only what draws"; fi
  (cd / && LSAN_OPTIONS=exitcode=0 SDL_VIDEODRIVER=dummy "$tilewalk" view --frames 1 >/dev/null 2>&1) || fail "the installed window does not open"
fi

# Everything that --help lists stands in the manual page and in completion.
page=$usr/share/man/man1/tilewalk.1
fish=$usr/share/fish/vendor_completions.d/tilewalk.fish
bash=$usr/share/bash-completion/completions/tilewalk
zsh=$usr/share/zsh/site-functions/_tilewalk
offers() { # offers NAME <TEXT: each option of the command stands in the text
  lacking=$(grep -oE -- '--[a-z-]+' | sort -u | comm -23 "$scratch/options" -)
  [ -z "$lacking" ] || fail "$1 lacks $lacking"
}
commands=$("$tilewalk" _names commands)
[ "$(echo "$commands" | wc -l)" = 14 ] || fail "--help lists other commands than fourteen"
for command in $commands; do
  grep -q "^\.BR tilewalk.-$command (1)\$" "$page" || fail "the manual page lacks $command"
  own=$usr/share/man/man1/tilewalk-$command.1
  if command -v groff >/dev/null; then
    warnings=$(groff -man -ww -Tutf8 "$own" 2>&1 >/dev/null)
    [ -z "$warnings" ] || fail "the page of $command: $warnings"
  fi
  "$tilewalk" "$command" --help=all | sed -n 's/^  \(-[a-zA-Z], \|    \)\(--[a-z-]*\).*/\2/p' | sort -u >"$scratch/options"
  sed 's/\\-/-/g' "$own" | offers "the page of $command"
  "$tilewalk" _complete -- "$command" -- | offers "completion of $command"
done
if command -v groff >/dev/null; then
  warnings=$(groff -man -ww -Tutf8 "$page" 2>&1 >/dev/null)
  [ -z "$warnings" ] || fail "the manual page: $warnings"
fi
if command -v zsh >/dev/null; then zsh -n "$zsh" || fail "zsh completion"; fi
if command -v fish >/dev/null; then fish -n "$fish" || fail "fish completion"; fi
PATH="$usr/bin:$PATH" # completion asks the program for names

# What bash offers for a line typed so far.
completes() { # completes "WORDS" EXPECTED
  # shellcheck disable=SC2016,SC2086  # expanded by the inner shell; the words are meant to split
  offered=$(bash -c 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tilewalk; echo "${COMPREPLY[*]}"' \
    sh "$bash" $1 2>&1)
  [ "$offered" = "$2" ] || fail "'$1' completes to '$offered', not '$2'"
}
completes 'tilewalk si' 'sim'
completes 'tilewalk sim --dty' '--dtype'
completes 'tilewalk sim --dtype b' 'bf16'
completes 'tilewalk sim --dtype = b' 'bf16'
completes 'tilewalk sim --algorithm standard,fa2' 'standard,fa2 standard,fa2-split standard,fa2-backward standard,fa2-backward-twice'
completes 'tilewalk sim --heads 1' ''
completes 'tilewalk sim --gpu h2' 'h20 h200'
completes 'tilewalk sim --kernel fa3' 'fa3-sm90 fa3_backward fa3_overlap'
completes 'tilewalk kvcache --model qwen2' 'qwen2.5-7b'
completes 'tilewalk lesson one-r' 'one-row'
completes 'tilewalk view --lesson one-r' 'one-row'
completes 'tilewalk lesson claims --only A-sram-1' 'A-sram-128'
completes 'tilewalk list algorithms st' 'standard standard-backward'
completes 'tilewalk list gpus a100-4' 'a100-40gb'
completes "tilewalk sim --gpu $PWD/READM" "$PWD/README.md"
completes 'tilewalk help si' 'sim'

make --no-print-directory BUILD="$build" DESTDIR="$root" PREFIX=/usr uninstall >/dev/null
[ -z "$(find "$root" -type f)" ] || fail "left after uninstall: $(find "$root" -type f)"
echo "installed, used and removed"
