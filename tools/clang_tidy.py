#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Runs clang-tidy-16 over the sources of the library and the IDL compiler, several at a time, and
# remembers which translation units were clean: a unit is looked at again only when it, a header it
# includes, its command line, .clang-tidy or the tool changed. The memory lives in the build tree.
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

TOOL = "clang-tidy-16"
ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("kairos/", "idlc/")
SKIPPED = re.compile(r"(_test|_bench|_fuzz)\.cpp$")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def units(build):
    """The compile commands that are ours to judge: (path in the tree, command)."""
    commands = json.loads((build / "compile_commands.json").read_text())
    found = {}
    for entry in commands:
        path = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if not path.is_relative_to(ROOT):
            continue
        name = path.relative_to(ROOT).as_posix()
        if name.startswith(FOLDERS) and not SKIPPED.search(name) and path.exists():
            found[name] = entry.get("command", "")
    return sorted(found.items())


def closure(name, texts):
    """Every file of the tree that `name` includes, itself among them. What a unit takes from
    generated or system headers is not followed; a clean build tree starts from nothing anyway."""
    seen = set()
    waiting = [name]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        if current not in texts:
            texts[current] = (ROOT / current).read_text(errors="replace")
        for included in INCLUDE.findall(texts[current]):
            beside = (pathlib.PurePosixPath(current).parent / included).as_posix()
            for candidate in (included, os.path.normpath(beside)):
                if (ROOT / candidate).is_file():
                    waiting.append(candidate)
    return sorted(seen)


def fingerprint(name, command, texts, common):
    digest = hashlib.sha256(common)
    digest.update(command.encode())
    for included in closure(name, texts):
        digest.update(included.encode() + b"\0" + texts[included].encode())
    return digest.hexdigest()


def examine(name, build):
    run = subprocess.run(
        [TOOL, "--quiet", f"-p={build}", "--extra-arg=-Wno-unknown-warning-option",
         "--extra-arg=-Wno-error", str(ROOT / name)],
        capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    # stderr only counts the warnings that system headers would have had.
    return run.returncode, run.stdout + (run.stderr if run.returncode and not run.stdout else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/dev")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    build = arguments.build.resolve()

    if not (build / "compile_commands.json").exists():
        print(f"clang-tidy: {build} is not configured (make test does it)", file=sys.stderr)
        return 1
    version = subprocess.run([TOOL, "--version"], capture_output=True, check=True).stdout
    common = version + (ROOT / ".clang-tidy").read_bytes()
    memory = build / "clang-tidy-clean.json"
    clean = json.loads(memory.read_text()) if memory.exists() else {}

    texts = {}
    prints = {n: fingerprint(n, c, texts, common) for n, c in units(build)}
    if not prints:
        print(f"clang-tidy: no sources in {build}/compile_commands.json", file=sys.stderr)
        return 1
    due = [name for name, value in prints.items() if clean.get(name) != value]
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        runs = {pool.submit(examine, name, build): name for name in due}
        for run in concurrent.futures.as_completed(runs):
            name = runs[run]
            status, output = run.result()
            if status == 0:
                clean[name] = prints[name]
                continue
            failures += 1
            print(output.replace(f"{ROOT}/", ""), end="")
    memory.write_text(json.dumps({n: v for n, v in clean.items() if n in prints}))
    print(f"clang-tidy: {len(due)} of {len(prints)} files looked at, {failures} with findings")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
