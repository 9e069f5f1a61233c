#!/usr/bin/env python3
"""The logs of --sarif: their structure, and that each diagnostic is at its line.

Usage: check_sarif.py --warptime BINARY [--schema FILE]

FILE: the standard's own schema, which is checked as well; the tree has the part of it that warptime writes.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from jsonschema import Draft4Validator, Draft202012Validator
from jsonschema.exceptions import best_match

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

SUM = """__global__ void sum(const float* in, float* out) {
  __shared__ float part[64];
  part[threadIdx.x] = in[threadIdx.x + 1];
  out[threadIdx.x] = part[63 - threadIdx.x];
}
"""
LOOP = """__global__ void scale(float* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < n; ++k)
    data[i] = data[i] * 2 + k;
}
"""
PLAN = "name: scale\nparameters: [N, n]\ntypical: {N: 2^20, n: 8}\nlaunches: [{kernel: scale.cu, threads: N}]\n"


class Logs:
    def __init__(self, warptime, folder, schema):
        self.warptime, self.folder, self.failures = warptime, folder, []
        self.validators = [Draft202012Validator(json.loads((HERE / "sarif-2.1.0-part.json").read_text()))]
        if schema:
            self.validators.append(Draft4Validator(json.loads(Path(schema).read_text())))

    def expect(self, what, condition):
        if not condition:
            self.failures.append(what)
            print(f"FAILED: {what}", file=sys.stderr)

    def of(self, status, *command):
        """The results of the command's log, as (rule, level, uri, line, column, text)."""
        name = " ".join(command[:2])
        plain = subprocess.run([self.warptime, *command], cwd=self.folder, capture_output=True, text=True)
        log = self.folder / "log.sarif"
        log.unlink(missing_ok=True)
        done = subprocess.run([self.warptime, *command, "--sarif", "log.sarif"], cwd=self.folder, capture_output=True,
                              text=True)
        self.expect(f"{name}: status {done.returncode}, not {status}: {done.stderr}", done.returncode == status)
        self.expect(f"{name}: stderr differs with --sarif", done.stderr == plain.stderr)
        self.expect(f"{name}: stdout differs with --sarif", done.stdout == plain.stdout)
        value = json.loads(log.read_text())
        for validator in self.validators:
            problem = best_match(validator.iter_errors(value))
            self.expect(f"{name}: {problem and problem.json_path}: {problem and problem.message[:300]}", problem is None)
        run = value["runs"][0]
        rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
        self.expect(f"{name}: exit code", run["invocations"][0] == {"executionSuccessful": status == 0,
                                                                   "exitCode": status})
        results = []
        for result in run["results"]:
            self.expect(f"{name}: rule", rules[result["ruleIndex"]] == result["ruleId"])
            place = (result["locations"] or [{"physicalLocation": {}}])[0]["physicalLocation"]
            region = place.get("region", {})
            results.append((result["ruleId"], result["level"], place.get("artifactLocation", {}).get("uri"),
                            region.get("startLine"), region.get("startColumn"), result["message"]["text"]))
        return results

    def has(self, results, *wanted):
        """A result that begins with these and whose text contains the last of them."""
        *begin, text = wanted
        found = any(list(one[:len(begin)]) == begin and text in one[-1] for one in results)
        self.expect(f"no {wanted} in {results}", found)


