"""Results as NumPy structured arrays."""
from __future__ import annotations

import csv
import html
import io
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Sequence, Tuple, TypeVar, Union, overload

import numpy as np
import numpy.typing as npt

from ._errors import Diagnostics

if TYPE_CHECKING:
    import pandas

Array = npt.NDArray[Any]
T = TypeVar("T", bound="Table")
_MOST_SHOWN = 50
LONGEST = 128  # characters that each row of a text's field takes


class Table:
    """Rows of a result: `array` is a NumPy structured array, whose fields are the columns of the command's CSV.

    ``table["time_us"]`` is a column, ``table[0]`` a row, ``table[table["K"] == 8]`` a table of some rows. A field's name
    ends in its unit: `_us` microseconds, `_cycles` cycles of the GPU's clock, `_mhz`, `_bytes`.
    """

    def __init__(self, array: Array, diagnostics: Diagnostics = ()) -> None:
        self.array = array
        self.diagnostics = diagnostics

    @property
    def columns(self) -> Tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.array.dtype.names or ())

    def __len__(self) -> int:
        return len(self.array)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.array)

    def _with(self: T, array: Array) -> T:
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.array = array
        return other

    @overload
    def __getitem__(self, key: str) -> Array: ...
    @overload
    def __getitem__(self, key: int) -> Any: ...
    @overload
    def __getitem__(self: T, key: Union[slice, Array, Sequence[int]]) -> T: ...
    def __getitem__(self, key: Any) -> Any:
        found = self.array[key]
        return found if isinstance(key, (str, int, np.integer)) else self._with(found)

    def __array__(self, dtype: Any = None) -> Array:
        return self.array if dtype is None else self.array.astype(dtype)

    def to_pandas(self) -> "pandas.DataFrame":
        """The table as a pandas DataFrame, texts as Python strings. Needs pandas."""
        import pandas

        return pandas.DataFrame({name: self.array[name] for name in self.columns})

    def to_dicts(self) -> List[Dict[str, Any]]:
        """A dictionary of plain Python values for each row."""
        return [dict(zip(self.columns, row)) for row in self.array.tolist()]

    def to_csv(self) -> str:
        """The table as CSV, with numbers that read back to the same values."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.array.tolist())
        return stream.getvalue()

    def _shown_columns(self) -> Sequence[str]:
        return self.columns

    def _repr_html_(self) -> str:
        names = self._shown_columns()
        head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        body = ""
        for row in self.array[:_MOST_SHOWN]:
            cells = (f"{row[n]:.4g}" if isinstance(row[n], float) else str(row[n]) for n in names)
            body += "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>"
        rest = len(self) - _MOST_SHOWN
        foot = f"<p>and {rest} rows more</p>" if rest > 0 else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{foot}"

    def __repr__(self) -> str:
        names = self._shown_columns()
        cells = [list(names)]
        for row in self.array[:10]:
            cells.append([f"{row[n]:.4g}" if isinstance(row[n], float) else str(row[n]) for n in names])
        widths = [max(len(line[i]) for line in cells) for i in range(len(names))]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths)) for line in cells]
        return "\n".join(lines + ([f"… {len(self)} rows"] if len(self) > 10 else []))



def structured(columns: Mapping[str, Any]) -> Array:
    """A structured array of columns of equal length; texts become fields of Unicode, long ones of Python objects."""
    arrays = {name: np.asarray(values) for name, values in columns.items()}
    arrays = {n: a.astype(object) if a.dtype.kind == "U" and a.dtype.itemsize > 4 * LONGEST else a for n, a in arrays.items()}
    length = len(next(iter(arrays.values()))) if arrays else 0
    result = np.empty(length, dtype=[(name, array.dtype) for name, array in arrays.items()])
    for name, array in arrays.items():
        result[name] = array
    return result


def from_dicts(rows: Sequence[Mapping[str, Any]], names: Sequence[str] = ()) -> Array:
    """The rows of a JSON result. A number that is missing is NaN; whole numbers stay such where all rows have one."""
    order = list(names)
    for row in rows:
        order += [name for name in row if name not in order]
    columns: Dict[str, Any] = {}
    for name in order:
        values = [row.get(name) for row in rows]
        present = [value for value in values if value is not None]
        if all(isinstance(value, (int, float)) for value in present):
            whole = len(present) == len(values) and all(isinstance(value, int) for value in present)
            columns[name] = np.array([np.nan if v is None else v for v in values], dtype=np.int64 if whole else np.float64)
        elif all(isinstance(value, str) for value in present):
            columns[name] = np.array(["" if v is None else v for v in values], dtype=np.str_)
        else:
            column = np.empty(len(values), dtype=object)
            column[:] = values
            columns[name] = column
    return structured(columns)
