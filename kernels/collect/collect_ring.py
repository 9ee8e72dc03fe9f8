"""Times ring attention on the GPUs of one host: a block, an exchange, and the ring of both, and prints CSV.

    python3 kernels/collect/collect_ring.py [P ...]    default: 2

Contiguous shares: rank r holds tokens r N to (r + 1) N, fp16. A block is PyTorch's FlashAttention on a rank's own share, causal where
the row is. An exchange sends K and V (one buffer) to the next rank and receives the previous rank's: NCCL, one send and one receive in
a batch. The ring runs P blocks; before each but the last it issues the exchange for the next one; under a causal mask a rank leaves out
the blocks after its own. Blocks' outputs are not merged. Milliseconds between two CUDA events, after a barrier, median of REPEATS.
"""
import os, socket, statistics, sys
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

REPEATS = int(os.environ.get("REPEATS", "15"))
SHAPES = [tuple(int(n) for n in s.split("x")) for s in os.environ.get(
    "SHAPES", "2048x16x128,3072x16x128,8192x16x128,12288x16x128,32768x8x128,4096x8x64,24576x4x128").split(",")] # N a rank, heads, d


def attend(q, kv, causal):
    return torch.ops.aten._scaled_dot_product_flash_attention(q, kv[0], kv[1], 0.0, causal)[0]


def exchange(kv, into, rank, P):
    return dist.batch_isend_irecv([dist.P2POp(dist.isend, kv, (rank + 1) % P), dist.P2POp(dist.irecv, into, (rank - 1) % P)])


def ring(q, kv, spare, rank, P, causal):
    for step in range(P):
        waits = exchange(kv, spare, rank, P) if step < P - 1 else []
        if not causal or step <= rank:
            attend(q, kv, causal and step == 0)
        for wait in waits:
            wait.wait()
        kv, spare = spare, kv


def median_ms(run):
    times = []
    for k in range(REPEATS + 5):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        dist.barrier()
        torch.cuda.synchronize()
        start.record()
        run()
        end.record()
        torch.cuda.synchronize()
        if k >= 5:
            times.append(start.elapsed_time(end))
    return statistics.median(times)


def rank_main(rank, P, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=P, device_id=torch.device("cuda", rank))
    torch.manual_seed(rank)
    for N, heads, d in SHAPES:
        for causal in (False, True):
            q = torch.randn(1, heads, N, d, device="cuda", dtype=torch.float16)
            kv = torch.randn(2, 1, heads, N, d, device="cuda", dtype=torch.float16)
            spare = torch.empty_like(kv)
            exchange(kv, spare, rank, P)[-1].wait()
            sums = [torch.empty(1, device="cuda") for _ in range(P)]
            dist.all_gather(sums, kv[0].float().sum().view(1))
            if sums[(rank - 1) % P].item() != spare[0].float().sum().item():
                raise SystemExit(f"rank {rank}: what came is not what was sent")
            def both():
                for wait in exchange(kv, spare, rank, P):
                    wait.wait()
            ms = [median_ms(lambda: attend(q, kv, causal)), median_ms(both), median_ms(lambda: ring(q, kv, spare, rank, P, causal))]
            rows = [None] * P
            dist.all_gather_object(rows, f"{P},{N},{heads},{d},{int(causal)},{rank},{ms[0]:.4f},{ms[1]:.4f},{ms[2]:.4f},{kv.numel() * 2}")
            if rank == 0:
                print("\n".join(rows), flush=True)
    dist.destroy_process_group()


def main():
    print(f"# {torch.cuda.device_count()} GPUs, PyTorch {torch.__version__}, NCCL {'.'.join(map(str, torch.cuda.nccl.version()))}; medians of {REPEATS}, milliseconds")
    print("ranks,N_per_rank,heads,d,causal,rank,block_ms,exchange_ms,ring_ms,kv_bytes", flush=True)
    for P in [int(p) for p in sys.argv[1:]] or [2]:
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        mp.spawn(rank_main, args=(P, port), nprocs=P)


if __name__ == "__main__":
    main()
