#!/usr/bin/env python3
"""Changes the program in one place at a time and asks whether its own tests notice: `make mutate`.

A change (a mutant) that makes a test fail, hang or crash is killed; one that all pass has survived: a test is missing, or
the change means the same. Each mutant is compiled by itself and linked before the library, so nothing in the tree
changes. The operators are OPERATORS below; texts, comments and declarations are left alone.

    make mutate                                     a sample of sim, lessons and viz, MUTATE_SECONDS=60
    make mutate MUTATE="--file lessons/engine/record.c --all"      every mutant of one file
    make mutate MUTATE="--seed 7"                   the same sample again: the first line says the seed
    make mutate MUTATE="--save LIST"                notes what was tried and its outcome;
    make mutate MUTATE="--list LIST"                tries exactly that again, where its lines are still in the tree

Prints each survivor as FILE:LINE: operator: before -> after, and the score of each room.
"""
import argparse
import concurrent.futures
import glob
import os
import random
import re
import subprocess
import sys
import tempfile
import time

NAME = r"[a-z]\w*(?:(?:\.|->)\w+)*(?:\[\w+\])?(?:\([^()]*\))?"  # a variable, a field, an element, a call


def neighbours():
    """For each field of the headers' structs the one that is declared after it with the same type (the last: before it)."""
    after = {}
    for header in sorted(glob.glob("*/**/*.h", recursive=True)):
        for struct in re.findall(r"typedef struct[^{]*\{(.*?)\n\}", open(header, encoding="utf-8").read(), re.S):
            fields = re.findall(r"^ +((?:const )?(?:struct |unsigned )?\w+ \**)(\w+(?:, \w+)*);", re.sub(r"/\*.*?\*/", "", struct, flags=re.S), re.M)
            flat = [(kind, name) for kind, names in fields for name in names.split(", ")]
            for (kind, name), (other, neighbour) in list(zip(flat, flat[1:])) + list(zip(flat[1:], flat)):
                if kind == other:
                    after.setdefault(name, neighbour)
    return after


NEIGHBOURS = neighbours()
OPERATORS = [  # name, pattern, replacement; the pattern is searched in code without texts
    ("less", r" < ", " <= "),
    ("less or equal", r" <= ", " < "),
    ("greater", r" > ", " >= "),
    ("greater or equal", r" >= ", " > "),
    ("equal", r" == ", " != "),
    ("unequal", r" != ", " == "),
    ("plus", r" \+ ", " - "),
    ("minus", r" - ", " + "),
    ("times", r" \* (?=[\w(])", " / "),
    ("divided", r" / ", " * "),
    ("and", r" && ", " || "),
    ("or", r" \|\| ", " && "),
    ("add to", r" \+= ", " -= "),
    ("take from", r" -= ", " += "),
    ("zero", r"(?<![\w.\"])0(?![\w.])", "1"),
    ("one", r"(?<![\w.\"])1(?![\w.])", "2"),
    ("number", r"(?<![\w.\"])([2-9]|[1-9]\d+)(?![\w.])", lambda m: str(int(m.group(1)) + 1)),
    ("true", r"\btrue\b", "false"),
    ("false", r"\bfalse\b", "true"),
    ("negated", r"(?<=[(&|] )!(?=[\w(*])|(?<=\()!(?=[\w(*])", ""),
    ("no break", r"^ *break;", ";"),
    ("no continue", r"\bcontinue;", ";"),
    ("no call", r"^ +[a-z]\w+\([^;{}]*\);$", "  ;"),
    ("no assignment", r"^ +[\w.>\[\]-]+ [+|-]?= [^;{}]*;$", "  ;"),
    # What a person gets wrong: a term or a condition forgotten, arguments in the wrong order, the field beside it.
    ("no term", r" [+-] %s(?=[ ;,)])" % NAME, ""),
    ("no factor", r" [*/] %s(?=[ ;,)])" % NAME, ""),
    ("no alternative", r" \|\| !?%s(?: [<=>!]=? %s)?(?=[ ;)])" % (NAME, NAME), ""),
    ("no condition", r" && !?%s(?: [<=>!]=? %s)?(?=[ ;)])" % (NAME, NAME), ""),
    ("arguments swapped", r"(?<=\w)\((%s), (%s)\)" % (NAME, NAME), r"(\2, \1)"),
    ("neighbour", r"(?<=\.|>)([a-z]\w*)\b(?!\()", lambda m: NEIGHBOURS.get(m.group(1), m.group(1))),
    ("if not", r"\bif \((?=[a-z(*!])([^(){};]*)\) ", lambda m: "if (!(%s)) " % m.group(1)),
]
ROOMS = ("sim", "lessons", "viz")
# Windows need a display; nothing tests what only prints an essay.
LEFT_OUT = ("viz/window/window", "viz/web/")


