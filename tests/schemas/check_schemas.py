#!/usr/bin/env python3
"""Validates what warptime reads and writes against schemas/: the tree's files, and the output of each command.

Usage: check_schemas.py --warptime BINARY [--quick]

Then every valid document is damaged in many ways (a key removed, one added, a value of another type), and the
schema has to refuse it: a schema that accepts everything would pass the first part.
"""
import argparse
import copy
import csv
import json
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = ROOT / "schemas"
NOTHING = [[[]]]  # a value that no format has
DAMAGED_PLACES = 60  # of one document
DAMAGED_LENGTH = 6_000  # characters of a document, at most, if there is one so short


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """YAML as warptime reads it: 1.2's core schema, where `on` and `2026-11-22` are text."""


Loader.yaml_implicit_resolvers = {}
for tag, pattern, first in [
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    ("int", r"^[-+]?[0-9]+$", list("-+0123456789")),
    ("float", r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$", list("-+.0123456789")),
]:
    Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern), first)
Loader.add_constructor("tag:yaml.org,2002:float", lambda loader, node: float(loader.construct_scalar(node)))
Loader.add_constructor("tag:yaml.org,2002:int", lambda loader, node: int(loader.construct_scalar(node)))


def documents(text):
    return [one for one in yaml.load_all(text, Loader=Loader) if one is not None]


class Checker:
    def __init__(self, warptime):
        self.warptime = warptime
        self.failures, self.validated = [], 0
        self.validators, self.examples, self.commands = {}, {}, set()
        for file in sorted(SCHEMAS.glob("*.schema.json")):
            schema = json.loads(file.read_text())
            Draft202012Validator.check_schema(schema)
            self.validators[file.name.removesuffix(".schema.json")] = Draft202012Validator(schema)

    def fail(self, message):
        self.failures.append(message)
        print(f"FAILED: {message}", file=sys.stderr)

    def check(self, name, value, where):
        self.validated += 1
        problem = best_match(self.validators[name].iter_errors(value))
        if problem is not None:
            self.fail(f"{where}: {name}: {problem.json_path}: {problem.message[:300]}")
        else:
            self.examples.setdefault(name, []).append((where, value))

    def run(self, *arguments, status=0, text=None):
        done = subprocess.run([self.warptime, *map(str, arguments)], cwd=ROOT, input=text, text=True,
                              capture_output=True)
        if done.returncode != status:
            self.fail(f"warptime {' '.join(map(str, arguments))}: exit status {done.returncode}\n{done.stderr}")
        return done

    def check_json(self, name, *arguments, status=0):
        self.commands.add(str(arguments[0]))
        done = self.run(*arguments, "--format", "json", status=status)
        try:
            value = json.loads(done.stdout)
        except ValueError as wrong:
            return self.fail(f"warptime {' '.join(map(str, arguments))}: no JSON: {wrong}")
        self.check(name, value, "warptime " + " ".join(map(str, arguments)))
        return value

    def check_yaml(self, name, text, where):
        for one in documents(text):
            self.check(name, one, where)


def check_files(checker, folder):
    kinds = [("gpu", "simulator/gpu/catalogue/*.yaml"), ("plan", "dwt_kernels/*.plan.yaml"),
             ("plan", "samples/**/*.plan.yaml"), ("kernel-program", "dwt_kernels/models/*.yaml"),
             ("kernel-program", "samples/**/models/*.yaml"), ("kernel-program", "samples/puchala2022/*.yaml")]
    for name, pattern in kinds:
        files = sorted(file for file in ROOT.glob(pattern)
                       if name == "plan" or not file.name.endswith(".plan.yaml"))
        if not files:
            checker.fail(f"no file {pattern}")
        for file in files:
            checker.check_yaml(name, file.read_text(), file.relative_to(ROOT))


# Of tests/simulator/bad: what a schema cannot see. Text that is no expression or no list of lines, numbers that do not fit,
# names that another part of the file declares or does not, keys that occur twice (the parser takes the last one), sums.
NOT_SEEN = """classes-too-many count-does-not-fit expression expression-quoted key-twice lines negative-calc
  number-does-not-fit plan-array-as-threads plan-array-is-a-counter plan-array-is-a-parameter plan-array-of-unknown-size
  plan-counter-hides plan-counter-out-of-scope plan-dimension-in-size plan-dimension-undeclared plan-expression
  plan-four-dimensions plan-undeclared plan-unknown-name""".split()


