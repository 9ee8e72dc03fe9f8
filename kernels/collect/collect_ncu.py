"""The grids of shapes for `kernels/collect/collect.sh ncu` and `l2`, the metrics, and the joining of the two; and the same for `scan`, `spills`, `coalescer`,
`steps`, `steps-shared`, `ends`, `waves` and `begins`.

    shapes GRID       one line of tilewalk-kernels options per run; GRID is ladder, more, hopper, hopper-more, l2, fresh, later, l2-places or longer. ORDER, a number in the environment,
                      shuffles them: what runs before a launch and which pages it gets are then others
    metrics GRID      the metrics, separated by commas; but for the first four, those of standard input (ncu --query-metrics) alone;
                      GRID may also be scan, spills, coalescer, steps, steps-shared, ends, waves or begins
    merge GRID CSV... one row per run: its shape, then the metrics, summed over the run's kernels; more than one CSV: the same runs again with
                      other metrics
    named STAGE CSV   one row per launch of scan, spills, coalescer, steps, steps-shared, ends, waves or begins: what the program printed of it among ncu's rows, in lines that
                      begin with STAGE and a comma, the first of them a heading, then the metrics; lines that begin with STAGE and a
                      colon go along as they are

The result of merge has ncu's own layout: names, units, then rows; kernels/counters/ncu.h reads both.
"""
import csv, os, random, sys

COMMON = [
    "l1tex__m_xbar2l1tex_read_bytes.sum", "l1tex__m_l1tex2xbar_write_bytes.sum",
    "lts__t_sectors_srcunit_tex_op_read.sum", "lts__t_sectors_srcunit_tex_op_write.sum",
    "lts__t_sectors_srcunit_ltcfabric.sum", "dram__bytes_read.sum", "dram__bytes_write.sum",
]
HOPPER_METRICS = COMMON + ["gpu__time_duration.sum"]
METRICS = COMMON + [
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "sm__inst_executed_pipe_tensor_op_hmma.sum", "gpu__time_duration.sum",
]
# What judges a model of L2; what a GPU does not have is left out.
L2_METRICS = COMMON + [
    "lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum", "lts__t_sectors_srcunit_tex_op_read_lookup_miss.sum",
    "lts__t_sectors_srcunit_tex_lookup_hit.sum", "lts__t_sectors_srcunit_tex_lookup_miss.sum",
    "lts__t_sectors_lookup_hit.sum", "lts__t_sectors_lookup_miss.sum",
    "l1tex__t_bytes_pipe_lsu_mem_local_op_ld.sum", "l1tex__t_bytes_pipe_lsu_mem_local_op_st.sum", "gpu__time_duration.sum",
]
LAUNCH_METRICS = ["launch__block_size", "launch__registers_per_thread", "launch__shared_mem_per_block_dynamic",
                  "launch__shared_mem_per_block_static"]
NAMED_COLUMNS = {
    "boundary_read_bytes": "l1tex__m_xbar2l1tex_read_bytes.sum", "l2_read_sectors": "lts__t_sectors_srcunit_tex_op_read.sum",
    "l2_write_sectors": "lts__t_sectors_srcunit_tex_op_write.sum", "fabric_sectors": "lts__t_sectors_srcunit_ltcfabric.sum",
    "hbm_read_bytes": "dram__bytes_read.sum", "hbm_write_bytes": "dram__bytes_write.sum",
    "lookup_hits": "lts__t_sectors_srcunit_tex_lookup_hit.sum", "lookup_misses": "lts__t_sectors_srcunit_tex_lookup_miss.sum",
    "time_ns": "gpu__time_duration.sum",
}
READS, FABRIC = "boundary_read_bytes l2_read_sectors hbm_read_bytes", "fabric_sectors hbm_read_bytes"  # each in one pass
NAMED_STAGES = {stage: {c: NAMED_COLUMNS[c] for c in columns.split()} if columns else NAMED_COLUMNS for stage, columns in {
    "scan": "", "scan-places": "", "coalescer": "", "spills": "l2_write_sectors fabric_sectors hbm_read_bytes hbm_write_bytes",
    "steps": READS, "steps-shared": READS, "ends": READS, "waves": FABRIC, "begins": FABRIC, "begins-replayed": FABRIC + " lookup_hits lookup_misses"}.items()}
