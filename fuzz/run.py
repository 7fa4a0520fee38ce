#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Runs every libFuzzer target of a `fuzz` build, one after the other, each for its share of the
# time. Seeds are fuzz/corpus/<target>/; what a run discovers stays in the build tree, and the input
# of a crash becomes a file there whose name is printed. fuzz/<target>.dict is its dictionary,
# fuzz/<target>.options has libFuzzer's options for it. `make fuzz` is the usual way in.
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import time

INPUT_MAX = 64 << 10  # octets
SEED_MAX = 4 << 10  # of those that are merged: they are to be read
ROOT = pathlib.Path(__file__).resolve().parent.parent


def read_targets(build):
    """Pairs of name and program, as CMake wrote them for this build."""
    listing = build / "fuzz-targets.txt"
    if not listing.exists():
        sys.exit(f"fuzz: {listing} is missing; configure the preset 'fuzz' first")
    return [line.split(" ", 1) for line in listing.read_text().splitlines() if line]


def command_line(name, program, build, seconds):
    finds = build / "finds" / name
    crashes = build / "crashes" / name
    finds.mkdir(parents=True, exist_ok=True)
    crashes.mkdir(parents=True, exist_ok=True)
    command = [program, f"-max_total_time={seconds}", "-timeout=20", "-rss_limit_mb=2048",
               "-print_final_stats=1", f"-max_len={INPUT_MAX}", f"-artifact_prefix={crashes}/"]
    options = ROOT / "fuzz" / f"{name}.options"
    if options.exists():
        command += [line for line in options.read_text().splitlines() if line.startswith("-")]
    dictionary = ROOT / "fuzz" / f"{name}.dict"
    if dictionary.exists():
        command.append(f"-dict={dictionary}")
    command.append(str(finds))
    seeds = ROOT / "fuzz" / "corpus" / name
    if seeds.is_dir():
        command.append(str(seeds))
    return command, crashes


def statistic(log, name):
    for line in log.splitlines():
        if line.startswith(f"stat::{name}:"):
            return line.split(":")[-1].strip()
    return "?"


def run_target(name, program, build, seconds):
    """True when the target survived its share."""
    command, crashes = command_line(name, program, build, seconds)
    before = set(crashes.iterdir())
    log_file = build / f"{name}.log"
    # Debian's name of it; without one a crash's stack is addresses only.
    environment = {"ASAN_SYMBOLIZER_PATH": shutil.which("llvm-symbolizer-16") or "", **os.environ}
    start = time.monotonic()
    with log_file.open("w") as log:
        status = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log,
                                stderr=subprocess.STDOUT, env=environment,
                                check=False).returncode
    text = log_file.read_text(errors="replace")
    spent = time.monotonic() - start
    print(f"{name}: {statistic(text, 'number_of_executed_units')} inputs in {spent:.0f} s, "
          f"{statistic(text, 'new_units_added')} kept", flush=True)
    if status == 0:
        return True
    print("\n".join(text.splitlines()[-60:]))
    print(f"{name}: FAILED with status {status}; whole log in {log_file}")
    for crash in sorted(set(crashes.iterdir()) - before):
        print(f"{name}: input saved as {crash}; keep it: "
              f"cp {crash} fuzz/corpus/{name}/{crash.name}")
    return False


def merge_target(name, program, build):
    """Takes the fewest of the finds that reach what the corpus does not; true when it went well."""
    seeds = ROOT / "fuzz" / "corpus" / name
    before = len(list(seeds.iterdir()))
    with (build / f"{name}.merge.log").open("w") as log:
        status = subprocess.run(
            [program, "-set_cover_merge=1", f"-max_len={SEED_MAX}", str(seeds),
             str(build / "finds" / name)], stdin=subprocess.DEVNULL, stdout=log,
            stderr=subprocess.STDOUT, check=False).returncode
    print(f"{name}: {len(list(seeds.iterdir())) - before} seeds more", flush=True)
    return status == 0


def main():
    parser = argparse.ArgumentParser(description="run the fuzz targets of a build in turn")
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=int, default=600, help="for all targets together")
    parser.add_argument("--merge", action="store_true",
                        help="take into fuzz/corpus what former runs found beyond it")
    parser.add_argument("targets", nargs="*", help="only these (default: all)")
    arguments = parser.parse_args()
    build = arguments.build.resolve()

    targets = read_targets(build)
    unknown = set(arguments.targets) - {name for name, _ in targets}
    if unknown:
        sys.exit(f"fuzz: no such target: {', '.join(sorted(unknown))}")
    if arguments.targets:
        targets = [pair for pair in targets if pair[0] in arguments.targets]
    if not targets:
        print("fuzz: this tree has no fuzz targets yet (kairos_fuzz() declares one)")
        return 0

    if arguments.merge:
        return 0 if all([merge_target(name, program, build) for name, program in targets]) else 1

    share = max(1, arguments.seconds // len(targets))
    print(f"fuzz: {len(targets)} targets, {share} s each", flush=True)
    survived = sum([run_target(name, program, build, share) for name, program in targets])
    failed = len(targets) - survived
    print(f"fuzz: {survived} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
