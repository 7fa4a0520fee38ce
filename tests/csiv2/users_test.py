#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# `kairos users`: what a file of users says when it was told something, and what it refuses.
"""usage: users_test.py KAIROS"""
import ctypes
import ctypes.util
import os
import pathlib
import stat
import subprocess
import sys
import tempfile

failures = []
libcrypt = ctypes.CDLL(ctypes.util.find_library("crypt"))
libcrypt.crypt.restype = ctypes.c_char_p


def check(condition, text):
    if not condition:
        failures.append(text)


def is_right(line, name, password):
    begin, _, hashed = line.partition(":")
    return begin == name and libcrypt.crypt(password.encode(), hashed.encode()) == hashed.encode()


def users(file, *arguments, text=""):
    return subprocess.run([sys.argv[1], "users", str(file), *arguments], input=text,
                          capture_output=True, text=True, timeout=60, check=False)


def refuses(reason, *arguments, text=""):
    before = file.read_bytes()
    ended = users(file, *arguments, text=text)
    check(ended.returncode == 1 and reason in ended.stderr, f"{arguments}: {ended}")
    check(file.read_bytes() == before, f"{arguments} has changed the file")


with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder, "users")
    check(users(file, "alice", text="secret\n").returncode == 0, "no new file")
    check(stat.S_IMODE(file.stat().st_mode) == 0o600, "others may read it")
    check(users(file, "alice@plant", text="other").returncode == 0, "no second user")
    file.write_text("# ours\n" + file.read_text().rstrip("\n"))  # as an editor may leave it
    file.chmod(0o640)
    check(users(file, "alice", text="new secret\nsecond line\n").returncode == 0, "no new password")
    lines = file.read_text().splitlines()
    check(lines[0] == "# ours" and len(lines) == 3, lines)
    check(is_right(lines[1], "alice@plant", "other"), "the other's has changed")
    check(is_right(lines[2], "alice", "new secret"), "the password is another")
    check(not is_right(lines[2], "alice", "secret"), "the old password is still right")
    check(stat.S_IMODE(file.stat().st_mode) == 0o640, "the mode has changed")
    check("secret" not in file.read_text(), "the password is in the file")

    refuses("a password has 1 to 511 octets", "bob", text="\n")
    refuses("a password has 1 to 511 octets", "bob", text="p" * 512)
    for name in ("a:b", "#bob", "", "a@b@c", "a\nb"):
        refuses("no name of a user", name, text="secret\n")
    refuses("there is no such user", "bob", "--remove")
    refuses("there is no such user", "alic", "--remove")
    pathlib.Path(folder, "users.new").touch()
    refuses("somebody else is writing it", "bob", text="secret\n")
    os.remove(folder + "/users.new")

    check(users(file, "alice", "--remove").returncode == 0, "nobody is taken out")
    check(file.read_text().splitlines() == lines[:2], "somebody else was taken out")
    check(os.listdir(folder) == ["users"], os.listdir(folder))

sys.exit("\n".join(map(str, failures)) or 0)
