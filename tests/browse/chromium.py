# SPDX-License-Identifier: Apache-2.0
#
# Chromium without a screen, led by the DevTools protocol over pipes: no port, no library. What is
# waited for are its messages.
import base64
import json
import os
import select
import subprocess
import tempfile
import time

PATIENCE_S = 100


class Chromium:
    """A browser with one page. Use it by `with`."""

    def __init__(self, program, width=1280, height=900, dark=False):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        out_of_browser, into_us = os.pipe()  # what it says
        from_us, to_browser = os.pipe()
        self.reads, self.writes = out_of_browser, to_browser
        # The protocol is spoken at descriptors 3 and 4.
        command = [program, "--headless=new", "--no-sandbox", "--disable-gpu",
                   "--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run",
                   "--hide-scrollbars", "--force-device-scale-factor=1", "--no-proxy-server",
                   "--remote-debugging-pipe", f"--window-size={width},{height}",
                   "--lang=en", f"--user-data-dir={self.folder.name}/profile"]
        shell = 'exec {r}<&"$1" {w}>&"$2"; shift 2; exec 3<&"$r" 4>&"$w"; exec "$@"'
        self.process = subprocess.Popen(
            ["bash", "-c", shell, "bash", str(from_us), str(into_us), *command],
            pass_fds=(from_us, into_us), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(from_us)
        os.close(into_us)
        self.buffer = b""
        self.number = 0
        self.console = []  # what the page complains of
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = None
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=1, mobile=False)
        if dark:
            self.ask("Emulation.setEmulatedMedia",
                     features=[{"name": "prefers-color-scheme", "value": "dark"}])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.reads)
        os.close(self.writes)
        self.folder.cleanup()

    def ask(self, method, **parameters):
        """The result of a command."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        os.write(self.writes, json.dumps(message).encode() + b"\0")
        while True:
            said = self.next_message()
            if said.get("id") != self.number:
                self.note(said)
            elif "error" in said:
                raise RuntimeError(f"{method}: {said['error']}")
            else:
                return said["result"]

    def next_message(self):
        end = time.monotonic() + PATIENCE_S
        while b"\0" not in self.buffer:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.reads], [], [], left)[0]:
                raise TimeoutError("the browser says nothing")
            octets = os.read(self.reads, 1 << 16)
            if not octets:
                raise RuntimeError("the browser has ended")
            self.buffer += octets
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def note(self, said):
        parameters = said.get("params", {})
        if said.get("method") == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.console.append(parameters["entry"]["text"])
        if said.get("method") == "Runtime.exceptionThrown":
            self.console.append(json.dumps(parameters["exceptionDetails"]))

    def run(self, expression):
        """The value of JavaScript, whose promises are waited for."""
        result = self.ask("Runtime.evaluate", expression=expression, awaitPromise=True,
                          returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:2000])
        return result["result"].get("value")

    def wait_for(self, condition):
        """The value of a condition of the page, once that is one: looked at whenever the page
        changes."""
        return self.run("""new Promise((done) => {
          const look = () => { try { return (%s); } catch (nothing) { return null; } };
          const first = look();
          if (first) { done(first); return; }
          const watch = new MutationObserver(() => {
            const found = look();
            if (found) { watch.disconnect(); done(found); }
          });
          watch.observe(document, {subtree: true, childList: true, attributes: true,
                                   characterData: true});
        })""" % condition)

    def open(self, address):
        """Goes there; returns when the document has been read."""
        self.ask("Page.navigate", url=address)
        while True:
            said = self.next_message()
            self.note(said)
            if said.get("method") == "Page.loadEventFired":
                return

    def picture(self, path):
        data = self.ask("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
