"""Times Hopper's rungs beside PyTorch's cuDNN attention, launch by launch in one process and in random order, and prints CSV.

    python3 kernels/collect/collect_beside.py [NAME=LIBRARY[:RUNG[:B_rxB_c]] ...]    default: rungs 7 to 9 of build/libladder.so

batch x N = 16384, heads x d = 2048, fp16; N = 1K, 4K, 16K, d = 64 and 128, causal or not: twelve shapes. FLOPs: 4 N^2 d per head,
halved when causal. Launches of all kernels wait in one queue behind a sleep on the GPU, so that the cost of a launch is hidden, and
come in random order, so that the power state is the same for all. Each row has the median of REPEATS launches and its ratio to cuDNN.
Every output is compared with cuDNN's before it is timed.
"""
import ctypes, os, sys
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from launches import error_of, median_us, pointers

REPEATS = int(os.environ.get("REPEATS", "30"))
SIZES = [int(n) for n in os.environ.get("SIZES", "1024,4096,16384").split(",")]
DTYPE = getattr(torch, os.environ.get("DTYPE", "float16"))
DEFAULT = ["fa2_async=build/libladder.so:fa2_async", "fa2_wgmma=build/libladder.so:fa2_wgmma", "fa3_overlap=build/libladder.so:fa3_overlap"]


def kernel(text):
    name, rest = text.split("=", 1)
    path, rung, block = (rest.split(":") + ["fa3_overlap", "0x0"][len(rest.split(":")) - 1:])[:3]
    return name, ctypes.CDLL(os.path.abspath(path)).tilewalk_attention, rung.encode(), [int(b) for b in block.split("x")]


def runs(kernels, q, k, v, causal):
    batch, heads, n, d = q.shape
    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        wanted = F.scaled_dot_product_attention(q, k, v, is_causal=causal).float()
    def cudnn():
        F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    yield "cudnn", cudnn
    for name, function, rung, (b_r, b_c) in kernels:
        o = torch.full_like(q, float("nan"))
        def run(function=function, rung=rung, o=o, b_r=b_r, b_c=b_c):
            p = pointers(q, k, v, o)
            return function(rung, *p, batch, heads, heads, n, n, d, int(causal), int(q.dtype == torch.bfloat16), b_r, b_c)
        if run():
            continue  # does not take this shape
        torch.cuda.synchronize()
        error = error_of(o, wanted)
        if not error < (3e-3 if q.dtype == torch.float16 else 2e-2):
            sys.exit(f"collect_beside.py: {name} is off by {error:.2g} at N = {n}, d = {d}, causal {causal}")
        yield name, run


def main():
    kernels = [kernel(text) for text in sys.argv[1:] or DEFAULT]
    print("kernel,dtype,batch,heads,seq_len,head_dim,causal,us,tflops,ratio_to_cudnn")
    for d in (128, 64):
        for causal in (False, True):
            for n in SIZES:
                batch, heads = 16384 // n, 2048 // d
                q, k, v = (torch.randn(batch, heads, n, d, device="cuda", dtype=DTYPE) for _ in range(3))
                flops = 4.0 * n * n * d * batch * heads / (2 if causal else 1)
                with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
                    names, functions = zip(*runs(kernels, q, k, v, causal))
                    us = median_us(functions, REPEATS, 60_000)
                for name, t in zip(names, us):
                    print(f"{name},{'bf16' if DTYPE == torch.bfloat16 else 'fp16'},{batch},{heads},{n},{d},{int(causal)},"
                          f"{t:.1f},{flops / t / 1e6:.1f},{us[0] / t:.3f}", flush=True)


main()
