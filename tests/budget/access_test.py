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

from walk_test import CALLS, OURS, count

RULES = 1000
ADDED_MAX = 60


def instructions(program, *options):
    """Of one call at the server, in the tree's own files: what twice as many calls take more. Once
    a second the rules are read again, which functions of the libraries do: how often that happens
    says the machine's speed."""
    spent = [sum(number for (file, _), number in
                 count(program, "server", calls, server_options=options).items()
                 if file and OURS.fullmatch(file) and "kairos/files/" not in file)
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