def check_bad_files(checker):
    """What the reader refuses for its structure, the schema refuses, too."""
    files = sorted(ROOT.glob("tests/simulator/bad/bad-*.yaml"))
    if len(files) < 90:
        checker.fail(f"only {len(files)} bad files")
    for file in files:
        name = file.stem.removeprefix("bad-")
        kind = name.partition("-")[0]
        try:
            found = documents(file.read_text())
        except yaml.YAMLError:
            continue
        kind = kind if kind in ("plan", "gpu", "calibration") else "kernel-program"
        refused = not found or not all(checker.validators[kind].is_valid(one) for one in found)
        if refused == (name in NOT_SEEN):
            checker.fail(f"{file.name}: the schema {kind} " + ("refuses" if refused else "accepts") + " it")


def check_measurements(checker):
    """The measurements CSV against its table schema: the fields that a file has, and those that it must have."""
    table = json.loads((SCHEMAS / "measurements.table.json").read_text())
    fields = {field["name"]: field for field in table["fields"]}

    def wrong(field, value):
        limits = field.get("constraints", {})
        if value in table["missingValues"]:
            return "is missing" if limits.get("required") else None
        if field["type"] in ("number", "integer"):
            try:
                number = float(value)
            except ValueError:
                return "is not a number"
            if field["type"] == "integer" and number != int(number):
                return "is not whole"
            if number < limits.get("minimum", number):
                return "is too small"
        if "enum" in limits and value not in limits["enum"]:
            return "is not one of the values"
        if "pattern" in limits and not re.fullmatch(limits["pattern"], value):
            return "does not match"
        return None

    def problems(text):
        rows = csv.DictReader(text.splitlines())
        for name, field in fields.items():
            if field.get("constraints", {}).get("required") and name not in (rows.fieldnames or []):
                yield f"no column {name}"
        for number, row in enumerate(rows, 2):
            for name, value in row.items():
                if name in fields and (why := wrong(fields[name], value or "")):
                    yield f"line {number}: {name} {why}: {value}"

    found = 0
    for file in sorted((ROOT / "data").glob("*.csv")):
        text = file.read_text()
        if file.name.startswith("bernabe"):  # of the steps of another program
            continue
        if not {"plan", "gpu", "time_us"} <= set(text.partition("\n")[0].split(",")):
            continue
        found += 1
        checker.validated += 1
        for problem in list(problems(text))[:3]:
            checker.fail(f"{file.name}: {problem}")
    if found < 5:
        checker.fail(f"only {found} files of measurements")
    heading = "plan,gpu,K,time_us,what,grid"
    for bad in ["plan,gpu,K\nmtx,h200,8", heading + "\nmtx,h200,8,fast,kernels,1x1x1",
                heading + "\nmtx,h200,8,-1,kernels,1x1x1", heading + "\nmtx,h200,8,1,events,1x1x1",
                heading + "\nmtx,h200,8,1,plan,1x1", heading + "\n,h200,8,1,plan,1x1x1"]:
        if not list(problems(bad)):
            checker.fail(f"the table schema accepts {bad!r}")


def check_analyze(checker, quick):
    sources = sorted([*ROOT.glob("dwt_kernels/*.cu"), *ROOT.glob("samples/**/*.cu")])
    sources = [file.relative_to(ROOT) for file in sources if "__global__" in file.read_text()]
    for source in sources[:3] if quick else sources:
        checker.check_json("kernel-program", "analyze", source, "--estimate-machine", "--classes")
    checker.check_yaml("kernel-program", checker.run("analyze", sources[0]).stdout, f"analyze {sources[0]}")
    for source in ["dwt_kernels/mtx.cu", "samples/fft/fft.cu"]:
        for step in ["cfg", "loops", "listing", "machine"]:
            checker.check_json(f"analyze-{step}", "analyze", source, "--emit", step)
    checker.check_json("analyze-ptx", "analyze", "dwt_kernels/mtx.cu", "--emit", "ptx", "--kernel", "mtx")
    checker.check_json("kernel-program", "analyze", "dwt_kernels/mtx.cu", "--emit", "periods")
    checker.check_json("kernel-program", "analyze", "dwt_kernels/mtx.cu", "--block", "16,16", "--rearrange")
    checker.check_json("kernel-program", "analyze", "dwt_kernels/mtx.cu", "--rolled", "--estimate-machine")


