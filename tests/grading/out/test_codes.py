"""Comments by code, on real assignments: what the page says, which points a text gets, what is counted."""

import copy
import csv
import json
import shutil
from types import SimpleNamespace

import pytest
from nbgrader.api import Gradebook
from nbgrader.plugins import CsvExportPlugin

from scalelab.grading import classroom
from scalelab.grading.inputs import course as courses
from scalelab.grading.inputs.comments import Item
from scalelab.grading.inputs.source import load, number, task_of
from scalelab.grading.judging import grade_all
from scalelab.grading.out import export
from scalelab.grading.out.codes import in_words
from scalelab.grading.out.worth import Mark, by_items, joint
from tests.assignments.runner import SLUGS
from tests.grading.out.given import handed, page, table, write
from tests.sampling import sampled
from tests.submissions import classes, stage

HEAD = "assignment,task,code,points,text"
UNITS = "The unit is missing."


@pytest.fixture(scope="module", params=sampled(SLUGS, 1))
def recorded(request, tmp_path_factory):
    """A course whose class of two is recorded, without comments; no test changes it."""
    root = stage.course(tmp_path_factory.mktemp("recorded"), request.param)
    source = load(root, request.param)
    class_ = [handed(source, student=name) for name in ("ada", "ben")]
    write(root, source.slug, class_)
    return root, source, class_


@pytest.fixture
def course(recorded, tmp_path):
    """A copy of it with comments: a text, a check and its answer in code are what they are on."""
    root, source, class_ = recorded
    shutil.copytree(root, tmp_path, dirs_exist_ok=True)
    slug, text = source.slug, next(cell.id for cell in source.cells if cell.manual)
    check = next(cell.id for cell in source.cells if cell.check)
    answers = {task: cell for cell, task in task_of(source).items() if source.by_id[cell].answer}
    task = number(source, text)
    table(
        tmp_path, "comments.csv", HEAD,
        f"{slug},{task},#units,-1,{UNITS}",
        f"{slug},{text},long,-0.5,Three sentences were asked for.",
        f"{slug},{task},all-wrong,-99,This is another law.",
        f"{slug},{task},neat,,Neat & short.",
        f"{slug},{number(source, check)},units,,{UNITS}",
        f"another,{task},strange,,Of another assignment.",
    )  # fmt: skip
    return SimpleNamespace(
        root=tmp_path, slug=slug, source=source, text=text, check=check, code=answers[check],
        class_=copy.deepcopy(class_), most=source.by_id[text].points,
    )  # fmt: skip


def book(course):
    return Gradebook(f"sqlite:///{course.root / 'course' / 'gradebook.db'}")


def comment(course, cell, words, student="ada", score=None):
    """Type a comment and a score as a person does in formgrader."""
    with book(course) as opened:
        opened.find_comment(cell, course.slug, course.slug, student).manual_comment = words
        if score is not None:
            mark = opened.find_grade(cell, course.slug, course.slug, student)
            mark.manual_score, mark.needs_manual_grade = score, False
        opened.db.commit()


def again(course):
    return write(course.root, course.slug, course.class_)


def points(course, student="ada"):
    """Return the points in our table."""
    place = course.root / "course" / "graded" / course.slug / "scores.csv"
    with place.open(newline="") as file:
        return next(
            float(row["score"]) for row in csv.DictReader(file) if row["student"] == student
        )


def exported(course, exporter):
    """Return {student: score} as nbgrader's export tells it."""
    place = course.root / "grades.csv"
    with book(course) as opened:
        exporter(to=str(place)).export(opened)
    with place.open(newline="") as file:
        return {row["student_id"]: float(row["score"] or 0) for row in csv.DictReader(file)}


def test_codes_are_shown_in_words_and_give_a_text_its_points(course):
    comment(course, course.text, "#units else right, #Neat #units")
    again(course)
    said = page(course.root, course.slug, "ada")
    assert f"{UNITS} (-1) else right, Neat &amp; short. {UNITS} (-1)</p>" in said
    assert points(course) == course.most - 1


def test_nbgraders_own_export_shows_the_same_total(course):
    comment(course, course.text, "#units #long")
    comment(course, course.text, "#all-wrong", "ben")
    again(course)
    due = {"ada": course.most - 1.5, "ben": 0.0}
    for exporter in (CsvExportPlugin, export.ScoreTable):
        assert exported(course, exporter) == due
    with book(course) as opened:
        mark = opened.find_grade(course.text, course.slug, course.slug, "ada")
        assert (mark.score, mark.manual_score, mark.needs_manual_grade) == (due["ada"], None, False)


