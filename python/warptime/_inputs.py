"""What users give (texts, paths, objects, arrays) as the words of a command line and the texts that it reads."""
from __future__ import annotations

import copy
import json
import operator
import os
import re
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Union

from ._errors import ArgumentError, Diagnostic
from ._program import Program
from ._table import Table

Path = Union[str, "os.PathLike[str]"]
Source = Any
"""A kernel or a plan: a path, the name of a bundled plan, a text (CUDA C++, PTX, YAML or JSON), a Program or several, a Plan,
or an object with PTX in ``asm["ptx"]``, such as a kernel that Triton compiled."""
Number = Union[int, float]
Dimensions = Union[int, str, Sequence[Union[int, str]]]
"""A number of blocks or threads, an expression over the parameters, or up to three of them: ``(64, "N / 64")``."""
Values = Union[int, str, Iterable[int]]
"""Values of a parameter: 64; [8, 10, 12]; range(64, 1025, 64); "2^6..2^20" as for ``--param``."""
Names = Union[str, Sequence[str]]


def wrong_argument(message: str, hint: str = "") -> ArgumentError:
    text = f"warptime: error: {message}\n" + (f"hint: {hint}\n" if hint else "")
    return ArgumentError([Diagnostic("error", message, hint=hint, text=text)])


def is_text(source: str) -> bool:
    """Whether a string is an input itself, not the name of one."""
    return "\n" in source or source.lstrip().startswith(("{", "["))


class Words:
    """A command line that is being written, and the texts that stand for files in it."""

    def __init__(self) -> None:
        self.options: List[str] = []
        self.inputs: List[str] = []
        self.flags: List[str] = []
        self.texts: Dict[str, str] = {}

    def all(self) -> List[str]:
        return self.options + self.inputs + (["--", *self.flags] if self.flags else [])

    def option(self, name: str, value: Any) -> None:
        """Nothing for None and False, a flag for True; sequences give the option for each."""
        if value is None or value is False:
            return
        if value is True:
            self.options.append(f"--{name}")
        elif isinstance(value, (list, tuple)):
            for one in value:
                self.option(name, one)
        else:
            self.options.append(f"--{name}={value if isinstance(value, str) else number_text(value)}")

    def path(self, name: str, path: Optional[Path]) -> None:
        self.option(name, None if path is None else path_word(path))

    def with_option(self, name: str, value: Any) -> Words:
        """The same command line with one more option."""
        other = copy.copy(self)
        other.options = list(self.options)
        other.option(name, value)
        return other

    def pairs(self, name: str, values: Optional[Mapping[str, Any]]) -> None:
        """NAME=VALUE for each."""
        for key, value in (values or {}).items():
            self.options.append(f"--{name}={key}={values_text(value)}")

    def text(self, text: str, name: str) -> str:
        """Makes a text readable under a name that no other text has; returns it."""
        unique, count = name, 1
        while unique in self.texts:
            count += 1
            unique = f"{name}{count}"
        self.texts[unique] = text
        return unique

    def input(self, source: Source, name: str = "<string>") -> None:
        self.inputs.append(self.named(source, name))

    def named(self, source: Source, name: str = "<string>") -> str:
        """The name that stands for a source."""
        asm = getattr(source, "asm", None)
        if isinstance(asm, Mapping) and "ptx" in asm:
            source = asm["ptx"]
            source = source if is_text(source) else source + "\n"
        if isinstance(source, Program):
            return self.text(source.to_text(), name if name != "<string>" else "<program>")
        if isinstance(source, Table):
            return self.text(source.to_csv(), name)
        if isinstance(source, (list, tuple)) and source and all(isinstance(one, Program) for one in source):
            return self.text(json.dumps([one.to_dict() for one in source]), "<programs>")
        if hasattr(source, "to_text"):
            return self.text(source.to_text(), name)
        if isinstance(source, bytes):
            source = source.decode("utf-8")
        if isinstance(source, str) and is_text(source):
            return self.text(source, name)
        return path_word(source)


def path_word(path: Path) -> str:
    try:
        word = os.fspath(path)
    except TypeError:
        raise TypeError(f"neither a text, a path nor a program: {type(path).__name__}") from None
    if word == "-":
        raise wrong_argument("standard input is no input here", "give the text itself")
    if not word:
        raise wrong_argument("the name of the input is empty")
    return f"./{word}" if word.startswith("-") else word


def number_text(value: Any) -> str:
    """The shortest text that reads back to the same number."""
    try:
        return str(operator.index(value))
    except TypeError:
        return repr(float(value))


def values_text(values: Any) -> str:
    """Values as `--param` takes them."""
    if isinstance(values, str):
        return values
    if isinstance(values, Iterable):
        return ",".join(str(operator.index(value)) for value in values)
    return number_text(values)


def dimensions_text(sizes: Optional[Dimensions]) -> Optional[str]:
    if sizes is None or isinstance(sizes, str):
        return sizes
    if isinstance(sizes, Iterable):
        return ",".join(str(one) for one in sizes)
    return str(operator.index(sizes))


def names_list(names: Optional[Names]) -> List[str]:
    return [] if names is None else [names] if isinstance(names, str) else [str(name) for name in names]


def argument_numbers(program: Program) -> Dict[int, str]:
    """The names of a program's parameters that are kernel arguments, by the argument's position."""
    found: Dict[int, str] = {}
    for name, description in program.parameters.items():
        match = re.match(r"argument (\d+)\b", description)
        if match:
            found[int(match.group(1))] = name
    return found


def flat_arguments(arguments: Sequence[Any], symbol: str) -> List[Any]:
    """Arguments as the PTX has them: Numba passes an array as 5 + 2 · dimensions parameters."""
    if "Array" not in symbol or not symbol.startswith("_Z"):
        return list(arguments)
    flat: List[Any] = []
    for one in arguments:
        shape = getattr(one, "shape", None)
        if isinstance(shape, tuple) and shape:
            strides = getattr(one, "strides", None) or (None,) * len(shape)
            flat += [None, None, getattr(one, "size", None), getattr(one, "itemsize", None), None, *shape, *strides]
        else:
            flat.append(one)
    return flat


def positional_arguments(arguments: Sequence[Any], program: Program) -> Dict[str, Any]:
    """Values of the parameters that a program takes from a kernel's arguments, which are given in their order.

    Arrays, tensors and None stand for pointers, whose values no time depends on.
    """
    names = argument_numbers(program)
    if program.parameters and not names:
        raise wrong_argument("the program does not say which of the kernel's arguments its parameters are",
                             f"give them by name: {', '.join(program.parameters)}")
    values: Dict[str, Any] = {}
    for position, value in enumerate(flat_arguments(arguments, str(program.more.get("symbol", "")))):
        if position not in names or value is None or getattr(value, "shape", None):
            continue
        values[names[position]] = value
    missing = [name for position, name in names.items() if name not in values]
    if missing:
        described = ", ".join(f"{name} ({program.parameters[name]})" for name in missing)
        raise wrong_argument(f"args has no number for {described}")
    return values
