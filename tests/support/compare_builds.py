"""Two builds of Tilewalk, asked the same: `python3 tests/support/compare_builds.py OLD NEW [REQUESTS] [SEED]`.

OLD and NEW are checkouts that are built. Each random request goes to `sim --json` and, where it is small, to `trace` of
both. Of `sim`, every value that OLD has must be in NEW, and equal; keys that only NEW has are allowed. Of `trace`, every
line must be equal, but for the columns i, j, row and column that OLD leaves empty. Prints the paths that differ, with how
often, and one line of sums; exit status 1 when any differs.
"""
import collections
import json
import os
import random
import subprocess
import sys


def run(checkout, words):
    env = dict(os.environ, TILEWALK_ASSETS=os.path.join(checkout, "assets"))
    done = subprocess.run([os.path.join(checkout, "build", "tilewalk")] + words, capture_output=True, text=True, env=env)
    return done.returncode, done.stdout


def differing(old, new, path=""):
    """The paths of values in `old` that `new` lacks or has otherwise."""
    if isinstance(old, dict) and isinstance(new, dict):
        return [p for key in old for p in (differing(old[key], new[key], f"{path}.{key}") if key in new else [f"{path}.{key}"])]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [p for a, b in zip(old, new) for p in differing(a, b, path + "[]")]
    return [] if old == new else [path]


def same_line(old, new):
    a, b = old.split(","), new.split(",")
    hidden = {5} | set(range(7, 13)) if "" in a[7:9] else set()  # the tile's kind and ranges follow i and j
    return len(a) == len(b) and all(x == y or k in hidden for k, (x, y) in enumerate(zip(a, b)))


def request(rng, small):
    n = rng.randint(1, 70) if small else rng.choice([rng.randint(1, 5000), 2 ** rng.randint(0, 31)])
    words = ["-N", str(n), "-d", str(rng.choice([4, 16, 20]) if small else rng.choice([16, 32, 64, 80, 128, 256]))]
    if rng.random() < 0.3:
        words += ["--seq-len-k", str(rng.randint(1, 70) if small else rng.randint(1, 20000))]
    if rng.random() < 0.5:
        words += ["--causal"]
    if rng.random() < 0.3:
        words += ["--window", str(rng.randint(1, 40 if small else 3000))]
    if rng.random() < 0.6:
        words += ["--block-q", str(rng.randint(1, 20 if small else 200)), "--block-k", str(rng.randint(1, 20 if small else 200))]
    words += ["--dtype", rng.choice(["fp16", "bf16", "fp32"])]
    heads = rng.choice([1, 1, 2, 8])
    words += ["--batch", str(rng.choice([1, 1, 3])), "--heads", str(heads)]
    algorithm = rng.choice(["standard", "fa1", "fa2", "fa2-split", "standard,fa1,fa2"])
    if "split" in algorithm and rng.random() < 0.7:
        words += ["--splits", str(rng.randint(1, 6))]
    if algorithm in ("fa2", "fa2-split") and rng.random() < 0.3:
        words += ["--lse"]
    return words + ["--algorithm", algorithm]


old, new = sys.argv[1:3]
n, seed = int(sys.argv[3]) if len(sys.argv) > 3 else 2000, int(sys.argv[4]) if len(sys.argv) > 4 else 1
rng = random.Random(seed)
paths, counts = collections.Counter(), collections.Counter()
for k in range(n):
    small = k % 2 == 0
    words = request(rng, small)
    gpu = ["--gpu", rng.choice(["h200", "a100-80gb"])] if k % 10 == 1 else []
    (status, was), (now_status, now) = run(old, ["sim", "--json"] + words + gpu), run(new, ["sim", "--json"] + words + gpu)
    counts["requests"] += 1
    if status != now_status:
        paths["exit status of " + " ".join(words + gpu)] += 1
    elif status == 0:
        paths.update(set(differing(json.loads(was), json.loads(now))))
        counts["answered"] += 1
    if small and status == 0:
        was, now = run(old, ["trace"] + words)[1].splitlines(), run(new, ["trace"] + words)[1].splitlines()
        counts["trace lines"] += len(was)
        if len(was) != len(now) or not all(map(same_line, was, now)):
            paths["trace of " + " ".join(words)] += 1
for path, times in paths.most_common(40):
    print(f"{times:6d}  {path}")
print(", ".join(f"{v} {k}" for k, v in counts.items()) + f", {sum(paths.values())} differences")
sys.exit(1 if paths else 0)
