"""The kinds of hostile inputs that ask for much work, end early, or come from around the command."""

import signal

import harness
import inputs
from harness import ANY, Case, ENDS_WELL, REFUSED
from kinds import FILES, HOST, TOOLS, WITH_TOOLS

OPTIONS = {
    "predict": (["predict", "mtx.cu", "--gpu", "h200", "--threads", "64", "--param", "N=64"],
                ["--param", "--threads", "--grid", "--block", "--blocks", "--threads-per-block", "--shared", "--t-p", "--t-m",
                 "--set", "--assume", "--gpu", "--arch", "--kernel", "--arg", "--model", "--disagree", "--jobs", "--caches",
                 "--format", "--max-time", "--max-memory", "--against", "--calibration", "--profile", "--gpu-dir",
                 "--build", "--timeline", "--cycles", "--width", "--compiler"]),
    "simulate": (["simulate", "p.yaml", "--warps", "2", "--t-m", "2", "--param", "K=3"],
                 ["--warps", "--t-m", "--param", "--timeline", "--width", "--kernel", "--gpu"]),
    "run": (["run", "mtx.cu", "--block", "4", "--arg", "N=4", "--arg", "a=zeros:f32:4"],
            ["--arg", "--out", "--grid", "--block", "--shared", "--max-instructions", "--stream", "--check", "--profile"]),
    "calibrate": (["calibrate", "matrix", "rows.csv", "--t-p", "5"],
                  ["--t-p", "--t-m", "--durations", "--hold-out", "--rows-of", "--what", "--from", "--gpu", "--param"]),
    "compare": (["compare", "matrix", "rows.csv"], ["--over", "--against", "--rows-of", "--svg", "--t-p", "--counters"]),
    "analyze": (["analyze", "mtx.cu"], ["--emit", "--kernel", "--arch", "--lines", "--format", "--build"]),
    "counters": (["counters", "mtx.cu", "--gpu", "h200", "--threads", "64", "--param", "N=64"], ["--param", "--grid"]),
    "models": (["models", "check", "."], ["--max-regression", "--against", "--param", "--gpu"]),
    "gpus": (["gpus"], ["--gpu-dir", "--format"]),
    "completion": (["completion"], ["--format"]),
}


def options():
    """Any text as the value of any option is a value or an error: no crash, no endless loop, no file."""
    number = 0
    for command, (line, names) in OPTIONS.items():
        for name in names:
            for value in inputs.VALUES:
                number += 1
                if number % 4 != 0:  # 45 values: each option gets each fourth, and the next option others
                    continue
                files = {**FILES, "x": ""}
                writes = [value.split("/")[0]] if name in ("--out", "--svg", "--profile") else []
                yield Case(f"{command} {name} {value[:24]!r}", [*line, f"{name}={value}"], files, ANY, writes=writes)


def words():
    """Any words in place of a command and its inputs are refused."""
    for value in inputs.VALUES:
        yield Case(f"a command {value[:24]!r}", [value], {}, REFUSED)
        yield Case(f"help of {value[:24]!r}", ["help", value], {}, ANY)
        for command in ("analyze", "gpus", "plans", "models", "completion", "simulate", "complete"):
            yield Case(f"{command} {value[:24]!r}", [command, "--", value] if value.startswith("-") else [command, value],
                       {}, ANY)


LARGE = 10 ** 18
PROGRAMS = {
    "repeats three deep": "program: [{repeat: 1000000000, body: [{repeat: 1000000000, body: [{repeat: 1000000000, "
                          "body: [load: 120, calc: 17]}]}]}]",
    "repeats of 64 bits": "program: [{repeat: 9223372036854775807, body: [load: 1e300, calc: 1e308]}]",
    "repeats that differ": "program: [{repeat: 1000000, counter: i, body: [{repeat: i, counter: j, body: [{when: "
                           "i % (j + 1) < 3, then: [load: 120], else: [calc: 17]}]}]}]",
    "durations that do not add up": "program: [{repeat: 1000, body: [calc: 1e308, load: 1e-308]}, calc: 1e16, calc: 1]",
    "no duration": "program: [{repeat: 1000000000000, body: [calc: 0, load: 0]}]",
    "a negative count": "program: [{repeat: -5, body: [calc: 1]}]",
    "a power tower": "program: [{repeat: 2^2^2^2^2^2, body: [calc: 1]}]",
    "a division by zero": "program: [{repeat: 5 / 0, body: [calc: 1]}]",
    "a remainder by zero": "program: [{repeat: 5 % (3 - 3), body: [calc: 1]}]",
    "the least number": "program: [{repeat: (-9223372036854775807 - 1) / -1, body: [calc: 1]}]",
    "a long expression": "program: [calc: " + "1+" * 20_000 + "1]",
    "a deep expression": "program: [calc: " + "(" * 150 + "1" + ")" * 150 + "]",
    "many items": "program:\n" + "  - calc: 1\n  - load: 2\n" * 20_000,
    "deep repeats": "program: " + "[{repeat: 3, body: " * 90 + "[calc: 1]" + "}]" * 90,
}


