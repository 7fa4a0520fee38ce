#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# What the test fuzz.clang runs.
"""usage: clang_test.py BUILD

Every fuzz target and what they are linked with, as clang 16 compiles them for the preset `fuzz`:
without a warning. BUILD has compile_commands.json, and what is generated. Exit status 1 says what
failed; 77: there is no clang++-16, which is an error where CI is set.
"""
import concurrent.futures
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

COMPILER = "clang++-16"
# As cmake/KairosModule.cmake has it for KAIROS_FUZZ. Nothing is optimised or written.
OPTIONS = ["-fsyntax-only", "-fsanitize=fuzzer-no-link,address,undefined"]
HARNESS = "fuzz/bounds.cpp"


def commands(build):
    """Pairs of file and command; what only g++ knows is left out."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = entry["file"]
        if not path.endswith(("_fuzz.cpp", HARNESS)) or "_test.dir" in entry["command"]:
            continue
        words = shlex.split(entry["command"])
        kept = [word for word in words if word.startswith(("-I", "-D", "-W", "-std="))]
        system = [word for at, flag in enumerate(words) if flag == "-isystem"
                  for word in words[at:at + 2]]
        harness = ["-DKAIROS_FUZZ"] if path.endswith(HARNESS) else []
        yield path, [COMPILER, *OPTIONS, *kept, *system, *harness, path]


def main():
    build = pathlib.Path(sys.argv[1])
    if shutil.which(COMPILER) is None:
        print(f"{COMPILER} is not installed: tools/install-packages.sh interop")
        return 1 if os.environ.get("CI") == "true" else 77
    failed = 0
    todo = dict(commands(build))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        done = pool.map(lambda command: subprocess.run(command, cwd=build, capture_output=True,
                                                       text=True, check=False), todo.values())
        for path, result in zip(todo, done):
            if result.returncode != 0:
                failed += 1
                print(f"--- {path}\n" + "\n".join(result.stderr.splitlines()[:12]))
    print(f"{len(todo)} files, {failed} failed")
    return 1 if failed or len(todo) < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
