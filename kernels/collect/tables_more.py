"""The part of kernels/README.md about rungs 10 and 11, from assets/counters/h100: kernels/collect/tables.py puts it there."""

READ, WRITE = "l1tex__m_xbar2l1tex_read_bytes.sum", "l1tex__m_l1tex2xbar_write_bytes.sum"


def decode_rows(times):
    out = []
    for batch in sorted({int(t["batch"]) for t in times}):
        mine = {t["kernel"]: t for t in times if int(t["batch"]) == batch}
        ours = mine["fa2_decode"]
        out.append([batch, ours["splits"]] + [f"{float(mine[k]['us']):.1f}" for k in ("copy", "pytorch_fa2", "pytorch_cudnn", "fa2_decode")] +
                   [ours["share_of_copy"], ours["ratio_to_fa2"]])
    return out


def backward_rows(times):
    out = []
    for shape in dict.fromkeys((t["head_dim"], t["causal"], t["seq_len"]) for t in times):
        mine = {t["kernel"]: t for t in times if (t["head_dim"], t["causal"], t["seq_len"]) == shape}
        d, causal, n = shape
        out.append([f"d = {d}{', causal' if causal == '1' else ''}", f"{int(n):,}"] +
                   [f"{float(mine[k]['tflops']):.0f}" for k in ("pytorch_fa2", "pytorch_cudnn", "fa2_backward", "fa2_backward_twice", "fa3_backward")] +
                   [mine["fa2_backward"]["ratio_to_fa2"], mine["fa3_backward"]["ratio_to_fa2"], mine["fa3_backward"]["ratio_to_cudnn"]])
    return out


def section(load, table, mib):
    about, decode = load("h100/decode-time/first.csv")
    _, backward = load("h100/backward-time/first.csv")
    _, bf16 = load("h100/backward-bf16/first.csv")
    _, counters = load("h100/more/first.csv")
    _, trials = load("h100/trials/first.csv")
    _, checks = load("h100/more-verify/first.csv")
    _, hopper_counters = load("h100/hopper-more/first.csv")
    _, hopper_checks = load("h100/hopper-more-verify/first.csv")
    counters, checks = counters + hopper_counters, checks + hopper_checks
    text = ["## Decode and the backward pass", "", f"On an {about['gpu']}, {about['date']}, launch by launch beside PyTorch's kernels in one process "
            "(`kernels/collect/collect_more.py`).", "", "One query, 32 heads on 8, 32,768 keys, d = 128, fp16, microseconds; copy: a copy of as many bytes as "
            "K and V have, half read, half written.", ""]
    text += table(["batch", "splits", "copy", "FlashAttention-2", "cuDNN", "`fa2_decode`", "share of copy", "x FlashAttention-2"], decode_rows(decode))
    text += ["Backward, batch x N = 16,384, heads x d = 2048, fp16, TFLOP/s (10 N^2 d per head, halved under the mask).", ""]
    text += table(["shape", "N", "FlashAttention-2", "cuDNN", "`fa2_backward`", "`fa2_backward_twice`", "`fa3_backward`", "`fa2_backward` x FlashAttention-2",
                   "`fa3_backward` x FlashAttention-2", "x cuDNN"], backward_rows(backward))
    ratios = [float(t["ratio_to_cudnn"]) for t in bf16 if t["kernel"] == "fa3_backward"]
    text += [f"In bf16 `fa3_backward` is {min(ratios):.2f} to {max(ratios):.2f} times as fast as cuDNN on these shapes.", ""]
    right = {m: [sum(c["good"] == "1" for c in checks if c["mode"] == m), sum(c["mode"] == m for c in checks)] for m in ("verify", "count")}
    text += [f"{right['verify'][0]} of {right['verify'][1]} outputs and gradients right against double precision, bytes equal in {right['count'][0]} of "
             f"{right['count'][1]} runs; compute-sanitizer is clean:", "[h100/more-sanitize/first.txt](../assets/counters/h100/more-sanitize/first.txt), "
             "[h100/hopper-more-sanitize/first.txt](../assets/counters/h100/hopper-more-sanitize/first.txt). Bytes across the boundary "
             "between the SMs and L2, fp16, by hardware counters:", ""]
    rows = []
    for c in counters:
        if c["rung"] and c["head_dim"] == "128" and ((c["heads"], c["seq_k"], c["causal"]) in (("16", "4096", "0"), ("16", "4096", "1"), ("32", "32768", "0"))):
            rows.append([f"`{c['rung']}`", f"{c['heads']} on {c['kv_heads']}", f"{int(c['seq_q']):,}", f"{int(c['seq_k']):,}", "yes" if c["causal"] == "1" else "no",
                         mib(c[READ]), mib(c[WRITE])])
    text += table(["rung", "heads", "queries", "keys", "causal", "read MiB", "written MiB"], rows)
    text += ["Tried, and why it is not there:", ""]
    text += table(["rung", "d", "tried", "instead of", "figure", "instead"],
                  [[f"`{t['rung']}`", t["d"], t["tried"], t["instead_of"], f"{t['tried_figure']} {t['unit']}", t["instead_figure"] or "-"] for t in trials])
    return text
