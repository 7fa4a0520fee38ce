#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# That manual pages and completions are as their readers and bash want them, and say what --help
# says. Arguments: the folders that packaging/manual.py has written to, and the programs.
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

FOLDERS = None
COMPLETE = """
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
COMP_LINE=$LINE
COMP_POINT=${#LINE}
complete -p "$1" >/dev/null || exit 1
function=$(complete -p "$1" | sed 's/.*-F \\([^ ]*\\).*/\\1/')
"$function"
printf '%s\\n' "${COMPREPLY[@]}"
"""


def output(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def completed(line, environment=None):
    """What bash makes of a line whose last word is begun; = and : are words of their own."""
    words = [word for part in line.split(" ") for word in re.split("([=:])", part)]
    while len(words) > 1 and words[-1] == "" and words[-2] in "=:":
        words.pop()
    script = str(FOLDERS.completions / words[0])
    found = output("bash", "--norc", "-c", COMPLETE, "bash", script, *words,
                   env=(environment or os.environ) | {"LINE": line}).splitlines()
    return [word for word in found if word]


class Pages(unittest.TestCase):
    def page(self, name):
        environment = os.environ | {"MANWIDTH": "5000", "LC_ALL": "C.UTF-8", "MANROFFOPT": "-c"}
        done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-P", "cat", "-l",
                               str(FOLDERS.man / f"{name}.1.gz")], check=True,
                              capture_output=True, text=True, env=environment)
        self.assertEqual(done.stderr, "", name)
        return re.sub(".\b", "", done.stdout)

    def test_every_option_and_its_text_is_on_the_page(self):
        for program in FOLDERS.programs:
            name = pathlib.Path(program).name
            model = output(program, "--help")
            commands = re.findall(r"^  (\w+) ", model.partition("Subcommands:")[2], re.MULTILINE)
            for command in [[]] + [[command] for command in commands]:
                page = " ".join(self.page("-".join([name] + command)).split())
                text = output(program, *command, "--help")
                for option in re.findall(r"^  (?:-\w,)?(--[\w-]+)", text, re.MULTILINE):
                    self.assertIn(option, page, command)
                for line in re.findall(r"^ {30}(\S.*)$", text, re.MULTILINE):
                    self.assertIn(" ".join(line.rstrip(".").split()), page, command)

    def test_sections_of_the_tool(self):
        page = self.page("kairos")
        for title in ("NAME", "SYNOPSIS", "COMMANDS", "OPTIONS", "EXIT STATUS", "SEE ALSO"):
            self.assertRegex(page, f"(?m)^{title}$")
        self.assertRegex(page, r"kairos - The command-line tool of the Kairos ORB\n")
        self.assertRegex(page, r"kairos ior\s+Print an object reference readably; see kairos-ior")

    def test_commands_of_commands_are_on_their_page(self):
        page = self.page("kairos-names")
        self.assertIn("kairos names bind [OPTION]… name reference", page)
        self.assertRegex(page, r"KAIROS_NAME_SERVICE unless given")


class Completion(unittest.TestCase):
    def test_commands(self):
        self.assertEqual(completed("kairos na"), ["naming", "names"])
        self.assertEqual(completed("kairos names re"), ["resolve", "rebind"])
        self.assertIn("latency", completed("kairos bench "))

    def test_options_of_the_command(self):
        self.assertEqual(completed("kairos bench --"), ["--help"])
        self.assertEqual(completed("kairos bench latency --p"), ["--peers", "--pin", "--plot",
                                                                 "--programs"])
        self.assertEqual(completed("kairos-idl --m"), ["--marshal"])

    def test_options_of_the_command_above_where_they_may_stand(self):
        self.assertEqual(completed("kairos names ls --js"), ["--json"])
        self.assertEqual(completed("kairos bench latency --version"), [])

    def test_choices(self):
        for line in ("kairos bench latency --pin s", "kairos bench latency --pin=s"):
            self.assertEqual(completed(line), ["same", "split"])
        self.assertEqual(completed("kairos-idl --marshal="), ["compiled", "interpretive"])
        self.assertEqual(completed("kairos-idl --marshal i"), ["interpretive"])

    def test_values_that_nobody_knows(self):
        self.assertEqual(completed("kairos bench latency --calls "), [])
        self.assertEqual(completed("kairos bench latency --calls 5 --quick --calls -"), [])

    def test_operations_are_asked_for(self):
        with tempfile.TemporaryDirectory() as folder:
            # A tool that says what the real one does for an object, with names of a hostile one.
            tool = pathlib.Path(folder, "kairos")
            tool.write_text("""#!/bin/sh
echo "$@" >"$0.asked"
echo "Test::Echo:"
echo "  string echo(in string text) raises(Test::Bad, Test::Worse)"
echo "  oneway void enlist(in long a, inout sequence<long, 3> b)"
echo "  readonly attribute long count raises(Test::Bad)"
echo "  attribute string _interface"
echo '  void $(touch "$0.done")()'
echo '  void `touch "$0.done"`'
""")
            tool.chmod(0o755)
            environment = os.environ | {"PATH": folder + ":" + os.environ["PATH"]}
            asked = pathlib.Path(folder, "kairos.asked")
            reference = "corbaloc::localhost:7/Echo"
            self.assertEqual(completed(f"kairos call {reference} e", environment),
                             ["echo", "enlist"])
            self.assertEqual(asked.read_text(), f"call {reference}\n")
            self.assertEqual(completed(f"kairos call --idl a.idl {reference} ", environment),
                             ["echo", "enlist", "count", "interface"])
            self.assertEqual(asked.read_text(), f"call --idl a.idl {reference}\n")
            self.assertEqual(completed(f"kairos call -ORBInitRef A=b --json {reference} i",
                                       environment), ["interface"])
            asked.unlink()
            inner = pathlib.Path(folder, "inner.ior")
            inner.touch()
            for line in (f"kairos call {folder}/in", f"kairos call {reference} echo {folder}/in"):
                self.assertEqual(completed(line, environment), [str(inner)])
            self.assertFalse(asked.exists())
            self.assertEqual(list(pathlib.Path(folder).glob("*.done")), [])

    def test_files_and_folders(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "two words.idl")
            file.touch()
            pathlib.Path(folder, "inner").mkdir()
            where = folder + "/"
            self.assertEqual(completed(f"kairos-idl {where}in"), [where + "inner"])
            self.assertEqual(completed(f"kairos-idl -I {where}"), [where + "inner"])
            self.assertEqual(completed(f"kairos sched {where}tw"), [str(file)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--man", required=True, type=pathlib.Path)
    parser.add_argument("--completions", required=True, type=pathlib.Path)
    parser.add_argument("programs", nargs="+")
    FOLDERS = parser.parse_args()
    unittest.main(argv=sys.argv[:1])
