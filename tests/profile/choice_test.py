#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# What `kairos-idl --profile` makes of profiles that are written here: the choices and their
# reasons, budgets, several files, what is refused. Sizes themselves are code_size_test.py's.
#
# Usage: choice_test.py PATH_OF_KAIROS_IDL

import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MALFORMED = HERE.parent.parent / "fuzz/corpus/idlc.profile/malformed"
STATION = "IDL:Profiled/Station:1.0"
PROFILE = f"""kairos-profile 1
operation client-encode 1000 400000 300000 send {STATION}
operation server-decode 1000 500000 400000 send {STATION}
operation client-encode 2 9000 4000 collect {STATION}
operation client-encode 1 700 700 _set_title {STATION}
operation client-encode 1 900 500 ask {STATION}
type encode 1000 200000 200000 IDL:Profiled/Sample:1.0
type encode 2 5000 2000 IDL:Profiled/Report:1.0
type encode 1 100 100 IDL:Profiled/Small:1.0
type encode 900 100000 100000 IDL:Profiled/Answer:1.0
"""
OPERATION = "operation Profiled::Station::"
failures = []


def check(condition, message):
    if not condition:
        failures.append(message)


class Compiler:
    def __init__(self, program, directory):
        self.program = program
        self.directory = directory
        self.runs = 0

    def run(self, *options, profiles=(PROFILE,)):
        """The finished process, and the folder it wrote to."""
        self.runs += 1
        output = self.directory / str(self.runs)
        output.mkdir()
        command = [self.program, "-o", output / "gen", *options]
        for index, text in enumerate(profiles):
            path = output / f"{index}.profile"
            path.write_text(text)
            command += ["--profile", path]
        command.append(HERE / "station.idl")
        return subprocess.run(list(map(str, command)), text=True, capture_output=True,
                              check=False), output

    def choices(self, *options, profiles=(PROFILE,)):
        """By name: calls, own time, sizes, choice and why."""
        result, _ = self.run(*options, profiles=profiles)
        check(result.returncode == 0, result.stderr)
        lines = result.stdout.splitlines()[2:]
        return {fields[0]: fields[1:] for fields in
                (re.split(r"  +", line.strip()) for line in lines)}


def choice_of(rows, name):
    return tuple(rows[name][-2:]) if name in rows else None


def without_budget(compiler):
    expected = {
        OPERATION + "send": ("compiled", "hot"),
        "struct Profiled::Sample": ("compiled", "hot"),
        OPERATION + "collect": ("interpretive", "cold"),
        "struct Profiled::Report": ("interpretive", "cold"),
        OPERATION + "_set_title": ("interpretive", "cold"),
        OPERATION + "_get_title": ("interpretive", "not in the profile"),
        OPERATION + "idle": ("interpretive", "not in the profile"),
        "struct Profiled::Unused": ("interpretive", "not in the profile"),
        "struct Profiled::Place": ("data", "fixed layout"),
        "struct Profiled::Small": ("interpretive", "annotated"),
        "struct Profiled::Fast": ("compiled", "annotated"),
        "union Profiled::Answer": ("compiled", "always compiled"),
        "exception Profiled::Refused": ("compiled", "always compiled"),
        "valuetype Profiled::Note": ("compiled", "always compiled"),
        OPERATION + "ask": ("compiled", "always compiled"),
    }
    rows = compiler.choices()
    for name, choice in expected.items():
        check(choice_of(rows, name) == choice, f"{name}: {rows.get(name)}, not {choice}")
    check(rows[OPERATION + "send"][:3] == ["2000", "0.900", "0.700"], rows[OPERATION + "send"])
    check(list(rows)[0] == OPERATION + "send", f"not sorted by time: {list(rows)}")


def bytes_in(result):
    return [int(number) for number in re.findall(r"\d+", result.stdout.splitlines()[0].
                                                  split(".idl: ")[1])]


def with_budget(compiler):
    result, _ = compiler.run("--code-budget", "100000")
    used, budget, most, least = bytes_in(result)
    check(budget == 100000 and least < used <= most, result.stdout)
    rows = compiler.choices("--code-budget", "100000")
    check(choice_of(rows, OPERATION + "collect") == ("compiled", "hot"), "a budget that is left")
    check(choice_of(rows, OPERATION + "idle") == ("interpretive", "not in the profile"), "idle")

    chosen = []
    for budget in range(least, most + 500, 500):
        result, _ = compiler.run("--code-budget", budget)
        check(bytes_in(result)[0] <= budget, f"over a budget of {budget}: {result.stdout}")
        chosen.append(result.stdout.count("  hot\n"))
    check(chosen[0] < chosen[-1], f"hot for growing budgets: {chosen}")
    rows = compiler.choices("--code-budget", least)
    check(choice_of(rows, OPERATION + "collect") == ("interpretive", "over budget"), "too large")

    result, _ = compiler.run("--code-budget", "10")
    check(re.search(r"station\.idl: warning: about \d+ bytes are needed at least; the budget is "
                    r"10\n", result.stderr) and result.returncode == 0, result.stderr)