def programs():
    """Kernel programs of any size take seconds and little memory to simulate, to draw and to predict."""
    for what, text in PROGRAMS.items():
        files = {"p.yaml": text + "\n"}
        simulate = ["simulate", "p.yaml", "--t-m", "2"]
        for warps in ("1", "7", "64", "65536"):
            yield Case(f"{what}, {warps} warps", [*simulate, "--warps", warps], files)
        for view in ("text", "svg", "perfetto"):
            yield Case(f"{what}, {view}", [*simulate, "--warps", "3", "--timeline", view], files)
        for t_m in ("0", "1e-300", "1e308"):
            yield Case(f"{what}, t_m {t_m}", ["simulate", "p.yaml", "--warps", "3", "--t-m", t_m], files)
        for model in ("puchala", "extended", "luo-suda"):
            yield Case(f"{what}, {model}", ["predict", "p.yaml", "--gpu", "h200", "--threads", "100000", "--model", model], files)
        yield Case(f"{what}, counters", ["counters", "p.yaml", "--gpu", "h200", "--threads", "100000"], files)


MEASURED = {
    "times without end": [(8, 1 << 16, "1e308"), (8, 1 << 17, "1e-300"), (8, 1 << 18, "4.9e-324")],
    "equal times": [(8, 1 << n, "5") for n in range(10, 20)],
    "steps that make no progress": [(8, 1 << 16, "1e308"), (8, 1 << 17, "1.0000000000000002e308")],
    "sizes of 64 bits": [(8, 9223372036854775807, "5"), (9223372036854775807, 64, "5"), (8, 64, "6")],
    "negative sizes": [(8, -1, "5")],
    "no size": [(0, 0, "5")],
    "no time": [(8, 64, "0")],
    "a negative time": [(8, 64, "-5")],
    "no number": [(8, 64, "nan")],
    "an infinite time": [(8, 64, "inf")],
    "hexadecimal": [(8, "0x40", "5")],
    "control characters": [(8, 64, "\x1b[31m5")],
    "100,000 rows of 40 sizes": [(8 + i % 2, 1 << 6 + i % 20, str(5 + i % 7)) for i in range(100_000)],
    "100,000 sizes": [(8, 64 + i, str(5 + i % 7)) for i in range(100_000)],
}


def measurements():
    """Measurements of any size and number are compared, drawn and fitted in seconds and little memory."""
    for what, rows in MEASURED.items():
        text = "plan,gpu,K,N,time_us\n" + "".join(f"matrix,rtx-2060,{k},{n},{t}\n" for k, n, t in rows)
        long = {"seconds": 60, "mebibytes": 900}
        for command in (["compare", "matrix", "m.csv"], ["compare", "matrix", "m.csv", "--format", "json"],
                        ["compare", "matrix", "m.csv", "--against", "lattice=matrix"],
                        ["calibrate", "matrix", "m.csv"], ["calibrate", "matrix", "m.csv", "--hold-out", "0.5"]):
            yield Case(f"{what}, {' '.join(command[3:]) or command[0]}", command, {"m.csv": text}, **long)
        yield Case(f"{what}, --svg", ["compare", "matrix", "m.csv", "--svg", "d"], {"m.csv": text},
                   writes=["d", "d/matrix_rtx-2060.svg"], **long)


def unknown(lines):
    return "extern \"C\" __global__ void k(int* a) {\n" + lines + "\n}\n"


