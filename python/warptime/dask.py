"""Sweeps on the workers of a cluster, by dask.distributed.

    >>> import dask.distributed, warptime.dask
    >>> client = dask.distributed.Client("scheduler:8786")
    >>> rows = warptime.dask.sweep("matrix", gpu="h200", K=[8, 10, 12], N="2^10..2^20")
    >>> rows.to_csv("rows-*.csv", index=False)

The result is a dask DataFrame, whose partitions are contiguous parts of the rows in their order. Nothing is computed before it is
asked for; each partition then is one task, which dask gives to another worker where one is lost. A worker holds the partitions that
it works on, so that any number of rows can be written. Workers need this package, and the files that the arguments name.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple

from ._inputs import Source, wrong_argument
from ._predict import combinations_of, joined, predict, predict_with
from ._results import Prediction

if TYPE_CHECKING:
    import dask.dataframe
    import pandas

__all__ = ["sweep"]

_ROWS = 100_000  # of a partition, at most: some 20 MB
_EVEN = 32  # partitions at least, so that workers who take one after the other end at about the same time,
_FEWEST_ROWS = 5_000  # unless they were shorter than this, where compiling the source for each of them would take most of the time
_FEWEST_SIMULATED = 100  # the same of the extended model, whose rows take a hundred times as long
_ALL_PARTS = 2**62  # more parts than any sweep has rows: the first one is a single row, or the GPUs of one ranking


def sweep(
    source: Optional[Source] = None, *, over: Optional[Mapping[str, Sequence[Any]]] = None, partitions: Optional[int] = None,
    **options: Any,
) -> "dask.dataframe.DataFrame":
    """predict(), or with `over` warptime.sweep(), as a dask DataFrame with the rows that they give, in the same order.

    partitions: their number; by default 32, or more where they had more than 100,000 rows each, or fewer where they had less than
    5,000 (of the extended model: 100); with `over` one for each combination (of more than 1,000: for as many as make 1,000). The
    index of the rows counts from 0; with `over` it does so in each partition. A call compiles and predicts the first row here, to
    know the columns. On a worker, `jobs` is the number of its threads. Raises as predict() does; what is wrong
    with a later row is raised where the rows are computed.
    """
    if partitions is not None and partitions < 1:
        raise wrong_argument("partitions must be at least 1")
    if "shard" in options or "progress" in options:
        raise wrong_argument("shard and progress are not for warptime.dask.sweep()", "the partitions are the shards")
    if over is not None:
        return _sweep_over(source, over, partitions, options)
    if source is None:
        raise wrong_argument("there is no source")
    head = predict(source, shard=(1, _ALL_PARTS), **options)
    count = min(partitions or _partitions_of(head), max(head.total_rows, 1))
    return _frame(_part, range(1, count + 1), head.to_pandas(), source=source, options=options, count=count)


def _partitions_of(head: Prediction) -> int:
    fewest = _FEWEST_SIMULATED if "kernel_us" in head.columns else _FEWEST_ROWS
    return max(math.ceil(head.total_rows / _ROWS), min(_EVEN, head.total_rows // fewest), 1)


def _sweep_over(source: Optional[Source], over: Mapping[str, Sequence[Any]], partitions: Optional[int],
                options: Dict[str, Any]) -> "dask.dataframe.DataFrame":
    names, combinations = combinations_of(over)
    count = min(partitions or 1000, len(combinations))
    size, longer = divmod(len(combinations), count)
    parts: List[List[Tuple[Any, ...]]] = []
    for i in range(count):
        begin = i * size + min(i, longer)
        parts.append(combinations[begin : begin + size + (i < longer)])
    head = joined([predict_with(source, options, names, combinations[0])], names, combinations[:1])
    return _frame(_combinations, parts, head.to_pandas(), source=source, options=options, names=names,
                  columns=list(head.columns))


def _frame(function: Any, parts: Any, head: "pandas.DataFrame", **arguments: Any) -> "dask.dataframe.DataFrame":
    import dask.dataframe

    return dask.dataframe.from_map(function, parts, meta=head.iloc[:0], enforce_metadata=False, label="warptime", **arguments)


def _with_jobs(options: Mapping[str, Any]) -> Dict[str, Any]:
    """On a worker, all its threads: a process makes one prediction at a time."""
    try:
        from distributed import get_worker

        return {"jobs": get_worker().state.nthreads, **options}
    except (ImportError, ValueError):  # not a worker
        return dict(options)


def _part(number: int, *, source: Source, options: Mapping[str, Any], count: int) -> "pandas.DataFrame":
    table = predict(source, shard=(number, count), **_with_jobs(options))
    rows = table.to_pandas()
    rows.index += table.first_row
    return rows


def _combinations(combinations: Sequence[Tuple[Any, ...]], *, source: Optional[Source], options: Mapping[str, Any],
                  names: Sequence[str], columns: Sequence[str]) -> "pandas.DataFrame":
    options = _with_jobs(options)
    tables = [predict_with(source, options, names, values) for values in combinations]
    return joined(tables, names, combinations).to_pandas().reindex(columns=list(columns))
