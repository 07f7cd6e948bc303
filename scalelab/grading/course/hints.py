"""The hints of a task: folded in its question, opened on demand, and gone from an exam.

A hint is HTML that JupyterLab and the book fold alike, with Markdown inside:

    <details>
    <summary>Hint 1: where to look</summary>

    The floor is broken by the first row below it.

    </details>

Standard library only; notebooks are nbformat nodes.
"""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nbformat import NotebookNode

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
