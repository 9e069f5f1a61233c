#!/usr/bin/env python3
"""The host programs of dwt_kernels/host: what they print, and that they check themselves.

    host_programs_test.py FOLDER-OF-THE-PROGRAMS
"""
import csv
import pathlib
import subprocess
import sys
import unittest

PROGRAMS = None


def run(program, *words):
    return subprocess.run([PROGRAMS / program, *map(str, words)], capture_output=True, text=True, timeout=300)


class CpuDwt(unittest.TestCase):
    def test_each_variant_has_a_row_with_times(self):
        done = run("cpu_dwt", "--variant", "all", "--wavelet", "haar,db2,sym4,coif5", "--size", "2^6,1000", "--threads", "1,3",
                   "--repetitions", 3)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = list(csv.DictReader(done.stdout.splitlines()))
        self.assertEqual(len(rows), 4 * 4 * 2 * 2)
        self.assertEqual({row["variant"] for row in rows},
                         {"cpu_dwt_m2_ww_ref", "cpu_dwt_m2_nw", "cpu_dwt_l2_ww", "cpu_dwt_l2_nw"})
        self.assertEqual({(row["wavelet"], row["K"]) for row in rows}, {("haar", "2"), ("db2", "4"), ("sym4", "8"), ("coif5", "30")})
        for row in rows:
            self.assertGreaterEqual(float(row["median_ms"]), float(row["min_ms"]))
            self.assertGreater(float(row["min_ms"]), 0)

    def test_what_is_wrong_is_said(self):
        for words, message in [
                (["--variant", "m3"], "--variant"), (["--wavelet", "db99"], "no filters of the name db99"),
                (["--size", "7"], "--size: an even number"), (["--size", "2^31"], "--size"), (["--size", "16", "--threads", "9"], "twice the threads"),
                (["--threads", "0"], "--threads"), (["--repetitions", "0"], "--repetitions"), (["--unknown"], "unknown"),
                (["--variant", "l2_nw", "--wavelet", "meyer"], "not orthogonal")]:
            done = run("cpu_dwt", *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    PROGRAMS = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
