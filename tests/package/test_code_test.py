#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# The ctest `package.test_code`: what is installed has nothing in it that tests put there.
"""usage: test_code_test.py NM AR CONTROL LIBRARY…

Of each library, shared or an archive: no symbol of a namespace of tests (…testing::), visible or
not, and no object of a file of tests. CONTROL is an archive of tests, in which both are found: or
this would find nothing anywhere. Exit status 1 says what there is.
"""
import pathlib
import re
import subprocess
import sys

# What tests have their own code in, namespaces and files alike, and what they check with.
NAMESPACE = re.compile(r"\b(\w+_)?testing::")
FILE = re.compile(r"(^|_)(testing|test|faults|silences)\.(cpp\.)?o$")


def output_of(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout


def symbols_of(nm, library):
    """The demangled names that it defines and that its code mentions."""
    return re.findall(r"^[0-9a-f ]* \w (.+)$", output_of(nm, "-C", library), re.MULTILINE)


def found_in(nm, ar, library):
    """How much there is to look at, and what of it is of tests."""
    symbols = symbols_of(nm, library)
    objects = output_of(ar, "t", library).splitlines() if library.suffix == ".a" else []
    return len(symbols), ([name for name in symbols if NAMESPACE.search(name)],
                          [name for name in objects if FILE.search(name)])


def main():
    nm, ar = sys.argv[1:3]
    control, *libraries = map(pathlib.Path, sys.argv[3:])
    failures = []
    _, found = found_in(nm, ar, control)
    if not all(found):
        failures.append(f"{control.name} is of tests, and this does not see it: {found}")
    if len(libraries) < 2:
        failures.append("no libraries to look at")
    for library in libraries:
        count, (symbols, objects) = found_in(nm, ar, library)
        if count < 100:
            failures.append(f"{library.name}: {count} symbols only")
        failures += [f"{library.name} has {name}" for name in (symbols + objects)[:20]]
    print("\n".join(failures) or f"{len(libraries)} libraries: nothing of tests")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
