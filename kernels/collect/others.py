"""Other people's attention kernels, called through PyTorch once per shape so that ncu can count them.

    kernels            the kernels (names of assets/kernels), one a line
    pattern KERNEL     a regular expression for ncu that its functions match
    run KERNEL CALLS   calls it with every shape of the grid; writes the shapes to the file CALLS
    short KERNEL CALLS  the same with the short shapes, four times each, in another order each time
    places KERNEL CALLS  the same with the long shapes, each six times, with Q, K and V elsewhere each time
    turns KERNEL CALLS  the same twelve times each, in another order each time, begun with any GPC and with spilled registers elsewhere too
    one-pass KERNEL CALLS  the same with the short shapes too, spilled registers where they were
    rows KERNEL CALLS  one head, by the number of row blocks: against 4K keys, and square under a mask, each three times in another order
    longer KERNEL CALLS  more than 64K tokens, one head and four, each three times in another order
    stores LIBRARY     how evenly the CTAs of two kernels go: when every row block of long launches is stored, CSV; LIBRARY: libwatch.so
                       (kernels/probes/probe_watch.cu)
    stores-causal LIBRARY  the same under a mask, three times
    gpcs LIBRARY       the clocks of GPCs under each kernel, CSV; LIBRARY: the same
    merge FOLDER       FOLDER/KERNEL.calls and ncu's FOLDER/KERNEL.csv to one row per call: its shape, the tile and the launch as
                       the function's name and ncu say, the counters; those of the same calls once more, KERNEL.again*.csv, beside them

`kernels/collect/collect.sh others`, `places` and the like do all of it. The rows have the layout that kernels/counters/ncu.h reads; columns it does not know
(the kernel's own name, its grid, registers and shared memory) are for people and for the tests.
"""
import glob, os, random, re, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from collect_ncu import SHAPE, available, number, print_head, read_ncu, sums

# name: PyTorch's backend; a pattern of its functions; B_r and B_c in the name of such a function; what to multiply B_r by (cuDNN's
# name has the rows of one of two consumer warpgroups: its grids are those of 128 rows).
NUMBER = r"(?:\(int\))?(\d+)"  # a template argument, as one demangler or another writes it
KERNELS = {
    "fa2-sm90": ("FLASH_ATTENTION", "flash_fwd", rf"Flash_fwd_kernel_traits<(?:\(int\))?\d+, {NUMBER}, {NUMBER}", 1),
    "cudnn-sm90": ("CUDNN_ATTENTION", "sdpa|cudnn", r"_(\d+)x(\d+)x\d+_", 2),
    "mem-efficient-sm90": ("EFFICIENT_ATTENTION", "fmha_cutlassF", r"_(\d+)x(\d+)_rf", 1),
}
# Kernel, d, rows of a CTA: what `stores` looks at.
WATCHED = [("fa2-sm90", 64, 128), ("fa2-sm90", 128, 128), ("mem-efficient-sm90", 64, 64), ("mem-efficient-sm90", 128, 64)]
CLOCKED = [("cudnn-sm90", 128, 4), ("cudnn-sm90", 128, 16), ("cudnn-sm90", 64, 16), ("fa2-sm90", 128, 4), ("mem-efficient-sm90", 128, 4)]  # and heads: sixteen lower all clocks as they go on
CLOCKS = ["sm__cycles_elapsed.avg", "sm__cycles_elapsed.max", "sm__cycles_elapsed.min"]  # of the SMs: how far apart their clocks are
SECOND = "combine"  # in the name of a kernel that ends what the one before it began
LAUNCH = ["splits", "kernel", "grid", "threads", "registers", "shared_bytes"]
K = 1024
STORED = [(32 * K, 4, 0), (32 * K, 16, 0), (64 * K, 4, 0)]  # N, heads, causal
STORED_CAUSAL = 3 * [(32 * K, 4, 1), (64 * K, 4, 1)]


