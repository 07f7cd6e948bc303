"""The whole book in one PDF: the built pages bound into one, printed by the browser that the tests use.

    python book/_ext/pdf.py                                   writes _build/pdf/scalelab.pdf
    python book/_ext/pdf.py chapters/05_laws book/notation    binds these pages alone

Figures appear as still pictures, and their numbers at the end; folded answers are open, folded code is
left out. Printed is twice: only then is known on which page a thing stands. A part that ends with a few
lines on a page of their own is set a little smaller in between, which draws them back, and printed alone.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

import yaml
from frontispiece import fan

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "_build" / "html"
TARGET = ROOT / "_build" / "pdf" / "scalelab.pdf"
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
SUBTITLE = "Measure, model, predict and judge how AI scales, on your own machine"
BINDING = Path(__file__).with_name("binding.js").read_text(encoding="utf-8")
LOOKS = Path(__file__).with_name("binding.css").read_text(encoding="utf-8")
FILL = """(pages) => document.querySelectorAll(".print-page").forEach((one) => {
  one.textContent = pages[one.closest("a").hash.slice(1)] ?? "";
})"""
SCALE = 0.925  # letters of 8.3 points, or the book is a tenth thicker
LITTLE = 900  # letters of a page, of about 3,500: what holds no more looks forgotten
NOTCHES = 5
SHRINK = """(names) => names.forEach((name) => {
  const part = document.getElementById(name).closest(".print-part");
  part.style.zoom = (part.style.zoom || 1) * .985;
})"""
# Every part begins on a page of its own, so how it ends can be seen without the others.
ALONE = """(names) => document.querySelectorAll(".print-part").forEach((part) => {
  part.hidden = names.length > 0 && !names.some((name) => part.querySelector(`#${name}`));
})"""


def main():
    """Print the pages that are named, or all."""
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    printed(TARGET, sys.argv[1:])
    print(TARGET.relative_to(ROOT))


def printed(target: Path, names: Collection[str] = ()):
    """Print pages to a file, with a cover, contents, bookmarks and tags."""
    from playwright.sync_api import sync_playwright

    browser = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if browser is None:
        sys.exit(f"pdf: one of {', '.join(BROWSERS)} must be installed: it prints the book")
    with sync_playwright() as play:
        chromium = play.chromium.launch(
            executable_path=browser, args=["--no-sandbox", "--font-render-hinting=none"]
        )
        tab = chromium.new_page(color_scheme="light")
        bind(tab, names)
        options = {"prefer_css_page_size": True, "print_background": True, "scale": SCALE}
        tab.pdf(path=target, **options)
        leaves = Leaves(target)
        for _ in range(NOTCHES):
            if not (parts := leaves.spilling()):
                break
            tab.evaluate(SHRINK, parts)
            tab.evaluate(ALONE, parts)
            tab.pdf(path=target, **options)
            leaves.turn(target)
        tab.evaluate(ALONE, [])
        tab.evaluate(FILL, leaves.pages())
        tab.pdf(path=target, tagged=True, outline=True, **options)
        chromium.close()


def bind(tab: Any, names: Collection[str] = ()):
    """Make one page of several in a tab of a browser; of all, where none is named."""
    tab.set_default_timeout(0)  # the whole book on one page takes its time
    tab.goto((PAGES / "book" / "index.html").as_uri())  # for its MathJax; its text makes way
    tab.evaluate(BINDING, {**_title(), "looks": LOOKS, "picture": fan(), "parts": _parts(names)})


class Leaves:
    """How many pages each part of a printed book has, and on which of its part's pages a thing stands."""

    def __init__(self, target: Path) -> None:
        self.lengths: dict[str, int] = {}
        self.places: dict[str, tuple[str, int]] = {}
        self.endings: dict[str, int] = {}
        self.turn(target)

    def turn(self, target: Path) -> None:
        """Take in a print of all parts, or of some that were set anew; what stands before them is as long."""
        from pypdf import PdfReader

        reader = PdfReader(target)
        there = {
            name.lstrip("/"): reader.get_destination_page_number(place)
            for name, place in reader.named_destinations.items()
        }
        begun = sorted((at, name) for name, at in there.items() if re.fullmatch(r"p\d+-head", name))
        self.front = begun[0][0]
        self.endings = {}
        for (first, part), after in zip(begun, [*begun[1:], (len(reader.pages), "")], strict=True):
            self.lengths[part] = after[0] - first
            self.places |= {
                name: (part, at - first) for name, at in there.items() if first <= at < after[0]
            }
            last = reader.pages[after[0] - 1].extract_text()
            self.endings[part] = len("".join(last.split()))

    def spilling(self) -> list[str]:
        """Return the parts of the last print whose last page holds next to nothing."""
        return [
            part
            for part, letters in self.endings.items()
            if self.lengths[part] > 1 and letters < LITTLE
        ]

    def pages(self) -> dict[str, int]:
        """Return the page of everything that a link leads to, counted from one, in all of the book."""
        first, at = {}, self.front + 1
        for part, length in self.lengths.items():
            first[part], at = at, at + length
        return {name: first[part] + behind for name, (part, behind) in self.places.items()}


def _parts(names: Collection[str]) -> list[dict[str, Any]]:
    """Read the parts of the table of contents, each with its pages as they were built."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    parts = [(None, [toc["root"]])]
    parts += [(part["caption"], [one["file"] for one in part["chapters"]]) for part in toc["parts"]]
    known = [name for _, held in parts for name in held]
    for name in names:
        if name not in known:
            sys.exit(f"pdf: {name} is no page of the book; its pages are {', '.join(known)}")
    wanted = [
        (caption, [one for one in held if not names or one in names]) for caption, held in parts
    ]
    return [
        {"caption": caption, "pages": [_page(name) for name in held]}
        for caption, held in wanted
        if held
    ]


def _page(name: str) -> dict[str, str]:
    file = PAGES / f"{name}.html"
    if not file.exists():
        sys.exit(f"pdf: {file.relative_to(ROOT)} is not there: run `make book` first")
    return {"name": name, "address": file.as_uri(), "html": file.read_text(encoding="utf-8")}


def _title() -> dict[str, str]:
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    return {
        **{name: config[name] for name in ("title", "author")},
        **{"year": config["copyright"], "subtitle": SUBTITLE},
    }


if __name__ == "__main__":
    main()
