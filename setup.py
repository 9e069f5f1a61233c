"""Builds warptime._warptime with CMake, which takes a while; or takes it from the build folder that WARPTIME_BUILD names."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent
VERSION = re.search(r"project\(warptime VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


class CMakeBuild(build_ext):
    def build_extension(self, ext):
        build = os.environ.get("WARPTIME_BUILD")
        if not build:
            build = str(pathlib.Path(self.build_temp).resolve())
            generator = ["-G", "Ninja"] if shutil.which("ninja") else []
            subprocess.run(["cmake", "-S", str(ROOT), "-B", build, *generator, "-DCMAKE_BUILD_TYPE=Release", "-DWARPTIME_TESTS=OFF",
                            f"-DWARPTIME_PYTHON_INTERPRETER={sys.executable}"], check=True)
            subprocess.run(["cmake", "--build", build, "--parallel", "--target", "warptime_python"], check=True)
        built = pathlib.Path(build, "python", "warptime", pathlib.Path(self.get_ext_filename("_warptime")).name)
        if not built.exists():
            raise SystemExit(f"there is no {built}: pybind11-dev and python3-dev are needed for it")
        target = pathlib.Path(self.get_ext_fullpath(ext.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(built, target)
        subprocess.run(["strip", str(target)], check=False)


setup(version=VERSION, ext_modules=[Extension("warptime._warptime", [])], cmdclass={"build_ext": CMakeBuild},
      options={"build": {"build_base": "build-python"}})  # build/ is CMake's