def code_of(lines):
    """The lines with texts and comments blanked out, of the same length; None where nothing may be changed."""
    out, in_comment = [], False
    for line in lines:
        text, k = list(line), 0
        while k < len(line):
            if in_comment:
                end = line.find("*/", k)
                stop = len(line) if end < 0 else end + 2
                text[k:stop] = " " * (stop - k)
                in_comment, k = end < 0, stop
            elif line.startswith("/*", k):
                in_comment = True
            elif line.startswith("//", k):
                text[k:] = " " * (len(line) - k)
                break
            elif line[k] in "\"'":
                end = k + 1
                while end < len(line) and line[end] != line[k]:
                    end += 2 if line[end] == "\\" else 1
                text[k + 1 : end] = "_" * (min(end, len(line)) - k - 1)
                k = end + 1
            else:
                k += 1
        code = "".join(text)
        dead = re.match(r"\s*(#|static const|enum|typedef|extern|assert\()", code) or "error_set(" in code or not code.strip()
        out.append(None if dead else code)
    return out


def mutants_of(path):
    """All changes of a file: (path, line number, operator, new line)."""
    lines = open(path, encoding="utf-8").read().split("\n")
    found = []
    for n, code in enumerate(code_of(lines)):
        if code is None or not code.startswith(" "):  # inside functions
            continue
        for name, pattern, new in OPERATORS:
            for match in re.finditer(pattern, code):
                put = match.expand(new) if isinstance(new, str) else new(match)
                if put == match.group():
                    continue
                found.append((path, n, name, lines[n][: match.start()] + put + lines[n][match.end() :]))
    return found


def read_list(path):
    """The mutants of a list: path, operator, line before, line after, outcome, with tabs. A line that moved is found again."""
    found, lost = [], 0
    for row in open(path, encoding="utf-8").read().splitlines():
        source, name, before, after = row.split("\t")[:4]
        lines = open(source, encoding="utf-8").read().split("\n") if os.path.exists(source) else []
        if before in lines:
            found.append((source, lines.index(before), name, after))
        else:
            lost += 1
    if lost:
        print("%d mutants of the list are left out: their lines are no longer in the tree" % lost)
    return found


