#!/usr/bin/env python3
"""Executes what README.md and docs/*.md show, and compares it with what the pages say.

    check_docs.py --warptime BINARY PAGE…            checks these pages (paths from the repository's root)
    check_docs.py --warptime BINARY --update PAGE…   writes the real outputs into the pages
    check_docs.py --not-run PAGE…                    fails for a line of not_run.txt that no page needs

On a page,

- a ```console block holds commands (`$ command`, further lines after a backslash or inside a here-document) and
  below each what it prints, stderr included. A line that is only `…` or `...` stands for any number of lines, and `…`
  within a line for any text. A command fails the page where its exit status is not 0, unless the block shows an error.
- a ```sh block holds commands; they must succeed, and their output is not compared.
- a block whose fence names a file (```yaml my.plan.yaml) is written to that file.
- a code span that begins with `warptime `, `scripts/` or `tests/` is a command that must succeed. A span that names a
  command alone (`warptime predict`) must have help. Spans with placeholders in capitals (FILE, PLAN) or `…` are
  schematic and are not run.
  A script that a span or block names must exist.
- relative links must lead to a file, and prose must fit 100 columns.

All commands of a page run in the order of the page, in one scratch copy of the folders that a reader has; outputs
name it ~/warptime.
not_run.txt lists the commands that are not run, each with the reason.
"""
import argparse
import difflib
import fnmatch
import functools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))
COPIED = ["CHANGELOG.md", "README.md", "data", "docs", "dwt_kernels", "samples", "scripts", "simulator/gpu/catalogue", "tests/ptx/data", "tests/python/data"]
COLUMNS = 100
SECONDS_PER_COMMAND = 120
DEBIAN_PYTHON = "/usr/bin/python3"  # has the packages; another that stands before it in PATH may not
CLONE = "~/warptime"  # stands for the scratch folder in outputs
SPAN_IS_COMMAND = re.compile(r"(warptime|scripts/[\w-]+|tests/[\w-]+/[\w.-]+)\s+\S")
SCRIPT_ALONE = re.compile(r"scripts/[\w-]+$")
PLACEHOLDER = re.compile(r"(?<![\w.-])[A-Z][A-Z_-]{2,}\b|…")
ELISIONS = ("…", "...")


class Command:
    """A command of a page: `kind` is console, sh or span; `first` and `last` are the lines of its output."""

    def __init__(self, kind, text, line, first=0, last=0):
        self.kind, self.text, self.line, self.first, self.last = kind, text, line, first, last


class FileBlock:
    def __init__(self, name, text, line):
        self.name, self.text, self.line = name, text, line


# --- reading a page -------------------------------------------------------------------------------------------------


def complete_command(lines, i):
    """The command that begins at lines[i], and the index of the line behind it: follows `\\` and here-documents."""
    text = lines[i]
    i += 1
    while text.endswith("\\") and i < len(lines):
        text += "\n" + re.sub(r"^> ", "", lines[i])
        i += 1
    here = re.search(r"<<-?\s*'?(\w+)'?", text)
    if here:
        while i < len(lines):
            text += "\n" + re.sub(r"^> ?", "", lines[i])
            i += 1
            if text.endswith("\n" + here.group(1)):
                break
    return text, i


def read_console(lines, offset):
    commands, i = [], 0
    while i < len(lines):
        if not lines[i].startswith("$ "):
            raise SystemExit(f"line {offset + i + 1}: a console block begins with `$ command`")
        begin = i
        text, i = complete_command([line[2:] if k == begin else line for k, line in enumerate(lines)], i)
        first = i
        while i < len(lines) and not lines[i].startswith("$ "):
            i += 1
        commands.append(Command("console", text, offset + begin, offset + first, offset + i))
    return commands


def read_sh(lines, offset):
    commands, i = [], 0
    while i < len(lines):
        begin = i
        text, i = complete_command(lines, i)
        text = re.sub(r"\s+# .*$", "", text)
        if text.strip() and not text.lstrip().startswith("#"):
            commands.append(Command("sh", text, offset + begin))
    return commands


def read_spans(lines, offset):
    """Commands in code spans of one paragraph."""
    text = "\n".join(lines)
    for match in re.finditer(r"(`+)(.+?)(?<!`)\1(?!`)", text, re.S):
        span = " ".join(match.group(2).split())
        if SPAN_IS_COMMAND.match(span) or SCRIPT_ALONE.match(span):
            yield Command("span", span, offset + text.count("\n", 0, match.start()))


def read_page(lines):
    """What is to be done for a page, in its order; and the numbers of its lines of prose."""
    steps, prose, paragraph, i = [], [], [], 0

    def end_paragraph(at):
        steps.extend(read_spans(paragraph, at - len(paragraph)))
        paragraph.clear()

    while i < len(lines):
        fence = re.match(r"```(\w*)\s*(\S*)\s*$", lines[i])
        if not fence:
            prose.append(i)
            if lines[i].strip() == "":
                end_paragraph(i)
            else:
                paragraph.append(lines[i])
            i += 1
            continue
        end_paragraph(i)
        begin = i + 1
        i = begin
        while i < len(lines) and not lines[i].startswith("```"):
            i += 1
        block, language, name = lines[begin:i], fence.group(1), fence.group(2)
        if name:
            steps.append(FileBlock(name, "\n".join(block) + "\n", begin))
        elif language == "console":
            steps += read_console(block, begin)
        elif language in ("sh", "bash"):
            steps += read_sh(block, begin)
        elif any(line.startswith("$ ") for line in block):
            raise SystemExit(f"line {begin + 1}: a block with `$ command` is a ```console block")
        i += 1
    end_paragraph(len(lines))
    return steps, prose


