"""Requests to grade again, on real assignments: on the student's page, and first in the report."""

import json
import re
from urllib.parse import unquote

import pytest

from scalelab.cli import grade as command
from scalelab.grading import classroom
from scalelab.grading.inputs import course as courses
from scalelab.grading.inputs.collect import Submission
from scalelab.grading.inputs.source import load, number
from scalelab.grading.judging import grade_all
from scalelab.grading.judging.result import result
from tests.assignments.runner import SLUGS
from tests.grading.out.given import handed, page, table, write
from tests.sampling import sampled
from tests.submissions import classes, stage

HEAD = "student,assignment,task,request,answer"


@pytest.fixture(params=sampled(SLUGS, 1))
def course(request, tmp_path):
    """A course of one assignment: its folder, its source, and the graded cells of two tasks."""
    root = stage.course(tmp_path, request.param)
    source = load(root, request.param)
    first, *_, last = (cell.id for cell in source.cells if cell.graded)
    return root, source, first, last


def class_of(source):
    return [
        handed(source, student="ada"),
        handed(source, student="ben & co"),
        result(source, Submission("cleo"), status="failed", reason="it is empty"),
        result(source, Submission("dan"), status="missing", reason="nothing was handed in"),
    ]


def test_open_requests_come_first_and_lead_to_the_task_on_the_page(course):
    root, source, first, last = course
    table(
        root, "regrades.csv", HEAD,
        f"ada,{source.slug},{number(source, first)},Why <0>?,It is 1 now.",
        f"ben & co,{source.slug},{last},Please read it.,",
        f"dan,{source.slug},{last},\"I was ill, sorry.\",",
        "ada,another,1.1,Of another assignment.,",
    )  # fmt: skip
    summary = write(root, source.slug, class_of(source))
    told = summary["regrades"]
    assert (told["open"], told["answered"]) == (2, 1)
    assert "2 requests to grade again are open" in command._table(summary, root)
    assert [row["student"] for row in told["all"]] == ["ben & co", "dan", "ada"]
    place = root / "course" / "graded" / source.slug
    assert json.loads((place / "report.json").read_text())["regrades"] == told
    report = (place / "report.html").read_text()
    assert report.index("2 open, 1 answered") < report.index("<h2>Tasks")
    assert "Why &lt;0&gt;?" in report
    links = re.findall(r'<a href="([^"]+)#([^"]+)">', report)
    assert [task for _, task in links] == [last, first]  # who handed in nothing has no page
    for address, task in links:
        found = (place / unquote(address)).resolve()
        assert f'<h2 id="{task}">' in found.read_text()


def test_the_page_says_under_its_task_what_was_asked_and_answered_and_how_to_ask(course):
    root, source, first, last = course
    table(
        root, "regrades.csv", HEAD,
        f"ada,{source.slug},{first},Why <0>?,It is 1 now.",
        f"cleo,{source.slug},{last},It was not empty.,",
    )  # fmt: skip
    write(root, source.slug, class_of(source))
    before, after = page(root, source.slug, "ada").split(f'<h2 id="{last}">')
    assert "Why &lt;0&gt;?" in before
    assert "It is 1 now." in before
    assert "You asked" not in after
    assert f"name ada, {source.slug}, {number(source, last)}." in after
    assert "It was not empty." in page(root, source.slug, "cleo")


def test_without_the_table_no_page_tells_how_to_ask(course):
    root, source, *_ = course
    told = write(root, source.slug, class_of(source))
    assert told["regrades"] == {"open": 0, "answered": 0, "all": []}
    assert "graded again" not in page(root, source.slug, "ada")
    table(root, "regrades.csv", HEAD)
    write(root, source.slug, class_of(source))
    graded = sum(cell.graded for cell in source.cells)
    assert page(root, source.slug, "ada").count("graded again") == graded


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("ada,{slug},9.9,Why?,", "a task of {slug}, got '9.9' in line 2"),
        ("eve,{slug},{task},Why?,", "a student of the course, got 'eve' in line 2"),
        ("ada,{slug},{task},,", "something in column request, got nothing in line 2"),
    ],
)
def test_a_request_for_nobody_or_nothing_is_one_sentence_before_anything_runs(course, row, says):
    root, source, first, _ = course
    place = root / "course" / "submitted" / "ada" / source.slug
    place.mkdir(parents=True)
    table(root, "regrades.csv", HEAD, row.format(slug=source.slug, task=first))
    with pytest.raises(ValueError, match=says.format(slug=source.slug)) as refusal:
        classroom.grade(
            courses.find(root), source, classroom.Wish(only=("ada",)), classes.here, grade_all.slots
        )
    assert len(str(refusal.value).splitlines()) == 1
    assert not (root / "course" / "graded" / source.slug / "results").exists()
