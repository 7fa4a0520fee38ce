#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# event_loops_test.py CLIENT SERVER… runs examples/eventloop: in each server's loop a timer ticks
# and a client's calls are served. A server that was not built, for want of its library, is named;
# where everything must be there (CI), that is a failure.
import os
import signal
import subprocess
import sys

client, *servers = sys.argv[1:]
failed = False
missing = []
for program in servers:
    if not os.path.exists(program):
        missing.append(program.rpartition("/")[2])
        continue
    server = subprocess.Popen([program, "-ORBListenEndpoints", "iiop://127.0.0.1"],
                              stdout=subprocess.PIPE, text=True)
    try:
        reference = server.stdout.readline().strip()
        called = subprocess.run([client, reference], capture_output=True, text=True, timeout=60,
                                check=False)
        server.send_signal(signal.SIGTERM)
        ended = server.wait(timeout=60)
    finally:
        server.kill()
        server.wait()
    if ended != 0 or called.stdout != "ticking\n":
        print(f"{program}: exit status {ended}\n{called.stdout}{called.stderr}")
        failed = True
if missing:
    print("not built: " + ", ".join(missing))
    failed = failed or os.environ.get("CI") == "true"
sys.exit(failed)
