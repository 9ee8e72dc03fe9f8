#!/bin/sh
# The library and the Python package over it answer as the program does, to the byte; nothing but tilewalk.h's names is
# seen of it, and a copy of it finds its data. EVERY=1 asks all; PAGES=build/web asks the pages' modules too.
# Not with sanitizers: the library is loaded by programs that have none.
set -u
BUILD=${BUILD:-build}
library=$(realpath "$BUILD/libtilewalk.so")
tilewalk=$(realpath "${TILEWALK:-$BUILD/tilewalk}")
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAIL: $1"; exit 1; }

for name in $(nm -D --defined-only "$library" | awk '{print $3}'); do
  grep -q "\\b$name(" viz/library/tilewalk.h || fail "the library shows $name, which its header does not have"
done
${CC:-cc} -std=c11 -Wall -Wextra -Werror -I. tests/cli/library_client.c "$library" -o "$work/client" || fail "a client does not compile"

# One in EVERY questions of the tables of commands, those that are refused too.
sed -n 's/  # .*//; s/^\$ //p' tests/commands/*.txt | grep -E '^(sim|sweep|roofline|advise|kvcache|serve|kernel|gpus) ' |
  grep -vE '\$|TMP|/dev/|--csv|--json|--help|--color| -o|=-$| -$| -h$' | awk -v every="${EVERY:-10}" 'NR % every == 0' >"$work/questions"
questions=$(wc -l <"$work/questions")
mkdir -p "$work/here" && ln -s "$library" "$work/here/libtilewalk.so.1"
LD_LIBRARY_PATH=$work/here "$work/client" <"$work/questions" >"$work/answers" || fail "the client ends with $?"
while read -r line; do
  eval "set -- $line"
  command=$1
  shift
  out=$("$tilewalk" "$command" --json "$@" 2>"$work/why")
  status=$?
  echo "$status"
  if [ $status = 2 ]; then sed "s/^tilewalk $command: //" "$work/why"; else printf '%s\n' "$out"; fi
done <"$work/questions" >"$work/program"
cmp "$work/answers" "$work/program" || fail "library and program differ: $(diff "$work/answers" "$work/program" | head -5)"
grep -c '^2$' "$work/answers" >/dev/null || fail "no question was refused"

# The modules of the pages. Reals are compared by 14 digits: JavaScript prints fewer, and cosines are the C library's.
plain() { awk '/: -?[0-9]+\.[0-9]/ { n = match($0, /: /); $0 = sprintf("%s: %.14g", substr($0, 1, n - 1), substr($0, n + 2)) } 1' "$work/$1" | sed 's/,$//' >"$work/$1.plain"; }
if [ -n "${PAGES:-}" ]; then
  node tests/web/ask.mjs "$PAGES" <"$work/questions" >"$work/page" || fail "the page's module ends with $?"
  plain answers && plain page
  cmp "$work/answers.plain" "$work/page.plain" || fail "library and page differ: $(diff "$work/answers.plain" "$work/page.plain" | head -9)"
  echo "$questions questions of a page, $(grep -c '^kernel' "$work/questions") of them of its kernels"
fi

# A copy elsewhere finds the data beside it; words are parted as a shell does; no file is written.
mkdir -p "$work/lib" "$work/share/tilewalk"
cp "$library" "$work/lib/libtilewalk.so.1"
cp -r assets "$work/share/tilewalk/"
cat >"$work/lines" <<'LINES'
list gpus h200 --csv
render --scene 'main' --step 4 -o -.svg
sim -o there.csv
sim "-N
tour --text
view
LINES
(cd "$work" && unset TILEWALK_ASSETS && LD_LIBRARY_PATH=$work/lib ./client <lines >said) || fail "the client ends with $?"
for words in '^h200,name,h200' '<svg ' 'the library writes no files' 'quotation is never closed' "no command 'view' in the library"; do
  grep -q "$words" "$work/said" || fail "no '$words' in what is said elsewhere"
done

# The wheel: unpacked, imported, asked.
command -v python3 >/dev/null || { echo "$questions questions; no python3"; exit 0; }
wheel=$(viz/python/wheel.py "$library" 0.0.1 "$work") || fail "no wheel"
python3 -m zipfile -e "$wheel" "$work/site" || fail "the wheel does not unpack"
(cd "$work" && unset TILEWALK_ASSETS && ROOT=$root PYTHONPATH=$work/site python3 -) <<'PYTHON' || fail "the package"
import concurrent.futures, inspect, os, re, tilewalk
def host():
    signals = re.findall("Sig(?:Ign|Cgt):.*(.{8})", open("/proc/self/status").read())
    return signals, sorted(os.listdir("/proc/self/fd")), os.getcwd()
before = host()
for command in set(tilewalk._library.commands()) - {"crosscheck", "advise"}:  # minutes, without words
    try: tilewalk.ask(command)
    except tilewalk.Error: pass
    assert host() == before, command
basics = os.path.join(os.environ["ROOT"], "tests/support/kernels/recorded/basics.ptx")
floats = dict(entry="saxpy", grid=5, block=256, args=["i32:1100", "f32:2", "f32[1280]:normal:1", "f32[1280]:zero"])
run = tilewalk.sim(N=4096, gpu="h200", algorithm=["standard", "fa2"], causal=True)
assert [r["algorithm"] for r in run["runs"]] == ["standard", "fa2"] and "<pre" in run._repr_html_()
assert dict(run) == dict(tilewalk.ask("sim", "-N", "4096", "--gpu=h200", "--algorithm=standard,fa2", "--causal"))
rows = tilewalk.sweep(over="N", values=[1024, 2048], algorithm="fa2").rows()
assert [row["n"] for row in rows] == ["1024", "2048"]
with concurrent.futures.ThreadPoolExecutor(3) as pool:
    for words, options in (
        (["sweep"], dict(over="N", from_=128, to=2432, step=128)),
        (["crosscheck"], dict(recorded=True, kernel_name="standard")),
        (["kernel", basics], floats),
    ):
        dealt, whole = (tilewalk.table(*words, executor=e, shards=3, **options) for e in (pool, None))
        assert dealt.csv == whole.csv and len(whole) > 0, words
assert len(tilewalk.sweep(values=[1024, 2048], to=None)["points"]) == 2
assert "values" in inspect.signature(tilewalk.sweep).parameters and "from_" in inspect.signature(tilewalk.sweep).parameters
source = open(tilewalk.__file__).read()
for name in tilewalk.__all__:
    assert re.search(rf"^ *(def {name}\(|class {name}\b|{name}: _Command)", source, re.M), f"no type for {name}"
assert tilewalk.chart("sweep", to=1024).svg.count("<svg") == 1 and "image/svg" in tilewalk.sweep(to=1024)._repr_html_()
assert 'src="e.html#N=64&amp;causal=1"' in tilewalk.embed("e.html", N=64, causal=True)._repr_html_()
try: tilewalk.render(output="m.webp")
except tilewalk.Error as error: assert ".save('x.png')" in str(error)
else: assert False
assert tilewalk.render(scene="main", step=4).svg.startswith("<?xml") and tilewalk.render(N=64).png()[1:4] == b"PNG"
ptx = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n"
assert tilewalk.kernel(ptx, grid=2, block=32)["entry"] == "k"
for wrong in (dict(N="x"), dict(N=0), dict(nosuch=1), dict(gpu="x\0y"), dict(gpu=True)):
    try:
        tilewalk.sim(**wrong)
        raise SystemExit(f"{wrong} is not refused")
    except tilewalk.Error as error:
        assert "\n" not in str(error) and "json" not in str(error)
assert "--lengths" in tilewalk.sim.__doc__
PYTHON
echo "$questions questions"
