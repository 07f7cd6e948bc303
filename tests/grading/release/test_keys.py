"""Numbers of one's own, from the keys an instructor hands out to the scores in the gradebook."""

import csv
import os
import subprocess
import sys

import nbformat
import pytest

from scalelab.grading.box import bubblewrap
from scalelab.grading.release import release
from tests.cli.command import here as run
from tests.notebooks import ROOT
from tests.submissions import assignment, classes
from tests.submissions.kinds import code_kinds

pytestmark = pytest.mark.skipif(bool(bubblewrap.find().missing), reason=bubblewrap.find().missing)
NUMBERS = 'from scalelab.checks import variant\njob = variant("demo/2.1", serial=(0.01, 0.2))'


@pytest.fixture
def course(tmp_path):
    """A course whose second task has numbers for everybody, and a secret."""
    root = assignment.course(tmp_path)
    path = root / "solutions" / "demo" / "demo.ipynb"
    written = nbformat.read(path, 4)
    at = next(n for n, cell in enumerate(written.cells) if cell.id == "question-2-1")
    cell = nbformat.v4.new_code_cell(NUMBERS, id="numbers-2-1")
    role = {"grade": False, "solution": False, "locked": True, "task": False, "schema_version": 3}
    cell.metadata["nbgrader"] = role | {"grade_id": "numbers-2-1"}
    written.cells.insert(at + 1, cell)
    for cell in written.cells:
        cell.source = cell.source.replace("1 / 0.05", "1 / job.serial")
        cell.source = cell.source.replace("expect=20.0", "expect=1 / job.serial")
    nbformat.write(written, path)
    (root / "exercises" / "demo" / "demo.ipynb").write_text(release.build(root, "demo"))
    (root / "course").mkdir(exist_ok=True)
    (root / "course" / "secret").write_text("a word\n")
    return root


def at_home(folder, key=""):
    """Return the number that a student sees who keeps a key beside the notebook, or none."""
    folder.mkdir()
    if key:
        (folder / "scalelab.key").write_text(key)
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    line = [sys.executable, "-c", f"{NUMBERS}\nprint(job.serial)"]
    done = subprocess.run(
        line, cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def test_keys_lead_from_the_release_to_the_scores(course, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(course)
    assert run("keys", "ada", "ben") == 0
    assert "2 keys" in capsys.readouterr().out
    home = tmp_path / "home"
    home.mkdir()
    serial = {
        name: at_home(home / name, (course / "course" / "keys" / f"{name}.key").read_text())
        for name in ("ada", "ben")
    }
    serial["cleo"] = at_home(home / "cleo")  # no key: the public numbers
    serial["dan"] = serial["ada"]  # no key either, and someone else's answer
    assert len(set(serial.values())) == 3
    for student, number in serial.items():
        answers = {"answer-2-1": f"limit = {1 / number}"}
        (kind,) = code_kinds("keys", {student: (answers,)})
        kind.put(course, course / "course" / "submitted" / student / "demo")
    found = classes.grade(course, executor=classes.here, gradebook=True)
    classes.close()
    assert {name: one["score"] for name, one in found.items()} == {
        **{"ada": 6.0, "ben": 6.0, "cleo": 6.0},
        "dan": 5.0,
    }
    with (course / "course" / "graded" / "demo" / "scores.csv").open() as file:
        rows = {row["student"]: float(row["check-2-1"]) for row in csv.DictReader(file)}
    assert rows == {"ada": 1, "ben": 1, "cleo": 1, "dan": 0}


def test_everybody_of_a_roster_gets_the_key_that_they_would_get_by_name(
    course, monkeypatch, capsys
):
    monkeypatch.chdir(course)
    (course / "students.csv").write_text("name,id\nAda,ada\nBen,ben\n")
    assert run("keys", "ben") == 0
    by_name = (course / "course" / "keys" / "ben.key").read_text()
    assert run("keys", "--roster", "students.csv", "ben") == 0
    assert "2 keys" in capsys.readouterr().out
    assert (course / "course" / "keys" / "ben.key").read_text() == by_name
    assert (course / "course" / "keys" / "ada.key").exists()
    assert run("keys") == 2