# --- what is not run ------------------------------------------------------------------------------------------------


def read_not_run():
    """[(pattern, reason)] of not_run.txt: `pattern :: reason`, with * and ? as in a shell."""
    found = []
    with open(os.path.join(HERE, "not_run.txt"), encoding="utf-8") as stream:
        for line in stream:
            if line.strip() and not line.startswith("#"):
                pattern, separator, reason = line.partition(" :: ")
                if not separator or not reason.strip():
                    raise SystemExit(f"not_run.txt: no reason: {line.strip()}")
                found.append((pattern.strip(), reason.strip()))
    return found


def is_exempt(command, patterns):
    text = " ".join(command.text.split())
    return any(fnmatch.fnmatchcase(text, pattern) for pattern, _ in patterns)


# --- comparing ------------------------------------------------------------------------------------------------------


def is_elision(line):
    return line.strip() in ELISIONS


def line_matches(expected, actual):
    """Whether a line of the page stands for a line of output. A `…` that the command itself printed is no elision."""
    if expected == actual:
        return True
    if "…" not in expected or "…" in actual:
        return False
    return re.fullmatch(".*".join(re.escape(part) for part in expected.split("…")), actual) is not None


def matches(expected, actual):
    @functools.lru_cache(maxsize=None)
    def from_here(i, j):
        if i == len(expected):
            return j == len(actual)
        if j < len(actual) and line_matches(expected[i], actual[j]) and from_here(i + 1, j + 1):
            return True
        return is_elision(expected[i]) and any(from_here(i + 1, k) for k in range(j, len(actual) + 1))

    return from_here(0, 0)


def updated(expected, actual):
    """The actual lines, with the elisions of the expected ones where they can stay: the cheapest alignment of both.

    A line that is the same costs nothing, one that changed costs by how much, one that is new or gone costs 1. An
    elision takes any number of lines for next to nothing."""
    rows, columns = len(expected), len(actual)
    similar = functools.lru_cache(maxsize=None)(lambda a, b: difflib.SequenceMatcher(None, a, b, False).quick_ratio())
    best = [[(0.0, None)] * (columns + 1) for _ in range(rows + 1)]  # (cost, step that led here)
    for i in range(rows + 1):
        for j in range(columns + 1):
            if i == j == 0:
                continue
            ways = []
            elided = i > 0 and is_elision(expected[i - 1])
            if i > 0:
                ways.append((best[i - 1][j][0] + (0.5 if elided else 1), "gone"))
            if j > 0:
                ways.append((best[i][j - 1][0] + 1, "new"))
                if elided:
                    ways.append((best[i][j - 1][0] + 0.01, "more"))
            if i > 0 and j > 0:
                if elided:
                    ways.append((best[i - 1][j - 1][0] + 0.01, "elided"))
                elif line_matches(expected[i - 1], actual[j - 1]):
                    ways.append((best[i - 1][j - 1][0], "same"))
                else:
                    cost = min(0.9, 1.2 - similar(expected[i - 1], actual[j - 1]))
                    ways.append((best[i - 1][j - 1][0] + cost, "changed"))
            best[i][j] = min(ways, key=lambda way: way[0])
    lines, i, j = [], rows, columns
    while i or j:
        step = best[i][j][1]
        if step in ("same", "elided"):
            lines.append(expected[i - 1])
        elif step in ("new", "changed"):
            lines.append(actual[j - 1])
        i -= step in ("same", "elided", "changed", "gone")
        j -= step != "gone"
    return lines[::-1]


# --- running --------------------------------------------------------------------------------------------------------


def scratch_copy(folder, warptime):
    for name in COPIED:
        source, target = os.path.join(ROOT, name), os.path.join(folder, name)
        if os.path.isdir(source):
            shutil.copytree(source, target, copy_function=shutil.copy)  # no old times: models are newer than warptime
        elif os.path.exists(source):
            shutil.copy(source, target)
    os.makedirs(os.path.join(folder, "build"))
    os.symlink(warptime, os.path.join(folder, "build", "warptime"))
    module = os.path.join(os.path.dirname(os.path.realpath(warptime)), "python")
    if os.path.isdir(module):
        os.symlink(module, os.path.join(folder, "build", "python"))
    if os.path.exists(DEBIAN_PYTHON):
        os.symlink(DEBIAN_PYTHON, os.path.join(folder, "build", "python3"))


