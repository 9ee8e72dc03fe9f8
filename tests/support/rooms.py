#!/usr/bin/env python3
"""The size of the house, room by room: code tokens (comments and layout cost nothing), lines, files.

    tests/support/rooms.py                  each room beside its line in .ci/rooms; status 1 where one is larger
    tests/support/rooms.py --against REF    what changed since a commit
    tests/support/rooms.py --lower          lines come down to today's sizes; a room that is new or has grown is written by hand

A string counts a token for every five letters in it, so that text is not free. Data (csv, ptx, svg, pictures) is not code."""
import os, re, subprocess, sys

LINES = ".ci/rooms"
KINDS = ("c", "h", "cu", "cuh", "cpp", "js", "mjs", "py", "sh", "lua", "css", "html", "mk")
TOKEN = re.compile(r"""
    (?P<comment>/\*.*?\*/|//[^\n]*)
  | (?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<token>[A-Za-z_]\w*|\d[\w.]*|[-+*/%&|^<>=!:]{1,3}|[^\s\w])""", re.S | re.X)
HASH = re.compile(r"(?m)^\s*#(?!\s*(?:include|define|if|ifdef|ifndef|else|elif|endif|undef|error|pragma|line)\b)[^\n]*|\s#\s[^\n]*$")


def tokens(name, text):
    if name.endswith((".py", ".sh", ".mk")) or name == "Makefile": text = HASH.sub("", text)
    if name.endswith(".py"): text = re.sub(r'"""(?:.|\n)*?"""', "", text)
    kinds = [(m.lastgroup, len(m.group())) for m in TOKEN.finditer(text)]
    return sum(1 + (n - 2) // 5 if kind == "string" else kind == "token" for kind, n in kinds)


def is_code(n):
    """A table of tests is code too, whatever its suffix; what a fuzzer is fed, recordings and lists of mutants are not."""
    table = n.startswith("tests/") and not re.search(r"/corpus/|/recorded/|mutants", n) and n.endswith((".txt", ".tsv", ".json", ".yaml", ".tab", ".toml"))
    return table or n.rsplit(".", 1)[-1] in KINDS or n == "Makefile"


def git(*a): return subprocess.run(("git",) + a, capture_output=True, check=True).stdout


def rooms(ref):
    """(tokens, lines, files) of each room, of the working tree where no commit is given."""
    listed = git("ls-tree", "-r", "--name-only", ref) if ref else git("ls-files", "-co", "--exclude-standard")
    out = {}
    for n in listed.decode().split("\n"):
        if not is_code(n) or not (ref or os.path.exists(n)): continue
        text = (git("show", f"{ref}:{n}") if ref else open(n, "rb").read()).decode("utf-8", "replace")
        part = n.split("/")
        for room in {part[0], "/".join(part[:2]) if len(part) > 2 else part[0], "all"}:
            t, l, f = out.get(room, (0, 0, 0))
            out[room] = (t + tokens(n, text), l + text.count("\n"), f + 1)
    return out


def main(a):
    now = rooms(None)
    then = rooms(a[1]) if a[:1] == ["--against"] else None
    lines = {r: int(t) for r, t in (l.split() for l in open(LINES) if l[0] != "#")}
    if a == ["--lower"]:
        lines = {r: min(t, now[r][0]) for r, t in lines.items() if r in now}
        head = [l for l in open(LINES) if l[0] == "#"]
        with open(LINES, "w") as file: file.writelines(head + [f"{r:16} {t:8}\n" for r, t in lines.items()])
    bad = 0
    for r in sorted(now, key=lambda r: (r != "all", r)):
        t, l, f = now[r]
        verdict = "no line in " + LINES if r not in lines else f"line {lines[r]:,}" + (f", {t - lines[r]:,} TOO MANY" if t > lines[r] else "")
        bad += t > lines.get(r, 0)
        if then: verdict = "%+9d tokens %+8d lines" % tuple(x - y for x, y in zip(now[r][:2], then.get(r, (0, 0))))
        print(f"{r:18} {t:9,} tokens {l:8,} lines {f:5} files   {verdict}")
    return bad > 0 and not then


sys.exit(main(sys.argv[1:]))
