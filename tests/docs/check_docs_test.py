#!/usr/bin/env python3
"""check_docs.py on small pages: what it accepts, what it reports, and what --update writes."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import check_docs


class Matching(unittest.TestCase):
    def test_a_line_matches_itself(self):
        self.assertTrue(check_docs.matches(("a", "b"), ("a", "b")))
        self.assertFalse(check_docs.matches(("a", "b"), ("a", "c")))
        self.assertFalse(check_docs.matches(("a",), ("a", "b")))

    def test_an_elision_line_stands_for_any_lines(self):
        for elision in ("…", "...", "  …"):
            self.assertTrue(check_docs.matches(("a", elision, "d"), ("a", "b", "c", "d")))
            self.assertTrue(check_docs.matches(("a", elision, "d"), ("a", "d")))
            self.assertFalse(check_docs.matches(("a", elision, "d"), ("a", "b")))

    def test_an_elision_within_a_line_stands_for_any_text(self):
        self.assertTrue(check_docs.matches(("took … s",), ("took 12 s",)))
        self.assertFalse(check_docs.matches(("took … s",), ("took 12 ms or so",)))

    def test_an_ellipsis_that_the_command_printed_is_compared(self):
        self.assertTrue(check_docs.matches(("==… ==",), ("==… ==",)))
        self.assertFalse(check_docs.matches(("==… ==",), ("==… =#",)))


class Updating(unittest.TestCase):
    def test_a_changed_line_is_replaced_and_the_elisions_stay(self):
        page = ["title", "row 1: 10 us", "…", "last 5%"]
        now = ["title", "row 1: 11 us", "row 2", "row 3", "last 6%"]
        self.assertEqual(check_docs.updated(page, now), ["title", "row 1: 11 us", "…", "last 6%"])

    def test_a_new_line_appears_and_one_that_is_gone_goes(self):
        self.assertEqual(check_docs.updated(["a a a", "b b b", "c c c"], ["a a a", "c c c", "d d d"]),
                         ["a a a", "c c c", "d d d"])


class Pages(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="warptime-docs-test-")
        self.binary = os.path.join(self.root, "warptime")
        with open(self.binary, "w", encoding="utf-8") as stream:
            stream.write("#!/bin/sh\necho \"[$*]\"\n[ \"$1\" != fail ]\n")
        os.chmod(self.binary, 0o755)
        check_docs.ROOT, self.before = self.root, check_docs.ROOT

    def tearDown(self):
        check_docs.ROOT = self.before
        shutil.rmtree(self.root)

    def problems(self, text, not_run=()):
        with open(os.path.join(self.root, "page.md"), "w", encoding="utf-8") as stream:
            stream.write(text)
        page = check_docs.Page("page.md")
        found = []
        page.fail = lambda line, message: found.append((line + 1, message))
        with open(os.devnull, "w", encoding="utf-8") as nowhere:
            out, sys.stdout = sys.stdout, nowhere
            try:
                page.check_style()
                page.execute(self.binary, list(not_run))
            finally:
                sys.stdout = out
        return found

    def test_a_console_block_is_executed_and_compared(self):
        self.assertEqual(self.problems("```console\n$ warptime a b\n[a b]\n```\n"), [])
        self.assertEqual(self.problems("```console\n$ warptime a \\\n    b\n[a c]\n```\n"),
                         [(2, "`warptime a \\\n    b` prints something else")])

    def test_a_command_that_fails_is_reported_unless_the_block_shows_an_error(self):
        self.assertEqual(len(self.problems("```console\n$ warptime fail\n[fail]\n```\n")), 1)
        self.assertEqual(self.problems("```console\n$ echo error: no; false\nerror: no\n```\n"), [])

    def test_commands_of_sh_blocks_and_code_spans_must_succeed(self):
        self.assertEqual(self.problems("Try `warptime x y`.\n\n```sh\nwarptime x\n```\n"), [])
        self.assertEqual(self.problems("\nTry `warptime fail now`.\n"), [(2, "`warptime fail now` ended with status 1")])
        self.assertEqual(self.problems("\n```sh\nwarptime fail\n```\n"), [(3, "`warptime fail` ended with status 1")])

    def test_schematic_and_exempt_commands_are_not_run(self):
        self.assertEqual(self.problems("`warptime fail FILE`, `warptime fail …`\n"), [])
        self.assertEqual(self.problems("`warptime fail now`\n", [("warptime fail*", "a reason")]), [])

    def test_a_named_block_is_a_file_of_the_next_commands(self):
        self.assertEqual(self.problems("```yaml a/b.yaml\nx: 1\n```\n```console\n$ cat a/b.yaml\nx: 1\n```\n"), [])

    def test_long_prose_and_dead_links_are_reported(self):
        self.assertEqual([line for line, _ in self.problems("x " * 51 + "\n[a](b.md)\n")], [1, 2])
        self.assertEqual(self.problems("| " + "x" * 200 + " |\n"), [])

    def test_a_script_that_is_not_there_is_reported_even_where_it_would_not_run(self):
        self.assertEqual(self.problems("`scripts/gone`\n", [("scripts/*", "a reason")]),
                         [(1, "there is no scripts/gone")])


class CommandLine(unittest.TestCase):
    def test_a_page_that_is_wrong_has_exit_status_1(self):
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "page.md")
            with open(page, "w", encoding="utf-8") as stream:
                stream.write("```console\n$ echo a\nb\n```\n")
            script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check_docs.py")
            run = [sys.executable, script, "--warptime", "/bin/true"]
            self.assertEqual(subprocess.run([*run, page], capture_output=True, check=False).returncode, 1)
            self.assertEqual(subprocess.run([*run, "--update", page], capture_output=True, check=False).returncode, 0)
            self.assertEqual(subprocess.run([*run, page], capture_output=True, check=False).returncode, 0)
            with open(page, encoding="utf-8") as stream:
                self.assertEqual(stream.read(), "```console\n$ echo a\na\n```\n")


if __name__ == "__main__":
    unittest.main()
