#!/usr/bin/env python3
"""Makes each formula wrong in turn and asks which tests notice: `make prove-red`.

A row of tests/support/mutants.tsv is a mutant: file, what is done, a line, the line in its place, and why where no test can
notice. All stand in one build of a copy of the tree, in BUILD/red: a mutant is a second copy of the function that it changes, called in
its stead where the environment's TWM has its number. TWH names a file for the numbers of those reached. A row whose line is gone, or
whose function cannot be copied, is printed.

Every test runs once as things are; then each mutant meets the tests that reach it, the quickest first. BUILD/red.tsv is the matrix:
file, line, what is done, the change, how many tests reach it, those that fail (hang, crash), seconds. What lives is printed; status 1
where something lives that no row explains. A killed mutant is not asked of tests over --slow seconds of CPU.

    make prove-red RED="--only sim/l2 --last tests/model --jobs 1"     some mutants; what a test kills alone
"""
import argparse, concurrent.futures, glob, os, re, shutil, subprocess, sys, threading, time

LIST = "tests/support/mutants.tsv"
HEAD = "extern int tw_mutant; void tw_hit(int);\n"
TAIL = r"""
#include <stdio.h>
#include <stdlib.h>
__attribute__((weak)) int tw_mutant = -1;
__attribute__((weak)) char tw_seen[4096];
__attribute__((weak, constructor(101))) void tw_begin(void) { if (getenv("TWM")) tw_mutant = atoi(getenv("TWM")); }
__attribute__((weak)) void tw_hit(int n) {
  FILE *file = tw_seen[n]++ == 0 && getenv("TWH") ? fopen(getenv("TWH"), "a") : NULL;
  tw_seen[n] = 1;
  if (file) fprintf(file, "%d\n", n), fclose(file);
}
"""  # in each file that has a mutant, for any program that it is linked to


class Mutant:
    def __init__(self, number, row):
        self.number = number
        self.path, self.name, self.before, self.after, self.why = (row.split("\t") + [""])[:5]
        self.line, self.reached, self.killers, self.seconds = 0, [], [], 0.0

    def change(self): return "%s -> %s" % (self.before.strip(), self.after.strip())


def arguments(parameters):
    """What a function passes on to a copy of itself; None where it cannot."""
    if parameters.strip() in ("void", ""): return []
    parts, depth = [""], 0
    for c in parameters:
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0: parts.append("")
        else: parts[-1] += c
    names = [re.search(r"\(\*(?:const )?(\w+)\)|(\w+)\s*(?:\[.*\])?\s*$", part) for part in parts]
    return None if "..." in parameters or not all(names) else [n.group(1) or n.group(2) for n in names]


def with_mutants(text, mutants):
    """The text of a file with these in it, and those left out."""
    lines, out = text.split("\n"), []
    placed, hits = {}, {}  # the first line of a function -> its copies and its switch; lines that note that they ran
    for m in mutants:
        if lines.count(m.before) != 1:
            out.append((m, "no such line"))
            continue
        n = m.line = lines.index(m.before) + 1
        begin = next((k for k in range(n - 2, -1, -1) if re.match(r"[A-Za-z_]", lines[k])), 0)
        brace = next((k for k in range(begin, n) if lines[k].endswith("{")), n)
        end = next(k for k in range(n, len(lines)) if lines[k].startswith("}"))
        head = re.match(r"(.*?)(\w+)\((.*)\) \{$", " ".join(lines[begin:brace + 1]), re.S)
        passed = arguments(head.group(3)) if head and brace < n - 1 else None
        if passed is None:
            out.append((m, "not in a function that can be copied"))
            continue
        kind, name = head.group(1), head.group(2)
        copy = "%s_red%d" % (name, m.number)
        body = lines[begin:end + 1]
        body[n - 1 - begin] = m.after
        whole = "\n".join(body).replace(name + "(", copy + "(", 1)
        call = "%s(%s);" % (copy, ", ".join(passed))
        call = "{ %s return; }" % call if re.sub(r"static |inline ", "", kind).strip() == "void" else "return " + call
        copies, switch = placed.setdefault(begin, ([], (brace, [])))
        copies.append(whole if kind.startswith("static ") else "static " + whole)
        before = lines[n - 2].split("/*")[0].rstrip()
        stands = before.endswith((";", "{", "}")) and not before.endswith(("= {", "},")) and not re.match(r"\s*(case|default|else|\{|\}|#)", m.before)
        switch[1].append(" if (tw_mutant == %d) %s" % (m.number, call) + ("" if stands else " tw_hit(%d);" % m.number))
        if stands: hits.setdefault(n - 1, []).append("tw_hit(%d); " % m.number)
    for begin, (copies, (brace, calls)) in placed.items():
        prototype = " ".join(lines[begin:brace + 1])[:-2] + ";\n" # the copy may call it
        lines[brace] += "".join(calls)
        lines[begin] = prototype + "\n".join(copies) + "\n" + lines[begin]
    for n, notes in hits.items(): lines[n] = "".join(notes) + lines[n]
    return HEAD + "\n".join(lines) + TAIL, out


