"""What of an assignment's source must not be in its release, and whether it is.

nbgrader removes what stands between its exact markers and keeps everything else, so a misspelt
marker or a copied line publishes a solution without a word. Standard library only; notebooks are
nbformat nodes.
"""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from scalelab.grading.inputs.source import HINT

if TYPE_CHECKING:
    from nbformat import NotebookNode

_MARKS = {
    f"{edge}{kind}": (edge, kind)
    for edge in ("begin", "end")
    for kind in ("solution", "hiddentest", "markscheme", "markingscheme")
}
_EXACT = ("SOLUTION", "HIDDEN TESTS", "MARK SCHEME")
_CELL = {"id", "cell_type", "metadata", "source", "outputs", "execution_count"}
_NOTEBOOK = {
    "kernelspec": {"display_name", "language", "name"},
    "language_info": {"name"},
}
_METADATA = {"nbgrader", "deletable", "editable"}
_FOLDED = {"source_hidden": True}  # all that metadata "jupyter" may say
_NBGRADER = {
    *("grade", "grade_id", "locked", "points", "schema_version", "solution", "task"),
    *("checksum", "cell_type"),
}
_HIDDEN = re.compile(r"hidden\s*=\s*True|\bfresh\(")
_SHORT = 12  # a line of fewer letters and signs, such as "return total", gives nothing away


def leaks(source: NotebookNode, release: NotebookNode, exam: bool = False) -> list[str]:
    """Return one clause per kind of thing, cell by cell, that the release must not hold."""
    clauses = [
        f"the notebook has metadata {name!r}"
        for name, value in release.metadata.items()
        if name not in _NOTEBOOK or set(value) - _NOTEBOOK[name]
    ]
    for cell in source.cells:
        clauses += _first(cell, "a marker that nbgrader does not know", _misspelt)
    secret = [line for cell in source.cells for line in _secret_lines(cell)]
    for cell in release.cells:
        clauses += [f"cell {cell.get('id', '?')!r} {what}" for what in _stray(cell)]
        clauses += _first(cell, "a marker, or what looks like one", marker)
        clauses += _first(cell, "a line of a hidden check", _HIDDEN.search)
        clauses += _first(cell, "a line that was to be removed", lambda x: _holds(x, secret))
        if exam:
            clauses += _first(cell, "a hint, in an exam", HINT.search)
    return clauses


def marker(line: str) -> tuple[str, str] | None:
    """Return (edge, kind) if a line is an nbgrader marker in any spelling, else None.

    >>> marker("### BEGIN  SOLUTION"), marker("#begin hidden-test"), marker("=END mark_scheme")
    (('begin', 'solution'), ('begin', 'hiddentest'), ('end', 'markscheme'))
    >>> marker("In the end it is a question of money.")
    """
    letters = re.sub(r"[^a-z]", "", line.lower())
    for mark, meaning in _MARKS.items():
        if mark in letters:
            return meaning
    close = difflib.get_close_matches(letters, _MARKS, n=1, cutoff=0.8)
    return _MARKS[close[0]] if close else None


def _first(cell, what, matches):
    """Report the first line of a cell that matches, as a list of one clause or none."""
    lines = (line.strip() for line in cell.source.splitlines() if matches(line))
    return [f"cell {cell.get('id', '?')!r} has {what}: {line!r}" for line in list(lines)[:1]]


def _misspelt(line):
    meant = marker(line)
    return meant and not any(f"{meant[0].upper()} {kind}" in line for kind in _EXACT)


def _holds(line, secret):
    squeezed = _squeezed(line)
    return any(passage in squeezed for passage in secret)


def _secret_lines(cell):
    """Return what is to be removed from a source cell, squeezed; less what it keeps as well."""
    remaining: list[str] = []
    removed: list[str] = []
    inside = regions = False
    for line in cell.source.splitlines():
        if mark := marker(line):
            inside, regions = mark[0] == "begin", True
        else:
            (removed if inside else remaining).append(line)
    if cell.metadata.get("nbgrader", {}).get("solution") and not regions:
        remaining, removed = [], remaining
    shown = _squeezed("\n".join(remaining))
    lines = {_squeezed(line) for line in removed if _telling(line)}
    return {line for line in lines if len(line) >= _SHORT and line not in shown}


def _telling(line):
    return re.search("[a-z]", line) and not re.match(r"\s*(import |from |def |#)", line)


def _squeezed(text):
    """Drop all white space, and what does not matter at the ends of a line."""
    return re.sub(r"\s", "", re.sub(r"^\s*return\b", "", text)).rstrip(",:")


def _stray(cell):
    """Say what a cell of a release carries besides its text and its role."""
    clauses = [f"has a field {key!r}" for key in sorted(set(cell) - _CELL)]
    known = _METADATA | ({"jupyter"} if cell.metadata.get("jupyter") == _FOLDED else set())
    clauses += [f"has metadata {key!r}" for key in sorted(set(cell.metadata) - known)]
    role = cell.metadata.get("nbgrader", {})
    clauses += [f"has nbgrader metadata {key!r}" for key in sorted(set(role) - _NBGRADER)]
    if not any(role.get(key) for key in ("grade", "solution", "locked")):
        clauses.append("has no role (grade, solution or locked), so nobody vouches for its content")
    if cell.get("outputs") or cell.get("execution_count"):
        clauses.append("has outputs")
    return clauses
