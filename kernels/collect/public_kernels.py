#!/usr/bin/env python3
"""Runs every kernel of public projects' .cu files, for the table of kernels/ptx/PUBLIC.md.

    kernels/collect/public_kernels.py FOLDER >kernels/ptx/PUBLIC.md

FOLDER holds the projects' sources, unpacked, by the names below; none of them is here. clang compiles each file; each
kernel runs on 4 blocks with arguments that its types suggest (a million numbers behind a pointer, small whole numbers), so
that some read past a buffer: the machine says where. What is not run has its first message.
"""
import collections
import concurrent.futures
import glob
import json
import os
import re
import subprocess
import sys

PROJECTS = {  # folder: project, version or commit, what its own build tells the compiler
    "darknet": ("darknet", "commit 61c9d02e", ["-I{}/include", "-I{}/src", "-DGPU"]),
    "bart": ("BART", "0.8.00", ["-I{}/src", "-D_Bool=bool", "-DUSE_CUDA"]),
    "starpu": ("StarPU", "1.3.10", ["-I{}/include", "-I{}", *("-D" + word for word in (  # what its configure finds out
        "__starpu_inline=inline __starpu_func__=__func__ starpu_ssize_t=long STARPU_USE_CUDA STARPU_MAXIMPLEMENTATIONS=4 STARPU_NMAXBUFS=8 "
        "STARPU_NMAXWORKERS=64 STARPU_MAXNODES=8 STARPU_NMAXDEVS=4 STARPU_NMAX_SCHED_CTXS=10 STARPU_MAXCUDADEVS=4 "
        "cusparseHandle_t=int cublasHandle_t=int cusparseStatus_t=int cublasStatus_t=int").split())]),
    "relion": ("RELION", "3.1.3", ["-I{}", "-D_CUDA_ENABLED", "-DCUDA"]),
    "minimal": ("flash-attention-minimal", "commit 05b0309c", []),
}
BUFFERS = {"float": "f32[1M]:normal:1", "double": "f64[1M]:normal:1", "int": "i32[1M]:zero", "unsigned int": "u32[1M]:zero",
           "unsigned": "u32[1M]:zero", "long": "i64[1M]:zero", "unsigned long": "u64[1M]:zero", "char": "i8[1M]:zero"}
NUMBERS = {"float": "f32:0.5", "double": "f64:0.5", "int": "i32:32", "unsigned int": "u32:32", "unsigned": "u32:32", "long": "i64:32",
           "unsigned long": "u64:32", "bool": "u8:0", "char": "i8:1", "unsigned char": "u8:1", "short": "i16:1"}
BY_WIDTH = {"f32": "f32:0.5", "f64": "f64:0.5", "16": "i16:1", "8": "i8:1", "64": "f32[2M]:normal:1"}
BLOCKS = ["256", "32", "16,16"]


def kernel(*words):
    try:
        return subprocess.run(["build/tilewalk", "kernel", *words], capture_output=True, text=True, timeout=90, check=False)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, 2, "", "more than 90 s")


def argument(parameter, of_type):
    of_type = re.sub(r"\bconst\b ?| \bconst\b", "", of_type or "").strip()
    if of_type.endswith("*"):
        return BUFFERS.get(of_type.rstrip("* "), "f32[2M]:normal:1")
    return NUMBERS.get(of_type) or BY_WIDTH.get(parameter) or BY_WIDTH.get(re.sub(r"\D", "", parameter), "i32:32")


def one_kernel(ptx, entry, parameters):
    plain = subprocess.run(["c++filt", entry], capture_output=True, text=True, check=True).stdout.strip()
    types = re.search(r"\((.*)\)$", plain)
    types = types.group(1).split(", ") if types else []
    name = re.sub(r"\(.*|^void ", "", plain)
    found = re.findall(r"\.param\s+(?:\.align \d+ )?\.(\w+)\s+\w+(\[\d+\])?", parameters)
    if any(array for _, array in found):
        made = kernel(ptx, "--entry", entry, "--grid", "1", "--block", "32")
        return name, "decoded; it takes a structure" if "takes" in made.stderr else message(made, ptx)
    types = types if len(types) == len(found) else [None] * len(found)
    words = [word for (parameter, _), of_type in zip(found, types) for word in ("--arg", argument(parameter, of_type))]
    for block in BLOCKS:
        for shared in ([], ["--shared", "32K"]):
            made = kernel(ptx, "--entry", entry, "--grid", "4", "--block", block, *shared, *words, "--json", "--no-caches")
            if made.returncode == 0:
                d = json.loads(made.stdout)
                ways = list(d["global"].values())[1:]
                requests, sectors = (sum(way[what] for way in ways) for what in ("requests", "sectors"))
                passes = d["shared"]["load"]["wavefronts"] + d["shared"]["store"]["wavefronts"]
                return name, f"run: {requests:,} requests, {sectors:,} sectors" + (f", {passes:,} wavefronts" if passes else "")
            if "dynamic shared memory" not in made.stderr:
                break
    return name, message(made, ptx)


def message(made, file):
    text = made.stderr.strip().removeprefix("tilewalk kernel: ").replace(os.path.basename(file) + ":", "line ")
    return "refused: " + text[:110].replace("|", "/")


def one_file(job):
    folder, project, file = job
    root = os.path.join(folder, project)
    words = [w for flag in PROJECTS[project][2] for w in ("--include" if flag[1] == "I" else "--define", flag[2:].format(root))]
    made = kernel(file, "--ptx", *words)
    short = os.path.relpath(file, root)
    if made.returncode:
        return [(project, short, "", message(made, file).replace(root + "/", ""))]
    ptx = f"/tmp/public_{os.getpid()}_{project}_{short.replace('/', '_')}.ptx"
    with open(ptx, "w", encoding="utf-8") as out:
        out.write(made.stdout)
    entries = re.findall(r"\.entry (\w+)\(([^)]*)\)", made.stdout)
    rows = [(project, short, *one_kernel(ptx, entry, parameters)) for entry, parameters in entries]
    os.remove(ptx)
    return rows


def main():
    folder = sys.argv[1]
    jobs = [(folder, p, f) for p in PROJECTS for f in sorted(glob.glob(f"{folder}/{p}/**/*.cu", recursive=True))]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        rows = [row for of_file in pool.map(one_file, jobs) for row in of_file]
    kinds = collections.Counter(row[3].split(":")[0].split(";")[0] for row in rows if row[2])
    print("# Kernels of public projects\n\nMade by `kernels/collect/public_kernels.py` with clang and no CUDA toolkit, on 4 blocks of arguments that "
          "the types suggest: a refusal\nof an address says that those do not fit. Files that are not compiled have what is missing.\n")
    print(", ".join(f"{n} kernels {kind}" for kind, n in kinds.most_common()) + ", of " +
          ", ".join(f"{name} ({version})" for name, version, _ in PROJECTS.values()) + ".\n\n| project | file | kernel | outcome |\n|---|---|---|---|")
    for project, file, name, outcome in rows:
        print(f"| {PROJECTS[project][0]} | {file} | {name or '(not compiled)'} | {outcome} |")


main()
