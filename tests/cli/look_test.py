"""How results look on a terminal, which is a pseudo-terminal here, and that they look plain elsewhere.

  look_test.py WARPTIME
"""
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

WARPTIME = None
SWEEP = ["predict", "mtx", "--gpu", "gtx-1070,rtx-2080", "--param", "K=8,N=2^10..2^14"]
ESCAPE = "\x1b["


def plain(*arguments):
    return subprocess.run([WARPTIME, *arguments], capture_output=True, text=True, check=False)


def on_terminal(*arguments, width=200, variables=None):
    """What a terminal shows, without carriage returns."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS")}
    environment["TERM"] = "xterm"
    environment.update(variables or {})
    process = subprocess.Popen([WARPTIME, *arguments], stdin=subprocess.DEVNULL, stdout=slave, stderr=slave,
                               env=environment)
    os.close(slave)
    shown = b""
    while True:
        try:
            piece = os.read(master, 4096)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    process.wait()
    os.close(master)
    # The line that says that something goes on may come and go.
    text = shown.decode().replace("\r\n", "\n")
    return re.sub(r"\r(?:[^\n\r]*?)\x1b\[K", "", text)


def without_colours(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


class Look(unittest.TestCase):
    def test_colours_are_for_terminals(self):
        self.assertIn(ESCAPE, on_terminal(*SWEEP))
        self.assertNotIn(ESCAPE, on_terminal(*SWEEP, variables={"NO_COLOR": "1"}))
        self.assertIn(ESCAPE, on_terminal(*SWEEP, variables={"NO_COLOR": ""}))
        self.assertNotIn(ESCAPE, on_terminal(*SWEEP, variables={"TERM": "dumb"}))
        self.assertNotIn(ESCAPE, on_terminal(*SWEEP, "--color", "never"))
        self.assertNotIn(ESCAPE, plain(*SWEEP).stdout)
        always = plain(*SWEEP, "--color", "always").stdout
        self.assertIn(ESCAPE, always)
        self.assertEqual(without_colours(always), plain(*SWEEP).stdout)
        self.assertIn("`sometimes` is not one of", plain(*SWEEP, "--color", "sometimes").stderr)

    def test_messages_have_colours(self):
        shown = on_terminal("predict", "no-such-file.cu")
        self.assertIn("\x1b[1;31merror:\x1b[0m", shown)
        self.assertEqual(without_colours(shown), plain("predict", "no-such-file.cu").stderr)

    def test_tables_fit(self):
        for width in (60, 80, 100):
            shown = without_colours(on_terminal(*SWEEP, width=width))
            table = [line for line in shown.split("\n") if line.startswith(("gpu ", "gtx-", "rtx-"))]
            self.assertLessEqual(max(len(line) for line in table), width)
            self.assertIn("blocks x threads", shown)
            self.assertRegex(shown, r"gtx-1070 +8 +1024 +[^\n]*%")  # the columns that do not fit, below
        self.assertLessEqual(
            max(len(line) for line in without_colours(on_terminal(*SWEEP, variables={"COLUMNS": "70"})).split("\n")
                if line.startswith("gtx-")), 70)

    def test_wide_terminals_show_what_pipes_get(self):
        shown = without_colours(on_terminal(*SWEEP, width=300))
        for line in plain(*SWEEP).stdout.split("\n"):
            self.assertIn(line, shown)

    def test_sparklines(self):
        shown = without_colours(on_terminal(*SWEEP, width=300))
        self.assertRegex(shown, r"time over N\ngtx-1070  K=8  [▁▂▃▄▅▆▇█]{5} +\S+ µs at 1024 to \S+ µs at 16384")
        self.assertNotIn("▁", plain(*SWEEP).stdout)
        self.assertIn("▁", plain(*SWEEP, "--sparklines").stdout)
        self.assertNotIn("▁", plain(*SWEEP, "--sparklines", "--format", "csv").stdout)

    def test_files_are_plain(self):
        with tempfile.TemporaryDirectory() as folder:
            on_terminal(*SWEEP, "-o", folder + "/result", width=60)
            with open(folder + "/result", encoding="utf-8") as file:
                self.assertEqual(file.read(), plain(*SWEEP).stdout)

    def test_what_takes_longer_than_a_second_says_so(self):
        master, slave = pty.openpty()
        process = subprocess.Popen([WARPTIME, "analyze", "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                   stderr=slave)  # it waits for its input
        os.close(slave)
        shown = b""
        while b" s\x1b[K" not in shown:
            try:
                shown += os.read(master, 4096)
            except OSError:
                break
        process.kill()
        process.wait()
        process.stdin.close()
        os.close(master)
        self.assertRegex(shown.decode(), r"\rwarptime analyze: \d+ s\x1b\[K")


if __name__ == "__main__":
    WARPTIME = sys.argv.pop(1)
    unittest.main()
