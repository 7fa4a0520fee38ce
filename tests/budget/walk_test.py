#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# What the test budget.walk runs: the walk of one null call, computed, against docs/TOUR.md.
"""usage: walk_test.py PROGRAM ROOT

Counts, by callgrind, in which of the tree's files PROGRAM (kairos-bench-orb) spends the
instructions of a null call, at each side. docs/TOUR.md must name every file that takes 20 or more,
and who reads the walk opens no more files and lines than here. Nor may both sides together take
more instructions, the libraries' among them, than here.
Exit status 77: there is no valgrind.
"""
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

CALLS = 300
COUNTS = 20  # instructions a call
FILES_MAX, LINES_MAX = 14, 3700
INSTRUCTIONS_MAX = 1520  # of a call, at both sides, in whatever file; 1,478 where nothing is late
ENTRY = re.compile(r"\((\d+)\)(?: (.*))?")
OURS = re.compile(r".*/(kairos/\w+/[\w.]+)")


def on_one_processor():
    """There nobody looks for itself before it waits (-ORBSpin auto), which takes as many
    instructions as the other side is late."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


class Peer:
    """A program that is told what to do by lines, perhaps under callgrind."""

    def __init__(self, command, profile):
        wrapper = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}"]
        self.process = subprocess.Popen((wrapper if profile else []) + command, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, preexec_fn=on_one_processor)
        self.ready = self.process.stdout.readline().split()[1:]

    def order(self, line):
        print(line, file=self.process.stdin, flush=True)
        return self.process.stdout.readline()

    def end(self):
        self.process.communicate("quit\n")
        if self.process.returncode != 0:
            sys.exit(f"walk: exit status {self.process.returncode}")


def instructions(profile):
    """Of each function in each file, itself."""
    names = {}
    spent = collections.Counter()
    file = function = None
    of_callee = False
    for line in profile.read_text().splitlines():
        kind, _, rest = line.partition("=")
        if kind in ("fl", "fi", "fe", "cfi", "cfl", "fn", "cfn"):
            number, name = ENTRY.fullmatch(rest).groups()
            table = "function" if kind.endswith("fn") else "file"
            name = names.setdefault((table, number), name)
            if kind == "fn":
                function = name
            elif kind in ("fl", "fi", "fe"):
                file = name
        elif kind == "calls":
            of_callee = True
        elif re.match(r"[+\-*\d]", line):
            if not of_callee:
                spent[file, function] += int(line.split()[1])
            of_callee = False
    return spent


def count(program, side, calls, orb_id="", server_options=()):
    with tempfile.TemporaryDirectory() as folder:
        profile = pathlib.Path(folder, "profile")
        named = ["-ORBid", orb_id] if orb_id else []
        server = Peer([program, "server", "-ORBListenEndpoints", "iiop://127.0.0.1:0", *named,
                       *server_options], profile if side == "server" else None)
        client = Peer([program, "client", *server.ready, *named],
                      profile if side == "client" else None)
        answer = client.order(f"call twoway null 0 {calls} 0 0")
        if f'"calls":{calls}' not in answer:
            sys.exit(f"walk: the client answered {answer!r}")
        client.end()
        server.end()
        return instructions(profile)


def walk(program, side):
    """Instructions that each of our files takes of one call, and all of them: what twice as many
    calls take more."""
    more = count(program, side, 2 * CALLS)
    more.subtract(count(program, side, CALLS))
    files = collections.Counter()
    for (file, _), spent in more.items():
        ours = OURS.fullmatch(file)
        if ours and spent >= CALLS:
            files[ours[1]] += spent / CALLS
    return files, sum(more.values()) / CALLS


def main():
    program, root = sys.argv[1], pathlib.Path(sys.argv[2])
    if shutil.which("valgrind") is None:
        return 77
    tour = (root / "docs/TOUR.md").read_text()
    sides, total = {}, 0
    for side in ("client", "server"):
        sides[side], spent = walk(program, side)
        total += spent
    places = sorted({file for files in sides.values() for file, spent in files.items()
                     if spent >= COUNTS})
    missing = 0
    for file in places:
        named = f"`{file.removeprefix('kairos/')}`" in tour
        missing += not named
        lines = len((root / file).read_text().splitlines())
        print(f"{sides['client'][file]:6.0f} {sides['server'][file]:6.0f} {lines:5}  {file}"
              + ("" if named else "  is not in docs/TOUR.md"))
    lines = sum(len((root / file).read_text().splitlines()) for file in places)
    print(f"{total:.0f} instructions; {len(places)} files, {lines} lines; {missing} are not in "
          "docs/TOUR.md")
    is_long = len(places) > FILES_MAX or lines > LINES_MAX or total > INSTRUCTIONS_MAX
    return 1 if missing or is_long or len(places) < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
