"""Times decode and the backward pass beside PyTorch's kernels, launch by launch in one process and in random order, and prints CSV.

    python3 kernels/collect/collect_more.py decode|backward [NAME=LIBRARY[:RUNG[:B_rxB_c]] ...]    default: build/libladder.so

decode: one query, 32 heads on 8, 32K keys, d = 128, batch 1 to 16, beside FlashAttention-2's split kernel, cuDNN, and a copy on the
device of as many bytes as K and V have, half read and half written: `share_of_copy` is bytes of K and V over that bandwidth. Several
sets of K and V are used in turn, so that none is in L2.
(For decode B_rxB_c is SPLITSx0.)
backward: batch x N = 16384, heads x d = 2048, beside FlashAttention-2's backward kernels and cuDNN's, called through their own
operators. FLOPs: 10 N^2 d per head, halved when causal.
Launches wait in one queue behind a sleep on the GPU, so that the cost of a launch is hidden, and come in random order. Each row has
the median of REPEATS launches (a launch: all kernels of one call). Outputs are compared before they are timed.
"""
import ctypes, os, sys
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from launches import error_of, median_us, pointers

REPEATS = int(os.environ.get("REPEATS", "30"))
DTYPE = getattr(torch, os.environ.get("DTYPE", "float16"))
BF16, LIMIT = int(DTYPE == torch.bfloat16), 4e-3 if DTYPE == torch.float16 else 3e-2
SMS = torch.cuda.get_device_properties(0).multi_processor_count


WRONG = []  # these are not timed


def is_right(name, got, wanted):
    error = error_of(got, wanted)
    if not error < LIMIT:
        WRONG.append(f"{name} is off by {error:.2g}")
        print(f"# {WRONG[-1]}", flush=True)
    return error < LIMIT


