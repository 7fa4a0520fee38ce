#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# The test `release`: the archive of the commit that is checked out is the same octets by another
# user's settings, and what is in it needs no git: it configures, and its own rules find nothing.
# Exit status 77 where there is no clone, as in such an archive.
import hashlib
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent


def run(*command, directory=ROOT, **environment):
    return subprocess.run([str(word) for word in command], cwd=directory, capture_output=True,
                          text=True, env={**os.environ, **environment}, check=False)


def fail(what, ended=None):
    print(what, *([ended.stdout[-2000:], ended.stderr[-2000:]] if ended else []), sep="\n")
    sys.exit(1)


def make(out, **environment):
    ended = run(HERE / "release.py", "--draft", "--out", out, **environment)
    if ended.returncode != 0:
        fail("release.py", ended)
    archives = list(out.glob("kairos-*.tar.gz"))
    if len(archives) != 1:
        fail(f"release.py made {archives}")
    return archives[0]


def check_octets(first, second):
    if first.read_bytes() != second.read_bytes():
        fail("two archives of one commit differ")
    digest, name = pathlib.Path(f"{first}.sha256").read_text().split()
    if (digest, name) != (hashlib.sha256(first.read_bytes()).hexdigest(), first.name):
        fail("the SHA-256 is another")


def check_tree(tree, path):
    if (tree / ".git").exists() or not (tree / "changelog.d/README.md").exists():
        fail("these are not the files of a commit")
    # Where git answers only that it was asked.
    asked = path.parent / "git-was-asked"
    (path / "git").write_text(f"#!/bin/sh\ntouch {asked}\nexit 1\n")
    (path / "git").chmod(0o755)
    without_git = {"PATH": f"{path}:{os.environ['PATH']}"}
    for command in (["cmake", "--preset", "minimal"], ["tools/tidy.py"], ["tools/readme.py"],
                    ["tools/lock_table.py"],
                    ["tools/changelog.py", "--check"]):
        ended = run(*command, directory=tree, **without_git)
        if ended.returncode != 0:
            fail(" ".join(command), ended)
    files = run("tools/check.sh", "--list", directory=tree, **without_git)
    if "kairos/orb/orb.cpp" not in files.stdout.split() or "build/" in files.stdout:
        fail("check.sh does not know the files", files)
    if asked.exists():
        fail("git was asked")


def main():
    if not (ROOT / ".git").exists():
        print("this is no clone")
        return 77
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        archive = make(work / "one")
        check_octets(archive, make(work / "two", TZ="Asia/Tokyo", LC_ALL="C", GIT_CONFIG_COUNT="1",
                                   GIT_CONFIG_KEY_0="tar.umask", GIT_CONFIG_VALUE_0="0077"))
        with tarfile.open(archive) as opened:
            opened.extractall(work / "tree", filter="data")
        (work / "path").mkdir()
        check_tree(work / "tree" / archive.name.removesuffix(".tar.gz"), work / "path")
    return 0


if __name__ == "__main__":
    sys.exit(main())
