"""predict, sweep and counters."""
from __future__ import annotations

import itertools
import json
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _run
from ._analyze import FoundPlan, Plan, analyze, compiler_options
from ._inputs import Dimensions, Names, Number, Path, Source, Values, Words
from ._inputs import dimensions_text, is_text, names_list, positional_arguments, wrong_argument
from ._program import Program, read_programs
from ._results import Prediction, prediction_of
from ._run import Progress
from ._table import Table, from_dicts, structured

Arguments = Union[Mapping[str, Values], Sequence[Any], None]
"""A kernel's arguments: by the names of its program's parameters, or all in their order, arrays and pointers among them."""


def _program_of(source: Source, kernel: Optional[str], words_name: str) -> Program:
    if isinstance(source, Program):
        return source
    if isinstance(source, str) and is_text(source) and ("\nprogram:" in "\n" + source or source.lstrip().startswith("{")):
        return read_programs(source)[0]
    analysed: Program = analyze(source, kernel=kernel, name=words_name)[0]
    return analysed


def launch_options(words: Words, grid: Optional[Dimensions], block: Optional[Dimensions],
                   threads: Union[int, str, None], shared: Union[int, str, None]) -> None:
    words.option("grid", dimensions_text(grid))
    words.option("block", dimensions_text(block))
    words.option("threads", dimensions_text(threads))
    words.option("shared", dimensions_text(shared))


def _what_to_predict(words: Words, gpu: Optional[Names], gpu_dir: Optional[Path], figures: Optional[Mapping[str, Number]],
                     kernel: Optional[str], caches: Optional[str],
                     assume: Optional[Mapping[str, Union[Number, str]]]) -> None:
    words.option("gpu", names_list(gpu))
    words.path("gpu-dir", gpu_dir)
    words.option("kernel", kernel)
    words.option("caches", caches)
    for key, value in (assume or {}).items():
        words.option("assume", f"{key}={value}")
    for key, value in (figures or {}).items():
        words.option("set", f"{key}={value}")


def input_of(words: Words, source: Source, kernel: Optional[str], args: Arguments, params: Mapping[str, Values],
             name: str) -> None:
    """The source, and the values of its parameters from `args` and `params`."""
    values: Dict[str, Any] = {}
    if isinstance(args, Mapping):
        values.update(args)
    elif args is not None:
        if isinstance(args, str):
            raise wrong_argument("args is a text", "give a dictionary, or the arguments in their order")
        values.update(positional_arguments(args, _program_of(source, kernel, name)))
    for key, value in params.items():
        if key in values:
            raise wrong_argument(f"{key} is given twice, in args and by its name")
        values[key] = value
    words.pairs("param", values)
    if isinstance(source, (FoundPlan, Plan)):
        for kernel_name, kernel_source in source.kernels.items():
            named = words.named(kernel_source)
            words.texts[kernel_name] = words.texts.pop(named) if named in words.texts else _text_of(named)
    words.input(source, name)


def _text_of(path: str) -> str:
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def predict(
    source: Source, *, gpu: Optional[Names] = None, grid: Optional[Dimensions] = None,
    block: Optional[Dimensions] = None, threads: Union[int, str, None] = None, shared: Union[int, str, None] = None,
    args: Arguments = None, kernel: Optional[str] = None, model: Optional[str] = None, t_p: Optional[Number] = None,
    t_m: Optional[Number] = None, calibration: Any = None, caches: Optional[str] = None, best_launch: bool = False,
    assume: Optional[Mapping[str, Union[Number, str]]] = None, figures: Optional[Mapping[str, Number]] = None,
    gpu_dir: Optional[Path] = None, arch: Optional[str] = None, compiler: Optional[str] = None, rolled: bool = False,
    flags: Sequence[str] = (), machine: bool = False, registers: bool = False, rearrange: bool = False,
    skip_unsupported: bool = False, max_time: Optional[Number] = None, jobs: Optional[int] = None,
    shard: Optional[Tuple[int, int]] = None, progress: Progress = False, name: str = "<string>", **params: Values,
) -> Prediction:
    """The time of a kernel or a plan on each GPU, for each combination of parameters.

    source: CUDA C++, PTX, a kernel program or a plan, as a path, a text or an object; or the name of a bundled plan.
    gpu: one or several; None is the whole catalogue, ranked. grid, block: of a kernel, in blocks and threads; or threads, for
    which Algorithm 3 chooses the blocks; expressions may use the parameters. shared: dynamic shared memory of a block, in
    bytes. args: the kernel's arguments in their order, or by name. t_p: launch overhead in microseconds. t_m: cycles for which
    a memory access holds a core package. calibration: a path or a text. caches: "warm" or "cold". best_launch: look for the
    quickest blocks. assume: what data decide, by name. figures: other figures of the GPUs, ``{"clock": 1900}``. jobs: threads.
    shard: (3, 16) is the third of 16 contiguous parts of the rows. progress: a tqdm bar, or a function. params: values of parameters, ``K=8``, ``N="2^6..2^20"``.

    The GIL is released; Ctrl-C ends it with KeyboardInterrupt. Raises InputError, ArgumentError.
    """
    words = Words()
    _what_to_predict(words, gpu, gpu_dir, figures, kernel, caches, assume)
    launch_options(words, grid, block, threads, shared)
    compiler_options(words, arch, compiler, rolled, flags, skip_unsupported, max_time)
    given = {"model": model, "t-p": t_p, "t-m": t_m, "best-launch": best_launch, "machine": machine, "registers": registers,
             "rearrange": rearrange}
    for option, value in given.items():
        words.option(option, value)
    if calibration is not None:
        words.option("calibration", words.named(calibration, "<calibration>"))
    words.option("jobs", jobs)
    words.option("shard", shard if shard is None else f"{shard[0]}/{shard[1]}")
    input_of(words, source, kernel, args, params, name)
    return prediction_of(*_run.predict(words, progress))