def grid():
    """Shapes, every kernel the same: dtype, batch, heads, N, d, causal."""
    for d in (64, 128):
        for causal in (0, 1):
            for heads in (1, 4, 16):
                for n in (4 * K, 8 * K, 16 * K, 32 * K, 64 * K):
                    yield "fp16", 1, heads, n, d, causal
            for heads in (1, 16):
                for n in (512, K, 2 * K):
                    yield "fp16", 1, heads, n, d, causal
            yield "fp16", 4, 4, 8 * K, d, causal
            yield "bf16", 1, 4, 8 * K, d, causal
            yield "bf16", 1, 16, 32 * K, d, causal


def in_turns(shapes, times):
    """In another order each time: where a launch begins, and with it what crosses the fabric, depends on what ran before it."""
    for time in range(times):
        yield from random.Random(time + 1).sample(shapes, len(shapes))


PAGE = 2 << 20  # of a GPU's memory
PAGES_BETWEEN = 64  # at most, before each of Q, K and V
TURN_CTAS = 64  # at most, of a kernel before
ROW_BLOCKS = [*range(1, 11), *range(12, 41, 2), 44, 48, 56, 64, 80, 96, 112, 128, 132]
ROWS = {"cudnn-sm90": 128, "mem-efficient-sm90": 64}  # of a row block


def rows_of(kernel):
    """One CTA after the other: whom it joins at its GPC's coalescer, by how many more sectors reach L2 than without it."""
    return [("fp16", 1, 1, (n * ROWS[kernel], n * ROWS[kernel] if causal else 4 * K), d, causal) for n in ROW_BLOCKS for d in (64, 128) for causal in (0, 1)]


ALL = list(grid())
LONG = [shape for shape in ALL if shape[0] == "fp16" and shape[3] >= 16 * K]
LONGER = [("fp16", 1, heads, n, d, causal) for n in (80 * K, 96 * K, 128 * K) for heads in (1, 4) for d in (64, 128) for causal in (0, 1)]
CALLS = {  # shapes of a kernel; tensors elsewhere each time, a kernel of a random number of CTAs before, spilled registers elsewhere now and then
    "run": (lambda kernel: ALL * (not os.environ.get("ONLY_REPEATS")) + 2 * LONG, False, False, False),
    "short": (lambda kernel: in_turns([shape for shape in ALL if shape[3] <= 8 * K], 4), False, False, False),
    "places": (lambda kernel: 6 * LONG, True, False, False),
    "turns": (lambda kernel: in_turns([shape for shape in ALL if shape[3] >= 16 * K], 12), True, True, True),
    "one-pass": (lambda kernel: in_turns(ALL, 12), True, True, False),
    "rows": (lambda kernel: in_turns(rows_of(kernel), 3), True, True, False),
    "longer": (lambda kernel: in_turns(LONGER, 3), True, True, False)}


def move_local_memory(chance):
    """Registers are spilled to memory that the driver takes for all SMs; told to have a deeper stack, it takes it elsewhere."""
    import ctypes
    STACK = 0  # CU_LIMIT_STACK_SIZE
    driver = ctypes.CDLL("libcuda.so.1")
    driver.cuCtxSetLimit.argtypes = [ctypes.c_int, ctypes.c_size_t]
    if driver.cuCtxSetLimit(STACK, 512 * chance.randint(2, 48)):
        sys.exit("others.py: the driver refuses another stack size")


def attention(kernel, q, k, v, causal):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    with torch.no_grad(), sdpa_kernel(getattr(SDPBackend, KERNELS[kernel][0])):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=bool(causal))


def versions():
    import torch
    return f"# torch: {torch.__version__}, cuDNN {torch.backends.cudnn.version()}\n"


