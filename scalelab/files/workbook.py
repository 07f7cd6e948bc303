"""The sheets of an Excel workbook as CSV text, so that everything that reads a table reads them too.

openpyxl reads them, where it is installed; nothing in a workbook is ever run. What a sheet does not say
itself is refused: a formula whose value was not saved, rows that share a merged cell, macros. So is what
unpacks to far more than a table, or says that it is larger than one.
"""

import csv
import datetime
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from scalelab import units
from scalelab.arguments import shown
from scalelab.files import files
from scalelab.refusal import Refusal

MOST_BYTES = 2**24  # unpacked: some 200,000 cells
MOST_ROWS, MOST_COLUMNS, MOST_SHEETS, MOST_PARTS = 20_100, 200, 50, 500
_OLD = b"\xd0\xcf\x11\xe0"
_SAVE = "save it as .xlsx without macros, or as CSV"


def packed(raw: bytes) -> bool:
    r"""Whether bytes begin as those of a spreadsheet program's file.

    >>> packed(b"PK\x03\x04..."), packed(b"workers,seconds")
    (True, False)
    """
    return raw.startswith((b"PK\x03\x04", _OLD))


def sheets(path: str | Path, raw: bytes) -> list[tuple[str, str]]:
    """Return the name of each sheet that holds cells, and its cells as CSV, a line for each of its rows."""
    _checked(path, raw)
    try:
        import openpyxl
    except ImportError:
        raise Refusal(
            f"{path} must be read by openpyxl, got an environment without it: "
            'pip install "scalelab[xlsx]", or save the sheet as CSV'
        ) from None
    try:
        # Twice: once for what the formulas came to, and once for where there are any.
        values, written = (
            openpyxl.load_workbook(io.BytesIO(raw), data_only=computed, keep_links=False)
            for computed in (True, False)
        )
        found = [
            (sheet.title, _text(path, sheet, written[sheet.title])) for sheet in values.worksheets
        ]
    except Refusal:
        raise
    except Exception as error:  # whatever damage makes of it
        cause = shown(" ".join(f"{type(error).__name__}: {error}".split())[:80])
        raise Refusal(
            f"{path} must be a workbook that opens, got {cause}: open it in a spreadsheet program and "
            "save it again, or as CSV"
        ) from None
    found = [(name, text) for name, text in found if text.strip(",\n")]
    if not found:
        raise files.wrong(path, "", "hold a sheet with cells", "none", "save it again")
    return found


def _checked(path, raw):
    """Refuse what is no workbook of the size of a table, before anything unpacks it."""
    if raw.startswith(_OLD):
        remedy = "remove the password, and save it as .xlsx or CSV"
        raise files.wrong(path, "", "be .xlsx or text", "an old or a locked Office file", remedy)
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise files.wrong(path, "", "be a whole workbook", str(error), "fetch it again") from None
    names = {part.filename for part in parts}
    if "mimetype" in names and "content.xml" in names:
        raise files.wrong(path, "", "be .xlsx or text", "an OpenDocument file", _SAVE)
    if "xl/workbook.xml" not in names:
        raise files.wrong(
            path, "", "be text or a workbook", "a zip file", "unpack it, and name the table"
        )
    if any(name.casefold().endswith("vbaproject.bin") for name in names):
        raise files.wrong(path, "", "hold no macros", "some", _SAVE)
    size = sum(part.file_size for part in parts)
    if size > MOST_BYTES or len(parts) > MOST_PARTS:
        most = units.text(MOST_BYTES, "B", binary=True)
        given = f"{units.text(size, 'B', binary=True)} in {units.counted(len(parts), 'part')}"
        remedy = "keep the one sheet with the table, or save it as CSV"
        raise files.wrong(path, "", f"unpack to at most {most}", given, remedy)


def _text(path, sheet, written):
    """Return the cells of a sheet as CSV."""
    name = f"sheet {shown(sheet.title)}"
    if sheet.max_row > MOST_ROWS or sheet.max_column > MOST_COLUMNS:
        expected = f"hold at most {MOST_ROWS} rows of {MOST_COLUMNS} columns"
        given = f"{sheet.max_row} of {sheet.max_column}"
        raise files.wrong(path, name, expected, given, "delete what is empty, or save it as CSV")
    for merged in sheet.merged_cells.ranges:
        if merged.max_row > merged.min_row:
            expected, remedy = "have a value in each row", "unmerge them, and fill in every row"
            raise files.wrong(
                path, f"{name} cells {merged.coord}", expected, "merged cells", remedy
            )
    lines: list[str] = []
    writer = csv.writer(SimpleNamespace(write=lines.append), lineterminator="\n")
    for cells, formulas in zip(sheet.iter_rows(), written.iter_rows(), strict=True):
        for cell, formula in zip(cells, formulas, strict=True):
            if cell.value is None and formula.data_type == "f":
                place, given = f"{name} cell {cell.coordinate}", "a formula without its value"
                remedy = "open it in a spreadsheet program and save it, or write the value"
                raise files.wrong(path, place, "hold a value", given, remedy)
        writer.writerow([*_words(cells)])
    return "".join(lines)


def _words(cells: Any) -> Iterator[str]:
    """Yield cells as text on one line; a time of day is a duration here."""
    for cell in cells:
        value = cell.value
        if isinstance(value, datetime.time):
            value = datetime.timedelta(
                hours=value.hour,
                minutes=value.minute,
                seconds=value.second,
                microseconds=value.microsecond,
            )
        if isinstance(value, datetime.timedelta):
            minutes, seconds = divmod(value.total_seconds(), 60)
            yield f"{int(minutes // 60)}:{int(minutes % 60):02}:{seconds:09.6f}".rstrip("0").rstrip(
                "."
            )
        else:
            yield "" if value is None else " ".join(str(value).split())