class Tests:
    """Which tests run a source: those named after it, and those that include its header; of a command, those of its name; then
    those that hold it, the smallest first."""

    def __init__(self, build):
        self.build = build
        self.includes = {}
        for source in glob.glob("tests/cli/test_*.sh"):
            self.includes[source] = (set(), True)
        for source in glob.glob("tests/*/test_*.c"):
            text = open(source, encoding="utf-8").read()
            self.includes[source] = (set(re.findall(r'#include "([^"]+)"', text)), 'support/program.h"' in text)
        self.seconds = {}
        self.linked = None

    def of(self, path, most):
        stem = os.path.basename(path)[:-2]
        room = os.path.dirname(path)
        named, using = [], []
        parts = stem.split("_")
        for n in range(len(parts), 0, -1):
            short = "_".join(parts[:n])
            for source, (headers, _) in sorted(self.includes.items()):
                if os.path.basename(source) == "test_%s.c" % short and source not in named:
                    named.append(source)
                if "%s/%s.h" % (room, short) in headers and source not in named + using:
                    using.append(source)
        using += [source for source in sorted(self.includes) if os.path.basename(source) == "test_%s.c" % parts[-1]]
        found = (self.of_command(parts) if room.startswith("viz/cli") else []) + named + using + self.holding(path)
        return list(dict.fromkeys(found))[:most]

    def holding(self, path):
        """The tests that are linked with a source, by what their debugging information names; those of least sources first."""
        if self.linked is None:
            self.linked = {}
            for source in self.includes:
                binary = "%s/tests/%s" % (self.build, os.path.basename(source)[:-2])
                if source.endswith(".c") and os.path.exists(binary):
                    found = re.findall(rb"\0((?:sim|viz|lessons|kernels)/[\w/]+\.c)(?=\0)", open(binary, "rb").read())
                    self.linked[source] = {name.decode() for name in found}
        tests = [source for source, names in self.linked.items() if path in names]
        return sorted(tests, key=lambda source: (len(self.linked[source]), source))

    def of_command(self, parts):
        """The tests of the program that share most words with a source of viz/cli, test_command_lesson with lesson_walk.c."""
        shared = {}
        for source in sorted(self.includes):
            words = os.path.basename(source).rsplit(".", 1)[0].split("_")[1:]
            common = len((set(words) & set(parts)) - {"command"}) * 4 - len(words)
            if source.startswith("tests/cli/") and set(words) & (set(parts) - {"command"}):
                shared[source] = common
        return sorted(shared, key=lambda source: -shared[source])


