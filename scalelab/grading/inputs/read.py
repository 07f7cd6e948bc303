"""From the bytes of a submission to its answers, whatever has happened to the file.

A submission is bytes until proven a notebook. Only answers are taken from it; tests, order, tags,
metadata and kernel are the source's. Trouble costs at most the answer it is in, and is flagged.
Standard library only.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import takewhile

from scalelab import units
from scalelab.grading.inputs.flag import GRAVE, HARMLESS, NOTICED, Flag
from scalelab.grading.inputs.skim import ATTACHED, BYTES, without_outputs
from scalelab.grading.inputs.source import Cell, Source

CELLS, LETTERS = 5_000, 200_000  # letters of a cell, and of all that only people read
_LAYOUT = str.maketrans(dict.fromkeys(" \t\r\n'\"(),"))  # what a formatter of code changes
_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


class NotASubmission(Exception):
    """One clause that says why a file holds no submission."""


@dataclass
class Handed:
    """What a student handed in: the texts of each answer, own cells, and what was odd.

    `extras` are the student's own code cells, by the source cell they follow ("" is the start).
    For people to see: `own` are all own cells in order, each with its place (`after`), its `kind` and
    its `text`; `typed` is, by cell, what was written into a question, a check or another locked cell;
    `attachments` is, by answer, {name: {kind: base64}} of what was pasted into it.
    """

    answers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    extras: dict[str, list[str]] = field(default_factory=dict)
    flags: list[Flag] = field(default_factory=list)
    own: list[dict[str, str]] = field(default_factory=list)
    typed: dict[str, str] = field(default_factory=dict)
    attachments: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)


@dataclass
class _Found:
    kind: str
    text: str
    id: str  # of the cell of the source that this one is, or ""
    attachments: dict[str, dict[str, str]]


def read(data: bytes, source: Source, others: Mapping[str, str] | None = None) -> Handed:
    """Return what was handed in; raise NotASubmission where that is no notebook of this assignment.

    `others` tells the assignment of each released text, to name the one that it is instead.
    """
    handed = Handed()
    cells = _identified(_cells(data, handed.flags), source)
    _insist_on_this_assignment(cells, source, others or {})
    used: set[int] = set()
    for wanted in source.cells:
        if wanted.answer:
            before = {*used}
            handed.answers[wanted.id] = _answer(cells, wanted, source, used, handed.flags)
            _keep_pasted([cells[n] for n in sorted(used - before)], wanted, handed)
        else:
            _note_changed(cells, wanted, handed)
    _note_strayed(source, handed)
    _own_cells(cells, used, handed)
    return handed


def worked_on(data: bytes, source: Source, others: Mapping[str, str] | None = None) -> bool:
    """Say whether a notebook holds more than was released; raise NotASubmission as `read` does."""
    handed = read(data, source, others)
    return bool(handed.own) or not all(
        blank(source.by_id[name], texts) for name, texts in handed.answers.items()
    )


def blank(cell: Cell, texts: Iterable[str]) -> bool:
    r"""Say whether an answer is still what was released, or of a text no more than some lines of it.

    >>> from scalelab.grading.inputs.source import Cell
    >>> blank(Cell("a", "code", "", "pass"), ["pass", " pass\n"])
    True
    >>> blank(Cell("a", "markdown", "", "**1.4 Why?**\n\n*Three sentences.*"), ["**1.4 Why?**\n"])
    True
    """
    released = {line.strip() for line in cell.stub.splitlines()}
    return all(
        text.strip() in ("", cell.stub.strip())
        or (cell.kind == "markdown" and {line.strip() for line in text.splitlines()} <= released)
        for text in texts
    )


def _cells(data, flags):
    """Return the cells as _Found, of a notebook of any format from 3 on."""
    data = without_outputs(data)
    if len(data) > BYTES:
        raise NotASubmission(f"it is larger than {BYTES // 10**6} MB even without its outputs")
    if not data.strip():
        raise NotASubmission("it is empty")
    try:
        notebook = json.loads(_decoded(data, flags))
    except RecursionError:
        raise NotASubmission("it is nested too deep for a notebook") from None
    except ValueError:
        raise NotASubmission("it is not a notebook: it is no JSON, or is cut off") from None
    if not isinstance(notebook, dict):
        raise NotASubmission("it is not a notebook")
    sheets = notebook.get("worksheets")
    cells = notebook.get("cells")
    if cells is None and isinstance(sheets, list):  # format 3
        flags.append(Flag("saved in an old notebook format", HARMLESS))
        cells = [c for s in sheets if isinstance(s, dict) for c in s.get("cells") or []]
    if not isinstance(cells, list) or not cells:
        raise NotASubmission("it is not a notebook: it has no cells")
    if len(cells) > CELLS:
        what = f"it has {len(cells)} cells; only the first {CELLS} were read"
        flags.append(Flag(what, GRAVE))
    return [cell for cell in map(_read_cell, cells[:CELLS]) if cell]


def _decoded(data, flags):
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    try:
        return data.decode()
    except UnicodeDecodeError:
        flags.append(Flag("not written in UTF-8; read as Latin-1", HARMLESS))
        return data.decode("latin-1")


def _read_cell(cell):
    if not isinstance(cell, dict):
        return None
    text = _text(cell.get("source", cell.get("input", ""))).replace("\r\n", "\n")[:LETTERS]
    metadata = cell.get("metadata")
    role = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    named = role.get("grade_id") if isinstance(role, dict) else None
    names = [n for n in (named, cell.get("id")) if isinstance(n, str)]
    kind = "code" if cell.get("cell_type") == "code" else "markdown"
    return _Found(kind, text, "\0".join(names), _pasted(cell.get("attachments")))


def _text(value):
    """Return a text, of one string or of lines, that can be written anywhere."""
    text = "".join(t for t in value if isinstance(t, str)) if isinstance(value, list) else value
    # Half of a surrogate pair is no text.
    return text.encode(errors="replace").decode() if isinstance(text, str) else ""


def _pasted(attachments):
    """Return {name: {kind: base64}} of what was pasted into a cell."""
    given = attachments.items() if isinstance(attachments, dict) else ()
    return {
        _text(name): {_text(kind): _text(data) for kind, data in kinds.items()}
        for name, kinds in given
        if isinstance(kinds, dict)
    }


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


def _insist_on_this_assignment(cells, source, others):
    """Refuse the notebook of another assignment: its cells have the same ids, but other texts."""
    ours = {cell.stub.strip() for cell in source.cells if not cell.answer}
    texts = {cell.text.strip() for cell in cells}
    theirs = Counter(others[text] for text in texts - ours if text in others)
    slug, count = max(theirs.items(), key=lambda item: item[1], default=("", 0))
    if count > len(texts & ours):
        raise NotASubmission(f"it is {slug}, not {source.slug}")
    if not any(cell.id for cell in cells):
        raise NotASubmission(f"it holds no cell of {source.slug}")
    questions = [c for c in source.cells if c.kind == "markdown" and not c.answer]
    asked = {cell.id: _heading(cell.text) for cell in cells}
    foreign = [asked[c.id] != _heading(c.stub) for c in questions if c.id in asked]
    if len(foreign) > 2 and sum(foreign) > len(foreign) / 2:
        raise NotASubmission(
            f"it has mostly the questions of another assignment, not {source.slug}'s"
        )


def _heading(text):
    """Return the words of the first line, which nobody's editor changes."""
    return re.findall(r"\w+", text.strip().partition("\n")[0])


