#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# What the test access.tool runs: rules of files as the tool `kairos` takes them, and a name server
# that heeds those of examples/access.
#     tests/access/tool_test.py build/dev/bin/kairos
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

SECONDS = 60
EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples/access/naming.toml"
failures = []


def check(condition, text):
    if not condition:
        failures.append(text)
        print(f"access.tool: FAILED: {text}")


def run(*command):
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           timeout=SECONDS, check=False)
    return ended.returncode, ended.stdout


class Naming:
    """A name server at a Unix socket and at a port, that heeds a file."""

    def __init__(self, kairos, work, rules):
        self.process = subprocess.Popen(
            [kairos, "naming", "--store", work / "names", "--listen",
             f"uiop://{work}/names.socket;iiop://127.0.0.1:0", "-ORBAccess", rules],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.reference = self.process.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.said = self.process.communicate(timeout=SECONDS)[1]


def check_files(kairos, work):
    status, said = run(kairos, "access", "check", EXAMPLE)
    check(status == 0 and "4 rules; what none of them says is denied" in said, said)
    wrong = work / "wrong.toml"
    wrong.write_text('default = "no"\n[[rule]]\nwho = "me"\nalow = "*"\n')
    status, said = run(kairos, "access", "check", wrong)
    check(status == 1, f"status {status}")
    places = re.findall(r"^(.*):(\d+):\d+: error: ", said, re.M)
    check([int(line) for file, line in places if file == str(wrong)] == [1, 2, 3, 4], said)
    status, said = run(kairos, "access", "check", work / "nowhere.toml")
    check(status == 1 and "nowhere.toml: error: it cannot be read" in said, said)
    status, said = run(kairos, "access", "check")
    check(status == 2, said)
    status, said = run(kairos, "naming", "--store", work / "none", "-ORBAccess", wrong)
    check(status == 1 and f"-ORBAccess {wrong}: line 1: default is" in said, said)


def check_explanations(kairos):
    def explain(*question):
        status, said = run(kairos, "access", "explain", EXAMPLE, "--json", *question)
        check(status == 0, said)
        return json.loads(said)

    context = ("--adapter", "RootPOA/NameService")
    answer = explain("--what", "bind", "--who", "certificate:CN=name-writer", *context)
    check(answer["answer"] == "allow" and answer["looked_at"][-1]["reason"] == "matches: allowed",
          answer)
    answer = explain("--what", "bind", "--who", "address:192.0.2.1", *context)
    check(answer["answer"] == "deny" and answer["line"] is None, answer)
    check(answer["looked_at"][0]["reason"] == "who does not match", answer)
    check(explain("--what", "resolve", *context)["answer"] == "allow", "reading")
    check(explain("--what", "resolve")["answer"] == "open", "reading of some object")
    status, said = run(kairos, "access", "explain", EXAMPLE, "--what", "bind", "--who",
                       "user:root", *context)
    check(status == 0 and re.search(r"^line \d+: matches: allowed\nallow: .*naming.toml:\d+$", said,
                                    re.M), said)
    status, said = run(kairos, "access", "explain", EXAMPLE, "--what", "bind", "--who", "me")
    check(status == 2 and "'me' is nobody" in said, said)


def check_name_server(kairos, work):
    rules = work / "rules.toml"
    rules.write_text(EXAMPLE.read_text().replace("user:root", f"user:{os.getuid()}"))

    def names(*command):
        return run(kairos, "names", *command)

    with Naming(kairos, work, rules) as naming:
        root = ("--service", naming.reference)
        status, said = names("bind", "a.b", "corbaloc::127.0.0.1:1/nobody", *root)
        check(status == 0, f"who may write, by the Unix socket: {said}")
        for reader in ((), ("-ORBPreferLocal", "0")):
            status, said = names("ls", *root, *reader)
            check(status == 0 and "a.b" in said, f"reading {reader}: {said}")
            status, said = names("resolve", "a.b", *root, *reader)
            check(status == 0, f"resolving {reader}: {said}")
        status, said = names("unbind", "a.b", *root, "-ORBPreferLocal", "0")
        check(status == 1 and "NO_PERMISSION" in said, f"a stranger, by TCP: {said}")
    check('access denied: who="127.0.0.1"' in naming.said and 'operation="unbind"' in naming.said,
          naming.said)


def main():
    kairos = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        check_files(kairos, work)
        check_explanations(kairos)
        check_name_server(kairos, work)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