def follows_the_table(compiler):
    """The code is what the table says, the same each time, and made again for a new profile."""
    texts = []
    for _ in range(2):
        result, output = compiler.run("--depfile", compiler.directory / "depfile")
        sources = "".join(path.read_text() for path in sorted((output / "gen").iterdir()))
        texts.append((result.stdout, sources))
        rule = (compiler.directory / "depfile").read_text()
        check(str(output / "0.profile") in rule, f"depfile: {rule}")
    check(texts[0] == texts[1], "two runs differ")
    text = texts[0][1]
    for name, interpreted in (("send_op", False), ("collect_op", True), ("title_setter", True),
                              ("idle_op", True), ("ask_op", False)):
        check((f"{name}_signature" in text) == interpreted, f"{name}: interpreted {interpreted}")
    for name, interpreted in (("Sample", False), ("Report", True), ("Small", True),
                              ("Fast", False)):
        check((f"TableOf<::Profiled::{name}>::table = " in text) == interpreted, name)


def several_files(compiler):
    parts = ["kairos-profile 1\n" + line + "\n" for line in PROFILE.splitlines()[1:]]
    whole = compiler.choices()
    check(compiler.choices(profiles=parts) == whole, "parts")
    check(compiler.choices(profiles=reversed(parts)) == whole, "parts in another order")
    check(compiler.choices(profiles=["".join(parts)]) == whole, "joined parts")
    twice = compiler.choices(profiles=[PROFILE, PROFILE])
    check(twice[OPERATION + "send"][0] == "4000", f"not added up: {twice[OPERATION + 'send']}")
    check({name: choice_of(twice, name) for name in twice} ==
          {name: choice_of(whole, name) for name in whole}, "the same twice is chosen otherwise")


def unknown_entries(compiler):
    result, _ = compiler.run(profiles=[PROFILE + "type encode 1 2 3 IDL:Other:1.0\n" +
                                       f"operation client-encode 1 2 3 gone {STATION}\n"])
    check("station.idl: note: 2 entries of the profile name nothing in it\n" in result.stderr,
          result.stderr)
    result, _ = compiler.run(profiles=["kairos-profile 1\n"])
    check(result.returncode == 0 and result.stderr == "", f"an empty profile: {result.stderr}")
    check("  hot\n" not in result.stdout, result.stdout)


def refused(compiler):
    for options in (("--marshal=compiled",), ("--instrument",), ("--code-budget", "-1"),
                    ("--code-budget", "many")):
        result, output = compiler.run(*options)
        check(result.returncode == 2 and not (output / "gen").exists(), f"{options}: accepted")
    for options in (("--code-budget", "100"), ("--instrument", "--marshal=interpretive")):
        result, _ = compiler.run(*options, profiles=())
        check(result.returncode == 2, f"{options}: accepted")
    result, output = compiler.run("--profile", compiler.directory / "nowhere")
    check(result.returncode == 1 and "nowhere: error: cannot read the profile: No such file or "
          "directory" in result.stderr, result.stderr)


def malformed(compiler):
    expected = {"": "1:1: error: expected 'kairos-profile 1': this is not a profile",
                "\x7fELF": "1:1: error: expected 'kairos-profile 1': this is not a profile",
                "kairos-profile 2\n": "1:16: error: expected version 1: this compiler knows no "
                                      "other"}
    for text, message in expected.items():
        result, output = compiler.run(profiles=[text])
        check(result.returncode == 1 and f"0.profile:{message}\n" in result.stderr, result.stderr)
        check(not (output / "gen").exists(), "written after an error")
    result, _ = compiler.run(profiles=[MALFORMED.read_text()])
    for message in ("2:1: error: expected type or operation\n",
                    "3:5: error: expected encode or decode\n    3 | type\n      |     ^\n",
                    "6:17: error: expected nanoseconds of its own\n"
                    "    6 | type encode 1 2 99999999999999999999 x\n"
                    "      |                 ^~~~~~~~~~~~~~~~~~~~\n",
                    "7:31: error: expected an operation's name and a repository id\n",
                    "8:11: error: expected client-encode, client-decode, server-decode or "
                    "server-encode\n"):
        check(f"0.profile:{message}" in result.stderr, f"{message} is not in {result.stderr}")


def main():
    with tempfile.TemporaryDirectory() as temporary:
        compiler = Compiler(str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(temporary))
        for test in (without_budget, with_budget, follows_the_table, several_files,
                     unknown_entries, refused, malformed):
            test(compiler)
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
