#!/bin/sh
# Words and sentences: `tests/support/words.sh [FILE.md...]` prints, for each page, its words and the median and ninth
# decile of the words in a sentence. `--check` fails where the README is longer than 950 words, where a page's median
# is above 25, or where a message, a page or a lesson uses a private word for what the field has a term for.
# `--terms` lists those words.
set -u
cd "$(dirname "$0")/../.." || exit 1

# Sentences of a page, one a line: without code, tables, headings, keys of lessons and comments.
sentences() {
  # shellcheck disable=SC2016  # awk's and sed's
  awk '
    /^(```|~~~)/ { fenced = !fenced; next }
    fenced || /^    / || /^\|/ || /^#/ || /^<!--/ || /^!\[/ { print ""; next }
    /^ *([-*]|[0-9]+\.) / { print ""; sub(/^ *([-*]|[0-9]+\.) /, "") }
    { print }
  ' "$1" | sed -e 's/`[^`]*`/code/g' -e 's/\[\([^]]*\)\]([^)]*)/\1/g' -e 's/[*_]//g' |
    awk 'BEGIN { RS = "" } { gsub(/\n/, " "); gsub(/[.!?]["'"'"')]*( |$)/, "&\n"); print }' | awk 'NF > 1'
}

# WORDS MEDIAN NINTH-DECILE of a page.
measure() {
  sentences "$1" | awk '{ print NF }' | sort -n |
    awk -v words="$(wc -w <"$1")" '{ n[NR] = $1 } END { if (NR) print words, n[int((NR + 1) / 2)], n[int((9 * NR + 9) / 10)]; else print words, 0, 0 }'
}

# PRIVATE WORD = TERM: of the entries of the glossary that say `Not: PRIVATE WORD.`, and of the list in CONTRIBUTING.
terms() {
  sed -n 's/^## //; t term; s/^Not: \(.*\)\.$/\1/; T; G; s/\n/ = /p; b; :term; h' lessons/course/glossary.md
  sed -n 's/^- \(.*\)\. Not: \(.*\)\.$/\2 = \1/p' .github/CONTRIBUTING.md
}

[ "${1:-}" != --terms ] || { terms; exit; }
bad=0
if [ "${1:-}" = --check ]; then
  shift
  check=1
else
  check=0
fi
[ $# -gt 0 ] || set -- README.md .github/*.md lessons/README.md lessons/course/*.md kernels/README.md sim/*/*.md
printf '%-48s %7s %7s %7s\n' page words median '9 in 10'
for page; do
  # shellcheck disable=SC2046  # three figures
  set -- $(measure "$page")
  printf '%-48s %7d %7d %7d\n' "$page" "$1" "$2" "$3"
  [ $check = 0 ] || [ "$2" -le 25 ] || { echo "$page: half of the sentences have more than $2 words"; bad=1; }
done
if [ $check = 1 ]; then
  [ "$(wc -w <README.md)" -le 950 ] || { echo "README.md has $(wc -w <README.md) words"; bad=1; }
  terms >"${TMPDIR:-/tmp}/terms.$$"
  while read -r line; do
    word=${line% = *}
    # In code, only what is said: text between quotation marks.
    hits=$(grep -rnF --include='*.c' "$word" viz lessons/engine sim kernels | grep -E "^[^\"]*(\"[^\"]*\"[^\"]*)*\"[^\"]*$word" ; grep -nF "$word" README.md .github/*.md lessons/README.md lessons/course/*.md kernels/README.md sim/*/*.md | grep -v 'Not: \|CHANGELOG')
    [ -z "$hits" ] || { echo "'$word' should be '${line#* = }':"; echo "$hits" | cut -c1-160; bad=1; }
  done <"${TMPDIR:-/tmp}/terms.$$"
  rm -f "${TMPDIR:-/tmp}/terms.$$"
  # Some are found anywhere, in names and remarks too; where they are named as wrong they may stand.
  hits=$(grep -rnwiE 'hangs? on|no run is[ ]faster|these,[ ]at least|[a-z_]*reckon(s|ed|ing|ing_[a-z]*)?|stands? in print' --include='*.[ch]' --include='*.cu*' --include='*.cpp' --include='*.py' \
    --include='*.md' --include='*.walk' README.md viz lessons sim kernels tests 2>/dev/null | grep -v 'Not: ')
  [ -z "$hits" ] || { echo "Say: depends on, computes, is printed:"; echo "$hits" | cut -c1-160; bad=1; }
fi
exit $bad
