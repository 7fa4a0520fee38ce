#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# From an instrumented program to one that is compiled by its profile: what the runs measured, and
# that plain, instrumented and profiled code send the same bytes. And how -ORBProfileTypes ends.
#
# Usage: round_trip_test.py PLAIN INSTRUMENTED PROFILED SERVER_PROFILE CLIENT_PROFILE

import pathlib
import sys
import tempfile

from measure import CALLS, client, messages, server

STATION = "IDL:Profiled/Station:1.0"
failures = []


def check(condition, message):
    if not condition:
        failures.append(message)


def entries(path):
    """The calls of each line, by what is before and behind the figures."""
    lines = pathlib.Path(path).read_text().splitlines()
    check(lines[0] == "kairos-profile 1", f"{path}: {lines[0]}")
    found = {}
    for line in lines[1:]:
        kind, function, calls, total, own, name = line.split(" ", 5)
        check(int(own) <= int(total), f"{path}: {line}")
        found[f"{kind} {function} {name}"] = int(calls)
    return found


def measured(server_profile, client_profile):
    """How often is known beforehand; how long is not."""
    expected = {
        client_profile: {
            f"operation client-encode send {STATION}": CALLS,
            f"operation client-decode send {STATION}": CALLS,
            f"operation client-encode _set_title {STATION}": 1,
            f"operation client-encode hint {STATION}": 1,
            f"operation client-encode collect {STATION}": 2,
            # The refused call has nothing to decode but its exception.
            f"operation client-decode collect {STATION}": 1,
            "type encode IDL:Profiled/Sample:1.0": CALLS + 3 + 1,
            "type decode IDL:Profiled/Refused:1.0": 1,
            "type decode IDL:Profiled/Answer:1.0": 1,
            "type encode IDL:Profiled/Note:1.0": 1,
            "type encode IDL:Profiled/Small:1.0": 1,
        },
        server_profile: {
            f"operation server-decode send {STATION}": CALLS,
            f"operation server-encode send {STATION}": CALLS,
            f"operation server-decode ask {STATION}": 1,
            f"operation server-encode collect {STATION}": 1,
            "type encode IDL:Profiled/Report:1.0": 1,
            "type encode IDL:Profiled/Refused:1.0": 1,
            "type decode IDL:Profiled/Sample:1.0": CALLS + 3 + 1,
        },
    }
    for path, lines in expected.items():
        found = entries(path)
        for name, calls in lines.items():
            check(found.get(name) == calls, f"{path}: {name}: {found.get(name)}, not {calls}")
        check(not any("idle" in name or "Place" in name for name in found), f"{path}: {found}")


def same_messages(plain, *others):
    sent, answered = messages(plain)
    check(sent.count(b"GIOP") == 3 + 6 and answered.count(b"GIOP") >= 3 + 5, "messages are missing")
    for program in others:
        check(messages(program) == (sent, answered), f"{program} sends other bytes")


def ends(plain, instrumented, directory):
    """Without instrumented code, without destroying the ORB, without a file."""
    with server(instrumented) as (port, key):
        path = directory / "plain"
        result = client(plain, port, key, "-ORBProfileTypes", path, calls=1)
        check(result.stderr.count("\n") == 1 and "ORBProfileTypes: nothing w" in result.stderr and
              "kairos-idl --instrument" in result.stderr, f"plain: {result.stderr}")
        # Shared libraries bring the probes' writer along.
        check(not path.exists() or entries(path) == {}, "a profile of plain code")
        path = directory / "left"
        result = client(instrumented, port, key, "-ORBProfileTypes", path, calls=5, command="leave")
        check(result.returncode == 0, result.stderr)
        check(entries(path)[f"operation client-encode send {STATION}"] == 5, path.read_text())
        result = client(instrumented, port, key, "-ORBProfileTypes", directory / "no" / "file")
        check(result.returncode == 1 and "-ORBProfileTypes: cannot write" in result.stderr and
              "No such file or directory" in result.stderr, result.stderr)


def main():
    plain, instrumented, profiled, server_profile, client_profile = sys.argv[1:]
    measured(server_profile, client_profile)
    same_messages(plain, instrumented, profiled)
    with tempfile.TemporaryDirectory() as temporary:
        ends(plain, instrumented, pathlib.Path(temporary))
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
