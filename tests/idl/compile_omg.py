#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# What the tests idl.omg.* run.
"""Generates C++ from every OMG IDL file that Debian's omniorb-idl installs, and from our own, and
compiles it.

usage: compile_omg.py --compiler KAIROS_IDL --cxx CXX --include DIR… [--option OPTION]…
           [--only NAME]

Stubs and skeletons of a file, and of what it includes, are checked by the C++ compiler (syntax and
types, no code) with the warnings that users of Kairos may have switched on, as errors. Prints what
failed; exit status 1 if anything did, 77 where omniorb-idl is not installed.
"""
import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

OMG_IDL = pathlib.Path("/usr/share/idl/omniORB")
OWN_IDL = pathlib.Path(__file__).resolve().parents[2] / "idl"  # of it <IOP.idl> is needed there

# What all generated code includes, read once instead of for each file.
PRECOMPILED = "generated.h"
# orb.idl's C++ among it: once more, it would be defined twice.
IN_ALL = OWN_IDL / "orb.idl"
INCLUDED_BY_ALL = ["kairos/corba/stub.h", "kairos/corba/skel.h"]

WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]


def run(command, directory):
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)


def folder_of(path, directory):
    """Ours have names that Debian's have, too."""
    return directory / ("own" if path.parent == OWN_IDL else "omg")


def generate(path, directory, arguments):
    # Of this IDL Kairos has the C++, so none would be generated: here it is.
    run_time = ["--run-time"] if path.parent == OWN_IDL else []
    folders = [OMG_IDL, OMG_IDL / "COS", OWN_IDL]
    command = [arguments.compiler, *run_time, *arguments.option,
               *(word for folder in folders for word in ("-I", str(folder))),
               "-o", str(folder_of(path, directory)), str(path)]
    return path, run(command, directory)


def compiler(arguments, directory, *includes):
    folders = [directory, *arguments.include, *includes]
    return [arguments.cxx, "-std=c++20", *WARNINGS,
            *(word for folder in folders for word in ("-I", str(folder)))]


def precompile(directory, arguments):
    header = directory / PRECOMPILED
    header.write_text("".join(f"#include <{name}>\n" for name in INCLUDED_BY_ALL))
    made = run([*compiler(arguments, directory), "-x", "c++-header", str(header)], directory)
    return header, made


def compile_one(path, directory, arguments):
    folder = folder_of(path, directory)
    command = [*compiler(arguments, directory, folder, directory / "own"), "-fsyntax-only",
               "-include", PRECOMPILED, f"{path.stem}.cpp", f"{path.stem}_skel.cpp"]
    return path, run(command, folder)


def report(results, what):
    failed = [(path, result) for path, result in results if result.returncode != 0]
    for path, result in failed:
        print(f"--- {what} {path.name}")
        print("\n".join((result.stderr or result.stdout).splitlines()[:12]))
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--cxx", required=True)
    parser.add_argument("--include", action="append", required=True)
    parser.add_argument("--option", action="append", default=[])
    parser.add_argument("--only", help="the name of one IDL file")
    arguments = parser.parse_args()
    arguments.compiler = os.path.abspath(arguments.compiler)
    arguments.include = [os.path.abspath(include) for include in arguments.include]

    if not OMG_IDL.is_dir():
        print("omniorb-idl is not installed")
        return 77
    chosen = [*sorted(OMG_IDL.glob("**/*.idl")), *sorted(OWN_IDL.glob("*.idl"))]
    with tempfile.TemporaryDirectory() as name, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        directory = pathlib.Path(name)
        generated = list(pool.map(lambda path: generate(path, directory, arguments), chosen))
        failed = report(generated, "kairos-idl")
        compiled_paths = [path for path, result in generated if result.returncode == 0 and
                          path != IN_ALL and arguments.only in (None, path.name)]
        failed += report([precompile(directory, arguments)], "c++")
        compiled = list(pool.map(lambda path: compile_one(path, directory, arguments),
                                 compiled_paths))
        failed += report(compiled, "c++")
    print(f"{len(chosen)} files, {len(compiled)} compiled, {len(failed)} failed")
    return 1 if failed or not compiled else 0


if __name__ == "__main__":
    sys.exit(main())
