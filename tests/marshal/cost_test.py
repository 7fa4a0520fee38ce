#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# What the tests marshal.cost_* run.
"""A04: what decoding costs, counted.

usage: cost_test.py PROGRAM

For each case of PROGRAM (cost.cpp), messages of n and 2 n octets: n octets more may cost 150 n
instructions more, less what writing them costs. So nothing grows faster than the message.
"""
import re
import subprocess
import sys

SIZE = 100_000 # so that what is read twice is so in both
INSTRUCTIONS_PER_OCTET_MAX = 150


def instructions(*command):
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                           *map(str, command)], capture_output=True, text=True, check=False)
    counted = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or counted is None:
        sys.exit(f"cost_test: {' '.join(map(str, command))}:\n{done.stderr[-2000:]}")
    return int(counted.group(1))


def main():
    program = sys.argv[1]
    names = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
    failed = 0
    for name in names:
        decoding = [instructions(program, name, size) - instructions(program, name, size, "write")
                    for size in (SIZE, 2 * SIZE)]
        per_octet = (decoding[1] - decoding[0]) / SIZE
        good = per_octet <= INSTRUCTIONS_PER_OCTET_MAX
        failed += not good
        print(f"{'ok    ' if good else 'FAILED'} {name}: {per_octet:.1f} instructions an octet",
              flush=True)
    if not names:
        sys.exit("cost_test: no cases")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
