"""Calls of the extension: progress, exceptions, the end of the process."""
from __future__ import annotations

import atexit
import os
import sys
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

from . import _warptime
from ._errors import Diagnostics, check, diagnostics_of
from ._inputs import Words

Progress = Union[bool, Callable[[int, int], object]]
"""True: a tqdm bar where tqdm is installed; or a function that takes the rows done and all rows."""


class _Bar:
    """A tqdm bar that appears with the first progress."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._bar: Any = None

    def __call__(self, done: int, total: int) -> None:
        if self._bar is None:
            from tqdm.auto import tqdm

            self._bar = tqdm(total=total, desc=self._what, unit="row", leave=False)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


def reporter(progress: Progress, what: str) -> Tuple[Optional[Callable[[int, int], object]], Callable[[], None]]:
    if callable(progress):
        return progress, lambda: None
    if progress:
        try:
            import tqdm  # noqa: F401
        except ImportError:
            return None, lambda: None
        bar = _Bar(what)
        return bar, bar.close
    return None, lambda: None


def run(command: str, words: Words, progress: Progress = False) -> Tuple[str, Diagnostics]:
    """The output of a command and what it says beside. Raises WarptimeError, KeyboardInterrupt."""
    on_progress, close = reporter(progress, command)
    try:
        status, output, entries = _warptime.run(command, words.all(), words.texts, on_progress)
    finally:
        close()
    diagnostics = diagnostics_of(entries)
    check(status, diagnostics)
    return output, diagnostics


def run_views(command: str, words: Words, option: str, views: Sequence[str]) -> Tuple[Dict[str, str], Diagnostics]:
    """The output of a command for each value of the option that chooses its form. Raises as run() does."""
    outputs: Dict[str, str] = {}
    diagnostics: Diagnostics = ()
    for view in views:
        outputs[view], diagnostics = run(command, words.with_option(option, view))
    return outputs, diagnostics


def predict(words: Words, progress: Progress = False) -> Tuple[List[Any], Dict[str, Any], Diagnostics]:
    """The columns of a prediction, the facts beside them, and diagnostics. Raises as run() does."""
    on_progress, close = reporter(progress, "predict")
    try:
        status, columns, facts, entries = _warptime.predict(words.all(), words.texts, on_progress)
    finally:
        close()
    diagnostics = diagnostics_of(entries)
    check(status, diagnostics)
    return columns, facts, diagnostics


def _wait_at_exit() -> None:
    # A compilation that Ctrl-C left in the background uses what the end of the process destroys.
    if not _warptime.wait_for_background(5.0):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(130)


atexit.register(_wait_at_exit)
