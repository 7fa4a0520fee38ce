#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# The test `options_page`: docs/options.md is what the tool prints of kairos/orb/option_list.h, and
# the pages that it links to are there.
#     tools/options_page.py build/dev/bin/kairos [--update]
import argparse
import difflib
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = "docs/options.md"


def findings(page, printed, exists):
    """What is wrong, a line each."""
    yield from difflib.unified_diff(page.splitlines(), printed.splitlines(), PAGE,
                                    "kairos options --markdown", lineterm="")
    for link in sorted(set(re.findall(r"\]\(([^)#]+)", printed))):
        if not exists(link):
            yield f"kairos/orb/option_list.h: there is no page docs/{link}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kairos", help="the tool")
    parser.add_argument("--update", action="store_true", help="write the page anew")
    arguments = parser.parse_args()
    printed = subprocess.run([arguments.kairos, "options", "--markdown"], check=True,
                             stdout=subprocess.PIPE).stdout.decode()
    page = ROOT / PAGE
    if arguments.update:
        page.write_text(printed)
    wrong = list(findings(page.read_text(), printed, lambda name: (ROOT / "docs" / name).exists()))
    print("\n".join(wrong) if wrong else f"{PAGE}: is what the tool prints")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