def _answer(cells, wanted, source, used, flags):
    """Return the texts of one answer, in order: usually one, or those of its copies."""

    def note(what, gravity=NOTICED):
        flags.append(Flag(what, gravity, wanted.id))

    mine = [n for n, cell in enumerate(cells) if cell.id == wanted.id]
    by_position = not mine and _at_its_place(cells, wanted, source, used)
    if by_position:
        note("has lost its tag and was found after its question", HARMLESS)
        mine = by_position
    used.update(mine)
    if not mine:
        note("is missing", GRAVE)
        return ()
    if any(cells[n].kind != wanted.kind for n in mine):
        note(f"is no longer a {wanted.kind} cell; its text counts as one")
    texts = [cells[n].text for n in mine]
    written = list(dict.fromkeys(t for t in texts if not blank(wanted, [t])))
    if len(mine) > 1 and not by_position:
        note(f"is there {len(mine)} times; all that differ count, in order")
    if wanted.kind == "markdown" and not written:
        near = sorted(set(_beside(cells, mine)) - used)
        if near:
            note("was left as it was; the text written beside it is read")
            used.update(near)
            return ("\n\n".join(cells[n].text for n in near),)
    if wanted.kind == "markdown" and written:
        written = ["\n\n".join(written)] if by_position else written[-1:]
    return tuple(written or texts[:1])


