"""Times attention kernels beside PyTorch's and prints CSV: kernels/collect/times.py STAGE [NAME=LIBRARY:RUNG[:B_rxB_c] ...]

time        the ladder (build/tilewalk-kernels, or PROGRAM) and PyTorch's backends, one after another: warm, and cold after 256 MiB overwritten
regimes     rungs 8 and 9, then 11, FlashAttention-2 and cuDNN, at shapes of many regimes
packed      FlashAttention-2 over sequences of unequal lengths, one after the other, and over windows
flex        FlexAttention, by its mask
decode      one query a sequence by FlashAttention-2 and cuDNN: cold, after 256 MiB that were read, and warm

fp16, or DTYPE. FLOPs of `time`: 4 N^2 d per head, halved when causal; batch x N = 16384 and heads x d = 2048. But for
`time`, launches wait in one queue behind a sleep on the GPU, so that the cost of a launch is hidden, and come in random order, so that the power state is the same for all; each row is the median of REPEATS. What is off by more than rounding is said and not timed.
"""
import csv, ctypes, io, os, random, subprocess, sys
from functools import partial
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

aten = torch.ops.aten
DTYPE = getattr(torch, os.environ.get("DTYPE", "float16"))
BF16 = int(DTYPE == torch.bfloat16)
WRONG = []


def sizes(default, name="SIZES"):
    return [int(n) for n in os.environ.get(name, default).split(",")]


def tensors(n, *shape):
    return [torch.randn(*shape, device="cuda", dtype=DTYPE) for _ in range(n)]