def run(text, folder):
    """(exit status, lines of stdout and stderr together) of a command."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WARPTIME")}
    environment |= {"PATH": os.path.join(folder, "build") + os.pathsep + environment.get("PATH", ""), "LC_ALL": "C.UTF-8"}
    environment |= {"PYTHONPATH": os.path.join(folder, "build", "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("COLUMNS", None)
    with subprocess.Popen(["bash", "-c", text], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, start_new_session=True) as process:
        try:
            out, _ = process.communicate(timeout=SECONDS_PER_COMMAND)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return 124, [f"(took more than {SECONDS_PER_COMMAND} s)"]
    text = out.decode("utf-8", "replace").replace(os.path.realpath(folder), CLONE)
    return process.returncode, [line.rstrip() for line in text.splitlines()]


class Page:
    def __init__(self, name):
        self.name = name
        with open(os.path.join(ROOT, name), encoding="utf-8") as stream:
            self.lines = stream.read().splitlines()
        try:
            self.steps, self.prose = read_page(self.lines)
        except SystemExit as problem:
            raise SystemExit(f"{name}: {problem}") from None
        self.failures = 0
        self.replacements = []  # (first, last, lines)

    def fail(self, line, text):
        self.failures += 1
        print(f"{self.name}:{line + 1}: {text}")

    def check_style(self):
        for i in self.prose:
            line = self.lines[i]
            links_alone = re.fullmatch(r"\s*\S*\[[^\]]*\]\S*\s*", line)
            if len(line) > COLUMNS and not line.startswith("|") and not line.startswith("![") and not links_alone:
                self.fail(i, f"{len(line)} columns of prose; wrap it at {COLUMNS}")
            for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", line):
                if not re.match(r"\w+:", target) and not os.path.exists(
                        os.path.join(ROOT, os.path.dirname(self.name), target)):
                    self.fail(i, f"the link leads nowhere: {target}")

    def check_console(self, command, status, actual):
        expected = [line.rstrip() for line in self.lines[command.first:command.last]]
        shows_error = any("error:" in line for line in expected)
        if status != 0 and not shows_error:
            self.fail(command.line, f"`{command.text}` ended with status {status}")
            print("\n".join("  | " + line for line in actual[:40]))
            return
        if not expected and command.first == command.last and not actual:
            return
        if not matches(tuple(expected), tuple(actual)):
            self.replacements.append((command.first, command.last, updated(expected, actual)))
            self.fail(command.line, f"`{command.text}` prints something else")
            for line in difflib.unified_diff(expected, self.replacements[-1][2], "page", "now", lineterm="", n=1):
                print("  " + line)

    def execute(self, warptime, not_run):
        folder = tempfile.mkdtemp(prefix="warptime-docs-")
        try:
            scratch_copy(folder, warptime)
            for step in self.steps:
                if isinstance(step, FileBlock):
                    path = os.path.join(folder, step.name)
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                    with open(path, "w", encoding="utf-8") as stream:
                        stream.write(step.text)
                    continue
                script = re.match(r"(?:scripts|tests)/[\w./-]+", step.text)
                if script and not os.path.exists(os.path.join(ROOT, script.group())):
                    self.fail(step.line, f"there is no {script.group()}")
                if is_exempt(step, not_run) or (step.kind == "span" and PLACEHOLDER.search(step.text)):
                    continue
                text = step.text
                if step.kind == "span" and re.fullmatch(r"warptime \w+", text) and text not in ("warptime gpus", "warptime plans"):
                    text += " --help"
                status, actual = run(text, folder)
                if step.kind == "console":
                    self.check_console(step, status, actual)
                elif status != 0:
                    self.fail(step.line, f"`{step.text}` ended with status {status}")
                    print("\n".join("  | " + line for line in actual[:40]))
        finally:
            shutil.rmtree(folder)

    def update(self):
        for first, last, lines in reversed(self.replacements):
            self.lines[first:last] = lines
        if self.replacements:
            with open(os.path.join(ROOT, self.name), "w", encoding="utf-8") as stream:
                stream.write("\n".join(self.lines) + "\n")


def check_not_run(pages, not_run):
    """Every line of not_run.txt is needed by a page."""
    commands = [step for page in pages for step in page.steps if isinstance(step, Command)]
    unused = [pattern for pattern, reason in not_run if not any(is_exempt(one, [(pattern, reason)]) for one in commands)]
    for pattern in unused:
        print(f"tests/docs/not_run.txt: no page has a command like this: {pattern}")
    return 1 if unused else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--warptime", help="the binary that the pages' commands run")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--not-run", action="store_true")
    parser.add_argument("pages", nargs="+")
    arguments = parser.parse_args()
    pages, not_run = [Page(name) for name in arguments.pages], read_not_run()
    if arguments.not_run:
        return check_not_run(pages, not_run)
    warptime = os.path.abspath(arguments.warptime or os.path.join(ROOT, "build", "warptime"))
    if not os.path.exists(warptime):
        raise SystemExit(f"check_docs.py: there is no {warptime}")
    failures = 0
    for page in pages:
        page.check_style()
        page.execute(warptime, not_run)
        if arguments.update and page.replacements:
            page.update()
            print(f"{page.name}: wrote {len(page.replacements)} outputs")
            page.failures -= len(page.replacements)
        failures += page.failures
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
