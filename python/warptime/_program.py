"""Kernel programs as Python objects: built, taken apart, and written as the text that the command takes."""
from __future__ import annotations

import dataclasses
import html
import json
import os
from typing import Any, Callable, ClassVar, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from . import _warptime
from ._errors import InputError, diagnostics_of

Expression = Union[int, str]
"""A number, or an expression over the parameters: ``"K / 4"``."""

_More = Dict[str, Any]


def _more() -> Any:
    return dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Calc:
    """A calculation period of `cycles` cycles, taken as it stands."""

    cycles: Expression
    more: _More = _more()

    def to_dict(self) -> Dict[str, Any]:
        return {"calc": self.cycles, **self.more}


@dataclasses.dataclass
class Instructions:
    """`count` executed instructions of calculation: runs that meet are one period of n - 1 + 10 cycles.

    `more` holds what the analysis says beside: `lines` (of the source), `ptx` (lines of the PTX), `threads` (which execute it).
    """

    count: Expression
    more: _More = _more()

    def to_dict(self) -> Dict[str, Any]:
        return {"instructions": self.count, **self.more}


@dataclasses.dataclass
class _Access:
    """A memory access period: of `cycles` cycles, or of a kind of access whose duration the GPU gives.

    access: "uniform", "coalesced", "strided" or "scattered". bytes: of each thread. sectors: of 32 bytes, of a warp.
    """

    cycles: Optional[Expression] = None
    access: Optional[str] = None
    bytes: Optional[int] = None
    sectors: Optional[Expression] = None
    details: _More = _more()
    more: _More = _more()
    key: ClassVar[str] = ""

    def to_dict(self) -> Dict[str, Any]:
        if self.access is None and self.bytes is None and self.sectors is None and not self.details:
            if self.cycles is None:
                raise ValueError(f"a {self.key} needs cycles or access")
            return {self.key: self.cycles, **self.more}
        named = {"access": self.access, "cycles": self.cycles, "bytes": self.bytes, "sectors": self.sectors}
        given = {name: value for name, value in named.items() if value is not None}
        return {self.key: {**given, **self.details}, **self.more}


@dataclasses.dataclass
class Load(_Access):
    """A load from global memory; see Store for the other direction.

    cycles: the duration. access: "uniform", "coalesced", "strided" or "scattered" where the GPU's file gives the duration.
    """

    key: ClassVar[str] = "load"


@dataclasses.dataclass
class Store(_Access):
    """A store to global memory, described as a Load is."""

    key: ClassVar[str] = "store"


@dataclasses.dataclass
class Repeat:
    """The body, `count` times."""

    count: Expression
    body: List["Item"]
    more: _More = _more()

    def to_dict(self) -> Dict[str, Any]:
        return {"repeat": self.count, **self.more, "body": [item.to_dict() for item in self.body]}


@dataclasses.dataclass
class When:
    """`then` where the condition holds, `otherwise` where it does not."""

    condition: Expression
    then: List["Item"]
    otherwise: List["Item"] = dataclasses.field(default_factory=list)
    more: _More = _more()

    def to_dict(self) -> Dict[str, Any]:
        both: Dict[str, Any] = {"when": self.condition, **self.more, "then": [item.to_dict() for item in self.then]}
        if self.otherwise:
            both["else"] = [item.to_dict() for item in self.otherwise]
        return both


Item = Union[Calc, Instructions, Load, Store, Repeat, When]


def _access_of(kind: Callable[..., Any], value: Any, more: _More) -> Any:
    if not isinstance(value, dict):
        return kind(cycles=value, more=more)
    details = dict(value)
    named = {name: details.pop(name, None) for name in ("cycles", "access", "bytes", "sectors")}
    return kind(**named, details=details, more=more)


def item_of(data: Mapping[str, Any]) -> Item:
    """The item that a dictionary of the format describes. Raises ValueError for another."""
    more = dict(data)
    for key in ("calc", "instructions", "load", "store", "repeat", "when"):
        if key not in more:
            continue
        value = more.pop(key)
        if key == "calc":
            return Calc(value, more)
        if key == "instructions":
            return Instructions(value, more)
        if key == "repeat":
            return Repeat(value, [item_of(one) for one in more.pop("body", [])], more)
        if key == "when":
            then, otherwise = more.pop("then", []), more.pop("else", [])
            return When(value, [item_of(one) for one in then], [item_of(one) for one in otherwise], more)
        item: Item = _access_of(Load if key == "load" else Store, value, more)
        return item
    raise ValueError(f"not an item of a kernel program: {sorted(data)}")