def sweep(
    source: Optional[Source] = None, *, over: Mapping[str, Sequence[Any]], progress: Progress = False, **options: Any,
) -> Prediction:
    """predict() for each combination of values of its arguments, as one table, in whose columns these are: a block shape is
    tuned with ``over={"block": [64, 128, 256], "grid": …}``.

    over: the arguments of predict() to vary, and their values. Where grid and block depend on each other, vary "launch":
    ``over={"launch": [(grid, block), …]}``. Several sources are ``over={"source": […]}``. Parameters alone need no sweep():
    predict() takes several values of each. progress: True, or a function of the predictions done and all of them.
    warptime.dask.sweep() does the same on the workers of a cluster.
    """
    names, combinations = combinations_of(over)
    tables: List[Prediction] = []
    on_progress, close = _run.reporter(progress, "sweep")
    try:
        for done, values in enumerate(combinations, 1):
            tables.append(predict_with(source, options, names, values))
            if on_progress is not None:
                on_progress(done, len(combinations))
    finally:
        close()
    return joined(tables, names, combinations)


def combinations_of(over: Mapping[str, Sequence[Any]]) -> Tuple[List[str], List[Tuple[Any, ...]]]:
    """The names of `over`, and each combination of their values, the last name's changing first."""
    if not over:
        raise wrong_argument("over names no argument of predict()")
    combinations = list(itertools.product(*(list(values) for values in over.values())))
    if not combinations:
        raise wrong_argument("over has an argument without values")
    return list(over), combinations


def predict_with(source: Optional[Source], options: Mapping[str, Any], names: Sequence[str], values: Sequence[Any]) -> Prediction:
    """predict() with one combination of values."""
    chosen = {**options, **dict(zip(names, values))}
    if "launch" in chosen:
        chosen["grid"], chosen["block"] = chosen.pop("launch")
    if ("source" in chosen) == (source is not None):
        raise wrong_argument("there is no source" if source is None else "source is given twice, and in over")
    return predict(chosen.pop("source", source), **chosen)


def _label(name: str, value: Any) -> str:
    """A value of `over` in a column: of sources that are texts, their first line."""
    return str(value).strip().partition("\n")[0] if name == "source" else str(value)


def joined(tables: Sequence[Prediction], names: Sequence[str], combinations: Sequence[Sequence[Any]]) -> Prediction:
    """One table of the predictions of combinations, with their values in columns."""
    columns: Dict[str, Any] = {}
    present = [c for c in tables[0].columns if all(c in table.columns for table in tables)]
    for column in present:
        columns[column] = np.concatenate([table[column] for table in tables])
    for i, name in enumerate(names):
        if name in columns or name == "launch":
            continue
        columns[name] = np.concatenate([np.full(len(t), _label(name, values[i])) for t, values in zip(tables, combinations)])
    whole = tables[0]._with(structured(columns))
    whole.diagnostics = tuple(dict.fromkeys(one for table in tables for one in table.diagnostics))
    return whole


def counters(
    source: Source, *, gpu: Optional[Names] = None, grid: Optional[Dimensions] = None,
    block: Optional[Dimensions] = None, threads: Union[int, str, None] = None, shared: Union[int, str, None] = None,
    args: Arguments = None, kernel: Optional[str] = None, caches: Optional[str] = None,
    assume: Optional[Mapping[str, Union[Number, str]]] = None, figures: Optional[Mapping[str, Number]] = None,
    gpu_dir: Optional[Path] = None, arch: Optional[str] = None, compiler: Optional[str] = None, rolled: bool = False,
    flags: Sequence[str] = (), machine: bool = False, registers: bool = False, skip_unsupported: bool = False,
    max_time: Optional[Number] = None, name: str = "<string>", **params: Values,
) -> Table:
    """What the hardware counts for each launch, in columns named as Nsight Compute's metrics; NaN: not known.

    The arguments are those of predict(). caches: "warm" (default) or "cold" (how ncu measures by default).
    """
    words = Words()
    _what_to_predict(words, gpu, gpu_dir, figures, kernel, caches, assume)
    launch_options(words, grid, block, threads, shared)
    compiler_options(words, arch, compiler, rolled, flags, skip_unsupported, max_time)
    words.option("machine", machine)
    words.option("registers", registers)
    words.option("format", "json")
    input_of(words, source, kernel, args, params, name)
    output, diagnostics = _run.run("counters", words)
    rows = []
    for row in json.loads(output):
        metrics = row.pop("metrics")
        parameters = row.pop("parameters")
        notes = "; ".join(row.pop("notes", []))
        first = {"plan": row.pop("plan"), "gpu": row.pop("gpu"), **parameters}
        numbers = {key: float("nan") if value is None else float(value) for key, value in metrics.items()}
        rows.append({**first, **row, **numbers, "notes": notes})
    return Table(from_dicts(rows), diagnostics)
