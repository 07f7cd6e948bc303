"""Excel workbooks: read as their CSV, or refused in a sentence that says how to get them in."""

import datetime
import io
import random
import re
import sys
import zipfile

import pytest

import scalelab
from scalelab.files import workbook
from scalelab.refusal import Refusal
from scalelab.tables import table
from tests.cli.command import scalelab as command
from tests.models.test_bad_input import SENTENCE

openpyxl = pytest.importorskip("openpyxl")  # of requirements-dev.txt


def book(folder, *sheets, change=None):
    """Write sheets of rows under their names, and return the file."""
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets:
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    if change:
        change(made)
    made.save(folder / "study.xlsx")
    return folder / "study.xlsx"


def refused(file):
    with pytest.raises(Refusal) as caught:
        table.read(file)
    assert SENTENCE.fullmatch(str(caught.value)), caught.value
    return str(caught.value)


ROWS = [["GPUs", "Zeit (min)", "Notiz"], [1, 92.5, "x"], [2, 47.1, None], [4, None, "OOM"]]


def test_a_sheet_is_read_as_its_csv_would_be(tmp_path):
    found = table.read(book(tmp_path, ("Läufe", [*ROWS[:2], [2, 47.1, "a\nb"]])))
    assert found.values == (5550, 2826)
    assert found.name == "study, sheet 'Läufe'"
    assert [row.line for row in found.rows] == [2, 3]


def test_times_of_a_clock_are_durations(tmp_path):
    rows = [
        ["workers", "time"],
        [1, datetime.timedelta(hours=30, seconds=1.5)],
        [2, datetime.time(1, 32, 10)],
    ]
    assert table.read(book(tmp_path, ("a", rows))).values == (108001.5, 5530)


def test_of_several_sheets_the_first_that_is_a_table_is_read_and_named(tmp_path):
    about = [["made by", "ada"], ["on", "a cluster"]]
    found = table.read(book(tmp_path, ("about", about), ("weak", ROWS), ("strong", ROWS)))
    assert found.name == "study, sheet 'weak'"
    assert found.claim == ("weak", "its name")
    assert "must have a sheet with workers" in refused(
        book(tmp_path, ("about", about), ("b", about))
    )


def test_any_sheet_can_be_chosen(tmp_path):
    file = book(tmp_path, ("weak", ROWS), ("old runs", [ROWS[0], [1, 60, "y"], [2, 40, "y"]]))
    assert table.read(file, "old runs").values == (3600, 2400)
    assert scalelab.read(file, sheet="old runs").name == "study, sheet 'old runs'"
    for name, remedy in (("old", "did you mean old runs?"), ("zz", "there are weak, old runs")):
        with pytest.raises(Refusal, match=re.escape(f"got '{name}': {remedy}")):
            table.read(file, name)
    with pytest.raises(Refusal, match="sheet must go with a workbook"):
        scalelab.read({"workers": [1], "seconds": [2]}, sheet="weak")


def test_a_command_says_which_sheet_it_read_and_takes_another(tmp_path):
    file = book(tmp_path, ("weak", ROWS), ("about", [["by", "ada"]]), ("old", ROWS))
    first = command("audit", file)
    assert first.stderr == "sheet 'weak' is read; --sheet takes 'old'\n"
    for quiet in (("--quiet",), ("--sheet", "old")):
        done = command("audit", file, *quiet)
        assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("study, sheet 'old': 2 rows")
    with_a_fault = command("audit", file, "--sheet", "about")
    assert "study.xlsx sheet 'about' line 1 must have a header" in with_a_fault.stderr


def test_a_fault_is_named_by_sheet_and_line(tmp_path):
    said = refused(book(tmp_path, ("Runs", [["workers", "seconds"], [1, "fast"]])))
    assert "study.xlsx sheet 'Runs' line 2 column 'seconds' must be a positive time" in said


def test_a_title_over_several_columns_is_fine_and_merged_rows_are_not(tmp_path):
    rows = [["my runs", None], *[row[:2] for row in ROWS[:2]]]
    titled = book(tmp_path, ("a", rows), change=lambda made: made["a"].merge_cells("A1:B1"))
    assert table.read(titled).values == (5550,)
    down = book(tmp_path, ("a", ROWS), change=lambda made: made["a"].merge_cells("A2:A3"))
    assert "cells A2:A3 must have a value in each row, got 'merged cells': unmerge" in refused(down)


def test_a_formula_without_its_value_is_refused_by_its_cell(tmp_path):
    rows = [["workers", "seconds"], [1, 60], [2, "=B2/2"]]
    assert "cell B3 must hold a value, got 'a formula without its value': open" in refused(
        book(tmp_path, ("a", rows))
    )


def altered(file, name, content):
    """Add a part to a workbook."""
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return file


def test_macros_bombs_and_far_cells_are_refused_before_they_are_opened(tmp_path, monkeypatch):
    file = book(tmp_path, ("a", ROWS))
    far = book(tmp_path, ("a", ROWS), change=lambda made: made["a"].cell(900_000, 16_000, 1))
    assert "must hold at most 20100 rows" in refused(far)
    monkeypatch.setattr(openpyxl, "load_workbook", lambda *_, **__: pytest.fail("it was opened"))
    file = book(tmp_path, ("a", ROWS))
    assert "must hold no macros" in refused(altered(file, "xl/vbaProject.bin", b"x"))
    file = book(tmp_path, ("a", ROWS))
    assert "must unpack to at most 16 MiB" in refused(altered(file, "xl/big.xml", bytes(2**25)))


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"\xd0\xcf\x11\xe0" + bytes(600), "an old or a locked Office file"),
        (b"PK\x03\x04" + bytes(600), "must be a whole workbook"),
    ],
)
def test_what_is_no_workbook_is_called_what_it_is(tmp_path, raw, said):
    (tmp_path / "a.xlsx").write_bytes(raw)
    assert said in refused(tmp_path / "a.xlsx")


@pytest.mark.parametrize(
    ("parts", "said"),
    [(["a.csv"], "got 'a zip file'"), (["mimetype", "content.xml"], "an OpenDocument file")],
)
def test_another_archive_is_called_what_it_is(tmp_path, parts, said):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for part in parts:
            archive.writestr(part, "x")
    (tmp_path / "a.xlsx").write_bytes(made.getvalue())
    assert said in refused(tmp_path / "a.xlsx")


def test_without_openpyxl_the_way_is_named(tmp_path, monkeypatch):
    file = book(tmp_path, ("a", ROWS))
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    assert 'pip install "scalelab[xlsx]", or save the sheet as CSV' in refused(file)


def test_a_damaged_workbook_is_read_or_refused_in_a_sentence(tmp_path):
    whole = book(tmp_path, ("a", ROWS)).read_bytes()
    chance = random.Random(1)
    for _ in range(60):
        raw = bytearray(whole)
        for _ in range(chance.randint(1, 8)):
            raw[chance.randrange(len(raw))] = chance.randrange(256)
        (tmp_path / "b.xlsx").write_bytes(bytes(raw[: chance.randint(40, len(raw))]))
        said = ""
        try:
            table.read(tmp_path / "b.xlsx")
        except Refusal as error:
            said = str(error)
        assert not said or SENTENCE.fullmatch(said), said


def test_bytes_are_known_by_how_they_begin():
    assert not workbook.packed(b"workers,seconds")