def run(kernel, path, shapes, apart, turned, spilled_elsewhere):
    """apart: memory that nobody uses lies before each tensor, a random number of pages; turned: a kernel of a random number of CTAs runs before;
    spilled_elsewhere: spilled registers lie elsewhere now and then."""
    import torch
    chance = random.Random(1)
    between = lambda: torch.empty(PAGE * chance.randint(1, PAGES_BETWEEN), device="cuda", dtype=torch.uint8) if apart else None
    with open(path, "w") as calls:
        calls.write(versions())
        for dtype, batch, heads, n, d, causal in shapes:
            kept, tensors = [], []
            n_q, n_k = n if isinstance(n, tuple) else (n, n)
            for length in (n_q, n_k, n_k):
                kept.append(between())
                tensors.append(torch.randn(batch, heads, length, d, device="cuda", dtype={"fp16": torch.float16, "bf16": torch.bfloat16}[dtype]))
            q, k, v = tensors
            if turned:
                if spilled_elsewhere and chance.randint(1, 12) == 1:
                    move_local_memory(chance)
                torch.empty(512 * chance.randint(1, TURN_CTAS), device="cuda").fill_(0)  # 512 elements a CTA, or a few times as many
            attention(kernel, q, k, v, causal)
            torch.cuda.synchronize()
            calls.write(f"{dtype},{batch},{heads},{heads},{n_q},{n_k},{d},{causal}\n")
            calls.flush()
            del q, k, v, tensors, kept
            torch.cuda.empty_cache()


