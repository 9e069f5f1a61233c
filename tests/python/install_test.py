#!/usr/bin/env python3
"""pip installs the package from a checkout without a network, and what is installed works: install_test.py BUILD-FOLDER"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    with tempfile.TemporaryDirectory() as scratch:
        checkout, site = pathlib.Path(scratch, "checkout"), pathlib.Path(scratch, "site")
        checkout.mkdir()
        for name in ("pyproject.toml", "setup.py", "README.md", "CMakeLists.txt", "LICENSE"):
            shutil.copy(ROOT / name, checkout)
        shutil.copytree(ROOT / "python", checkout / "python", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        environment = {**os.environ, "WARPTIME_BUILD": sys.argv[1], "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        environment.pop("PYTHONPATH", None)
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--target", str(site), "."],
                       check=True, cwd=checkout, env=environment)
        said = subprocess.run([sys.executable, "-c", "import warptime; print(warptime.__file__, len(warptime.gpus()))"], check=True,
                              cwd=scratch, env={**environment, "PYTHONPATH": str(site)}, capture_output=True, text=True).stdout.split()
        assert said[0].startswith(str(site)), said
        assert int(said[1]) > 40, said
        assert (site / "warptime" / "py.typed").exists()
        metadata = next(site.glob("warptime-*.dist-info")).joinpath("METADATA").read_text()
        assert "Requires-Dist: numpy" in metadata, metadata


if __name__ == "__main__":
    main()
