#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# What the test client.late runs.
"""30: calls at the end of a program: they work as long as the ORB lives. Servers that nobody ends
serve no more when static objects go.

usage: late_test.py CLIENT SERVER
"""
import subprocess
import sys
import tempfile

MAIN = "main: Hello, main!"
ANSWERED = [MAIN, "atexit: Hello, atexit!", "static: Hello, static!"]
REFUSED = [MAIN, "atexit: BAD_INV_ORDER 4", "static: BAD_INV_ORDER 4"]
EXPECTED = {
    "keep": ANSWERED,
    "exit": ANSWERED,
    "none": ANSWERED,  # the last ORB_var was main's, but the references live
    "destroy": REFUSED,
    "thread": [MAIN, "before: Hello, before!", "thread: Hello, thread!"],
}
SERVED = ("served", "served-static")
CONNECTIONS = ("non-multiplexed", "leader-followers", "active")


def main():
    client, program = sys.argv[1:]
    failed = False
    server = subprocess.Popen([program, "-ORBListenEndpoints", "iiop://127.0.0.1"],
                              stdout=subprocess.PIPE, text=True)
    try:
        reference = server.stdout.readline().strip()
        for connection in CONNECTIONS:
            for how, expected in EXPECTED.items():
                done = subprocess.run([client, reference, how, "-ORBConnection", connection],
                                      capture_output=True, text=True, timeout=60, check=False)
                if done.returncode != 0 or done.stdout.splitlines() != expected:
                    print(f"{connection}, {how}: exit status {done.returncode}\n"
                          f"{done.stdout}{done.stderr}expected {expected}")
                    failed = True
    finally:
        server.kill()
        server.wait()
    for how in SERVED:
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([client, f"{folder}/socket", how], capture_output=True,
                                  text=True, timeout=60, check=False)
        if done.returncode != 0 or done.stdout != "not served\n":
            print(f"{how}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
            failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
