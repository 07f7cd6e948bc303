"""What a kind of trouble is, and all of them.

`score` counts what is given automatically, of 6: task 1.1 has 2, task 2.1 has 1, task 3.1 has 3.
A cheat starts from blank answers in the task it attacks, so anything it gains would show.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.submissions.assignment import HONEST, MOST, SLUG, handed_in

GRADED, FLAGGED, FAILED, MISSING = "graded", "graded with flags", "failed", "missing"


class Kind(NamedTuple):
    """One kind of trouble, and the state, points and remark that must come of it."""

    name: str
    group: str
    put: Callable[[Path, Path], None]  # (root of the course, folder of the submission)
    status: str | None = GRADED  # None: with flags or without
    score: float | None = MOST
    says: str = ""  # part of a flag or of the reason


def notebook_kind(name, group, change, *expected):
    """Return a kind made by a change of an honest notebook: in place, or what is returned."""

    def put(root, folder):
        notebook = handed_in(root)
        changed = change(notebook)
        data = notebook if changed is None else changed
        data = data if isinstance(data, bytes) else json.dumps(data).encode()
        for word, value in (("root", root), ("port", _port(root))):  # what a spy knows beforehand
            data = data.replace(f"{{{word}}}".encode(), str(value).encode())
        folder.mkdir(parents=True)
        (folder / f"{SLUG}.ipynb").write_bytes(data)

    return Kind(name, group, put, *expected)


def _port(root):
    """Return the port at which a test listens on this host, if one does."""
    file = root / "port"
    return file.read_text() if file.exists() else 9


def code_kinds(group, table):
    """Return kinds made by other answers: {name: (answers, status, score, says)}."""
    for name, (answers, *expected) in table.items():

        def change(notebook, answers=answers):
            for cell in notebook["cells"]:
                text = {**HONEST, **answers}.get(cell["id"])
                if text is not None:
                    cell["source"] = text

        yield notebook_kind(name, group, change, *expected)


def kinds():
    """Return every kind there is."""
    from tests.submissions import cells, cheats, files, oddities, runaways

    found = [*files.KINDS, *cells.KINDS, *runaways.KINDS, *cheats.KINDS, *oddities.KINDS]
    assert len({kind.name for kind in found}) == len(found)
    return found