def check_predict(checker):
    sizes = ("--gpu", "rtx-2080,h200", "--param", "K=8,N=2^12,2^16")
    for more in [(), ("--model", "puchala"), ("--model", "luo-suda"), ("--model", "extended"), ("--model", "all"),
                 ("--best-launch",), ("--transfers",), ("--shard", "1/2"), ("--shard", "5/5")]:
        checker.check_json("predict", "predict", "mtx", *sizes, *more)
    checker.check_json("predict", "predict", "mtx", "--gpu", "all", "--param", "K=8,N=2^12")
    checker.check_json("predict", "predict", "dwt_kernels/mtx.cu", "--threads", "N", *sizes)
    for model in ["puchala", "luo-suda", "extended"]:
        checker.check_json("predict-explain", "predict", "mtx", *sizes, "--explain", "--model", model)
        checker.check_json("predict-explain", "predict", "samples/fft/fft_radix2.plan.yaml", "--explain", "--model",
                           model, "--gpu", "h200", "--param", "N=2^12")
    checker.check_json("predict-against", "predict", "matrix", "--against", "lattice", *sizes)
    checker.check_json("predict-against", "predict", "mtx", "--against", "ltt", *sizes, "--model", "extended")


def check_copies(checker):
    """A report holds what other commands write: its schema has copies of theirs."""
    copies = json.loads((SCHEMAS / "report.schema.json").read_text())["$defs"]
    for name in ["kernel-program", "predict-explain", "compare"]:
        schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
        text = json.dumps({key: value for key, value in schema.items() if key not in ("$schema", "$id")})
        text = text.replace('"#/$defs/', f'"#/$defs/{name}.').replace('"$ref": "#"', f'"$ref": "#/$defs/{name}"')
        whole = json.loads(text)
        parts = {f"{name}.{key}": value for key, value in whole.pop("$defs", {}).items()}
        if copies.get(name) != whole or any(copies.get(key) != value for key, value in parts.items()):
            checker.fail(f"report.schema.json has another copy of {name}.schema.json than the one beside it")


