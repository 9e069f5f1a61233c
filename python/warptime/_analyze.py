"""analyze, simulate, timeline, plan_of and gpus."""
from __future__ import annotations

import dataclasses
import html
import json
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union, overload

from ._errors import Diagnostics
from ._inputs import Path, Source, Values, Words, dimensions_text, values_text
from ._inputs import Dimensions, Number, wrong_argument
from ._program import Program
from ._results import Analysis, Simulation, Timeline
from ._run import run, run_views
from ._table import from_dicts


def compiler_options(
    words: Words,
    arch: Optional[str],
    compiler: Optional[str],
    rolled: bool,
    flags: Sequence[str],
    skip_unsupported: bool,
    max_time: Optional[Number],
) -> None:
    words.option("arch", arch)
    words.option("compiler", compiler)
    words.option("rolled", rolled)
    words.option("skip-unsupported", skip_unsupported)
    words.option("max-time", max_time)
    words.flags = list(flags)


def analyze(
    source: Source,
    *,
    kernel: Optional[str] = None,
    block: Optional[Dimensions] = None,
    arch: Optional[str] = None,
    compiler: Optional[str] = None,
    rolled: bool = False,
    flags: Sequence[str] = (),
    registers: bool = False,
    estimate_machine: bool = False,
    classes: bool = False,
    rearrange: bool = False,
    skip_unsupported: bool = False,
    max_time: Optional[Number] = None,
    name: str = "<string>",
) -> Analysis:
    """The kernel program of each kernel in CUDA C++ or PTX.

    source: a path, a text, or an object with PTX. kernel: only this one. block: the shape for which the code is analysed,
    where it has more than one dimension. arch: the target, "sm_90". compiler: "clang" (built in) or "nvcc". rolled: without
    loop unrolling. flags: of the compiler. max_time: of a compilation, in seconds. name: for messages about a text.

    Raises InputError (code that does not compile or has unknown instructions), ArgumentError.
    """
    words = Words()
    words.option("kernel", kernel)
    words.option("block", dimensions_text(block))
    words.option("registers", registers)
    words.option("estimate-machine", estimate_machine)
    words.option("classes", classes)
    words.option("rearrange", rearrange)
    compiler_options(words, arch, compiler, rolled, flags, skip_unsupported, max_time)
    words.option("format", "json")
    words.input(source, name)
    output, diagnostics = run("analyze", words)
    data = json.loads(output)
    return Analysis([Program.from_dict(one) for one in (data if isinstance(data, list) else [data])], diagnostics)


def listing(source: Source, *, emit: str = "listing", kernel: Optional[str] = None, arch: Optional[str] = None,
            rolled: bool = False, flags: Sequence[str] = (), name: str = "<string>") -> str:
    """A step of the analysis as text: emit is "ptx", "cfg", "loops", "periods", "listing" (PTX beside its periods), "machine"
    or "program" (YAML). Raises as analyze() does."""
    words = Words()
    words.option("emit", emit)
    words.option("kernel", kernel)
    compiler_options(words, arch, None, rolled, flags, False, None)
    words.input(source, name)
    return run("analyze", words)[0]


def _simulation(program: Source, warps: Values, t_m: Optional[Number], gpu: Optional[str], gpu_dir: Optional[Path],
                kernel: Optional[str], params: Mapping[str, Values]) -> Words:
    words = Words()
    words.option("warps", values_text(warps))
    words.option("t-m", t_m)
    words.option("gpu", gpu)
    words.path("gpu-dir", gpu_dir)
    words.option("kernel", kernel)
    words.pairs("param", params)
    words.input(program)
    return words


def simulate(
    program: Source,
    *,
    warps: Values,
    t_m: Optional[Number] = None,
    gpu: Optional[str] = None,
    gpu_dir: Optional[Path] = None,
    kernel: Optional[str] = None,
    **params: Values,
) -> Simulation:
    """The cycles of one core package for a kernel program (Algorithm 2 of Puchala et al. 2022): a row for each combination.

    warps: on the core package. t_m: the cycles for which a memory access holds it; or the default of a gpu, whose durations
    of memory accesses hold, too. params: of the program, ``K=8`` or ``K=[8, 10]``.

    Raises InputError (a parameter without values), ArgumentError.
    """
    words = _simulation(program, warps, t_m, gpu, gpu_dir, kernel, params)
    words.option("format", "json")
    output, diagnostics = run("simulate", words)
    data = json.loads(output)
    rows = []
    for row in data if isinstance(data, list) else [data]:
        parameters, breakdown = row.pop("parameters"), row.pop("breakdown")
        rows.append({"kernel": row.pop("kernel"), **parameters, **row, **breakdown})
    for row in rows:
        for key in ("t_m_cycles", "cycles", "calculation", "issue", "waiting", "tail"):
            row[key] = float(row[key])
    return Simulation(from_dicts(rows), diagnostics)


