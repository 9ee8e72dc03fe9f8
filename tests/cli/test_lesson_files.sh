#!/bin/bash
# `tilewalk lesson` where a table of commands does not reach: files that are saved while it runs, a terminal, a course of one's own.
set -u
# shellcheck source=tests/support/expect.sh
. "$(dirname "$0")/../support/expect.sh"
run() { "$tilewalk" lesson "$@" <typed; }
# also TEXT...: each stands in what was printed last, too.
also() { for text in "$@"; do grep -qF -- "$text" "$work/all" || { echo "no '$text' in:" && cat "$work/all"; failed=1; }; done; }
tilewalk=$(realpath "$tilewalk") root=$PWD
export XDG_STATE_HOME=$work TILEWALK_ASSETS=$root/assets
printf '%s\n' '# Write' '' '- idea: x' '- minutes: 5' '' 'Hello.' '' '```ask mend' 'kind: program' 'answer: row-maximum' \
  'draw: N from 320, 448' 'state: N={N} d=32 block=64' 'explain: Both.' '```' >"$work/write.md"
# A program on both sides of its task: the start is wrong, the reference right.
program() {
  printf 'algorithm mine\n'
  sed -n 's/^\(input\|output\) */\1 /p' lessons/tasks/row-maximum.task
  sed -n "/^$1\$/,/^[rm]/ { /^ /p }" lessons/tasks/row-maximum.task | sed '1d; s/^    //'
}
program start >"$work/wrong.walk"
program reference >"$work/right.walk"
# await TEXT: until it stands on the screen of the running lesson.
await() { until [[ $said == *"$1"* ]]; do read -rN1 -t 100 -u "$from" letter || { echo "no '$1' in: $said"; exit 1; }; said+=$letter; done; }
save() { cp "$1" new && mv new row-maximum.walk; }

cd "$work" || exit 1
printf '%s\n' hint none.walk . wrong.walk write.md right.walk >typed
expect 0 'The lesson is done: 1 of 1 right' write.md --restart
also 'Hint 1 of' "'none.walk' cannot be read: No such file or directory" 'is no file of at most 64 KiB' 'each block forgets those before' \
  ' row-maximum.walk:' 'Right.'
# A lesson from a pipe, which is read once.
printf '%s\n' Ada Bob >names
for to in '--slides piped.pdf' '--handout piped.pdf' '--handout piped --roster names --key a-long-key'; do
  # shellcheck disable=SC2086  # several words
  "$tilewalk" lesson /dev/stdin $to < <(cat write.md) >all || { echo "not from a pipe: $to"; failed=1; }
done
coproc LESSON { "$tilewalk" lesson write.md --restart --watch; }
exec {from}<&"${LESSON[0]}" # bash closes its own end when the lesson ends, read or not
said='' pid=$LESSON_PID
await 'Your file: ./row-maximum.walk.'
save wrong.walk
await 'row-maximum.walk was saved'
await 'each block forgets those before'
save right.walk
await 'The lesson is done: 1 of 1 right'
wait "$pid" || failed=1

# At a terminal what was predicted is shown, and Enter goes on.
printf '%s\n' '# Seen' '' '- idea: x' '- minutes: 5' '' 'Hello.' '' '```ask sum' 'kind: predict' 'prompt: p' 'answer: 4' 'hint: h' '```' '' \
  '```state' 'N=8 d=4 block=2' '```' '' '```show' 'scene=hierarchy' '```' '' '## More' '' 'Text.' >seen.md
coproc LESSON { TERM=xterm NO_COLOR=1 script -qec "'$tilewalk' lesson seen.md --restart" /dev/null; }
exec {from}<&"${LESSON[0]}"
said='' pid=$LESSON_PID
echo 4 >&"${LESSON[1]}"
await '[Enter] '
echo quit >&"${LESSON[1]}"
[[ $said == *'As you predicted: 4'* ]] || { echo "not shown: $said"; failed=1; }
wait "$pid"

# A hundred lessons, and a name with dots in it; two programs, each of which begins with what the other lacks.
course=$work/tree/lessons/course
mkdir -p tree/assets && ln -s "$root"/assets/* tree/assets && cp -r "$root/lessons" tree/
sed 's/^start$/old/; s/^reference$/start/; s/^old$/reference/; /^mutant/,$d; /^demand/d; /^says/d' "$root/lessons/tasks/running-sum.task" >tree/lessons/tasks/back.task
for k in $(seq 10 99); do cp "$course/template.md" "$course/$k-x.md"; done
cp "$course/template.md" "$course/03-a..b.md"
cp "$course/glossary.md" .
{
  sed '/^```teacher/,$d' "$course/template.md"
  # shellcheck disable=SC2016 # Markdown's backquotes
  for k in running-sum back; do printf '```ask write-%s\nkind: program\nanswer: %s\ndraw: rows from 208 to 1024 by 16\nstate: N={rows} d=32 block=32 causal=1\nexplain: Done.\n```\n\n' $k $k; done
  sed -n '/^```teacher/,$p' "$course/template.md"
} >two.md
export TILEWALK_ASSETS=$work/tree/assets
expect 0 '^03-a..b,' --list --csv
also 99-x,
expect 0 '1 lesson, 0 findings' --lint "$course/03-a..b.md"
expect 1 "what 'write-back' asks for stands in the program that 'write-running-sum' begins with" --lint two.md
also "what 'write-running-sum' asks for stands in the program that 'write-back' begins with" '1 lesson, 2 findings'

# The lesson of the author's guide, in under 30 lines, runs as it stands there, with what the guide says of it.
awk '/^````markdown$/ { inside = 1; next } /^````$/ && inside { exit } inside' "$root/lessons/README.md" >guide.md
[ "$(wc -l <guide.md)" -lt 30 ] || failed=1
expect 1 '1 lesson, 2 findings' --lint guide.md
also '0 teacher blocks'
printf '%s\n' Q 1 32 8 16 >typed
expect 0 'The lesson is done: 1 of 1 right' guide.md --seed 1
also 'The answer: K' 'That would be so if all of Q fitted'
exit $failed