SHORT_REPEATS = 3  # of launches up to 8K, whose counters differ most from one time to the next
KERNELS_PER_RUN = {"standard_naive": 3, "standard_tiled": 3, "fa2_backward": 3, "fa2_backward_twice": 3, "fa3_backward": 3}
SHAPE = ["rung", "dtype", "batch", "heads", "kv_heads", "seq_q", "seq_k", "head_dim", "causal", "block_q", "block_k"]


def available(names):
    return [m for m in L2_METRICS if m in names or m.removesuffix(".sum") in names]


def runs(rung, sizes, ds, heads, blocks, causals=(0, 1), kv_heads=None):
    for d in ds:
        for b_r, b_c in blocks if not isinstance(blocks, dict) else [blocks[d]]:
            for h in heads:
                for n in sizes:
                    for causal in causals:
                        yield dict(rung=rung, dtype="fp16", batch=1, heads=h, kv_heads=kv_heads or h, seq_q=n, seq_k=n,
                                   head_dim=d, causal=causal, block_q=b_r, block_k=b_c)


K = 1024
BEST = {64: (128, 128), 128: (128, 64)}


def l2():
    for time in range(SHORT_REPEATS):
        yield from runs("fa2_async", [K, 2 * K, 4 * K, 8 * K] + [16 * K, 32 * K, 64 * K] * (time == 0), [64, 128], [1, 4, 16], BEST)
        yield from runs("fa2_tensor", [K, 4 * K] + [16 * K, 64 * K] * (time == 0), [64, 128], [1, 4], [(64, 64)])


def fresh():
    """Shapes between those of l2, for a look at a model that was made with l2 in sight."""
    yield from runs("fa2_async", [6 * K, 12 * K, 24 * K, 48 * K], [64, 128], [2, 8], BEST)
    yield from runs("fa2_async", [12 * K, 24 * K], [64, 128], [8], BEST, kv_heads=2)
    yield from runs("fa2_tensor", [8 * K, 24 * K], [64, 128], [2, 8], [(64, 64)])


def later():
    """The same again: shapes recorded after the model had been changed with `fresh` in sight."""
    yield from runs("fa2_async", [5 * K, 10 * K, 20 * K, 40 * K], [64, 128], [3, 6], BEST)
    yield from runs("fa2_async", [10 * K, 20 * K], [64, 128], [12], BEST, kv_heads=3)
    yield from runs("fa2_tensor", [5 * K, 20 * K], [64, 128], [3, 6], [(64, 64)])


def longer():
    """Beyond what the model was made for: more than 64K tokens, which have no say in it."""
    yield from runs("fa2_async", [80 * K, 96 * K, 128 * K], [64, 128], [1, 4], BEST)
    yield from runs("fa2_tensor", [80 * K, 96 * K, 128 * K], [64, 128], [1, 4], [(64, 64)])


PLACES = 6


def places():
    """The long shapes of all three, elsewhere each time: what just about fits L2 depends on where Q, K, V and O lie."""
    shapes = {tuple(run.items()): run for grid in (l2, fresh, later) for run in grid() if run["seq_q"] >= 16 * K}
    for place in range(1, PLACES + 1):
        for at, run in enumerate(shapes.values()):
            yield dict(run, apart=place * len(shapes) + at)


def hopper():
    """Rungs 8 and 9, whose reads all go by TMA."""
    for d, b_r in ((64, 192), (128, 128)):
        for rung, block in (("fa2_wgmma", (128, 128)), ("fa3_overlap", (b_r, 128))):
            yield from runs(rung, [K, 4 * K, 16 * K], [d], [1, 4], [block])
            yield from runs(rung, [4 * K], [d], [16], [block], kv_heads=4)


