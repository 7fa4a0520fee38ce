#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Generated code runs nothing before main, and its TypeCodes are data that nobody can write: looked
# up in the object files. Named after what is demanded, not after how readelf prints it.
#
# Usage: constant_data_test.py READELF OBJECT…

import re
import subprocess
import sys

INITIALISERS = re.compile(r"\.(?:init_array|preinit_array|ctors)(?:\.|$)")
READ_ONLY = re.compile(r"\.(?:rodata|data\.rel\.ro)(?:\.|$)")
# Both the objects, _kairos_tc_X, and users' pointers, _tc_X, in any scope.
TYPE_CODE = re.compile(r"(?:^|\d)(?:_kairos)?_tc_\w+?E?$")


def readelf(program, option, path):
    return subprocess.run([program, "-W", option, path], text=True, capture_output=True,
                          check=True).stdout


def sections_of(program, path):
    return dict(re.findall(r"^\s*\[\s*(\d+)\]\s+(\S+)", readelf(program, "-S", path), re.M))


def check(program, path):
    """Returns what is wrong, and how many TypeCodes the file defines."""
    sections = sections_of(program, path)
    wrong = [f"{path}: {name}: code that runs before main" for name in sections.values()
             if INITIALISERS.match(name)]
    count = 0
    for line in readelf(program, "-s", path).splitlines():
        fields = line.split()
        if len(fields) < 8 or fields[3] != "OBJECT" or not TYPE_CODE.search(fields[7]):
            continue
        if fields[6] == "UND":
            continue
        count += 1
        if not READ_ONLY.match(sections[fields[6]]):
            wrong.append(f"{path}: {fields[7]} is in {sections[fields[6]]}, which is written to")
    return wrong, count


def main():
    program, *paths = sys.argv[1:]
    total = 0
    failures = []
    for path in paths:
        wrong, count = check(program, path)
        failures += wrong
        total += count
    print(f"{len(paths)} files, {total} TypeCodes and pointers to them")
    for failure in failures:
        print(failure)
    if total == 0:
        print("none of the files has a TypeCode")
    return 1 if failures or total == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
