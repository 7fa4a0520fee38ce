#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Runs the example of TLS with certificates of `kairos certs`.
"""usage: example_test.py KAIROS TLS_PRESS"""
import subprocess
import sys
import tempfile

EXPECTED = "stopped for CN=client\nrefused\n"

kairos, program = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    keys = folder + "/keys"
    subprocess.run([kairos, "certs", keys], stdout=subprocess.DEVNULL, timeout=60, check=True)
    ended = subprocess.run([program, keys], capture_output=True, text=True, timeout=60,
                           check=False)
if ended.returncode != 0 or ended.stdout != EXPECTED:
    sys.exit(f"exit status {ended.returncode}\n{ended.stdout}{ended.stderr}")