# rung, sizes, d, heads, blocks; masks, KV heads
LADDER = [
    ("fa2_async", [K, 2 * K, 4 * K, 8 * K, 16 * K, 32 * K, 64 * K], [64, 128], [1, 4, 16], BEST),
    ("fa2_async", [4 * K, 16 * K], [64, 128], [4], [(64, 64), (128, 32)]),
    ("fa2_async", [4 * K, 16 * K], [64], [4], [(128, 64)]),
    ("fa2_async", [4 * K, 16 * K], [128], [4], [(128, 128)]),
    ("fa2_async", [8 * K], [128], [16], [(128, 64)], (0, 1), 4),
    ("fa2_tensor", [K, 4 * K, 16 * K, 64 * K], [64, 128], [1, 4], [(64, 64)]),
    ("fa2_tensor", [4 * K, 8 * K], [64, 128], [16], [(128, 64), (64, 32)]),
    *[row for rung in ("fa2_scalar", "fa2_causal") for row in ((rung, [K, 4 * K], [64, 128], [1, 4], [(32, 32)]),
                                                               (rung, [2 * K], [64], [2], [(16, 16), (64, 64), (64, 16), (16, 64)]))],
    ("fa1", [K, 2 * K, 4 * K], [64, 128], [1, 4], [(32, 32)], (0,)),
    ("fa1", [2 * K], [64], [2], [(16, 16), (64, 64), (64, 16)], (0,)),
    ("standard_tiled", [K, 4 * K], [64, 128], [1, 4], [(64, 64)], (0,)),
    ("standard_naive", [K, 2 * K, 4 * K], [64, 128], [1], [(1, 1)], (0,)),
]


def ladder():
    for row in LADDER:
        yield from runs(*row)


def backward_runs(rung, blocks):
    for run in [*runs(rung, [K, 4 * K], [64, 128], [1, 16], blocks), *runs(rung, [2 * K], [64, 128], [8], blocks, kv_heads=2)]:
        yield dict(run, splits=1)


def more():
    """Decode and the backward pass. Decode runs a second kernel where keys are split."""
    for rung in ("fa2_decode", "fa2_decode_paged"):
        for d in (64, 128):
            for batch, heads, kv_heads, keys, splits in ((1, 32, 8, 32 * K, 32), (4, 32, 8, 8 * K, 8), (1, 32, 32, 4 * K, 8), (16, 32, 8, 4 * K, 1), (1, 8, 1, 1000, 8)):
                yield dict(rung=rung, dtype="fp16", batch=batch, heads=heads, kv_heads=kv_heads, seq_q=1, seq_k=keys, head_dim=d, causal=0,
                           block_q=16, block_k=64, splits=splits)
    for rung in ("fa2_backward", "fa2_backward_twice"):
        yield from backward_runs(rung, {64: (64, 64), 128: (64, 128)})


def hopper_more():
    """The backward pass by TMA and wgmma."""
    yield from backward_runs("fa3_backward", {64: (128, 128), 128: (64, 128)})


def kernels_of(run):
    if run["rung"].startswith("fa2_decode"):
        return 1 if run["splits"] == 1 else 2
    return KERNELS_PER_RUN.get(run["rung"], 1)


def options(run):
    line = f"--rung {run['rung']} -N {run['seq_q']} -d {run['head_dim']} --heads {run['heads']} --kv-heads {run['kv_heads']}"
    if run["rung"].startswith("fa2_decode"):
        line += f" --batch {run['batch']} --seq-len-k {run['seq_k']} --splits {run['splits']}"
    elif not run["rung"].startswith("standard"):
        line += f" --block-q {run['block_q']} --block-k {run['block_k']}"
    return line + (" --causal" if run["causal"] else "") + (f" --apart {run['apart']}" if "apart" in run else "")


def in_order(grid):
    all_runs = list(grid())
    if os.environ.get("ORDER"):
        random.Random(int(os.environ["ORDER"])).shuffle(all_runs)
    return all_runs


GRIDS = {"ladder": (ladder, METRICS), "hopper": (hopper, HOPPER_METRICS), "l2": (l2, L2_METRICS), "fresh": (fresh, L2_METRICS), "later": (later, L2_METRICS),
         "l2-places": (places, L2_METRICS), "longer": (longer, L2_METRICS), "more": (more, METRICS), "hopper-more": (hopper_more, HOPPER_METRICS)}


