#!/usr/bin/env python3
"""Compiles the ladder's kernels, counting their bytes, to PTX, for computers without nvcc: assets/ladder.

    kernels/collect/record_ladder.py [--check | --clang CLANG FOLDER]

Run it from the source tree after a change of kernels/ladder or of a header that it reads. --check compiles and says
whether what is recorded is what nvcc makes; by another release of nvcc than the recorded one it says nothing. --clang
writes the same into FOLDER with clang 19 or later, without CUDA's toolkit, for `crosscheck --cpu` to run.

NAME.ptx.gz has one member of gzip for each kernel of NAME.cu, a module of its own; index.tsv says where each lies, of
which sources (their SHA-256, less blanks) and by which nvcc.
"""
import concurrent.futures
import glob
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import zlib

SOURCES = sorted(f for f in glob.glob("kernels/ladder/*.cu") if not f.endswith(("_cublas.cu", "/rungs.cu")))
HEADERS = sorted(glob.glob("kernels/lib/*.cuh")) + ["kernels/lib/rung.h"]


def nvcc():
    for path in ["nvcc", "/usr/local/cuda/bin/nvcc"]:
        try:
            text = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
            return path, re.search(r"release [\d.]+, V([\d.]+)", text).group(1)
        except OSError:
            pass
    sys.exit("record_ladder.py: no nvcc; it comes with the CUDA toolkit")


# As viz/cli/cuda_compile.c has them, but for the architecture of the rungs.
CLANG = ("-x cuda --cuda-device-only --cuda-gpu-arch=sm_90a -nocudainc -nocudalib -nogpuinc -Xclang -target-feature -Xclang +ptx80 "
         "-fdeclspec -Ikernels/cuda -include kernels/cuda/tw_cuda.h -ffp-contract=fast -mllvm -unroll-threshold=1000 -w -S").split()


def packed(text):
    pack = zlib.compressobj(9, zlib.DEFLATED, 31)
    return pack.compress(text.encode()) + pack.flush()


def modules(compiler, source, folder):
    """The kernels of a source: [(mangled name, text of a module that has it alone)]."""
    ptx = os.path.join(folder, os.path.basename(source) + ".ptx")
    words = ["-ptx", "-arch=sm_90a"] if compiler.endswith("nvcc") else CLANG
    subprocess.run([compiler, *words, "-DTW_COUNTING", "-O3", "-std=c++17", "-I.", source, "-o", ptx], check=True)
    text = re.sub(r"[ \t]*//[^\n]*", "", open(ptx).read())
    text = re.sub(r"\n\s*\n+", "\n", re.sub(r"[ \t]+", " ", text))
    text = re.sub(r"_INTERNAL_[0-9a-f]{8}_", "_INTERNAL_00000000_", text)  # nvcc's hash of the file, comments and all
    head, *entries = re.split(r"(?=^\.visible \.entry )", text, flags=re.M)
    return [(re.match(r"\.visible \.entry (\w+)", entry).group(1), head + entry) for entry in entries]


def main():
    by_clang = sys.argv[1:2] == ["--clang"]
    compiler, version = (sys.argv[2], "none: " + sys.argv[2]) if by_clang else nvcc()
    folder_out = sys.argv[3] if by_clang else "assets/ladder"
    digest = hashlib.sha256(b"".join(b"".join(open(f, "rb").read().split()) for f in SOURCES + HEADERS)).hexdigest()
    files, rows = {}, []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as cores:
        made = cores.map(lambda source: modules(compiler, source, folder), SOURCES)
        for source, kernels in zip(SOURCES, made):
            name = os.path.basename(source)[:-3] + ".ptx.gz"
            files[name] = b""
            for mangled, text in kernels:
                member = packed(text)
                rows.append((mangled, name, len(files[name]), len(member)))
                files[name] += member
    plain = subprocess.run(["c++filt"] + [r[0] for r in rows], capture_output=True, text=True, check=True).stdout.split("\n")
    index = f"# sources {digest}\n# nvcc {version}\n" + "".join(
        f"{kernel}\t{r[1]}\t{r[2]}\t{r[3]}\n" for kernel, r in zip(plain, rows))
    files["index.tsv"] = index.encode()
    if "--check" in sys.argv[1:]:
        recorded = open("assets/ladder/index.tsv").read()
        if f"# nvcc {version}\n" not in recorded:
            return
        wrong = [f for f in files if open("assets/ladder/" + f, "rb").read() != files[f]]
        if wrong:
            sys.exit(f"assets/ladder: {', '.join(wrong)} is not what nvcc makes; run kernels/collect/record_ladder.py")
        return
    os.makedirs(folder_out, exist_ok=True)
    for name, content in files.items():
        with open(f"{folder_out}/{name}", "wb") as f:
            f.write(content)


main()
