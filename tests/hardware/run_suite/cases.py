"""The cases of this folder: kernels with their launch, what they give, and what `warptime run` finds.

A case is a kernel of one of the .cu files, with a comment before it:

  // run: <<<GRID, BLOCK, SHARED_BYTES>>> NAME=VALUE...   parameters in the kernel's order; SHARED_BYTES may be left out
  // gives NAME: EXPRESSION                               Python: the buffer's numbers, where hardware defines them
  // finds: KIND...                                       kinds of findings of warptime; without this line: none
  // hangs                                                the kernel does not end on hardware

VALUE is a number, or zeros:TYPE:COUNT, iota:TYPE:COUNT (0, 1, 2, ...), uninit:TYPE:COUNT; TYPE is u32, u64, f32, f64.
"""
import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parent
KERNEL = re.compile(r'((?:^//.*\n)+)(?:^struct[^;{]*;\n)?^extern "C" __global__ void (\w+)\(', re.MULTILINE)
LAUNCH = re.compile(r"// run: <<<(\d+), (\d+)(?:, (\d+))?>>>(.*)")


class Case:
    def __init__(self, file, name, comment):
        self.file, self.name = file, name
        launch = LAUNCH.search(comment)
        self.grid, self.block, self.shared = (int(number or 0) for number in launch.groups()[:3])
        self.arguments = [argument.split("=", 1) for argument in launch.group(4).split()]
        self.gives = {}
        for buffer, expression in re.findall(r"// gives (\w+): (.*)", comment):
            self.gives[buffer] = list(eval(expression))
        # One buffer of results is the usual case, and called `out`.
        finds = re.search(r"// finds: (.*)", comment)
        self.finds = sorted(finds.group(1).split()) if finds else []
        self.hangs = re.search(r"// hangs$", comment, re.MULTILINE) is not None
        text = [line[3:] for line in comment.splitlines()]
        self.about = " ".join(line for line in text if not re.match(r"(run:|gives |finds:|hangs$)", line))

    def buffers(self):
        """(name, kind, type, count) of each argument that is a buffer."""
        for name, value in self.arguments:
            if ":" in value:
                kind, type_name, count = value.split(":")
                yield name, kind, type_name, int(count)


def read_cases():
    cases = []
    for file in sorted(FOLDER.glob("*.cu")):
        text = file.read_text()
        found = [Case(file, name, comment) for comment, name in KERNEL.findall(text) if "// run:" in comment]
        assert len(found) == text.count("// run:"), f"{file}: a comment with `run:` is not before a kernel"
        cases += found
    return cases
