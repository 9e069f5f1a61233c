#!/usr/bin/env python3
"""The built-in clang's mathematical functions take as many machine instructions as nvcc's.

One kernel for each row of math_instructions.csv: the predicted instructions of a warp from clang's PTX against
those from nvcc's, with all sides of branches that data decide, within 2 or 10%, or what the row's `tolerance` allows
for the reason that it gives. The nvcc of this machine is asked where there is one of the table's version; else the table's figures stand for it. `--update` writes
them anew.
"""

import concurrent.futures
import csv
import io
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TABLE = pathlib.Path(__file__).with_name("math_instructions.csv")
NVCC = "13.0"  # whose figures the table has
ABSOLUTE, RELATIVE = 2, 0.10


def kernel(row):
    t = row["type"]
    return (
        f'extern "C" __global__ void {row["function"]}(const {t}* a, const {t}* b, const {t}* c, {t}* o) {{\n'
        f"  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        f"  const {t} x = a[i], y = b[i], z = c[i];\n"
        f'  o[i] = {row["expression"]};\n}}\n'
    )


def shares_of_branches(warptime, ptx):
    """{kernel: the names of the shares that count as 1 where nothing better is known}"""
    done = subprocess.run([warptime, "analyze", ptx], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    programs = re.split(r"^kernel: (\S+)$", done.stdout, flags=re.MULTILINE)
    return {name: re.findall(r"^  (\w+): \{share: 1,", program, re.MULTILINE)
            for name, program in zip(programs[1::2], programs[2::2])}


def instructions(warptime, ptx, name, shares):
    command = [warptime, "counters", ptx, "--kernel", name, "--grid", "64", "--block", "256",
               "--gpu", "h100-sxm", "--format", "csv"]
    if shares:
        command += ["--assume", ",".join(f"{share}=1" for share in shares)]
    done = subprocess.run(command, capture_output=True, text=True)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    if not rows:
        sys.exit(f"{name}: {done.stderr}")
    return float(rows[0]["smsp__inst_executed.sum"]) / (64 * 256 / 32)


def figures(warptime, source, compiler, folder, names):
    ptx = folder / f"{compiler}.ptx"
    command = [warptime, "analyze", source, "--emit", "ptx", "--compiler", compiler, "--arch", "sm_90", "-o", ptx]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    shares = shares_of_branches(warptime, ptx)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return dict(zip(names, pool.map(lambda name: instructions(warptime, ptx, name, shares[name]), names)))


def nvcc_is_the_tables():
    nvcc = shutil.which("nvcc")
    if not nvcc:
        return False
    version = subprocess.run([nvcc, "--version"], capture_output=True, text=True).stdout
    return re.search(r"release (\S+),", version).group(1) == NVCC


def main():
    warptime, update = sys.argv[1], "--update" in sys.argv
    with open(TABLE, newline="") as file:
        rows = list(csv.DictReader(file))
    names = [row["function"] for row in rows]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        source = folder / "functions.cu"
        source.write_text("#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n" + "".join(map(kernel, rows)))
        clang = figures(warptime, source, "clang", folder, names)
        nvcc = {row["function"]: float(row["nvcc"] or 0) for row in rows}
        if nvcc_is_the_tables():
            measured = figures(warptime, source, "nvcc", folder, names)
            if update:
                for row in rows:
                    row["nvcc"] = f"{measured[row['function']]:.0f}"
                with open(TABLE, "w", newline="") as file:
                    writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
                    writer.writeheader()
                    writer.writerows(rows)
            nvcc = measured
    wrong = 0
    for row in rows:
        ours, theirs = clang[row["function"]], nvcc[row["function"]]
        allowed = float(row["tolerance"] or max(ABSOLUTE, RELATIVE * theirs))
        if abs(ours - theirs) > allowed + 0.5:
            print(f"{row['function']}: {ours:.0f} instructions for nvcc's {theirs:.0f} (within {allowed:.0f})")
            wrong += 1
        if row["tolerance"] and not row["reason"]:
            print(f"{row['function']}: a tolerance without a reason")
            wrong += 1
    print(f"{len(rows)} functions, {wrong} wrong")
    return 1 if wrong else 0


sys.exit(main())
