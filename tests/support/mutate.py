#!/usr/bin/env python3
"""Changes the program in one place at a time and asks whether its own tests notice: `make mutate`.

A change (a mutant) that makes a test fail, hang or crash is killed; one that all pass has survived: a test is missing, or
the change means the same. Each mutant is compiled by itself and linked before the library, so nothing in the tree
changes; what the compiler warns of is no mutant. The operators are OPERATORS below; texts, comments and declarations are
left alone, and so is what frees memory: the sanitizers ask that.

    make mutate                                     the gate of CI: GATE mutants of tests/support/mutants.tsv, which a test
                                                    killed, drawn by the commit; one that its test does not kill now fails
    make mutate MUTATE="--map build/coverage"       notes which tests run which line (after `make coverage`): all below need it
    make mutate MUTATE="--sample 150 --save LIST"   judges new ones, of each room alike; --seed S draws others,
                                                    --file FILE those of a file, MUTATE_SECONDS=S ends it
    make mutate MUTATE="--judge LIST --save NEW"    judges those of a list again that no test has killed

A line's tests are asked in the order of their time, those over --keep left out, until one fails or --spend is spent (seconds of CPU).
Prints each survivor as FILE:LINE: operator: before -> after, and the score of each room.
"""
import argparse
import collections
import concurrent.futures
import glob
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

NAME = r"[a-z]\w*(?:(?:\.|->)\w+)*(?:\[\w+\])?(?:\([^()]*\))?"  # a variable, a field, an element, a call
VALUE = r"(?:%s|-?[\d.]+|NULL|[A-Z_]+)" % NAME


def neighbours():
    """For each field of the headers' structs those that are declared after one of that name with its type (the last: before it)."""
    after = collections.defaultdict(set)
    for header in sorted(glob.glob("*/**/*.h", recursive=True)):
        for struct in re.findall(r"typedef struct[^{]*\{(.*?)\n\}", open(header, encoding="utf-8").read(), re.S):
            fields = re.findall(r"^ +((?:const )?(?:struct |unsigned )?\w+ \**)(\w+(?:, \w+)*);", re.sub(r"/\*.*?\*/", "", struct, flags=re.S), re.M)
            flat = [(kind, name) for kind, names in fields for name in names.split(", ")]
            for (kind, name), (other, neighbour) in list(zip(flat, flat[1:])) + list(zip(flat[1:], flat)):
                if kind == other:
                    after[name].add(neighbour)
    return after


NEIGHBOURS = neighbours()
OPERATORS = [  # name, pattern, replacement or several; the pattern is searched in code without texts
    ("less", r" < (?!\S+ \?)", " <= "),
    ("less or equal", r" <= ", " < "),
    ("greater", r" > (?!\S+ \?)", " >= "),
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
    ("no call", r"^ +(?!\w*(?:free|destroy|unref|decref|close|va_start|va_end)\b)[a-z]\w+\([^;{}]*\);$", "  ;"),
    ("no return", r"(?<=\)) return\b[^;]*;$", " {}"),
    ("no assignment", r"^ +[\w.>\[\]-]+ [+|-]?= [^;{}]*;$", "  ;"),
    # What a person gets wrong: a term or a condition forgotten, arguments in the wrong order, the field beside it.
    ("no term", r" [+-] %s(?=[ ;,)])" % NAME, ""),
    ("no factor", r" [*/] %s(?=[ ;,)])" % NAME, ""),
    ("no alternative", r" \|\| !?%s(?: [<=>!]=? %s)?(?= \|\||[;)])" % (NAME, VALUE), ""),
    ("no condition", r" && !?%s(?: [<=>!]=? %s)?(?= &&|[;)])" % (NAME, VALUE), ""),
    ("arguments swapped", r"(?<=\w)(?<!min|max)(?<!min64|max64|equal)\((%s), (%s)\)" % (NAME, NAME), r"(\2, \1)"),
    ("neighbour", r"(?<=\.|>)([a-z]\w*)\b(?!\()", lambda m: sorted(NEIGHBOURS.get(m.group(1), []))),
    ("min and max", r"\b(f?)(min|max)(?=\w*\()", lambda m: m.group(1) + {"min": "max", "max": "min"}[m.group(2)]),
    ("less and more", r" ([<>]) (?=\S+ \?)", lambda m: " %s " % {"<": ">", ">": "<"}[m.group(1)]),
    ("if not", r"\bif \((?=[a-z(*!])([^(){};]*)\) ", lambda m: "if (!(%s)) " % m.group(1)),
]
ROOMS = ("sim", "lessons", "viz")
# Windows need a display; what compiles the programs runs while building.
LEFT_OUT = ("viz/window/window", "viz/web/", "viz/cli/main", "sim/algorithms/compile/")
LIST = "tests/support/mutants.tsv"
GATE = 16  # mutants, within 25 seconds of two cores


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
    """All changes of a file, of lines that occur once in it: a list finds them again by their text."""
    lines = open(path, encoding="utf-8").read().split("\n")
    found = []
    for n, code in enumerate(code_of(lines)):
        if code is None or not code.startswith(" ") or lines.count(lines[n]) > 1:  # inside functions
            continue
        for name, pattern, new in OPERATORS:
            if name == "number" and path.startswith("viz/") or name == "less" and "for (" in code:
                continue  # most are pixels; what lies behind an array differs from run to run
            for match in re.finditer(pattern, code):
                made = match.expand(new) if isinstance(new, str) else new(match)
                for put in made if isinstance(made, list) else [made]:
                    if put != match.group():
                        found.append(Row(path, n, name, lines[n], lines[n][: match.start()] + put + lines[n][match.end() :]))
    return found