def _walk(items: Sequence[Item], depth: int) -> Iterator[Tuple[int, Item]]:
    for item in items:
        yield depth, item
        if isinstance(item, Repeat):
            yield from _walk(item.body, depth + 1)
        elif isinstance(item, When):
            yield from _walk(item.then, depth + 1)
            yield from _walk(item.otherwise, depth + 1)


@dataclasses.dataclass
class Program:
    """What one warp of a kernel executes: calculation and memory access periods, loops and conditions.

    `parameters` says what each name is: ``{"K": "argument 0 (int K)"}``. `more` holds the rest of the file: its format's
    version, the target, assumptions. docs/kernel-program.md describes the format.
    """

    items: List[Item]
    kernel: str = ""
    parameters: Dict[str, str] = dataclasses.field(default_factory=dict)
    more: _More = _more()

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Program":
        """The program of a dictionary as the format has it. Raises ValueError for another."""
        more = dict(data)
        if "program" not in more:
            raise ValueError("there is no key `program`")
        items = [item_of(one) for one in more.pop("program")]
        return cls(items, more.pop("kernel", ""), dict(more.pop("parameters", {})), more)

    def to_dict(self) -> Dict[str, Any]:
        """The program as JSON and YAML have it."""
        data: Dict[str, Any] = dict(self.more)
        if self.kernel:
            data["kernel"] = self.kernel
        if self.parameters:
            data["parameters"] = dict(self.parameters)
        data["program"] = [item.to_dict() for item in self.items]
        return data

    def to_text(self) -> str:
        """JSON that `warptime simulate` and `warptime predict` take; it is YAML, too."""
        return json.dumps(self.to_dict(), indent=2) + "\n"

    def walk(self) -> Iterator[Tuple[int, Item]]:
        """Each item with its depth, in the order of the program: loops and conditions before what they contain."""
        return _walk(self.items, 0)

    def _repr_html_(self) -> str:
        rows = []
        for depth, item in self.walk():
            data = item.to_dict()
            key = next(name for name in ("calc", "instructions", "load", "store", "repeat", "when") if name in data)
            shown = data[key]
            if isinstance(shown, dict):
                shown = ", ".join(f"{name} {value}" for name, value in shown.items() if name in ("access", "cycles", "sectors"))
            color = {"load": "#1f77b4", "store": "#d62728"}.get(key, "inherit")
            rows.append(
                f'<tr><td style="text-align:left;padding-left:{1 + 1.5 * depth}em;color:{color}">{key}</td>'
                f'<td style="text-align:left">{html.escape(str(shown))}</td>'
                f'<td style="text-align:left">{html.escape(str(data.get("lines", "")))}</td></tr>'
            )
        named = ", ".join(f"{name}: {text}" for name, text in self.parameters.items())
        return (
            f"<table><caption>{html.escape(self.kernel or 'kernel program')} {html.escape(named)}</caption>"
            f"<thead><tr><th>item</th><th>what</th><th>lines</th></tr></thead><tbody>{''.join(rows)}</tbody></table>"
        )


def read_programs(text_or_path: Union[str, "os.PathLike[str]"]) -> List[Program]:
    """The kernel programs of a text (YAML or JSON) or of a file. Raises InputError with what is wrong and where."""
    if isinstance(text_or_path, str) and ("\n" in text_or_path or text_or_path.lstrip().startswith(("{", "["))):
        text, name = text_or_path, "<string>"
    else:
        name = os.fspath(text_or_path)
        with open(name, encoding="utf-8") as stream:
            text = stream.read()
    written, entries = _warptime.programs(text, name)
    if entries:
        raise InputError(diagnostics_of(entries))
    data = json.loads(written)
    return [Program.from_dict(one) for one in (data if isinstance(data, list) else [data])]
