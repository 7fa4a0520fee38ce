#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# What the test budget.interceptors runs: what empty interceptors add to a null call, computed.
"""usage: interceptors_test.py PROGRAM

Counts, by callgrind, the instructions of a null call of PROGRAM (kairos-bench-interceptors), at
both sides together: without interceptors, with one at each side, and with four. Fails if they are
more than the budget. Exit status 77: there is no valgrind.
"""
import shutil
import sys

from walk_test import CALLS, count

PLAIN_MAX = 1560  # a call that is late takes a few more
ONE_MAX = 2650  # with one interceptor at each side
EACH_MAX = 50   # that an interceptor more takes at one side


def instructions(program, number):
    """Of one call at both sides: what twice as many calls take more."""
    more = 0
    for side in ("client", "server"):
        spent = [sum(count(program, side, calls, f"interceptors-{number}").values())
                 for calls in (2 * CALLS, CALLS)]
        more += (spent[0] - spent[1]) / CALLS
    return more


def main():
    if shutil.which("valgrind") is None:
        return 77
    none, one, four = (instructions(sys.argv[1], number) for number in (0, 1, 4))
    each = (four - one) / 6
    print(f"{none:.0f} instructions; {one:.0f} with one interceptor, {one / none:.2f} of that; "
          f"{four:.0f} with four, {each:.0f} for each more at a side")
    return 0 if none <= PLAIN_MAX and one <= ONE_MAX and each <= EACH_MAX else 1


if __name__ == "__main__":
    sys.exit(main())
