#!/usr/bin/env python3
"""How large each room is: `tests/support/house.py [COMMIT...]`; the working tree where none is given.

Of C, C++ and CUDA: lines, files over 500, lines of a function (median, nine in ten), static functions that are named once
besides their definition, comments over 60 words.
"""
import os, re, subprocess, sys, tempfile

HEAD = re.compile(r"^(?:TEST\((\w+)\)|(?!else|typedef|struct \w+ \{|enum)[A-Za-z_][\w \*]*?[ \*](\w+)\([^;]*)")
COMMENT = re.compile(r"/\*.*?\*/|(?:^[ \t]*//[^\n]*\n)+", re.S | re.M)


def functions(lines):
    """(name, is_static, lines) of each that begins in the first column and ends at a brace there."""
    i = 0
    while i < len(lines):
        m, j = HEAD.match(lines[i]), i
        while m and not lines[j].rstrip().endswith(("{", "}", ";")) and j + 1 < len(lines) and j < i + 6:
            j += 1
        if not m or not lines[j].rstrip().endswith(("{", "}")) or "{" not in "".join(lines[i:j + 1]) or "=" in lines[i].split("(")[0]:
            i += 1
            continue
        if not lines[j].rstrip().endswith("}"):
            while j + 1 < len(lines) and lines[j] != "}":
                j += 1
        yield m.group(1) or m.group(2), lines[i].startswith("static "), j - i + 1
        i = j + 1


def measure(root, room):
    n_lines, over, lengths, statics, once, essays = 0, 0, [], 0, 0, 0
    for folder, _, names in os.walk(os.path.join(root, room)):
        for name in names:
            if not name.endswith((".c", ".h", ".cpp", ".cu", ".cuh")):
                continue
            text = open(os.path.join(folder, name), errors="replace").read()
            lines = text.split("\n")
            n_lines += len(lines) - 1
            over += len(lines) - 1 > 500
            essays += sum(len(c.split()) > 60 for c in COMMENT.findall(text))
            for function, is_static, length in functions(lines):
                lengths.append(length)
                if is_static and not name.endswith((".h", ".cuh")):
                    statics += 1
                    once += len(re.findall(r"\b%s\b" % function, text)) == 2
    lengths.sort()
    at = lambda part: lengths[int(part * (len(lengths) - 1))] if lengths else 0
    print(f"{room:8} {n_lines:7,} lines {over:3} over 500   functions {len(lengths):5,}: {at(.5):2} / {at(.9):2}   "
          f"static {statics:5,}, {100 * once // max(statics, 1)} % called once   {essays:3} long comments")
    return n_lines


for commit in sys.argv[1:] or [None]:
    with tempfile.TemporaryDirectory() as room:
        if commit:
            archive = subprocess.run(["git", "archive", commit], capture_output=True, check=True).stdout
            subprocess.run(["tar", "-x", "-C", room], input=archive, check=True)
        print(commit or "the working tree")
        root = room if commit else "."
        print(f"in all   {sum(measure(root, r) for r in ('sim', 'kernels', 'viz', 'lessons', 'tests')):7,} lines")
