#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Where the time of a build goes: reads the log that ninja keeps in a build directory and says, by
# part of the tree, how many steps there were and how long they took; then the slowest of them.
# docs/building.md has its tables. tools/build_times_test.py tests it.
"""usage: build_times.py [--compare BEFORE] [--json] [--slowest N] [BUILD]

BUILD and BEFORE are build directories or their .ninja_log; BUILD is build/dev unless given. Times
are those that steps took: added up, a build's CPU seconds on a machine with nothing else to do, and
more where other work is beside it. With a compiler cache that is warm they say little.
"""
import argparse
import collections
import dataclasses
import json
import pathlib
import posixpath
import re
import sys

KINDS = ("compile", "link", "generate", "other")
ROOT_PARTS = ("idlc", "bench", "tools", "examples", "fuzz")
VERSIONS = range(5, 8)  # of ninja's log, whose columns these share


@dataclasses.dataclass(frozen=True)
class Step:
    """One command of a build: what ninja calls an edge."""

    output: str
    start: int  # milliseconds since ninja began, as `end`
    end: int

    @property
    def seconds(self):
        return (self.end - self.start) / 1000

    @property
    def kind(self):
        return kind_of(self.output)

    @property
    def part(self):
        return part_of(self.output)


def kind_of(output):
    """What a step does, by what it writes."""
    name = posixpath.basename(output)
    if output.startswith("CMakeFiles/cmake.") or ".util" in name or name.endswith(".stamp"):
        return "other"
    if name.endswith((".o", ".gch", ".pch")):
        return "compile"
    if "/gen/" in f"/{output}" and name.endswith((".h", ".hh", ".cpp", ".cc")):
        return "generate"
    if re.search(r"\.(a|so(\.[\d.]+)?)$", name) or "." not in name:
        return "link"
    return "other"


def part_of(output):
    """The part of the tree that a step belongs to. What is generated is a part of its own, whose
    code costs what the back end of the IDL compiler makes it cost."""
    if "_verify_interface_header_sets.dir/" in output:
        return "headers, each alone"
    if "/gen/" in f"/{output}":
        return "generated code"
    folders = output.split("/")
    target = re.search(r"/CMakeFiles/([^/]+)\.dir/", output)
    program = target[1] if target else folders[-1]
    if folders[0] == "bin" and len(folders) == 2:  # the tool and what it measures with
        return {"kairos-idl": "idlc", "kairos": "tools"}.get(program, "bench")
    if folders[0] == "kairos" and len(folders) > 2:
        if program.endswith("_test") or program.endswith("_fuzz"):
            return "tests beside the code"
        return "bench" if program.endswith("_bench") else f"kairos/{folders[1]}"
    if folders[0] in ("tests", "examples") and len(folders) > 2:
        return f"tests/{folders[1]}" if folders[0] == "tests" else "examples"
    if folders[0] in ROOT_PARTS:
        if program.endswith("_test") or program.endswith("_fuzz"):
            return "tests beside the code"
        return folders[0]
    if folders[0] == "lib" or program.startswith("libkairos"):
        return "libraries"
    return "the build itself"


class Log:
    """What one .ninja_log says of the last time that each step ran."""

    def __init__(self, text):
        lines = text.splitlines()
        head = re.fullmatch(r"# ninja log v(\d+)", lines[0] if lines else "")
        if not head or int(head[1]) not in VERSIONS:
            raise ValueError("this is no .ninja_log of a version that is known")
        last = {}
        self.in_one_run = True
        ended = 0
        for line in lines[1:]:
            fields = line.split("\t")
            if len(fields) != 5:
                continue  # cut off while it was written
            start, end, output, command = (int(fields[0]), int(fields[1]), fields[3], fields[4])
            self.in_one_run = self.in_one_run and end >= ended
            ended = end
            last[output] = (start, end, command)
        # Several outputs of one command are one step, which is named after the first.
        steps = {}
        for output, key in sorted(last.items()):
            steps.setdefault(key, Step(output, key[0], key[1]))
        self.steps = sorted(steps.values(), key=lambda step: (-step.seconds, step.output))

    @property
    def seconds(self):
        return sum(step.seconds for step in self.steps)

    @property
    def elapsed(self):
        """Seconds from ninja's start to its end; unknown where it ran more than once."""
        if not self.steps or not self.in_one_run:
            return None
        return max(step.end for step in self.steps) / 1000

    def by(self, name):
        """Steps by a property of theirs, the part that took longest first."""
        groups = collections.defaultdict(list)
        for step in self.steps:
            groups[getattr(step, name)].append(step)
        return dict(sorted(groups.items(), key=lambda item: (-total(item[1]), item[0])))