def decode(kernels):
    heads, kv_heads, n, d = 32, 8, 32768, 128
    print("kernel,dtype,batch,heads,kv_heads,seq_k,head_dim,splits,us,gigabytes_per_s,share_of_copy,ratio_to_fa2")
    for batch in (1, 2, 4, 16):
        sets = max(2, 8 // batch)
        q = torch.randn(batch, heads, 1, d, device="cuda", dtype=DTYPE)
        k, v = ([torch.randn(batch, kv_heads, n, d, device="cuda", dtype=DTYPE) for _ in range(sets)] for _ in range(2))
        turn = [0]

        def next_set():
            turn[0] = (turn[0] + 1) % sets
            return k[turn[0]], v[turn[0]]

        def backend(which):
            def run():
                K, V = next_set()
                with sdpa_kernel(which):
                    return F.scaled_dot_product_attention(q, K, V, enable_gqa=True)
            return run

        copy_from = [torch.empty(batch * kv_heads * n * d, device="cuda", dtype=DTYPE) for _ in range(sets)]
        copy_to = torch.empty_like(copy_from[0])

        def copy():
            turn[0] = (turn[0] + 1) % sets
            copy_to.copy_(copy_from[turn[0]])
        runs = [("copy", "", copy), ("pytorch_fa2", "", backend(SDPBackend.FLASH_ATTENTION))]
        try:
            backend(SDPBackend.CUDNN_ATTENTION)()
            runs.append(("pytorch_cudnn", "", backend(SDPBackend.CUDNN_ATTENTION)))
        except RuntimeError as error:
            print(f"# cuDNN: {error}".split("\n")[0])
        K, V = k[0], v[0]
        with sdpa_kernel(SDPBackend.MATH):
            wanted = F.scaled_dot_product_attention(q.float(), K.float(), V.float(), enable_gqa=True) if batch < 4 else None
        parts = torch.empty(128 * batch * heads * (d + 1) + 64, device="cuda")
        o = torch.empty_like(q)
        shape = (ctypes.c_int * 6)(batch, heads, kv_heads, 1, n, d)
        for name, library, rung, (n_splits, _) in kernels:
            splits = ctypes.c_int(n_splits)

            def run(K=None, V=None, library=library, rung=rung, splits=splits):
                K, V = next_set() if K is None else (K, V)
                return library.tilewalk_decode(rung, *pointers(q, K, V, o, parts), shape, 0, BF16, SMS, ctypes.byref(splits))
            o.fill_(float("nan"))
            if run(K, V):
                sys.exit(f"collect_more.py: {name} did not start")
            torch.cuda.synchronize()
            if wanted is None or is_right(name, o, wanted):
                runs.append((name, splits, run))
        us = median_us([run for _, _, run in runs], REPEATS)
        moved = 2 * 2 * batch * kv_heads * n * d
        for (name, splits, _), t in zip(runs, us):
            print(f"{name},{'bf16' if BF16 else 'fp16'},{batch},{heads},{kv_heads},{n},{d},{splits.value if splits else ''},{t:.2f},"
                  f"{moved / t / 1e3:.0f},{us[0] / t:.3f},{us[1] / t:.3f}", flush=True)


def backward(kernels):
    sizes = [int(n) for n in os.environ.get("SIZES", "2048,8192").split(",")]
    print("kernel,dtype,batch,heads,seq_len,head_dim,causal,us,tflops,ratio_to_fa2,ratio_to_cudnn")
    for d in (128, 64):
        for causal in (False, True):
            for n in sizes:
                batch, heads = max(1, 16384 // n), 2048 // d
                q, k, v, g = (torch.randn(batch, heads, n, d, device="cuda", dtype=DTYPE) for _ in range(4))
                out, L, cum_q, cum_k, max_q, max_k, seed, offset, _ = torch.ops.aten._scaled_dot_product_flash_attention(q, k, v, 0.0, causal)
                out = out.contiguous()
                c = torch.ops.aten._scaled_dot_product_cudnn_attention(q, k, v, None, True, 0.0, causal)

                def flash():
                    return torch.ops.aten._scaled_dot_product_flash_attention_backward(g, q, k, v, out, L, cum_q, cum_k, max_q, max_k, 0.0, causal, seed, offset)

                def cudnn():
                    return torch.ops.aten._scaled_dot_product_cudnn_attention_backward(g, q, k, v, c[0], c[1], c[6], c[7], None, c[2], c[3], c[4], c[5], 0.0, causal)
                runs = [("pytorch_fa2", flash), ("pytorch_cudnn", cudnn)]
                wanted = flash()
                grads = [torch.empty_like(q) for _ in range(3)]
                room = torch.empty(batch * heads * (n + 128) * (d + 2), device="cuda")
                shape = (ctypes.c_int * 6)(batch, heads, heads, n, n, d)
                L = L.contiguous()
                for name, library, rung, (b_r, b_c) in kernels:
                    def run(library=library, rung=rung, b_r=b_r, b_c=b_c):
                        return library.tilewalk_backward(rung, *pointers(q, k, v, out, g, L, *grads, room), shape, int(causal), BF16, b_r, b_c)
                    for x in grads:
                        x.fill_(float("nan"))
                    if run():
                        print(f"# {name} does not take d = {d}")
                        continue
                    torch.cuda.synchronize()
                    if all([is_right(f"{name}'s {what} at N = {n}, d = {d}, causal {causal}", x, y)
                            for what, x, y in zip(("dQ", "dK", "dV"), grads, wanted)]):
                        runs.append((name, run))
                us = median_us([run for _, run in runs], REPEATS)
                flops = 10.0 * n * n * d * batch * heads / (2 if causal else 1)
                for (name, _), t in zip(runs, us):
                    print(f"{name},{'bf16' if BF16 else 'fp16'},{batch},{heads},{n},{d},{int(causal)},{t:.1f},{flops / t / 1e6:.1f},"
                          f"{us[0] / t:.3f},{us[1] / t:.3f}", flush=True)
                del wanted, grads, room


def main():
    what = sys.argv[1] if len(sys.argv) > 1 else ""
    if what not in ("decode", "backward"):
        sys.exit(__doc__)
    default = ["fa2_decode"] if what == "decode" else ["fa2_backward", "fa2_backward_twice", "fa3_backward"]
    kernels = []
    for text in sys.argv[2:] or [f"{r}=build/libladder.so:{r}" for r in default]:
        name, rest = text.split("=", 1)
        path, rung, block = (rest.split(":") + [default[0], "0x0"][len(rest.split(":")) - 1:])[:3]
        kernels.append((name, ctypes.CDLL(os.path.abspath(path)), rung.encode(), [int(b) for b in block.split("x")]))
    decode(kernels) if what == "decode" else backward(kernels)
    if WRONG:
        sys.exit(f"collect_more.py: {WRONG[0]}")


main()
