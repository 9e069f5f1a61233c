"""Edits a document at random, as nobody types, and checks that the server stays alive and right.

  random_edits.py WARPTIME SOURCE [EDITS [SEED]]

Every answer comes in time; at the end, with the first text again, the server says what a new one says.
"""
import random
import sys
import time

from client import Client

PIECES = ["{", "}", "(", ")", ";", "\n", "\n\n", "/*", "*/", "//", "\"", "'", "#if 0\n", "#endif\n", "#include <x.h>\n",
          "__global__ ", "void f() {", "for (int i = 0; i < n; ++i)", "a[i]", "while (1)", "template <class T> ", "<<<1, 2>>>",
          "µ", "𝄞", "\u202e", "\t", "\r\n", "// warptime: --gpu h200 --param N=8\n", "// warptime: --nonsense\n", "R\"(",
          "1e999", "\\", "%", "__shared__ float s[1 << 30];", "extern \"C\" ", "asm(\"trap;\");", "return;"]


def utf16(text):
    return len(text.encode("utf-16-le")) // 2


def position(lines, line, column):
    return {"line": line, "character": utf16(lines[line][:column])}


class Editor:
    """The text as the client has it, in lines with their ends; lines end in \\n here."""

    def __init__(self, text, source):
        self.text = text
        self.random = source

    def edit(self):
        """Changes the text; returns the change for the protocol."""
        lines = self.text.split("\n")
        if self.random.random() < 0.02:
            self.text = self.text[: self.random.randrange(len(self.text) + 1)] + self.random.choice(PIECES)
            return {"text": self.text}
        first = self.random.randrange(len(lines))
        last = min(len(lines) - 1, first + (self.random.randrange(4) if self.random.random() < 0.2 else 0))
        begin = self.random.randrange(len(lines[first]) + 1)
        end = self.random.randrange(len(lines[last]) + 1)
        if first == last and end < begin:
            begin, end = end, begin
        if self.random.random() < 0.5:  # an insertion
            last, end = first, begin
        new = "".join(self.random.choice(PIECES) for _ in range(self.random.randrange(3)))
        new = new.replace("\r", "")
        change = {"range": {"start": position(lines, first, begin), "end": position(lines, last, end)}, "text": new}
        offset = sum(len(line) + 1 for line in lines[:first]) + begin
        until = sum(len(line) + 1 for line in lines[:last]) + end
        self.text = self.text[:offset] + new + self.text[until:]
        return change


def final_state(client, uri):
    """Lenses and findings when nothing more comes."""
    findings = None
    while True:
        message = client.read(4)
        if message is None:
            break
        if message.get("method") == "textDocument/publishDiagnostics":
            findings = message["params"]["diagnostics"]
    return client.lenses(uri), findings


def main():
    warptime, source = sys.argv[1], sys.argv[2]
    edits = int(sys.argv[3]) if len(sys.argv) > 3 else 10_000
    generator = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    with open(source, encoding="utf-8") as file:
        original = file.read()
    uri = "file:///tmp/random_edits.cu"
    client = Client(warptime)
    client.initialize({"options": "--param N=2^16,K=8 --threads N"})
    client.open(uri, original)
    editor = Editor(original, generator)
    longest, requests = 0.0, 0
    begin = time.monotonic()
    for number in range(edits):
        if generator.random() < 0.01:  # back to something that compiles
            editor.text = original
            change = {"text": original}
        else:
            change = editor.edit()
        client.change(uri, number + 2, [change])
        if generator.random() < 0.05:
            asked = time.monotonic()
            client.lenses(uri)
            longest = max(longest, time.monotonic() - asked)
            requests += 1
        elif generator.random() < 0.05:
            client.hover(uri, generator.randrange(1, 60))
    client.change(uri, edits + 2, [{"text": original}])
    lenses, findings = final_state(client, uri)
    fresh = Client(warptime)
    fresh.initialize({"options": "--param N=2^16,K=8 --threads N"})
    fresh.open(uri, original)
    wanted_lenses, wanted_findings = final_state(fresh, uri)
    assert lenses == wanted_lenses, (lenses, wanted_lenses)
    assert findings == wanted_findings, (findings, wanted_findings)
    assert lenses, "there are no lenses"
    assert client.end() == 0
    assert fresh.end() == 0
    print("%d edits in %.0f s; %d requests for lenses, the longest took %.0f ms"
          % (edits, time.monotonic() - begin, requests, 1000 * longest))


if __name__ == "__main__":
    main()
