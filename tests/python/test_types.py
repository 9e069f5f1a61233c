"""mypy --strict over the package, and over code that uses it."""
import os
import subprocess
import sys

import pytest

from conftest import ROOT

GOOD = """
import numpy.typing as npt
from typing import Any, List
import warptime as w
times: npt.NDArray[Any] = w.predict("matrix", gpu="h200", K=[8, 10], N="2^6..2^20")["time_us"]
names: List[str] = [gpu.name for gpu in w.gpus()]
sms: int = w.gpus("h200").sms
cycles: float = w.simulate(w.Program([w.Calc(3), w.Repeat("K", [w.Load(120)])]), warps=8, t_m=2, K=8).cycles
rows: w.Prediction = w.predict("matrix", K=8, N=1024)[:3]
"""
WRONG = [
    'w.predict("matrix", gpu=3)',
    'w.predict("matrix", t_p="soon")',
    "w.simulate('p.yaml', t_m=2)",
    "w.gpus('h200').smss",
    "w.Repeat('K', [3])",
    "w.compare('mtx')",
    "w.measure('mtx', repetitions='ten')",
]


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    pytest.importorskip("mypy")
    folder = tmp_path_factory.mktemp("mypy")
    environment = {**os.environ, "MYPYPATH": str(ROOT / "python")}

    def check(*names):
        return subprocess.run([sys.executable, "-m", "mypy", "--strict", "--config-file", str(ROOT / "pyproject.toml"), "--cache-dir",
                               str(folder / "cache"), *names], capture_output=True, text=True, env=environment, check=False)

    check.folder = folder
    return check


def test_the_package_is_strict(mypy):
    assert mypy(str(ROOT / "python" / "warptime")).stdout.startswith("Success")


def test_code_that_uses_it_is_checked(mypy):
    (mypy.folder / "good.py").write_text(GOOD)
    found = mypy(str(mypy.folder / "good.py"))
    assert found.returncode == 0, found.stdout


def test_each_mistake_is_found(mypy):
    (mypy.folder / "wrong.py").write_text("import warptime as w\n" + "\n".join(WRONG) + "\n")
    found = mypy(str(mypy.folder / "wrong.py"))
    lines = {int(line.split(":")[1]) for line in found.stdout.splitlines() if ": error: " in line}
    assert lines == set(range(2, 2 + len(WRONG))), found.stdout


def test_the_package_says_that_it_is_typed():
    import warptime

    assert (ROOT / "python" / "warptime" / "py.typed").exists()
    assert os.path.exists(os.path.join(os.path.dirname(warptime.__file__), "py.typed"))
    assert all(getattr(warptime, name).__doc__ for name in warptime.__all__ if name not in ("Item", "__version__"))


def test_each_function_s_docstring_names_its_arguments():
    import inspect

    import warptime

    documented_elsewhere = {"counters": "predict()", "compare": "calibrate()", "timeline": "simulate()"}
    for name in ("analyze", "simulate", "measure", "calibrate"):
        function = getattr(warptime, name)
        assert "Raises" in function.__doc__, name
        assert inspect.signature(function).return_annotation not in (None, inspect.Signature.empty), name
    for name, other in documented_elsewhere.items():
        assert other in getattr(warptime, name).__doc__, name
