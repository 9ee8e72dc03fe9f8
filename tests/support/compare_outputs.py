"""Two builds of Tilewalk, every command asked the same: `python3 tests/support/compare_outputs.py OLD NEW [N] [SEED]`.

OLD and NEW are programs. Random requests go to both as text, --csv and --json; what they print, and their exit status, must
be equal byte for byte, but for columns of CSV that only NEW has, behind the others. Prints the first requests that differ,
and how many were compared of each command; exit status 1 when any differs.
"""
import collections
import csv
import io
import random
import subprocess
import sys

GPUS = "h200 h100-sxm a100-80gb a100-40gb rtx4090 v100 mi300x paper tiny gb200 b200 l4 rtx5070".split()
KERNELS = "fa2-sm90 cudnn-sm90 fa3-sm90 fa2-sm80".split()
ALGORITHMS = "standard fa1 fa2 fa2-split standard,fa1,fa2 flash-d mla sigmoid linear fa2-backward two-pass,lazy".split()


def shape(rng, small=False):
    n = rng.choice([rng.randint(1, 300), 2 ** rng.randint(4, 13), rng.randint(1000, 9000)])
    words = ["-N", str(n)]
    if rng.random() < 0.5:
        words += ["-d", str(rng.choice([16, 32, 64, 80, 96, 128, 192, 256]))]
    if rng.random() < 0.2:
        words += ["--seq-len-k", str(rng.randint(1, 9000))]
    if rng.random() < 0.4:
        words += ["--causal"]
    if rng.random() < 0.2:
        words += ["--window", rng.choice(["100", "64,0", "1000"])]
    if rng.random() < 0.4:
        words += ["--block-q", str(rng.choice([16, 64, 100, 128])), "--block-k", str(rng.choice([16, 32, 64, 128]))]
    if rng.random() < 0.3:
        words += ["--dtype", rng.choice(["fp16", "bf16", "fp32", "fp8"])]
    if rng.random() < 0.5:
        heads = rng.choice([1, 2, 8, 16])
        words += ["--heads", str(heads)] + (["--kv-heads", str(max(1, heads // 4))] if rng.random() < 0.4 else [])
    if rng.random() < 0.2:
        words += ["--batch", str(rng.randint(1, 4))]
    return words


def machine(rng):
    words = []
    if rng.random() < 0.6:
        words += ["--gpu", rng.choice(GPUS)]
    if rng.random() < 0.25:
        words += ["--kernel", rng.choice(KERNELS)]
    elif rng.random() < 0.7:
        words += ["--algorithm", rng.choice(ALGORITHMS)]
    return words


def sim(rng):
    if rng.random() < 0.15:
        lengths = ",".join(str(rng.randint(1, 3000)) for _ in range(rng.randint(1, 6)))
        return ["--lengths", lengths, "--heads", str(rng.choice([1, 4]))] + (["--causal"] if rng.random() < 0.5 else []) + machine(rng)
    words = shape(rng) + machine(rng)
    if rng.random() < 0.1:
        words += ["--gpu", "a100-80gb,h200"]
    if rng.random() < 0.1:
        words += ["--lse"]
    return words


def sweep(rng):
    over = rng.choice("N block block-q block-k sram heads head-dim keys l2 skew gpu".split())
    words = ["--over", over]
    if over == "gpu":
        words = ["--over", "gpu=" + ",".join(rng.sample(GPUS, 3))]
    if over in ("N", "keys"):
        words += ["--to", "8K"] if rng.random() < 0.5 else ["--values", "100,1000,5000"]
    if over == "l2":
        words += ["--values", "8M,32M"]
    if over == "skew":
        words += ["--values", "1,8"]
    return words + [w for w in shape(rng)[2:]] + machine(rng) + (["--metric", rng.choice("boundary l2 hbm time".split())] if rng.random() < 0.4 else [])


def kvcache(rng):
    words = []
    if rng.random() < 0.5:
        words += ["--model", rng.choice("llama-3-8b gemma-3-27b deepseek-v3 gpt-oss-20b qwen3-8b mistral-7b".split())]
    if rng.random() < 0.3:
        words += ["--gpu", rng.choice(GPUS)]
    if rng.random() < 0.6:
        words += ["-N", str(rng.randint(1, 200000))]
    if rng.random() < 0.2:
        words += ["--append", str(rng.randint(1, 40))]
    elif rng.random() < 0.2:
        words = [w for w in words if w != "-N"][: len(words)] if "-N" not in words else words[: words.index("-N")]
        words += ["--lengths", ",".join(str(rng.randint(1, 5000)) for _ in range(4))]
    if rng.random() < 0.2:
        words += ["--budget", "40G"]
    if rng.random() < 0.2:
        words += ["--tp", "2"]
    return ["--list"] if rng.random() < 0.05 else words


def roofline(rng):
    return shape(rng) + machine(rng)


def advise(rng):
    return shape(rng) + (["--gpu", rng.choice(GPUS)] if rng.random() < 0.8 else [])


def gpus(rng):
    return rng.sample(GPUS, rng.randint(0, 3))


def kernels(rng):
    return ["--format"] if rng.random() < 0.1 else rng.sample(KERNELS, rng.randint(0, 2))


def warp(rng):
    words = []
    if rng.random() < 0.2:
        return ["--addresses", ",".join(str(4 * rng.randint(0, 999)) for _ in range(rng.randint(1, 32)))]
    for name, values in (("--stride", range(0, 70)), ("--pad", range(0, 4)), ("--lane-bytes", (1, 2, 4, 8, 16)), ("--base", (0, 4, 16, 100))):
        if rng.random() < 0.4:
            words += [name, str(rng.choice(values))]
    if rng.random() < 0.3:
        words += ["--swizzle", rng.choice("32B 64B 128B".split())]
    return words + (["--store"] if rng.random() < 0.3 else [])


def softmax(rng):
    if rng.random() < 0.2:
        words = ["--example"]
    else:
        words = ["--scores=" + ",".join(str(round(rng.uniform(-20, 90), 1)) for _ in range(rng.randint(1, 30)))]
    words += ["--block", str(rng.randint(1, 9))] + (["--no-max"] if rng.random() < 0.3 else [])
    return words + (["--precision", rng.choice("fp32 bf16 fp16 fp8 e5m2 fp64".split())] if rng.random() < 0.6 else [])


def replay(rng):
    return ["tests/fuzz/corpus/din/plain", "--cache", rng.choice(["2M,16,128,32", "512,1", "4K,4,64,32"])] + (["--flush"] if rng.random() < 0.5 else [])


def algorithms(rng):
    return rng.choice([[], ["fa2"], ["fa1", "--sink", "2"], ["fa2-split", "--precision", "fp16"], ["lazy"], ["nothing"]])


def check(rng):
    return rng.choice([[], ["--article", rng.choice("ABCDEP")], ["--only", "A-cyu1"], ["--search", rng.choice("decode SRAM half".split())]])


def trace(rng):
    return ["-N", str(rng.randint(1, 60)), "-d", "16", "--block", str(rng.randint(1, 20)), "--algorithm", rng.choice("standard fa1 fa2 fa2-split".split())]


def doctor(rng):
    return []


def serve(rng):
    return ["--printed"] if rng.random() < 0.2 else ["--model", rng.choice(["llama-3-8b", "deepseek-v3"])] + (["--gpu", rng.choice(GPUS)] if rng.random() < 0.5 else [])


def lesson(rng):
    return rng.choice([["--list"], ["--key", "a secret key", "--seeds", "tests/support/words.sh"]])


def crosscheck(rng):
    return rng.choice([["--cpu", "-N", str(rng.randint(1, 90)), "-d", "64", "--kernel-name", "fa2"], ["--ncu", "assets/counters/h200/kernels/first.csv", "--kernel-name", "fa1"]])


OFTEN = dict(sim=30, sweep=20, kvcache=10, roofline=10, advise=8, gpus=3, kernels=2, warp=6, softmax=5, replay=2, algorithms=2, check=2, doctor=0.1, lesson=0.3, crosscheck=0.5, trace=3, serve=4)


def run(program, words):
    done = subprocess.run([program] + words, capture_output=True)
    return done.returncode, done.stdout, done.stderr


def same_csv(old, new):
    """Every column of `old` is in `new`, in its place, with its values."""
    was, now = (list(csv.reader(io.StringIO(text.decode()))) for text in (old, new))
    return len(was) == len(now) and all(b[: len(a)] == a for a, b in zip(was, now))


def main():
    old, new = sys.argv[1:3]
    n, seed = int(sys.argv[3]) if len(sys.argv) > 3 else 2000, int(sys.argv[4]) if len(sys.argv) > 4 else 1
    rng = random.Random(seed)
    compared, answered, different = collections.Counter(), collections.Counter(), 0
    for _ in range(n):
        name = rng.choices(list(OFTEN), OFTEN.values())[0]
        words = [name] + globals()[name](rng)
        form = rng.choice([[], ["--csv"], ["--json"]]) if name != "trace" else []
        words += form
        was, now = run(old, words), run(new, words)
        compared[name] += 1
        answered[name] += was[0] == 0
        if was == now or (form == ["--csv"] and was[0::2] == now[0::2] and was[0] == 0 and same_csv(was[1], now[1])):
            continue
        different += 1
        if different <= 20:
            print("differs:", " ".join(words), was[0], now[0], (was[2] or now[2]).decode()[:100] if was[2] != now[2] else "")
    print(", ".join(f"{compared[c]} {c} ({answered[c]} answered)" for c in compared) + f"; {different} differ")
    sys.exit(1 if different else 0)


main()
