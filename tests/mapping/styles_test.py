#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# What the test mapping.styles runs.
"""usage: styles_test.py KAIROS_IDL CXX INCLUDE…

What kairos-idl writes under the names of other ORBs' files, as a program of theirs would compile
it: without a warning, each file by itself, and all of it from the one header that such programs
include. Exit status 1 says what failed.
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]

# What a servant's program includes, by style.
HEADERS = {"tao": "everythingS.h", "omniorb": "everything.hh"}
PROGRAM = """#include "{header}"
struct Servant : POA_Everything::Basics {{}};
Everything::Basics_ptr nil() {{ return Everything::Basics::_nil(); }}
"""


def generate(compiler, style, directory):
    for name in ["everything.idl", "included.idl"]:
        subprocess.run([compiler, "--style", style, "-o", directory, name], cwd=HERE, check=True)
    (directory / "program.cc").write_text(PROGRAM.format(header=HEADERS[style]))
    return sorted(path for path in directory.iterdir() if path.suffix in (".cpp", ".cc"))


def compile_one(cxx, includes, path):
    folders = [word for folder in [path.parent, *includes] for word in ("-I", str(folder))]
    return path, subprocess.run([cxx, "-std=c++20", *WARNINGS, *folders, "-fsyntax-only", path],
                                capture_output=True, text=True, check=False)


def main():
    compiler, cxx, *includes = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        sources = []
        for style in HEADERS:
            directory = pathlib.Path(name, style)
            directory.mkdir()
            sources += generate(compiler, style, directory)
        results = list(pool.map(lambda path: compile_one(cxx, includes, path), sources))
        failed = [(path, result) for path, result in results if result.returncode != 0]
        for path, result in failed:
            print(f"--- {path.parent.name}/{path.name}")
            print("\n".join(result.stderr.splitlines()[:12]))
    print(f"{len(results)} files, {len(failed)} failed")
    return 1 if failed or len(results) < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
