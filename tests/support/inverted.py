#!/usr/bin/env python3
"""Turns the assertions of C tests round, one place at a time, and names the tests that pass all the same.

    tests/support/inverted.py BUILD [TEST...]       BUILD has the tests, built; all of them without names

For each test: the places of assert_* that it reaches (the k-th is turned round in all tests of a program at once, until --seconds
of CPU are spent on the program). Prints `no assertion: ...` for a test that reaches none, `passes inverted: ...` for one that passes
though the k-th does not hold, `never reached: FILE:LINE` for an assert_* of the programs that no test reaches. A condition before
fail_msg() is not turned round: it counts as an assertion of the test, and is reached where --map, of make mutate, has lines of tests.
"""
import argparse
import concurrent.futures
import glob
import os
import re
import resource
import subprocess
import sys
import tempfile

ASSERTION = re.compile(r"\bassert_(?:true|false|null|non_null|\w*equal|in_range|not_in_range)\(")


def run(binary, k, env, **more):
    """The places of each test of a program, in order, those tests which passed, and the seconds of CPU."""
    with tempfile.TemporaryDirectory(prefix="tilewalk-inverted-") as folder:
        env = dict(env, **more, TEST_INVERT=str(k), TEST_INVERT_LOG=folder + "/log", TMPDIR=folder)
        child = subprocess.Popen(["timeout", "600", binary], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = status
        log = open(folder + "/log", errors="replace").read().splitlines() if os.path.exists(folder + "/log") else []
    places, passed, test, first = {"beside": []}, set(), "beside", None
    for kind, pid, name, line in (row.split("\t") for row in log):
        first = first or pid
        if kind == "S":  # of a child, or of what tears down: reached, and not turned round
            places[test if pid == first else "beside"].append("%s:%s" % (name, line))
        elif pid == first:  # a child's test that fails goes on in the child
            test = name if kind == "T" else "beside"
            places.setdefault(test, [])
            passed.add(name if kind == "P" else "beside")
    return places, passed, usage.ru_utime + usage.ru_stime


def invert(binary, env, most):
    """What a program's run shows: lines to print, places reached, how many were turned round."""
    places, passed, seconds = run(binary, 0, env)
    name = os.path.basename(binary)
    beside = places.pop("beside")
    out = ["fails as it is: %s: %s" % (name, test) for test in places if test not in passed]
    out += ["no assertion: %s: %s" % (name, test) for test in places if test in passed and not places[test]]
    spent, turned, k = 0, 0, 0
    while spent + seconds <= most and any(len(sites) > k for sites in places.values()):
        k += 1
        _, anyway, seconds = run(binary, k, env)
        spent += seconds
        for test, sites in places.items():
            turned += len(sites) >= k
            if len(sites) >= k and test in anyway and test in run(binary, k, env, TEST_INVERT_ALONE=test)[1]:  # no other's traces
                out.append("passes inverted: %s: %s: %s" % (name, test, sites[k - 1]))
    total = sum(len(sites) for sites in places.values())
    return out, {site for sites in (beside, *places.values()) for site in sites}, len(places), total, turned


def main():
    parser = argparse.ArgumentParser(description="Turns assertions round, and names the tests that pass all the same.")
    parser.add_argument("build")
    parser.add_argument("tests", nargs="*")
    parser.add_argument("--seconds", type=float, default=20)
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    sources = [path for path in sorted(glob.glob("tests/*/test_*.c"))
               if os.path.basename(path)[:-2] in options.tests or not options.tests and not path.startswith("tests/recorded/")]
    binaries = ["%s/tests/%s" % (build, os.path.basename(path)[:-2]) for path in sources]
    library = build + "/tests/inverted.so"
    subprocess.run(["cc", "-std=c11", "-O1", "-w", "-I.", "-shared", "-fPIC", "tests/support/inverted.c", "-ldl", "-o", library], check=True)
    env = dict(os.environ, LD_PRELOAD=library, BUILD=build, TILEWALK=build + "/tilewalk", TILEWALK_ASSETS=os.getcwd() + "/assets", LC_ALL="C.UTF-8", OMP_NUM_THREADS="1")
    reached, tests, total, turned, found = set(), 0, 0, 0, 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        for out, sites, n, places, k in workers.map(lambda b: invert(b, env, options.seconds), [b for b in binaries if os.path.exists(b)]):
            reached, tests, total, turned, found = reached | sites, tests + n, total + places, turned + k, found + len(out)
            for line in out:
                print(line, flush=True)
    for path in sources:
        for n, line in enumerate(open(path, encoding="utf-8"), 1):
            if ASSERTION.search(line) and not line.startswith("#") and not {"%s:%d" % (path, n + i) for i in range(4)} & reached:
                print("never reached: %s:%d: %s" % (path, n, line.strip()))
                found += 1
    print("%d tests reach %d places of assertions; %d turned round; %d found" % (tests, total, turned, found))
    return 1 if found else 0


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.exit(main())
