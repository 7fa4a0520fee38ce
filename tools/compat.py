#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Compiles every C++ source of a tree with the layer for omniORB or for TAO, each by itself, without
# linking, and lists what is missing by name, with the number of sources that miss it. For those who
# want to know what a port would take (docs/from-omniorb.md, docs/from-tao.md).
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

SOURCES = (".cc", ".cpp", ".cxx", ".C", ".c++")
# What a compiler says where something is not there; what each of them is about.
MISSING = (
    (re.compile(r"fatal error: (\S+): No such file|"
                r"fatal error: '([^']+)' file not found"), "header"),
    (re.compile(r"[‘']([^’']+)[’'] is not a member of [‘']([^’']+)[’']|"
                r"no (?:member|type) named '([^']+)' in (?:namespace )?'([^']+)'"), "member"),
    (re.compile(r"[‘'](?:[^’']+)[’'] has no member named [‘']([^’']+)[’']"), "member"),
    (re.compile(r"[‘']([^’']+)[’'] (?:was not declared|does not name a type|has not been declared)|"
                r"(?:undeclared identifier|unknown type name) '([^']+)'"), "name"),
)


def missing_in(errors):
    """The names that are missing, and the first error that is about none."""
    names, other = set(), None
    for line in errors.splitlines():
        if "error:" not in line:
            continue
        for pattern, kind in MISSING:
            match = pattern.search(line)
            if match is None:
                continue
            found = [group for group in match.groups() if group]
            names.add((kind, "::".join(reversed(found))))
            break
        else:
            other = other or line.split("error:", 1)[1].strip()
    return names, other


def flags_of(arguments):
    flags = [f"-std={arguments.std}", "-fsyntax-only", "-w", "-fmax-errors=200"]
    if "clang" in arguments.compiler:
        flags = [flag.replace("-fmax-errors", "-ferror-limit") for flag in flags]
    flags += [f"-D{name}" for name in arguments.define]
    flags += [f"-I{folder}" for folder in arguments.include]
    include = arguments.prefix / "include"
    flags += [f"-I{include / ('kairos-' + arguments.layer)}", f"-I{include}"]
    return flags + [f"-I{folder}" for folder in sorted((include / "kairos").glob("*/"))]


def compile_one(source, arguments, flags):
    try:
        done = subprocess.run(
            [arguments.compiler, *flags, f"-I{source.parent}", str(source)], capture_output=True,
            text=True, timeout=arguments.seconds, check=False,
            env={**os.environ, "LC_ALL": "C.UTF-8"})
    except subprocess.TimeoutExpired:
        return source, None, {("time", f"more than {arguments.seconds} s")}
    if done.returncode == 0:
        return source, True, set()
    names, other = missing_in(done.stderr)
    return source, False, names or {("error", other or "?")}


def sources_of(tree):
    return sorted(path for path in tree.rglob("*") if path.suffix in SOURCES and path.is_file())


def report(results, tree):
    counts = collections.Counter(name for _, _, names in results for name in names)
    good = [source for source, compiles, _ in results if compiles]
    print(f"{len(good)} of {len(results)} sources below {tree} compile")
    for (kind, name), count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        print(f"{count:6}  {kind:7} {name}")


def main():
    parser = argparse.ArgumentParser(description="What a tree of sources misses of the layer.")
    parser.add_argument("tree", type=pathlib.Path)
    parser.add_argument("--layer", choices=["omniorb", "tao"], default="omniorb",
                        help="which ORB the programs were written for")
    parser.add_argument("--prefix", type=pathlib.Path, default=pathlib.Path("/usr"),
                        help="where Kairos is installed")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--std", default="c++20")
    parser.add_argument("-I", "--include", action="append", default=[], help="a folder of headers")
    parser.add_argument("-D", "--define", action="append", default=[], help="a macro")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=int, default=300, help="for one source at most")
    arguments = parser.parse_args()
    sources = sources_of(arguments.tree)
    if not sources:
        print(f"compat: there is no C++ source below {arguments.tree}", file=sys.stderr)
        return 2
    flags = flags_of(arguments)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(lambda each: compile_one(each, arguments, flags), sources))
    report(results, arguments.tree)
    return 0 if all(compiles for _, compiles, _ in results) else 1


if __name__ == "__main__":
    sys.exit(main())
