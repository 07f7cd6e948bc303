"""What an instructor keeps in course/*.csv: one reader, and one sentence for whatever is wrong there.

A table that is not there has no rows; a bad row is refused, for half a table would be half of a class.
Standard library only.
"""

import csv
import difflib
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scalelab.arguments import shown
from scalelab.grading.inputs.course import Course
from scalelab.refusal import Refusal

BYTES = 5_000_000  # of one table


@dataclass(frozen=True)
class Entry:
    """A row of such a table: its cells by the name of their column, and where it stands."""

    table: str
    line: int
    cells: dict[str, str]

    def __getitem__(self, column: str) -> str:
        """Return a cell, "" where its column is not there."""
        return self.cells.get(column, "")

    def wrong(self, wanted: str, got: str) -> Refusal:
        """Return the refusal of this row.

        >>> print(Entry("groups.csv", 7, {}).wrong("a group", "none"))
        course/groups.csv must have a group, got none in line 7: mend it
        """
        return _wrong(self.table, wanted, f"{got} in line {self.line}")


def rows(course: Course, table: str, columns: Sequence[str]) -> list[Entry]:
    """Return the rows of course/`table`, each with something in every one of these columns.

    Other columns may be there, or empty. The case of their names does not count, nor spaces around a cell.
    """
    lines = [*_lines(table, _text(course, table))]
    if not lines:
        return []
    names = [name.lower() for name in lines[0][1]]
    missing = [name for name in columns if names.count(name) != 1]
    if missing:
        heading = f"line 1 with the columns {', '.join(columns)}"
        raise _wrong(table, f"{heading}, each once", shown(", ".join(lines[0][1])))
    known = _assignments(course) if "assignment" in columns else []
    entries = []
    for line, cells in lines[1:]:
        row = Entry(table, line, dict(zip(names, cells, strict=False)))
        if any(cells[len(names) :]):
            most = f"at most {len(names)} cells in a row, those with a comma in quotes"
            raise row.wrong(most, str(len(cells)))
        for name in columns:
            if not row[name]:
                raise row.wrong(f"something in column {name}", "nothing")
        if row["assignment"] not in known:  # a slip would be a rule that nobody follows
            for meant in difflib.get_close_matches(row["assignment"], known, 1, 0.8):
                raise row.wrong(
                    f"the name of an assignment, such as {meant}", shown(row["assignment"])
                )
        entries.append(row)
    return entries


def by_student(found: Iterable[Entry], slug: str) -> dict[str, Entry]:
    """Return the rows of one assignment by student, each of whom is there once."""
    mine: dict[str, Entry] = {}
    for row in found:
        if row["assignment"] == slug:
            if row["student"] in mine:
                raise row.wrong(f"{shown(row['student'])} once for {slug}", "it again")
            mine[row["student"]] = row
    return mine


def _assignments(course):
    """Return the names of the course's assignments."""
    folder = course.folder("source")
    return [one.name for one in folder.iterdir() if one.is_dir()] if folder.is_dir() else []


def _text(course, table):
    """Return the text of a table, "" where there is none."""
    try:
        with (course.root / "course" / table).open("rb") as file:
            data = file.read(BYTES + 1)
        if len(data) > BYTES:
            raise _wrong(table, f"at most {BYTES // 10**6} MB", "more")
        return data.decode("utf-8-sig")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise _wrong(table, "rows that can be read", f"an error ({error.strerror})") from None
    except UnicodeDecodeError:
        raise _wrong(table, "its text in UTF-8", "another encoding") from None


def _lines(table, text):
    """Yield (number of its first line, cells) of all rows that are not empty."""
    head = text.partition("\n")[0]
    comma = max(",;\t", key=head.count)  # spreadsheets separate cells as their country does
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=comma, strict=True)
    line = 1
    try:
        for cells in reader:
            stripped = [cell.strip() for cell in cells]
            if any(stripped):
                yield line, stripped
            line = reader.line_num + 1
    except csv.Error as error:
        raise _wrong(table, "a CSV table", f"another ({error}) in line {line}") from None


def _wrong(table, wanted, got):
    return Refusal(f"course/{table} must have {wanted}, got {got}: mend it")