def check(logs, folder):
    def write(name, text):
        (folder / name).write_text(text)

    write("wrong.yaml", "program:\n  - calk: 33\n  - load: {note: \"ä\", access: coalessed}\n")
    found = logs.of(1, "simulate", "wrong.yaml", "--warps", "1", "--t-m", "1")
    logs.has(found, "input", "error", "wrong.yaml", 2, 5, "unknown item `calk`\nhint: did you mean `calc`?")
    line = '  - load: {note: "ä", access: coalessed}'
    logs.has(found, "input", "error", "wrong.yaml", 3, line.index("coal") + 1, "unknown access")

    write("a b#.cu", "__global__ void f(float* a) {\n  a[threadIdx.x] = b;\n  int unused = c;\n}\n")
    found = logs.of(1, "analyze", "a b#.cu")
    logs.has(found, "compiler", "error", "a%20b%23.cu", 2, 20, "undeclared identifier 'b'")
    logs.has(found, "compiler", "error", "a%20b%23.cu", 3, 16, "undeclared identifier 'c'")

    found = logs.of(1, "analyze", "missing.cu")
    logs.has(found, "input", "error", "missing.cu", None, None, "")
    found = logs.of(1, "predict", "mtx", "--gpu", "h200", "--param", "K=8")
    logs.has(found, "input", "error", None, None, None, "N")
    logs.expect("an option is a file", not any(one[2] for one in found))
    logs.expect("results", logs.of(0, "predict", "mtx", "--gpu", "h200", "--param", "K=8,N=64") == [])
    logs.has(logs.of(0, "predict", "mtx", "--gpu", "all", "--param", "K=8,N=64", "--model", "puchala"), "input", "note",
             None, None, None, "GPUs omitted")

    write("sum.cu", SUM)
    run = ("run", "sum.cu", "--block", "64", "--arg", "in=zeros:f32:64", "--arg", "out=zeros:f32:64", "--keep-going")
    found = logs.of(1, *run)
    logs.has(found, "run/out_of_bounds", "error", "sum.cu", 3, None, "past the end of `in`")
    logs.has(found, "run/shared_race", "warning", "sum.cu", 4, None, "race")
    ptx = subprocess.run([logs.warptime, "analyze", "sum.cu", "--emit", "ptx"], cwd=folder, capture_output=True, text=True)
    kept = [one for one in ptx.stdout.splitlines() if not one.strip().startswith((".loc", ".file"))]
    write("sum.ptx", "\n".join(kept) + "\n")
    found = logs.of(1, "run", "sum.ptx", "--block", "64", "--arg", "0=zeros:f32:64", "--arg", "1=zeros:f32:64",
                    "--keep-going")
    at = [i + 1 for i, one in enumerate(kept) if "ld.global" in one][0]
    logs.has(found, "run/out_of_bounds", "error", "sum.ptx", at, "")

    kernels = folder / "kernels"
    kernels.mkdir()
    write("kernels/scale.cu", LOOP)
    write("kernels/scale.plan.yaml", PLAN)
    check_models = ("models", "check", "kernels", "--gpu", "h200")
    found = logs.of(1, *check_models)
    logs.has(found, "models/missing", "error", "kernels/scale.cu", "is missing")
    subprocess.run([logs.warptime, "models", "update", "kernels", "-o", os.devnull], cwd=folder, check=True,
                   capture_output=True)
    logs.expect("models are up to date", logs.of(0, *check_models) == [])
    write("kernels/scale.cu", "// Longer.\n" + LOOP.replace("* 2 + k", "* 2 + k * data[i + 1]"))
    found = logs.of(1, *check_models, "--max-regression", "0.1%")
    logs.has(found, "models/stale", "error", "kernels/models/scale.cu.scale.yaml", "scale.cu changed")
    changed = [one for one in found if one[0] == "models/changed"]
    logs.expect(f"changes at their lines: {found}", changed and all(
        one[1] == "error" and one[2] == "kernels/scale.cu" for one in changed) and any(
        one[3] in (4, 5) for one in changed))
    logs.has(found, "models/regression", "error", "kernels/scale.plan.yaml", "is slower by")

    # A compilation beyond its limits ends the command at once, and the log is written nevertheless.
    shutil.copy(ROOT / "dwt_kernels/mtx.cu", folder / "mtx.cu")
    found = logs.of(1, "analyze", "mtx.cu", "--max-memory", "1")
    logs.has(found, "input", "error", "")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--warptime", required=True)
    parser.add_argument("--schema")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        logs = Logs(os.path.abspath(options.warptime), Path(name), options.schema)
        check(logs, Path(name))
    print(f"{len(logs.failures)} failures")
    return 1 if logs.failures else 0


if __name__ == "__main__":
    sys.exit(main())
