#!/bin/sh
# Random questions to the library: the figures of an answer hold together, and JSON, CSV, text, a sweep and a roofline
# say the same of a run. TILEWALK_DEPTH=20 asks as many as a night has time for; SEED, others.
# Not with sanitizers: the library is loaded by programs that have none.
set -u
command -v python3 >/dev/null || exit 77
LIBRARY=$(realpath "${BUILD:-build}/libtilewalk.so") exec python3 - <<'PYTHON'
import csv, ctypes, io, json, os, random, re

library = ctypes.CDLL(os.environ["LIBRARY"])
library.tilewalk_ask.restype = ctypes.c_void_p
for name, kind in (("status", ctypes.c_int), ("text", ctypes.c_char_p), ("error", ctypes.c_char_p), ("free", None)):
    call = getattr(library, "tilewalk_" + name)
    call.argtypes, call.restype = [ctypes.c_void_p], kind


def ask(*words):
    """The status and the text of an answer, or why it was refused."""
    array = (ctypes.c_char_p * len(words))(*(w.encode() for w in words))
    answer = ctypes.c_void_p(library.tilewalk_ask(ctypes.c_size_t(len(words)), array))
    status = library.tilewalk_status(answer)
    said = (library.tilewalk_error if status == 2 else library.tilewalk_text)(answer).decode()
    library.tilewalk_free(answer)
    return status, said


checked, broken = {}, []


def holds(law, condition, *of):
    checked[law] = checked.get(law, 0) + 1
    if not condition: broken.append((law, *of))


def at(run, path):
    for key in path.split("."): run = run[key] if run is not None else None
    return run


def equal(a, b, within=1e-9): return a == b or (isinstance(a, (int, float)) and isinstance(b, (int, float)) and abs(a - b) <= within * max(abs(a), abs(b)))


GPUS = sorted(os.listdir(os.environ["TILEWALK_ASSETS"] + "/gpus"))
NUMBERS = {g: json.loads(ask("list", "gpus", g, "--json")[1])["gpus"][0]["numbers"] for g in GPUS}
KERNELS = ["cudnn-sm90", "fa2-sm90", "mem-efficient-sm90", "fa2_async", "fa2_tensor", "fa3_overlap"]
ALGORITHMS = [n[:-5] for n in sorted(os.listdir("sim/algorithms")) if n.endswith(".walk") and n != "mla.walk"]
dice = random.Random(int(os.environ.get("SEED", "71")))


def question():
    def some(part, option, *values): return [option, str(dice.choice(values))] if dice.random() < part else []

    words = some(1, "-N", 1, 2, 7, 33, 64, 100, 129, 512, 1000, 1024, 2048, 5000)
    words += some(0.3, "--seq-len-k", 1, 17, 128, 500, 3000) + some(0.3, "--batch", 2, 3, 4)
    words += some(0.4, "--heads", 2, 4, 8, 12) + some(0.7, "--dtype", "fp32", "fp16", "bf16", "fp8")
    mask = dice.choice(["--causal", "--causal=top-left", "--causal", "", "", "", ""])
    words += [mask] if mask else some(0.3, "--window", 1, 64, 500, "64,0", "-1,0", "0,0")
    if dice.random() < 0.2: return words + some(1, "--kernel", *KERNELS) + some(1, "--gpu", "h200", "h100-sxm", "h800")
    words += some(0.8, "-d", 1, 16, 40, 64, 80, 128, 256) + some(0.2, "--head-dim-v", 8, 32, 128)
    words += some(0.6, "--block", 8, 16, 32, 64, 100, 128) + some(0.8, "--gpu", *GPUS)
    return words + some(1, "--algorithm", "standard,fa2,fa2-split", "fa1,two-pass", *ALGORITHMS)


PARTS = ("hbm_s", "l2_s", "sram_s", "math_s", "exp_s", "busiest_sm_s", "l2_port_s", "kernels_s")


