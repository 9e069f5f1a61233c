"""The server as an editor starts it: what it says of real sources, and what it survives.

  server_process_test.py WARPTIME
"""
import os
import signal
import subprocess
import sys
import tempfile
import unittest

from client import Client

WARPTIME = None
URI = "file:///tmp/document.cu"

SUM = """\
// warptime: --gpu h200 --threads N --param N=2^20,K=8
__global__ void sum(int N, int K, const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = 0;
#pragma unroll 1
    for (int k = 0; k < K; ++k)
        v += x[k * N + i];
    y[i] = v;
}
"""

SLOW = """\
// warptime: --gpu h200 --grid 4096 --block 256 --param n=2^20
__global__ void strided(int n, const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[32 * i];
}
__global__ void conflicts(float* y)
{
    __shared__ float tile[32 * 256];
    int t = threadIdx.x;
    float v = 0;
    for (int k = 0; k < 64; ++k) {
        tile[32 * t] = v;
        __syncthreads();
        v += tile[32 * ((t + 1) % 256)];
    }
    y[blockIdx.x * 256 + t] = v;
}
__global__ void divergent(const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    if (threadIdx.x % 2 == 0)
        for (int k = 0; k < 100; ++k) v = v * v + 1.5f;
    else
        for (int k = 0; k < 100; ++k) v = v / (v + 2.0f);
    y[i] = v;
}
__global__ void few_warps(const float* x, float* y)
{
    __shared__ float tile[12000];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = x[i];
    __syncthreads();
    y[i] = tile[255 - threadIdx.x];
}
"""


def long_kernel():
    """A kernel that takes clang many seconds."""
    body = "\n".join("v = v * x[%d] + sqrtf(v) / (v + %d.0f);" % (i, i) for i in range(20_000))
    return "__global__ void k(float* x) { float v = 0;\n" + body + "\nx[0] = v; }\n"