def total(steps):
    return sum(step.seconds for step in steps)


def share(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "–"


def table(head, rows):
    """A Markdown table that people can read as it is: words to the left, figures to the right."""
    lines = [head, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]

    def written(line):
        cells = [cell.rjust(width) if column else cell.ljust(width)
                 for column, (cell, width) in enumerate(zip(line, widths))]
        return "| " + " | ".join(cells) + " |"

    rule = "|" + "|".join("-" * (width + 1) + (":" if column else "-")
                          for column, width in enumerate(widths)) + "|"
    return "\n".join([written(head), rule, *map(written, rows)])


def parts_table(log):
    head = ["part", "steps", "seconds", "share", *KINDS[:3]]
    rows = []
    for part, steps in [*log.by("part").items(), ("all", log.steps)]:
        kinds = [total([step for step in steps if step.kind == kind]) for kind in KINDS[:3]]
        rows.append([part, str(len(steps)), f"{total(steps):.1f}", share(total(steps), log.seconds),
                     *(f"{kind:.1f}" for kind in kinds)])
    return table(head, rows)


def comparison_table(before, now):
    head = ["part", "steps before", "now", "seconds before", "now", "now / before"]
    rows = []
    earlier, later = before.by("part"), now.by("part")
    for part in [*earlier, *(part for part in later if part not in earlier), "all"]:
        steps = [earlier.get(part, []), later.get(part, [])]
        if part == "all":
            steps = [before.steps, now.steps]
        was, is_now = map(total, steps)
        rows.append([part, str(len(steps[0])), str(len(steps[1])), f"{was:.1f}", f"{is_now:.1f}",
                     f"{is_now / was:.2f}" if was else "–"])
    return table(head, rows)


def slowest_table(log, count):
    rows = [[step.output, step.kind, f"{step.seconds:.1f}"] for step in log.steps[:count]]
    return table(["slowest step writes", "kind", "seconds"], rows)


def summary(log, count):
    """The same as data."""
    def figures(steps):
        return {"steps": len(steps), "seconds": round(total(steps), 3)}

    return {**figures(log.steps), "elapsed": log.elapsed,
            "kinds": {kind: figures(steps) for kind, steps in log.by("kind").items()},
            "parts": {part: figures(steps) for part, steps in log.by("part").items()},
            "slowest": [{"output": step.output, "kind": step.kind, "seconds": step.seconds}
                        for step in log.steps[:count]]}


def read(path):
    path = pathlib.Path(path)
    return Log((path / ".ninja_log" if path.is_dir() else path).read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[2],
                                     usage=__doc__.splitlines()[0].removeprefix("usage: "))
    parser.add_argument("build", nargs="?", default="build/dev", help="a build directory")
    parser.add_argument("--compare", metavar="BEFORE", help="another, to compare it with")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--slowest", type=int, default=10, metavar="N", help="how many to list")
    arguments = parser.parse_args()
    try:
        now = read(arguments.build)
        before = read(arguments.compare) if arguments.compare else None
    except (OSError, ValueError) as error:
        print(f"build_times: {error}", file=sys.stderr)
        return 2
    if arguments.json:
        data = summary(now, arguments.slowest)
        if before:
            data["before"] = summary(before, arguments.slowest)
        print(json.dumps(data, indent=2))
        return 0
    print(comparison_table(before, now) if before else parts_table(now))
    print()
    print(slowest_table(now, arguments.slowest))
    if now.elapsed is not None:
        print(f"\n{now.elapsed:.1f} s from the first step to the last")
    return 0


if __name__ == "__main__":
    sys.exit(main())