def run(command, seconds, env, folder):
    """The exit status and the seconds of CPU; no status for what took more, or hung."""
    process = subprocess.Popen("ulimit -t %d; exec %s" % (seconds + 1, command), shell=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               stdin=subprocess.DEVNULL, env=env, cwd=folder, start_new_session=True)
    stop = threading.Timer(20 * seconds + 60, lambda: os.killpg(process.pid, 9))
    stop.start()
    _, status, usage = os.wait4(process.pid, 0)
    stop.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime


class Red:
    def __init__(self, options):
        self.build, self.jobs = os.path.abspath(options.build), options.jobs
        self.folder = self.build + "/red"
        self.env = dict(os.environ, BUILD=self.folder + "/build", TILEWALK=self.folder + "/build/tilewalk", TILEWALK_ASSETS=self.folder + "/assets",
                        LC_ALL="C.UTF-8", OMP_NUM_THREADS="1", TILEWALK_STATE="")
        for name in ("TILEWALK_STATE", "TILEWALK_DEPTH", "NO_COLOR", "COLUMNS", "MAKEFLAGS", "MAKELEVEL"): self.env.pop(name, None)
        self.locks, self.seconds, self.last = {}, {}, tuple(options.last)

    def make(self, *targets):
        return subprocess.run(["make", "-j%d" % self.jobs, "BUILD=build", *targets], cwd=self.folder, env=self.env, capture_output=True, text=True)

    def build_all(self, mutants):
        """A copy of the tree with the mutants in it, built; those that are in it."""
        changed_files = {m.path for m in mutants}
        for path in subprocess.check_output(["git", "ls-files"], text=True).split():
            to = self.folder + "/" + path
            os.makedirs(os.path.dirname(to), exist_ok=True)
            if path not in changed_files and os.path.exists(path) and not (os.path.exists(to) and os.path.getmtime(to) == os.path.getmtime(path)):
                shutil.copy2(path, to)
        left_out, texts = [], {path: open(path, encoding="utf-8").read() for path in changed_files if os.path.exists(path)}
        left_out += [(m, "no such file") for m in mutants if m.path not in texts]
        again = set(texts)
        while again:  # without those that do not compile
            for path in again:
                text, out = with_mutants(texts[path], [m for m in mutants if m.path == path and m not in [o for o, _ in left_out]])
                left_out += out
                self.write(path, text)
            said, again = self.make("-k", *["build/%s.o" % path[:-2] for path in texts]).stderr, set()
            for path, line in re.findall(r"^([^:\s]+):(\d+):\d+: error", said, re.M):
                lines = open(self.folder + "/" + path, encoding="utf-8").read().split("\n")
                number = re.search(r"tw_hit\((\d+)\)", lines[int(line) - 1])
                for k in range(int(line) - 1, -1, -1):
                    number = number or re.match(r"[a-z].*_red(\d+)\(", lines[k])
                    if number or lines[k].startswith("}"): break
                wrong = [m for m in mutants if number and m.number == int(number.group(1))] or [m for m in mutants if m.path == path]
                left_out += [(m, "does not compile") for m in wrong if m not in [o for o, _ in left_out]]
                again.add(path)
        for m, why in left_out: print("%s: left out, %s: %s" % (m.path, why, m.change()))
        made = self.make("-k", "all", *[self.program(test) for test in self.tests if test.endswith((".c", ".cpp"))])
        if made.returncode: print(made.stderr[-2000:])
        return [m for m in mutants if m not in [o for o, _ in left_out]]

    def write(self, path, text):
        path = self.folder + "/" + path
        if not os.path.exists(path) or open(path, encoding="utf-8").read() != text:
            with open(path, "w", encoding="utf-8") as file: file.write(text)

    def program(self, test): return test if test.endswith(".sh") else "build/tests/" + os.path.splitext(os.path.basename(test))[0]

    def ask(self, test, seconds, **env):
        with self.locks.setdefault(test, threading.Lock()):  # a test keeps to files of its own: once at a time
            return run(self.program(test), seconds, dict(self.env, **env), self.folder)

    def base(self, test):
        """The test, its seconds and what it reaches; no seconds where it fails as things are."""
        hits = "%s/%s.hits" % (self.folder, os.path.basename(test))
        if os.path.exists(hits): os.remove(hits)
        status, seconds = self.ask(test, 600, TWH=hits)
        reached = {int(n) for n in open(hits).read().split()} if os.path.exists(hits) else set()
        return test, seconds if status == 0 else None, reached

    def judge(self, m, known, slow):
        for test in m.reached:
            if m.killers and (self.last and not m.killers[0].startswith(self.last) or self.seconds[test] > slow): continue
            if (m.text, test) not in known:
                status, seconds = self.ask(test, 5 + 3 * self.seconds[test], TWM=str(m.number))
                m.seconds += seconds
                known[m.text, test] = "lives" if status == 0 else "dies"
                with open(self.folder + ".pairs", "a") as file: print(m.text, test, known[m.text, test], sep="\t", file=file)
            if known.get((m.text, test)) == "dies": m.killers.append(test)
        return m


