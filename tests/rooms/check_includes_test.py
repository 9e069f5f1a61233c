#!/usr/bin/env python3
"""check_includes.py on small trees: it passes a good one and names both files of each planted fault."""
import os
import subprocess
import sys
import tempfile
import unittest

CHECK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check_includes.py")
ROOMS = "low:\nmiddle: low\nhigh: low middle\n"


class CheckIncludes(unittest.TestCase):
    def run_on(self, files, rooms=ROOMS):
        with tempfile.TemporaryDirectory() as tree:
            for name, text in {"rooms.txt": rooms, "low/a.h": "", "middle/b.h": "", "high/c.h": "", **files}.items():
                path = os.path.join(tree, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            run = subprocess.run([sys.executable, CHECK, os.path.join(tree, "rooms.txt"), tree], capture_output=True,
                                 text=True, check=False)
            return run.returncode, run.stdout.replace(tree + "/", "")

    def test_passes_a_tree_whose_includes_point_down(self):
        self.assertEqual(self.run_on({"high/c.cc": '#include "high/c.h"\n#include "low/a.h"\n#include <vector>\n'})[0], 0)

    def test_names_the_files_of_an_upward_include(self):
        status, output = self.run_on({"low/a.cc": '#include "low/a.h"\n#include "high/c.h"\n'})
        self.assertEqual((status, output), (1, "low/a.cc: includes high/c.h: low stands below high\n"))

    def test_names_the_files_of_an_include_that_is_not_allowed(self):
        status, output = self.run_on({"middle/b.cc": '#include "low/a.h"\n'}, "low:\nmiddle:\nhigh: middle\n")
        self.assertEqual((status, output), (1, "middle/b.cc: includes low/a.h: middle may not include low\n"))

    def test_a_cycle_between_two_rooms_is_an_upward_include_of_one(self):
        status, output = self.run_on({"middle/b.cc": '#include "high/c.h"\n', "high/c.cc": '#include "middle/b.h"\n'})
        self.assertEqual((status, output), (1, "middle/b.cc: includes high/c.h: middle stands below high\n"))

    def test_refuses_a_list_with_a_cycle(self):
        status, output = self.run_on({}, "low: high\nmiddle: low\nhigh: low middle\n")
        self.assertEqual((status, output), (1, "rooms.txt:1: low may include high, which does not stand above it\n"))

    def test_names_a_folder_that_is_no_room(self):
        status, output = self.run_on({"low/cellar/d.h": ""})
        self.assertEqual((status, output), (1, "low/cellar/d.h: its folder low/cellar is no room of the list\n"))

    def test_names_an_include_of_a_header_that_is_not_there(self):
        status, output = self.run_on({"high/c.cc": '#include "low/gone.h"\n'})
        self.assertEqual((status, output), (1, "high/c.cc: includes low/gone.h, which is not there\n"))


if __name__ == "__main__":
    unittest.main()
