"""measure, calibrate and compare."""
from __future__ import annotations

import csv
import dataclasses
import io
import json
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from ._analyze import compiler_options
from ._errors import Diagnostics
from ._inputs import Dimensions, Names, Number, Path, Source, Values, Words, is_text, names_list, path_word
from ._predict import launch_options
from ._run import Progress, run, run_views
from ._table import Table, from_dicts


def _measurements(words: Words, measurements: Any) -> None:
    many = measurements if isinstance(measurements, (list, tuple)) else [measurements]
    for one in many:
        if hasattr(one, "to_csv") and not isinstance(one, Table):  # a DataFrame
            one = one.to_csv(index=False)
        elif isinstance(one, str) and not is_text(one):
            one = path_word(one)
        words.input(one, "<measurements>")


def _numbers_of_csv(text: str) -> List[Dict[str, Any]]:
    rows: List[Dict[str, Any]] = []
    for row in csv.DictReader(io.StringIO(text)):
        rows.append({key: _number(value) for key, value in row.items()})
    return rows


def _number(text: str) -> Union[int, float, str, None]:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text or None


def measure(
    source: Source,
    *,
    gpu: Optional[str] = None,
    grid: Optional[Dimensions] = None,
    block: Optional[Dimensions] = None,
    threads: Union[int, str, None] = None,
    shared: Union[int, str, None] = None,
    arguments: Optional[Mapping[str, Union[Number, str]]] = None,
    kernel: Optional[str] = None,
    what: Optional[str] = None,
    repetitions: Optional[int] = None,
    dry_run: bool = False,
    check: bool = True,
    gpu_dir: Optional[Path] = None,
    compiler: Optional[str] = None,
    flags: Sequence[str] = (),
    progress: Progress = False,
    **params: Values,
) -> Union[Table, str]:
    """Times of a plan's or kernel's launches on the CUDA GPU of this machine: rows of measurements, in microseconds.

    arguments: of a kernel, as ``--arg`` takes them: ``{"x": "random:f32:N"}``. what: "kernels", "plan", or both (default).
    check: compare with the CPU's arrays first. dry_run: run nothing, and return the launches as text; it needs `gpu`, but no
    GPU. Raises InputError where there is no GPU.
    """
    words = Words()
    words.option("gpu", gpu)
    launch_options(words, grid, block, threads, shared)
    for key, value in (arguments or {}).items():
        words.option("arg", f"{key}={value}")
    words.option("kernel", kernel)
    words.option("what", what)
    words.option("repetitions", repetitions)
    words.option("dry-run", dry_run)
    words.option("no-check", not check)
    words.path("gpu-dir", gpu_dir)
    compiler_options(words, None, compiler, False, flags, False, None)
    words.pairs("param", params)
    words.input(source)
    output, diagnostics = run("measure", words, progress)
    return output if dry_run else Table(from_dicts(_numbers_of_csv(output)), diagnostics)


@dataclasses.dataclass(frozen=True)
class Calibration:
    """Fitted constants: `fits` has a dictionary for each GPU (`t_p_us`, `t_m_cycles`, how well they fit); `text` is the
    calibration's file, and predict() takes this object as its calibration."""

    text: str
    fits: Sequence[Mapping[str, Any]]
    diagnostics: Diagnostics = ()

    def __getitem__(self, gpu: str) -> Mapping[str, Any]:
        for fit in self.fits:
            if fit["gpu"] == gpu:
                return fit
        raise KeyError(gpu)

    def to_text(self) -> str:
        return self.text


def _constants_and_rows(words: Words, gpu: Optional[Names], what: Optional[str], rows_of: Optional[str],
                        model: Optional[str], t_p: Optional[Number], t_m: Optional[Number],
                        params: Mapping[str, Values]) -> None:
    words.option("gpu", names_list(gpu))
    words.option("what", what)
    words.option("rows-of", rows_of)
    words.option("model", model)
    words.option("t-p", t_p)
    words.option("t-m", t_m)
    words.pairs("param", params)


def calibrate(
    source: Source,
    measurements: Any,
    *,
    gpu: Optional[Names] = None,
    what: Optional[str] = None,
    rows_of: Optional[str] = None,
    model: Optional[str] = None,
    t_p: Optional[Number] = None,
    t_m: Optional[Number] = None,
    hold_out: Union[Number, str, None] = None,
    durations: Optional[str] = None,
    share_durations: bool = False,
    **params: Values,
) -> Calibration:
    """Fits t_p (microseconds) and t_m (cycles) of a plan to measurements.

    measurements: a path, CSV as text, a Table or a DataFrame, or several. gpu, params, what: use only these rows. t_p, t_m:
    given, not fitted. hold_out: rows to leave out, a fraction or values of a parameter. Raises InputError, ArgumentError.
    """
    words = Words()
    _constants_and_rows(words, gpu, what, rows_of, model, t_p, t_m, params)
    words.option("hold-out", hold_out)
    words.option("durations", durations)
    words.option("share-durations", share_durations)
    words.input(source)
    _measurements(words, measurements)
    texts, diagnostics = run_views("calibrate", words, "format", ("json", "text"))
    return Calibration(texts["text"], json.loads(texts["json"])["fits"], diagnostics)


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Predicted against measured times: `rows` has each measurement, `summary` the errors of experiments and of all
    (equations 15, 16, 19, 21 and 22 of Puchala et al. 2022), as `warptime compare --format json` does."""

    rows: Table
    summary: Mapping[str, Any]
    diagnostics: Diagnostics = ()

    @property
    def mean_error_percent(self) -> float:
        """The mean absolute percentage error of the first plan."""
        return float(self.summary["plans"][0]["global"]["mean_error_percent"])

    @property
    def max_error_percent(self) -> float:
        """The maximum absolute percentage error of the first plan."""
        return float(self.summary["plans"][0]["global"]["max_error_percent"])

    def _repr_html_(self) -> str:
        return self.rows._repr_html_()


def compare(
    source: Source,
    measurements: Any,
    *,
    calibration: Any = None,
    gpu: Optional[Names] = None,
    what: Optional[str] = None,
    rows_of: Optional[str] = None,
    model: Optional[str] = None,
    t_p: Optional[Number] = None,
    t_m: Optional[Number] = None,
    against: Optional[Names] = None,
    over: Optional[str] = None,
    **params: Values,
) -> Comparison:
    """Compares predictions with measurements; the arguments are those of calibrate().

    calibration: constants to predict with, a Calibration, a path or a text. against: other plans to compare, too. over: the
    parameter that experiments run over. Raises InputError, ArgumentError.
    """
    words = Words()
    if calibration is not None:
        words.option("calibration", words.named(calibration, "<calibration>"))
    _constants_and_rows(words, gpu, what, rows_of, model, t_p, t_m, params)
    words.option("against", names_list(against))
    words.option("over", over)
    words.input(source)
    _measurements(words, measurements)
    texts, diagnostics = run_views("compare", words, "format", ("json", "csv"))
    return Comparison(Table(from_dicts(_numbers_of_csv(texts["csv"]))), json.loads(texts["json"]), diagnostics)