class Row:
    """A mutant: path, line number, operator, line before, line after; its outcome (killed, hangs, survived, equivalent) and
    what says so: the test, or the reason."""

    def __init__(self, path, n, name, before, after, outcome="", detail=""):
        self.path, self.n, self.name, self.before, self.after, self.outcome, self.detail = path, n, name, before, after, outcome, detail

    def text(self):
        return "\t".join((self.path, self.name, self.before, self.after, self.outcome, self.detail))


def read_list(path):
    """The rows of a list, in columns parted by tabs, as Row.text writes them. A line that moved is found again."""
    found, lost = [], 0
    for row in open(path, encoding="utf-8").read().splitlines():
        source, name, before, after, outcome, detail = row.split("\t")
        lines = open(source, encoding="utf-8").read().split("\n") if os.path.exists(source) else []
        if lines.count(before) == 1:
            found.append(Row(source, lines.index(before), name, before, after, outcome, detail))
        else:
            lost += 1
    if lost:
        print("%d mutants of %s are left out: their lines are no longer in the tree" % (lost, path))
    return found


class Coverage:
    """Which tests run a line, as gcov saw it: BUILD/mutants.json, made by `--map`. The cheapest test comes first."""

    def __init__(self, build):
        self.path = build + "/mutants.json"
        self.tests, self.lines = {}, {}
        if os.path.exists(self.path):
            self.tests, self.lines = json.load(open(self.path, encoding="utf-8"))

    def of(self, path, n):
        """The tests of a line; of one that gcov does not list (a table, the second line of a statement), those of its file."""
        lines = self.lines.get(path, {})
        tests = lines[str(n)] if str(n) in lines else {test for tests in lines.values() for test in tests}
        return sorted(tests, key=lambda test: (self.tests[test], test))

    def collect(self, build, env, keep):
        """Runs each test of a build with `--coverage`, and notes the lines that it runs. Those that took longer than `keep` the last time (run.sh notes it) are left out."""
        build, known = os.path.abspath(build), os.path.dirname(self.path) + "/tests/%s.ms"
        queue = []
        for test in sorted(glob.glob("tests/*/test_*.c") + glob.glob("tests/*/test_*.sh")):
            path = known % os.path.basename(test).removesuffix(".c")
            if not os.path.exists(path) or int(open(path, encoding="utf-8").read()) < 1000 * keep:
                queue.append(test)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
            for test, seconds, lines in workers.map(lambda test: self.lines_of(test, build, env, 4 * keep), queue):
                if lines is None:
                    print("left out: %s (%s)" % (test, "%.0f s" % seconds if seconds else "fails"), flush=True)
                    continue
                self.tests[test] = seconds
                for path, numbers in lines.items():
                    for n, was_run in numbers.items():
                        tests = self.lines.setdefault(path, {}).setdefault(str(n), [])
                        if was_run:
                            tests.append(test)
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump((self.tests, self.lines), file)

    def lines_of(self, test, build, env, keep):
        name = os.path.basename(test).rsplit(".", 1)[0]
        command = os.path.abspath(test) if test.endswith(".sh") else "%s/tests/%s" % (build, name)
        if not os.path.exists(command) or test.startswith("tests/recorded/"):
            return test, 0, None
        with tempfile.TemporaryDirectory(prefix="tilewalk-mutants-") as folder:
            env = dict(env, BUILD=build, TILEWALK=build + "/tilewalk", GCOV_PREFIX=folder)
            status, seconds = run(command, keep, env)
            data = glob.glob(folder + build + "/**/*.gcda", recursive=True) if status == 0 else []
            for path in data:
                os.link(path[len(folder) : -4] + "gcno", path[:-4] + "gcno")
            if not data:
                return test, seconds if status is None else 0, None
            out = subprocess.run(["gcov", "--json-format", "--stdout"] + data, capture_output=True, text=True).stdout
        lines = {}
        for document in out.splitlines():
            for file in json.loads(document)["files"]:
                if file["file"].startswith(ROOMS):
                    numbers = lines.setdefault(file["file"], {})
                    for line in file["lines"]:
                        numbers[line["line_number"]] = numbers.get(line["line_number"], False) or line["count"] > 0
        return test, seconds, lines


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
    def __init__(self, build, keep, spend):
        self.build = build
        self.coverage = Coverage(build)
        self.keep, self.spend = keep, spend
        self.compile = os.environ["COMPILE"] + " -O0 -g0 -U_FORTIFY_SOURCE -Werror"
        fast = " -fuse-ld=lld" if shutil.which("ld.lld") else ""
        self.link = os.environ["LINK"] + " -w -Wl,-S" + fast
        self.libs = os.environ["LIBS"]
        self.env = dict(os.environ, BUILD=build, TILEWALK_ASSETS=os.getcwd() + "/assets", LC_ALL="C.UTF-8", OMP_NUM_THREADS="1")
        self.locks = collections.defaultdict(threading.Lock)  # a test keeps to files of its own: once at a time
        self.seconds = {}

    def link_test(self, source, objects, out):
        name = os.path.basename(source)[:-2]
        wrap = os.environ.get("SYSTEM_WRAP", "") if name == "test_record" else ""
        return "%s %s %s %s -Wl,--start-group %s/libtilewalk.a %s/tests/support.a -Wl,--end-group %s -lcmocka -o %s" % (
            self.link, wrap, "%s/tests/%s.o" % (self.build, name), objects, self.build, self.build, self.libs, out)

    def link_program(self, objects, out):
        return "%s %s/viz/cli/main.o %s %s/libtilewalk.a %s -o %s" % (
            self.link.replace(os.environ["WRAP"], ""), self.build, objects, self.build, self.libs, out)

    def of_program(self, test):
        runs = r'support/(program|lesson_folder)\.h"|\bTILEWALK[":}]'
        return test.endswith(".sh") or bool(re.search(runs, open(test, encoding="utf-8").read()))

    def ask(self, test, objects, folder, seconds):
        """A test's exit status and time with these objects first in folder's program and its own; 0 when it does not link."""
        env = dict(self.env, TILEWALK=folder + "/tilewalk")
        if self.of_program(test) and not os.path.exists(folder + "/tilewalk"):
            if run(self.link_program(objects, folder + "/tilewalk"), 60, env)[0] != 0:
                return 0, 0
        if not test.endswith(".sh") and run(self.link_test(test, objects, folder + "/test"), 60, env)[0] != 0:
            return 0, 0
        with self.locks[test]:
            return run(test if test.endswith(".sh") else folder + "/test", seconds, env)

    def base(self, test):
        """How much CPU a test takes as things are; more than any, if it fails."""
        if test not in self.seconds:
            with tempfile.TemporaryDirectory(prefix="tilewalk-mutate-") as folder:
                status, seconds = self.ask(test, "", folder, self.keep)
            self.seconds[test] = seconds if status == 0 else 1e9
        return self.seconds[test]

    def judge(self, row, is_gate):
        """Sets the outcome: killed by a test, or survived all that run its line; none where it does not compile."""
        tests = [row.detail] if row.outcome == "killed" else []
        if not is_gate:
            tests = list(dict.fromkeys(tests + self.coverage.of(row.path, row.n + 1)))
        tests = [test for test in tests if os.path.exists(test)]
        row.outcome, row.detail = "", "%d tests run its line" % len(tests)
        with tempfile.TemporaryDirectory(prefix="tilewalk-mutate-") as folder:
            lines = open(row.path, encoding="utf-8").read().split("\n")
            lines[row.n] = row.after
            with open(folder + "/mutant.c", "w", encoding="utf-8") as file:
                file.write("\n".join(lines))
            if is_gate and not tests or run("%s -c %s/mutant.c -o %s/mutant.o" % (self.compile, folder, folder), 60, self.env)[0] != 0:
                return
            row.outcome, spent = "survived", 0
            for test in tests:
                most = self.keep if is_gate else self.base(test)
                if most > self.keep or spent + most > self.spend:
                    continue
                status, seconds = self.ask(test, folder + "/mutant.o", folder, 5 + 3 * most)
                spent += seconds
                if status != 0:
                    row.outcome, row.detail = "hangs" if status in (None, -9, 137, -24, 152) else "killed", test
                    return


