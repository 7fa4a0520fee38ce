#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Tests of tools/changelog.py on small trees.
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import changelog  # noqa: E402  (found through the line above)


class Changelog(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("CMakeLists.txt", "project(Kairos VERSION 0.2.0 LANGUAGES CXX)\n")
        self.write("changelog.d/README.md", "How it is done.\n")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def run_tool(self, *arguments):
        """Exit status and what was said of errors."""
        given = ["changelog.py", "--root", str(self.root), "--date", "2026-11-27", *arguments]
        said = io.StringIO()
        with mock.patch.object(sys, "argv", given), contextlib.redirect_stderr(said), \
                contextlib.redirect_stdout(io.StringIO()):
            return changelog.main(), said.getvalue()

    def page(self):
        return (self.root / "CHANGELOG.md").read_text()

    def gather(self):
        self.assertEqual(self.run_tool(), (0, ""))
        return self.page()

    def test_fragments_are_gathered_by_section_and_removed(self):
        self.write("changelog.d/fixed/b.md", "What was\nwrong.\n")
        self.write("changelog.d/added/two.md", "- One thing,\n  in two lines.\n- Another.\n")
        text = self.gather()
        self.assertTrue(text.endswith(
            "\n\n## 0.2.0 (2026-11-27)\n\n### Added\n\n- One thing, in two lines.\n- Another.\n"
            "\n### Fixed\n\n- What was wrong.\n"), text)
        left = [path.name for path in (self.root / "changelog.d").rglob("*.md")]
        self.assertEqual(left, ["README.md"])

    def test_a_version_grows_until_the_next_one(self):
        self.write("changelog.d/added/a.md", "The first `a - b`.")
        self.gather()
        self.write("changelog.d/added/b.md", "The second.")
        self.write("changelog.d/security/c.md", "A hole.")
        self.assertIn("### Added\n\n- The first `a - b`.\n- The second.\n\n### Security\n\n"
                      "- A hole.\n", self.gather())
        self.assertEqual(self.page().count("## 0.2.0"), 1)
        self.write("CMakeLists.txt", "project(Kairos VERSION 0.3.0)\n")
        self.write("changelog.d/added/d.md", "The third.")
        text = self.gather()
        self.assertLess(text.index("## 0.3.0 (2026-11-27)"), text.index("## 0.2.0 (2026-11-27)"))
        self.assertIn("- The third.\n\n## 0.2.0", text)
        self.assertIn("- The first `a - b`.\n- The second.\n", text)

    def test_lines_are_no_longer_than_those_of_the_tree(self):
        self.write("changelog.d/added/long.md", "word " * 60)
        self.assertLessEqual(max(map(len, self.gather().splitlines())), 100)

    def test_without_fragments_nothing_changes(self):
        self.write("changelog.d/added/a.md", "A.")
        before = self.gather()
        self.assertEqual(self.gather(), before)

    def test_bad_fragments(self):
        for name, text, said in [
                ("changelog.d/new/a.md", "A.", "lies in none of"),
                ("changelog.d/a.md", "A.", "lies in none of"),
                ("changelog.d/added/a.txt", "A.", "is no .md"),
                ("changelog.d/added/a.md", "\n", "says nothing"),
                ("changelog.d/added/a.md", "# A\n", "has a heading")]:
            self.write(name, text)
            for arguments in ([], ["--check"]):
                status, printed = self.run_tool(*arguments)
                self.assertEqual(status, 1, name)
                self.assertIn(f"{name}: {said}", printed)
            self.assertFalse((self.root / "CHANGELOG.md").exists())
            (self.root / name).unlink()

    def test_released_only_when_all_is_gathered(self):
        self.assertIn("says nothing of 0.2.0", self.run_tool("--released")[1])
        self.write("changelog.d/added/a.md", "A.")
        self.assertIn("added/a.md: not in CHANGELOG.md", self.run_tool("--released")[1])
        self.gather()
        self.assertEqual(self.run_tool("--released")[0], 0)


if __name__ == "__main__":
    unittest.main()
