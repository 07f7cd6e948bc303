"""The book beside a plain Jupyter Book of the same pages: time to build, weight, first content.

Both get the notebooks as the last build executed them, so that nothing is executed here. The plain one has
Jupyter Book's defaults, and of each figure that moves, the picture. About two minutes.
"""

import gzip
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat
import yaml
from bs4 import BeautifulSoup

from tests.bench import Row
from tests.browser import conftest as browsers
from tests.notebooks import ROOT

EXECUTED = ROOT / "_build" / "jupyter_execute" / "chapters"
ELSEWHERE = ".*", "_build", "build", "tests", "solutions", "course", "*.egg-info"
PLAIN = {"only_build_toc_files": True, "bibtex_bibfiles": ["book/references.bib"]}
OFF = {"execute_notebooks": "off"}
BEYOND = 300_000  # bytes, compressed
PAINTED = """new Promise((done) => {
  const look = () => {
    const [one] = performance.getEntriesByName("first-contentful-paint");
    if (one) done(one.startTime); else setTimeout(look, 10);
  };
  look();
})"""


def rows():
    """Yield the time of builds, then each page's weight and how soon it shows something."""
    if not EXECUTED.is_dir():
        sys.stderr.write(f"expected executed chapters in {EXECUTED}: run `make book` first\n")
        return
    with tempfile.TemporaryDirectory() as folder:
        ours, plain = Path(folder) / "ours", Path(folder) / "plain"
        for tree in (ours, plain):
            shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(*ELSEWHERE))
        configured = yaml.safe_load((ROOT / "_config.yml").read_text())
        prepare(ours, {**configured, "execute": OFF})
        prepare(plain, {**PLAIN, "execute": OFF}, still)
        toc = yaml.safe_load((ROOT / "_toc.yml").read_text())
        pages = [toc["root"], *(one["file"] for part in toc["parts"] for one in part["chapters"])]
        each, plainly = (build(tree) / len(pages) for tree in (ours, plain))
        yield Row("build, seconds for each page / plain", each, plainly, 1.5)
        yield Row("build with nothing changed / 15 s", build(ours), 15.0, 1.0)
        yield from side_by_side(pages, ours / "_build" / "html", plain / "_build" / "html")


def prepare(tree: Path, config: dict, change=lambda html: html) -> None:
    """Put executed chapters into a tree, each output's HTML changed, and its configuration."""
    (tree / "_config.yml").write_text(yaml.safe_dump(config))
    for path in EXECUTED.glob("*.ipynb"):
        chapter = nbformat.read(path, as_version=4)
        for cell in chapter.cells:
            for output in cell.get("outputs", []):
                data = output.get("data", {})
                if "text/html" in data:
                    data["text/html"] = change(data["text/html"])
        nbformat.write(chapter, tree / "chapters" / path.name)


def still(html: str) -> str:
    """Return a figure without what moves it."""
    soup = BeautifulSoup(html, "html.parser")
    for part in soup.select("script, .sl-controls"):
        part.decompose()
    return str(soup)


def build(tree: Path) -> float:
    """Return the seconds of one build."""
    bins = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    start = time.perf_counter()
    subprocess.run(
        ["jupyter-book", "build", ".", "-q"],
        cwd=tree,
        env={**os.environ, "PATH": bins},
        check=True,
        capture_output=True,
    )
    return time.perf_counter() - start


def side_by_side(pages: list[str], ours: Path, plain: Path):
    """Open each page of both in a browser, from disk and with nobody outside."""
    if browsers.found() is None:
        return
    soon: dict[Path, list[float]] = {ours: [], plain: []}
    with browsers.chromium() as browser:
        for name in pages:
            weights = {}
            for book, seconds in soon.items():
                weights[book], shown = opened(browser, book / f"{name}.html")
                seconds.append(shown)
            limit = 1 + BEYOND / weights[plain]
            yield Row(f"{name}, compressed / plain", weights[ours], weights[plain], limit, unit="B")
    yield Row("first content from disk, the slowest page / a second", max(soon[ours]), 1.0, 1.0)
    medians = [statistics.median(seconds) for seconds in soon.values()]
    yield Row("first content from disk, the median page / plain", *medians, math.inf)


def opened(browser, page: Path) -> tuple[int, float]:
    """Return the bytes that a page and its files take compressed, and the seconds to its first content.

    MathJax is left out: a plain book has it, too, but fetches it from elsewhere. Of three visits the soonest
    counts, because the others tell what else the machine did.
    """
    asked, seconds = set(), []
    for _ in range(3):
        with browsers.visiting(browser) as visit:
            visit.context.on("request", lambda request: asked.add(request.url))
            visit.page.goto(page.as_uri())
            seconds.append(visit.page.evaluate(PAINTED) / 1000)
    files = {Path(url.split("?")[0].split("#")[0].removeprefix("file://")) for url in asked}
    own = [file for file in files if file.is_file() and "mathjax" not in file.parts]
    return sum(len(gzip.compress(file.read_bytes())) for file in own), min(seconds)
