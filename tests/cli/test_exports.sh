#!/bin/sh
# Exports read back by another parser (Python's): each marked question comes once a variant and no prediction does; and
# `tilewalk lesson --answers` finds each right answer right for its seed, and each wrong one a known mistake.
set -u
fail() { echo "FAIL: $1"; exit 1; }
command -v python3 >/dev/null || exit 77
p=${TILEWALK:-${BUILD:-build}/tilewalk} box=$(mktemp -d) || exit 1
trap 'rm -rf "$box"' EXIT
for lesson in 01-bytes 02-one-row 04-masks-and-cache; do
  "$p" lesson $lesson --export-moodle --variants 2 --seed 5 >"$box/m.xml" || fail "moodle $lesson"
  python3 - "$box" $lesson <<'PYTHON' >>"$box/rows.csv" || fail "$lesson is not read back"
import csv, re, sys
import xml.etree.ElementTree as ET
box, lesson = sys.argv[1:]
source = open(f'lessons/course/{lesson}.md').read()
asks = {m[1]: m[2] for m in re.finditer(r'```ask (\S+)\n(.*?)```', source, re.S)}
marked = {k for k, v in asks.items() if not re.search(r'^kind: (predict|program|kernel)', v, re.M)}
found, rows = set(), csv.writer(sys.stdout)
for q in ET.parse(f'{box}/m.xml').getroot():
    if q.get('type') == 'category':
        continue
    name = q.find('name/text').text
    variant = 2 if name.endswith('-2') and name not in asks else 1
    id = name[:-2] if variant == 2 else name
    found.add((id, variant))
    if q.get('type') == 'numerical':
        right = [a.find('text').text for a in q.findall('answer') if a.get('fraction') == '100']
        for a in q.findall('answer'):  # no wrong answer within the right one's tolerance
            if a.get('fraction') == '0':
                assert abs(float(a.find('text').text) - float(right[0])) > float(q.find('answer/tolerance').text), name
                assert a.find('feedback/text').text
                rows.writerow(['W', lesson, id, a.find('text').text, 4 + variant])
        answer = right[0]
    elif q.get('type') == 'multichoice':
        answer = [a.find('text').text for a in q.findall('answer') if a.get('fraction') == '100'][0]
    else:
        places = {s.find('text').text: int(s.find('answer/text').text) for s in q.findall('subquestion')}
        order = sorted(places, key=places.get)
        options = dict(l.split(' | ', 1) for l in re.findall(r'^item: (.*)$', asks[id], re.M))
        answer = ' '.join(next(k for k, v in options.items() if v == text) for text in order)
    rows.writerow(['A', lesson, id, answer, 4 + variant] if variant == 1 else ['B', lesson, id, answer, 4 + variant])
assert found == {(m, v) for m in marked for v in (1, 2)}, (marked, found)
PYTHON
done
{ echo student,lesson,id,answer,seed; grep -v ^W, "$box/rows.csv"; } >"$box/class.csv"
{ echo student,lesson,id,answer,seed; grep ^W, "$box/rows.csv" | awk -F, '{ $1 = "W" NR; print }' OFS=,; } >"$box/wrong.csv"
"$p" lesson --answers "$box/class.csv" --trust-seeds --csv >"$box/graded.csv" || fail 'not all can be graded'
"$p" lesson --answers "$box/wrong.csv" --trust-seeds --csv >"$box/told.csv"
n=$(grep -c ^W "$box/wrong.csv") told=$(grep -c ',diagnosed,' "$box/told.csv")
if [ "$n" -lt 30 ] || [ "$told" != "$n" ]; then grep -v ',diagnosed,' "$box/told.csv"; fail "$told of $n wrong answers are diagnosed"; fi
n=$(grep -vc ^W, "$box/rows.csv") right=$(grep -c ',right,' "$box/graded.csv")
[ "$n" -ge 30 ] || fail "only $n questions"
[ "$right" = "$n" ] || { grep -v ',right,' "$box/graded.csv"; fail "$right of $n are right"; }
# what XML takes for something else
cat >"$box/x.md" <<'LESSON'
# <T> & "t"

- idea: x
- minutes: 5

```ask a
prompt: <b> & "q" ]]> &amp; {{}
answer: 'one'
option: one | a < b && c > d
option: two | </text>
hint: h
wrong: two -> <i>&
explain: "e" </quiz>
```
LESSON
"$p" lesson "$box/x.md" --export-moodle >"$box/x.xml" || fail 'no export'
python3 - "$box" <<'PYTHON' || fail 'special characters'
import sys
import xml.etree.ElementTree as ET
q = ET.parse(f'{sys.argv[1]}/x.xml').getroot()[1]
assert q.find('questiontext/text').text == '<b> & "q" ]]> &amp; {}', q.find('questiontext/text').text
assert [a.find('text').text for a in q.findall('answer')] == ['a < b && c > d', '</text>']
assert q.findall('answer')[1].find('feedback/text').text == '<i>&'
assert q.find('generalfeedback/text').text == '"e" </quiz>'
PYTHON
echo "$n questions read back and graded"
