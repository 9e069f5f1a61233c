#!/usr/bin/env python3
"""Compares the launches that warptime finds in the programs of this folder with those that Nsight Compute recorded
on a GPU (data/hardware/h100_counters.csv): kernel, grid and block, in their order.

    check_launches.py WARPTIME
"""
import csv
import pathlib
import re
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
RECORDED = FOLDER.parent.parent / "data" / "hardware" / "h100_counters.csv"
LAUNCH = re.compile(r"^\s+(\w+)[^(]*<<<(dim3\([^)]*\)|[^,]*), (dim3\([^)]*\)|[^,>]*)")


def dimensions(text):
    """dim3(63, 47) or 391, as 63x47x1."""
    sizes = re.findall(r"\d+", text.removeprefix("dim3"))
    return "x".join((sizes + ["1", "1"])[:3])


def found(warptime, program):
    run = subprocess.run([warptime, "measure", FOLDER / f"{program}.cu", "--dry-run", "--gpu", "h100-sxm"],
                         stdout=subprocess.PIPE, text=True, check=True)
    launches = [LAUNCH.match(line) for line in run.stdout.splitlines() if "<<<" in line]
    return [(match.group(1), dimensions(match.group(2)), dimensions(match.group(3))) for match in launches]


def recorded():
    """{program: its launches}, each of which the program makes twice."""
    programs = {}
    with open(RECORDED, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if (FOLDER / f"{row['program']}.cu").exists() and row["caches"] == "cold":
                kernel = re.match(r"(?:void )?(\w+)", row["kernel"]).group(1)
                programs.setdefault(row["program"], []).extend(2 * [(kernel, row["grid"], row["block"])])
    return programs


def main():
    wrong = 0
    for program, launches in recorded().items():
        plan = found(sys.argv[1], program)
        for i in range(max(len(plan), len(launches))):
            pair = [side[i] if i < len(side) else None for side in (plan, launches)]
            if pair[0] != pair[1]:
                wrong += 1
                print(f"{program}: launch {i + 1} is {pair[0]} in the plan, {pair[1]} on the GPU")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
