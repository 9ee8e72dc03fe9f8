"""What the collectors share: launches timed by events in random order, and how far an output is off."""
import ctypes, random
import torch


def pointers(*tensors):
    return [ctypes.c_void_p(t.data_ptr()) for t in tensors]


def error_of(got, wanted):
    return float((got.float() - wanted.float()).norm() / wanted.float().norm())


def median_us(functions, repeats, sleep_cycles=150_000):
    """Of each function, by events, in random order. All wait in one queue behind a sleep on the GPU, of a number of cycles for each launch."""
    order = [i for i in range(len(functions)) for _ in range(repeats)]
    random.Random(7).shuffle(order)
    for f in functions:
        f(), f()
    torch.cuda.synchronize()
    events = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in order]
    torch.cuda._sleep(sleep_cycles * len(order))
    for i, (start, stop) in zip(order, events):
        start.record()
        functions[i]()
        stop.record()
    torch.cuda.synchronize()
    times = [[] for _ in functions]
    for i, (start, stop) in zip(order, events):
        times[i].append(start.elapsed_time(stop) * 1e3)
    return [sorted(t)[len(t) // 2] for t in times]
