#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# What a program that only calls links of the static archives: nothing that serves, no object
# adapters, no code of tests. Reads the linker's map, which names each member of an archive that was
# taken and what it was taken for.
import re
import sys

FORBIDDEN = re.compile(r"libkairos_(server|poa|dynamic|rtcorba)\.a\(|"
                       r"_testing|/tests/|faults|silences")
NEEDED = ("libkairos_client.a(invocation.cpp.o)", "libkairos_orb.a(transmit.cpp.o)")


def members(path):
    """Yields (member, what it was taken for)."""
    with open(path, encoding="utf-8") as lines:
        text = lines.read()
    begin = text.index("Archive member included")
    part = text[begin:text.index("\n\n", text.index("\n\n", begin) + 2)]
    for match in re.finditer(r"^(\S+\.a\(\S+\))\s+(\S.*)$", part, re.MULTILINE):
        yield match.group(1), match.group(2)


def main():
    taken = list(members(sys.argv[1]))
    names = [member for member, _ in taken]
    missing = [need for need in NEEDED if not any(name.endswith(need) for name in names)]
    if missing:
        sys.exit(f"the map does not say what it should: no {', '.join(missing)} of {len(taken)}")
    wrong = [f"  {member} for {why}" for member, why in taken if FORBIDDEN.search(member)]
    if wrong:
        sys.exit("a program that only calls links\n" + "\n".join(wrong))
    print(f"{len(taken)} members of archives, none of them serves")


main()
