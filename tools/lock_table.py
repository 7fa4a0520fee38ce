#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Which locks there are: docs/locks.md, made of the comments beside the mutexes of kairos/, and the
# test `lock_table`, which compares the two. Such a comment stands on the line of the declaration,
# or in front of it, and says what the mutex guards and then, behind semicolons, what holds of it:
#     std::mutex mutex_; // guards what follows; inside Adapters'; not held while calling out
# tools/tidy.py refuses a mutex without one.
#     tools/lock_table.py [--update]
import argparse
import dataclasses
import difflib
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = "docs/locks.md"
OPENING = """# Locks and what they guard

Made of the comments beside the mutexes by `tools/lock_table.py --update`; the test `lock_table`
compares. A mutex that is *inside* another is taken while that one may be held, never the other way
round; *outside* is the reverse. Where no nesting is said, there is none. Rules for all of them are
in [architecture](architecture.md), "Concurrency rules"; functions that must be called with a mutex
held, or without it, say so by `assert_held` and `assert_not_held` (`kairos/base/assert_held.h`).
"""

TOKEN = re.compile(
    r'R"(?P<mark>[^()\\\s]{0,16})\((?s:.*?)\)(?P=mark)"|//[^\n]*|/\*(?s:.*?)\*/'
    r'|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'')
DECLARATION = re.compile(
    r"^[ \t]*(?:(?:static|mutable|inline|constinit)\s+)*"
    r"(?:std::(?:shared_|recursive_|timed_)*mutex|(?:net::)?PriorityMutex|PriorityWord|TimedMutex)"
    r"\s+"
    r"(\w+)\s*(?:\{\})?;", re.MULTILINE)
SCOPE = re.compile(r"\b(?:class|struct)\s+(?:alignas\([^()]*\)\s*)?(?:[A-Z_]+\s+)?([\w:]+)"
                   r"[^;{}()]*$")
FUNCTION = re.compile(r"([\w:~]+)\s*\([^{};]*$")


@dataclasses.dataclass(frozen=True)
class Mutex:
    path: str
    line: int
    name: str      # "Class::member_"
    guards: str    # empty: nothing is said
    rules: str
    follows: tuple  # names of what follows


def code_of(text):
    """The text with blanks for comments and strings, all in its place."""
    return TOKEN.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def scopes_of(code, position):
    """The classes and functions around a position, the outermost first."""
    scopes = []
    start = 0
    for at, mark in ((match.start(), match[0]) for match in re.finditer(r"[{};]", code)):
        if at >= position:
            break
        if mark == "{":
            before = code[start:at]
            named = SCOPE.search(before) or FUNCTION.search(before)
            scopes.append(named[1] if named and "namespace" not in before else "")
        elif mark == "}" and scopes:
            scopes.pop()
        start = at + 1
    return [scope for scope in scopes if scope]


def comment_at(lines, number):
    """What is said of the declaration in a line: behind it, in lines that go on, or above it."""
    trailing = re.search(r"//+<?\s*(.*)$", lines[number])
    if trailing:
        column = lines[number].index("//")
        said = [trailing[1]]
        for line in lines[number + 1:]:
            more = re.match(r"\s*//+<?\s*(.*)$", line)
            if not more or line.index("//") != column:
                break
            said.append(more[1])
        return " ".join(said)
    said = []
    for line in reversed(lines[:number]):
        more = re.match(r"\s*///?\s*(.*)$", line)
        if not more:
            break
        said.insert(0, more[1])
    return " ".join(said)


def followers(code):
    """The members that are declared in `code`, which begins behind a mutex, up to the next mutex or
    the end of its class."""
    names = []
    depth = 0
    statement = ""
    for mark in code:
        if mark == "{":
            depth += 1
        elif mark == "}":
            depth -= 1
            if depth < 0:
                break
        elif depth == 0 and mark == ";":
            if DECLARATION.match(statement.lstrip("\n") + ";"):
                break
            words = re.sub(r"\b(?:private|public|protected):", "", statement).split("=")[0].strip()
            named = re.search(r"\b(\w+)(?:\[[^\]]*\])?$", words)
            if named and not re.match(r"(?:using|friend|static|struct|class|enum)\b", words) \
                    and "condition_variable" not in words and not words.endswith(")"):
                names.append(named[1])
            statement = ""
        elif depth == 0:
            statement += mark
    return tuple(names)


def mutexes(path, text):
    """Every mutex that a file declares."""
    code = code_of(text)
    lines = text.splitlines()
    for match in DECLARATION.finditer(code):
        number = code.count("\n", 0, match.start(1))
        said = comment_at(lines, number)
        form = re.fullmatch(r"guards ([^;]+?)(?:; (.+?))?\.?", said)
        guards, rules = (form[1], form[2] or "") if form else ("", "")
        follows = ()
        if "what follows" in guards:
            follows = followers(code[match.end():])
        yield Mutex(path, number + 1, "::".join(scopes_of(code, match.start()) + [match[1]]),
                    guards, rules, follows)


def is_product(path):
    return path.startswith("kairos/") and path.endswith((".h", ".cpp")) \
        and not re.search(r"_(?:test|testing|bench|fuzz)\.\w+$", path)


def page_of(files):
    """The page, of pairs of path and text."""
    text = OPENING
    folder = None
    for path, content in sorted(files, key=lambda file: file[0].rpartition("/")):
        for mutex in mutexes(path, content):
            here = mutex.path.rsplit("/", 1)[0]
            if here != folder:
                text += f"\n## {here}\n\n| mutex | guards | and | file |\n|---|---|---|---|\n"
                folder = here
            guards = mutex.guards
            if mutex.follows:
                guards += " (" + ", ".join(f"`{name}`" for name in mutex.follows) + ")"
            text += (f"| `{mutex.name}` | {guards} | {mutex.rules} | "
                     f"`{mutex.path.rsplit('/', 1)[1]}` |\n")
    return text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--update", action="store_true", help="write the page anew")
    arguments = parser.parse_args()
    names = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "kairos").rglob("*.*"))
    made = page_of((name, (ROOT / name).read_text()) for name in names if is_product(name))
    page = ROOT / PAGE
    if arguments.update:
        page.write_text(made)
    wrong = list(difflib.unified_diff(page.read_text().splitlines(), made.splitlines(), PAGE,
                                      "tools/lock_table.py", lineterm=""))
    print("\n".join(wrong) if wrong else f"{PAGE}: is what the mutexes say")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
