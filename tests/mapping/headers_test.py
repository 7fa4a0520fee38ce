#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# What the test mapping.headers runs.
"""Counts what a compiler has to read of generated headers: the preprocessed lines of a stub and a
skeleton of each construct of IDL, so that nothing heavy comes back unseen.

usage: headers_test.py KAIROS_IDL CXX INCLUDE…

Includes each header alone, as a program's file does. Fails where a header has more lines than it
may, or reaches a header of the standard library that is too heavy for what every file of a user
reads.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

STUB_LINES_MAX = 41_000
SKELETON_LINES_MAX = 42_500

# Each brings thousands of lines that no stub needs (docs/building.md).
HEAVY = {"algorithm", "any", "atomic", "chrono", "condition_variable", "deque", "filesystem",
         "format", "fstream", "functional", "future", "iostream", "iterator", "list", "map",
         "memory", "mutex", "ostream", "queue", "random", "ranges", "regex", "set",
         "shared_mutex", "sstream", "thread", "unordered_map", "unordered_set", "variant",
         "vector"}

CONSTRUCTS = {
    "hello": "interface Hello { string greet(in string name); };",
    "constants": "const long count = 3; const string name = \"n\"; const fixed price = 1.5d;",
    "enums": "enum Colour { red, green }; typedef Colour Colours[3];",
    "structs": "struct Point { long x; double y; }; struct Person { string name; Point at; };",
    "unions": "union Shape switch (long) { case 1: long side; default: string name; };",
    "exceptions": "exception Overflow { long by; }; interface I { void f() raises (Overflow); };",
    "sequences": "struct P { long x; }; typedef sequence<P> Ps; typedef sequence<string, 4> Names;",
    "arrays": "typedef long Grid[2][3]; typedef string Names[4];",
    "wide": "struct Wide { wchar c; wstring text; }; interface W { wstring f(in wchar c); };",
    "fixed": "typedef fixed<10, 2> Price; interface Shop { Price price(); };",
    "anys": "interface A { any f(in any x, inout any y, out any z); };",
    "typecodes": "#include <orb.idl>\ninterface T { CORBA::TypeCode f(); };",
    "objects": "interface A; typedef sequence<A> As; interface A { A f(inout A a, out As list); };",
    "inheritance": "interface A { void f(); }; interface B : A { void g(); }; interface C : B {};",
    "attributes": "exception E {}; interface A { attribute string s; readonly attribute long n; };",
    "oneways": "interface A { oneway void f(in string text); };",
    "contexts": "interface A { void f(in long n) context (\"user\", \"host\"); };",
    "local": "local interface L { void f(in long n); };",
    "abstract": "abstract interface A { void f(); }; interface B : A {};",
    "values": "valuetype V { public long x; private string s; factory make(in long x); };",
    "boxes": "valuetype Box sequence<long>;",
    "modules": "module M { module N { struct S { long x; }; }; typedef sequence<N::S> Ss; };",
}
MODES = {"compiled": [], "interpretive": ["--marshal=interpretive"]}


class Failed(Exception):
    """What a tool said when it failed."""


def output_of(command, directory):
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}\n{done.stderr[-2000:]}")
    return done.stdout


def count(header, directory, compiler):
    """How many lines a file has that includes the header, and which heavy headers it reaches."""
    text = output_of([*compiler, "-E", "-include", header, "-x", "c++", "/dev/null"], directory)
    reached = {pathlib.PurePath(path).name
               for path in re.findall(r'^# \d+ "(/[^"]*/c\+\+/[^"]*)"', text, re.MULTILINE)
               if "/bits/" not in path and "/x86" not in path}
    return len(text.splitlines()), sorted(reached & HEAVY)


def main():
    tool, cxx, *include = sys.argv[1:]
    compiler = [cxx, "-std=c++20", *(f"-I{folder}" for folder in include)]
    failures = 0
    print(f"{'lines':>8} {'stub':>8} {'skeleton':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for mode, options in MODES.items():
            for name, idl in CONSTRUCTS.items():
                directory = pathlib.Path(folder) / mode / name
                directory.mkdir(parents=True)
                (directory / f"{name}.idl").write_text(idl + "\n")
                output_of([tool, *options, *(f"-I{path}" for path in include),
                           "-o", directory, directory / f"{name}.idl"], directory)
                here = [*compiler, f"-I{directory}"]
                stub, heavy_stub = count(f"{name}.h", directory, here)
                skeleton, heavy_skeleton = count(f"{name}_skel.h", directory, here)
                verdict = ""
                if stub > STUB_LINES_MAX or skeleton > SKELETON_LINES_MAX:
                    verdict += "  too many lines"
                if heavy_stub or heavy_skeleton:
                    verdict += "  reaches " + ", ".join(sorted({*heavy_stub, *heavy_skeleton}))
                failures += bool(verdict)
                print(f"{name:>12} {stub:>8,} {skeleton:>9,}  {mode}{verdict}")
    if failures:
        print(f"{failures} of {len(MODES) * len(CONSTRUCTS)} fail; at most "
              f"{STUB_LINES_MAX:,} and {SKELETON_LINES_MAX:,} lines")
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failed:
        print(failed)
        sys.exit(1)
