#!/usr/bin/env python3
"""check_format and check_tidy report a planted fault by name, and say nothing of a good tree."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))
GOOD = "#include <string>\n#include <utility>\n\nstd::string kept(std::string text) {\n  return text;\n}\n"
MOVED = """#include <string>
#include <utility>

std::size_t used_after_move(std::string text) {
  const std::string other = std::move(text);
  return other.size() + text.size();
}
"""


def check(tree, script, *arguments):
    run = subprocess.run([sys.executable, os.path.join(tree, "tests/style", script), *arguments], capture_output=True,
                         text=True, check=False)
    return run.returncode, run.stdout


def main():
    if not shutil.which("clang-tidy") or not shutil.which("clang-format"):
        print("there is no clang-tidy or no clang-format")
        return 1 if os.environ.get("CI") else 77
    with tempfile.TemporaryDirectory() as tree:
        os.makedirs(os.path.join(tree, "tests/style"))
        os.makedirs(os.path.join(tree, "simulator"))
        for name in ("check_format", "check_tidy"):
            shutil.copy(os.path.join(HERE, name), os.path.join(tree, "tests/style"))
        for name in (".clang-format", ".clang-tidy"):
            shutil.copy(os.path.join(ROOT, name), tree)
        source, build = os.path.join(tree, "simulator/a.cc"), os.path.join(tree, "build")
        os.makedirs(build)
        with open(os.path.join(build, "compile_commands.json"), "w", encoding="utf-8") as stream:
            json.dump([{"directory": build, "file": source, "command": f"c++ -std=c++20 -c {source}"}], stream)

        def write(text):
            with open(source, "w", encoding="utf-8") as stream:
                stream.write(text)

        write(GOOD)
        assert check(tree, "check_format") == (0, ""), check(tree, "check_format")
        status, said = check(tree, "check_tidy", build)
        assert status == 0 and "no findings" in said, said
        write(MOVED)
        status, said = check(tree, "check_tidy", build)
        assert status == 1 and "simulator/a.cc:6:" in said and "bugprone-use-after-move" in said, said
        write(GOOD.replace("  return", "    return"))
        status, said = check(tree, "check_format")
        assert status == 1 and said.startswith("simulator/a.cc: is not formatted"), said
        assert check(tree, "check_format", "--fix")[0] == 0
        assert check(tree, "check_format")[0] == 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
