"""What a kind of trouble is, and all of them, a module for each one or two groups.

A kind says whose points it loses: of task ONE alone, of another, or of more, see `stage.py`. How
many these are follows from the assignment that the kind is put on.
A cheat starts from blank answers in the task it attacks, so anything it gains would show.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.submissions import stage
from tests.submissions.stage import ALL, ONE, OTHERS, REST, THREE, TWO, USERS, Notebook, Stage

GRADED, FLAGGED, FAILED, MISSING = "graded", "graded with flags", "failed", "missing"
FULL: tuple[str, ...] = ()  # what is lost: nothing
NOT_ONE, NOT_TWO, NOT_THREE = (ONE,), (TWO,), (THREE,)
NOT_REST, NOT_OTHERS, NOTHING = (REST,), (OTHERS,), (ALL,)
Change = Callable[[Notebook, Stage], object]


@dataclass(frozen=True)
class Kind:
    """One kind of trouble, and the state, points and remark that must come of it."""

    name: str
    group: str
    put: Callable[[Path, Path], None]  # (root of the course, folder of the submission)
    status: str | None = GRADED  # None: with flags or without
    lost: tuple[str, ...] | None = FULL  # whose points; None: there is no score
    says: str = (
        ""  # part of a flag or of the reason; {one} is a task's number, {slug} the assignment's
    )
    maybe: tuple[str, ...] = ()  # whose points it may spoil as well, all or some: its own loss
    onward: bool = False  # its later exercise must come later on the stage too

    def due(self, stage: Stage) -> float | None:
        """Return the points that are due, the most of them, or None where there is no score."""
        return None if self.lost is None else stage.due(self.lost)

    def least(self, stage: Stage) -> float | None:
        """Return the fewest points that may come of it: another exercise may build on what is lost."""
        lost = (*(self.lost or ()), *self.maybe)
        return None if self.lost is None else stage.due((*lost, USERS) if lost else ())

    @property
    def honest(self) -> bool:
        """Whether all points are due."""
        return self.lost == FULL and not self.maybe

    def remark(self, stage: Stage) -> str:
        """Return what is to be said of it."""
        return self.says.format(slug=stage.slug, **stage.tasks)


def notebook_kind(name: str, group: str, change: Change, *expected: Any, **more: Any) -> Kind:
    """Return a kind made by a change of an honest notebook: in place, or what is returned."""

    def put(root: Path, folder: Path) -> None:
        folder.mkdir(parents=True)
        place = stage.of(root)
        (folder / f"{place.slug}.ipynb").write_bytes(changed(root, place, change))

    return Kind(name, group, put, *expected, **more)


def changed(root: Path, place: Stage, change: Change) -> bytes:
    """Return an honest notebook with a change."""
    notebook = place.honest()
    given = change(notebook, place)
    data = notebook if given is None else given
    data = data if isinstance(data, bytes) else json.dumps(data).encode()
    known = {"root": root, "port": _port(root), "slug": place.slug}  # what a spy knows beforehand
    for word, value in known.items():
        data = data.replace(f"{{{word}}}".encode(), str(value).encode())
    return data


def _port(root):
    """Return the port at which a test listens on this host, if one does."""
    file = root / "port"
    return file.read_text() if file.exists() else 9


def code_kinds(group: str, table: Mapping[str, Any]) -> Iterator[Kind]:
    """Return kinds made by other answers: {name: (answers, status, lost, says)}."""
    for name, (answers, *expected) in table.items():
        more = expected.pop() if expected and isinstance(expected[-1], dict) else {}

        def change(notebook, place, answers=answers):
            return place.handed_in(answers)

        yield notebook_kind(name, group, change, *expected, **more)


def kinds() -> list[Kind]:
    """Return every kind there is."""
    from tests.submissions.kinds import cells, cheats, files, habits, oddities, runaways

    modules = (files, cells, runaways, cheats, oddities, habits)
    found = [kind for module in modules for kind in module.KINDS]
    assert len({kind.name for kind in found}) == len(found)
    return found
