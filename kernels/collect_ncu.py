"""The grid of shapes for `kernels/collect.sh ncu`, the metrics, and the joining of the two.

    shapes            one line of tilewalk-kernels options per run
    metrics           the metrics, separated by commas
    merge SHAPES CSV  one row per run: its shape, then the metrics, summed over the run's kernels

The result has ncu's own layout: names, units, then rows; kernels/counters/ncu.h reads both.
"""
import csv, sys

METRICS = [
    "l1tex__m_xbar2l1tex_read_bytes.sum", "l1tex__m_l1tex2xbar_write_bytes.sum",
    "lts__t_sectors_srcunit_tex_op_read.sum", "lts__t_sectors_srcunit_tex_op_write.sum",
    "lts__t_sectors_srcunit_ltcfabric.sum", "dram__bytes_read.sum", "dram__bytes_write.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "sm__inst_executed_pipe_tensor_op_hmma.sum", "gpu__time_duration.sum",
]
KERNELS_PER_RUN = {"standard_naive": 3, "standard_tiled": 3}
SHAPE = ["rung", "dtype", "batch", "heads", "kv_heads", "seq_q", "seq_k", "head_dim", "causal", "block_q", "block_k"]


def grid():
    def runs(rung, sizes, ds, heads, blocks, causals=(0, 1), kv_heads=None):
        for d in ds:
            for b_r, b_c in blocks if not isinstance(blocks, dict) else [blocks[d]]:
                for h in heads:
                    for n in sizes:
                        for causal in causals:
                            yield dict(rung=rung, dtype="fp16", batch=1, heads=h, kv_heads=kv_heads or h, seq_q=n, seq_k=n,
                                       head_dim=d, causal=causal, block_q=b_r, block_k=b_c)
    K = 1024
    best = {64: (128, 128), 128: (128, 64)}
    yield from runs("fa2_async", [K, 2 * K, 4 * K, 8 * K, 16 * K, 32 * K, 64 * K], [64, 128], [1, 4, 16], best)
    yield from runs("fa2_async", [4 * K, 16 * K], [64, 128], [4], [(64, 64), (128, 32)])
    yield from runs("fa2_async", [4 * K, 16 * K], [64], [4], [(128, 64)])
    yield from runs("fa2_async", [4 * K, 16 * K], [128], [4], [(128, 128)])
    yield from runs("fa2_async", [8 * K], [128], [16], [(128, 64)], kv_heads=4)
    yield from runs("fa2_tensor", [K, 4 * K, 16 * K, 64 * K], [64, 128], [1, 4], [(64, 64)])
    yield from runs("fa2_tensor", [4 * K, 8 * K], [64, 128], [16], [(128, 64), (64, 32)])
    for rung in ("fa2_scalar", "fa2_causal"):
        yield from runs(rung, [K, 4 * K], [64, 128], [1, 4], [(32, 32)])
        yield from runs(rung, [2 * K], [64], [2], [(16, 16), (64, 64), (64, 16), (16, 64)])
    yield from runs("fa1", [K, 2 * K, 4 * K], [64, 128], [1, 4], [(32, 32)], causals=(0,))
    yield from runs("fa1", [2 * K], [64], [2], [(16, 16), (64, 64), (64, 16)], causals=(0,))
    yield from runs("standard_tiled", [K, 4 * K], [64, 128], [1, 4], [(64, 64)], causals=(0,))
    yield from runs("standard_naive", [K, 2 * K, 4 * K], [64, 128], [1], [(1, 1)], causals=(0,))


def options(run):
    line = f"--rung {run['rung']} -N {run['seq_q']} -d {run['head_dim']} --heads {run['heads']} --kv-heads {run['kv_heads']}"
    if not run["rung"].startswith("standard"):
        line += f" --block-q {run['block_q']} --block-k {run['block_k']}"
    return line + (" --causal" if run["causal"] else "")


def merge(path):
    lines = [line for line in open(path, newline="") if line.startswith('"')]
    rows = list(csv.reader(lines))
    names, units, rows = rows[0], rows[1], rows[2:]
    at = [names.index(m) for m in METRICS]
    print(",".join(SHAPE + METRICS))
    print(",".join([""] * len(SHAPE) + [units[i] for i in at]))
    next_row = 0
    for run in grid():
        n = KERNELS_PER_RUN.get(run["rung"], 1)
        mine = rows[next_row:next_row + n]
        next_row += n
        prefix = {"standard_naive": "naive_", "standard_tiled": "tiled_"}.get(run["rung"], run["rung"])
        if len(mine) < n or any(prefix not in row[names.index("Kernel Name")] for row in mine):
            sys.exit(f"collect_ncu.py: row {next_row} is not {run['rung']}")
        sums = [sum(int(float(row[i].replace(",", ""))) for row in mine) for i in at]
        print(",".join([str(run[s]) for s in SHAPE] + [str(s) for s in sums]))
    if next_row != len(rows):
        sys.exit(f"collect_ncu.py: {len(rows)} kernels profiled, {next_row} expected")


if sys.argv[1:2] == ["shapes"]:
    for run in grid():
        print(options(run))
elif sys.argv[1:2] == ["metrics"]:
    print(",".join(METRICS))
elif sys.argv[1:2] == ["merge"] and len(sys.argv) == 4:
    merge(sys.argv[3])
else:
    sys.exit(__doc__)
