#!/bin/bash
# Random questions: an answer is a screen of 24 lines, 80 columns and 12 rows, and its first sentence has JSON's figures.
set -u
command -v python3 >/dev/null || exit 77
cd "$(dirname "$0")/../.." || exit 1
OMP_NUM_THREADS=1 LC_ALL=C.UTF-8 exec python3 - "${TILEWALK:-build/tilewalk}" "${TILEWALK_DEPTH:-1}" <<'PYTHON'
import json, random, re, subprocess, sys
program, deep = sys.argv[1], int(sys.argv[2]) > 1
seed, bad, refused, n = random.randrange(1 << 30) if deep else 68, [], 0, 250 if deep else 50
r = random.Random(seed)
UNITS = dict(B=1, KiB=2**10, MiB=2**20, GiB=2**30, TiB=2**40, KB=1e3, MB=1e6, GB=1e9, TB=1e12, ns=1e-9, us=1e-6, ms=1e-3)
SHAPE = "-N 1|-N 100|-N 1000|-d 40|-d 64|--seq-len-k 777|--heads 4|--heads 32 --kv-heads 8|--batch 3|--dtype fp32|--causal|--window 100,0|--mask sink:9"
LOAD = "--batch 8|-N 100K|--tp 2|--tp 8|--page 256|--dtype int8|--lengths 3001,777,512x8|--model gemma-3-27b|--model deepseek-v3|--gpu l4"
OF = {  # what may follow
    "sim": SHAPE + "|--gpu h200,l4|--gpu v100|--gpu mi300x|--algorithm fa2|--algorithm standard,fa1,fa2,fa2-split|--block 32|--block-q 64 --block-k 128|--sram 64K",
    "sim --gpu h200": SHAPE + "|--algorithm standard,fa2|--kernel fa2-sm90|--block 32", "sim --gpu a100-80gb": SHAPE + "|--algorithm standard,fa2",
    "sim --steps": SHAPE + "|--ranks 8|--scheme zigzag|--scheme ulysses|--link pcie4|--algorithm ring-attention",
    "sim --lengths 3001,777,512x8": "--gpu h200|--kernel fa2-sm90|--causal|--heads 8|--algorithm standard,fa2",
    "kvcache": LOAD + "|--budget 60GiB|--append 6|--window 128", "serve": LOAD + "|--gpu h200|--chunk 2K|--prefix 64|--kernel fa2-sm90|--evict h2o:64+64",
    "softmax": "--scores 1,2,-inf,80,3|--example|--normal 256|--block 2|--precision fp16|--no-max|--sink 1|--rescale-above 8",
    "sweep": SHAPE + "|--over block|--over gpu=h100,l4|--metric time --gpu h200|--metric hbm --gpu l4|--algorithm fa2",
    "advise --library vllm": SHAPE + "|--gpu l4", "advise --library pytorch-sdpa": SHAPE + "|--gpu h200"}


def ask(words): return subprocess.run([program, *words.split()], capture_output=True, text=True)


def hold(right, words, what):
    if right: return
    bad.append(words)
    print(f"tilewalk {words} (seed {seed}): {what}")


def leaves(value, path=""):
    """Figures by path."""
    pairs = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
    return {p: v for key, of in pairs for p, v in leaves(of, f"{path}.{key}" if path else str(key)).items()} if pairs else {path: value}


def check_screen(words, text, figures):
    lines = text.split("\n")
    rule = max((k for k, line in enumerate(lines) if line.startswith("─")), default=len(lines))
    rows = sum(bool(re.match(r"\S.*  ", line)) for line in lines[rule + 1:])
    hold(len(lines) <= 25 and max(map(len, lines)) <= 80 and rows <= 12, words, f"{len(lines) - 1} lines, {rows} rows:\n{text}")
    for said, unit in re.findall(r"([\d.]+|\d[\d,]+)(x| [KMGT]?i?B| [num]?s)\b", re.split(r"\.\s", text)[0]):
        value, scale = float(said.replace(",", "")), UNITS.get(unit.strip(), 1)
        of = [a / b for a in figures for b in figures if b] if unit == "x" else [f / scale for f in figures]
        step = 0.6 * 0.1 ** len(said.partition(".")[2]) if unit == "x" else 6e-4 * value
        hold(any(abs(f - value) <= step or unit == "x" and f and abs(1 / f - value) <= step for f in of), words, said + unit + " is no figure of JSON")


for _ in range(n):
    command = r.choice(list(OF))
    words = " ".join([command] + r.sample(OF[command].split("|"), r.randrange(1, 4)))
    text, answer = ask(words), ask(words + " --json")
    if text.returncode:
        refused += 1
        hold(text.returncode == 2 and not text.stdout and text.stderr.count("\n") == 1, words, text.stderr)
        continue
    answer = json.loads(answer.stdout)
    points = answer.get("points", [answer])  # a sweep says the first and the last
    runs = [leaves(run) for of in answer.get("machines", points[:1] + points[-1:]) for run in of.get("runs", [])]
    paths = ["hbm.total_bytes", "time.seconds"] + ["traffic.total_bytes"] * ("points" in answer)
    if "sequences" in answer: paths = ["read_bytes"]
    figures = [run[p] for run in runs for p in paths if run.get(p)] or [v for v in leaves(answer).values() if isinstance(v, (int, float))]
    check_screen(words, text.stdout, figures)
print(f"{n} questions, {refused} refused, {len(bad)} wrong")
sys.exit(bad != [] or refused > n / 3)
PYTHON
