#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# The README quotes files of examples/: a comment `<!-- path -->` and a fenced block below it. With
# --write the blocks are filled; without, a block that differs from its file is an error. The
# comment at a file's head (licence and purpose) is not quoted.
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(<!-- (?P<path>\S+) -->\n```\w+\n)(?P<text>.*?)(```\n)", re.DOTALL)


def quoted(path):
    lines = (ROOT / path).read_text().splitlines(keepends=True)
    while lines and (lines[0].startswith(("//", "#")) and "include" not in lines[0]
                     or not lines[0].strip()):
        lines.pop(0)
    return "".join(lines)


def main():
    readme = ROOT / "README.md"
    text = readme.read_text()
    filled = BLOCK.sub(lambda m: m[1] + quoted(m["path"]) + m[4], text)
    if "--write" in sys.argv:
        readme.write_text(filled)
        return 0
    for block in BLOCK.finditer(text):
        if block["text"] != quoted(block["path"]):
            print(f"README.md: the block of {block['path']} differs: run tools/readme.py --write")
    return 0 if filled == text and BLOCK.search(text) else 1


if __name__ == "__main__":
    sys.exit(main())