BOMBS = {
    "macros": "".join(f"#define M{i} M{i + 1} M{i + 1} M{i + 1} M{i + 1} M{i + 1} M{i + 1} M{i + 1} M{i + 1} M{i + 1} M{i + 1}\n"
                      for i in range(9)) + "#define M9 a[0] += 1;\n" + unknown("M0"),
    "unroll": unknown("#pragma unroll 2000000000\nfor (int i = 0; i < 2000000000; i++) a[i] += i;"),
    "unroll two deep": unknown("#pragma unroll\nfor (int i = 0; i < 100000; i++)\n#pragma unroll\n"
                               "for (int j = 0; j < 100000; j++) a[i * j] += i;"),
    "else if": unknown("if (a[0] == 0) a[1] = 1;" + "".join(f"\nelse if (a[0] == {i}) a[{i}] = {i};" for i in range(1, 20_000))),
    "templates": "template <int N> struct S { enum { v = S<N - 1>::v + S<N - 2>::v + S<N - 3 * N>::v }; };\n" + unknown(
        "a[0] = S<1000000>::v;"),
    "constant evaluation": "constexpr int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\n" + unknown(
        "constexpr int x = f(60); a[0] = x;"),
    "initialisers": "__device__ int x[] = {" + "1," * 1_000_000 + "};\n" + unknown("a[0] = x[a[1]];"),
    "parentheses": unknown("a[0] = " + "(" * 10_000 + "1" + ")" * 10_000 + ";"),
    "operators": unknown("a[0] = " + "-+~!" * 5_000 + "1;"),
    "blocks": unknown("{" * 20_000 + "}" * 20_000),
    "an include of itself": '#include "bomb.cu"\n' + inputs.KERNEL,
    "an include of a device": '#include "/dev/zero"\n' + inputs.KERNEL,
    "an include of a pipe": '#include "pipe"\n' + inputs.KERNEL,
    "a name of a megabyte": unknown("int " + "x" * 1_000_000 + " = 1; a[0] = " + "x" * 1_000_000 + ";"),
    "many kernels": "".join(f"__global__ void k{i}(int* a) {{ a[{i}] = {i}; }}\n" for i in range(3000)),
    "debug: crash": "#pragma clang __debug crash\n" + inputs.KERNEL,
    "debug: parser_crash": "#pragma clang __debug parser_crash\n" + inputs.KERNEL,
    "debug: overflow_stack": "#pragma clang __debug overflow_stack\n" + inputs.KERNEL,
    "debug: llvm_fatal_error": "#pragma clang __debug llvm_fatal_error\n" + inputs.KERNEL,
    "debug: handle_crash": "#pragma clang __debug handle_crash\n" + inputs.KERNEL,
    "debug: captured": unknown("#pragma clang __debug captured\n{ a[0] = 1; }"),
    "debug: dump": "#pragma clang __debug dump x\n" + inputs.KERNEL,
    "a plugin": "#pragma clang module load x\n" + inputs.KERNEL,
}


def bombs():
    """Sources that would take clang minutes or gigabytes end with an error that names --max-time or --max-memory."""
    for what, text in BOMBS.items():
        files = {"bomb.cu": text, "pipe": harness.make_fifo}
        limits = ["--max-time", "2", "--max-memory", "900"]
        yield Case(f"{what}, analyze", ["analyze", "bomb.cu", "--compiler", "clang", *limits], files, seconds=15, mebibytes=1300)
        if what in ("macros", "else if", "debug: crash", "debug: overflow_stack", "an include of a pipe"):
            yield Case(f"{what}, plan", ["plan", "bomb.cu", *limits], files, seconds=15, mebibytes=1300)
    yield Case("unroll, too long", ["analyze", "bomb.cu", "--max-time", "1"], {"bomb.cu": BOMBS["unroll"]}, (1,), "--max-time")
    yield Case("unroll, too much", ["analyze", "bomb.cu", "--max-memory", "300"], {"bomb.cu": BOMBS["unroll"]}, (1,),
               "--max-memory")


PRINTS = {"a width": '"%999999999d", 1', "a precision": '"%.999999999f", 1.0', "both from arguments":
          '"%*.*f", 1000000000, 1000000000, 1.0', "control characters": r'"\033[31m\007\n"', "no argument": '"%s%s%n"',
          "a percent sign": '"%"', "flags": '"%-+ #0999999999lld", 1'}