def check_commands(checker, folder):
    checker.check_json("plans", "plans")
    checker.check_json("plans", "plans", "lattice")
    for plan in ["fft_radix4", "gpu_dwt_m2_ww", "dct2_8x8"]:
        checker.check_json("plans", "plans", plan)
    checker.check_json("gpus", "gpus")
    for gpu in ["h200", "rtx-2080", "gtx-260"]:
        checker.check_json("gpus", "gpus", gpu)
    listing = "samples/puchala2022/listing_7.yaml"
    simulate = ("simulate", listing, "--warps", "4", "--t-m", "6", "--param", "K=8")
    checker.check_json("simulate", *simulate)
    checker.check_json("simulate", "simulate", listing, "--warps", "1..4", "--t-m", "6", "--param", "K=8,9")
    checker.check("timeline", json.loads(checker.run(*simulate, "--timeline", "perfetto").stdout), "simulate --timeline")
    sizes = ("--gpu", "h200", "--param", "K=8,N=2^12")
    checker.check("timeline", json.loads(checker.run("predict", "mtx", *sizes, "--timeline", "perfetto").stdout),
                  "predict --timeline")
    checker.check_json("counters", "counters", "mtx", *sizes)
    checker.check_json("report", "report", "mtx", "ltt", "--gpu", "h200,rtx-2080", "--param", "K=8,N=2^12,2^14")
    checker.check_json("report", "report", "samples/puchala2022/listing_7.yaml", "--threads", "64", "--param", "K=8", "--gpu",
                       "rtx-2080", "--model", "all")
    checker.check_json("report", "report", "gpu_dwt_m2_nw", "gpu_dwt_l2_nw", "--gpu", "rtx-2080-ti", "--param", "K=8,N=2^18",
                       "--measurements", "data/stokfiszewski2022_rtx2080ti.csv")
    check_copies(checker)
    checker.check_json("compare-counters", "compare", "mtx", "--counters", "data/samples/ncu_mtx_raw.csv", "--param",
                       "K=8", "--param", "N=2^12", "--gpu", "h200")
    measured = ("data/stokfiszewski2022_rtx2080ti.csv",)
    checker.check_json("compare", "compare", "gpu_dwt_m2_nw", *measured, "--against", "gpu_dwt_l2_nw")
    fit = ("calibrate", "matrix", "data/h200_one_dimension.csv", "--rows-of", "mtx", "--param", "K=8", "--param",
           "N=2^14..2^20")
    calibration = folder / "matrix.yaml"
    for more in [(), ("mtx", "--durations", "20..400"), ("--durations", "load.2=20..400"), ("--hold-out", "0.25"), ("--model", "extended"),
                 ("--t-p", "5")]:
        command = [more[0] if more and one == "matrix" and more[0] == "mtx" else one for one in fit]
        more = tuple(one for one in more if one != "mtx")
        checker.check_json("calibrate", *command, *more, "-o", calibration)
        checker.check_yaml("calibration", calibration.read_text(), f"calibrate {' '.join(more)}")
    checker.check_json("models", "models", "check", "samples/fft")
    source = folder / "data.cu"
    source.write_text(DATA)
    for more in [(), ("--estimate-machine", "--classes")]:
        checker.check_json("kernel-program", "analyze", source, *more)
        checker.check_yaml("kernel-program", checker.run("analyze", source, *more).stdout, f"analyze {source} {more}")
    checker.check_json("analyze-listing", "analyze", source, "--emit", "listing")
    (folder / "data.bin").write_bytes(struct.pack("<128i", *[i * 7 % 11 for i in range(128)]))
    profile = folder / "data.profile.yaml"
    checker.run("run", source, "--grid", "2", "--block", "64", "--shared", "256", "--arg",
                f"in=raw:i32:{folder / 'data.bin'}", "--arg", "out=zeros:f32:128", "--arg", "counts=zeros:i32:128", "--arg",
                "n=64", "--check", "bounds", "--profile", profile)
    checker.check_yaml("profile", profile.read_text(), "run --profile data")
    long = ("simulate", listing, "--warps", "2", "--t-m", "6", "--param", "K=100000000", "--timeline",
            "perfetto")
    checker.check("timeline", json.loads(checker.run(*long).stdout), "simulate --timeline, shortened")
    kernels = folder / "kernels"
    shutil.copytree(ROOT / "samples/fft", kernels)
    (kernels / "fft.cu").write_text("// Longer.\n" + (kernels / "fft.cu").read_text())
    checker.check_json("models", "models", "check", kernels, "--gpu", "h200", status=1)
    (kernels / "scale.cu").write_text(SCALE)
    (kernels / "scale.plan.yaml").write_text("name: scale\nparameters: [N, n]\ntypical: {n: 8}\n"
                                             "launches: [{kernel: scale.cu, threads: N}]\n")
    checker.check_json("models", "models", "update", kernels, "--gpu", "h200")
    (kernels / "scale.cu").write_text(SCALE.replace("* 2", "* 2 + data[i + 1]"))
    value = checker.check_json("models", "models", "update", kernels, "--gpu", "h200,rtx-2080")
    if value is not None and not any(one["changes"] and one["costs"] for one in value["models"]):
        checker.fail("models update: no changes with their costs")
    source = folder / "host.cu"
    source.write_text(HOST)
    checker.check_yaml("plan", checker.run("plan", source).stdout, "plan host.cu")