def medians(functions, sleep_cycles=150_000):
    """Microseconds of each function, launched in random order behind a sleep of so many cycles for each launch."""
    order = [i for i in range(len(functions)) for _ in range(int(os.environ.get("REPEATS", 15 if STAGE in ("regimes", "packed", "flex") else 30)))]
    random.Random(7).shuffle(order)
    for f in functions:
        f(), f()
    times = [[] for _ in functions]
    for i, us in zip(order, events_us([functions[i] for i in order], sleep_cycles * len(order))):
        times[i].append(us)
    return [sorted(t)[len(t) // 2] for t in times]


def events_us(functions, sleep_cycles=0, before=None):
    events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in functions]
    torch.cuda.synchronize()
    if sleep_cycles:
        torch.cuda._sleep(sleep_cycles)
    for f, (start, stop) in zip(functions, events):
        if before:
            before()
        start.record()
        f()
        stop.record()
    torch.cuda.synchronize()
    return [start.elapsed_time(stop) * 1e3 for start, stop in events]


def is_right(name, got, wanted):
    error = float((got.float() - wanted.float()).norm() / wanted.float().norm())
    if not error < (3e-2 if BF16 else 4e-3):
        WRONG.append(f"{name} is off by {error:.2g}")
        print(f"# {WRONG[-1]}", flush=True)
    return error < (3e-2 if BF16 else 4e-3)


def launch(function, rung, of, *rest):
    return function(rung, *[ctypes.c_void_p(t.data_ptr()) for t in of], *rest)


def forward_runs(kernels, batch, heads, n, d, causal):
    q, k, v = tensors(3, batch, heads, n, d)
    runs = {"flash": partial(aten._scaled_dot_product_flash_attention, q, k, v, 0.0, causal),
            "cudnn": partial(aten._scaled_dot_product_cudnn_attention, q, k, v, None, False, 0.0, causal)}
    wanted = runs["flash"]()[0]
    for name, library, rung, block in kernels:
        o = torch.full_like(q, float("nan"))
        run = partial(launch, library.tilewalk_attention, rung, (q, k, v, o), batch, heads, heads, n, n, d, int(causal), BF16, *block)
        if not run() and is_right(f"{name}, {batch} x {heads}, N = {n}, d = {d}, causal {causal}", o, wanted):
            runs[name] = run
    return runs


def backward_runs(kernels, batch, heads, n, d, causal):
    q, k, v, g = tensors(4, batch, heads, n, d)
    out, L, *f = aten._scaled_dot_product_flash_attention(q, k, v, 0.0, causal)
    c = aten._scaled_dot_product_cudnn_attention(q, k, v, None, True, 0.0, causal)
    out = out.contiguous()
    runs = {"flash": partial(aten._scaled_dot_product_flash_attention_backward, g, q, k, v, out, L, *f[:4], 0.0, causal, *f[4:6]),
            "cudnn": partial(aten._scaled_dot_product_cudnn_attention_backward, g, q, k, v, c[0], c[1], c[6], c[7], None, *c[2:6], 0.0, causal)}
    wanted = runs["flash"]()
    grads = [torch.empty_like(q) for _ in range(3)]
    room = torch.empty(batch * heads * (n + 128) * (d + 2), device="cuda")
    shape = (ctypes.c_int * 6)(batch, heads, heads, n, n, d)
    for name, library, rung, block in kernels:
        run = partial(launch, library.tilewalk_backward, rung, (q, k, v, out, g, L.contiguous(), *grads, room), shape, int(causal), BF16, *block)
        for x in grads:
            x.fill_(float("nan"))
        if run():
            print(f"# {name} does not take d = {d}")
            continue
        torch.cuda.synchronize()
        if all([is_right(f"{name}'s {what}, {batch} x {heads}, N = {n}, d = {d}, causal {causal}", x, y) for what, x, y in zip(("dQ", "dK", "dV"), grads, wanted)]):
            runs[name] = run
    return runs


# batch, heads, N: short and long, few CTAs, ragged
REGIMES = {"forward": [
    (16, 16, 512), (4, 16, 512), (3, 24, 768), (8, 32, 1024), (4, 12, 1024), (16, 12, 1536), (2, 24, 1536), (8, 16, 2048), (2, 16, 2048),
    (4, 20, 2048), (2, 16, 3072), (1, 20, 3000), (4, 16, 4096), (3, 7, 5000), (1, 12, 6144), (2, 7, 7168), (2, 16, 8192), (1, 12, 12000),
    (1, 1, 1024), (1, 4, 1024), (1, 8, 1024), (1, 2, 2048), (1, 4, 2048), (1, 6, 2048), (1, 8, 2048), (1, 1, 4096), (1, 2, 4096),
    (1, 3, 4096), (1, 4, 4096), (1, 1, 8192), (1, 2, 8192), (1, 5, 6144), (1, 1, 16384), (1, 3, 3000)], "backward": [
    (16, 16, 512), (4, 16, 512), (8, 24, 768), (16, 16, 1024), (4, 12, 1024), (4, 16, 1536), (8, 16, 2048), (4, 16, 2048), (1, 24, 3072),
    (2, 20, 3000), (4, 16, 4096), (2, 8, 4096), (3, 7, 5000), (1, 12, 6144), (2, 16, 8192), (1, 7, 12000), (1, 4, 16384),
    (1, 1, 2048), (1, 4, 2048), (1, 8, 1024), (1, 1, 4096), (1, 3, 4096), (1, 2, 8192)]}


def regimes(kernels):
    print("batch,heads,kv_heads,N_q,N_k,d,causal,backend,pass,us")
    for way, make in (("forward", forward_runs), ("backward", backward_runs)):
        mine = [k for k in kernels if (b"backward" in k[2]) == (way == "backward")]
        for batch, heads, n, d, causal in [(b, h, n, d, c) for d in (64, 128) for c in (False, True) for b, h, n in REGIMES[way]]:
            runs = make(mine, batch, heads, n, d, causal)
            for name, us in zip(runs, medians([*runs.values()])):
                print(f"{batch},{heads},{heads},{n},{n},{d},{int(causal)},{name},{way},{us:.2f}", flush=True)


PACKED = {"4x4096": [4096] * 4, "32x512": [512] * 32, "128x128": [128] * 128, "ragged": [3001, 777, 5123, 99, 1500, 2048, 1, 3835],
          "8x2048": [2048] * 8, "16x1024": [1024] * 16, "64x256": [256] * 64, "skew": [12288] + [1024] * 4,
          "mixed": [4096, 2048, 2048] + [512] * 8 + [100] * 20, "2x8192": [8192] * 2, "steps": [256 * k for k in range(1, 12)],
          "odd": [333 + 111 * (7 * k % 13) for k in range(16)], "onelong": [16384] + [64] * 63}
WINDOWS = [(16384, 1024, 0), (16384, 4096, 0), (8192, 512, 512), (16384, 512, 0), (8192, 1000, 0), (8192, 2048, 0), (32768, 1024, 0),
           (16384, 256, 256), (4096, 512, 0), (16384, 8192, 0)]  # N, left, right


def flash(shape, ends, longest, causal, left=None, right=None):
    return partial(aten._flash_attention_forward, *tensors(3, *shape), ends, ends, longest, longest, 0.0, causal, False, window_size_left=left, window_size_right=right)


def ends_of(lengths):
    return torch.tensor([sum(lengths[:i]) for i in range(len(lengths) + 1)], device="cuda", dtype=torch.int32)


def packed(_):
    print("set,lengths,heads,d,causal,left,right,us")
    for d in (128, 64):
        for heads in (16, 5):
            for causal in (False, True):
                runs = [flash((sum(lengths), heads, d), ends_of(lengths), max(lengths), causal) for lengths in PACKED.values()]
                for (name, lengths), us in zip(PACKED.items(), medians(runs)):
                    print(f"{name},{' '.join(map(str, lengths))},{heads},{d},{int(causal)},,,{us:.2f}", flush=True)
        for heads in (16, 4):
            runs = [flash((1, n, heads, d), None, n, right == 0, left, right) for n, left, right in WINDOWS]
            for (n, left, right), us in zip(WINDOWS, medians(runs)):
                print(f"window,{n},{heads},{d},{int(right == 0)},{left},{right},{us:.2f}", flush=True)


MASKS = {"none": None,
         "causal": lambda b, h, q, k: q >= k,
         "document1000": lambda b, h, q, k: q // 1000 == k // 1000,
         "documentcausal1000": lambda b, h, q, k: (q // 1000 == k // 1000) & (q >= k),
         "sliding512": lambda b, h, q, k: (q >= k) & (q - k <= 512),
         "sink64sliding512": lambda b, h, q, k: (q >= k) & ((q - k <= 512) | (k < 64)),
         "prefix512": lambda b, h, q, k: (q >= k) | (k < 512),
         "strided4": lambda b, h, q, k: (q // 128 - k // 128) % 4 == 0}


def flex(_):
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention
    torch._dynamo.config.cache_size_limit = 256
    print("mask,N,heads,d,sparsity,us", flush=True)
    compiled = torch.compile(flex_attention, dynamic=False)
    for n in (4096, 16384, 2048, 8192):
        for name, mask in MASKS.items():
            q, k, v = tensors(3, 1, 16, n, 128)
            seen = create_block_mask(mask, None, None, n, n, device="cuda") if mask else None
            us = medians([lambda: compiled(q, k, v, block_mask=seen)])[0]
            print(f"{name},{n},16,128,{seen.sparsity() if seen else 0:.2f},{us:.2f}", flush=True)


def program_rows(rungs, batch, heads, n, d, causal, repeats):
    command = [os.environ.get("PROGRAM", "build/tilewalk-kernels"), "--time", "--csv", "--rung", rungs, "--repeats", str(repeats),
               "-N", str(n), "-d", str(d), "--batch", str(batch), "--heads", str(heads)] + ["--causal"] * causal
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    return [(row["rung"], row["block_q"], row["block_k"], float(row["warm_us"]), float(row["cold_us"]))
            for row in csv.DictReader(io.StringIO(done.stdout)) if not row["note"]]


def backend_row(name, backend, q, k, v, causal):
    flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    with sdpa_kernel(backend):
        run = lambda: F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        warm, cold = (sorted(events_us([run] * n, 0, before))[n // 2] for n, before in ((20, None), (11, flush.zero_)) if events_us([run] * 3))
        return name, "", "", warm, cold


def time(_):
    print("kernel,dtype,batch,heads,seq_len,head_dim,causal,block_q,block_k,warm_us,cold_us,warm_tflops,cold_tflops,warm_ratio_to_fa2")
    for d in (128, 64):
        for n in sizes("512,1024,2048,4096,8192,16384"):
            for causal in (False, True):
                shape = 16384 // n, 2048 // d, n, d
                rows = program_rows("fa2_tensor,fa2_async,fa2_wgmma,fa3_overlap", *shape, causal, 20)
                of = tensors(3, *shape)
                rows += [backend_row(name, backend, *of, causal) for name, backend in (
                    ("pytorch_fa2", SDPBackend.FLASH_ATTENTION), ("pytorch_mem_efficient", SDPBackend.EFFICIENT_ATTENTION), ("pytorch_cudnn", SDPBackend.CUDNN_ATTENTION))]
                torch.cuda.empty_cache()
                if n in sizes("1024,4096", "SLOW_SIZES"):  # below 10 TFLOP/s: fewer shapes and repeats
                    rows += program_rows("standard_naive,standard_tiled,fa1,fa2_scalar,fa2_causal", *shape, causal, 3)
                rows += program_rows("eager_cublas", *shape, causal, 5)
                fa2, mflop = next(warm for name, _, _, warm, _ in rows if name == "pytorch_fa2"), 4e-6 * n * n * d * shape[0] * shape[1] / (1 + causal)
                for name, b_r, b_c, warm, cold in rows:
                    print(f"{name},fp16,{shape[0]},{shape[1]},{n},{d},{int(causal)},{b_r},{b_c},{warm:.1f},{cold:.1f},{mflop / warm:.2f},{mflop / cold:.2f},{fa2 / warm:.3f}", flush=True)


# batch, heads, KV heads, keys
DECODES = [
    (2, 8, 1, 1000), (6, 128, 16, 1000), (3, 256, 16, 1000), (3, 4, 4, 6000), (12, 14, 2, 1000), (24, 2, 1, 12288), (1, 32, 8, 32768),
    (4, 32, 8, 8192), (12, 8, 4, 6000), (8, 1, 1, 4096), (1, 32, 16, 512), (4, 8, 8, 512), (4, 1, 1, 6000), (6, 32, 16, 2000),
    (8, 128, 16, 2048), (4, 16, 4, 12000), (32, 2, 2, 1024), (6, 32, 4, 4096), (3, 8, 1, 12000), (12, 16, 2, 300), (2, 4, 2, 777),
    (2, 2, 1, 8192), (3, 32, 4, 3000), (2, 64, 16, 8192), (1, 4, 4, 12000), (16, 2, 1, 1000)]


def decode(_):
    print("batch,heads,kv_heads,seq_k,head_dim,kernel,cold_us,warm_us")
    other = torch.zeros(64 << 20, device="cuda")
    for d in (64, 128):
        for batch, heads, kv_heads, n in DECODES:
            q, (k, v) = tensors(1, batch, heads, 1, d)[0], tensors(2, batch, kv_heads, n, d)
            for name, backend in (("fa2-sm90", SDPBackend.FLASH_ATTENTION), ("cudnn-sm90", SDPBackend.CUDNN_ATTENTION)):
                with sdpa_kernel(backend):
                    run = partial(F.scaled_dot_product_attention, q, k, v, enable_gqa=heads != kv_heads)
                    run(), run()
                    cold, warm = (sorted(events_us([run] * 15, 6_000_000, before))[7] for before in (other.sum, None))
                print(f"{batch},{heads},{kv_heads},{n},{d},{name},{cold:.2f},{warm:.2f}", flush=True)


STAGES = {"time": (time, ""), "packed": (packed, ""), "flex": (flex, ""), "decode": (decode, ""),
          "regimes": (regimes, "fa2_wgmma fa3_overlap fa2_backward fa2_backward_twice fa3_backward")}
STAGE = (sys.argv + [""])[1]
if STAGE not in STAGES:
    sys.exit(__doc__)


def kernel(text):
    name, path, rung, block = (text.replace("=", ":").split(":") + ["0x0"])[:4]
    return name, ctypes.CDLL(os.path.abspath(path)), rung.encode(), [int(b) for b in block.split("x")]


STAGES[STAGE][0]([kernel(k) for k in sys.argv[2:] or [f"{r}={os.environ.get('LIBRARY', 'build/libladder.so')}:{r}" for r in STAGES[STAGE][1].split()]])
if WRONG:
    sys.exit(f"times.py: {WRONG[0]}")