def timeline(
    program: Source,
    *,
    warps: int,
    t_m: Optional[Number] = None,
    gpu: Optional[str] = None,
    gpu_dir: Optional[Path] = None,
    kernel: Optional[str] = None,
    **params: int,
) -> Timeline:
    """What each warp does in each cycle of simulate() with the same arguments: Figures 7 and 8 of Puchala et al. (2022)."""
    words = _simulation(program, warps, t_m, gpu, gpu_dir, kernel, params)
    drawn, diagnostics = run_views("simulate", words, "timeline", ("text", "svg"))
    return Timeline(drawn["svg"], drawn["text"], diagnostics)


@dataclasses.dataclass
class Plan:
    """The launches of a program, as a plan's file has them.

    launches: dictionaries with `kernel` (a file, or a name in `kernels`), `threads` or `grid` and `block`, `arguments`.
    kernels: sources that are in no file, by the name that launches use. docs/plan.md describes the format.
    """

    name: str
    launches: List[Mapping[str, Any]]
    parameters: Dict[str, str] = dataclasses.field(default_factory=dict)
    more: Dict[str, Any] = dataclasses.field(default_factory=dict)
    kernels: Dict[str, Source] = dataclasses.field(default_factory=dict)

    def to_text(self) -> str:
        """JSON that `warptime predict` takes as a plan; it is YAML, too."""
        data = {"name": self.name, **self.more, "parameters": self.parameters, "launches": [dict(one) for one in self.launches]}
        return json.dumps(data, indent=2) + "\n"


@dataclasses.dataclass(frozen=True)
class FoundPlan:
    """What plan_of() finds: `text` is the plan as YAML, which predict() takes; `diagnostics` what it lacks or assumes."""

    text: str
    diagnostics: Diagnostics = ()
    kernels: Mapping[str, Source] = dataclasses.field(default_factory=dict, repr=False)

    def to_text(self) -> str:
        return self.text


def plan_of(*sources: Source, name: str = "<string>", flags: Sequence[str] = (), max_time: Optional[Number] = None) -> FoundPlan:
    """The launches that the host code of a CUDA program makes, as a plan. Several sources are one program. name: for a text.

    Raises InputError where there is no launch; what could not be read is a WarptimeWarning.
    """
    words = Words()
    words.option("max-time", max_time)
    words.flags = list(flags)
    for source in sources:
        words.input(source, name)
    output, diagnostics = run("plan", words)
    return FoundPlan(output, diagnostics, words.texts)


@dataclasses.dataclass(frozen=True)
class Gpu:
    """A GPU of the catalogue: `figures` has everything that its file says, with the sources; some have names of their own."""

    name: str
    title: str
    compute_capability: str
    clock_mhz: float
    sms: int
    cores_per_sm: int
    figures: Mapping[str, Any] = dataclasses.field(repr=False)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{html.escape(key)}</th><td>{html.escape(str(value))}</td></tr>"
            for key, value in self.figures.items()
            if isinstance(value, (int, float, str))
        )
        return f"<table>{rows}</table>"


def _gpu(figures: Mapping[str, Any]) -> Gpu:
    return Gpu(figures["name"], figures["title"], figures["compute_capability"], float(figures["clock_mhz"]), figures["sms"],
               figures["cores_per_sm"], figures)


@overload
def gpus(name: str, *, gpu_dir: Optional[Path] = None) -> Gpu: ...
@overload
def gpus(name: None = None, *, gpu_dir: Optional[Path] = None) -> List[Gpu]: ...
def gpus(name: Optional[str] = None, *, gpu_dir: Optional[Path] = None) -> Union[Gpu, List[Gpu]]:
    """The catalogue's GPUs, or the one with this name. gpu_dir: a folder with GPU files of one's own.

    Raises ArgumentError for an unknown name, with the nearest one in its hint.
    """
    words = Words()
    words.path("gpu-dir", gpu_dir)
    words.option("format", "json")
    if name is not None:
        if name.startswith("-"):
            raise wrong_argument(f"unknown GPU `{name}`")
        words.inputs.append(name)
    data = json.loads(run("gpus", words)[0])
    return _gpu(data) if isinstance(data, dict) else [_gpu(one) for one in data]

