#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# What the test mapping.clang runs.
"""usage: clang_test.py KAIROS_IDL INCLUDE…

Stubs and skeletons of every IDL file of this folder, as clang 16 sees them: without a warning, by
both back ends. The build's own compiler, with which all of it is compiled and run, has warnings of
its own. Exit status 1 says what failed; 77: there is no clang++-16, which is an error where CI is
set.
"""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
OMG_IDL = HERE.parents[1] / "idl"
COMPILER = "clang++-16"
WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Wsuggest-override", "-Werror"]
# What all generated code includes, read once instead of for each file.
INCLUDED_BY_ALL = "#include <kairos/corba/stub.h>\n#include <kairos/corba/skel.h>\n"


def run(command, directory):
    return subprocess.run([str(word) for word in command], cwd=directory, capture_output=True,
                          text=True, check=False)


def generate(compiler, kind, directory):
    for path in sorted(HERE.glob("*.idl")):
        natives = ["--include", HERE / "local_natives.h"] if path.stem == "local" else []
        made = run([compiler, f"--marshal={kind}", "-I", OMG_IDL, *natives, "-o", directory, path],
                   HERE)
        if made.returncode != 0:
            yield path, made


def compile_one(clang, path):
    return path, run([*clang, "-fsyntax-only", "-I", path.parent, path], path.parent)


def main():
    compiler = os.path.abspath(sys.argv[1])
    if shutil.which(COMPILER) is None:
        print(f"{COMPILER} is not installed: tools/install-packages.sh interop")
        return 1 if os.environ.get("CI") == "true" else 77
    with tempfile.TemporaryDirectory() as name, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        top = pathlib.Path(name)
        folders = [word for folder in sys.argv[2:] for word in ("-I", os.path.abspath(folder))]
        clang = [COMPILER, "-std=c++20", *WARNINGS, *folders]
        header = top / "all.h"
        header.write_text(INCLUDED_BY_ALL)
        results = [(header, run([*clang, "-x", "c++-header", header, "-o", top / "all.pch"], top))]
        clang += ["-include-pch", top / "all.pch"]
        sources = []
        for kind in ("compiled", "interpretive"):
            (top / kind).mkdir()
            results += generate(compiler, kind, top / kind)
            sources += sorted((top / kind).glob("*.cpp"))
        results += pool.map(lambda path: compile_one(clang, path), sources)
        failed = [(path, result) for path, result in results if result.returncode != 0]
        for path, result in failed:
            print(f"--- {path.parent.name}/{path.name}")
            print("\n".join(result.stderr.splitlines()[:12]))
    print(f"{len(sources)} files, {len(failed)} failed")
    return 1 if failed or len(sources) < 40 else 0


if __name__ == "__main__":
    sys.exit(main())
