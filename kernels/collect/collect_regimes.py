"""Times kernels at shapes of many regimes, launch by launch in one process and in random order, and prints CSV.

    python3 kernels/collect/collect_regimes.py forward|backward|packed|flex [LIBRARY]     default: build/libladder.so

forward: rungs 8 and 9 beside FlashAttention-2 and cuDNN. backward: rung 11's three forms beside the same (all kernels of a call).
packed: FlashAttention-2 over sequences of unequal lengths, one after the other, and over windows. flex: FlexAttention, by its mask.
fp16. Launches wait in one queue behind a sleep on the GPU, so that the cost of a launch is hidden, and come in random order. Each row
has the median of REPEATS launches.
"""
import ctypes, os, sys
import torch
from launches import error_of, median_us, pointers

REPEATS = int(os.environ.get("REPEATS", "15"))
aten = torch.ops.aten

# batch, heads, N, d, causal: short and long, few CTAs, ragged.
FORWARD = [(b, h, n, d, c) for d in (64, 128) for c in (0, 1) for b, h, n in (
    (16, 16, 512), (4, 16, 512), (3, 24, 768), (8, 32, 1024), (4, 12, 1024), (16, 12, 1536), (2, 24, 1536), (8, 16, 2048), (2, 16, 2048),
    (4, 20, 2048), (2, 16, 3072), (1, 20, 3000), (4, 16, 4096), (3, 7, 5000), (1, 12, 6144), (2, 7, 7168), (2, 16, 8192), (1, 12, 12000),
    (1, 1, 1024), (1, 4, 1024), (1, 8, 1024), (1, 2, 2048), (1, 4, 2048), (1, 6, 2048), (1, 8, 2048), (1, 1, 4096), (1, 2, 4096),
    (1, 3, 4096), (1, 4, 4096), (1, 1, 8192), (1, 2, 8192), (1, 5, 6144), (1, 1, 16384), (1, 3, 3000))]
BACKWARD = [(b, h, n, d, c) for d in (64, 128) for c in (0, 1) for b, h, n in (
    (16, 16, 512), (4, 16, 512), (8, 24, 768), (16, 16, 1024), (4, 12, 1024), (4, 16, 1536), (8, 16, 2048), (4, 16, 2048), (1, 24, 3072),
    (2, 20, 3000), (4, 16, 4096), (2, 8, 4096), (3, 7, 5000), (1, 12, 6144), (2, 16, 8192), (1, 7, 12000), (1, 4, 16384),
    (1, 1, 2048), (1, 4, 2048), (1, 8, 1024), (1, 1, 4096), (1, 3, 4096), (1, 2, 8192))]
PACKED = {"4x4096": [4096] * 4, "32x512": [512] * 32, "128x128": [128] * 128, "ragged": [3001, 777, 5123, 99, 1500, 2048, 1, 3835],
          "8x2048": [2048] * 8, "16x1024": [1024] * 16, "64x256": [256] * 64, "skew": [12288] + [1024] * 4,
          "mixed": [4096, 2048, 2048] + [512] * 8 + [100] * 20, "2x8192": [8192] * 2, "steps": [256 * k for k in range(1, 12)],
          "odd": [333 + 111 * (7 * k % 13) for k in range(16)], "onelong": [16384] + [64] * 63}
# N, left, right
WINDOWS = [(16384, 1024, 0), (16384, 4096, 0), (8192, 512, 512), (16384, 512, 0), (8192, 1000, 0), (8192, 2048, 0), (32768, 1024, 0),
           (16384, 256, 256), (4096, 512, 0), (16384, 8192, 0)]


def is_near(name, got, wanted):
    error = error_of(got, wanted)
    if not error < 4e-3:
        print(f"# {name} is off by {error:.2g}", flush=True)
    return error < 4e-3


def forward(ladder):
    print("batch,heads,kv_heads,N_q,N_k,d,causal,backend,pass,us")
    for batch, heads, n, d, causal in FORWARD:
        q, k, v = (torch.randn(batch, heads, n, d, device="cuda", dtype=torch.float16) for _ in range(3))
        runs = [("flash", lambda: aten._scaled_dot_product_flash_attention(q, k, v, 0.0, bool(causal))),
                ("cudnn", lambda: aten._scaled_dot_product_cudnn_attention(q, k, v, None, False, 0.0, bool(causal)))]
        wanted = runs[0][1]()[0]
        for rung in ("fa2_wgmma", "fa3_overlap"):
            o = torch.full_like(q, float("nan"))
            def run(rung=rung, o=o):
                return ladder.tilewalk_attention(rung.encode(), *pointers(q, k, v, o), batch, heads, heads, n, n, d, causal, 0, 0, 0)
            if not run() and is_near(f"{rung}, {batch} x {heads}, N = {n}, d = {d}, causal {causal}", o, wanted):
                runs.append((rung, run))
        for (name, _), us in zip(runs, median_us([run for _, run in runs], REPEATS)):
            print(f"{batch},{heads},{heads},{n},{n},{d},{causal},{name},forward,{us:.2f}", flush=True)


