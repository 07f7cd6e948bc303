"""The source of an assignment: its cells, exercises and tasks, and the hints folded into its questions."""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from scalelab.checks.fresh import secret as found_secret
from scalelab.refusal import Refusal

if TYPE_CHECKING:
    from nbformat import NotebookNode

VERSION = "4"  # of the grader: another one grades everything again


@dataclass(frozen=True)
class Cell:
    """One cell: `stub` is the text that students got, `text` the author's."""

    id: str
    kind: str  # "code" or "markdown"
    text: str
    stub: str
    points: float = 0.0
    graded: bool = False
    answer: bool = False

    @property
    def check(self) -> bool:
        """Whether this cell judges answers by itself."""
        return self.graded and not self.answer and self.kind == "code"

    @property
    def manual(self) -> bool:
        """Whether a person gives the points."""
        return self.graded and not self.check


@dataclass(frozen=True)
class Source:
    """An assignment, with the secret its hidden checks draw from."""

    slug: str
    cells: tuple[Cell, ...]
    secret: bytes = b""

    @cached_property
    def by_id(self) -> dict[str, Cell]:
        """Return the cells by their grade_id."""
        return {cell.id: cell for cell in self.cells}

    @cached_property
    def exercises(self) -> list[list[Cell]]:
        """Return lists of cells: what comes before the first `## ` heading, then one per heading.

        >>> cells = (Cell("a", "code", "", ""), Cell("b", "markdown", "## One", ""))
        >>> [[cell.id for cell in part] for part in Source("x", cells).exercises]
        [['a'], ['b']]
        """
        parts: list[list[Cell]] = [[]]
        for cell in self.cells:
            if cell.kind == "markdown" and re.match(r"## \S", cell.text):
                parts.append([])
            parts[-1].append(cell)
        return parts

    @cached_property
    def setup(self) -> tuple[str, ...]:
        """Return the code before the first exercise that is the same for everybody and asks nothing.

        >>> Source("x", (Cell("a", "code", "x = 1", ""), Cell("b", "markdown", "## One", ""))).setup
        ('x = 1',)
        """
        first, *exercises = self.exercises
        code = [cell for cell in first if cell.kind == "code"]
        drawn = any(re.search(r"\b(variant|fresh)\b", cell.text) for cell in code)
        if not exercises or drawn or any(cell.answer or cell.check for cell in code):
            return ()
        return tuple(cell.text for cell in code)

    @cached_property
    def modules(self) -> tuple[str, ...]:
        """List what the author's code imports.

        >>> Source("x", (Cell("a", "code", "import numpy as np, os.path", ""),)).modules
        ('numpy', 'os.path')
        """
        names: dict[str, None] = {}
        for cell in self.cells:
            if cell.kind == "code":
                for line in cell.text.splitlines():
                    words = line.split("#")[0].replace(",", " , ").split()
                    if words[:1] == ["import"]:
                        names |= dict.fromkeys(
                            part.split()[0]
                            for part in " ".join(words[1:]).split(",")
                            if part.split()
                        )
                    elif words[:1] == ["from"] and "import" in words:
                        names[words[1]] = None
        return tuple(names)

    @cached_property
    def titles(self) -> dict[str, str]:
        """Return {check or manual cell: heading of its question}."""
        titles, title = {}, ""
        for cell in self.cells:
            heading = re.match(r"#{2,} +(.+)", cell.text) if cell.kind == "markdown" else None
            title = heading[1].strip() if heading and not cell.answer else title
            if cell.graded:
                titles[cell.id] = title or cell.id
        return titles

    def key(self, *parts: object) -> str:
        """Return a digest of some parts, the secret and the version of the grader."""
        told = json.dumps([VERSION, self.slug, self.secret.hex(), *parts], sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()


def load(root: str | Path, slug: str) -> Source:
    """Read solutions/SLUG/SLUG.ipynb, and the students' version in exercises/."""
    root = Path(root)
    if not re.fullmatch(r"[\w-]+", slug):
        raise Refusal(f"an assignment must be a folder of solutions/, got {slug!r}: name one")
    written = _cells(root / "solutions" / slug / f"{slug}.ipynb", "write it first")
    released = _cells(root / "exercises" / slug / f"{slug}.ipynb", "run `make exercises`")
    stubs = {_id(cell): cell for cell in released}
    cells: list[Cell] = []
    seen: set[str] = set()
    for cell in written:
        role = cell.get("metadata", {}).get("nbgrader", {})
        name = _id(cell)
        if name in seen or name not in stubs:
            what = "twice in the source" if name in seen else "not in exercises/"
            raise Refusal(
                f"every cell of {slug} must have its own grade_id in both folders, got {name!r} "
                f"{what}: run `make exercises`"
            )
        seen.add(name)
        cells.append(
            Cell(
                name,
                "code" if cell["cell_type"] == "code" else "markdown",
                _text(cell),
                _text(stubs[name]),
                float(role.get("points", 0)),
                bool(role.get("grade") or role.get("task")),
                bool(role.get("solution") or role.get("task")),
            )
        )
    return Source(slug, tuple(cells), found_secret(root))


def _cells(path, remedy):
    try:
        return json.loads(path.read_text(encoding="utf-8"))["cells"]
    except OSError as error:
        raise Refusal(f"{path} must be a notebook, got {error.strerror}: {remedy}") from None
    except (ValueError, LookupError, TypeError):
        raise Refusal(f"{path} must be a notebook, got something else: {remedy}") from None


def _id(cell):
    role = cell.get("metadata", {}).get("nbgrader", {})
    return role.get("grade_id") or cell.get("id", "")


def _text(cell):
    return "".join(cell["source"])


def tasks(source: Source) -> Iterator[list[Cell]]:
    """Yield the cells of each task, the one that is graded last.

    >>> cells = (Cell("a", "code", "", ""), Cell("b", "code", "", "", graded=True), Cell("c", "code", "", ""))
    >>> [[cell.id for cell in task] for task in tasks(Source("x", cells))]
    [['a', 'b']]
    """
    task: list[Cell] = []
    for cell in source.cells:
        task.append(cell)
        if cell.graded:
            yield task
            task = []


def number(source: Source, graded: str) -> str:
    """Return the number of the task of a graded cell.

    >>> cells = (Cell("q", "markdown", "### 1.2. Out of reach", ""), Cell("c", "code", "", "", graded=True))
    >>> number(Source("x", cells), "c")
    '1.2'
    """
    return source.titles[graded].split(" ")[0].rstrip(".")


def task_of(source: Source) -> dict[str, str]:
    """Return {cell: the graded cell of its task}."""
    return {cell.id: task[-1].id for task in tasks(source) for cell in task}


def by_name(source: Source) -> dict[str, str]:
    """Return {what a task may be called by, its number or a cell of it: its graded cell}."""
    numbers = {number(source, cell.id): cell.id for cell in source.cells if cell.graded}
    return task_of(source) | numbers


HINT = re.compile(r"\bhints?\b", re.IGNORECASE)
_FOLDED = re.compile(
    r"^<details>\n<summary>Hint (\d)(?:: ([^<\n]+))?</summary>\n\n(.*?)\n\n</details>$", re.M | re.S
)


def hints(text: str) -> list[tuple[int, str, str]]:
    r"""Return (number, title, body) of each hint in the source of a cell.

    >>> hints("<details>\n<summary>Hint 1: start</summary>\n\nLook up.\n\n</details>")
    [(1, 'start', 'Look up.')]
    """
    return [(int(n), title, body.strip()) for n, title, body in _FOLDED.findall(text)]


def without_hints(notebook: NotebookNode) -> NotebookNode:
    """Return a copy of a notebook without its hints and without the lines that announce them."""
    notebook = copy.deepcopy(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and HINT.search(cell.source):
            text = _FOLDED.sub("", cell.source)
            lines = [line for line in text.splitlines() if not HINT.search(line)]
            cell.source = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
    return notebook
