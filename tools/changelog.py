#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Gathers the fragments of changelog.d/ into CHANGELOG.md, under the version of CMakeLists.txt, and
# removes them. A version that is there already gets what is new: until it is released that may be
# done any number of times. tools/changelog_test.py tests it.
"""usage: changelog.py [--check | --released] [--date YYYY-MM-DD] [--root DIR]

--check only says what is wrong with fragments; --released, whether there is anything left to gather
for the version of this tree. Both change nothing.
"""
import argparse
import datetime
import pathlib
import re
import sys
import textwrap

SECTIONS = ("added", "changed", "fixed", "removed", "security")
COLUMNS = 100
HEAD = """# Changes

What users notice, by version. `changelog.d/` has what no version has yet.
"""
VERSION = re.compile(r"^project\(\w+\s+VERSION\s+(\d+\.\d+\.\d+)", re.MULTILINE)


def version_of(root):
    found = VERSION.search((root / "CMakeLists.txt").read_text())
    if not found:
        raise ValueError("CMakeLists.txt: project() has no VERSION")
    return found[1]


def fragments_of(root):
    """Every file of changelog.d/ but its README."""
    folder = root / "changelog.d"
    return sorted(path for path in folder.rglob("*")
                  if path.is_file() and path.relative_to(folder).as_posix() != "README.md")


def mistakes(root):
    """What is wrong with fragments, a line each."""
    for path in fragments_of(root):
        name = path.relative_to(root).as_posix()
        section = path.parent.name
        if len(path.relative_to(root).parts) != 3 or section not in SECTIONS:
            yield f"{name}: lies in none of {', '.join(SECTIONS)}"
        elif path.suffix != ".md":
            yield f"{name}: is no .md"
        elif not path.read_text().strip():
            yield f"{name}: says nothing"
        elif re.search(r"^#", path.read_text(), re.MULTILINE):
            yield f"{name}: has a heading; a fragment is a paragraph, or a list"


def items_of(text):
    """The items of a fragment, in one line each: a paragraph, or a list with '-'."""
    items = []
    for line in text.strip().splitlines():
        if line.startswith("- ") or not items:
            items.append(line.removeprefix("- ").strip())
        else:
            items[-1] += " " + line.strip()
    return [re.sub(r"\s+", " ", item).strip() for item in items]


def written(items):
    return "".join(textwrap.fill(item, COLUMNS, initial_indent="- ", subsequent_indent="  ",
                                 break_long_words=False, break_on_hyphens=False) + "\n"
                   for item in items)


def parse_sections(body):
    """The items by section of what stands under the heading of a version."""
    parts = re.split(r"^### (\w+)\n", body, flags=re.MULTILINE)
    return {name.lower(): re.findall(r"^- (.*?)(?=^- |\Z)", text, re.DOTALL | re.MULTILINE)
            for name, text in zip(parts[1::2], parts[2::2])}


def gather(text, version, date, new):
    """The text of CHANGELOG.md with the items of `new`, by section, under the version."""
    head, *versions = re.split(r"(?=^## )", text or HEAD, flags=re.MULTILINE)
    here = {}
    if versions and versions[0].startswith(f"## {version} "):
        here = parse_sections(versions.pop(0))
    body = f"## {version} ({date})\n"
    for section in SECTIONS:
        old = [re.sub(r"\s+", " ", item).strip() for item in here.get(section, [])]
        items = old + [item for item in new.get(section, []) if item not in old]
        if items:
            body += f"\n### {section.capitalize()}\n\n{written(items)}"
    following = "".join(versions)
    return head.rstrip("\n") + "\n\n" + body + ("\n" + following if following else "")


def release(root, date):
    """Gathers and removes the fragments. Returns how many there were."""
    paths = fragments_of(root)
    new = {}
    for path in paths:
        new.setdefault(path.parent.name, []).extend(items_of(path.read_text()))
    if paths:
        page = root / "CHANGELOG.md"
        text = page.read_text() if page.exists() else ""
        page.write_text(gather(text, version_of(root), date, new))
    for path in paths:
        path.unlink()
    return len(paths)


def missing(root):
    """Why the tree's version cannot be released as it is, a line each."""
    for path in fragments_of(root):
        yield f"{path.relative_to(root).as_posix()}: not in CHANGELOG.md yet: run make changelog"
    page = root / "CHANGELOG.md"
    version = version_of(root)
    if not page.exists() or f"\n## {version} " not in page.read_text():
        yield f"CHANGELOG.md: says nothing of {version}"


def main():
    parser = argparse.ArgumentParser(description="gather changelog.d/ into CHANGELOG.md")
    parser.add_argument("--check", action="store_true", help="only look at the fragments")
    parser.add_argument("--released", action="store_true", help="only ask whether all is gathered")
    parser.add_argument("--date", default=datetime.date.today().isoformat())
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent)
    arguments = parser.parse_args()
    wrong = list(mistakes(arguments.root))
    if arguments.released and not wrong:
        wrong = list(missing(arguments.root))
    if wrong:
        print("\n".join(wrong), file=sys.stderr)
        return 1
    if not arguments.check and not arguments.released:
        count = release(arguments.root, arguments.date)
        print(f"CHANGELOG.md: {count} fragments gathered for {version_of(arguments.root)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
