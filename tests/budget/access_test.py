#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# What the test budget.access runs: what rules who may call what add to a null call, computed.
"""usage: access_test.py PROGRAM

Counts, by callgrind, the instructions of a null call at the server of PROGRAM (a peer of `kairos
bench` that is linked with libkairos-access): without rules, and with a thousand, whose answer is
known. Fails if that is more than the budget, of what each call does; what one does now and then,
when it is time to see whether the rules have changed, is not counted, and fails if most calls do
it. Exit status 77: there is no valgrind.
"""
import pathlib
import re
import shutil
import sys
import tempfile

from walk_test import CALLS, OURS, count

RULES = 1000
ADDED_MAX = 65  # of what each call does
OTHERWISE_MAX = 100  # of calls that go another way, spread over all; that way takes some 200
# Of calls that the thread does not know, and when rules are read again: how often it is time says
# the machine's speed.
OTHERWISE = re.compile(r"dispatch_otherwise|identity_of|Access::(look|knows|remember|take)|Callers|"
                       r"OwnRecentDecisions|RecentDecisions::add|Decisions::add")


def instructions(program, *options):
    """Of one call at the server, in the tree's own files, what each does and what some do: what
    twice as many calls take more."""
    spent = []
    for calls in (2 * CALLS, CALLS):
        each = otherwise = 0
        for (file, function), number in count(program, "server", calls,
                                              server_options=options).items():
            if not file or not OURS.fullmatch(file) or "kairos/files/" in file:
                continue
            if OTHERWISE.search(function or ""):
                otherwise += number
            else:
                each += number
        spent.append((each, otherwise))
    return [(more - less) / CALLS for more, less in zip(*spent)]


def main():
    if shutil.which("valgrind") is None:
        return 77
    with tempfile.TemporaryDirectory() as folder:
        rules = pathlib.Path(folder, "rules.toml")
        others = "".join(f'[[rule]]\nwho = "user:{number}"\nallow = "**"\n'
                         for number in range(1, RULES))
        rules.write_text(others + '[[rule]]\nwho = "anyone"\nallow = "**"\n')
        plain, _ = instructions(sys.argv[1])
        ruled, otherwise = instructions(sys.argv[1], "-ORBAccess", rules)
    print(f"{plain:.1f} instructions; {ruled - plain:.1f} more with {RULES} rules, and "
          f"{otherwise:.1f} of calls that go another way")
    return 0 if 0 < ruled - plain <= ADDED_MAX and otherwise <= OTHERWISE_MAX else 1


if __name__ == "__main__":
    sys.exit(main())
