"""The kinds of hostile inputs: each function yields cases, and its docstring is its promise in the table of
docs/robustness.md."""

import signal

import harness
import inputs
from harness import ANY, Case, ENDS_WELL, REFUSED

FILES = {"mtx.cu": inputs.KERNEL, "k.ptx": inputs.PTX, "p.yaml": inputs.PROGRAM, "pair.plan.yaml": inputs.PLAN,
         "rows.csv": inputs.ROWS, "cal.yaml": inputs.CALIBRATION, "gpus/mine.yaml": inputs.GPU}


def readers(name):
    """Each command that reads an input of this name."""
    one = ["--gpu", "h200"]
    yield "analyze", ["analyze", name]
    yield "simulate", ["simulate", name, "--warps", "2", "--t-m", "2", "--param", "K=3"]
    yield "predict", ["predict", name, *one, "--threads", "64"]
    yield "predict a plan", ["predict", name, *one, "--param", "N=64"]
    yield "predict against", ["predict", "matrix", *one, "--param", "K=8,N=64", "--against", name]
    yield "counters", ["counters", name, *one, "--threads", "64"]
    yield "run", ["run", name, "--block", "32"]
    yield "calibrate", ["calibrate", name, "rows.csv"]
    yield "compare", ["compare", name, "rows.csv"]
    yield "measurements", ["compare", "matrix", name]
    yield "fit", ["calibrate", "matrix", name, "--gpu", "h200", "--param", "K=8,N=64"]
    yield "counted", ["compare", "mtx.cu", "--threads", "64", "--counters", name, *one]
    yield "calibration", ["predict", "matrix", *one, "--param", "K=8,N=64", "--calibration", name]
    yield "profile", ["predict", "mtx.cu", *one, "--threads", "64", "--param", "N=64", "--profile", name]
    yield "measure", ["measure", name, "--dry-run", *one, "--param", "N=64", "--compiler", "clang"]
    yield "plan", ["plan", name]
    yield "plans", ["plans", name]
    yield "an array", ["run", "mtx.cu", "--block", "4", "--arg", "N=4", "--arg", "a=@" + name]
    yield "raw bytes", ["run", "mtx.cu", "--block", "4", "--arg", "N=4", "--arg", "a=raw:f32:" + name]


def garbage():
    """Files that are not what any command expects are refused, or taken for what they are."""
    for what, content in inputs.GARBAGE.items():
        for extension in ("", ".yaml", ".cu", ".ptx"):
            for command, line in readers("input" + extension):
                if extension in (".cu", ".ptx") and command not in ("analyze", "run", "plan", "predict"):
                    continue
                if extension == "" and command not in ("measurements", "counted", "an array", "fit", "plans"):
                    continue
                yield Case(f"{what}, {command}, input{extension}", line, {**FILES, "input" + extension: content})
        yield Case(f"{what}, --gpu-dir", ["gpus", "--gpu-dir", "d"], {"d/x.yaml": content})
        yield Case(f"{what}, models", ["models", "check", "d", "--gpu", "h200"],
                   {"d/x.plan.yaml": content, "d/mtx.cu": inputs.KERNEL})
        yield Case(f"{what}, standard input", ["analyze", "-"], stdin=content)


def special_files():
    """Folders, pipes, devices and links that lead nowhere are refused in seconds and little memory."""
    makers = {"a pipe": harness.make_fifo, "a link to nothing": harness.make_link("nothing"),
              "a link to itself": harness.make_link("special"), "a link to its folder": harness.make_link("."),
              "a link to a device": harness.make_link("/dev/zero"), "a link to memory": harness.make_link("/proc/self/mem"),
              "a link to a full device": harness.make_link("/dev/full"), "two terabytes": harness.make_sparse(2 << 40)}
    for what, make in makers.items():
        for command, line in readers("special"):
            yield Case(f"{what}, {command}", line, {**FILES, "special": make}, REFUSED)
        if what == "two terabytes":
            continue
        yield Case(f"{what}, --gpu-dir", ["gpus", "--gpu-dir", "d"], {"d/special.yaml": make}, REFUSED)
        yield Case(f"{what}, models", ["models", "check", "d"], {"d/special.plan.yaml": make}, REFUSED)


