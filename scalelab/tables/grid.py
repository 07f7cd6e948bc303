"""The cells of a file, whatever it is: CSV of any delimiter, words in columns, Markdown, or JSON."""

import csv
import difflib
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scalelab.arguments import meant, shown
from scalelab.data import datasets
from scalelab.files import files, formats, hyperfine, workbook
from scalelab.records import Recording, Sample
from scalelab.refusal import Refusal
from scalelab.tables import columns as _columns

MOST_BYTES = 2**23
MOST_ROWS = 20_000
MOST_COLUMNS = 200
_CONDITIONS = ("workers", "work", "batch", "scaling", "quality", "rate", "joules")
_PREAMBLE = 20  # lines of title above a header
# Two spaces before one, so that `Step time (ms)` is a heading; and only where no other delimiter shows.
_SPACES = (r"\s{2,}|\t", r"\s+")
_NEAR = 0.75  # of a file's name, to be what was meant
_LINE = 4000  # letters of a line that spaces may part
SHEET = " sheet "  # between the name of a workbook and that of a sheet
_LAYOUT = "have a header with workers and with seconds or throughput"
_OF_HYPERFINE = "give it as in hyperfine -L workers 1,2,4,8"
_OF_OURS = "measure several numbers of workers, by scalelab run --command"
_KEYS = "have a key with workers and with seconds or throughput"
_REMEDY = "name the columns like `workers,seconds` in the first line, or GPUs and Laufzeit (min)"


@dataclass(frozen=True)
class Grid:
    """Cells under their headings, each row with the place it stands at."""

    headings: tuple[_columns.Heading, ...]
    rows: tuple[tuple[int, tuple[Any, ...]], ...]  # (line of the file or entry of the list, cells)
    title: str = ""
    place: str = "line"  # what the number of a row counts
    open_commas: bool = False  # a comma inside a number may be a decimal one
    left_out: tuple[tuple[int, str], ...] = ()  # (line, why) of what is no row


def source(path: str | Path, raw: bytes | None = None, sheet: str | None = None) -> tuple[str, str]:
    """Return how to call a table, and its text: of a workbook the sheet of this name, or the first table.

    What is on standard input is given as bytes.
    """
    return sources(path, raw, sheet)[0]


def sources(
    path: str | Path, raw: bytes | None = None, sheet: str | None = None
) -> list[tuple[str, str]]:
    """Return every table of a workbook, or the one of a text, each with how to call it."""
    name = str(path)
    if raw is None:
        raw = files.content(path, MOST_BYTES)
    if not workbook.packed(raw):
        if sheet is not None:
            raise Refusal(f"sheet must go with a workbook (.xlsx), got {shown(name)}: drop it")
        return [(name, files.decoded(name, raw, MOST_BYTES))]
    if len(raw) > MOST_BYTES:
        files.decoded(name, raw, MOST_BYTES)  # which refuses it
    found = {which: (f"{name}{SHEET}{which!r}", text) for which, text in workbook.sheets(name, raw)}
    if sheet is not None:
        if sheet not in found:
            remedy = meant(sheet, found)
            raise Refusal(f"sheet must be one of {name} with cells, got {shown(sheet)}: {remedy}")
        return [found[sheet]]
    if len(found) == 1:
        return [*found.values()]
    if tables := [one for one in found.values() if _table(*one)]:
        return tables
    raise files.wrong(name, "", "have a sheet with workers and times or rates", [*found], _REMEDY)


def _table(called, text):
    try:
        return bool(of(called, text).rows)
    except Refusal:
        return False


def absent(given: str) -> Refusal | None:
    """What to say of a name that is no file here and looks like none, or None."""
    if "://" in given:
        return Refusal(f"FILE must be a file here, got {shown(given)}: fetch it first")
    if os.path.isdir(given):
        return Refusal(f"FILE must be a file, got the folder {shown(given)}: name a file in it")
    if os.path.lexists(given) or not given or given != os.path.basename(given):
        return None
    remedy = "check its name and the folder you are in"
    here = {name.casefold(): name for name in os.listdir()}
    if near := difflib.get_close_matches(given.casefold(), here, 1, _NEAR):
        remedy = f"did you mean {here[near[0]]}?"
    elif not os.path.splitext(given)[1]:
        remedy = meant(given, datasets.names(), "`scalelab series` lists the series")
    return Refusal(
        f"FILE must be a file here or the name of a public series, got {shown(given)}: {remedy}"
    )


def of(path: str | Path, content: str) -> Grid:
    """Return the Grid of the text of a CSV or JSON file, or of what another tool measured."""
    if (measured := formats.foreign(path, content)) is not None:
        return of_recording(path, measured)
    if Path(path).suffix == ".json" or content.lstrip()[:1] in ("{", "["):
        return _json(path, content)
    return _csv(path, content)


def complete(headings: Iterable[_columns.Heading]) -> bool:
    """Whether a table under these headings can be a scaling table."""
    roles = {h.role for h in headings}
    return "workers" in roles and bool(roles & {"seconds", "throughput"})


