#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# The page of `kairos browse` in a browser: it lists, opens, calls, plots, shows exceptions, and
# takes what objects say for text. With --picture it looks no further than for a picture.
#     page_test.py [--picture FILE] TOOL AGENT
import argparse
import os
import pathlib
import shutil
import sys
import unittest

from chromium import Chromium
from programs import Browse, agent

PROGRAM = shutil.which("chromium")
TOOL = AGENT = ""
HOSTILE = "<img src=x onerror=\"document.title='taken'\"><b>bold</b>"


def item(name):
    return f'document.querySelector(\'[role="treeitem"][data-name="{name}"]\')'


def open_path(page, *names):
    """Opens contexts, then an object; returns when its interface is shown."""
    for name in names:
        page.wait_for(item(name))
        page.run(f"{item(name)}.firstChild.click()")
    title = "/".join(names)
    page.wait_for(f"document.getElementById('title')?.textContent === {title!r}")


def operation(page, name, values=()):
    """Fills in the form of an operation, sends it, and returns what the page then shows."""
    page.run(f"""(() => {{
      const form = document.querySelector('[data-operation="{name}"]');
      form.open = true;
      const values = {list(values)!r};
      [...form.querySelectorAll(".fields input, .fields textarea")].forEach(
        (input, i) => {{ input.value = values[i]; }});
      form.querySelector(".answer").replaceChildren();
      form.querySelector("button.main").click();
    }})()""")
    return page.wait_for(f"""document.querySelector(
      '[data-operation="{name}"] .answer').innerText""")


def watch(page, name, samples):
    page.run(f"""[...document.querySelectorAll('[data-attribute="{name}"] button')].find(
      (button) => button.textContent === "Watch").click()""")
    page.wait_for(f"watched.size && [...watched.values()].some((one) => one.attribute === '{name}' "
                  f"&& one.samples.length >= {samples}) && "
                  f"document.querySelector('[data-plot=\"{name}\"] path.line')")


