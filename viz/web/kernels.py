#!/usr/bin/python3
"""The examples of the page of kernels: kernels.py TILEWALK OUT FILE.cu... writes what each is, its source and its PTX as JSON."""
import json
import pathlib
import re
import subprocess
import sys

program, out, *files = sys.argv[1:]
examples = {}
for file in map(pathlib.Path, files):
    source = file.read_text(encoding='utf-8')
    ptx = subprocess.run([program, 'kernel', str(file), '--ptx'], capture_output=True, text=True, check=True).stdout
    ptx = re.sub(r'^(\s*\.file\s+\d+ ").*/', r'\1', ptx, flags=re.M) # not where it was built
    examples[file.name] = {'title': re.match(r'// (.*?)[:,.]\s', source)[1], 'source': source, 'ptx': ptx}
pathlib.Path(out).write_text(json.dumps(examples), encoding='utf-8')