def main():
    parser = argparse.ArgumentParser(description="Makes each formula wrong in turn and asks the tests.")
    parser.add_argument("build")
    parser.add_argument("--only", nargs="*", default=[""], help="files that begin so")
    parser.add_argument("--tests", nargs="*", default=["tests/"], help="tests that begin so")
    parser.add_argument("--last", nargs="*", default=[], help="tests that begin so are asked of what the others let live alone: what they kill that nobody else does")
    parser.add_argument("--list", nargs="*", default=[LIST])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--resume", action="store_true", help="what is known of the last run is not asked again")
    parser.add_argument("--slow", type=float, default=3)
    options = parser.parse_args()
    red = Red(options)
    red.tests = [t for t in sorted(glob.glob("tests/*/test_*.c*") + glob.glob("tests/*/test_*.sh")) if t.startswith(tuple(options.tests))
                 and not t.startswith("tests/recorded/")]
    rows = [row for name in options.list for row in open(name, encoding="utf-8").read().splitlines()]
    mutants = [Mutant(n, row) for n, row in enumerate(rows)]
    mutants = red.build_all([m for m in mutants if m.path.startswith(tuple(options.only))])
    for m in mutants: m.text = m.path + ": " + m.change()
    known = {}
    if os.path.exists(red.folder + ".pairs") and options.resume:
        known = {tuple(r.split("\t")[:2]): r.split("\t")[2] for r in open(red.folder + ".pairs").read().splitlines()}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as workers:
        for test, seconds, reached in workers.map(red.base, red.tests):
            if seconds is None: print("left out, fails as things are: " + test, flush=True)
            else: red.seconds[test] = seconds
            for m in mutants:
                if seconds is not None and m.number in reached: m.reached.append(test)
        for m in mutants: m.reached.sort(key=lambda test: (test.startswith(red.last) if red.last else False, red.seconds[test], test))
        with open(red.folder + ".tsv", "w", encoding="utf-8") as matrix:
            for m in workers.map(lambda m: red.judge(m, known, options.slow), mutants):
                print(m.path, m.line, m.name, m.change(), len(m.reached), " ".join(m.killers), "%.1f" % m.seconds, sep="\t", file=matrix, flush=True)
                if not m.killers: print("%s:%d lives (%s): %s" % (m.path, m.line, m.why or "%d tests reach it" % len(m.reached), m.change()), flush=True)
    lives = [m for m in mutants if not m.killers]
    print("%d of %d mutants killed, %d of the rest change nothing; %s.tsv" % (len(mutants) - len(lives), len(mutants), len([m for m in lives if m.why]), red.folder))
    return 1 if [m for m in lives if not m.why] else 0


sys.exit(main())
