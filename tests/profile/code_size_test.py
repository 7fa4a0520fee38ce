#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# The sizes by which `kairos-idl --profile --code-budget` chooses, against object files. What
# compiled code costs more than interpreted is compared: the rest of a file is there in any case.
# The estimate must be within TOLERANCE of that, for all compiled and for what a budget lets be
# compiled; and files made under a budget keep to it as closely.
#
# Usage: code_size_test.py PATH_OF_KAIROS_IDL COMPILER INCLUDE_DIRECTORY SIZE IDL…

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TOLERANCE = 0.25
failures = []


def check(condition, message):
    print(message)
    if not condition:
        failures.append(message)


class Tools:
    def __init__(self, idl_compiler, compiler, include, size):
        self.idl_compiler = idl_compiler
        self.compiler = compiler
        self.include = include
        self.size = size

    def generate(self, idl, output, *options):
        result = subprocess.run([self.idl_compiler, "--no-any", "-I", idl.parent, "-o", output,
                                 *map(str, options), idl], text=True, capture_output=True,
                                check=True)
        return result.stdout

    def object_bytes(self, source):
        target = source.with_suffix(".o")
        folders = [source.parent, *self.include.split(os.pathsep)]
        subprocess.run([self.compiler, "-std=c++20", "-O2", "-DNDEBUG", "-w", "-fPIC",
                        *(word for folder in folders for word in ("-I", folder)),
                        "-c", "-o", target, source], check=True)
        report = subprocess.run([self.size, target], text=True, capture_output=True, check=True)
        return int(report.stdout.splitlines()[1].split()[3])

    def bytes_of(self, folder, stem):
        return sum(map(self.object_bytes, [folder / f"{stem}.cpp", folder / f"{stem}_skel.cpp"]))


def profile_of(table):
    """A profile that makes everything hot that can be, some more than others."""
    lines = ["kairos-profile 1"]
    for index, name in enumerate(re.findall(r"^struct (\S+) ", table, re.M)):
        lines.append(f"type encode 1 1 {1000 + 37 * index % 500} IDL:{name.replace('::', '/')}:1.0")
    for index, name in enumerate(re.findall(r"^operation (\S+) ", table, re.M)):
        interface, _, operation = name.rpartition("::")
        lines.append(f"operation client-encode 1 1 {1000 + 53 * index % 700} {operation} "
                     f"IDL:{interface.replace('::', '/')}:1.0")
    return "\n".join(lines) + "\n"


def first_numbers(table):
    """Bytes chosen, all compiled, all interpretive."""
    numbers = [int(number) for number in
               re.findall(r"(?<=[ ])\d+", table.splitlines()[0].split(".idl: ")[1])]
    return numbers[0], numbers[-2], numbers[-1]


def check_file(tools, idl, directory):
    # Omits the OMG's prefix, so that ids are made of names alone.
    text = re.sub(r"^\s*#\s*pragma\s+prefix.*$", "", idl.read_text(), flags=re.M)
    own = directory / idl.name
    own.write_text(text)
    profile = directory / "profile"
    profile.write_text("kairos-profile 1\n")
    table = tools.generate(own, directory / "none", "--profile", profile)
    profile.write_text(profile_of(table))
    _, most, least = first_numbers(table)
    budget = least + (most - least) // 2
    generous = tools.generate(own, directory / "all", "--profile", profile, "--code-budget",
                              2 * most)
    limited = tools.generate(own, directory / "half", "--profile", profile, "--code-budget", budget)
    check("not in the profile" not in generous, f"{idl.name}: all is in the profile")
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        none, everything, half = executor.map(
            lambda name: tools.bytes_of(directory / name, idl.stem), ["none", "all", "half"])
    for name, table, real in (("all", generous, everything - none), ("half", limited, half - none)):
        estimate = first_numbers(table)[0] - least
        check(abs(estimate - real) <= TOLERANCE * real,
              f"{idl.name}: {name} compiled: estimated {estimate}, real {real} more bytes")
    check(half - none <= (1 + TOLERANCE) * (budget - least),
          f"{idl.name}: {half - none} more bytes for a budget of {budget - least}")


def main():
    tools = Tools(*sys.argv[1:5])
    for name in sys.argv[5:]:
        with tempfile.TemporaryDirectory() as temporary:
            check_file(tools, pathlib.Path(name), pathlib.Path(temporary))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