def test_a_score_typed_by_hand_wins_over_items_and_is_not_to_be_read_again(course):
    comment(course, course.text, "#units")
    again(course)
    comment(course, course.text, "#units #long", score=0.25)
    again(course)
    said = page(course.root, course.slug, "ada")
    assert f"{UNITS} Three sentences were asked for.</p>" in said
    assert points(course) == 0.25
    with book(course) as opened:
        mark = opened.find_grade(course.text, course.slug, course.slug, "ada")
        assert (mark.manual_score, mark.needs_manual_grade) == (0.25, False)


def test_an_item_whose_text_and_points_changed_is_changed_everywhere(course):
    comment(course, course.text, "#units")
    again(course)
    task = number(course.source, course.text)
    table(course.root, "comments.csv", HEAD, f"{course.slug},{task},units,-2,Metres are due.")
    again(course)
    assert "Metres are due. (-2)" in page(course.root, course.slug, "ada")
    assert exported(course, CsvExportPlugin)["ada"] == points(course) == course.most - 2
    comment(course, course.text, "")
    again(course)
    with book(course) as opened:
        mark = opened.find_grade(course.text, course.slug, course.slug, "ada")
        assert (mark.auto_score, mark.needs_manual_grade) == (None, True)


def test_no_item_gives_points_to_a_blank_text_or_to_what_a_check_judged(course):
    blank = {"id": course.text, "name": "", "score": 0.0, "max_score": course.most}
    others = [text for text in course.class_[0]["manual"] if text["id"] != course.text]
    course.class_[0]["manual"] = [blank, *others]
    comment(course, course.text, "#units")
    comment(course, course.code, "#units")
    again(course)
    assert points(course) == exported(course, CsvExportPlugin)["ada"] == 0
    assert f"{UNITS}</p>" in page(course.root, course.slug, "ada")


def test_an_item_without_points_leaves_a_text_to_be_read(course):
    comment(course, course.text, "#neat")
    told = again(course)
    assert "Neat &amp; short." in page(course.root, course.slug, "ada")
    assert told["to_read"] == 2


def test_an_unknown_code_stays_as_typed_and_is_in_the_report(course):
    comment(course, course.text, "#unts #strange, as in issue #2 of https://x.org/a#units &#60;")
    told = again(course)
    assert "#unts #strange, as in issue #2 of https://x.org/a#units &amp;#60;" in page(
        course.root, course.slug, "ada"
    )
    found = [(row["code"], row["student"]) for row in told["unknown_codes"]]
    assert found == [("unts", "ada"), ("strange", "ada")]
    place = course.root / "course" / "graded" / course.slug / "report.html"
    assert "#unts (ada, " in place.read_text()


def test_the_report_counts_how_often_each_item_was_used_in_each_task(course):
    for student in ("ada", "ben"):
        comment(course, course.text, "#units #units", student)
    comment(course, course.code, "#units and #units")
    told = again(course)
    counted = {(row["task"], row["code"]): row["times"] for row in told["comments"]}
    assert counted == {(course.text, "units"): 2, (course.check, "units"): 1}
    assert (
        json.loads((course.root / "course" / "graded" / course.slug / "report.json").read_text())[
            "comments"
        ]
        == told["comments"]
    )


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("{slug},9.9,units,-1,x", "a task of {slug}, got '9.9' in line 2"),
        ("{slug},{text},two words,-1,x", "a code such as units, got 'two words' in line 2"),
        ("{slug},{text},units,some,x", "points such as -1 or 0.5, got 'some' in line 2"),
        ("{slug},{text},units,nan,x", "points such as -1 or 0.5, got 'nan' in line 2"),
        ("{slug},{text},a,,x\n{slug},{text},#A,,x", "a once for {text}, got it again in line 3"),
        ("{slug},{check},units,-1,x", "points only for what a person reads, .* in line 2"),
        ("{slug},{text},units,-1,", "something in column text, got nothing in line 2"),
    ],
)
def test_a_bad_item_is_one_sentence_before_anything_runs(course, row, says):
    named = {"slug": course.slug, "text": course.text, "check": course.check}
    table(course.root, "comments.csv", HEAD, row.format(**named))
    with pytest.raises(ValueError, match=says.format(**named)) as refusal:
        classroom.grade(
            courses.find(course.root),
            course.source,
            classroom.Wish(),
            classes.here,
            grade_all.slots,
        )
    assert len(str(refusal.value).splitlines()) == 1


def test_a_members_own_comment_is_in_words_beside_the_points_of_the_group():
    units, neat = Item("a", "units", "No unit", -1.0), Item("a", "neat", "Neat")
    theirs = {"a": Mark(comment="#units", items=(units,))}
    (mark,) = joint({"a": Mark(comment="#neat, Ben", items=(neat,))}, theirs).values()
    assert in_words(mark, counted=True) == "Neat, Ben"
    assert by_items(mark.items, 4.0) == 3.0
    assert joint({"a": Mark()}, theirs) == theirs
