#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# What the test budget.access runs: what rules who may call what add to a null call, computed.
"""usage: access_test.py PROGRAM

Counts, by callgrind, the instructions of a null call at the server of PROGRAM (a peer of `kairos
bench` that is linked with libkairos-access): without rules, and with a thousand, whose answer is
known. Fails if that is more than the budget. Exit status 77: there is no valgrind.
"""
import pathlib
import shutil
import sys
import tempfile

from walk_test import CALLS, count

RULES = 1000
ADDED_MAX = 210


def instructions(program, *options):
    """Of one call at the server: what twice as many calls take more."""
    spent = [sum(count(program, "server", calls, server_options=options).values())
             for calls in (2 * CALLS, CALLS)]
    return (spent[0] - spent[1]) / CALLS


def main():
    if shutil.which("valgrind") is None:
        return 77
    with tempfile.TemporaryDirectory() as folder:
        rules = pathlib.Path(folder, "rules.toml")
        others = "".join(f'[[rule]]\nwho = "user:{number}"\nallow = "**"\n'
                         for number in range(1, RULES))
        rules.write_text(others + '[[rule]]\nwho = "anyone"\nallow = "**"\n')
        plain = instructions(sys.argv[1])
        ruled = instructions(sys.argv[1], "-ORBAccess", rules)
    print(f"{plain:.0f} instructions; {ruled - plain:.0f} more with {RULES} rules")
    return 0 if 0 < ruled - plain <= ADDED_MAX else 1


if __name__ == "__main__":
    sys.exit(main())