def _csv(path, content):
    lines = content.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not content.strip():
        raise files.wrong(path, "", _LAYOUT, "an empty file", "export it again")
    start, delimiter = _header(path, lines)
    title = " ".join(filter(None, (line.strip(' #|,;\t"') for line in lines[:start])))
    rows: list[tuple[int, tuple[Any, ...]]] = []
    left_out: list[tuple[int, str]] = []
    headings: tuple[_columns.Heading, ...] = ()
    for line, cells in _lines(path, lines, start, delimiter):
        if not headings:
            names = [cell.strip() for cell in cells]
            headings = _headings(names)
            _at_most(path, line, len(headings), MOST_COLUMNS, "columns")
            continue
        if not any(cell.strip() for cell in cells):
            continue
        if cells[0].lstrip().startswith("#"):
            left_out.append((line, "a comment"))
            continue
        if [c.strip() for c in cells] == names:  # where files were joined
            left_out.append((line, "the header again"))
            continue
        if all(re.fullmatch(r"\s*:?[-=]+:?\s*", cell) for cell in cells):
            continue  # a ruler
        while len(cells) > len(headings) and not cells[-1].strip():
            cells = cells[:-1]
        if len(cells) > len(headings):
            expected = f"have at most {len(headings)} cells, as the header"
            spaced = delimiter in _SPACES
            remedy = (
                "part the columns by tabs or by two spaces, or write commas"
                if spaced
                else f"is a {delimiter!r} not quoted?"
            )
            raise files.wrong(path, f"line {line}", expected, len(cells), remedy)
        rows.append((line, (*cells, *[""] * (len(headings) - len(cells)))))
        _at_most(path, line, len(rows), MOST_ROWS, "rows")
    if hyperfine.medians(names):
        _one_configuration(path, headings, rows)
    open_commas = delimiter not in (",", "|")
    return Grid(headings, tuple(rows), title, open_commas=open_commas, left_out=tuple(left_out))


def _headings(names):
    """Return what each cell of a header means; of hyperfine's CSV, where the time is called median."""
    means = hyperfine.medians(names)
    known = [_columns.heading(means.get(name, "" if means else name)) for name in names]
    return tuple(replace(one, text=name) for one, name in zip(known, names, strict=True))


def _one_configuration(path, headings, rows):
    """Refuse commands that differ in a parameter beside their workers: they would pass for replicates."""
    means = hyperfine.medians([one.text for one in headings])
    for at, heading in enumerate(headings):
        values = [*dict.fromkeys(cells[at] for _, cells in rows)]
        if heading.text in means and not heading.role and len(values) > 1:
            place, remedy = f"column {shown(heading.text)}", "keep the rows of one configuration"
            raise files.wrong(path, place, "be the same in all rows", values, remedy)


def _lines(path, lines, start, delimiter):
    """Yield the number and the cells of each line from the header on; a quoted cell may hold several."""
    if delimiter in _SPACES:
        width = 0
        for number, line in enumerate(lines[start:], start + 1):
            # The # before a header is no column; before a row it makes a comment.
            cells = _spaced(line, delimiter, header=not width)
            if width and len(cells) < width == len(closer := _spaced(line[:_LINE], _SPACES[1])):
                cells = closer  # a row may stand closer than its header
            width = width or len(cells)
            yield number, cells
        return
    reader = csv.reader(lines[start:], delimiter=delimiter, strict=True, skipinitialspace=True)
    try:
        for row in reader:
            cells = _inner(row) if delimiter == "|" else row
            yield start + reader.line_num, cells or [""]
    except csv.Error as error:
        line = f"line {start + reader.line_num}"
        raise files.wrong(path, line, "be CSV", str(error), "export it again") from None


def _header(path, lines):
    """Return the first line whose cells name a scaling table, and the delimiter that shows them."""
    seen = []
    for number, line in enumerate(lines[:_PREAMBLE]):
        if line.strip() and not re.fullmatch(r"\W*sep=.", line.strip()):
            seen.append((number + 1, line.strip()))
        for delimiter in ",;\t|":
            try:
                cells = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
            except csv.Error:
                continue
            cells = _inner(cells) if delimiter == "|" else cells
            cells = [cell.strip() for cell in cells]
            if len(cells) <= MOST_COLUMNS and complete(_headings(cells)):
                return number, delimiter
            if hyperfine.medians(cells):
                place, expected = f"line {number + 1}", "say the workers of each command"
                raise files.wrong(path, place, expected, cells[8:] or "none", _OF_HYPERFINE)
    for number, line in enumerate(lines[:_PREAMBLE]):
        # A sentence may hold the words of a header: only what stands over as many cells is one.
        below = next((one for one in lines[number + 1 :] if one.strip(" \t-=")), "")
        for spaces in _SPACES if len(line) < _LINE else ():
            cells = _spaced(line, spaces, header=True)
            alike = len(cells) == len(_spaced(below[:_LINE], spaces))
            if alike and complete([_columns.heading(c) for c in cells]):
                return number, spaces
    line, text = seen[0] if seen else (1, "nothing")
    if text.startswith("sample,run,seconds,"):
        raise files.wrong(path, "line 1", "say the workers of each sample", "none", _OF_OURS)
    if re.match(r"<(?:!doctype )?html", text, re.I):
        expected, remedy = "be a table", "save the file itself, and not the page that shows it"
        raise files.wrong(path, "", expected, "a web page", remedy)
    raise files.wrong(path, f"line {line}", _LAYOUT, text, _REMEDY)


