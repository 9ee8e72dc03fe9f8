#!/usr/bin/python3
"""The examples of the page of kernels: kernels.py CLANG OUT FILE.cu... writes what each is, its source and its PTX as JSON.

clang's words are those of viz/compile/cuda_compile.c.
"""
import json
import pathlib
import re
import subprocess
import sys

clang, out, files = sys.argv[1], sys.argv[2], sys.argv[3:]
WORDS = ('-x cuda --cuda-device-only --cuda-gpu-arch=sm_80 -nocudainc -nocudalib -nogpuinc -Xclang -target-feature -Xclang +ptx72 '
         '-fdeclspec -std=c++17 -I kernels/cuda -include kernels/cuda/tw_cuda.h -ffp-contract=fast -O3 -mllvm -unroll-threshold=1000 '
         '-mllvm -disable-vector-combine -g1 -w -S -o -').split()
examples = {}
for file in map(pathlib.Path, files):
    source = file.read_text(encoding='utf-8')
    about = ' '.join(re.findall(r'^// (?!tilewalk:)(.*)', source[:source.index('// tilewalk:')], re.M))
    ptx = subprocess.run([clang, *WORDS, str(file)], capture_output=True, text=True, check=True).stdout
    ptx = re.sub(r'^(\s*\.file\s+\d+ ").*/', r'\1', ptx, flags=re.M) # not where it was built
    examples[file.name] = {'title': re.split(r'[:,.] ', about)[0].rstrip('.'), 'about': about, 'source': source, 'ptx': ptx}
pathlib.Path(out).write_text(json.dumps(examples), encoding='utf-8')