def run(command, seconds, env):
    """The exit status and the seconds of CPU; None for the status when it took more CPU than `seconds`, or hung."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen("ulimit -t %d; %s" % (seconds + 1, command), shell=True, stdout=out, stderr=out,
                                   stdin=subprocess.DEVNULL, env=env, start_new_session=True)
        stop = time.monotonic() + 20 * seconds + 60  # of the wall: other things may run
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                process.returncode = os.waitstatus_to_exitcode(status)
                return process.returncode, usage.ru_utime + usage.ru_stime
            if time.monotonic() > stop:
                os.killpg(process.pid, 9)
                os.wait4(process.pid, 0)
                process.returncode = -9
                return None, seconds
            time.sleep(0.02)


class Mutator:
    def __init__(self, build, keep):
        self.build = build
        self.tests = Tests(build)
        self.keep = keep
        self.compile = os.environ["COMPILE"] + " -O0 -g0 -w"
        self.link = os.environ["LINK"] + " -w"
        self.libs = os.environ["LIBS"]
        self.env = dict(os.environ, BUILD=build, TILEWALK_ASSETS=os.getcwd() + "/assets", LC_ALL="C.UTF-8", OMP_NUM_THREADS="1")

    def link_test(self, source, objects, out):
        name = os.path.basename(source)[:-2]
        if source.endswith(".sh"):
            return "true"
        wrap = os.environ.get("SYSTEM_WRAP", "") if name == "test_record" else ""
        return "%s %s %s %s -Wl,--start-group %s/libtilewalk.a %s/tests/support.a -Wl,--end-group %s -lcmocka -o %s" % (
            self.link, wrap, "%s/tests/%s.o" % (self.build, name), objects, self.build, self.build, self.libs, out)

    def link_program(self, path, objects, out):
        main = "" if path == "viz/cli/main.c" else "%s/viz/cli/main.o" % self.build
        return "%s %s %s %s/libtilewalk.a %s -o %s" % (self.link.replace(os.environ.get("WRAP", "\0"), ""), main, objects,
                                                        self.build, self.libs, out)

    def command(self, source, binary):
        return source if source.endswith(".sh") else binary

    def base(self, source):
        """How much CPU a test takes as things are; None: it fails, and cannot be used."""
        if source not in self.tests.seconds:
            binary = "%s/tests/%s" % (self.build, os.path.basename(source)[:-2])
            env = dict(self.env, TILEWALK=os.path.abspath(self.build) + "/tilewalk")
            there = source.endswith(".sh") or os.path.exists(binary)
            status, seconds = run(self.command(source, binary), self.keep, env) if there else (1, 0)
            self.tests.seconds[source] = seconds if status == 0 else None
        return self.tests.seconds[source]

    def is_killed(self, mutant, folder):
        """Whether a test notices; None: the change does not compile, or changes nothing, or no test is there."""
        path, n, _, line = mutant
        tests = [t for t in self.tests.of(path, 5) if self.base(t) is not None and self.base(t) < self.keep]
        if not tests:
            return None
        lines = open(path, encoding="utf-8").read().split("\n")
        lines[n] = line
        changed, obj = folder + "/mutant.c", folder + "/mutant.o"
        with open(changed, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
        if run("%s -c %s -o %s" % (self.compile, changed, obj), 60, self.env)[0] != 0:
            return None
        has_program = False
        for test in tests:
            env = self.env
            if self.tests.includes[test][1] and not has_program:
                if run(self.link_program(path, obj, folder + "/tilewalk"), 60, env)[0] != 0:
                    return None
                has_program = True
            if has_program:
                env = dict(env, TILEWALK=folder + "/tilewalk")
            if run(self.link_test(test, obj, folder + "/test"), 60, env)[0] != 0:
                return None
            if run(self.command(test, folder + "/test"), 5 + 5 * self.base(test), env)[0] != 0:
                return True
        return False


def main():
    parser = argparse.ArgumentParser(description="Changes the program and asks its tests.")
    parser.add_argument("build")
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("MUTATE_SECONDS") or 60))
    parser.add_argument("--seed", default=None)
    parser.add_argument("--file", action="append", default=[])
    parser.add_argument("--all", action="store_true", help="every mutant, without a limit of time")
    parser.add_argument("--keep", type=float, default=3, help="leave out tests that take longer, in seconds of CPU")
    parser.add_argument("--save", help="write what was tried to this file")
    parser.add_argument("--list", help="try what this file lists")
    options = parser.parse_args()
    seed = options.seed or subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip() or "1"
    files = options.file or [f for room in ROOMS for f in sorted(glob.glob(room + "/**/*.c", recursive=True))
                             if not f.startswith(LEFT_OUT)]
    mutants = {f: mutants_of(f) for f in files}
    chance = random.Random(seed)
    order = []
    while any(mutants.values()):  # of each room and file in turn, so that large files do not fill the sample
        for f in chance.sample(sorted(mutants), len(mutants)):
            if mutants[f]:
                order.append(mutants[f].pop(chance.randrange(len(mutants[f]))))
        if not options.all and len(order) > 5000:
            break
    if options.list:
        order, options.all = read_list(options.list), True
        print("mutants of %s" % options.list, flush=True)
    else:
        print("mutants of %d files, seed %s" % (len(files), seed), flush=True)
    noted = open(options.save, "w", encoding="utf-8") if options.save else None
    mutator = Mutator(options.build, options.keep)
    began = time.monotonic()
    sums = {}

    def judge(mutant):
        if not options.all and time.monotonic() - began > options.seconds:
            return mutant, None
        with tempfile.TemporaryDirectory(prefix="tilewalk-mutate-") as folder:
            return mutant, mutator.is_killed(mutant, folder)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        for mutant, killed in workers.map(judge, order):
            if killed is None:
                continue
            room = mutant[0].split("/")[0]
            k, n = sums.get(room, (0, 0))
            sums[room] = (k + killed, n + 1)
            before = open(mutant[0], encoding="utf-8").read().split("\n")[mutant[1]]
            if noted:
                print("\t".join((mutant[0], mutant[2], before, mutant[3], "killed" if killed else "survived")), file=noted, flush=True)
            if not killed:
                print("%s:%d: %s: %s -> %s" % (mutant[0], mutant[1] + 1, mutant[2], before.strip(), mutant[3].strip()), flush=True)
    for room, (k, n) in sorted(sums.items()):
        print("%-8s %4d of %4d killed (%.0f %%)" % (room, k, n, 100 * k / n))
    k, n = sum(s[0] for s in sums.values()), sum(s[1] for s in sums.values())
    print("mutation score: %d of %d (%.0f %%)" % (k, n, 100 * k / n if n else 0))
    return 0 if n else 1


if __name__ == "__main__":
    sys.exit(main())