def stores_of(library, kernel, d, rows, n, heads, causal):
    """When each row block is stored, us after the first, in launch order (row blocks fastest). O is made where the last O was, so that it can be
    filled with a mark before; its heads lie next to each other for each row (PyTorch's layout of all three kernels)."""
    import ctypes, torch
    lib = ctypes.CDLL(os.path.abspath(library))
    lib.watch_begin.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_uint32, ctypes.c_double]
    unset = 0x7FFF7FFF  # two NaNs
    q, k, v = (torch.randn(1, heads, n, d, device="cuda", dtype=torch.float16) for _ in range(3))
    for _ in range(2):
        o = attention(kernel, q, k, v, causal)
        strides = o.stride()
        torch.as_strided(o, (heads * n * d,), (1,)).view(torch.int16).fill_(0x7FFF)
        place = o.data_ptr()
        del o
    torch.cuda.synchronize()
    of_head = n // rows
    lib.watch_begin(place, rows * strides[2] // 2, strides[1] // 2, heads * of_head, of_head, unset, 1.0)
    o = attention(kernel, q, k, v, causal)
    torch.cuda.synchronize()
    stored = (ctypes.c_ulonglong * (heads * of_head))()
    lib.watch_end(stored)
    if o.data_ptr() != place or not all(stored):
        sys.exit(f"others.py: the O of {kernel} could not be watched: it moved, or not all of it was stored in a second")
    return [(t - min(stored)) / 1e3 for t in stored]


def stores(library, shapes):
    """Every row block of launches of many waves."""
    print(versions(), end="")
    print("kernel,d,N,heads,causal,rows,head,stored_us")
    for kernel, d, rows in WATCHED:
        for n, heads, causal in shapes:
            us = stores_of(library, kernel, d, rows, n, heads, causal)
            for head in range(heads):
                print(f"{kernel},{d},{n},{heads},{causal},{rows},{head}," + " ".join(f"{t:.1f}" for t in us[head * (n // rows):(head + 1) * (n // rows)]), flush=True)


def gpcs(library):
    """64K tokens, no mask, the GPU idle before for a tenth of a second, as between the launches that a profiler repeats. One SM is watched at a time, as
    a GPC that is less busy has another clock: of the first 16 TPCs by %smid, which are two of each GPC."""
    import ctypes, time, torch
    lib = ctypes.CDLL(os.path.abspath(library))
    print(versions(), end="")
    print("kernel,d,N,heads,smid,cycles_per_ns")
    for kernel, d, heads in CLOCKED:
        q, k, v = (torch.randn(1, heads, 64 * K, d, device="cuda", dtype=torch.float16) for _ in range(3))

        def call():
            return attention(kernel, q, k, v, False)

        def idle():
            torch.cuda.synchronize()
            time.sleep(0.1)

        call()
        idle()
        began = time.perf_counter()
        call()
        torch.cuda.synchronize()
        seconds = time.perf_counter() - began
        for sm in range(0, 32, 2):
            watched, rate = (ctypes.c_int * 1)(sm), (ctypes.c_double * 1)()
            idle()
            lib.clock_begin(watched, 1)
            began = time.perf_counter()
            call()
            for part in (0.1, 0.9):  # of the way
                while time.perf_counter() - began < part * seconds:
                    pass
                lib.clock_mark()
            lib.clock_end(watched, 1, rate)
            if not rate[0]:
                sys.exit(f"others.py: SM {sm} could not be watched beside {kernel}")
            print(f"{kernel},{d},{64 * K},{heads},{sm},{rate[0]:.6f}", flush=True)
        torch.cuda.synchronize()
        del q, k, v
        torch.cuda.empty_cache()


def merge(pairs):
    metrics = None
    for kernel, calls, path in pairs:
        rows, units = read_ncu(path, *sorted(glob.glob(path.removesuffix(".csv") + ".again*.csv")))
        if metrics is None:
            metrics = available(units) + [m for m in CLOCKS if m in units]
            print_head(SHAPE + LAUNCH, metrics, units)
        at = 0
        for call in open(calls):
            if call.startswith("#"):
                continue
            mine = rows[at:at + 1]
            while at + len(mine) < len(rows) and SECOND in rows[at + len(mine)]["Kernel Name"]:
                mine.append(rows[at + len(mine)])
            at += len(mine)
            name = mine[0]["Kernel Name"] if mine else "nothing"
            tile = re.search(KERNELS[kernel][2], name)
            if not tile:
                sys.exit(f"others.py: the call {call.strip()} of {kernel} ran '{name}', whose tile is not in its name")
            first, b_r, b_c = mine[0], str(int(tile[1]) * KERNELS[kernel][3]), tile[2]
            shared = number(first["launch__shared_mem_per_block_dynamic"]) + number(first["launch__shared_mem_per_block_static"])
            blocks = re.findall(r"\d+", first["Grid Size"])
            splits = blocks[1] if len(mine) == 2 else "1"  # FlashAttention-2: grid (row blocks, splits, batch x heads)
            function = re.sub(r"^void |.*::|[<(].*", "", name.split("<")[0].split("(")[0])
            launch = [splits, function, " ".join(blocks), str(number(first["launch__block_size"])), str(number(first["launch__registers_per_thread"])), str(shared)]
            print(",".join([kernel, *call.strip().split(","), b_r, b_c, *launch, *sums(mine, metrics)]))
        if at != len(rows):
            sys.exit(f"others.py: {len(rows)} kernels of {kernel} profiled, {at} expected")


def merge_folder(folder):
    merge([(k, f"{folder}/{k}.calls", f"{folder}/{k}.csv") for k in KERNELS if os.path.exists(f"{folder}/{k}.calls")])


VERBS = {"kernels": lambda: print("\n".join(KERNELS)), "pattern": lambda kernel: print(KERNELS[kernel][1]), "merge": merge_folder,
         "stores": lambda library: stores(library, STORED), "stores-causal": lambda library: stores(library, STORED_CAUSAL), "gpcs": gpcs}
verb, *words = sys.argv[1:] or [""]
if verb in CALLS and len(words) == 2 and words[0] in (ROWS if verb == "rows" else KERNELS):
    shapes, *how = CALLS[verb]
    run(*words, shapes(words[0]), *how)
elif verb in VERBS and len(words) == VERBS[verb].__code__.co_argcount and (verb != "pattern" or words[0] in KERNELS):
    VERBS[verb](*words)
else:
    sys.exit(__doc__)
