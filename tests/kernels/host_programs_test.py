#!/usr/bin/env python3
"""The host programs of dwt_kernels/host: what they print, and that they check themselves.

    host_programs_test.py FOLDER-OF-THE-PROGRAMS
"""
import csv
import pathlib
import random
import re
import subprocess
import sys
import tempfile
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


# Daubechies' W4: (1 ± sqrt 3) and (3 ± sqrt 3), over 4 sqrt 2.
ROOT3, OVER = 3**0.5, 4 * 2**0.5
LOW = [(1 + ROOT3) / OVER, (3 + ROOT3) / OVER, (3 - ROOT3) / OVER, (1 - ROOT3) / OVER]
HIGH = [LOW[3], -LOW[2], LOW[1], -LOW[0]]


def transform(line):
    """One level: the low band, then the high band, of a periodic line."""
    n = len(line)
    return [sum(taps[j] * line[(2 * k + j) % n] for j in range(4)) for taps in (LOW, HIGH) for k in range(n // 2)]


def transform_video(video):
    """video[frame][row][column] along time, rows and columns."""
    frames, rows, columns = len(video), len(video[0]), len(video[0][0])
    result = [[row[:] for row in frame] for frame in video]
    for r in range(rows):
        for c in range(columns):
            for f, value in enumerate(transform([frame[r][c] for frame in result])):
                result[f][r][c] = value
    for f in range(frames):
        result[f] = [transform(row) for row in result[f]]
        turned = [transform([row[c] for row in result[f]]) for c in range(columns)]
        result[f] = [[turned[c][r] for c in range(columns)] for r in range(rows)]
    return result


def write_graymap(path, frame, comment=b""):
    path.write_bytes(b"P5\n" + comment + b"%d %d\n255\n" % (len(frame[0]), len(frame)) + bytes(value for row in frame for value in row))


def read_coefficients(path):
    kind, size, largest, data = path.read_bytes().split(b"\n", 3)
    assert (kind, largest) == (b"P5", b"65535"), (kind, largest)
    columns, rows = map(int, size.split())
    grays = [data[i] * 256 + data[i + 1] for i in range(0, 2 * rows * columns, 2)]
    return [[(gray - 32768) / 16 for gray in grays[r * columns:(r + 1) * columns]] for r in range(rows)]


class Fwt3dFrames(unittest.TestCase):
    FRAMES, ROWS, COLUMNS = 10, 8, 12

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        rng = random.Random(1)
        self.video = [[[rng.choice([0, 255, rng.randrange(256)]) for _ in range(self.COLUMNS)] for _ in range(self.ROWS)]
                      for _ in range(self.FRAMES)]
        for i, frame in enumerate(self.video):
            write_graymap(self.folder / f"in{i:03d}.pgm", frame, b"# a comment\n" if i == 1 else b"")

    def tearDown(self):
        for path in self.folder.iterdir():
            path.unlink()
        self.folder.rmdir()

    def transformed(self, *words):
        done = run("fwt3d_frames", *words, self.folder / "in%03d.pgm", self.folder / "out%d.pgm")
        if re.search("OpenCL|CUDA", done.stderr) and done.returncode == 1:  # no driver, or built without
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, 0, done.stderr)
        row, = csv.DictReader(done.stdout.splitlines())
        self.assertEqual((row["frames"], row["rows"], row["columns"]), tuple(map(str, (self.FRAMES, self.ROWS, self.COLUMNS))))
        return row, [read_coefficients(self.folder / f"out{i}.pgm") for i in range(self.FRAMES)]

    def check(self, *words):
        wanted = transform_video(self.video)
        row, got = self.transformed(*words)
        for f, frame in enumerate(wanted):
            for r, line in enumerate(frame):
                for c, value in enumerate(line):
                    self.assertAlmostEqual(got[f][r][c], value, delta=0.04, msg=(words, f, r, c))
        return row

    def test_engines_make_the_transform(self):
        for words in (["sequential"], ["openmp", "--threads", 2], ["pthreads", "--threads", 3], ["pthreads", "--threads", 9]):
            row = self.check("--engine", *words)
            self.assertEqual(row["engine"], words[0])
            self.assertEqual(row["host_to_device_ms"], "")

    def test_tiles_blocks_and_row_extension_change_nothing(self):
        for words in (["--tile", 1, "--block", 0], ["--tile", 5, "--block", 1], ["--tile", 1, "--block", 0, "--row-extension", 3]):
            self.check(*words)

    def test_opencl_makes_the_transform_and_times_its_stages(self):
        self.check_stages("opencl")

    def test_cuda_makes_the_transform_and_times_its_stages(self):
        self.check_stages("cuda")

    def check_stages(self, engine):
        row = self.check("--engine", engine)
        for stage in ("host_to_device", "frames", "rows", "columns", "device_to_host"):
            self.assertGreater(float(row[f"{stage}_ms"]), 0)

    def test_fewer_frames_than_there_are(self):
        self.FRAMES = 2
        self.video = self.video[:2]
        self.check("--frames", 2)

    def test_what_is_wrong_is_said(self):
        write_graymap(self.folder / "odd0.pgm", [[1, 2, 3], [4, 5, 6]])
        (self.folder / "cut0.pgm").write_bytes(b"P5 4 4 255\n123")
        (self.folder / "deep0.pgm").write_bytes(b"P5 2 2 65535\n12345678")
        write_graymap(self.folder / "two0.pgm", [[1, 2], [3, 4]])
        write_graymap(self.folder / "two1.pgm", [[1, 2, 3, 4], [5, 6, 7, 8]])
        for words, status, message in [
                (["--engine", "icc"], 2, "--engine"), ([self.folder / "in.pgm"], 2, "no place for a number"),
                ([self.folder / "none%d.pgm"], 1, "cannot be read"), ([self.folder / "odd%d.pgm"], 2, "even"),
                ([self.folder / "cut%d.pgm"], 1, "ends after 3 of 16 pixels"), ([self.folder / "deep%d.pgm"], 1, "1 to 255"),
                ([self.folder / "two%d.pgm"], 1, "where the first frame has 2 x 2"), (["--frames", 3], 2, "even"), (["--size", "5"], 2, "--size"),
                (["--frames", 20, self.folder / "in%03d.pgm"], 1, "in010.pgm: cannot be read"),
                (["--engine", "opencl", "--threads", 2], 2, "takes no --threads"), (["--threads", "0"], 2, "--threads")]:
            done = run("fwt3d_frames", *words)
            self.assertEqual(done.returncode, status, (words, done.stderr))
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    PROGRAMS = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
