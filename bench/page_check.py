#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Says what is wrong with pages of `kairos report`: whether they are well-formed, and whether each
# stands alone: nothing is loaded, nothing is run, every link leads to a place within. Prints what
# it finds; exits with 1 when there is anything.
import html.parser
import re
import sys
import xml.etree.ElementTree

VOID = {"meta", "br", "hr", "img", "input", "link", "wbr"}
LOADING = {"script", "link", "img", "iframe", "object", "embed", "audio", "video", "base", "image"}
REFERENCES = {"href", "src", "xlink:href", "srcset", "data", "action", "poster", "background"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.findings = []
        self.open = []
        self.ids = set()
        self.links = set()

    def find(self, text):
        self.findings.append(f"line {self.getpos()[0]}: {text}")

    def handle_startendtag(self, tag, attributes):
        self.look_at(tag, attributes)

    def handle_starttag(self, tag, attributes):
        self.look_at(tag, attributes)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.find(f"</{tag}> closes nothing")

    def look_at(self, tag, attributes):
        if tag in LOADING:
            self.find(f"<{tag}> loads or runs something")
        for name, value in attributes:
            value = value or ""
            if name.startswith("on"):
                self.find(f"{name} runs something")
            if name in REFERENCES and not value.startswith("#"):
                self.find(f"{name}={value!r} leads out of the page")
            elif name in REFERENCES:
                self.links.add(value[1:])
            if name == "id" and value in self.ids:
                self.find(f"id {value!r} is there twice")
            elif name == "id":
                self.ids.add(value)


def findings_of(text):
    page = Page()
    page.feed(text)
    page.close()
    findings = page.findings
    findings += [f"<{tag}> is not closed" for tag in page.open]
    findings += [f"#{link} leads nowhere" for link in sorted(page.links - page.ids)]
    findings += [f"{match[0]} is a reference to outside"
                 for match in re.finditer(r"https?://|file://|@import|url\((?!['\"]?#)", text)]
    try:
        xml.etree.ElementTree.fromstring(text)
    except xml.etree.ElementTree.ParseError as wrong:
        findings.append(f"not well-formed: {wrong}")
    return findings


def main():
    status = 0
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            for finding in findings_of(file.read()):
                print(f"{path}: {finding}")
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
