"""From the bytes of a submission to its answers, whatever has happened to the file.

A submission is bytes until proven a notebook. Only answers are taken from it; tests, order, tags,
metadata and kernel are the source's. Trouble costs at most the answer it is in, and is flagged.
Standard library only.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field

from scalelab.grading.inputs.source import Cell, Source

BYTES, CELLS, LETTERS = 50_000_000, 5_000, 200_000
_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


class Unreadable(Exception):
    """One clause that says why a file holds no submission."""


@dataclass
class Handed:
    """What a student handed in: the texts of each answer, own cells, and what was odd.

    `extras` are the student's own code cells, by the source cell they follow ("" is the start).
    """

    answers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    extras: dict[str, list[str]] = field(default_factory=dict)
    flags: list[str] = field(default_factory=list)


@dataclass
class _Found:
    kind: str
    text: str
    id: str  # of the cell of the source that this one is, or ""


def read(data: bytes, source: Source) -> Handed:
    """Return what was handed in; raise Unreadable where that is no notebook of this assignment."""
    handed = Handed()
    cells = _identified(_cells(data, handed.flags), source)
    if not any(cell.id for cell in cells):
        raise Unreadable(f"it holds no cell of {source.slug}")
    used: set[int] = set()
    for wanted in source.cells:
        if wanted.answer:
            handed.answers[wanted.id] = _answer(cells, wanted, source, used, handed.flags)
        elif wanted.kind == "code":
            _note_changed(cells, wanted, handed.flags)
    _own_cells(cells, used, handed)
    return handed


def blank(cell: Cell, texts: Iterable[str]) -> bool:
    r"""Say whether an answer is still what was released.

    >>> from scalelab.grading.inputs.source import Cell
    >>> blank(Cell("a", "code", "", "..."), ["...", " ...\n"])
    True
    """
    return all(not text.strip() or text.strip() == cell.stub.strip() for text in texts)


def _cells(data, flags):
    """Return the cells as _Found, of a notebook of any format from 3 on."""
    if len(data) > BYTES:
        raise Unreadable(f"it is larger than {BYTES // 10**6} MB")
    if not data.strip():
        raise Unreadable("it is empty")
    try:
        notebook = json.loads(_decoded(data, flags))
    except RecursionError:
        raise Unreadable("it is nested too deep for a notebook") from None
    except ValueError:
        raise Unreadable("it is not a notebook: it is no JSON, or is cut off") from None
    if not isinstance(notebook, dict):
        raise Unreadable("it is not a notebook")
    sheets = notebook.get("worksheets")
    cells = notebook.get("cells")
    if cells is None and isinstance(sheets, list):  # format 3
        flags.append("saved in an old notebook format")
        cells = [c for s in sheets if isinstance(s, dict) for c in s.get("cells") or []]
    if not isinstance(cells, list) or not cells:
        raise Unreadable("it is not a notebook: it has no cells")
    if len(cells) > CELLS:
        flags.append(f"it has {len(cells)} cells; only the first {CELLS} were read")
    return [cell for cell in map(_read_cell, cells[:CELLS]) if cell]


def _decoded(data, flags):
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    try:
        return data.decode()
    except UnicodeDecodeError:
        flags.append("not written in UTF-8; read as Latin-1")
        return data.decode("latin-1")


def _read_cell(cell):
    if not isinstance(cell, dict):
        return None
    text = cell.get("source", cell.get("input", ""))
    text = "".join(t for t in text if isinstance(t, str)) if isinstance(text, list) else text
    text = text.replace("\r\n", "\n") if isinstance(text, str) else ""
    # Half of a surrogate pair is no text that could be written anywhere.
    text = text.encode(errors="replace").decode()[:LETTERS]
    metadata = cell.get("metadata")
    role = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    named = role.get("grade_id") if isinstance(role, dict) else None
    names = [n for n in (named, cell.get("id")) if isinstance(n, str)]
    kind = "code" if cell.get("cell_type") == "code" else "markdown"
    return _Found(kind, text, "\0".join(names))


def _identified(cells, source):
    """Give every cell the id of the source's cell it is: by its tag, its id or its text."""
    texts = {c.stub.strip(): c.id for c in source.cells if not c.answer and c.stub.strip()}
    for cell in cells:
        names = [name for name in cell.id.split("\0") if name in source.by_id]
        # An answer that was tagged as something else still has its own id.
        names.sort(key=lambda name: not source.by_id[name].answer)
        cell.id = names[0] if names else ""
        same = texts.get(cell.text.strip())
        if same:  # a question or a check by its very words, whatever its tag says
            cell.id = same
    return cells


def _answer(cells, wanted, source, used, flags):
    """Return the texts of one answer, in order: usually one, or those of its copies."""
    mine = [n for n, cell in enumerate(cells) if cell.id == wanted.id]
    by_position = not mine and _at_its_place(cells, wanted, source, used)
    if by_position:
        flags.append(f"{wanted.id} has lost its tag and was found after its question")
        mine = by_position
    used.update(mine)
    if not mine:
        flags.append(f"{wanted.id} is missing")
        return ()
    if any(cells[n].kind != wanted.kind for n in mine):
        flags.append(f"{wanted.id} is no longer a {wanted.kind} cell; its text counts as one")
    texts = [cells[n].text for n in mine]
    written = list(dict.fromkeys(t for t in texts if not blank(wanted, [t])))
    if len(mine) > 1 and not by_position:
        flags.append(f"{wanted.id} is there {len(mine)} times; all that differ count, in order")
    if wanted.kind == "markdown" and written:
        written = ["\n\n".join(written)] if by_position else written[-1:]
    return tuple(written or texts[:1])


def _at_its_place(cells, wanted, source, used):
    """Find unknown cells of the right kind between the question and the next known cell."""
    order = [cell.id for cell in source.cells]
    before = [name for name in order[: order.index(wanted.id)] if not source.by_id[name].answer]
    start = next((n for n, c in enumerate(cells) if before and c.id == before[-1]), None)
    if start is None:
        return []
    positions = []
    for n in range(start + 1, len(cells)):
        if cells[n].id:
            break
        if n not in used and cells[n].kind == wanted.kind and cells[n].text.strip():
            positions.append(n)
    return positions


def _note_changed(cells, wanted, flags):
    mine = [cell.text.strip() for cell in cells if cell.id == wanted.id]
    if mine and wanted.stub.strip() not in mine:
        flags.append(f"{wanted.id} was changed; the course's own was used")


def _own_cells(cells, used, handed):
    """Keep the student's own code cells, by the known cell they follow."""
    after = ""
    for n, cell in enumerate(cells):
        if cell.id:
            after = cell.id
        elif n not in used and cell.kind == "code" and cell.text.strip():
            handed.extras.setdefault(after, []).append(cell.text)
    count = sum(map(len, handed.extras.values()))
    if count:
        handed.flags.append(f"{count} cell{'s' * (count > 1)} of the student's own")