def _spaced(line, spaces, header=False):
    """Return the words of a line that spaces part."""
    return re.split(spaces, line.strip().removeprefix("# " if header else "").strip())


def _inner(cells):
    return cells[1:-1] if len(cells) > 2 and not cells[0].strip() + cells[-1].strip() else cells


def _json(path, content):
    data = files.loaded(path, content)
    title = ""
    if isinstance(data, dict) and data.get("record") == "Recording":
        recording = files.record(path, content)
        assert isinstance(recording, Recording)
        return of_recording(path, recording, _OF_OURS)
    if isinstance(data, dict):
        texts = [data.get(key) for key in ("title", "name", "scaling", "note")]
        title = " ".join(text for text in texts if isinstance(text, str))
        lists = [k for k in ("rows", "data", "results", "runs") if isinstance(data.get(k), list)]
        if lists:
            data = data[lists[0]]
        else:
            data = _transposed(path, {k: v for k, v in data.items() if isinstance(v, list)})
    if not isinstance(data, list) or not data:
        expected = "hold a list of rows, or columns of equal length"
        raise files.wrong(path, "", expected, data, 'write [{"workers": 1, "seconds": 60}, ...]')
    _at_most(path, "", len(data), MOST_ROWS, "rows")
    names: list[str] = []
    for number, row in enumerate(data, 1):
        if not isinstance(row, dict):
            expected = "be an object with workers and with seconds or throughput"
            raise files.wrong(path, f"row {number}", expected, row, "write {...} for each row")
        names.extend(key for key in row if key not in names)
        _at_most(path, f"row {number}", len(names), MOST_COLUMNS, "columns")
    headings = tuple(_columns.heading(name) for name in names)
    if not complete(headings):
        raise files.wrong(path, "row 1", _KEYS, names, "name the columns like `workers,seconds`")
    rows = tuple((n, tuple(row.get(k) for k in names)) for n, row in enumerate(data, 1))
    return Grid(headings, rows, title, "row")


def _transposed(path, columns):
    lengths = {name: len(cells) for name, cells in columns.items()}
    if len(set(lengths.values())) > 1:
        raise files.wrong(path, "", "have columns of equal length", lengths, "fill with null")
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def of_recording(path: str | Path, recording: Recording, remedy: str = _OF_HYPERFINE) -> Grid:
    """Return the Grid of what was measured: a row for each repetition, conditions as columns."""
    conditions = [
        name
        for name in dict.fromkeys(name for sample in recording.samples for name in sample.given)
        if _columns.heading(name).role in _CONDITIONS
    ]
    by = [name for name in conditions if _columns.heading(name).role == "workers"]
    if not by:
        known = sorted({name for sample in recording.samples for name in sample.given})
        expected = "say the workers of each sample"
        raise files.wrong(path, "", expected, known or "no condition", remedy)
    rows: list[tuple[int, tuple[Any, ...]]] = []
    first: dict[Any, Sample] = {}
    for sample in recording.samples:
        given = sample.given
        other = first.setdefault(tuple(given.get(name) for name in by), sample)
        differing = [k for k in given | other.given if given.get(k) != other.given.get(k)]
        if not differing and sample.label != other.label:
            differing = [other.label, sample.label]
        if differing:
            expected = "differ in workers only"
            remedy = "keep the samples of one configuration"
            raise files.wrong(path, shown(sample.label), expected, differing, remedy)
        values = [given.get(name) for name in conditions]
        failed = ["failed"] * any(caution.name == hyperfine.FAILED for caution in sample.advice)
        # Numbered through, because a recording that was added to holds a size more than once.
        for cell in (*sample.seconds, *failed):
            rows.append((len(rows) + 1, (*values, cell, str(len(rows) + 1), sample.machine.name)))
    _at_most(path, "", len(rows), MOST_ROWS, "rows")
    headings = tuple(_columns.heading(name) for name in (*conditions, "seconds", "run", "machine"))
    return Grid(headings, tuple(rows), f"{recording.title} {recording.note}".strip(), "repetition")


def _at_most(path, place, count, most, what):
    if count > most:
        place = f"line {place}" if isinstance(place, int) else place
        raise files.wrong(path, place, f"hold at most {most} {what}", count, "cut it down")
