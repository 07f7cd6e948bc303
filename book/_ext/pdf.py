"""The whole book in one PDF: one long page, printed by the browser that the tests use.

    python book/_ext/pdf.py      writes _build/pdf/scalelab.pdf

Figures appear as still pictures, and their numbers at the end; folded answers are open. Printed is twice:
only then is known on which page a thing stands.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "_build" / "singlehtml"
TARGET = ROOT / "_build" / "pdf" / "scalelab.pdf"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
READY = """async () => {
  await window.MathJax?.startup?.promise;
  await document.fonts.ready;
  document.querySelectorAll("details").forEach((fold) => { fold.open = true; });
}"""
BINDING = Path(__file__).with_name("binding.js").read_text(encoding="utf-8")
SUBTITLE = "Measure, model, predict and judge how AI scales, on your own machine"
FILL = """(pages) => document.querySelectorAll(".print-page").forEach((one) => {
  one.textContent = pages[one.closest("a").hash.slice(1)] ?? "";
})"""


def main():
    """Build one page of all pages, and print it."""
    builder = [Path(sys.executable).with_name("jupyter-book"), "build", ROOT, "-q"]
    subprocess.run([*builder, "--builder", "singlehtml"], check=True, stdout=subprocess.DEVNULL)
    # Its links count from the top, and the page itself stands in the folder of the cover.
    page = shutil.copy(PAGES / "book" / "index.html", PAGES / "print.html")
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    printed(Path(page), TARGET)
    print(TARGET.relative_to(ROOT))


def printed(page: Path, target: Path):
    """Print a page to a file, with bookmarks and tags."""
    from playwright.sync_api import sync_playwright

    browser = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if browser is None:
        sys.exit(f"pdf: one of {', '.join(BROWSERS)} must be installed: it prints the book")
    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        tab = chromium.new_page(color_scheme="light")
        tab.set_default_timeout(0)  # the whole book on one page takes its time
        tab.goto(page.as_uri())
        tab.evaluate(READY)
        tab.evaluate(BINDING, _title())
        options = {"prefer_css_page_size": True, "print_background": True, "outline": True}
        tab.pdf(path=target, **options)
        tab.evaluate(FILL, pages(target))
        tab.pdf(path=target, tagged=True, **options)
        chromium.close()


def pages(target: Path) -> dict[str, int]:
    """Return the page of everything in a PDF that a link leads to, counted from one."""
    from pypdf import PdfReader

    reader = PdfReader(target)
    return {
        name.lstrip("/"): reader.get_destination_page_number(place) + 1
        for name, place in reader.named_destinations.items()
    }


def _title() -> dict[str, str]:
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    return {
        **{name: config[name] for name in ("title", "author")},
        **{"year": config["copyright"], "subtitle": SUBTITLE},
    }


if __name__ == "__main__":
    main()
