#!/usr/bin/env python3
"""Compares the launches that warptime finds in the programs of this folder with those that were measured on a GPU
(data/development/h100_cold.csv): kernel, grid and block, in their order. Every ninth program at its first size, or,
with --all, every one at all sizes; programs of which nothing was measured are left out.

    check_launches.py WARPTIME [--all]

Some programs cannot be measured by warptime for other reasons than their launches (an array of float4 that it does not
find, matrix instructions that it does not execute): these are counted apart.
"""
import concurrent.futures
import csv
import pathlib
import re
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
DATA = FOLDER.parent.parent / "data" / "development"
PROGRAM = re.compile(r"^  (\w+): \{family: \w+, parameter: (\w+), sizes: \[([0-9, ]+)\](?:, values: \{(.*)\})?\}$")
LAUNCH = re.compile(r"^\s+(\w+)[^(]*<<<(dim3\([^)]*\)|[^,]*), (dim3\([^)]*\)|[^,>]*)")
LAUNCHES = 5  # of each case: device.h


def programs():
    """(program, size, the plan's parameters) of runs.yaml."""
    for line in (DATA / "runs.yaml").read_text().splitlines():
        if match := PROGRAM.match(line):
            program, parameter, sizes, others = match.groups()
            others = re.findall(r"(\w+): \[([0-9, ]+)\]", others or "")
            for index, size in enumerate(sizes.split(", ")):
                values = {"argc": "2", parameter: size, **{name: text.split(", ")[index] for name, text in others}}
                yield program, size, values


def dimensions(text):
    """dim3(63, 47) or 391, as 63x47x1."""
    sizes = re.findall(r"\d+", text.removeprefix("dim3"))
    return "x".join((sizes + ["1", "1"])[:3])


def found(warptime, program, values):
    """The launches, the first of each five; or why there are none."""
    command = [warptime, "measure", FOLDER / f"{program}.cu", "--dry-run", "--gpu", "h100-sxm", "--param",
               ",".join(f"{name}={value}" for name, value in values.items())]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if run.returncode != 0:
        return run.stdout.splitlines()[0] if run.stdout else f"exit status {run.returncode}"
    launches = [LAUNCH.match(line) for line in run.stdout.splitlines() if "<<<" in line]
    return [(match.group(1), dimensions(match.group(2)), dimensions(match.group(3))) for match in launches][::LAUNCHES]


def measured():
    rows = {}
    with open(DATA / "h100_cold.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["program"].startswith("own/"):
                kernel = re.match(r"(?:void )?(\w+)", row["kernel"]).group(1)
                rows.setdefault((row["program"][4:], row["arguments"]), []).append((kernel, row["grid"], row["block"]))
    return rows


def main():
    everything = "--all" in sys.argv
    rows, todo, seen = measured(), [], []
    names = {program for program, _ in rows}
    for program, size, values in programs():
        if program not in names:
            continue
        first = program not in seen
        if first:
            seen.append(program)
        if everything or (first and len(seen) % 9 == 1):
            todo.append((program, size, values))
    right, wrong, not_measured = 0, 0, 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for (program, size, _), plan in zip(todo, pool.map(lambda one: found(sys.argv[1], one[0], one[2]), todo)):
            if isinstance(plan, str):
                not_measured += 1
                print(f"{program} {size}: {plan}")
            elif plan != rows.get((program, size)):
                wrong += 1
                print(f"{program} {size}: in the plan {plan}, measured {rows.get((program, size))}")
            else:
                right += 1
    print(f"{right} of {len(todo)} runs have the launches that were measured, {wrong} others, {not_measured} none")
    sys.exit(wrong > 0 or right < not_measured)


if __name__ == "__main__":
    main()
