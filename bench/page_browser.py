#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Opens the page of `kairos report` in a browser without a screen and says what is wrong with it: a
# table or a picture of the folder that it does not show, anything that it loads, runs or complains
# of, what is wider than the window at 1280 and at 400 pixels, and what is there but leaves no trace
# on a picture of the screen. Prints what it finds; exits with 1 when there is anything, with 2 when
# the browser cannot be used.
#
# The page is looked at as it is, from a frame of each width: windows cannot be as narrow as
# telephones. It is served under a policy that permits styles within it and nothing else, so
# whatever it asks for is refused, and the browser says so.
import argparse
import http.server
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

WIDTHS = (1280, 400)
HEIGHT_MAX = 8000  # of the picture of the screen: what is further down is not looked for there
POLICY = "default-src 'none'; style-src 'unsafe-inline'"

FRAMES = """<!DOCTYPE html><html><head><meta charset="utf-8"><style>
body { margin: 0; white-space: nowrap; font-size: 0; }
iframe { border: 0; height: HEIGHTpx; vertical-align: top; }
</style></head><body>FRAMES<pre id="answer"></pre><script>
// What of an element can be seen: wide pictures are scrolled in a card, which has a border.
const box = (frame, element) => {
  const outer = frame.getBoundingClientRect(), inner = element.getBoundingClientRect();
  const card = (element.closest(".picture") ?? element.parentElement).getBoundingClientRect();
  const width = Math.min(inner.width, card.right - 2 - inner.x);
  return [outer.x + inner.x, outer.y + inner.y, Math.max(width, 0), inner.height];
};
const look = (frame) => {
  const page = frame.contentDocument, root = page.documentElement;
  const all = (query, of = page) => [...of.querySelectorAll(query)];
  const wide = all("body *").filter((element) => {
    const box = element.getBoundingClientRect();
    return box.right > root.clientWidth + 1 && !element.closest(".scroll, .picture");
  });
  return {
    width: root.clientWidth, needs: root.scrollWidth, height: root.scrollHeight,
    title: box(frame, page.querySelector("h1")),
    wide: wide.slice(0, 5).map((element) => element.outerHTML.slice(0, 60)),
    sections: Object.fromEntries(all("main > section[id]").map((section) => [section.id, {
      heading: section.querySelector("h2")?.textContent ?? "",
      tables: all("table", section).map((table) => ({
        heads: all("th", table).length, rows: all("tbody tr", table).length,
        folded: !table.closest("details").open, box: box(frame, table.closest(".scroll")),
      })),
    }])),
    pictures: all("figure svg").map((picture) => box(frame, picture)),
  };
};
addEventListener("load", () => {
  document.getElementById("answer").textContent =
    JSON.stringify([...document.querySelectorAll("iframe")].map(look));
});
</script></body></html>
"""

# How many pixels of each box differ from the one in its corner.
INK = """<!DOCTYPE html><html><body><img src="/screen.png"><pre id="answer"></pre><script>
addEventListener("load", () => {
  const picture = document.querySelector("img"), canvas = document.createElement("canvas");
  canvas.width = picture.naturalWidth;
  canvas.height = picture.naturalHeight;
  const context = canvas.getContext("2d");
  context.drawImage(picture, 0, 0);
  const ink = ([x, y, width, height]) => {
    const pixels = new Uint32Array(context.getImageData(x, y, width, height).data.buffer);
    return pixels.filter((pixel) => pixel !== pixels[0]).length;
  };
  document.getElementById("answer").textContent =
    JSON.stringify({size: [canvas.width, canvas.height], ink: BOXES.map(ink)});
});
</script></body></html>
"""


class Server(http.server.ThreadingHTTPServer):
    """What the browser may ask for, by path, and what else it asked for."""

    def __init__(self, page):
        super().__init__(("127.0.0.1", 0), Handler)
        self.bodies = {"/page": (page, "text/html; charset=utf-8", POLICY), "/favicon.ico": None}
        self.asked = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def address(self, path):
        return f"http://127.0.0.1:{self.server_port}{path}"

    def put(self, path, body, kind="text/html; charset=utf-8"):
        self.bodies[path] = (body, kind, None)
        return self.address(path)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path not in self.server.bodies:
            self.server.asked.append(self.path)
        body = self.server.bodies.get(self.path)
        if body is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Type", body[1])
        self.send_header("Content-Length", str(len(body[0])))
        if body[2]:
            self.send_header("Content-Security-Policy", body[2])
        self.end_headers()
        self.wfile.write(body[0])

    def log_message(self, *_):
        pass


