#!/bin/sh
# Every command line that the course prints runs, in backticks or on an indented line of its lessons and their plan.
set -u
box=$(mktemp -d) || exit 1
trap 'rm -rf "$box"' EXIT
ln -s "$(realpath "${TILEWALK:-build/tilewalk}")" "$box/tilewalk"
few=$(realpath tests/fuzz/corpus/ncu/recorded.csv) # a few recordings of one kernel
PATH=$box:$PATH XDG_STATE_HOME=$box SDL_VIDEODRIVER=dummy TILEWALK_ASSETS=$(realpath "${TILEWALK_ASSETS:-assets}")
export PATH XDG_STATE_HOME SDL_VIDEODRIVER TILEWALK_ASSETS
for file in lessons/course/[0-9][0-9]-*.md lessons/course/plan.md; do
  # shellcheck disable=SC2016 # the backquotes are Markdown's
  sed '/^```/d' "$file" >"$box/text"
  # shellcheck disable=SC2016 # here too
  { grep -o '^    tilewalk .*' "$box/text"; tr '\n' ' ' <"$box/text" | grep -o '`tilewalk [^`]*`' | tr -d '`'; } | sed 's/^ *//' | sort -u >"$box/some"
  [ "$(wc -l <"$box/some")" -ge 2 ] || { echo "FAIL: $file has few commands"; exit 1; }
  cat "$box/some" >>"$box/all"
done
mkdir "$box/in"
printf 'Ada\nBob\n' >"$box/names"
echo '[{"student": "Ada", "lesson": "03-the-loop", "answers": {"stores": "1"}}]' >"$box/in/ada.json"
cd "$box" || exit 1
sort -u all | while read -r line; do
  more='' right=0
  case $line in
  'tilewalk view'*) more='--frames 1' ;;
  'tilewalk crosscheck --kernel-name'*) more="--ncu '$few'" ;;
  'tilewalk crosscheck --recorded') more='--kernel-name standard' ;; # all of them: tests/recorded/test_accuracy_table.sh
  *'./mine.walk --judge'*) right=1 ;;                                # a start is not yet right
  esac
  status=0
  sh -c "$line $more" </dev/null >out 2>err || status=$?
  [ $status = $right ] || { echo "FAIL: $line ends with $status"; cat err; exit 1; }
done || exit 1
echo "$(sort -u all | wc -l) commands of the course run"