def kernels():
    """Kernels that are run take no more than what they are given: of memory, of time, of text."""
    for what, text in PRINTS.items():
        source = f'#include <stdio.h>\nextern "C" __global__ void k(int* a) {{ printf({text}); a[0] = 1; }}\n'
        yield Case(f"printf, {what}", ["run", "k.cu", "--block", "2", "--arg", "a=zeros:i32:4"], {"k.cu": source})
    endless = unknown("for (;;) a[0] += 1;")
    yield Case("an endless loop", ["run", "k.cu", "--arg", "a=zeros:i32:4", "--max-instructions", "1000000"], {"k.cu": endless})
    for buffer in ("zeros:f32:1000000000000", "zeros:f32:0", "uninit:u8:2^62", "zeros:f64:2^61", "zeros:f32:64x2^60",
                   "raw:f32:/dev/zero", "@/dev/null", "raw:f32:/dev/null", "zeros:f32:-1"):
        yield Case(f"a buffer {buffer}", ["run", "mtx.cu", "--block", "4", "--arg", "N=4", "--arg", f"a={buffer}"], FILES)
    yield Case("a buffer of 200 MB", ["run", "mtx.cu", "--block", "4", "--arg", "N=4", "--arg", "a=zeros:f32:50000000"], FILES,
               ENDS_WELL, mebibytes=290)
    for header in (b"", b"\x93NUMPY", b"\x93NUMPY\x01\x00\xff\xff", b"\x93NUMPY\x03\x00\xff\xff\xff\xff",
                   b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999999,), }",
                   b"\x93NUMPY\x01\x00\x76\x00{'descr': 'O', 'fortran_order': False, 'shape': (1,), }" + b" " * 60,
                   b"\x93NUMPY\x09\x00" + b"x" * 200):
        yield Case(f"an array {header[:12]!r}", ["run", "mtx.cu", "--block", "4", "--arg", "N=4", "--arg", "a=@a.npy"],
                   {**FILES, "a.npy": header}, REFUSED)


SLOW_TOOL = harness.make_program("#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'release 13.0, V13.0.88'; exit; fi\n"
                                 "if [ \"$1\" = --list-gpu-code ]; then echo sm_75; exit; fi\nsleep 100 & sleep 100\n")
ENDLESS_TOOL = harness.make_program("#!/bin/sh\nwhile :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done\n")
SILENT_TOOL = harness.make_program("#!/bin/sh\nexit 0\n")
KILLED_TOOL = harness.make_program("#!/bin/sh\nkill -9 $$\n")
HUNGRY_TOOL = harness.make_program("#!/usr/bin/env python3\nx = 'x' * (3 << 30)\n")


def tools():
    """A tool that hangs, prints without end, dies or says nothing is stopped, and the error names it."""
    for what, tool in {"hangs": SLOW_TOOL, "prints without end": ENDLESS_TOOL, "says nothing": SILENT_TOOL,
                       "is killed": KILLED_TOOL, "is hungry": HUNGRY_TOOL, "is a folder": lambda path: None,
                       "cannot be run": "text"}.items():
        limits = ["--max-time", "1", "--max-memory", "1000"]
        for name, command in {"nvcc": ["analyze", "mtx.cu", "--compiler", "nvcc", *limits],
                              "ptxas": ["predict", "mtx.cu", "--gpu", "h200", "--threads", "64", "--param", "N=64",
                                        "--registers", *limits],
                              "git": ["models", "check", "d", "--against", "main", *limits]}.items():
            yield Case(f"{name} {what}", command, {**FILES, "bin/" + name: tool, "d/mtx.cu": inputs.KERNEL}, ANY,
                       environment={"PATH": "@/bin", "CUDA_HOME": "@/none"})