class Browser:
    def __init__(self, program, folder):
        self.command = [program, "--headless=new", "--no-sandbox", "--disable-gpu",
                        "--disable-dev-shm-usage", "--disable-background-networking",
                        "--no-first-run", "--hide-scrollbars", "--force-device-scale-factor=1",
                        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
                        "--no-proxy-server", "--enable-logging=stderr",
                        f"--user-data-dir={folder}/profile"]

    def run(self, *arguments):
        """What it prints, and what the console of its pages said."""
        done = subprocess.run([*self.command, *arguments], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors="replace", check=False)
        if done.returncode != 0:
            cannot(f"{self.command[0]}: status {done.returncode}\n{done.stderr}")
        said = re.findall(r"CONSOLE[:(]\d+\)?\] (.*)", done.stderr)
        return done.stdout, said

    def answer(self, address, *arguments):
        dom, said = self.run(*arguments, "--dump-dom", address)
        found = re.search(r'<pre id="answer">(.+?)</pre>', dom, re.DOTALL)
        if not found:
            cannot("the browser says nothing of the page\n" + "\n".join(said) + dom[:2000])
        text = found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
        return json.loads(text), said


def cannot(reason):
    print(reason, file=sys.stderr)
    sys.exit(2)


def reports_of(folder):
    """Pairs of the name of a report and its number of rows: the first object is not one."""
    return [(path.stem, len(json.loads(path.read_text(encoding="utf-8"))) - 1)
            for path in sorted(folder.glob("*.json"))]


def findings_in(seen, reports, pictures):
    """What is wrong at one width."""
    findings = []
    if seen["needs"] > seen["width"]:
        findings.append(f"is {seen['needs']} wide: {seen['wide']}")
    for name, rows in reports:
        section = seen["sections"].get(name, {"heading": "", "tables": []})
        if not section["heading"]:
            findings.append(f"{name} has no heading")
        tables = section["tables"]
        if [table["rows"] for table in tables] != [rows]:
            findings.append(f"{name} has not one table of {rows} rows: {tables}")
        findings += [f"the table of {name} is empty" for table in tables
                     if not table["heads"] or (not table["folded"] and 0 in table["box"][2:])]
    if len(seen["pictures"]) != pictures:
        findings.append(f"{len(seen['pictures'])} pictures are there of {pictures}")
    findings += [f"picture {number} has no size" for number, box in enumerate(seen["pictures"])
                 if 0 in box[2:]]
    return findings


def boxes_of(seen):
    """Names and places of what must leave a trace on the screen."""
    boxes = {"the title": seen["title"]}
    for name, section in seen["sections"].items():
        for table in section["tables"]:
            if not table["folded"]:
                boxes[f"the table of {name}"] = table["box"]
    for number, box in enumerate(seen["pictures"]):
        boxes[f"picture {number}"] = box
    return {name: [round(value) for value in box] for name, box in boxes.items()
            if 0 not in box[2:] and box[1] + box[3] <= HEIGHT_MAX}


def examine(program, folder, scratch):
    browser = Browser(program, scratch)
    server = Server((folder / "index.html").read_bytes())
    frames = "".join(f'<iframe src="/page" style="width: {width}px"></iframe>' for width in WIDTHS)

    def window(height):
        return FRAMES.replace("HEIGHT", str(height)).replace("FRAMES", frames, 1).encode()

    size = f"--window-size={sum(WIDTHS)},1000"
    views, said = browser.answer(server.put("/frames", window(HEIGHT_MAX)), size)
    findings = [f"the browser says: {line}" for line in dict.fromkeys(said)]
    reports = reports_of(folder)
    pictures = len(list(folder.glob("*.svg")))
    for width, seen in zip(WIDTHS, views):
        findings += [f"at {width}: {finding}" for finding in findings_in(seen, reports, pictures)]

    height = min(HEIGHT_MAX, max(seen["height"] for seen in views))
    screen = scratch / "screen.png"
    # The window has a frame of its own, which takes some of its height.
    browser.run(f"--window-size={sum(WIDTHS)},{height + 200}", f"--screenshot={screen}",
                server.address("/frames"))
    server.put("/screen.png", screen.read_bytes(), "image/png")
    boxes = [(f"at {width}: {name}", box) for width, seen in zip(WIDTHS, views)
             for name, box in boxes_of(seen).items()]
    ink = INK.replace("BOXES", json.dumps([box for _, box in boxes]))
    answer, _ = browser.answer(server.put("/ink", ink.encode()))
    if answer["size"][0] < sum(WIDTHS) or answer["size"][1] < height:
        cannot(f"the picture of the screen is {answer['size']}")
    findings += [f"{name} cannot be seen" for (name, _), pixels in zip(boxes, answer["ink"])
                 if pixels < 50]
    findings += [f"asks for {path}" for path in dict.fromkeys(server.asked)]
    return findings


def main():
    parser = argparse.ArgumentParser(description="look at the page of kairos report in a browser")
    parser.add_argument("browser", help="the program of Chromium")
    parser.add_argument("folder", type=pathlib.Path, help="with index.html, reports and pictures")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        findings = examine(arguments.browser, arguments.folder, pathlib.Path(scratch))
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