def sample_of(files, chance, most, known):
    """So many new mutants, of each room and of each file in turn, so that large files do not fill the sample, and of each
    operator alike."""
    rooms, made = [], {}
    for room in ROOMS:
        order, left = [], {f for f in files if f.startswith(room + "/")}
        while left and len(order) < most / len(ROOMS):
            for f in chance.sample(sorted(left), len(left)):
                if len(order) >= most / len(ROOMS):
                    break
                if f not in made:
                    made[f] = [row for row in mutants_of(f) if row.text().rsplit("\t", 2)[0] not in known]
                if not made[f]:
                    left.discard(f)
                else:
                    name = chance.choice(sorted({row.name for row in made[f]}))
                    order.append(chance.choice([row for row in made[f] if row.name == name]))
                    made[f].remove(order[-1])
        rooms.append(order)
    order = [row for three in itertools.zip_longest(*rooms) for row in three if row]
    return order[:most]


def score(rows):
    """A line for each room, and all."""
    sums = collections.defaultdict(list)
    for row in rows:
        for room in (row.path.split("/")[0], "all"):
            sums[room].append(row.outcome)
    for room in [room for room in ROOMS + ("all",) if sums[room]]:
        killed = len([outcome for outcome in sums[room] if outcome in ("killed", "hangs")])
        same = sums[room].count("equivalent")
        print("mutation score, %-8s %4d of %4d killed (%.0f %%), %d more change nothing" % (
            room + ":", killed, len(sums[room]) - same, 100 * killed / max(1, len(sums[room]) - same), same))


