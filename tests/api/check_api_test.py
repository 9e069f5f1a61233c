#!/usr/bin/env python3
"""scripts/check_api in a small repository: what it calls a break, and which version allows it."""
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))

HEADER = """// A thing.
#pragma once
#include <string>
#define TWO \\
  2
namespace warptime {
struct Thing {
  std::string name = {};  // "{"
  int size() const { return static_cast<int>(name.size()); }
  enum class Kind { one, two };
};
class Hidden {
 public:
  explicit Hidden(int of) : size_(of) {}
  void show();

 private:
  int size_ = 0;
};
inline int twice(int a) {
  if (a > 0) { return a + a; }
  return 2 * a;
}
}  // namespace warptime
"""


class Repository:
    def __init__(self, folder):
        self.folder = folder
        for name in ("scripts", "cmake"):
            os.makedirs(os.path.join(folder, name))
        shutil.copy(os.path.join(ROOT, "scripts", "check_api"), os.path.join(folder, "scripts"))
        self.write("cmake/install.cmake", "set(public_headers\n  thing.h)\n")
        self.release("0.1.0", HEADER)

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as stream:
            stream.write(text)

    def git(self, *words):
        environment = {**os.environ, "HOME": self.folder, "GIT_CONFIG_NOSYSTEM": "1"}
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@localhost", *words], cwd=self.folder, check=True, env=environment,
                       capture_output=True)

    def set(self, version, header):
        self.write("CMakeLists.txt", f"project(warptime VERSION {version} LANGUAGES CXX)\n")
        self.write("thing.h", header)

    def release(self, version, header):
        self.set(version, header)
        if not os.path.exists(os.path.join(self.folder, ".git")):
            self.git("init", "-q")
        self.git("add", ".")
        self.git("commit", "-q", "-m", version)
        self.git("tag", f"v{version}")

    def check(self, version, old="", new="", *options):
        """The exit status, and what is said, where `old` of the header has become `new`."""
        assert old in HEADER, old
        self.set(version, HEADER.replace(old, new) if old else HEADER)
        done = subprocess.run([sys.executable, "scripts/check_api", *options], cwd=self.folder, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout


def check_layouts(here):
    """What the text of public declarations does not show: members that are private, or new."""
    assert here.check("0.1.0", "", "", "--layouts")[1].endswith("no type has another layout\n")
    status, said = here.check("0.1.0", "int size_ = 0;", "int size_ = 1;", "--layouts")
    assert status == 0 and said.endswith("no type has another layout\n"), said
    for old, new, type_ in (("int size_ = 0;", "long size_ = 0;", "Hidden"), ("void show();", "virtual void show();", "Hidden"),
                            ("std::string name = {};", "int number = 0; std::string name = {};", "Thing"), ("one, two", "zero, one, two", "Kind")):
        status, said = here.check("0.1.0", old, new, "--layouts")
        assert status == 1 and type_ in said, (old, said)
        # The patch is enough, unless what was declared has changed, too.
        assert here.check("0.2.0", old, new, "--layouts")[0] == 0, old
    assert here.check("0.1.1", "int size_ = 0;", "long size_ = 0;", "--layouts")[0] == 0


def main():
    if shutil.which("git") is None:
        print("skipped: no git")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        here = Repository(folder)
        assert here.check("0.1.0") == (0, "no declaration changed\n0 declarations gone or changed, 0 new since v0.1.0 (0.1.0; now 0.1.0)\n")
        # What a client does not see.
        for old, new in (("return 2 * a;", "return a + a;"), ("  int size_ = 0;", "  long size_ = 1, other_ = 2;"), ("// A thing.", "// Things."),
                         ("size_(of) {}", "size_(of) { show(); }"), ("  int size() const", "  int  size()\n  const"), ("  2", "  3")):
            status, said = here.check("0.1.0", old, new)
            assert status == 0 and said.startswith("no declaration changed"), (old, said)
        # What is new breaks nobody.
        status, said = here.check("0.1.0", "  void show();", "  void show();\n  void hide();")
        assert status == 0 and "+ thing.h: class Hidden { void hide()" in said, said
        # What is gone or changed does.
        for old, new in (("  void show();\n", ""), ("std::string name", "std::string title"), ("one, two", "one"), ("int twice(int a)", "int twice(long a)"),
                         ("explicit Hidden(int of)", "Hidden(long of)"), ("struct Thing", "struct Thingy"), (" public:\n", " protected:\n")):
            status, said = here.check("0.1.1", old, new)
            assert status == 1 and "- thing.h: " in said and "this breaks clients" in said, (old, said)
            assert here.check("0.2.0", old, new)[0] == 0, old
        if shutil.which("abidiff") and shutil.which("g++"):
            check_layouts(here)
        here.release("1.0.0", HEADER)
        assert here.check("1.1.0", "  void show();\n", "")[0] == 1
        assert here.check("2.0.0", "  void show();\n", "")[0] == 0
        # A header that is not public any more is gone.
        here.set("1.1.0", HEADER)
        here.write("cmake/install.cmake", "set(public_headers\n  other.h)\n")
        here.write("other.h", "#pragma once\n")
        done = subprocess.run([sys.executable, "scripts/check_api"], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 1 and "- thing.h: struct Thing" in done.stdout, done.stdout
    return 0


if __name__ == "__main__":
    sys.exit(main())