def names():
    """Names with what shells, terminals and YAML read are taken as they stand, and shown without effects."""
    for text in inputs.METACHARACTERS:
        for name in (f"x{text}.cu", f"{text}x.cu", f"x{text}y/mtx.cu"):
            if name.startswith("-"):
                name = "./" + name
            yield Case(f"{name!r}, analyze", ["analyze", name], {name: inputs.KERNEL}, ENDS_WELL)
            yield Case(f"{name!r}, missing", ["predict", name + "n", "--gpu", "h200"], {}, REFUSED)
        plan = f"x{text}.plan.yaml"
        yield Case(f"{plan!r}, predict", ["predict", plan, "--gpu", "h200", "--param", "N=64"],
                   {plan: inputs.PLAN, "mtx.cu": inputs.KERNEL}, ENDS_WELL)
        yield Case(f"{plan!r}, no plan", ["predict", plan, "--gpu", "h200"], {plan: "launches: [" + text}, REFUSED)
        yield Case(f"{text!r}, a GPU", ["predict", "mtx.cu", "--threads", "4", "--gpu", "x" + text], FILES, REFUSED)
        yield Case(f"{text!r}, an option", ["predict", "mtx.cu", "--x" + text], FILES, REFUSED)
        yield Case(f"{text!r}, a command", ["x" + text], FILES, REFUSED)
    for length in (200, 255, 256, 5000):
        yield Case(f"a name of {length}", ["analyze", "x" * length], {}, REFUSED)
        yield Case(f"an output of {length}", ["gpus", "-o", "x" * length], {}, ENDS_WELL if length < 256 else REFUSED,
                   writes=["x" * length])


# As nvcc does: its arguments between double quotes, read by a shell.
SHELL_NVCC = """#!/bin/sh
if [ "$1" = --version ]; then echo 'release 13.0, V13.0.88'; exit; fi
if [ "$1" = --list-gpu-code ]; then echo sm_75; echo sm_90; exit; fi
for argument; do case $argument in *.ptx) output=$argument; esac; done
line=true
for argument; do line="$line \\"$argument\\""; done
sh -c "$line" || exit 1
cat > "$output" <<'END'
%s
END
""" % inputs.PTX.strip()
# ptxas runs nothing: whatever it is given goes through a shell here.
SHELL_PTXAS = """#!/bin/sh
line=true
for argument; do line="$line \"$argument\""; done
sh -c "$line"
echo 'ptxas fatal : nothing is assembled' >&2
exit 1
"""
TOOLS = {"bin/nvcc": harness.make_program(SHELL_NVCC), "bin/ptxas": harness.make_program(SHELL_PTXAS)}
WITH_TOOLS = {"PATH": "@/bin:/usr/bin:/bin"}


def shells():
    """Nothing of a name or a flag reaches a shell, nor nvcc's, which it runs its steps through: no command in it is run."""
    def case(name, command, files=None, **more):
        return Case(name, command, {**TOOLS, **FILES, **(files or {})}, environment={**WITH_TOOLS, **more})
    nvcc = ["--compiler", "nvcc"]
    for text in inputs.METACHARACTERS:
        for folder in (f"{text}x", f"x{text}y", f"x{text}"):
            folder = folder if not folder.startswith("-") else "./" + folder
            yield case(f"{folder!r}, its folder", ["analyze", folder + "/mtx.cu", *nvcc],
                       {folder + "/mtx.cu": inputs.KERNEL})
            for flag in ("-I", "-isystem ", "-include "):
                words = (flag + folder).split(" ", 1) if " " in flag else [flag + folder]
                yield case(f"{folder!r}, {flag.strip()}", ["analyze", "mtx.cu", *nvcc, "--", *words],
                           {folder + "/a.h": ""})
            yield case(f"{folder!r}, -D", ["analyze", "mtx.cu", *nvcc, "--", "-DX=" + folder])
            yield case(f"{folder!r}, a flag", ["analyze", "mtx.cu", *nvcc, "--", "-Xptxas=" + folder])
        yield case(f"{text!r}, --dry-run", ["measure", f"x{text}/pair.plan.yaml", "--dry-run", "--gpu", "h200", "--param",
                                            "N=64"],
                   {f"x{text}/pair.plan.yaml": inputs.PLAN, f"x{text}/mtx.cu": inputs.KERNEL})
        yield case(f"{text!r}, models", ["models", "check", f"x{text}", *nvcc],
                   {f"x{text}/pair.plan.yaml": inputs.PLAN, f"x{text}/mtx.cu": inputs.KERNEL})
        if text.strip("\n\t/"):
            temporary = f"@/x{text}tmp"
            yield case(f"{text!r}, TMPDIR", ["analyze", "mtx.cu", *nvcc], {f"x{text}tmp/empty": ""}, TMPDIR=temporary)
        yield case(f"{text!r}, CUDA_HOME", ["analyze", "mtx.cu", *nvcc],
                   {f"x{text}/bin/nvcc": harness.make_program(SHELL_NVCC)}, PATH="/usr/bin:/bin", CUDA_HOME=f"@/x{text}")
        yield case(f"{text!r}, ptxas in its folder", ["analyze", "mtx.cu", "--machine"],
                   {f"x{text}/bin/ptxas": harness.make_program(SHELL_PTXAS)}, PATH="/usr/bin:/bin", CUDA_HOME=f"@/x{text}")
        for folder in (f"{text}x", f"x{text}y", f"x{text}"):
            folder = folder if not folder.startswith("-") else "./" + folder
            yield case(f"{folder!r}, ptxas", ["analyze", folder + "/mtx.cu", "--machine"], {folder + "/mtx.cu": inputs.KERNEL})
            yield case(f"{folder!r}, git", ["models", "check", folder, "--against", "HEAD"],
                       {folder + "/pair.plan.yaml": inputs.PLAN, folder + "/mtx.cu": inputs.KERNEL,
                        folder + "/.git": harness.make_repository})
        yield case(f"{text!r}, git's file", ["models", "check", ".", "--against", "HEAD"],
                   {f"x{text}.cu": inputs.KERNEL, ".git": harness.make_repository})
        yield case(f"{text!r}, --against", ["models", "check", ".", "--against", "x" + text])
    for revision in ("^HEAD", "HEAD..HEAD", "--all", "-h", "--output=HACKED", ":/x", "@{u}"):
        yield Case(f"{revision}, --against", ["models", "check", ".", "--against", revision],
                   {**TOOLS, **FILES, ".git": harness.make_repository}, (1,), "is not a revision", environment=WITH_TOOLS)


