"""The module beside the command that it must agree with. WARPTIME: the command; PYTHONPATH has the module."""
import csv
import io
import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(__file__).resolve().parent / "data"


class Command:
    """The built command, run in the repository's root."""

    def __init__(self, path):
        self.path = path

    def text(self, *words):
        return subprocess.run([self.path, *map(str, words)], check=True, capture_output=True, text=True, cwd=ROOT).stdout

    def json(self, *words):
        return json.loads(self.text(*words, "--format", "json"))

    def csv(self, *words):
        return list(csv.reader(io.StringIO(self.text(*words, "--format", "csv"))))


@pytest.fixture(scope="session")
def command():
    return Command(os.environ.get("WARPTIME", str(ROOT / "build" / "warptime")))


@pytest.fixture(autouse=True)
def in_root(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.fixture(scope="session")
def ptx():
    """The text of tests/python/data/NAME.ptx."""
    return lambda name: (DATA / f"{name}.ptx").read_text()
