#!/bin/sh
# man.sh PROGRAM FOLDER: the manual pages, one for the program and one for each command: what --help=all prints, as troff has it.
set -eu
tilewalk=$1 folder=$2
commands=$("$tilewalk" _names commands)
pages=$("$tilewalk" _names pages)
export COLUMNS=76

troff() { # plain dashes and quotes, no line mistaken for a request
  sed 's/\\/\\e/g; s/-/\\-/g; s/'"'"'/\\(aq/g; s/`/\\(ga/g; s/\^/\\(ha/g; s/~/\\(ti/g; s/^\./\\\&./'
}
summary() { COLUMNS=200 "$tilewalk" "$1" --help | sed '1!d; s/[^:]*: //' | troff; }
head() { # head -NAME SUMMARY
  version=$("$tilewalk" --version | sed '1!d; s/tilewalk //')
  printf '.TH TILEWALK%s 1 "" "Tilewalk %s" "User Commands"\n.SH NAME\ntilewalk%s \\- %s\n' "$1" "$version" "$1" "$2"
}

{
  head '' 'shows where the bytes of attention go: HBM, L2, SRAM'
  printf '.SH COMMANDS\nEach has a page of its own.\n'
  for command in $commands; do
    printf '.TP\n.BR tilewalk\\-%s (1)\n%s\n' "$command" "$(summary "$command")"
  done
  cat assets/shell/manual
} >"$folder/tilewalk.1"

for command in $commands; do
  { # with what it does with a second word, too: sim --roofline
    head "-$command" "$(summary "$command")"
    printf '.SH DESCRIPTION\n.nf\n'
    echo "$pages" | grep -E "^$command( |$)" | while read -r words; do
      # shellcheck disable=SC2086 # words; twice, for an option that takes the first as its value
      text=$("$tilewalk" $words --help=all --help=all </dev/null)
      printf '%s\n\n' "$text" | troff
    done
    printf '.fi\n.SH SEE ALSO\n.BR tilewalk (1)\n'
  } >"$folder/tilewalk-$command.1"
done