def backward(ladder):
    print("batch,heads,kv_heads,N_q,N_k,d,causal,backend,pass,us")
    for batch, heads, n, d, causal in BACKWARD:
        q, k, v, g = (torch.randn(batch, heads, n, d, device="cuda", dtype=torch.float16) for _ in range(4))
        f = aten._scaled_dot_product_flash_attention(q, k, v, 0.0, bool(causal))
        out, L, seed, offset = f[0].contiguous(), f[1], f[6], f[7]
        c = aten._scaled_dot_product_cudnn_attention(q, k, v, None, True, 0.0, bool(causal))
        runs = [("flash", lambda: aten._scaled_dot_product_flash_attention_backward(g, q, k, v, out, L, f[2], f[3], f[4], f[5], 0.0, bool(causal), seed, offset)),
                ("cudnn", lambda: aten._scaled_dot_product_cudnn_attention_backward(g, q, k, v, c[0], c[1], c[6], c[7], None, c[2], c[3], c[4], c[5], 0.0, bool(causal)))]
        wanted = runs[0][1]()
        grads = [torch.empty_like(q) for _ in range(3)]
        room = torch.empty(batch * heads * (n + 128) * (d + 2), device="cuda")
        shape = (ctypes.c_int * 6)(batch, heads, heads, n, n, d)
        L_dense = L.contiguous()
        for rung in ("fa2_backward", "fa2_backward_twice", "fa3_backward"):
            def run(rung=rung):
                return ladder.tilewalk_backward(rung.encode(), *pointers(q, k, v, out, g, L_dense, *grads, room), shape, causal, 0, 0, 0)
            for x in grads:
                x.fill_(float("nan"))
            if run():
                continue
            torch.cuda.synchronize()
            if all([is_near(f"{rung}'s {what}, {batch} x {heads}, N = {n}, d = {d}, causal {causal}", x, y)
                    for what, x, y in zip(("dQ", "dK", "dV"), grads, wanted)]):
                runs.append((rung, run))
        for (name, _), us in zip(runs, median_us([run for _, run in runs], REPEATS)):
            print(f"{batch},{heads},{heads},{n},{n},{d},{causal},{name},backward,{us:.2f}", flush=True)


def packed_run(lengths, heads, d, causal, left=None, right=None):
    total = sum(lengths)
    q, k, v = (torch.randn(total, heads, d, device="cuda", dtype=torch.float16) for _ in range(3))
    ends = torch.tensor([0] + [sum(lengths[:i + 1]) for i in range(len(lengths))], device="cuda", dtype=torch.int32)
    return lambda: aten._flash_attention_forward(q, k, v, ends, ends, max(lengths), max(lengths), 0.0, causal, False,
                                                 window_size_left=left, window_size_right=right)


def window_run(n, heads, d, left, right):
    q, k, v = (torch.randn(1, n, heads, d, device="cuda", dtype=torch.float16) for _ in range(3))
    return lambda: aten._flash_attention_forward(q, k, v, None, None, n, n, 0.0, right == 0, False,
                                                 window_size_left=left, window_size_right=right)


def packed(_):
    print("set,lengths,heads,d,causal,left,right,us")
    for d in (128, 64):
        for heads in (16, 5):
            for causal in (False, True):
                runs = [packed_run(lengths, heads, d, causal) for lengths in PACKED.values()]
                for (name, lengths), us in zip(PACKED.items(), median_us(runs, REPEATS)):
                    print(f"{name},{' '.join(map(str, lengths))},{heads},{d},{int(causal)},,,{us:.2f}", flush=True)
        for heads in (16, 4):
            for (n, left, right), us in zip(WINDOWS, median_us([window_run(n, heads, d, left, right) for n, left, right in WINDOWS], REPEATS)):
                print(f"window,{n},{heads},{d},{int(right == 0)},{left},{right},{us:.2f}", flush=True)


MASKS = {"causal": lambda b, h, q, k: q >= k,
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
        for name in [None] + list(MASKS):
            q, k, v = (torch.randn(1, 16, n, 128, device="cuda", dtype=torch.float16) for _ in range(3))
            seen = create_block_mask(MASKS[name], None, None, n, n, device="cuda") if name else None
            us = median_us([lambda: compiled(q, k, v, block_mask=seen)], REPEATS)[0]
            print(f"{name or 'none'},{n},16,128,{seen.sparsity() if seen else 0:.2f},{us:.2f}", flush=True)


def main():
    stages = {"forward": forward, "backward": backward, "packed": packed, "flex": flex}
    if len(sys.argv) < 2 or sys.argv[1] not in stages:
        sys.exit(__doc__)
    library = os.path.abspath(sys.argv[2] if len(sys.argv) > 2 else "build/libladder.so")
    stages[sys.argv[1]](ctypes.CDLL(library) if sys.argv[1] in ("forward", "backward") else None)


main()
