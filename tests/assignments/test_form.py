"""Every assignment is built alike: cells and ids, minutes and points, hints, mark schemes."""

import contextlib
import io
import re
from unittest import mock

import nbformat
import pytest
from nbgrader import utils

from scalelab.grading.inputs.source import HINT, hints
from scalelab.grading.release import release
from tests.assignments.runner import ROOT, SLUGS, Assignment, in_course

pytestmark = pytest.mark.turns(2)

ONE_PER_SLUG = pytest.mark.parametrize("slug", SLUGS)


@ONE_PER_SLUG
def test_the_notebook_is_an_nbgrader_notebook_with_readable_ids(slug):
    assignment = Assignment(slug)
    assert list(assignment.cells) == [cell.id for cell in assignment.notebook.cells]
    for key, cell in assignment.cells.items():
        assert cell.metadata.nbgrader.schema_version == 3
        assert utils.is_solution(cell) == key.startswith("answer-")
        assert utils.is_locked(cell) == (not key.startswith("answer-"))
        if utils.is_grade(cell):
            task = key.split("-", 1)[1]
            points = f"{cell.metadata.nbgrader.points} points"
            assert points in assignment.cells[f"question-{task}"].source


@ONE_PER_SLUG
def test_minutes_and_points_on_top_are_the_sums_of_the_tasks(slug):
    assignment = Assignment(slug)
    rows = re.findall(
        r"^\| (\d)\. .* \| (\d+) \| (\d+) \|$", assignment.cells["title"].source, re.M
    )
    assert len(rows) == 3
    for exercise, minutes, points in rows:
        questions = [
            c.source for k, c in assignment.cells.items() if k.startswith(f"question-{exercise}")
        ]
        stated = [re.search(r"\*(\d+) minutes, (\d+) points", text).groups() for text in questions]
        assert sum(int(m) for m, _ in stated) == int(minutes)
        assert sum(int(p) for _, p in stated) == int(points)
    assert 45 <= sum(int(minutes) for _, minutes, _ in rows) <= 90


@ONE_PER_SLUG
def test_every_exercise_ends_in_an_explanation_with_a_mark_scheme_of_four_levels(slug):
    assignment, released = Assignment(slug), Assignment(slug, "exercises")
    for exercise in "123":
        last = [key for key in assignment.cells if key.startswith(f"answer-{exercise}")][-1]
        question = last.replace("answer", "question")
        scheme = assignment.cells[question].source.partition("=== BEGIN MARK SCHEME ===")[2]
        assert re.findall(r"^\*\*(\d) points?:\*\*", scheme, re.M) == ["3", "2", "1", "0"]
        assert len(re.findall(r"^\n> ", scheme, re.M)) == 4
        assert assignment.cells[last].cell_type == "markdown"
        assert utils.is_grade(assignment.cells[last])
        assert "points:**" not in released.cells[question].source


@ONE_PER_SLUG
def test_every_task_has_two_hints_from_a_nudge_to_the_missing_step(slug):
    for key, cell in Assignment(slug).cells.items():
        folded = cell.source.count("<details>")
        found = hints(cell.source)
        if key.startswith("question-"):
            assert [number for number, _, _ in found] == [1, 2], key
            assert all(title and len(body.split()) >= 5 for _, title, body in found), key
            assert found[0][2] != found[1][2]
        assert folded == len(found), f"{key}: a fold that is not written like a hint"


@ONE_PER_SLUG
def test_the_title_announces_what_is_hidden_and_what_is_folded(slug):
    title = Assignment(slug).cells["title"].source
    assert "when this is graded" in title.lower()
    assert "Two hints are folded below each question" in title
    # And what the folded checks leave open: one of ten did not say so.
    assert "Single values are only looked over here" in title


