#!/usr/bin/env python3
"""What scripts/site reports on small sites, and what its reference makes of manual pages, schemas and headers."""
import os
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import site_links  # noqa: E402
import site_reference  # noqa: E402


def faults_of(**pages):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in pages.items():
            name, _, ending = name.partition("_")
            with open(os.path.join(folder, f"{name}.{ending or 'html'}"), "w", encoding="utf-8") as stream:
                stream.write(text)
        return site_links.check(folder)[1]


def test_links():
    good = '<h1 id="top">x</h1><a href="b.html#there">b</a><a href="#top">up</a><a href="https://example.org">far</a>'
    assert faults_of(a=good, b='<p id="there">y</p>') == []
    assert faults_of(a='<a href="c.html">c</a>') == ["a.html: the link leads nowhere: c.html"]
    assert faults_of(a='<a href="#gone">c</a>') == ["a.html: no such anchor: #gone"]
    assert faults_of(a='<a href="b.html#gone">c</a>', b="") == ["a.html: no such anchor: b.html#gone"]


def test_what_a_page_loads_is_here():
    assert faults_of(a='<script src="https://cdn.example.org/x.js"></script>') == ["a.html loads https://cdn.example.org/x.js"]
    assert faults_of(a='<img src="//example.org/x.png">') == ["a.html loads //example.org/x.png"]
    assert faults_of(a='<img src="x.png">') == ["a.html: x.png is missing"]
    assert faults_of(a='<img src="data:image/png;base64,AAAA">') == []
    assert faults_of(a_css="@font-face { src: url(https://example.org/f.woff) }") == ["a.css loads https://example.org/f.woff"]


MAN = r""".TH X 1 2026-01-01 "warptime 1" "User Commands"
.SH NAME
warptime\-x \- does x
.SH OPTIONS
.SS "What to do"
.TP
\fB\-\-gpu\fR \fINAME\fR
this GPU, N_b*2 or \fB<all>\fR
.SH EXAMPLES
.EX
warptime x \(ha
.EE
.SH "SEE ALSO"
.BR warptime (1)
"""


def test_manual_pages():
    page = site_reference.markdown_of_man(MAN, "x")
    assert page.startswith("# x\n")
    assert "## Name\n\nwarptime-x - does x" in page
    assert "### What to do\n" in page
    assert "`--gpu` *NAME*\n\n:   this GPU, N\\_b\\*2 or `<all>`" in page
    assert "```console\n$ warptime x ^\n```" in page
    assert "warptime (1)" not in page


def test_schemas():
    schema = {"title": "T", "description": "A `b` of c_d.", "$id": "urn:x", "type": "object", "required": ["a"],
              "properties": {"a": {"type": "integer", "minimum": 1, "description": "first"},
                             "list": {"type": "array", "items": {"type": "object", "properties": {"k": {"$ref": "#/$defs/size"}}}}},
              "$defs": {"size": {"anyOf": [{"type": "integer"}, {"const": "all"}]}}}
    page = site_reference.page_of_schema(schema, "t.schema.json")
    assert "A `b` of c\\_d." in page
    assert "| `a` | integer, at least 1 | first |" in page
    assert "| `list[].k` | [size](#size) (optional) |  |" in page
    assert '## size { #size }\n\nA value: integer or `"all"`.' in page


HEADER = """// Things.
//
// Of two kinds:
//   a   b
#pragma once

#include <string>

namespace warptime {

class Other;

// A thing: <b> of x_y.
class Thing {
 public:
  int size() const { return size_; }

 private:
  int size_ = 0;
};

// Adds.
int add(int a,
        int b);
int add(double a);

}  // namespace warptime
"""


def test_headers():
    page = site_reference.page_of_header("a/b.h", HEADER.splitlines())
    assert "#include <a/b.h>" in page
    assert "Of two kinds:" in page and "  a   b" in page
    assert "## Thing\n\nA thing: &lt;b&gt; of x\\_y." in page
    assert "size_ = 0" not in page and "int size() const" in page
    assert "## add\n\nAdds.\n\n```cpp\nint add(int a,\n        int b);\nint add(double a);\n```" in page
    assert "Other" not in page


def test_arguments_of_a_docstring():
    def draw(source, grid=None, block=None, colours=()):
        pass

    text = "Draws. This is: no argument.\n\nsource: a path,\nor `{\"grid\": 3}`. grid, block: in threads. Raises: nothing.\n\nThe end: here."
    assert site_reference.described(text, draw) == (
        "Draws. This is: no argument.\n\n- `source`: a path, or `{\"grid\": 3}`.\n- `grid`, `block`: in threads. Raises: nothing.\n\nThe end: here.")


def main():
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
    return 0


if __name__ == "__main__":
    sys.exit(main())
