#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Makes the archive of a release: the files of a commit, the same octets whenever and wherever it is
# made, and a file with its SHA-256 beside it. What is in it builds and tests without git.
# tools/release_test.py tests it.
"""usage: release.py [--out DIR] [--commit COMMIT] [--draft]

Writes DIR/kairos-VERSION.tar.gz and .tar.gz.sha256. Unless it is a draft, nothing may wait to be
committed, and CHANGELOG.md has to have everything that changelog.d/ had.
"""
import argparse
import hashlib
import pathlib
import re
import subprocess
import sys

import changelog

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Refused(Exception):
    """Why there is no archive."""


def git(*arguments):
    ended = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, check=False)
    if ended.returncode != 0:
        raise Refused(ended.stderr.decode().strip())
    return ended.stdout


def archive_of(commit, name):
    """Order, owners, modes and times are git's for the commit, whatever the user's settings."""
    tar = git("-c", "tar.umask=0022", "-c", "core.autocrlf=false", "archive", "--format=tar",
              f"--prefix={name}/", commit)
    # Without a name and a time of its own.
    packed = subprocess.run(["gzip", "-9", "-n"], input=tar, stdout=subprocess.PIPE, check=True)
    return packed.stdout


def make(commit, out, draft):
    if not (ROOT / ".git").exists():
        raise Refused("this is no clone: releases are made of commits")
    if not draft:
        wrong = [*changelog.mistakes(ROOT), *changelog.missing(ROOT)]
        wrong += git("status", "--porcelain").decode().splitlines()
        if wrong:
            raise Refused("\n".join(["not ready to be released:", *wrong]))
    version = changelog.VERSION.search(git("show", f"{commit}:CMakeLists.txt").decode())
    if not version:
        raise Refused(f"{commit}: CMakeLists.txt has no version")
    name = f"kairos-{version[1]}"
    archive = out / f"{name}.tar.gz"
    out.mkdir(parents=True, exist_ok=True)
    archive.write_bytes(archive_of(commit, name))
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    archive.with_name(f"{archive.name}.sha256").write_text(f"{digest}  {archive.name}\n")
    return archive, digest


def main():
    parser = argparse.ArgumentParser(description="make the archive of a release")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "dist")
    parser.add_argument("--commit", default="HEAD")
    parser.add_argument("--draft", action="store_true", help="of a version that is not finished")
    arguments = parser.parse_args()
    if not re.fullmatch(r"[\w./~^@-]+", arguments.commit) or arguments.commit.startswith("-"):
        parser.error(f"'{arguments.commit}' names no commit")
    try:
        archive, digest = make(arguments.commit, arguments.out, arguments.draft)
    except Refused as refused:
        print(f"release: {refused}", file=sys.stderr)
        return 1
    print(f"{digest}  {archive}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