WRITING_FLAGS = """-MF=x -MFx -MD -MMD -M -MM -MJx -MV -save-temps --save-temps -save-temps=obj -save-stats --save-stats
 -save-stats=obj --serialize-diagnostics -serialize-diagnostics -ftime-trace -ftime-trace=x -fsave-optimization-record
 -foptimization-record-file=x -fprofile-generate -fprofile-instr-generate=x -fcs-profile-generate -fprofile-arcs
 -ftest-coverage --coverage -fcoverage-mapping -gsplit-dwarf -dumpdir -fstack-usage -fdump-tree-all -o -ox
 --output-file=x -odir=x --output-directory=x -keep --keep -keep-dir=x --keep-dir=x -time=x --time=x --fdevice-time-trace=x
 --write-dependencies --write-user-dependencies --generate-dependencies --generate-dependencies-with-compile
 --dependency-output=x -dependency-file --emit-static-lib -emit-pch -emit-llvm -fmodules -fmodules-cache-path=x
 -fplugin=x -fpass-plugin=x --config=x -optf=x --options-file=x @x -v -### --version -E -index-store-path -extract-api
 -fproc-stat-report=x -Xcompiler=-MD -Xcompiler=-save-temps,-g -Xclang=-stats-file=x -Wp,-MD,x""".split()


def flags():
    """Flags behind `--` that write files, load code or do something else than compile are refused by name."""
    for compiler in ("clang", "nvcc"):
        for flag in WRITING_FLAGS:
            yield Case(f"{flag}, {compiler}", ["analyze", "mtx.cu", "--compiler", compiler, "--", flag],
                       {**TOOLS, **FILES, "x": "-DX"}, (1,), "cannot pass", environment=WITH_TOOLS)
        for flag in ("-Xclang", "-Xcompiler", "-mllvm"):
            for value in ("-dependency-file", "-stats-file=x", "-MD", "-info-output-file=x", "-plugin=x"):
                yield Case(f"{flag} {value}, {compiler}", ["analyze", "mtx.cu", "--compiler", compiler, "--", flag, value],
                           {**TOOLS, **FILES}, (1,), "cannot pass", environment=WITH_TOOLS)


