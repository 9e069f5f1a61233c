#!/usr/bin/env python3
"""Executes every case of this folder with `warptime run`, and compares what it gives and finds with what the case says.

  check_suite.py WARPTIME [REGEX]

With a REGEX only the cases whose names match.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import cases as suite

FORMATS = {"u32": "I", "u64": "Q", "f32": "f", "f64": "d"}
INSTRUCTIONS = "2000000"  # of a kernel that waits for ever


def compile_file(warptime, folder, file):
    ptx = f"{folder}/{file.stem}.ptx"
    command = [warptime, "analyze", str(file), "--emit", "ptx", "-o", ptx, "--arch", "sm_90", "--", "-std=c++17"]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{result.stderr}")


def value_of(case, name, value, folder):
    """VALUE as `warptime run` takes it."""
    if not value.startswith("iota:"):
        return value
    _, type_name, count = value.split(":")
    file = f"{folder}/{case.name}.{name}"
    pathlib.Path(file).write_bytes(struct.pack(f"<{count}{FORMATS[type_name]}", *range(int(count))))
    return f"raw:{type_name}:{file}"


def execute(warptime, case, folder):
    """(what `warptime run` says as JSON, the numbers of each buffer; none of a kernel that has not completed)."""
    command = [warptime, "run", f"{folder}/{case.file.stem}.ptx", "--kernel", case.name, "--grid", str(case.grid),
               "--block", str(case.block), "--shared", str(case.shared), "--format", "json", "--max-instructions",
               INSTRUCTIONS]
    for position, (name, value) in enumerate(case.arguments):
        command += ["--arg", f"{position}={value_of(case, name, value, folder)}"]
    positions = {name: position for position, (name, _) in enumerate(case.arguments)}
    for name, *_ in case.buffers():
        command += ["--out", f"{positions[name]}={folder}/{case.name}.{name}.out"]
    result = subprocess.run(command, capture_output=True, text=True)
    if not result.stdout:
        return {"error": result.stderr}, {}
    buffers = {}
    for name, _, type_name, count in case.buffers():
        file = pathlib.Path(f"{folder}/{case.name}.{name}.out")
        if file.exists():
            buffers[name] = list(struct.unpack(f"<{count}{FORMATS[type_name]}", file.read_bytes()))
    return json.loads(result.stdout), buffers


def faults_of(case, said, buffers):
    if "error" in said:
        return [said["error"]]
    faults = []
    found = sorted({finding["kind"] for finding in said["findings"]})
    if found != case.finds:
        messages = "".join(f"\n      line {finding['line']}: {finding['message']}" for finding in said["findings"])
        faults.append(f"finds {' '.join(found) or 'nothing'}, not {' '.join(case.finds) or 'nothing'}{messages}")
    for name, numbers in case.gives.items():
        given = buffers.get(name)
        if given is None:
            faults.append(f"gives no {name}")
        elif given != [type(given[0])(number) for number in numbers]:
            faults.append(f"gives {name} {given}, not {list(numbers)}")
    return faults


def main():
    warptime = os.path.abspath(sys.argv[1])
    pattern = sys.argv[2] if len(sys.argv) > 2 else ""
    chosen = [case for case in suite.read_cases() if re.search(pattern, case.name)]
    wrong = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda file: compile_file(warptime, folder, file), sorted({case.file for case in chosen})))
        for case, (said, buffers) in zip(chosen, pool.map(lambda case: execute(warptime, case, folder), chosen)):
            for fault in faults_of(case, said, buffers):
                print(f"{case.file.name}: {case.name}: {fault}")
                wrong += 1
    print(f"{len(chosen)} cases, {wrong} faults")
    sys.exit(1 if wrong or not chosen else 0)


if __name__ == "__main__":
    main()