def read_ncu(path, *more):
    """Rows of ncu's raw page, and the units of their columns; `more`: the same launches again with other metrics. Lines of the profiled
    program begin with no quote."""
    names, units, *rows = list(csv.reader(line for line in open(path, newline="") if line.startswith('"'))) + [[], []]
    if not units:
        sys.exit(f"collect_ncu.py: {path} holds no counters of ncu's: no kernel was profiled")
    rows, units = [dict(zip(names, row)) for row in rows if row], dict(zip(names, units))
    for again in more:
        others, their_units = read_ncu(again)
        if [row["Kernel Name"] for row in others] != [row["Kernel Name"] for row in rows]:
            sys.exit(f"collect_ncu.py: {again} has other kernels than {path}")
        rows, units = [other | row for other, row in zip(others, rows)], their_units | units
    return rows, units


def number(text):
    return int(float(text.replace(",", "")))


def sums(rows, metrics):
    return [str(sum(number(row[m]) for row in rows)) for m in metrics]


def print_head(columns, metrics, units):
    print(",".join(columns + metrics))
    print(",".join([""] * len(columns) + [units[m] for m in metrics]))


PREFIXES = {"standard_naive": "naive_", "standard_tiled": "tiled_", "fa2_decode_paged": "fa2_decode", "fa2_backward_twice": "fa2_backward", "fa3_backward": "_backward_"}


def merge(name, paths):
    rows, units = read_ncu(*paths)
    grid, metrics = GRIDS[name]
    metrics = [m for m in metrics if m in units]
    shape = SHAPE + ["splits"] * (name in ("more", "hopper-more"))
    print_head(shape, metrics, units)
    next_row = 0
    for run in in_order(grid):
        n = kernels_of(run)
        mine = rows[next_row:next_row + n]
        next_row += n
        prefix = PREFIXES.get(run["rung"], run["rung"])
        if len(mine) < n or any(prefix not in row["Kernel Name"] for row in mine):
            sys.exit(f"collect_ncu.py: row {next_row} is not {run['rung']}")
        print(",".join([str(run[s]) for s in shape] + sums(mine, metrics)))
    if next_row != len(rows):
        sys.exit(f"collect_ncu.py: {len(rows)} kernels profiled, {next_row} expected")


def merge_named(stage, path):
    rows, units = read_ncu(path)
    columns = NAMED_STAGES[stage]
    prefix = stage.removesuffix("-replayed")
    lines = [line.strip() for line in open(path) if line.startswith((prefix + ",", prefix + ":"))]
    n_launches = sum(line.startswith(prefix + ",") for line in lines) - 1
    missing = [m for m in columns.values() if m not in units]
    if missing:
        sys.exit(f"collect_ncu.py: ncu did not count {', '.join(missing)}")
    if n_launches != len(rows):
        sys.exit(f"collect_ncu.py: {len(rows)} kernels profiled, but the program names {n_launches}")
    endings = iter([list(columns)] + [sums([row], columns.values()) for row in rows])
    for line in lines:
        print(",".join([line[len(prefix) + 1:]] + (next(endings) if line[len(prefix)] == "," else [])))


def main():
    verb, name = (sys.argv + ["", ""])[1:3]
    if verb == "named" and name in NAMED_STAGES and len(sys.argv) == 4:
        return merge_named(name, sys.argv[3])
    if verb == "metrics" and name in NAMED_STAGES:
        return print(",".join(NAMED_STAGES[name].values()))
    if verb not in ("shapes", "metrics", "merge") or name not in GRIDS or (len(sys.argv) < 4 if verb == "merge" else len(sys.argv) != 3):
        sys.exit(__doc__)
    if verb == "shapes":
        for run in in_order(GRIDS[name][0]):
            print(options(run))
    elif verb == "merge":
        merge(name, sys.argv[3:])
    else:
        print(",".join(GRIDS[name][1] if name in ("ladder", "more", "hopper", "hopper-more") else available(set(sys.stdin.read().split())) + LAUNCH_METRICS))


if __name__ == "__main__":
    main()