def parts_add_up(run, of):
    t, tiles, sram = run["traffic"], run["tiles"], run["sram"]
    for way in "read", "write": holds("moves are tensors", sum(t[way].values()) == t[way + "_bytes"], of, t)
    for group in t, run["hbm"], run["l2"] or {"total_bytes": 0, "read_bytes": 0, "write_bytes": 0}:
        known = None not in (group["read_bytes"], group["write_bytes"])
        total = group["read_bytes"] + group["write_bytes"] if known else None
        holds("total", group["total_bytes"] == total, of, group)
    holds("tiles", tiles["total"] == tiles["full"] + tiles["partial"] + tiles["skipped"], of)
    holds("SRAM", sram["bytes"] == sum(sram["items"].values()), of, sram)
    holds("fits", sram["held"] != "sram" or sram["bytes"] <= sram["capacity_bytes"] or not sram["fits"], of)
    ratio = run["flops"] / t["total_bytes"] if t["total_bytes"] else run["intensity_flops_per_byte"]
    holds("intensity", equal(run["intensity_flops_per_byte"], ratio), of)


def memory_holds(run, machine, of):
    hbm, l2, moved = run["hbm"], run["l2"], run["traffic"]
    unknown = l2 is None and machine["l2_bytes"] > 0
    holds("a bound is flagged", run.get("hbm_is_lower_bound", False) == (unknown and run["time"] is not None), of)
    if machine["l2_bytes"] == 0:
        holds("no L2", all(hbm[k] == moved[k] for k in hbm), of, hbm)
    elif unknown and run["time"] is None:
        holds("unknown is null", set(hbm.values()) == {None}, of, hbm)
    if l2 is None: return
    besides = run["overheads"]["reread_bytes"] - run["overheads"]["unasked_bytes"]
    holds("L2 serves SRAM", abs(l2["read_bytes"] - moved["read_bytes"] - besides) <= 1, of, l2, besides)
    holds("HBM <= L2", hbm["read_bytes"] <= l2["read_bytes"] + 1, of, hbm, l2)
    for share in l2["hit_rate"], l2["not_hbm_share"]: holds("a share", 0 <= share <= 1, of, l2)
    left = (1 - l2["not_hbm_share"]) * l2["read_bytes"]
    holds("share not of HBM", abs(left - hbm["read_bytes"]) <= 1 + 1e-9 * left, of, hbm, l2)


def times_hold(run, machine, of):
    time = run["time"]
    if not time: return
    for bound in time, time["floor"]:
        known = {p: bound[p] for p in PARTS if bound[p] is not None}
        holds("bound = longest part", equal(bound["bound_s"], max(known.values())), of, bound)
        name = bound["bound"].replace("-", "_") + "_s"
        holds("bound = part named", equal(bound["bound_s"], known.get(name)), of, bound)
    holds("least = floor", time["least_s"] == time["floor"]["bound_s"], of)
    for p in PARTS:
        holds("known of both", (time[p] is None) == (time["floor"][p] is None), of, p)
        holds("floor <= bound", time[p] is None or time["floor"][p] <= time[p] * (1 + 1e-9), of, p)
        holds("part <= time", time[p] is None or time[p] <= time["seconds"] * (1 + 1e-9), of, p)
    holds("floor <= bound <= time", time["least_s"] <= time["bound_s"] * (1 + 1e-9) <= time["seconds"] * (1 + 2e-9), of)
    is_bound = time["kind"] == "bound"
    holds("kind of time", (time["predicted_s"] is None) == is_bound, of)
    holds("time of its kind", time["seconds"] == time["bound_s" if is_bound else "predicted_s"], of)
    bandwidth = NUMBERS[machine["name"]].get("hbm_bandwidth", {}).get("value") if machine["name"] in NUMBERS else None
    if bandwidth: holds("bytes in time", time["hbm_s"] >= (run["hbm"]["total_bytes"] - 1) / bandwidth * (1 - 1e-9), of)


