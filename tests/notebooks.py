"""What tests need to know of the notebooks: where they are and how to read them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[1]
SLUGS = (
    "01_speedup",
    "02_hardware",
    "03_study",
    "04_tail",
    "05_laws",
    "06_workdepth",
    "07_roofline",
    "08_network",
    "09_cost",
    "10_rubric",
)
WRITTEN = tuple(path.stem for path in sorted((ROOT / "chapters").glob("*.ipynb")))


@dataclass(frozen=True)
class Notebook:
    """A notebook of the repository, with its cells at hand."""

    path: Path

    @property
    def nb(self):
        return nbformat.read(self.path, as_version=4)

    @property
    def markdown(self) -> list[str]:
        return [cell.source for cell in self.nb.cells if cell.cell_type == "markdown"]

    @property
    def code(self) -> list[str]:
        return [cell.source for cell in self.nb.cells if cell.cell_type == "code"]

    @property
    def prose(self) -> str:
        return "\n\n".join(self.markdown)

    def headings(self) -> list[tuple[int, str]]:
        found = re.findall(r"^(#+) (.+)$", self.prose, re.MULTILINE)
        return [(len(marks), text) for marks, text in found]

    def furniture(self) -> list[str]:
        """The classes of the boxes, in the order in which they stand."""
        return re.findall(r"^:::\{admonition\}.*\n:class: ([\w-]+)", self.prose, re.MULTILINE)


def chapter(slug: str) -> Notebook:
    return Notebook(ROOT / "chapters" / f"{slug}.ipynb")


def explored(slug: str) -> list[str]:
    """The cells of a chapter that show a figure to play with, in the order of its page."""
    return [
        cell for cell in chapter(slug).code if re.search(r"^show\.explore\(", cell, re.MULTILINE)
    ]


def asked(slug: str, number: int) -> tuple[Callable, dict]:
    """What makes that figure, and its sliders: its own cell, on top of nothing but the chapter's imports."""
    found: list[tuple[Callable, dict]] = []
    names: dict = {}
    exec(chapter(slug).code[0], names)
    room = names["show"]

    class Asking:
        """What a chapter shows with, where a figure to explore is only noted down."""

        def __getattr__(self, name: str):
            return getattr(room, name)

        def explore(self, make, **sliders):
            found.append((make, sliders))

    names["show"] = Asking()
    exec(explored(slug)[number], names)
    return found[0]


def every_notebook() -> list[Path]:
    return [
        path
        for folder in ("chapters", "solutions", "exercises")
        for path in sorted((ROOT / folder).rglob("*.ipynb"))
        if ".ipynb_checkpoints" not in path.parts
    ]


def executed(slug: str):
    """Return a chapter with the outputs it has in the built book."""
    from jupyter_cache import get_cache

    cache = get_cache(ROOT / "_build" / ".jupyter_cache")
    return cache.merge_match_into_notebook(chapter(slug).nb)[1]