# Data decide branches, iterations and addresses; atomics; a region.
DATA = """
__global__ void __launch_bounds__(256, 2) data(const int* in, float* out, int* counts, int n) {
  extern __shared__ float part[];
  __shared__ int bins[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = in[i];
  __syncthreads();
  // warptime-begin rounds
  for (int k = 0; k < in[i]; ++k)
    if (in[k] > 3) out[i] += part[in[k] & 63] * sqrtf(out[k]);
  // warptime-end rounds
  atomicAdd(&bins[in[i] & 63], 1);
  atomicAdd(&out[in[i]], 1.0f);
  if (threadIdx.x < n) counts[in[i]] = bins[threadIdx.x & 63];
}
"""

SCALE = """
__global__ void scale(float* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < n; ++k) data[i] = data[i] * 2;
}
"""

HOST = """
__global__ void add(const float* a, float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] += a[i];
}
void run(const float* a, float* b, float* host, int n) {
  cudaMemcpy(b, host, n * sizeof(float), cudaMemcpyHostToDevice);
  for (int k = 0; k < 4; ++k) add<<<(n + 255) / 256, 256>>>(a, b, n);
}
int main(int argc, char** argv) {
  const int n = 1 << 20;
  float *a, *b, *host = new float[n];
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  run(a, b, host, n);
}
"""

SUM = """
__global__ void sum(const float* in, float* out, int n) {
  __shared__ float part[64];
  const int i = blockIdx.x * 64 + threadIdx.x;
  float all = 0;
  for (int j = 0; j < (int)in[i % 8] % 3; ++j) all += in[i];
  part[threadIdx.x] = all;
  if (RACE) out[0] = part[63 - threadIdx.x];
  __syncthreads();
  if (i < n && in[i] > 0.5f) out[i] = part[63 - threadIdx.x];
}
"""


def check_run(checker, folder):
    (folder / "in.bin").write_bytes(struct.pack("<128f", *[0.7 * (i % 7) for i in range(128)]))
    for race in ["0", "1"]:
        source = folder / f"sum{race}.cu"
        source.write_text(SUM.replace("RACE", race))
        run = ("run", source, "--grid", "2", "--block", "64", "--arg", f"in=raw:f32:{folder / 'in.bin'}", "--arg", "out=zeros:f32:128",
               "--arg", "n=128")
        status = int(race)
        value = checker.check_json("run", *run, "--keep-going", status=status)
        if value is not None and bool(value["findings"]) != bool(status):
            checker.fail("run: findings")
    clean = list(run)
    clean[1] = folder / "sum0.cu"
    profile = folder / "sum.profile.yaml"
    checker.check_json("run", *clean, "--profile", profile)
    checker.check_yaml("profile", profile.read_text(), "run --profile")
    checker.check_json("run", *clean, "--sample-blocks", "1", "--profile", profile)
    checker.check_yaml("profile", profile.read_text(), "run --sample-blocks --profile")
    checker.check_json("kernel-program", *clean, "--stream", "0:0")


def check_newer(checker, folder):
    """A newer version of a format is an error that says so, for the command and for the schema."""
    cases = [("kernel-program", 3, "program: [{calc: 1}]", lambda file: ("simulate", file, "--warps", "1", "--t-m", "1")),
             ("plan", 1, "name: p\nlaunches: [{kernel: k.yaml, threads: 1}]", lambda file: ("predict", file)),
             ("calibration", 1, "calibrations: {h200: {t_p: 1}}",
              lambda file: ("predict", "mtx", "--calibration", file, "--param", "K=8,N=8")),
             ("profile", None, "kernel: mtx",
              lambda file: ("predict", "dwt_kernels/mtx.cu", "--threads", "N", "--profile", file, "--param", "K=8,N=8")),
             ("gpu", 1, (ROOT / "simulator/gpu/catalogue/rtx-2080.yaml").read_text(),
              lambda file: ("gpus", "--gpu-dir", file.parent))]
    for name, newest, text, command in cases:
        version = checker.validators[name].schema
        newest = newest or version["properties"]["warptime"]["maximum"]
        own = folder / name
        own.mkdir()
        file = own / f"{name}.yaml"
        for number, good in [(newest, True), (newest + 1, False)]:
            file.write_text(f"warptime: {number}\n{text}\n")
            valid = checker.validators[name].is_valid(documents(file.read_text())[0])
            if valid != good:
                checker.fail(f"{name}: the schema and version {number}")
        done = checker.run(*command(file), status=1)
        if f"format {newest + 1} is newer than this warptime, which reads up to {newest}" not in done.stderr:
            checker.fail(f"{name}: a newer version: {done.stderr}")
        if f":1:11: error:" not in done.stderr:
            checker.fail(f"{name}: a newer version has no place: {done.stderr}")


