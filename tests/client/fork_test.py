#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# What the test client.fork runs.
"""31: children of a process with an ORB have their own answers, and the parent its own.

usage: fork_test.py CLIENT SERVER
"""
import subprocess
import sys

WAYS = ("inherit", "own", "thread", "exit", "destroy", "leave")
CONNECTIONS = ("non-multiplexed", "leader-followers", "active")
ENDPOINTS = ("iiop://127.0.0.1", "uiop://", "shmiop://")
SERVERS = ("thread-per-connection", "reactor", "worker-pool", "leader-followers",
           "reactor-per-priority", "thread-per-request")


def run(arguments):
    """Whether it ended with 0; prints what it said if not."""
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=100, check=False)
    if done.returncode == 0:
        return True
    shown = [argument[:40] for argument in arguments[1:]]
    print(f"{' '.join(shown)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return False


def clients(client, program, endpoint):
    server = subprocess.Popen([program, "-ORBListenEndpoints", endpoint],
                              stdout=subprocess.PIPE, text=True)
    try:
        reference = server.stdout.readline().strip()
        return all([run([client, reference, way, "-ORBConnection", connection])
                    for way in WAYS for connection in CONNECTIONS
                    if endpoint != "shmiop://" or connection == "non-multiplexed"])
    finally:
        server.kill()
        server.wait()


def main():
    client, program = sys.argv[1:]
    right = all([clients(client, program, endpoint) for endpoint in ENDPOINTS])
    served = all([run([client, "-", "serve", "-ORBConcurrency", architecture,
                       "-ORBListenEndpoints", endpoint, "-ORBCollocation", "no"])
                  for architecture in SERVERS for endpoint in ENDPOINTS])
    return not (right and served)


if __name__ == "__main__":
    sys.exit(main())