class Page(unittest.TestCase):
    def setUp(self):
        if PROGRAM is None:
            if os.environ.get("CI"):
                self.fail("chromium is not installed")
            self.skipTest("chromium is not installed")
        self.agent = agent(AGENT)
        self.addCleanup(self.agent.must_end_well)
        self.browse = Browse(TOOL, "-ORBInitRef", f"NameService={self.agent.line}")
        self.addCleanup(self.browse.must_end_well)
        self.page = Chromium(PROGRAM)
        self.addCleanup(self.page.__exit__)

    def test_is_used(self):
        page = self.page
        page.open(self.browse.address)
        # The token does not stay where it is copied with the address.
        self.assertEqual(page.wait_for("location.hash === '' && location.href"),
                         f"http://127.0.0.1:{self.browse.port}/")

        with self.subTest("lists"):
            page.wait_for(item("mib"))
            page.run(f"{item('mib')}.focus()")
            page.run("""document.activeElement.dispatchEvent(
              new KeyboardEvent("keydown", {key: "ArrowRight", bubbles: true}))""")
            page.wait_for(item("system"))

        with self.subTest("opens"):
            page.run(f"{item('system')}.firstChild.click()")
            shown = page.wait_for("""document.getElementById("object").innerText &&
              document.querySelector('[data-attribute="sysServices"] .number') &&
              document.getElementById("object").innerText""")
            self.assertIn("MIB::System", shown)
            self.assertIn(os.uname().nodename, shown)

        with self.subTest("shows text as text"):
            page.run("""[...document.querySelectorAll('[data-attribute="sysContact"] button')].find(
              (button) => button.textContent === "Set").click()""")
            page.run(f"""(() => {{
              const form = document.querySelector('[data-attribute="sysContact"] form');
              form.querySelector("input").value = {HOSTILE!r};
              form.requestSubmit();
            }})()""")
            self.assertEqual(HOSTILE, page.wait_for(
                "document.querySelector('[data-attribute=\"sysContact\"] .text')?.textContent"))
            self.assertEqual(0, page.run("document.querySelectorAll('td img, td b').length"))
            self.assertNotEqual("taken", page.run("document.title"))

        with self.subTest("calls"):
            page.run(f"{item('interfaces')}.firstChild.click()")
            page.wait_for("document.getElementById('title')?.textContent === 'mib/interfaces'")
            self.assertIn("lo", operation(page, "ifTable"))
            heads = page.run("""[...document.querySelectorAll('[data-operation="ifTable"] th')].map(
              (head) => head.textContent)""")
            self.assertEqual(heads[:2], ["ifIndex", "ifDescr"])

        with self.subTest("shows an exception"):
            shown = operation(page, "find", ["-1"])
            for part in ("MIB::NoSuchInterface", "ifIndex", "-1", "IDL:MIB/NoSuchInterface:1.0"):
                self.assertIn(part, shown)
            self.assertIn("no integer", operation(page, "find", ["many"]))

        with self.subTest("follows a reference"):
            self.assertIn("IOR:", operation(page, "find", ["1"]))
            page.run("""[...document.querySelectorAll(
              '[data-operation="find"] .answer button')].find(
              (button) => button.textContent === "Open").click()""")
            page.wait_for("document.querySelector('[data-attribute=\"ifInOctets\"] .number')")

        with self.subTest("plots"):
            page.run("""(() => {
              const interval = document.getElementById("interval");
              interval.value = "500";
              interval.dispatchEvent(new Event("change"));
            })()""")
            watch(page, "ifMtu", 2)
            watch(page, "ifInOctets", 3)
            lines = page.run("""[...document.querySelectorAll(".plot path.line")].map(
              (line) => line.getAttribute("d").split("L").length)""")
            self.assertEqual(len(lines), 2)
            self.assertGreaterEqual(min(lines), 2)
            table = page.run("watchCsv()").split("\r\n")
            self.assertEqual(table[0].count("ifInOctets"), 1)
            self.assertGreaterEqual(len(table), 4)
            page.run("document.getElementById('unwatch').click()")
            self.assertTrue(page.run("document.getElementById('watch').hidden"))

        with self.subTest("says that the server has ended"):
            self.agent.process.kill()
            self.agent.process.wait()
            page.run("document.getElementById('read-all').click()")
            shown = page.wait_for("document.querySelector('.failure')?.innerText")
            self.assertRegex(shown, "TRANSIENT|COMM_FAILURE")
            self.assertIn("server", shown)

        self.assertEqual([], page.console)

    def test_needs_the_printed_address(self):
        self.page.open(f"http://127.0.0.1:{self.browse.port}/")
        self.assertIn("no token of this session", self.page.wait_for(
            "document.querySelector('.failure')?.innerText"))

    def test_is_as_wide_as_the_window(self):
        for width in (1280, 400):
            self.page.ask("Emulation.setDeviceMetricsOverride", width=width, height=900,
                          deviceScaleFactor=1, mobile=False)
            self.page.open("about:blank")
            self.page.open(self.browse.address)
            open_path(self.page, "mib", "interfaces" if width == 1280 else "system")
            self.assertLessEqual(self.page.run("document.documentElement.scrollWidth"), width)

    def test_values_of_tables(self):
        self.page.open(self.browse.address)
        self.assertEqual(self.page.run("""csvOf(["a", "b"], [
                           [1, "x,\\"y\\""], [-2, "=1+1"], [null, true]])"""),
                         "a,b\r\n1,\"x,\"\"y\"\"\"\r\n-2,'=1+1\r\n,true\r\n")
        self.assertEqual(self.page.run("print(parse('[18446744073709551615,1.5]'))"),
                         "[18446744073709551615,1.5]")


def take_picture(path):
    with agent(AGENT) as names, \
         Browse(TOOL, "-ORBInitRef", f"NameService={names.line}") as browse, \
         Chromium(PROGRAM, 1360, 1130) as page:
        page.open(browse.address)
        open_path(page, "mib", "interfaces")
        # What is watched is another object's: figures go on when one looks elsewhere.
        page.run(f"{item('interface')}.firstChild.click()")
        page.wait_for(item("lo"))
        page.run(f"{item('lo')}.firstChild.click()")
        page.wait_for("document.getElementById('title')?.textContent === 'mib/interface/lo'")
        page.run("""(() => {
          const interval = document.getElementById("interval");
          interval.value = "500";
          interval.dispatchEvent(new Event("change"));
        })()""")
        for name in ("ifInOctets", "ifInPkts", "ifMtu"):
            watch(page, name, 1)
        page.wait_for("[...watched.values()].every((one) => one.samples.length >= 7)")
        page.run(f"{item('interfaces')}.firstChild.click()")
        page.wait_for("document.getElementById('title')?.textContent === 'mib/interfaces'")
        operation(page, "ifTable")
        operation(page, "find", ["-1"])
        page.picture(path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="the page of kairos browse in Chromium")
    parser.add_argument("--picture", type=pathlib.Path)
    parser.add_argument("tool")
    parser.add_argument("agent")
    arguments = parser.parse_args()
    TOOL, AGENT = arguments.tool, arguments.agent
    if arguments.picture:
        take_picture(arguments.picture)
    else:
        unittest.main(argv=sys.argv[:1])
