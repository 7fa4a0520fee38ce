#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# The test `options_page`: docs/options.md has a row for every option that the ORB knows, and for no
# other. What it knows is the table in kairos/orb/options.cpp.
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CODE = "kairos/orb/options.cpp"
PAGE = "docs/options.md"
OPTION = r"-ORB\w+"


def known(code):
    """The options of the table known_options."""
    table = re.search(r"\bknown_options\[\] = \{(.*?)\n\};", code, re.DOTALL)
    return set(re.findall(rf'\{{"({OPTION})"', table[1])) if table else set()


def listed(page):
    """The options that rows begin with, and other spellings: those that are "the same"."""
    rows = re.findall(rf"^\| `({OPTION})[^|]*", page, re.MULTILINE)
    spellings = re.findall(rf"`({OPTION})`[^.|]*\bis the same\b", page)
    spellings += re.findall(rf"`({OPTION})`, as omniORB spells it, is the same\b", page)
    return rows, set(spellings)


def compare(code, page):
    """What is wrong, a line each."""
    options = known(code)
    rows, spellings = listed(page)
    if not options:
        yield f"{CODE}: there is no table known_options with options"
    for option in sorted(options - set(rows) - spellings):
        yield f"{PAGE}: {option} is missing"
    for option in sorted((set(rows) | spellings) - options):
        yield f"{PAGE}: the ORB knows no {option}"
    for option in sorted({row for row in rows if rows.count(row) > 1}):
        yield f"{PAGE}: {option} has two rows"


def main():
    findings = list(compare((ROOT / CODE).read_text(), (ROOT / PAGE).read_text()))
    print("\n".join(findings) if findings else f"{PAGE}: has every option")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
