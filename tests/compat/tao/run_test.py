#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# What the tests compat.tao.* run.
"""A server and a client that are written as programs for TAO are, with TAO's options.

usage: run_test.py CLIENT SERVER
"""
import os
import subprocess
import sys
import tempfile

EXPECTED = """\
string <Hello there!>
EXCEPTION, expected
user exception, ID 'IDL:Test/Refused:1.0'
user exception, ID 'IDL:Test/Refused:1.0'
EXCEPTION, expected
system exception, ID 'IDL:omg.org/CORBA/NO_PERMISSION:1.0': CORBA::NO_PERMISSION
system exception, ID 'IDL:omg.org/CORBA/NO_PERMISSION:1.0': CORBA::NO_PERMISSION
3 word
policy 1
minor 268 kind 18 IDL:Test/Point:1.0
profiles 2 of which 1
same 1
no groups
left 0
"""


def talk(client, server, server_options, client_options, by_name):
    """What the client said, the server's status and what it said on standard error."""
    with subprocess.Popen([server, *server_options], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        try:
            reference = process.stdout.readline().strip()
            if by_name is not None:
                reference = by_name
            done = subprocess.run([client, reference, *client_options], capture_output=True,
                                  text=True, timeout=60, check=False)
            if done.returncode != 0:
                process.kill()
                return done.stdout + done.stderr, process.wait(), ""
            error = process.stderr.read()
            return done.stdout, process.wait(timeout=60), error
        finally:
            process.kill()


def lines_match(said):
    """Reasons of the ORB's may follow the name of a system exception."""
    got, expected = said.splitlines(), EXPECTED.splitlines()
    return len(got) == len(expected) and all(
        a.startswith(b) for a, b in zip(got, expected))


def main():
    client, server = sys.argv[1:]
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        conf = os.path.join(folder, "svc.conf")
        log = os.path.join(folder, "log")
        with open(conf, "w", encoding="utf-8") as out:
            out.write('static Resource_Factory "-ORBReactorType select"\n'
                      'static Client_Strategy_Factory "-ORBTransportMuxStrategy EXCLUSIVE"\n'
                      'dynamic X Service_Object * x:_make_X() ""\n')
        path = os.path.join(folder, "socket")
        cases = [
            (["-ORBEndpoint", "iiop://1.2@127.0.0.1"], [], None),
            (["-orbLISTENendpoints", "iiop://127.0.0.1/reuse_addr=1;uiop://" + path,
              "-ORBDottedDecimalAddresses", "1", "-ORBObjRefStyle", "IOR"],
             ["-ORBSvcConf", conf, "-ORBDebugLevel", "2", "-ORBLogFile", log], None),
            (["-ORBEndpoint", "iiop://127.0.0.1", "-ORBDebugLevel", "1"], ["-ORBGestalt", "LOCAL"],
             None),
        ]
        for server_options, client_options, by_name in cases:
            said, status, error = talk(client, server, server_options, client_options, by_name)
            if not lines_match(said) or status != 0:
                print(f"{server_options} {client_options}: status {status}\n{said}{error}")
                failed = True
            if "-ORBDebugLevel" in server_options and "debug level 1" not in error:
                print(f"no debug level: {error}")
                failed = True
        with open(log, encoding="utf-8") as text:
            lines = text.read()
        if "-ORBReactorType select" not in lines or "dynamic X" not in lines:
            print(f"ignored options are not named: {lines}")
            failed = True
    for refused in (["-ORBDaemon"], ["-ORBObjRefStyle", "URL"], ["-ORBEndpoint", "diop://h:1"]):
        done = subprocess.run([server, *refused], capture_output=True, text=True, timeout=60,
                              check=False)
        if done.returncode != 1 or "BAD_PARAM" not in done.stdout:
            print(f"{refused}: {done.returncode} {done.stdout}{done.stderr}")
            failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