def environments():
    """An environment that is not what one expects changes no result, or is an error that says so."""
    commands = {"analyze": ["analyze", "mtx.cu"], "nvcc": ["analyze", "mtx.cu", "--compiler", "nvcc"],
                "predict": ["predict", "matrix", "--gpu", "h200", "--param", "K=8,N=64"], "gpus": ["gpus"],
                "models": ["models", "check", "."], "help": ["--help"], "run": ["run", "mtx.cu", "--block", "4", "--arg",
                                                                              "N=4", "--arg", "a=zeros:f32:4"]}
    for name, values in {"TMPDIR": ["/nothing", "", "/dev/null", "@/mtx.cu", "relative", "x" * 5000],
                         "PATH": ["", ":", "/nothing", "@", ":" * 5000, "x" * 5000, None],
                         "HOME": ["", "/nothing", None], "LC_ALL": ["x", "de_DE.UTF-8", "", None], "TERM": ["", "x", None],
                         "COLUMNS": ["-1", "0", "1", "99999999999", "x"], "CUDA_HOME": ["", "/nothing", "@", "\x1b[31m"],
                         "CPATH": ["/nothing", "@"], "SOURCE_DATE_EPOCH": ["x", "-1"], "GIT_DIR": ["/nothing"],
                         "CCC_OVERRIDE_OPTIONS": ["+-save-temps", "# O1"], "CLANG_CONFIG_FILE_USER_DIR": ["@"],
                         "NVCC_APPEND_FLAGS": ["-keep"], "CC_PRINT_OPTIONS": ["1"], "LD_BIND_NOW": ["1"]}.items():
        for value in values:
            for command, line in commands.items():
                yield Case(f"{name}={str(value)[:16]!r}, {command}", line, {**TOOLS, **FILES},
                           environment={"PATH": WITH_TOOLS["PATH"], name: value})


def signals():
    """A signal ends every long command with status 128 + its number, a note, and no file left anywhere."""
    many = "plan,gpu,K,N,time_us\n" + "".join(f"matrix,rtx-2060,8,{64 + i},{5 + i % 7}\n" for i in range(300_000))
    lines = {
        "analyze": ["analyze", "bomb.cu", "--compiler", "clang", "-o", "result"],
        "nvcc": ["analyze", "mtx.cu", "--compiler", "nvcc", "-o", "result"],
        "run": ["run", "mtx.cu", "--block", "32", "--grid", "2000000000", "--arg", "N=4", "--arg", "a=zeros:f32:4", "-o",
                "result", "--max-instructions", "1000000000000"],
        "calibrate": ["calibrate", "matrix", "many.csv", "-o", "result"],
        "standard input": ["analyze", "-", "-o", "result"],
        "models": ["models", "update", "d", "--compiler", "nvcc"],
        "plan": ["plan", "bomb.cu", "-o", "result"],
    }
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for command, line in lines.items():
            if command == "plan":
                continue  # read before the signal comes
            files = {**FILES, "bin/nvcc": SLOW_TOOL, "bomb.cu": BOMBS["unroll"], "many.csv": many, "d/mtx.cu": inputs.KERNEL,
                     "result": "old"}
            yield Case(f"{signal.Signals(number).name}, {command}", line, files, (128 + number,), "no result is written",
                       environment=WITH_TOOLS, send=number, mebibytes=2000,
                       stdin=None if command != "standard input" else harness.KEEP_OPEN)
        sweep = ["predict", "matrix", "--gpu", "all", "--param", "K=8..1000000,N=2^6..2^40", "--format", "csv", "-o", "result"]
        yield Case(f"{signal.Signals(number).name}, predict", sweep, {"result": "old", "result.partial": "older"}, (130,),
                   "result.partial.2", send=number, writes=["result.partial.2"])


def places():
    """A working folder that is gone, and standard streams that are closed or full, are errors that say so."""
    for command in (["gpus"], ["--help"], ["help", "predict"], ["--version"], ["plans"], ["completion", "bash"],
                    ["predict", "matrix", "--gpu", "h200", "--param", "K=8,N=64"], ["analyze", "mtx.cu"]):
        yield Case(f"{' '.join(command[:2])}, a full disk", command, FILES, (1,), "No space left", stdout="/dev/full")
        yield Case(f"{' '.join(command[:2])}, no standard output", command, FILES, (1,), stdout=None)
        yield Case(f"{' '.join(command[:2])}, no folder", command, {}, ANY if command[0][0] in "-h" else REFUSED, gone=True)
    yield Case("analyze host code", ["predict", "host.cu", "--gpu", "h200"], {"host.cu": HOST}, ENDS_WELL)