def main():
    parser = argparse.ArgumentParser(description="Changes the program and asks its tests.")
    parser.add_argument("build")
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("MUTATE_SECONDS") or 1e9))
    parser.add_argument("--seed", default=None)
    parser.add_argument("--file", action="append", default=[])
    parser.add_argument("--sample", type=int, help="judge so many new ones")
    parser.add_argument("--keep", type=float, default=3)
    parser.add_argument("--spend", type=float, default=40)
    parser.add_argument("--save", help="write what was judged to this file")
    parser.add_argument("--judge", metavar="LIST", help="judge those of a list again that no test has killed")
    parser.add_argument("--map", metavar="FOLDER", help="note which tests run each line, from a build with --coverage")
    options = parser.parse_args()
    mutator = Mutator(options.build, options.keep, options.spend)
    if options.map:
        mutator.coverage.collect(options.map, mutator.env, options.keep)
        return 0
    seed = options.seed or subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip() or "1"
    chance = random.Random(seed)
    listed = read_list(options.judge or LIST) if os.path.exists(options.judge or LIST) else []
    is_gate = not (options.sample or options.judge or options.file)
    if options.judge:
        order = listed
    elif is_gate:
        score(listed)
        order = [row for row in listed if row.outcome == "killed"]
        order = chance.sample(order, min(GATE, len(order)))
    else:
        files = options.file or [f for room in ROOMS for f in sorted(glob.glob(room + "/**/*.c", recursive=True))
                                 if not f.startswith(LEFT_OUT)]
        known = {row.text().rsplit("\t", 2)[0] for row in listed}
        order = sample_of(files, chance, options.sample or 1000000, known)
    print("%d mutants, seed %s" % (len(order), seed), flush=True)
    began = time.monotonic()

    def judge(row):
        if time.monotonic() - began > options.seconds:
            row.outcome = ""
        elif not (options.judge and row.outcome in ("killed", "hangs", "equivalent")):
            mutator.judge(row, is_gate)
        return row

    noted = open(options.save, "w", encoding="utf-8") if options.save else None
    judged = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        for row in workers.map(judge, order):
            if not row.outcome:
                continue
            judged.append(row)
            if noted:
                print(row.text(), file=noted, flush=True)
            if row.outcome == "survived":
                print("%s:%d: %s: %s -> %s" % (row.path, row.n + 1, row.name, row.before.strip(), row.after.strip()), flush=True)
    survived = len([row for row in judged if row.outcome == "survived"])
    if is_gate:
        print("mutation gate: %d of %d killed again" % (len(judged) - survived, len(judged)))
        return 1 if survived else 0
    score(judged)
    return 0


if __name__ == "__main__":
    sys.exit(main())
