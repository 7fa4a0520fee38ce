#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# What the tests marshal.cost_* run.
"""A04: what decoding costs, counted.

usage: cost_test.py PROGRAM

For each case of PROGRAM (cost.cpp), messages of n and 2 n octets: decoding n octets more may cost
150 n instructions more. So nothing grows faster than the message.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

SIZE = 100_000 # so that what is read twice is so in both
INSTRUCTIONS_PER_OCTET_MAX = 150


def decoded(program, sizes):
    """The case and the instructions of each message, in the program's order."""
    with tempfile.TemporaryDirectory() as folder:
        # One part is written each time that the function returns: it has that call's instructions.
        output = pathlib.Path(folder) / "part"
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={output}",
             "--toggle-collect=decode_message", "--dump-after=decode_message", program,
             *map(str, sizes)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"cost_test: {program}:\n{done.stderr[-2000:]}")
        names = done.stdout.split()
        parts = [output.with_suffix(f".{number}") for number in range(1, len(names) + 1)]
        counts = [int(re.search(r"^(?:summary|totals): (\d+)", part.read_text(), re.M).group(1))
                  for part in parts]
    return list(zip(names, counts))


def main():
    messages = decoded(sys.argv[1], (SIZE, 2 * SIZE))
    failed = 0
    for (name, once), (again, twice) in zip(messages[::2], messages[1::2]):
        assert name == again
        per_octet = (twice - once) / SIZE
        good = once > SIZE / 100 and per_octet <= INSTRUCTIONS_PER_OCTET_MAX
        failed += not good
        print(f"{'ok    ' if good else 'FAILED'} {name}: {per_octet:.1f} instructions an octet",
              flush=True)
    if not messages:
        sys.exit("cost_test: no cases")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
