#!/usr/bin/env python3
"""Splits what `tilewalk-kernels --stamps` prints into a file a launch: split_stamps.py STAMPS.csv FOLDER GPU DATE

FOLDER/RUNG_HEADS_N_D_CAUSAL.csv is as viz/scene/pipeline.h reads it. fa3_overlap's are kept as they were first given;
masks are kept at d = 128 alone."""
import sys

TILES = {"fa2_wgmma": 64, "fa2_async": 96, "fa3_backward": 96}  # a row block or two, and the seam

HEAD = """# Clock stamps of one SM under {rung} on an {gpu}, {date}: cycles from the first stamp. What roles and ids
# mean: kernels/lib/rung.h, StampId. The kernel took {plain} us, with stamps {stamped} ({more:+.1f} %).
# kernel {rung} heads {heads} N {N} d {d} causal {causal}
role,tile,id,cycles
"""


def main():
    text, folder, gpu, date = sys.argv[1:5]
    out = None
    for line in open(text):
        word, *rest = line.strip().split(",")
        if word == "launch" and rest[0] != "rung":
            rung, d, N, heads, causal, _, _, _, plain, stamped = rest
            out = None
            if rung in TILES and (d == "128" or causal == "0"):
                out = open(f"{folder}/{rung}_{heads}_{N}_{d}_{causal}.csv", "w")
                out.write(HEAD.format(rung=rung, gpu=gpu, date=date, plain=plain, stamped=stamped, heads=heads, N=N, d=d,
                                      causal=causal, more=100 * (float(stamped) / float(plain) - 1)))
        elif word == "stamp" and out and int(rest[1]) < TILES[rung]:
            out.write(",".join(rest) + "\n")


main()
