#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Says what is wrong with a page of `kairos report`: whether it is well-formed, and whether it
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
    with open(sys.argv[1], encoding="utf-8") as file:
        findings = findings_of(file.read())
    for finding in findings:
        print(f"{sys.argv[1]}: {finding}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