def _beside(cells, places):
    """Yield where the student's own texts stand before and after some cells, up to the next known one."""
    for place in places:
        for way in (range(place - 1, -1, -1), range(place + 1, len(cells))):
            for n in takewhile(lambda n: not cells[n].id, way):
                if cells[n].kind == "markdown" and cells[n].text.strip():
                    yield n


def _keep_pasted(cells, wanted, handed):
    """Keep what was pasted into the cells of an answer, as far as there is room for it."""
    room = ATTACHED - len(str(handed.attachments))
    kept = {}
    for name, kinds in (pair for cell in cells for pair in cell.attachments.items()):
        room -= len(str(kinds)) + len(name)
        if room > 0:
            kept[name] = kinds
    if kept and wanted.kind == "markdown":
        handed.attachments[wanted.id] = kept


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


def _note_changed(cells, wanted, handed):
    """Note that a locked cell was changed, and keep what was written into it."""
    mine = [cell.text for cell in cells if cell.id == wanted.id]
    if not mine or wanted.stub.strip() in map(str.strip, mine):
        return
    if wanted.kind == "code":
        what = "was changed; the course's own was used"
        handed.flags.append(Flag(what, HARMLESS, wanted.id))
    if any(_bare(text) == _bare(wanted.stub) for text in mine):
        return  # another layout of the same
    known = {_bare(line) for line in ["", *wanted.stub.splitlines()]}
    lines = [line for text in mine for line in text.splitlines() if _bare(line) not in known]
    if lines:
        room = LETTERS - sum(map(len, handed.typed.values()))
        handed.typed[wanted.id] = "\n".join(lines)[:room]


def _bare(text):
    """Return a text without its layout: in another one it is the same text."""
    return text.translate(_LAYOUT)


def _note_strayed(source, handed):
    """Flag where an answer was left blank and something was written into the cells around it."""
    task: list[Cell] = []
    for cell in source.cells:
        task.append(cell)
        if cell.graded:
            into = tuple(c.id for c in task if c.id in handed.typed)
            for answer in task:
                if into and answer.answer and blank(answer, handed.answers[answer.id]):
                    what = "was left as it was; something is written in"
                    handed.flags.append(Flag(what, GRAVE, answer.id, into))
            task = []


def _own_cells(cells, used, handed):
    """Keep the student's own cells, by the known cell they follow."""
    after, room = "", LETTERS
    for n, cell in enumerate(cells):
        if cell.id:
            after = cell.id
        elif n not in used and cell.text.strip():
            if cell.kind == "code":
                handed.extras.setdefault(after, []).append(cell.text)
            handed.own.append({"after": after, "kind": cell.kind, "text": cell.text[:room]})
            room = max(room - len(cell.text), 0)
    count = sum(map(len, handed.extras.values()))
    if count:
        own = f"{units.counted(count, 'cell')} of the student's own"
        handed.flags.append(Flag(own, HARMLESS))
