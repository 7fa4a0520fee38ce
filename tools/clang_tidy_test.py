#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Tests of what tools/clang_tidy.py knows: which files make a unit, and which units are due.
import json
import pathlib
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import clang_tidy  # noqa: E402  (found through the line above)


class ClangTidy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.build = self.root / "build/dev"
        before = clang_tidy.ROOT
        clang_tidy.ROOT = self.root
        self.addCleanup(setattr, clang_tidy, "ROOT", before)
        self.write("kairos/a.cpp", '#include "kairos/a.h"\n')
        self.write("kairos/b.cpp", '#include <vector>\n#include "names.h"\n')
        self.write("kairos/a_test.cpp", "")
        self.write("kairos/a.h", '#pragma once\n#include "kairos/low.h"\n')
        self.write("kairos/low.h", "#pragma once\n")
        self.write("build/dev/gen/names.h", "#pragma once\n")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def commands(self, *sources):
        (self.build / "compile_commands.json").write_text(json.dumps(
            [{"directory": str(self.build), "file": str(source),
              "command": f"c++ -I{self.root} -I{self.build}/gen -c {source}"}
             for source in sources]))
        return clang_tidy.units(self.build)

    def closure(self, name, command):
        return [clang_tidy.name_of(path, self.build) for path in
                clang_tidy.closure(name, clang_tidy.searched_folders(command), {})]

    def test_sources_of_ours_are_judged_and_tests_are_not(self):
        found = self.commands(self.root / "kairos/a.cpp", self.root / "kairos/a_test.cpp",
                              self.write("bench/c.cpp", ""))
        self.assertEqual(list(found), ["kairos/a.cpp"])

    def test_what_is_compiled_together_is_judged_one_by_one(self):
        together = self.write("build/dev/x.dir/Unity/unity_0_cxx.cxx",
                              '#include "kairos/b.cpp"\n'
                              f'#include "{self.root}/kairos/a.cpp"\n')
        found = self.commands(together)
        self.assertEqual(list(found), ["kairos/a.cpp", "kairos/b.cpp"])
        self.assertIn(f"-c {self.root}/kairos/a.cpp", found["kairos/a.cpp"])
        clang_tidy.write_commands(found, self.build / "tidy")
        written = json.loads((self.build / "tidy/compile_commands.json").read_text())
        self.assertEqual([entry["file"] for entry in written],
                         [f"{self.root}/kairos/a.cpp", f"{self.root}/kairos/b.cpp"])

    def test_a_unit_is_its_headers_too(self):
        found = self.commands(self.root / "kairos/a.cpp", self.root / "kairos/b.cpp")
        self.assertEqual(self.closure("kairos/a.cpp", found["kairos/a.cpp"]),
                         ["kairos/a.cpp", "kairos/a.h", "kairos/low.h"])
        self.assertEqual(self.closure("kairos/b.cpp", found["kairos/b.cpp"]),
                         ["gen/names.h", "kairos/b.cpp"])

    def test_what_changed_is_due(self):
        parts = {"a.cpp": ["a.cpp", "a.h", "low.h"], "b.cpp": ["b.cpp", "low.h"],
                 "c.cpp": ["c.cpp"]}
        digests = {clang_tidy.TOOL: "01", "a.cpp": "02", "a.h": "03", "b.cpp": "04", "c.cpp": "05",
                   "low.h": "06"}
        listed = clang_tidy.read_list(clang_tidy.format_list(digests))
        self.assertEqual(listed, digests)

        def due(*changed):
            return clang_tidy.due_units(parts, digests | {name: "00" for name in changed}, listed)
        self.assertEqual(due(), [])
        self.assertEqual(due("b.cpp"), ["b.cpp"])
        self.assertEqual(due("a.h"), ["a.cpp"])
        self.assertEqual(due("low.h", "b.cpp"), ["b.cpp"])  # which shows it
        self.assertEqual(due("low.h", "c.cpp"), ["a.cpp", "c.cpp"])  # which does not
        self.assertEqual(due("low.h", "a.h"), ["a.cpp"])  # for both
        self.assertEqual(due(clang_tidy.TOOL), ["a.cpp", "b.cpp", "c.cpp"])
        self.assertEqual(clang_tidy.due_units(parts, digests, {}), ["a.cpp", "b.cpp", "c.cpp"])
        del listed["b.cpp"]
        self.assertEqual(due(), ["b.cpp"])

    def test_a_fingerprint_is_of_every_file(self):
        digests = {clang_tidy.TOOL: "01", "a": "02", "b": "03"}
        whole = clang_tidy.fingerprint(["a", "b"], digests)
        for name in digests:
            self.assertNotEqual(whole,
                                clang_tidy.fingerprint(["a", "b"], digests | {name: "04"}))


if __name__ == "__main__":
    unittest.main()
