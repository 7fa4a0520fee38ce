#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Tests of tools/slow_tests.py on what ctest prints.
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import slow_tests  # noqa: E402  (found through the line above)

LOG = """[ 12/300] Building CXX object a.cpp.o
Test project /tree/build/dev
        Start   1: base
  1/5 Test   #1: base ................................   Passed    0.02 sec
        Start 101: interop.omniorb
  2/5 Test #101: interop.omniorb .....................   Passed   61.50 sec
  3/5 Test  #12: robust.descriptors ..................***Failed    7.25 sec
what it said: Test #9: nothing ... Passed
  4/5 Test   #4: interop.jacorb ......................***Skipped   0.10 sec
  5/5 Test   #5: poa ..................................***Timeout 120.03 sec

60% tests passed, 2 tests failed out of 5
"""


class SlowTests(unittest.TestCase):
    def test_the_slowest_are_first_and_failures_say_so(self):
        self.assertEqual(slow_tests.slowest(LOG, 3),
                         [(120.03, "poa", "Timeout"), (61.5, "interop.omniorb", ""),
                          (7.25, "robust.descriptors", "Failed")])
        self.assertEqual(len(slow_tests.slowest(LOG, 10)), 5)

    def test_logs_stand_side_by_side(self):
        short = "1/1 Test #1: base .....   Passed    0.50 sec\n"
        lines = slow_tests.table([("test", LOG), ("check", "ok      format (3 s)\n"),
                                  ("tsan", short)], 2).splitlines()
        self.assertEqual([line.split() for line in lines],
                         [["slowest", "of", "make", "test", "slowest", "of", "make", "tsan"],
                          ["120.0", "s", "poa", "(Timeout)", "0.5", "s", "base"],
                          ["61.5", "s", "interop.omniorb"]])

    def test_without_tests_nothing_is_printed(self):
        with tempfile.TemporaryDirectory() as name:
            log = pathlib.Path(name, "check.log")
            log.write_bytes(b"\xff\xfe no tests\n")
            ended = subprocess.run([HERE / "slow_tests.py", log, log.with_name("none.log")],
                                   capture_output=True, text=True, check=False)
        self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, "", ""))


if __name__ == "__main__":
    unittest.main()
