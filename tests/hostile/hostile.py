#!/usr/bin/env python3
"""Runs the table of hostile inputs (README.md here) against a build of warptime.

  tests/hostile/hostile.py --warptime build/warptime                 all of them; fails where a promise is broken
  tests/hostile/hostile.py --warptime build/warptime -k 'outputs: run'   those whose kind and name have this text
  tests/hostile/hostile.py --warptime build/warptime --update docs/robustness.md   writes the table into the page
  tests/hostile/hostile.py --warptime build-sanitize/warptime --slow 20 --memory 8    a build with sanitizers
  tests/hostile/hostile.py --warptime build/warptime --every 9       of each kind the first, the tenth, and so on; with
                                                                     --check, the page's numbers are still those of all
"""

import argparse
import concurrent.futures
import os
import pathlib
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import harness  # noqa: E402
import kinds  # noqa: E402
import kinds_of_work  # noqa: E402

KINDS = {"Contents of files": kinds.garbage, "Special files": kinds.special_files, "Names": kinds.names,
         "Shells": kinds.shells, "Compiler flags": kinds.flags, "Outputs": kinds.outputs,
         "Options": kinds_of_work.options, "Words": kinds_of_work.words, "Kernel programs": kinds_of_work.programs,
         "Measurements": kinds_of_work.measurements, "Sources": kinds_of_work.bombs, "Kernels that run": kinds_of_work.kernels,
         "Tools": kinds_of_work.tools, "Environment": kinds_of_work.environments, "Signals": kinds_of_work.signals,
         "Streams and folders": kinds_of_work.places}
BEGIN, END = "<!-- made by tests/hostile/hostile.py: begin -->\n", "<!-- end -->\n"
FEWEST = 1500


class Tally:
    def __init__(self):
        self.inputs = self.broken = 0
        self.seconds = self.mebibytes = 0.0

    def add(self, wrong, outcome):
        self.inputs += 1
        self.broken += bool(wrong)
        self.seconds = max(self.seconds, outcome.seconds)
        self.mebibytes = max(self.mebibytes, outcome.mebibytes)


def promise(function):
    return " ".join(function.__doc__.split())


def table(tallies, numbers):
    lines = ["| kind | inputs | what is promised | result |\n", "|---|---:|---|---|\n"]
    for kind, number in numbers.items():
        broken = tallies[kind].broken
        result = "kept" if broken == 0 else f"{broken} broken"
        lines.append(f"| {kind} | {number} | {promise(KINDS[kind])} | {result} |\n")
    total = sum(numbers.values())
    return BEGIN + "\n" + "".join(lines) + f"\n{total} inputs.\n" + END


def with_table(page, text):
    begin, end = page.index(BEGIN), page.index(END) + len(END)
    return page[:begin] + text + page[end:]


def run_all(runner, cases, jobs):
    tallies, broken = {}, []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for (kind, case), (wrong, outcome) in zip(cases, pool.map(lambda one: runner.check(one[1]), cases)):
            tallies.setdefault(kind, Tally()).add(wrong, outcome)
            if wrong:
                broken.append(case)
                say_broken(kind, case, wrong, outcome)
    return tallies, broken


def say_broken(kind, case, wrong, outcome):
    print(f"{kind}: {case.name}: {'; '.join(wrong)}")
    words = " ".join(word if len(word) < 60 else word[:60] + "…" for word in case.command)
    print(f"    warptime {words!r}, status {outcome.status}, {outcome.seconds:.2f} s, {outcome.mebibytes:.0f} MiB")
    print("    " + repr(outcome.stderr[:300].decode(errors="replace")), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--warptime", required=True)
    parser.add_argument("-k", "--only", default="")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="each N-th input of each kind alone")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() + 1)  # some wait for a pipe or a signal
    parser.add_argument("--slow", type=float, default=1)
    parser.add_argument("--memory", type=float, default=1)
    parser.add_argument("--check", metavar="PAGE")
    parser.add_argument("--update", metavar="PAGE")
    given = parser.parse_args()
    of_kinds = {kind: [case for case in make() if given.only in f"{kind}: {case.name}"] for kind, make in KINDS.items()}
    cases = [(kind, case) for kind, some in of_kinds.items() for case in some[::given.every]]
    begin = time.monotonic()
    tallies, broken = run_all(harness.Runner(given.warptime, given.slow, given.memory), cases, given.jobs)
    for kind, tally in tallies.items():
        print(f"{kind}: {tally.inputs} inputs, {tally.broken} broken promises, at most {tally.seconds:.1f} s and "
              f"{tally.mebibytes:.0f} MiB")
    print(f"{len(cases)} inputs in {time.monotonic() - begin:.0f} s")
    status = 1 if broken or not cases else 0
    page = given.update or given.check
    if page and not given.only and (given.every == 1 or not given.update):
        numbers = {kind: len(some) for kind, some in of_kinds.items()}
        text = pathlib.Path(page).read_text(encoding="utf-8")
        wanted = with_table(text, table(tallies, numbers))
        if given.update:
            pathlib.Path(page).write_text(wanted, encoding="utf-8")
        elif wanted != text:
            print(f"{page} is not what is found: tests/hostile/hostile.py --warptime … --update {page}")
            status = 1
        if sum(numbers.values()) < FEWEST:
            print(f"fewer than {FEWEST} inputs")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