class ServerProcess(unittest.TestCase):
    def setUp(self):
        self.client = Client(WARPTIME)
        self.client.initialize()

    def tearDown(self):
        if self.client.process.poll() is None:
            self.assertEqual(self.client.end(), 0)
        for stream in (self.client.process.stdin, self.client.process.stdout, self.client.process.stderr):
            stream.close()

    def final_lenses(self, uri=URI, wanted=lambda title: "% of" in title):
        for _ in range(200):
            lenses = self.client.lenses(uri)
            if any(wanted(title) for _, title in lenses):
                return lenses
            self.client.read(0.1)
        self.fail("no such lens: %s" % lenses)

    def test_lenses_say_what_kernels_and_loops_cost(self):
        self.client.open(URI, SUM)
        lenses = dict(self.final_lenses())
        self.assertRegex(lenses[2], r"^sum: [0-9.]+ µs on h200 \(N=2\^20, K=8; \d+ x \d+\)")
        self.assertRegex(lenses[7], r"^\d+ instructions, 1 load, K( - 1)? iterations; \d+% of sum on h200$")

    def test_hover_shows_periods_and_counters(self):
        self.client.open(URI, SUM)
        self.final_lenses()
        hover = self.client.hover(URI, 8)
        self.assertIn("- load: coalesced, of `x`, 4 bytes a thread, 4 sectors a warp", hover)
        self.assertIn("L2:", hover)

    def test_findings_have_reasons_and_gains(self):
        self.client.open(URI, SLOW)
        findings = self.client.wait_for_findings(
            URI, lambda all: {"coalesced", "no-conflicts", "no-divergence", "less-shared-memory"} <= {one["code"] for one in all}, 60)
        by_code = {one["code"]: one for one in findings}
        strided = by_code["coalesced"]
        self.assertEqual(strided["range"]["start"]["line"], 4)
        self.assertRegex(strided["message"], r"^uncoalesced access: .*at line 5 \(4 sectors a request in place of \d+\)")
        self.assertRegex(strided["message"], r"% less \(of [0-9.]+ .s on h200: ")
        self.assertTrue(by_code["no-conflicts"]["message"].startswith("bank conflicts: "))
        self.assertIn(by_code["no-divergence"]["range"]["start"]["line"], range(22, 26))
        self.assertTrue(by_code["no-divergence"]["message"].startswith("divergent branch: "))
        few = by_code["less-shared-memory"]
        self.assertEqual(few["range"]["start"]["line"], 28)  # at the kernel
        self.assertRegex(few["message"], r"^low occupancy: up to 4 blocks of 8 warps are active on an SM: 32 of 64 warps "
                         r"\(50 %\), limited by shared memory; with \d+ bytes of static shared memory in place of 48000, "
                         r".*% less \(of [0-9.]+ .s on h200: ")

    def test_errors_of_the_compiler_are_at_their_places(self):
        self.client.open(URI, SUM)
        before = self.final_lenses()
        broken = SUM.replace("v += x[k * N + i];", "v += µx[k * N + i];")
        self.client.change(URI, 2, [{"text": broken}])
        error = self.client.wait_for_findings(URI, lambda all: any(one["code"] == "compiler" for one in all))[0]
        self.assertEqual(error["severity"], 1)
        self.assertEqual(error["range"]["start"], {"line": 7, "character": 13})
        self.assertIn("undeclared", error["message"])
        self.assertEqual(self.client.lenses(URI), before)  # the last good answer stays
        self.client.change(URI, 3, [{"text": SUM}])
        self.client.wait_for_findings(URI, lambda all: not any(one["code"] == "compiler" for one in all))

    def test_an_error_in_one_kernel_leaves_the_others(self):
        self.client.open(URI, SUM + SUM.replace("sum", "other").replace("v += x[k * N + i];", "v += nothing;"))
        self.client.wait_for_findings(URI, lambda all: any("nothing" in one["message"] for one in all))
        self.assertIn(2, dict(self.final_lenses()))

    def test_launches_of_host_code_count(self):
        self.client.open(URI, SUM.split("\n", 1)[1] + """
int main() { float *x = 0, *y = 0; int n = 4096; sum<<<n / 128, 128>>>(n, 4, x, y); }
""")
        lenses = dict(self.final_lenses())
        self.assertRegex(lenses[1], r"32 x 128\)")
        self.assertNotIn("assumed", lenses[1])

    def test_without_settings_a_launch_is_assumed(self):
        self.client.open(URI, SUM.split("\n", 1)[1])
        self.assertRegex(dict(self.final_lenses())[1], r"\(.*4096 x 256, assumed\)")

    def test_settings_can_change(self):
        self.client.open(URI, SUM.split("\n", 1)[1])
        self.final_lenses()
        self.client.notify("workspace/didChangeConfiguration", {"settings": {"warptime": {"gpu": "a100"}}})
        self.final_lenses(wanted=lambda title: "on a100" in title)

    def test_wrong_settings_are_findings(self):
        self.client.open(URI, "// warptime: --gpu nothing\n" + SUM.split("\n", 1)[1])
        findings = self.client.wait_for_findings(URI, lambda all: len(all) > 0)
        self.assertIn("nothing", findings[0]["message"])

    def test_headers_are_found_beside_the_file(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "scale.h"), "w", encoding="utf-8") as file:
                file.write("#define SCALE 3\n")
            uri = "file://" + folder + "/k.cu"
            self.client.open(uri, '#include "scale.h"\n__global__ void k(float* x) { x[threadIdx.x] *= SCALE; }\n')
            self.final_lenses(uri, lambda title: title.startswith("k: "))

    def test_a_header_alone_is_analysed_too(self):
        self.client.open("file:///tmp/kernels.cuh", "#pragma once\n" + SUM)
        self.final_lenses("file:///tmp/kernels.cuh")
        self.client.open("file:///tmp/device.cuh", "__device__ int f() { return 1; }\n")
        self.assertEqual(self.client.wait_for_findings("file:///tmp/device.cuh"), [])

    def test_what_takes_too_long_is_said(self):
        self.tearDown()
        self.client = Client(WARPTIME, "--max-time", "1")
        self.client.initialize()
        self.client.open(URI, long_kernel())
        findings = self.client.wait_for_findings(URI, lambda all: len(all) > 0, 60)
        self.assertRegex(findings[0]["message"], r"takes longer than")
        self.client.change(URI, 2, [{"text": "no longer\n"}])
        self.client.wait_for(lambda message: message.get("params", {}).get("version") == 2)

    def test_the_death_of_an_analysis_is_survived(self):
        self.client.open(URI, SUM)
        self.final_lenses()
        # An analysis of seconds, so that it cannot end between being found and being killed.
        self.client.change(URI, 2, [{"text": long_kernel()}])
        children = []
        for _ in range(2000):
            children = subprocess.run(["ps", "--ppid", str(self.client.process.pid), "-o", "pid="],
                                      capture_output=True, text=True, check=False).stdout.split()
            if children:
                break
        self.assertNotEqual(children, [])
        for child in children:
            os.kill(int(child), signal.SIGKILL)
        findings = self.client.wait_for_findings(URI, lambda all: any(one["code"] == "analysis" for one in all))
        self.assertIn("by a signal", findings[-1]["message"])
        self.client.change(URI, 3, [{"text": SUM}])
        self.final_lenses()

    def test_hostile_texts(self):
        for number, text in enumerate(["\0" * 100, "(" * 100_000, "__global__ void k() {" * 5000, "\u202e" * 1000,
                                       "#include \"/dev/zero\"\n", "#include __FILE__\n", "x" * 10_000_000,
                                       "// warptime: " + "--param " * 10_000, "\r" * 10_000]):
            self.client.open(URI, text)
            self.client.wait_for_findings(URI, lambda all: True, 120)
        self.client.open(URI, SUM)
        self.final_lenses()

    def test_the_end_of_the_stream_ends_it(self):
        self.client.process.stdin.close()
        self.assertEqual(self.client.process.wait(20), 1)

    def test_a_broken_stream_ends_it(self):
        self.client.process.stdin.write(b"Content-Length: x\r\n\r\n")
        self.client.process.stdin.flush()
        self.assertEqual(self.client.process.wait(20), 1)
        self.assertIn(b"Content-Length is not a number", self.client.process.stderr.read())


if __name__ == "__main__":
    WARPTIME = sys.argv.pop(1)
    unittest.main()
