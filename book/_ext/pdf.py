"""The whole book in one PDF: one long page, printed by the browser that the tests use.

    python book/_ext/pdf.py      writes _build/pdf/scalelab.pdf

Figures appear as still pictures with their numbers; folded answers are open.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "_build" / "singlehtml"
TARGET = ROOT / "_build" / "pdf" / "scalelab.pdf"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
READY = """async () => {
  await window.MathJax?.startup?.promise;
  await document.fonts.ready;
  document.querySelectorAll("details").forEach((fold) => { fold.open = true; });
}"""
NUMBER = (
    '<div style="font: 8px sans-serif; width: 100%; text-align: center">'
    '<span class="pageNumber"></span></div>'
)


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
        tab.goto(page.as_uri())
        tab.evaluate(READY)
        tab.pdf(
            path=target,
            format="A4",
            outline=True,
            tagged=True,
            print_background=True,
            display_header_footer=True,
            header_template="<span></span>",
            footer_template=NUMBER,
            margin={"top": "17mm", "bottom": "17mm", "left": "16mm", "right": "16mm"},
        )
        chromium.close()


if __name__ == "__main__":
    main()
