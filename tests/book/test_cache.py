"""What a change executes again: a chapter of two, by the book's own configuration and the real command."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from tests.notebooks import ROOT

CHAPTERS = {"one": "from scalelab import ranks, units", "two": "from scalelab import units"}
TOC = "format: jb-book\nroot: book/index\nchapters:\n  - file: book/words\n" + "".join(
    f"  - file: chapters/{name}\n" for name in CHAPTERS
)


class Book:
    """A book of two chapters, each of which writes a line into a file when it is executed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "executed.txt"
        for name in ("_ext", "_static", "_templates", "references.bib"):
            source, target = ROOT / "book" / name, folder / "book" / name
            target.parent.mkdir(exist_ok=True)
            (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
        shutil.copy(ROOT / "_config.yml", folder)
        (folder / "_toc.yml").write_text(TOC)
        (folder / "book" / "index.md").write_text("# Two chapters\n")
        words = "# Words\n\n```{index} Two lamps\n```\n\nOne lamp is no proof.\n"
        (folder / "book" / "words.md").write_text(words)
        (folder / "chapters").mkdir()
        (folder / "scalelab").mkdir()
        for name in ("ranks", "units"):  # the kernel imports ours, the build reads these
            self.change(name, "1")
        for name in CHAPTERS:
            self.write(name)

    def write(self, name: str, prose: str = "Words.", number: int = 1) -> None:
        code = f"{CHAPTERS[name]}\nopen({str(self.log)!r}, 'a').write('{name} ')\n{number}"
        cells = [
            nbformat.v4.new_markdown_cell(f"# {name}\n\n{prose}", id="title"),
            nbformat.v4.new_code_cell(code, id="code"),
        ]
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
        book = nbformat.v4.new_notebook(cells=cells, metadata=kernel)
        nbformat.write(book, self.folder / "chapters" / f"{name}.ipynb")

    def change(self, module: str, text: str) -> None:
        (self.folder / "scalelab" / f"{module}.py").write_text(text)

    def build(self) -> list[str]:
        """Return the chapters that a build executed."""
        self.log.unlink(missing_ok=True)
        bins = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        subprocess.run(
            ["jupyter-book", "build", ".", "-q", "-n", "-W", "--keep-going"],
            cwd=self.folder,
            env=os.environ | {"PATH": bins},
            check=True,
            capture_output=True,
        )
        return sorted(self.log.read_text().split()) if self.log.exists() else []

    def page(self, name: str) -> str:
        return (self.folder / "_build" / "html" / "chapters" / f"{name}.html").read_text()


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    one = Book(tmp_path_factory.mktemp("book"))
    assert one.build() == ["one", "two"]
    return one


def test_a_change_of_code_executes_its_chapter_alone_and_one_of_words_none(book):
    book.write("one", number=271828)
    book.write("two", prose="Other words.")
    assert book.build() == ["one"]
    assert "271828" in book.page("one")
    assert "Other words." in book.page("two")
    found = (book.folder / "_build" / "html" / "_static" / "sections.js").read_text()
    assert '"Two lamps"' in found  # of a page that is not read anew


@pytest.mark.thorough
def test_a_change_of_a_module_executes_the_chapters_that_import_it(book):
    book.change("ranks", "2")
    assert book.build() == ["one"]
    book.change("units", "2")
    assert book.build() == ["one", "two"]


@pytest.mark.thorough
def test_nothing_changed_executes_nothing(book):
    assert book.build() == []
