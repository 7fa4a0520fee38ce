#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Runs clang-tidy-16 over the sources of the library and the IDL compiler, several at a time, and
# remembers which translation units were clean: a unit is looked at again only when it, a header of
# ours that it includes, generated ones too, its command line, .clang-tidy or the tool changed. The
# memory is the user's, as a compiler cache is: clones of the repository share it.
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
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
SEARCHED = re.compile(r"(?:-I|-isystem )(\S+)")
MEMORY = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache",
                      "kairos", "clang-tidy-clean.json")


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


def closure(name, folders, texts):
    """Every file of the tree, or generated into it, that `name` includes, itself among them. System
    headers are not followed."""
    seen = set()
    waiting = [ROOT / name]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        if current not in texts:
            texts[current] = current.read_text(errors="replace")
        for included in INCLUDE.findall(texts[current]):
            for folder in (current.parent, *folders):
                candidate = pathlib.Path(os.path.normpath(folder / included))
                if candidate.is_file():
                    waiting.append(candidate)
                    break
    return sorted(seen)


def fingerprint(name, command, texts, common):
    folders = [pathlib.Path(folder) for folder in SEARCHED.findall(command)
               if pathlib.Path(folder).is_relative_to(ROOT)]
    digest = hashlib.sha256(common)
    digest.update(command.replace(str(ROOT), "").encode())
    for included in closure(name, folders, texts):
        digest.update(f"{included.relative_to(ROOT)}\0{texts[included]}".encode())
    return digest.hexdigest()


def examine(name, build):
    run = subprocess.run(
        [TOOL, "--quiet", f"-p={build}", "--extra-arg=-Wno-unknown-warning-option",
         "--extra-arg=-Wno-error", str(ROOT / name)],
        capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    # stderr only counts the warnings that system headers would have had.
    return run.returncode, run.stdout + (run.stderr if run.returncode and not run.stdout else "")


def remembered():
    try:
        return json.loads(MEMORY.read_text())
    except (OSError, ValueError):
        return {}


def remember(clean):
    """Whole or not at all, for another clone may be reading. A home that cannot be written to only
    costs the next run its time."""
    try:
        MEMORY.parent.mkdir(parents=True, exist_ok=True)
        written = MEMORY.with_suffix(f".{os.getpid()}")
        written.write_text(json.dumps(clean))
        written.replace(MEMORY)
    except OSError as error:
        print(f"clang-tidy: nothing is remembered: {error}", file=sys.stderr)


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
    clean = remembered()

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
    remember({n: v for n, v in clean.items() if n in prints})
    print(f"clang-tidy: {len(due)} of {len(prints)} files looked at, {failures} with findings")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
