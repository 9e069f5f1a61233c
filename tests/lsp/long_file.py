"""Types into a source of 2,000 lines, and checks how long the server's answers take.

  long_file.py WARPTIME [LINES]

Lenses and hover are asked for right after each edit, as editors do; what takes longer is answered from before (docs/editors.md).
The bound holds for nine of ten answers: other processes delay some.
"""
import statistics
import sys
import time

from client import Client

KERNEL = """__global__ void stage_%(i)d(int n, int m, const float* a, float* b) {
  // %(i)d: a window of m values, each scaled by its distance, and what the one before left.
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = %(i)d.0f;
  if (x < n) {
    for (int k = 0; k < m; ++k) {
      float value = a[x + k];
      float scaled = value * %(i)d.5f;
      sum += scaled / (k + 1);
    }
    for (int k = 0; k < m; k += 2) {
      float value = a[x + 32 * k];
      sum -= value * %(i)d.25f;
    }
    if (sum > 0) {
      sum = sqrtf(sum);
    }
    b[x] = sum;
  }
}
"""
EDITS, MOST_MS = 20, 300


def main():
    warptime = sys.argv[1]
    lines = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    kernels = lines // KERNEL.count("\n")
    text = "".join(KERNEL % {"i": i} for i in range(1, kernels + 1)) + "// the end\n" * (lines % KERNEL.count("\n"))
    assert text.count("\n") == lines
    uri = "file:///tmp/long_file.cu"
    client = Client(warptime)
    client.initialize({"options": "--param n=2^16,m=32 --threads n"})
    client.open(uri, text)
    begin = time.monotonic()
    wanted = 3 * kernels  # each kernel, and its two loops
    while len(client.lenses(uri)) < wanted:
        assert time.monotonic() - begin < 120, "the lenses of the whole file never came"
    first_s = time.monotonic() - begin
    took = {"lenses": [], "hover": []}
    new_ms = []  # until the findings of the new text, and with them its lenses, are there
    for edit in range(EDITS):
        kernel = (7 * edit) % kernels
        line = kernel * KERNEL.count("\n") + 7
        new = "      float scaled = value * %d.%df;" % (kernel + 1, edit + 6)
        old = text.split("\n")[line]
        text = "\n".join([*text.split("\n")[:line], new, *text.split("\n")[line + 1:]])
        client.change(uri, edit + 2, [{"range": {"start": {"line": line, "character": 0}, "end": {"line": line, "character": len(old)}},
                                       "text": new}])
        client.notifications.clear()
        changed = asked = time.monotonic()
        lenses = client.lenses(uri)
        took["lenses"].append(1000 * (time.monotonic() - asked))
        assert len(lenses) == wanted, len(lenses)
        asked = time.monotonic()
        client.hover(uri, line - 1)
        took["hover"].append(1000 * (time.monotonic() - asked))
        if not any(one.get("method") == "textDocument/publishDiagnostics" for one in client.notifications):
            client.wait_for(lambda one: one.get("method") == "textDocument/publishDiagnostics")
        new_ms.append(1000 * (time.monotonic() - changed))
    assert client.end() == 0
    for what, all_ms in took.items():
        nine = statistics.quantiles(all_ms, n=10)[-1]
        print("%s of %d lines: median %.0f ms, nine of ten within %.0f ms, the longest %.0f ms"
              % (what, lines, statistics.median(all_ms), nine, max(all_ms)))
        assert nine <= MOST_MS, (what, nine)
    print("what is new is there after %.0f ms (median)" % statistics.median(new_ms))
    print("the first lenses of all %d kernels after %.1f s" % (kernels, first_s))


if __name__ == "__main__":
    main()