@ONE_PER_SLUG
def test_an_exam_has_no_hints_and_is_the_same_otherwise(slug):
    exam = nbformat.reads(release.build(ROOT, slug, exam=True), 4)
    usual = Assignment(slug, "exercises").notebook
    assert not any(HINT.search(cell.source) for cell in exam.cells)
    for cell, other in zip(exam.cells, usual.cells, strict=True):
        assert cell.metadata.nbgrader.get("checksum") == (
            utils.compute_checksum(cell) if "checksum" in cell.metadata.nbgrader else None
        )
        if HINT.search(other.source):
            assert set(cell.source.split("\n")) <= set(other.source.split("\n"))
        else:
            assert cell == other


@ONE_PER_SLUG
def test_checks_and_numbers_are_folded_to_a_line_that_says_what_they_are(slug):
    for key, cell in Assignment(slug, "exercises").cells.items():
        kind, _, task = key.partition("-")
        folded = kind in ("check", "numbers", "standing")
        assert cell.metadata.get("jupyter", {}).get("source_hidden", False) == folded, key
        if folded:
            first = cell.source.partition("\n")[0]
            assert first.startswith("# "), key
            assert task.replace("-", ".") in first, key


@ONE_PER_SLUG
def test_the_last_cell_sums_up_every_task_with_its_points(slug):
    assignment, told = Assignment(slug), {}
    key, cell = list(assignment.cells.items())[-1]
    assert key == "standing"
    with mock.patch(
        "scalelab.checks.where_you_stand", lambda checked, read: told.update(checked | read)
    ):
        exec(cell.source, {})
    assert told == {
        name.partition("-")[2].replace("-", "."): cell.metadata.nbgrader.points
        for name, cell in assignment.cells.items()
        if utils.is_grade(cell)
    }


def test_the_course_has_a_hundred_graded_tasks_once_all_ten_are_there():
    tasks = {slug: sum(map(utils.is_grade, Assignment(slug).notebook.cells)) for slug in SLUGS}
    assert {slug: count for slug, count in tasks.items() if count < 8} == {}
    assert sum(tasks.values()) >= 100 or len(SLUGS) < 10


@ONE_PER_SLUG
def test_the_numbers_of_every_task_have_a_name_of_their_own(slug):
    """Students jump back and forth: a name used twice would hold another task's numbers."""
    cells = [c for c in Assignment(slug).notebook.cells if c.cell_type == "code"]
    shown = "\n".join(c.source for c in cells if not utils.is_grade(c))
    names = re.findall(r"^(\w+) = variant\(", shown, re.M)
    assert len(set(names)) == len(names)
    assert all(f"print({name})" in shown for name in names)


@ONE_PER_SLUG
def test_a_check_needs_nothing_but_the_answers(slug):
    """It is run where nothing of the notebook is, and says that nothing was attempted."""
    assignment = Assignment(slug)
    for key in assignment.checks:
        said = io.StringIO()
        with in_course(), contextlib.redirect_stdout(said):
            exec(assignment.cells[key].source, {})
        assert "not attempted, 0 of" in said.getvalue()


@ONE_PER_SLUG
def test_a_release_holds_no_right_value_and_every_kind_is_asked_again_as_a_value(slug):
    for key in Assignment(slug).checks:
        calls = []
        with in_course(), mock.patch("scalelab.checks.Task", _recorder(calls)):
            exec(Assignment(slug).cells[key].source, {})
        again = {(name, what) for name, what, how in calls if how.get("hidden")}
        for name, what, how in calls:
            if not how.get("hidden") and not how.get("own"):
                assert how.get("expect") is None, f"{key} shows the right value of {name}"
                assert (name, what) in again, f"{key} pays for the mere kind of {name} {what}"


def _recorder(calls):
    """Return a Task that only notes which values it was asked to check, and how."""

    class Recorder:
        def __init__(self, *_, **__):
            pass

        def number(self, name, **how):
            calls.append((name, how.get("what") or str(how.get("part", "")), how))

        choice = text = sequence = number

        def function(self, *_, **__):
            pass

        measured = function

        def score(self):
            pass

    return Recorder
