#!/usr/bin/env python3
"""plain_model.py gives the 720 rows of tests/data/paper_grid.csv, digit by digit."""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
made = subprocess.run([sys.executable, os.path.join(HERE, "plain_model.py")], capture_output=True, text=True, check=True).stdout
with open(os.path.join(HERE, "..", "data", "paper_grid.csv"), encoding="utf-8") as stream:
    there = stream.read()
assert len(there.splitlines()) == 721, len(there.splitlines())
for line, expected in zip(made.splitlines(), there.splitlines()):
    assert line == expected, f"{line} instead of {expected}"
assert made == there