OUTPUTS = {
    "analyze": (["analyze", "mtx.cu"], "mtx.cu"),
    "simulate": (["simulate", "p.yaml", "--warps", "2", "--t-m", "2", "--param", "K=3"], "p.yaml"),
    "a timeline": (["simulate", "p.yaml", "--warps", "2", "--t-m", "2", "--param", "K=3", "--timeline", "svg"], "p.yaml"),
    "predict": (["predict", "pair.plan.yaml", "--gpu", "h200", "--param", "N=64"], "pair.plan.yaml"),
    "its kernel": (["predict", "pair.plan.yaml", "--gpu", "h200", "--param", "N=64"], "mtx.cu"),
    "explain": (["predict", "mtx.cu", "--gpu", "h200", "--threads", "64", "--param", "N=64", "--explain"], "mtx.cu"),
    "counters": (["counters", "mtx.cu", "--gpu", "h200", "--threads", "64", "--param", "N=64"], "mtx.cu"),
    "run": (["run", "mtx.cu", "--block", "4", "--arg", "N=4", "--arg", "a=zeros:f32:4"], "mtx.cu"),
    "calibrate": (["calibrate", "matrix", "rows.csv"], "rows.csv"),
    "compare": (["compare", "matrix", "rows.csv"], "rows.csv"),
    "a calibration": (["predict", "matrix", "--gpu", "rtx-2060", "--param", "K=8,N=64", "--calibration", "cal.yaml"],
                      "cal.yaml"),
    "gpus": (["gpus", "--gpu-dir", "gpus"], "gpus/mine.yaml"),
    "plan": (["plan", "host.cu"], "host.cu"),
    "measure": (["measure", "arrays.plan.yaml", "--dry-run", "--gpu", "h200", "--param", "N=64", "--no-check"],
                "arrays.plan.yaml"),
}
HOST = inputs.KERNEL + "int main() { float* a; cudaMalloc(&a, 400); mtx<<<1, 32>>>(3, a); }\n"


def outputs():
    """A result goes to a file of its own, complete, or nothing is changed: no input, read-only file or folder is
    replaced."""
    files = {**FILES, "host.cu": HOST, "arrays.plan.yaml": inputs.PLAN + "arrays: {a: N}\n"}
    for command, (line, read) in OUTPUTS.items():
        if command == "measure":
            line = [*line, "--compiler", "clang"]
        def case(what, output, more=None, status=REFUSED, **others):
            return Case(f"{command}, {what}", [*line, "-o", output], {**files, **(more or {})}, status, **others)
        yield case("its input", read)
        yield case("its input by another path", f"../folder/./{read}")
        yield case("a link to its input", "link", {"link": harness.make_link(read)})
        yield case("a link to a link", "link", {"link": harness.make_link("second"), "second": harness.make_link(read)})
        yield case("a read-only file", "old", {"old": harness.make_read_only("old")}, says="read-only")
        yield case("a folder", "gpus")
        yield case("no such folder", "nothing/x")
        yield case("a file as a folder", "mtx.cu/x")
        yield case("a full disk", "/dev/full")
        yield case("a pipe without a reader", "pipe", {"pipe": harness.make_fifo}, says="no program reads")
        yield case("a link to itself", "loop", {"loop": harness.make_link("loop")})
        yield case("a link to nothing", "link", {"link": harness.make_link("made")}, ENDS_WELL, writes=["made"])
        yield case("an empty name", "", status=ANY)
        yield case("a name in control characters", "\x1b[31m\n", status=ENDS_WELL, writes=["\x1b[31m\n"])
        yield case("a new file", "new", status=ENDS_WELL, writes=["new"])
    run = OUTPUTS["run"][0]
    for name, more in {"two of one name": ["--out", "a=G", "-o", "./G"], "two by a link": ["--out", "a=G", "-o", "link"],
                       "the second fails": ["--out", "a=old", "-o", "nothing/x"],
                       "a profile and an array": ["--out", "a=G", "--profile", "G"],
                       "an array that is read-only": ["-o", "G", "--out", "a=fixed"]}.items():
        yield Case(f"run, {name}", [*run, *more], {**files, "old": "old", "link": harness.make_link("G"),
                                                   "fixed": harness.make_read_only("fixed")}, REFUSED)
    failing = ["run", "mtx.cu", "--block", "8", "--arg", "N=8", "--arg", "a=zeros:f32:4"]
    yield Case("run, an error in the kernel", [*failing, "--out", "a=old"], {**files, "old": "old"}, (1,))
    yield Case("analyze, one kernel of two fails", ["analyze", "two.ptx", "-o", "old"],
               {"old": "old", "two.ptx": inputs.PTX + inputs.PTX[inputs.PTX.index(".visible"):].replace(
                   "mtx", "bad").replace("ret;", "frob.all;")}, (1,))
