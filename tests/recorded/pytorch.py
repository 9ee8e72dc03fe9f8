#!/usr/bin/env python3
"""Writes pytorch.tsv beside it: attention and its gradients as PyTorch computes them in fp64, with autograd.

A line `case` has a shape in key=value; lines below it a tensor, its query head, and its numbers by rows. Inputs are `filled`, which
tests/unit/test_pytorch.c fills in the same way. Windows are FlashAttention's: so many keys before and after a query's own, which is
aligned to the bottom right corner, or with top_left to the top left; -1: without bound. PyTorch has no softcap and no sink by itself:
here they stand in its own operations.
"""
import math, os, torch

KEYS = "N_q N_k d d_v heads kv_heads causal top_left left right softcap sink gradient".split()
CASES = [  # what differs from the line of DEFAULT
    {}, {"causal": 1}, {"N_q": 5, "N_k": 12, "causal": 1}, {"N_q": 12, "N_k": 5, "causal": 1, "gradient": 0},
    {"N_q": 9, "N_k": 12, "causal": 1, "top_left": 1}, {"left": 3, "right": 0}, {"left": 2, "right": 4, "N_q": 12},
    {"causal": 1, "left": 2}, {"d_v": 2}, {"heads": 4, "kv_heads": 2, "gradient": 0, "causal": 1},
    {"heads": 3, "kv_heads": 1, "gradient": 0, "N_q": 1, "N_k": 20}, {"softcap": 1.5, "gradient": 0},
    {"softcap": 0.75, "causal": 1, "gradient": 0}, {"sink": 0.5, "gradient": 0},
    {"sink": -1.25, "causal": 1, "N_q": 12, "N_k": 5, "gradient": 0}, {"sink": 2.0, "softcap": 2.0, "left": 4, "gradient": 0},
    {"N_q": 33, "N_k": 40, "d": 8, "d_v": 8, "causal": 1}]
DEFAULT = dict(N_q=10, N_k=10, d=4, d_v=4, heads=1, kv_heads=1, causal=0, top_left=0, left=-1, right=-1, softcap=0.0, sink=None, gradient=1)


def filled(tensor, head, rows, cols):
    """Multiples of 1/32 from -2 to 2: no format rounds them."""
    number = lambda i, c: ((i * 37 + c * 101 + head * 59 + tensor * 17 + 1) * 48271 % 2147483647 % 129 - 64) / 32
    return torch.tensor([[number(i, c) for c in range(cols)] for i in range(rows)], dtype=torch.float64, requires_grad=True)


def seen(c):
    own = torch.arange(c["N_q"])[:, None] + (0 if c["top_left"] else c["N_k"] - c["N_q"])
    key = torch.arange(c["N_k"])[None, :]
    mask = torch.ones(c["N_q"], c["N_k"], dtype=torch.bool)
    if c["causal"]: mask &= key <= own
    if c["left"] >= 0: mask &= key >= own - c["left"]
    if c["right"] >= 0: mask &= key <= own + c["right"]
    return mask


def attend(c, Q, K, V):
    scores = Q @ K.T / math.sqrt(c["d"])
    if c["softcap"]: scores = c["softcap"] * torch.tanh(scores / c["softcap"])
    scores = scores.masked_fill(~seen(c), -math.inf)
    if c["sink"] is not None: scores = torch.cat([scores, torch.full((c["N_q"], 1), c["sink"], dtype=torch.float64)], 1)
    weights = torch.softmax(scores, 1)[:, : c["N_k"]]
    return torch.nan_to_num(weights, nan=0.0) @ V, torch.logsumexp(scores, 1, keepdim=True)


def write(file, name, head, values):
    print(name, head, " ".join("%.15g" % x for x in values.detach().flatten().tolist()), sep="\t", file=file)


with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "pytorch.tsv"), "w") as file:
    print("# PyTorch %s, CPU, fp64: tests/recorded/pytorch.py" % torch.__version__, file=file)
    for case in CASES:
        c = dict(DEFAULT, **case)
        print("case", *("%s=%s" % (k, c[k]) for k in KEYS if c[k] is not None), file=file)
        for head in range(c["heads"]):
            group = head * c["kv_heads"] // c["heads"]
            Q, K, V, dO = (filled(0, head, c["N_q"], c["d"]), filled(1, group, c["N_k"], c["d"]), filled(2, group, c["N_k"], c["d_v"]),
                           filled(3, head, c["N_q"], c["d_v"]))
            O, L = attend(c, Q, K, V)
            write(file, "O", head, O)
            write(file, "L", head, L)
            if c["gradient"]:
                (O * dO.detach()).sum().backward()
                for name, tensor in ("dQ", Q), ("dK", K), ("dV", V): write(file, name, head, tensor.grad)
