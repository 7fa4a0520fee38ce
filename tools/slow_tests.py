#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Says which tests of a run were the slowest, from what ctest printed. `.ci/run` ends with it.
# tools/slow_tests_test.py tests it.
"""usage: slow_tests.py [--count N] LOG…

A LOG is what `make test` or the like printed, in a file named after it. Logs in which no test ran
are passed over.
"""
import argparse
import pathlib
import re
import sys

LINE = re.compile(r"^\s*\d+/\d+ Test\s+#\d+: (?P<name>\S+) \.*\s*(?P<ended>.*?)\s+"
                  r"(?P<seconds>\d+\.\d+) sec\b", re.MULTILINE)


def slowest(text, count):
    """Triples of seconds, name and how it ended ("" for passed), the slowest first."""
    tests = [(float(line["seconds"]), line["name"],
              "" if line["ended"] == "Passed" else line["ended"].strip("*").strip())
             for line in LINE.finditer(text)]
    return sorted(tests, key=lambda test: (-test[0], test[1]))[:count]


def table(logs, count):
    """A column for each log that has tests, a line for each rank."""
    columns = []
    for name, text in logs:
        tests = slowest(text, count)
        if tests:
            cells = [f"{seconds:7.1f} s  {test}{f' ({ended})' if ended else ''}"
                     for seconds, test, ended in tests]
            columns.append([f"slowest of make {name}", *cells])
    height = max(map(len, columns), default=0)
    widths = [max(map(len, column)) for column in columns]
    return "\n".join("  ".join((column[row] if row < len(column) else "").ljust(width)
                               for column, width in zip(columns, widths)).rstrip()
                     for row in range(height))


def main():
    parser = argparse.ArgumentParser(description="the slowest tests of logs of ctest's")
    parser.add_argument("logs", nargs="*", type=pathlib.Path, metavar="LOG")
    parser.add_argument("--count", type=int, default=10)
    arguments = parser.parse_args()
    printed = table([(log.stem, log.read_text(errors="replace"))
                     for log in arguments.logs if log.is_file()], arguments.count)
    if printed:
        print(printed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
