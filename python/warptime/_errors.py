"""What is wrong with an input or an argument, as data."""
from __future__ import annotations

import dataclasses
import warnings
from typing import Any, Iterable, Mapping, Tuple


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """One message about an input, as a compiler gives it; str() is the whole text with the line and a caret.

    `line` and `column` count from 1 (the column in bytes); 0 stands for unknown. `hint` is the remedy, in terms of the
    command line: its option `--t-m` is the argument `t_m`.
    """

    severity: str
    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    source_line: str = ""
    hint: str = ""
    text: str = ""

    def __str__(self) -> str:
        return self.text.rstrip("\n") or self.message


Diagnostics = Tuple[Diagnostic, ...]


class WarptimeError(Exception):
    """The base of this package's exceptions; `diagnostics` says what is wrong."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics: Diagnostics = tuple(diagnostics)
        errors = [one for one in self.diagnostics if one.severity == "error"] or list(self.diagnostics)
        super().__init__("\n".join(str(one) for one in errors) or "failed without a message")

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.diagnostics,)  # an exception comes back whole from another process


class InputError(WarptimeError, ValueError):
    """The input is wrong: code that does not compile, a missing parameter, a file that cannot be read."""


class ArgumentError(WarptimeError, ValueError):
    """An argument is wrong whatever the input is: an unknown GPU, a negative number, arguments that exclude each other."""


class WarptimeWarning(UserWarning):
    """What a result leaves out or assumes, where the command line prints a warning."""


def diagnostics_of(entries: Iterable[Mapping[str, Any]]) -> Diagnostics:
    """The diagnostics as the extension gives them."""
    return tuple(Diagnostic(**entry) for entry in entries)


def check(status: int, diagnostics: Diagnostics) -> None:
    """Raises the exception that belongs to an exit status; issues warnings."""
    if status == 2:
        raise ArgumentError(diagnostics)
    if status != 0:
        raise InputError(diagnostics)
    for one in diagnostics:
        if one.severity == "warning":
            warnings.warn(str(one), WarptimeWarning, stacklevel=5)