# Columns of CSV, and lines of `--details`, that are a path of JSON.
COLUMNS = """fits=sram.fits sram_bytes=sram.bytes max_block=sram.max_block flops=flops full=tiles.full partial=tiles.partial
skipped=tiles.skipped read_bytes=traffic.read_bytes write_bytes=traffic.write_bytes total_bytes=traffic.total_bytes
hbm_read_bytes=hbm.read_bytes hbm_write_bytes=hbm.write_bytes l2_read_bytes=l2.read_bytes l2_write_bytes=l2.write_bytes
l2_hit_rate=l2.hit_rate fabric_bytes=l2.fabric_bytes ctas=launch.ctas ctas_per_sm=launch.ctas_per_sm waves=launch.waves
bound=time.bound bound_s=time.bound_s least_s=time.least_s predicted_s=time.predicted_s seconds=time.seconds"""
LINES = """all reads=traffic.read_bytes|all writes=traffic.write_bytes|total=traffic.total_bytes|together=sram.bytes|full=tiles.full
|matrix products=flops|read from HBM=hbm.read_bytes|written to HBM=hbm.write_bytes|hit rate (ncu)=l2.hit_rate|HBM=time.hbm_s
|waves=launch.waves|predicted=time.predicted_s|time at peak rates=time.bound_s|bound=time.least_s"""
UNITS = {"": 1, "s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12, "%": 0.01}
UNITS |= {k + "FLOP": 1e3**n for n, k in enumerate(" kMGTPE")} | {k + "iB": 1024**n for n, k in enumerate("_KMGTP")} | {"B": 1, "FLOP": 1}


def read(cell):
    number, unit = re.fullmatch(r"<?([-\d.,e+]+) ?([A-Za-z%]*)", cell).groups()
    return 0 if number == "-" else float(number.replace(",", "")) * UNITS[unit]


def forms_agree(words, answer):
    rows = list(csv.DictReader(io.StringIO(ask("sim", *words, "--csv")[1])))
    holds("CSV has each run", [r["algorithm"] for r in rows] == [r["algorithm"] for r in answer["runs"]], words)
    for row, run in zip(rows, answer["runs"]):
        for column, path in (pair.split("=") for pair in COLUMNS.split()):
            value, cell = at(run, path), row[column]
            is_number = isinstance(value, float) or type(value) is int
            same = is_number and cell and equal(float(cell), value) or cell == ("" if value is None else str(value).lower())
            holds("CSV = JSON", same, words, column, cell, value)
    paths = dict(pair.split("=") for pair in LINES.replace("\n", "").split("|"))
    for line in ask("sim", *words, "--text", "--details")[1].split("\n"):
        cells = re.split(r"  +", line.strip())
        if cells[0] not in paths or len(cells) != 1 + len(answer["runs"]): continue
        for cell, run in zip(cells[1:], answer["runs"]):
            value = at(run, paths[cells[0]]) or 0
            holds("text = JSON", abs(read(cell) - value) <= 1e-3 * max(value, "%" in cell), words, line, value)


def sweep_agrees(words, answer):
    n, rest = words[1], words[2:]
    for metric in "hbm", "boundary":
        status, said = ask("sweep", *rest, "--over", "N", "--values", n, "--metric", metric, "--json")
        if status == 2:
            holds("sweep refuses", metric == "hbm" and "no L2 of one or two" in said
                  and all(r["l2"] is None for r in answer["runs"]), words, said)
            continue
        point = json.loads(said)["points"][0]
        for swept, run in zip(point["runs"], answer["runs"]):
            for key in swept:
                known = swept[key] if key != "hbm" or None not in swept[key].values() else run[key]
                holds("sweep = sim", known is None or known == run[key], words, metric, key)
            memory_holds(swept, answer["machine"], ["sweep", *words])


def roofline_agrees(words, answer):
    status, said = ask("sim", *words, "--roofline", "--json")
    for roof, run in zip(json.loads(said)["runs"] if status != 2 else [], answer["runs"]):
        for key in ("kind", "bound", "bound_s", "least_s", "seconds") if run["time"] else ():
            holds("roofline = sim", equal(roof[key], run["time"][key]), words, key)


asked = refused = 0
while asked < 40 * int(os.environ.get("TILEWALK_DEPTH", "1")):
    words = question()
    asked += 1
    status, said = ask("sim", *words, "--json")
    if status == 2:
        refused += 1
        holds("one line", said and "\n" not in said, words, said)
        continue
    answer = json.loads(said)
    for run in answer["runs"]:
        of = [*words, run["algorithm"]]
        parts_add_up(run, of)
        memory_holds(run, answer["machine"], of)
        times_hold(run, answer["machine"], of)
    forms_agree(words, answer)
    sweep_agrees(words, answer)
    roofline_agrees(words, answer)
print(f"{asked} questions, {refused} refused, {sum(checked.values())} checks of {len(checked)} laws")
for law, *of in broken[:5]: print(f"not so: {law}:", *of)
raise SystemExit(bool(broken) or len(checked) < 30 or refused > asked / 3)
PYTHON