def places(value, path=()):
    """Every object and its keys, one of each kind: elements of a list and of a map are alike."""
    if isinstance(value, dict):
        yield path
        for key, one in value.items():
            yield from places(one, (*path, key))
    elif isinstance(value, list):
        for index, one in enumerate(value[:4]):
            yield from places(one, (*path, index))


def at(value, path):
    for key in path:
        value = value[key]
    return value


def check_damage(checker):
    for name, validator in checker.validators.items():
        found = checker.examples.get(name)
        if not found:
            checker.fail(f"{name}: nothing was validated")
            continue
        removed = 0
        found = sorted(found, key=lambda one: len(json.dumps(one[1])))
        short = [one for one in found if len(json.dumps(one[1])) <= DAMAGED_LENGTH]
        for where, value in short[-3:] or found[:1]:
            value = copy.deepcopy(value)
            seen, objects = set(), []
            for path in places(value):
                kind = tuple("*" if isinstance(key, int) else key for key in path)
                if kind not in seen:
                    seen.add(kind)
                    objects.append(path)
            for path in objects[:DAMAGED_PLACES]:
                one = at(value, path)
                one["surplus key"] = NOTHING
                if validator.is_valid(value):
                    checker.fail(f"{where}: {name} accepts another key at {path}")
                del one["surplus key"]
                for key in list(one)[:40]:
                    kept = list(one.items())
                    one[key] = NOTHING
                    if validator.is_valid(value):
                        checker.fail(f"{where}: {name} accepts a value of another type at {(*path, key)}")
                    del one[key]
                    removed += not validator.is_valid(value)
                    one.clear()
                    one.update(kept)
            top = value[0] if isinstance(value, list) and value else value
            if isinstance(top, dict):
                top["surplus"] = 1
                if validator.is_valid(value):
                    checker.fail(f"{where}: {name} accepts another key with a number")
        if removed == 0:
            checker.fail(f"{name}: no key is required")


def check_coverage(checker):
    """Each command that writes JSON was asked for it here, and each schema was compared with something."""
    commands = [line.split("\t")[0] for line in checker.run("complete", "").stdout.splitlines()]
    commands.remove("help")
    with_json = set()
    for command in commands:
        said = checker.run("help", command).stdout
        formats = re.search(r"--format FORMAT\s+(.*(?:\n {20,}\S.*)*)", said)
        if formats and re.search(r"\bjson\b", formats.group(1)):
            with_json.add(command)
    if len(with_json) < 10:
        checker.fail(f"only these commands say that they write JSON: {sorted(with_json)}")
    measured = {"measure"}  # needs a GPU: the file tests/schemas/measure.json stands for it
    for command in sorted(with_json - checker.commands - measured):
        checker.fail(f"no output of warptime {command} --format json was validated")
    for name in sorted(checker.validators.keys() - checker.examples.keys()):
        checker.fail(f"nothing was validated against {name}.schema.json")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--warptime", required=True)
    parser.add_argument("--quick", action="store_true", help="analyse only a few kernels")
    options = parser.parse_args()
    checker = Checker(options.warptime)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        check_files(checker, folder)
        check_bad_files(checker)
        check_measurements(checker)
        check_analyze(checker, options.quick)
        check_predict(checker)
        check_commands(checker, folder)
        check_run(checker, folder)
        check_newer(checker, folder)
        # A measurement needs a GPU: a row as docs/measuring.md and cli/commands/measure_rows.cc have it.
        checker.check("measure", json.loads((ROOT / "tests/schemas/measure.json").read_text()), "measure.json")
        check_coverage(checker)
        check_damage(checker)
    print(f"{checker.validated} documents, {len(checker.failures)} failures")
    return 1 if checker.failures else 0


if __name__ == "__main__":
    sys.exit(main())
