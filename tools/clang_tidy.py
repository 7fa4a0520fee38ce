#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Runs clang-tidy-16 over the sources of the library and the IDL compiler, several at a time: over
# those that changed since they were clean, and, for each header that changed, generated ones too,
# over one that includes it; over all if .clang-tidy or the tool changed. What was clean stands in
# tools/tidied.txt, a digest for each file, which is committed with the change: so what a clean
# checkout looks at is what changed without it. Sources found clean while others were not are in the
# user's cache until all are. tools/clang_tidy_test.py tests it.
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
DIGITS = 16
ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("kairos/", "idlc/")
SKIPPED = re.compile(r"(_test|_bench|_fuzz)\.cpp$")
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
SEARCHED = re.compile(r"(?:-I|-isystem )(\S+)")
LIST = ROOT / "tools/tidied.txt"
HEADER = """\
# What clang-tidy found clean, a digest for each file: `make check` writes it, and it is committed
# with what changed. What has another digest is looked at again.
"""
MEMORY = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache",
                      "kairos", "clang-tidy-clean.json")


def sources_of(path):
    """What a unit of the build compiles: itself, or the sources that it includes for them to be
    compiled at once."""
    if "Unity" not in path.parts:
        return [path]
    return [ROOT / name for name in INCLUDE.findall(path.read_text())]


def units(build):
    """The compile commands that are ours to judge: {path in the tree: command}."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        unit = pathlib.Path(entry["directory"], entry["file"]).resolve()
        for path in sources_of(unit):
            if not path.is_relative_to(ROOT):
                continue
            name = path.relative_to(ROOT).as_posix()
            if name.startswith(FOLDERS) and not SKIPPED.search(name) and path.exists():
                found[name] = entry["command"].replace(str(unit), str(path))
    return dict(sorted(found.items()))


def write_commands(commands, folder):
    """A compile_commands.json of its own, for sources that the build compiles several at a time."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "compile_commands.json").write_text(json.dumps(
        [{"directory": str(folder.parent), "file": str(ROOT / name), "command": command}
         for name, command in commands.items()]))


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


def searched_folders(command):
    return [pathlib.Path(folder) for folder in SEARCHED.findall(command)
            if pathlib.Path(folder).is_relative_to(ROOT)]


def name_of(path, build):
    """What a file is called in the list: generated ones lie in the build's folder."""
    base = build if path.is_relative_to(build) else ROOT
    return path.relative_to(base).as_posix()


def fingerprint(names, digests):
    """Of all that a unit is made of, the tool itself among it."""
    whole = hashlib.sha256()
    for name in [TOOL, *names]:
        whole.update(f"{name}\0{digests[name]}\0".encode())
    return whole.hexdigest()


def due_units(parts, digests, listed):
    """What to look at, of `parts`: {unit: the names of its files, itself among them}. Findings in a
    header come with every source that includes it: so it is seen through one, of those that are
    due anyway if there is one, or else through what shows most headers that nobody has seen."""
    if listed.get(TOOL) != digests[TOOL]:
        return sorted(parts)
    changed = {name for name, digest in digests.items() if listed.get(name) != digest}
    due = {name for name in parts if name in changed}
    unseen = changed.difference(*(parts[name] for name in due), due)
    unseen &= set().union(*parts.values())
    while unseen:
        best = max(sorted(parts), key=lambda name: len(unseen.intersection(parts[name])))
        due.add(best)
        unseen.difference_update(parts[best])
    return sorted(due)


def read_list(text):
    return {name: digest for digest, name in
            (line.split(maxsplit=1) for line in text.splitlines() if not line.startswith("#"))}


def format_list(digests):
    return HEADER + "".join(f"{digests[name]} {name}\n" for name in sorted(digests))


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
    tool = hashlib.sha256(version + (ROOT / ".clang-tidy").read_bytes()).hexdigest()[:DIGITS]

    commands = units(build)
    if not commands:
        print(f"clang-tidy: no sources in {build}/compile_commands.json", file=sys.stderr)
        return 1
    write_commands(commands, build / "tidy")
    texts = {}
    closures = {name: closure(name, searched_folders(command), texts)
                for name, command in commands.items()}
    digests = {name_of(path, build): hashlib.sha256(text.encode()).hexdigest()[:DIGITS]
               for path, text in texts.items()}
    digests[TOOL] = tool
    parts = {name: [name_of(path, build) for path in paths] for name, paths in closures.items()}
    prints = {name: fingerprint(names, digests) for name, names in parts.items()}
    listed = read_list(LIST.read_text()) if LIST.exists() else {}
    clean = remembered()
    due = [name for name in due_units(parts, digests, listed)
           if clean.get(name) != prints[name]]
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        runs = {pool.submit(examine, name, build / "tidy"): name for name in due}
        for run in concurrent.futures.as_completed(runs):
            name = runs[run]
            status, output = run.result()
            if status == 0:
                clean[name] = prints[name]
                continue
            failures += 1
            print(output.replace(f"{ROOT}/", ""), end="")
    remember({n: v for n, v in clean.items() if n in prints})
    if not failures and digests != listed:
        LIST.write_text(format_list(digests))
    print(f"clang-tidy: {len(due)} of {len(commands)} files looked at, {failures} with findings")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
