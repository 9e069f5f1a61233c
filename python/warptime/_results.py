"""The results of commands."""
from __future__ import annotations

import dataclasses
import html
from typing import Any, Dict, Iterator, Mapping, Sequence, Tuple

import numpy as np

from ._errors import Diagnostics
from ._program import Program
from ._table import LONGEST, Array, Table, structured


class Analysis(Sequence[Program]):
    """The kernel programs of a source, in its order; `diagnostics` has what was assumed or is not modelled."""

    def __init__(self, programs: Sequence[Program], diagnostics: Diagnostics = ()) -> None:
        self._programs = list(programs)
        self.diagnostics = diagnostics

    def __getitem__(self, key: Any) -> Any:
        """A program by position or by its kernel's name."""
        if isinstance(key, str):
            for program in self._programs:
                if key in (program.kernel, program.more.get("symbol")):
                    return program
            raise KeyError(key)
        return self._programs[key]

    def __len__(self) -> int:
        return len(self._programs)

    def __iter__(self) -> Iterator[Program]:
        return iter(self._programs)

    @property
    def kernels(self) -> Tuple[str, ...]:
        """The names of the kernels."""
        return tuple(program.kernel for program in self._programs)

    def __repr__(self) -> str:
        return f"Analysis of {', '.join(self.kernels)}"

    def _repr_html_(self) -> str:
        return "".join(program._repr_html_() for program in self._programs)


class Simulation(Table):
    """Rows of a simulation of one core package: `kernel`, the parameters, `warps`, `t_m_cycles`, `periods` (of one warp),
    `cycles`, and where they went: `calculation`, `issue`, `waiting`, `tail` (cycles, which sum to `cycles`)."""

    @property
    def cycles(self) -> float:
        """The cycles of the only row. Raises ValueError where there are several."""
        if len(self) != 1:
            raise ValueError(f"there are {len(self)} rows: choose one")
        return float(self.array["cycles"][0])


@dataclasses.dataclass(frozen=True)
class Timeline:
    """A drawing of what each warp, or each partition of an SM, does over the cycles; notebooks show it."""

    svg: str
    text: str
    diagnostics: Diagnostics = ()

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return self.text.rstrip("\n")


_COLORS = ("#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#9d755d", "#eeca3b", "#bab0ac", "#ff9da6")


class Prediction(Table):
    """Rows of a prediction: `plan`, `gpu`, the parameters, the first launch's `blocks` and `threads_per_block`, `launches`,
    `time_us`, the model's constants, and the parts of the time in microseconds.

    `parts` names the columns whose sum is the time, with their titles. `why_model`: why this model was taken. `excluded`: GPUs of the
    catalogue that it does not take. Where all GPUs are predicted, each combination of parameters has them fastest first, and
    `rank` counts from 1. Of a shard, `total_rows` is the number of rows of all shards, and `first_row` that of its first one, from 0.
    """

    parts: Mapping[str, str] = {}
    why_model: str = ""
    excluded: Sequence[str] = ()
    total_rows: int = 0
    first_row: int = 0

    @property
    def time_us(self) -> Any:
        """The time in microseconds: a number where there is one row, else an array."""
        times = self.array["time_us"]
        return float(times[0]) if len(times) == 1 else times

    def fastest(self) -> Any:
        """The row with the shortest time."""
        return self.array[int(np.argmin(self.array["time_us"]))]

    def _shown_columns(self) -> Sequence[str]:
        names = self.columns
        return ("gpu", *names[2 : names.index("time_us") + 1], *[n for n in ("rank", "grid", "block", "model") if n in names])

    def _repr_svg_(self) -> str:
        """Bars of the first rows' times."""
        rows = self.array[:30]
        longest = max([float(time) for time in rows["time_us"]], default=0.0) or 1.0
        bars = []
        for i, row in enumerate(rows):
            y, width = 22 * i, 400 * float(row["time_us"]) / longest
            bars.append(
                f'<text x="150" y="{y + 15}" text-anchor="end">{html.escape(str(row["gpu"]))}</text>'
                f'<rect x="156" y="{y + 3}" width="{width:.1f}" height="16" fill="{_COLORS[0]}"/>'
                f'<text x="{162 + width:.1f}" y="{y + 15}">{float(row["time_us"]):.4g} µs</text>'
            )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="680" height="{22 * len(rows) + 4}" font-family="sans-serif" '
            f'font-size="12">{"".join(bars)}</svg>'
        )


def prediction_of(columns: Sequence[Any], facts: Mapping[str, Any], diagnostics: Diagnostics) -> Prediction:
    """A Prediction of what the extension gives; ranks the GPUs where all are predicted."""
    arrays: Dict[str, Array] = {}
    for name, values, texts in columns:
        if texts is not None:
            labels = np.array(texts, dtype=object if max(map(len, texts), default=0) > LONGEST else np.str_)
            values = labels[values] if len(labels) else np.empty(0, dtype=np.str_)
        arrays[name] = values.astype(bool) if name == "models_disagree" else values
    array = structured(arrays)
    if facts.get("ranked"):
        array = _ranked(arrays, int(facts["gpus"]))
    prediction = Prediction(array, diagnostics)
    prediction.parts = dict(facts.get("parts", ()))
    prediction.why_model = facts.get("why_model", "")
    prediction.excluded = tuple(facts.get("excluded", ()))
    prediction.total_rows = int(facts.get("total_rows", 0))
    prediction.first_row = int(facts.get("first_row", 0))
    return prediction


def _ranked(arrays: Dict[str, Array], gpus: int) -> Array:
    """The rows of equal parameters by their times, with a column `rank` before `notes`."""
    groups = len(arrays["time_us"]) // max(gpus, 1)
    order = np.argsort(arrays["time_us"].reshape(groups, gpus), axis=1, kind="stable")
    rows = (order + gpus * np.arange(groups)[:, None]).ravel()
    columns: Dict[str, Array] = {}
    for name, values in arrays.items():
        if name == "notes":
            columns["rank"] = np.tile(np.arange(1, gpus + 1, dtype=np.int64), groups)
        columns[name] = values[rows]
    return structured(columns)
