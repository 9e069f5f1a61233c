"""--watch: what it prints when sources change, and what it survives.

  watch_test.py WARPTIME
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

WARPTIME = None

SOURCE = """\
#include "scale.h"
__global__ void k(int n, int m, const float* a, float* b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
#pragma unroll 1
    for (int j = 0; j < m; ++j)
        s += a[i + j] * SCALE;
    if (i < n) b[i] = s;
}
"""
PREDICT = ["predict", "k.cu", "--threads", "n", "--param", "n=2^20,m=32", "--gpu", "h200"]


class Watch(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.write("k.cu", SOURCE)
        self.write("scale.h", "#define SCALE 2.0f\n")
        self.process = None

    def tearDown(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def start(self, *arguments):
        with open(self.path("out"), "w") as out, open(self.path("err"), "w") as err:
            self.process = subprocess.Popen([WARPTIME, *arguments, "--watch"], stdout=out, stderr=err,
                                            cwd=self.folder.name)
        self.wait_for("err", "Ctrl-C ends")

    def wait_for(self, name, text, times=1):
        for _ in range(6000):
            if self.read(name).count(text) >= times:
                return self.read(name)
            self.assertIsNone(self.process.poll(), self.read("err"))
            time.sleep(0.01)
        self.fail("%s never had %r:\n%s\n%s" % (name, text, self.read("out"), self.read("err")))

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.assertEqual(self.process.wait(20), 130)

    def test_what_changes_is_said_as_models_update_says_it(self):
        self.start(*PREDICT)
        self.assertIn("watching k.cu and scale.h", self.read("err"))
        first = self.read("out")
        self.assertIn("h200  1048576  32", first)
        self.write("k.cu", SOURCE.replace("* SCALE", "* SCALE * a[i + 8 * j]"))
        text = self.wait_for("out", "on h200 at n=2^20, m=32 (plan k: ")[len(first):]
        self.assertRegex(text, r"^\n\d\d:\d\d:\d\d: k\.cu changed \(\d+ ms\)\nk \(k\.cu\): changed\n")
        self.assertRegex(text, r"loop body \(line 7\): .*\+1 coalesced load")
        self.write("scale.h", "#define SCALE (2.0f * j)\n")
        text = self.wait_for("out", "scale.h changed")
        self.wait_for("out", "(plan k: ", 2)
        self.end()

    def test_errors_are_shown_and_the_last_answer_stays(self):
        self.start(*PREDICT, "-o", "result.csv", "--format", "csv")
        good = self.read("result.csv")
        self.write("k.cu", SOURCE.replace("s +=", "t +="))
        self.wait_for("err", "k.cu:8:9: error: use of undeclared identifier 't'")
        self.wait_for("err", "stands")
        self.assertEqual(self.read("result.csv"), good)
        os.remove(self.path("k.cu"))
        self.wait_for("err", "k.cu: error: no such file")
        self.wait_for("err", "stands", 2)
        # Written in halves: whatever comes of the first half, the whole is taken in the end.
        with open(self.path("k.cu"), "w", encoding="utf-8") as file:
            file.write(SOURCE[:120])
            file.flush()
            time.sleep(0.3)
            file.write(SOURCE[120:].replace("a[i + j]", "a[32 * i + j]"))
        self.wait_for("out", "made strided by 128 bytes")
        self.assertNotEqual(self.read("result.csv"), good)
        # Replaced by a rename, as editors do.
        self.write("k.cu.new", SOURCE)
        os.rename(self.path("k.cu.new"), self.path("k.cu"))
        self.wait_for("out", "made coalesced")
        self.assertEqual(self.read("result.csv"), good)
        self.end()
        self.assertEqual([name for name in os.listdir(self.folder.name) if name.startswith(".")], [])

    def test_analyze_and_counters_say_what_they_show(self):
        self.start("analyze", "k.cu")
        self.write("k.cu", SOURCE.replace("b[i] = s", "b[4 * i] = s"))
        self.wait_for("out", "made strided by 16 bytes")
        self.end()
        self.write("k.cu", SOURCE)
        self.start("counters", *PREDICT[1:])
        self.write("k.cu", SOURCE.replace("* SCALE", "+ SCALE * SCALE * s"))
        text = self.wait_for("out", "smsp__inst_executed.sum: ")
        self.wait_for("out", " on h200, n = 1048576, m = 32, ")
        self.assertTrue(re.search(r"loop body \(line 7\): \d+ → \d+ instructions", text), text)
        self.end()

    def test_a_report_is_replaced_and_says_that_it_is_older(self):
        self.start("report", *PREDICT[1:], "-o", "k.html")
        page = self.read("k.html")
        watch = re.search(r'<script type="application/json" id="watch">(.*?)</script>', page)
        self.assertIsNone(json.loads(watch[1])["stale"])
        self.write("k.cu", SOURCE.replace("s +=", "</script>s +="))
        self.wait_for("err", "stands")
        for _ in range(200):  # until it is marked
            if self.read("k.html") != page:
                break
            time.sleep(0.01)
        stale = self.read("k.html")
        self.assertEqual(stale.replace(re.search(r'id="watch">(.*?)</script>', stale)[1], watch[1]), page)
        said = json.loads(re.search(r'id="watch">(.*?)</script>', stale)[1])
        self.assertRegex(said["stale"]["why"], r"^k\.cu:8:9: error: ")
        self.assertEqual(said["revision"], json.loads(watch[1])["revision"])
        self.write("k.cu", SOURCE.replace("* SCALE", "* SCALE * a[i + 8 * j]"))
        text = self.wait_for("out", "on h200 at n=2^20, m=32 (plan k: ")
        self.assertRegex(text, r"^\n\d\d:\d\d:\d\d: k\.cu changed \(\d+ ms\)\nk \(k\.cu\): changed\n")
        self.assertRegex(text, r"loop body \(line 7\): .*\+1 coalesced load")
        # A page that somebody put there in the meantime is no report of --watch: it is not marked.
        for _ in range(1000):
            if '"stale":null' in self.read("k.html"):
                break
            time.sleep(0.01)
        self.write("k.html", "mine")
        self.write("k.cu", "}")
        self.wait_for("err", "stands", 2)
        time.sleep(0.2)
        self.assertEqual(self.read("k.html"), "mine")
        self.end()

    def test_a_report_that_cannot_be_written_is_told(self):
        os.mkdir(self.path("there"))
        self.start("report", *PREDICT[1:], "-o", "there/k.html")
        os.remove(self.path("there/k.html"))
        os.rmdir(self.path("there"))
        self.write("k.cu", SOURCE.replace("* SCALE", "* SCALE * a[i + 8 * j]"))
        self.wait_for("err", "there/k.html: error: cannot be written")
        self.wait_for("out", "k (k.cu): changed")  # the answer is there all the same
        os.mkdir(self.path("there"))
        self.write("k.cu", SOURCE)
        self.wait_for("out", "k.cu changed", 2)
        for _ in range(1000):
            if os.path.exists(self.path("there/k.html")):
                break
            time.sleep(0.01)
        self.assertIn('"stale":null', self.read("there/k.html"))
        self.end()

    def test_a_source_may_come_later(self):
        os.remove(self.path("k.cu"))
        self.start(*PREDICT)
        self.assertIn("k.cu: error: no such file", self.read("err"))
        self.write("k.cu", SOURCE)
        self.wait_for("out", "h200  1048576  32")
        self.end()

    def test_what_cannot_be_watched_is_an_error(self):
        for arguments, message in [(["analyze", "-"], "--watch needs a file"),
                                   (PREDICT + ["--format", "csv"], "-o FILE"),
                                   (["report", *PREDICT[1:]], "--watch needs a file for the page"),
                                   (["report", *PREDICT[1:], "-o", "-"], "-o report.html"),
                                   (["report", "k.cu", "-", "-o", "x.html"], "--watch needs a file: "),
                                   (["report", "mtx", "ltt", "--param", "K=8,N=64", "--gpu", "h200", "-o", "x.html"],
                                    "mtx and ltt are no file that could change"),
                                   (["analyze", "k.cu", "--sarif", "x"], "--sarif cannot be used with --watch"),
                                   (["predict", "mtx", "--param", "K=8,N=64", "--gpu", "h200"], "mtx is no file")]:
            done = subprocess.run([WARPTIME, *arguments, "--watch"], cwd=self.folder.name, capture_output=True,
                                  text=True, input="", timeout=60, check=False)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    WARPTIME = sys.argv.pop(1)
    unittest.main()
