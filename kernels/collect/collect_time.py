"""Times the ladder beside PyTorch's attention backends, shape by shape in one run, and prints CSV.

batch x N = 16384, heads x d = 2048, fp16, as in the FlashAttention papers. FLOPs: 4 N^2 d per head, halved when causal.
Medians of event timings; warm: one run after another; cold: after 256 MiB have been overwritten.
"""
import csv, io, os, subprocess, sys
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

PROGRAM = os.environ.get("PROGRAM", "build/tilewalk-kernels")
BACKENDS = [("pytorch_fa2", SDPBackend.FLASH_ATTENTION), ("pytorch_mem_efficient", SDPBackend.EFFICIENT_ATTENTION),
            ("pytorch_cudnn", SDPBackend.CUDNN_ATTENTION)]
SLOW = "standard_naive,standard_tiled,fa1,fa2_scalar,fa2_causal"  # below 10 TFLOP/s: fewer shapes and repeats
FAST = "fa2_tensor,fa2_async,fa2_wgmma,fa3_overlap"
SIZES = [int(n) for n in os.environ.get("SIZES", "512,1024,2048,4096,8192,16384").split(",")]
SLOW_SIZES = [int(n) for n in os.environ.get("SLOW_SIZES", "1024,4096").split(",")]

flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")


def median(values):
    return sorted(values)[len(values) // 2]


def time_us(function, repeats, cold):
    events = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(repeats)]
    for start, stop in events:
        if cold:
            flush.zero_()
        start.record()
        function()
        stop.record()
    torch.cuda.synchronize()
    return median([start.elapsed_time(stop) * 1e3 for start, stop in events])


def pytorch_rows(batch, heads, n, d, causal):
    q, k, v = (torch.randn(batch, heads, n, d, device="cuda", dtype=torch.float16) for _ in range(3))
    for name, backend in BACKENDS:
        with sdpa_kernel(backend):
            run = lambda: F.scaled_dot_product_attention(q, k, v, is_causal=bool(causal))
            time_us(run, 3, False)
            yield name, "", "", time_us(run, 20, False), time_us(run, 11, True)


def ladder_rows(rungs, batch, heads, n, d, causal, repeats):
    options = ["-N", str(n), "-d", str(d), "--batch", str(batch), "--heads", str(heads)] + (["--causal"] if causal else [])
    command = [PROGRAM, "--time", "--csv", "--rung", rungs, "--repeats", str(repeats)] + options
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.stderr.write(done.stderr)
    for row in csv.DictReader(io.StringIO(done.stdout)):
        if not row["note"]:
            yield row["rung"], row["block_q"], row["block_k"], float(row["warm_us"]), float(row["cold_us"])


print("kernel,dtype,batch,heads,seq_len,head_dim,causal,block_q,block_k,warm_us,cold_us,warm_tflops,cold_tflops,warm_ratio_to_fa2")
for d in (128, 64):
    for n in SIZES:
        for causal in (0, 1):
            batch, heads = 16384 // n, 2048 // d
            flops = 4.0 * n * n * d * batch * heads / (2 if causal else 1)
            rows = list(ladder_rows(FAST, batch, heads, n, d, causal, 20))
            rows += list(pytorch_rows(batch, heads, n, d, causal))
            torch.cuda.empty_cache()
            if n in SLOW_SIZES:
                rows += list(ladder_rows(SLOW, batch, heads, n, d, causal, 3))
            rows += list(ladder_rows("eager_cublas", batch, heads, n, d, causal, 5))
            fa2 = [warm for name, _, _, warm, _ in rows if name == "pytorch_fa2"][0]
            for name, b_r, b_c, warm, cold in rows:
                print(f"{name},fp16,{batch},{heads},{n},{d},{causal},{b_r},{b_c},{warm:.1f},{cold:.1f},"
                      f"{flops / warm / 1e6:.2f},{flops / cold / 1e6:.2f},{fa2 / warm:.3f}", flush=True)
