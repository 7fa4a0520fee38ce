#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Draws docs/figures.svg, the picture of the README, from docs/figures.json, which also says where
# and when that was measured. With --write it does; without, a picture of other figures is an error:
# the test `figures`.
import html
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "docs/figures.json"
PICTURE = ROOT / "docs/figures.svg"

# All in pixels.
WIDTH = 880
MARGIN = 16
LABELS = 88  # where the names of the systems end and bars begin
VALUES = 44  # kept free behind the longest bar
BAR = 14
STEP = 20
TITLE = 44
BOTTOM = 18
OURS, OTHERS, INK, PALE = "#0b6e99", "#b9c4cc", "#1f2933", "#66737f"


def text(x, y, words, size=12, anchor="start", fill=INK, weight="normal"):
    """With a rim, so that it can be read where a line crosses it."""
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
            f'fill="{fill}" font-weight="{weight}" stroke="#ffffff" stroke-width="4" '
            f'paint-order="stroke">{html.escape(words, quote=False)}</text>')


def panel_height(panel):
    return TITLE + STEP * len(panel["figures"]) + BOTTOM


def draw_panel(panel, data, left, top, width):
    yield text(left, top + 14, panel["title"], 13, weight="bold")
    yield text(left, top + 30, panel["better"], 11, fill=PALE)
    longest = max(*panel["figures"].values(), data["baseline"])
    scale = (width - LABELS - VALUES) / longest
    start = left + LABELS
    for row, (system, figure) in enumerate(panel["figures"].items()):
        yield (f'<rect x="{start:.1f}" y="{top + TITLE + row * STEP}" height="{BAR}" '
               f'width="{figure * scale:.1f}" '
               f'fill="{OURS if system == data["ours"] else OTHERS}"/>')
    # Raw sockets: a line across the bars.
    x = start + data["baseline"] * scale
    end = top + TITLE + STEP * len(panel["figures"]) - (STEP - BAR) / 2
    yield (f'<path d="M{x:.1f} {top + TITLE - 4} V{end:.1f}" stroke="{INK}" stroke-width="1" '
           'stroke-dasharray="3 3"/>')
    for row, (system, figure) in enumerate(panel["figures"].items()):
        y = top + TITLE + row * STEP + BAR - 3
        weight = "bold" if system == data["ours"] else "normal"
        yield text(start - 6, y, system, anchor="end", weight=weight)
        yield text(start + figure * scale + 5, y, f"{figure:.2f}", weight=weight)


def draw(data):
    panels = data["panels"]
    column = (WIDTH - 3 * MARGIN) / 2
    rows = [panels[first:first + 2] for first in range(0, len(panels), 2)]
    parts = []
    top = MARGIN
    for row in rows:
        for place, panel in enumerate(row):
            parts += draw_panel(panel, data, MARGIN + place * (column + MARGIN), top, column)
        top += max(map(panel_height, row))
    parts.append(text(MARGIN, top + 4, data["caption"], 11, fill=PALE))
    height = top + MARGIN
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" font-family="sans-serif" role="img">',
        "<title>Kairos and others beside raw sockets</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>', *parts, "</svg>", ""])


def main():
    drawn = draw(json.loads(DATA.read_text()))
    if "--write" in sys.argv:
        PICTURE.write_text(drawn)
        return 0
    if not PICTURE.exists() or PICTURE.read_text() != drawn:
        print("docs/figures.svg is not what docs/figures.json says: run tools/figures.py --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
