#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Tests of tools/build_times.py on small logs of ninja's, held here.
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import build_times  # noqa: E402  (found through the line above)

HEAD = "# ninja log v5\n"


def log(*lines):
    """Of (start, end, output, command)."""
    return HEAD + "".join(f"{start}\t{end}\t0\t{output}\t{command}\n"
                          for start, end, output, command in lines)


FIXTURE = log(
    (0, 500, "kairos/orb/CMakeFiles/kairos_orb.dir/server/lanes.cpp.o", "a1"),
    (500, 600, "kairos/orb/libkairos_orb.a", "a2"),
    (0, 2000, "kairos/orb/CMakeFiles/orb_options_test.dir/options_test.cpp.o", "a3"),
    (2000, 2050, "tests/calls/gen/calls_idl/types.h", "a5"),
    (2000, 2050, "tests/calls/gen/calls_idl/types.cpp", "a5"),
    (600, 2100, "kairos/orb/orb_options_test", "a4"),
    (2050, 5050, "tests/calls/CMakeFiles/calls_idl.dir/gen/calls_idl/types.cpp.o", "a6"),
    (2100, 5100, "tests/calls/CMakeFiles/calls_suite.dir/checks.cpp.o", "a7"),
    (5100, 5200, "bin/kairos-bench-raw", "a8"),
    (5100, 5300, "examples/hello/hello_client", "a9"))


class Reading(unittest.TestCase):
    def test_outputs_of_one_command_are_one_step(self):
        steps = [step for step in build_times.Log(FIXTURE).steps if step.kind == "generate"]
        self.assertEqual([(step.part, step.seconds) for step in steps], [("generated code", 0.05)])

    def test_the_last_time_counts(self):
        again = build_times.Log(FIXTURE + "0\t900\t0\tkairos/orb/libkairos_orb.a\ta2\n")
        archive = [step for step in again.steps if step.output.endswith(".a")]
        self.assertEqual([step.seconds for step in archive], [0.9])

    def test_elapsed_is_known_of_one_run_only(self):
        self.assertEqual(build_times.Log(log((0, 10, "a.o", "1"), (5, 20, "b.o", "2"))).elapsed,
                         0.02)
        self.assertIsNone(
            build_times.Log(log((0, 20, "a.o", "1"), (0, 10, "b.o", "2"))).elapsed)

    def test_a_line_that_was_cut_off_is_left_out(self):
        self.assertEqual(len(build_times.Log(log((0, 10, "a.o", "1")) + "11\t1").steps), 1)

    def test_other_files_are_refused(self):
        for text in ("", "no log\n", "# ninja log v99\n"):
            with self.assertRaises(ValueError):
                build_times.Log(text)


class Parts(unittest.TestCase):
    def test_parts_and_kinds(self):
        expected = {
            "kairos/orb/CMakeFiles/kairos_orb.dir/orb.cpp.o": ("kairos/orb", "compile"),
            "kairos/orb/libkairos_orb.a": ("kairos/orb", "link"),
            "kairos/orb/CMakeFiles/orb_publish_fuzz.dir/publish_fuzz.cpp.o":
                ("tests beside the code", "compile"),
            "kairos/orb/orb_options_test": ("tests beside the code", "link"),
            "kairos/mapping/CMakeFiles/mapping_marshal_bench.dir/marshal_bench.cpp.o":
                ("bench", "compile"),
            "gen/kairos/naming/naming.h": ("generated code", "generate"),
            "kairos/naming/CMakeFiles/kairos_naming.dir/__/__/gen/kairos/naming/naming.cpp.o":
                ("generated code", "compile"),
            "kairos/base/CMakeFiles/kairos_base_verify_interface_header_sets.dir/arena.h.cxx.o":
                ("headers, each alone", "compile"),
            "tests/poa/CMakeFiles/poa_policies_test.dir/policies_test.cpp.o":
                ("tests/poa", "compile"),
            "tests/poa/poa_policies_test": ("tests/poa", "link"),
            "tests/poa/CMakeFiles/poa_policies_test.dir/cmake_pch.hxx.gch":
                ("tests/poa", "compile"),
            "idlc/CMakeFiles/idlc_lex_test.dir/lex_test.cpp.o":
                ("tests beside the code", "compile"),
            "idlc/kairos-idl": ("idlc", "link"),
            "bin/kairos": ("tools", "link"),
            "bin/libkairos_count.so": ("bench", "link"),
            "lib/libkairos.so.0.2.0": ("libraries", "link"),
            "tools/kairos/CMakeFiles/kairos.dir/main.cpp.o": ("tools", "compile"),
            "CMakeFiles/cmake.verify_globs": ("the build itself", "other"),
        }
        found = {output: (build_times.part_of(output), build_times.kind_of(output))
                 for output in expected}
        self.assertEqual(found, expected)

    def test_the_part_that_took_longest_is_first(self):
        parts = build_times.Log(FIXTURE).by("part")
        self.assertEqual(list(parts)[:2], ["tests beside the code", "generated code"])
        self.assertEqual(sum(len(steps) for steps in parts.values()), 9)


class Printing(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = pathlib.Path(folder.name)
        (self.build / ".ninja_log").write_text(FIXTURE)

    def run_tool(self, *arguments):
        return subprocess.run([HERE / "build_times.py", *arguments], text=True, check=False,
                              capture_output=True)

    def test_table(self):
        printed = self.run_tool(self.build, "--slowest", "1").stdout
        self.assertRegex(printed, r"\| tests beside the code +\| +2 \| +3\.5 \| +33\.5 % \|")
        self.assertRegex(printed, r"\| all +\| +9 \| +10\.4 \| +100\.0 % \|")
        self.assertEqual(printed.count(".cpp.o"), 1)
        self.assertIn("5.3 s from the first step to the last", printed)

    def test_json(self):
        data = json.loads(self.run_tool("--json", self.build).stdout)
        self.assertEqual((data["steps"], data["elapsed"]), (9, 5.3))
        self.assertEqual(data["parts"]["kairos/orb"], {"steps": 2, "seconds": 0.6})
        self.assertEqual(len(data["slowest"]), 9)
        self.assertNotIn("before", data)

    def test_comparison(self):
        before = self.build / "before"
        before.write_text(log((0, 1000, "kairos/orb/CMakeFiles/kairos_orb.dir/a.cpp.o", "1"),
                              (0, 3000, "kairos/poa/CMakeFiles/kairos_poa.dir/a.cpp.o", "2")))
        printed = self.run_tool("--compare", before, self.build).stdout
        self.assertRegex(printed, r"\| kairos/orb +\| +1 \| +2 \| +1\.0 \| +0\.6 \| +0\.60 \|")
        self.assertRegex(printed, r"\| kairos/poa +\| +1 \| +0 \| +3\.0 \| +0\.0 \| +0\.00 \|")
        self.assertRegex(printed, r"\| examples +\| +0 \| +1 \| +0\.0 \| +0\.2 \| +– \|")

    def test_what_is_no_build_directory(self):
        ended = self.run_tool(self.build / "nowhere")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("build_times: ", ended.stderr)


if __name__ == "__main__":
    unittest.main()
