"""What a class is told of a real assignment: pages, tables and the class report."""

import base64
import csv
import functools
import io
import json
import random
import re
import shutil

import nbformat
import numpy as np
import pytest
from nbconvert import HTMLExporter
from nbgrader.api import Gradebook

from scalelab.cli.teach import grade as command
from scalelab.grading import classroom
from scalelab.grading.box import bubblewrap
from scalelab.grading.inputs import course as courses
from scalelab.grading.inputs.collect import Submission
from scalelab.grading.inputs.flag import GRAVE, HARMLESS, Flag
from scalelab.grading.inputs.source import load
from scalelab.grading.judging import grade_all
from scalelab.grading.judging.result import result
from scalelab.grading.out import export, record, report, tables
from scalelab.grading.out.remarks import grouped
from scalelab.grading.out.worth import Known, Mark
from scalelab.grading.returned import autograded
from scalelab.grading.returned.feedback import feedback
from tests.grading.out import given
from tests.notebooks import ROOT
from tests.submissions import classes

pytestmark = pytest.mark.turns(2)

SLUG = "05_laws"
LAWS = load(ROOT, SLUG)
TEXTS = [cell.id for cell in LAWS.cells if cell.manual]
CHECKS = [cell.id for cell in LAWS.cells if cell.check]
AUTOMATIC = sum(cell.points for cell in LAWS.cells if cell.check)
MANUAL = sum(cell.points for cell in LAWS.cells if cell.manual)
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"0" * 40).decode()
DUE = "2025-03-01 18:00 UTC"
handed = functools.partial(given.handed, LAWS)
WALLS = pytest.mark.skipif(bool(bubblewrap.find().missing), reason=bubblewrap.find().missing)


@pytest.fixture(scope="module", autouse=True)
def _one_fork_server():
    yield
    classes.close()


def hand_in(root, student, folder="solutions", when="2025-03-01 12:00:00 UTC", **answers):
    """Hand in the notebook of a folder, some answers replaced."""
    notebook = json.loads((ROOT / folder / SLUG / f"{SLUG}.ipynb").read_text())
    for cell in notebook["cells"]:
        name = cell["metadata"]["nbgrader"]["grade_id"]
        cell["source"] = answers.get(name.replace("-", "_"), cell["source"])
    place = root / "course" / "submitted" / student / SLUG
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{SLUG}.ipynb").write_text(json.dumps(notebook))
    (place / "timestamp.txt").write_text(when)


def make(root):
    """Make a course with this assignment and its due date, and a small class."""
    shutil.copy(ROOT / "nbgrader_config.py", root)
    for folder in ("solutions", "exercises"):
        shutil.copytree(ROOT / folder / SLUG, root / folder / SLUG)
    written = {text.replace("-", "_"): "Because *it* must be so." for text in TEXTS}
    hand_in(root, "ada", **written)
    hand_in(root, "ben", "exercises")
    hand_in(root, "cleo", when="2025-03-03 21:30:00 UTC", **written)
    hand_in(root, "dan")
    (root / "course" / "submitted" / "dan" / SLUG / f"{SLUG}.ipynb").write_text("{")
    with book(root) as opened:
        opened.update_or_create_assignment(SLUG, duedate=DUE)
        opened.add_student("ada", first_name="Ada", last_name="Lovelace")
        opened.add_student("eve")
    return root


def book(root):
    courses.with_gradebooks()
    return Gradebook(f"sqlite:///{root / 'course' / 'gradebook.db'}")


def grade(root, **wish):
    """Grade the class; return the class report."""
    return classroom.grade(
        courses.find(root),
        load(root, SLUG),
        classroom.Wish(modules=("numpy", "scalelab.checks"), **wish),
        classes.here,
        grade_all.slots,
    )


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A graded class, which no test changes."""
    root = make(tmp_path_factory.mktemp("laws"))
    return root, grade(root)


@pytest.fixture
def course(graded, tmp_path):
    """A graded class of one's own, and whether nothing has to be run to grade it again."""
    root = tmp_path / "course of one"
    shutil.copytree(graded[0], root)
    return root


def rows(root, name):
    with (root / "course" / "graded" / SLUG / name).open(newline="") as file:
        return {next(iter(row.values())): row for row in csv.DictReader(file)}


def page(root, student):
    return (root / "course" / "feedback" / student / SLUG / f"{SLUG}.html").read_text()


# --- points ----------------------------------------------------------------------------------


@WALLS
def test_the_export_has_no_number_for_who_failed_or_is_missing(graded, tmp_path):
    place = tmp_path / "grades.csv"
    with book(graded[0]) as opened:
        export.ScoreTable(to=str(place)).export(opened)
    with place.open(newline="") as file:
        found = {row["student_id"]: row["score"] for row in csv.DictReader(file)}
    assert found == {
        "ada": f"{AUTOMATIC}", "ben": "0.0", "cleo": f"{AUTOMATIC}", "dan": "", "eve": ""
    }  # fmt: skip


@WALLS
def test_extra_points_and_comments_on_code_reach_the_total_the_tables_and_the_page(course):
    check = CHECKS[0]
    answer = check.replace("check", "answer")
    with book(course) as opened:
        opened.find_grade(check, SLUG, SLUG, "ada").extra_credit = 1.5
        opened.find_grade(CHECKS[1], SLUG, SLUG, "ada").manual_score = 0.5
        opened.find_comment(answer, SLUG, SLUG, "ada").manual_comment = "Neat & short."
        for text in TEXTS:
            opened.find_grade(text, SLUG, SLUG, "ada").manual_score = 1.0
        opened.db.commit()
        points = opened.find_submission(SLUG, "ada").score
    grade(course, resume=True)
    row = rows(course, "scores.csv")["ada"]
    assert (float(row["score"]), row["provisional"]) == (points, "")
    assert float(row[CHECKS[1]]) == 0.5
    assert sum(float(row[name]) for name in [*CHECKS, *TEXTS]) == points
    assert f"{points:g} of {AUTOMATIC + MANUAL:g} points</strong>." in page(course, "ada")
    assert "Neat &amp; short." in page(course, "ada")


@WALLS
def test_no_total_hides_that_texts_are_still_to_be_read(graded):
    root, told = graded
    unread = f"{MANUAL:g} more are still to be read"
    assert f"{AUTOMATIC:g} of {AUTOMATIC + MANUAL:g} points; {unread}" in page(root, "ada")
    assert "more are" not in page(root, "ben")  # blank texts are worth nothing by themselves
    scores = rows(root, "scores.csv")
    assert [scores[name]["provisional"] for name in ("ada", "ben", "dan")] == ["yes", "", ""]
    assert "points are still to be read" in str(
        [*csv.reader(io.StringIO((root / "course/graded" / SLUG / "moodle.csv").read_text()))]
    )
    assert (told["certain"], told["points"]["median"]) == (AUTOMATIC, AUTOMATIC)
    assert f"median {AUTOMATIC:g} of {AUTOMATIC:g} (provisional: {MANUAL:g}" in report.headline(
        told
    )


# --- late ------------------------------------------------------------------------------------


@WALLS
def test_late_work_is_called_late_everywhere(graded):
    root, told = graded
    assert rows(root, "scores.csv")["cleo"]["remarks"].startswith("2 d 3 h late")
    assert "2 d 3 h late" in page(root, "cleo")
    assert " h late" not in page(root, "ada")
    late = {row["student"] for row in told["students"] if "2 d 3 h late" in row["remarks"]}
    assert late == {"cleo"}


@WALLS
def test_an_extension_counts_for_its_student_and_for_the_courses_own_policy(course):
    (course / "course" / "extensions.csv").write_text(
        f"Student,assignment,due\ncleo,{SLUG},2025-03-03T20:30\nada,01_speedup,2025-01-01\n"
    )
    grade(course, resume=True)
    assert rows(course, "scores.csv")["cleo"]["remarks"].startswith("1 h late")
    assert "due 2025-03-03 20:30 UTC" in page(course, "cleo")
    with book(course) as opened:
        assert opened.find_submission(SLUG, "cleo").total_seconds_late == 3600


# --- the page of a student -------------------------------------------------------------------


@WALLS
def test_the_page_says_whose_it_is_and_leads_to_every_task(graded):
    said = page(graded[0], "ada")
    assert "Ada Lovelace (ada); due 2025-03-01 18:00 UTC; handed in 2025-03-01 12:00 UTC" in said
    linked = re.findall(r'<a href="#([^"]+)">', said)
    assert linked == [cell.id for cell in LAWS.cells if cell.graded]
    assert linked == re.findall(r'<h2 id="([^"]+)">', said)
    assert said.count("still to be read</td>") == len(TEXTS)
    blank = page(graded[0], "ben")
    assert blank.count("not answered</td>") == len(CHECKS) + len(TEXTS)


@WALLS
def test_a_blank_answer_has_printed_nothing(graded):
    assert "It printed" not in page(graded[0], "ben")


@WALLS
def test_the_question_is_formatted_and_a_formula_stays_as_it_is_written(graded):
    said = page(graded[0], "ada")
    asked = re.findall(r'<div class="asked">(.*?)</div></details>', said, re.S)
    assert asked
    assert not any("**" in re.sub(r"<code>.*?</code>", "", one, flags=re.S) for one in asked)
    assert "<li>" in "".join(asked)
    assert "<summary>Hint" not in "".join(asked)


def test_a_page_names_tasks_and_not_cells():
    odd = [Flag("was changed", HARMLESS, name) for name in CHECKS]
    odd += [
        Flag("took longer than 10 s", GRAVE, "answer-1-2", run=True),
        Flag("ended the process", GRAVE, "+0", run=True),
        Flag("is gone", GRAVE, "answer-1-1#1"),
        Flag("something is written in", GRAVE, "answer-1-1", into=("check-1-1",)),
    ]
    said = feedback(LAWS, handed(odd=odd))
    assert f"1.3 and {len(CHECKS) - 3} more was changed" in said
    assert f"({len(CHECKS)} times)" in said
    listed = re.search(r"<ul>.*?</ul>", said)[0]
    assert not re.search(r"(answer|check)-\d|\+0", listed)
    assert "the answer of 1.2 took longer than 10 s" in listed
    assert "the own cell of 1.1 ended the process" in listed
    assert "the answer of 1.1 something is written in the check of 1.1" in listed
    assert listed.index("is gone") < listed.index("was changed")


def test_own_cells_and_what_was_typed_into_a_check_are_shown_where_they_stand():
    own = [
        {"after": "", "kind": "code", "text": "first = 1"},
        {"after": TEXTS[0], "kind": "markdown", "text": "My <b>text</b>, ![](attachment:a.png)"},
        {"after": CHECKS[0], "kind": "code", "text": "mine = 2"},
    ]
    found = handed(own=own, typed={CHECKS[0]: "fleet = 3"})
    made = nbformat.reads(autograded.notebook(courses.find(ROOT), LAWS, found), 4)
    nbformat.validate(made)
    texts = [cell.source for cell in made.cells]
    assert texts[0] == "first = 1"
    at = next(n for n, cell in enumerate(made.cells) if cell.id == CHECKS[0])
    assert texts[at + 1].endswith("fleet = 3")
    assert texts[at + 2] == "mine = 2"
    assert "My &lt;b>text" in "\n".join(texts)
    HTMLExporter().from_notebook_node(made)
    said = feedback(LAWS, found)
    places = [said.index(words) for words in ("first = 1", "fleet = 3", "mine = 2", "My &lt;b&gt;")]
    assert places == sorted(places)
    assert (
        said.index(f'id="{CHECKS[1]}"') > said.index("mine = 2") > said.index(f'id="{CHECKS[0]}"')
    )


# --- pictures --------------------------------------------------------------------------------


def pasted(text, attachments):
    """Return a result whose first text has something pasted into it."""
    answer = {"id": TEXTS[0], "kind": "markdown", "text": text, "shown": None}
    return handed(answers=[answer | {"attachments": attachments}])


def exported(found):
    """Export the graded notebook as nbgrader's feedback and formgrader do."""
    made = nbformat.reads(autograded.notebook(courses.find(ROOT), LAWS, found), 4)
    nbformat.validate(made)
    made.cells = [cell for cell in made.cells if cell.id == TEXTS[0]]
    return HTMLExporter().from_notebook_node(made)[0]


def test_a_pasted_picture_is_kept_for_formgrader_and_shown_on_the_page():
    found = pasted("See ![it](attachment:image.png).", {"image.png": {"image/png": PNG}})
    assert f"data:image/png;base64,{PNG}" in exported(found)
    assert f"data:image/png;base64,{PNG}" in feedback(LAWS, found)


@pytest.mark.parametrize(
    "attachments",
    [
        {"image.png": {"image/svg+xml": base64.b64encode(b"<svg onload='alert()'/>").decode()}},
        {"image.png": {"image/png": base64.b64encode(b"no picture").decode()}},
        {"image.png": {"image/png": PNG + base64.b64encode(b"0" * 500_001).decode()}},
        {"image.png": {"image/png": 7}},
        {"image.png": 7},
    ],
)
def test_what_is_no_picture_of_a_fair_size_is_not_shown(attachments):
    found = pasted("![it](attachment:image.png)", attachments)
    assert "data:image" not in feedback(LAWS, found)
    made = json.loads(autograded.notebook(courses.find(ROOT), LAWS, found))
    assert not any(cell.get("attachments") for cell in made["cells"])


@pytest.mark.parametrize(
    "text",
    [
        "![it](attachment:image.png)",
        '![it]( <attachment:image.png> "title")',
        "![it][1]\n\n[1]: attachment:image.png",
        "![it](attachment\\:image.png)",
        "![it](attachment&colon;image.png) ![it](attachment&#58;image.png)",
        '<img src="attachment:image.png">',
    ],
)
def test_a_picture_that_is_not_there_stops_no_export(text):
    assert "Because" in exported(pasted(f"Because {text}", {}))


# --- the class report ------------------------------------------------------------------------


def test_who_failed_comes_first_and_alike_flags_are_one_line():
    many = [Flag("was changed", HARMLESS, name) for name in CHECKS]
    class_ = [
        handed(student="ann"),
        handed(student="bob", odd=many),
        handed(student="cat", odd=[Flag("is missing", GRAVE, "answer-1-1")]),
        handed(student="dot", manual=[]),
        result(LAWS, Submission("eli"), status="failed", reason="it is empty"),
        result(LAWS, Submission("fay"), status="missing", reason="nothing was handed in"),
    ]
    told = report.summary(LAWS, class_)
    order = [row["student"] for row in told["students"]]
    assert order == ["eli", "cat", "bob", "ann", "dot", "fay"]
    assert len(told["students"][2]["remarks"]) == 1
    assert str(len(CHECKS)) in told["students"][2]["remarks"][0]


def test_the_terminal_hides_nobody_who_failed(tmp_path):
    class_ = [
        handed(student=f"a{n:02}", odd=[Flag("is missing", GRAVE, "answer-1-1")]) for n in range(30)
    ]
    class_ += [
        result(LAWS, Submission(f"z{n:02}"), status="failed", reason="it is empty")
        for n in range(30)
    ]
    said = command._table(report.summary(LAWS, class_), tmp_path).splitlines()
    failed = [line.split()[1] for line in said if line.startswith("failed")]
    assert failed == [f"z{n:02}:" for n in range(30)]
    assert said.index("failed  z29: it is empty") < min(
        n for n, line in enumerate(said) if "missing" in line
    )
    assert "and 10 more with remarks" in said


def test_the_terminal_says_of_which_slip_it_speaks(tmp_path):
    told = report.summary(LAWS, [handed()])
    told["tasks"][0] |= {"slip": ("a doubling doubles it", 3)}
    first, *others = [line for line in command._table(told, tmp_path).splitlines() if "%" in line]
    assert first.endswith("  most often (3): a doubling doubles it")
    assert not any("most often" in line for line in others)


@WALLS
def test_the_report_leads_to_every_students_page(graded):
    place = graded[0] / "course" / "graded" / SLUG
    links = re.findall(r'<a href="([^"]+)">', (place / "report.html").read_text())
    assert len(links) == 4
    assert all((place / address).is_file() for address in links)


def simulated(students=300):
    """Return a class in which each task is harder than the one before."""
    luck, class_ = random.Random(5), []
    for n in range(students):
        skill = luck.gauss(0, 1)
        tests = {
            name: {"score": LAWS.by_id[name].points * (luck.gauss(skill, 1) > k / 4 - 1)}
            for k, name in enumerate(CHECKS)
        }
        class_.append(handed(tests, student=f"s{n:03}", manual=[]))
    return class_


def test_the_discrimination_of_a_task_is_its_correlation_with_the_rest():
    class_ = simulated()
    scores = np.array([[test["score"] for test in one["tests"]] for one in class_])
    told = report.summary(LAWS, class_)
    for column, task in enumerate(task for task in told["tasks"] if not task["text"]):
        rest = scores.sum(axis=1) - scores[:, column]
        assert task["discrimination"] == pytest.approx(
            np.corrcoef(scores[:, column], rest)[0, 1], abs=0.0051
        )
        assert task["solved"] == np.mean(scores[:, column] > 0)
    assert sum(told["histogram"]) == len(class_)
    edges = np.linspace(0, told["certain"], report.BARS + 1)
    assert told["histogram"] == np.histogram(scores.sum(axis=1), edges)[0].tolist()
    assert 'role="img"' in report.html(told)


def test_every_text_task_is_listed_with_how_many_are_to_be_read():
    told = report.summary(LAWS, [handed(), handed(student="ben")])
    assert {t["id"]: t["to_read"] for t in told["tasks"] if t["text"]} == dict.fromkeys(TEXTS, 2)
    read = {"ada": Known({TEXTS[0]: Mark(1.0)})}
    told = report.summary(LAWS, [handed(), handed(student="ben")], read)
    (task,) = (t for t in told["tasks"] if t["id"] == TEXTS[0])
    assert (task["to_read"], task["mean"]) == (1, 1.0)
    assert "a text, 1 still to be read" in report.html(told)


def test_a_flag_does_not_hide_why_somebody_failed():
    odd = Submission("eli", flags=[Flag("the notebook was renamed")])
    told = report.summary(LAWS, [result(LAWS, odd, status="failed", reason="it is empty")])
    assert told["students"][0]["remarks"] == ["it is empty", "the notebook was renamed"]


def test_flags_that_are_about_no_cell_stay_as_they_are():
    flags = [
        Flag("saved in an old notebook format", HARMLESS),
        Flag("took longer than 90 s", GRAVE),
    ]
    assert grouped(LAWS, flags) == [(flag.text, flag.gravity) for flag in flags]


# --- tables ----------------------------------------------------------------------------------


def test_the_platforms_own_number_is_where_the_platform_looks_for_it():
    class_ = [
        handed(student="Ada Lovelace", platform_id="1001", manual=[]),
        handed(student="ben", manual=[]),
    ]
    made = {
        name: [*csv.DictReader(io.StringIO(text))]
        for name, text in tables.tables(LAWS, class_, {}).items()
    }
    possible, ada, ben = made["canvas.csv"]
    assert (possible["Student"], possible[SLUG]) == ("    Points Possible", f"{AUTOMATIC + MANUAL}")
    assert (ada["ID"], ada["SIS Login ID"]) == ("1001", "")
    assert (ben["ID"], ben["SIS Login ID"]) == ("", "ben")
    ada, ben = made["moodle.csv"]
    assert (ada["Identifier"], ada["ID number"]) == ("Participant 1001", "")
    assert (ben["Identifier"], ben["ID number"]) == ("", "ben")


@WALLS
def test_a_regrade_lists_whose_score_has_changed(course):
    with book(course) as opened:
        opened.find_grade(CHECKS[0], SLUG, SLUG, "ben").manual_score = 2.0
        opened.db.commit()
    told = grade(course, resume=True)
    assert "1 score changed since the last time" in command._table(told, course)
    (row,) = rows(course, "changes.csv").values()
    assert (row["student"], row["before"], row["after"]) == ("ben", "0.0", "2.0")
    assert row["tasks"] == LAWS.titles[CHECKS[0]]
    grade(course, resume=True)
    assert rows(course, "changes.csv") == {}


@WALLS
def test_the_names_and_the_due_date_of_the_gradebook_are_known(graded):
    root = graded[0]
    known = record.known(courses.find(root), load(root, SLUG))
    assert known["ada"].name == "Ada Lovelace"
    assert known["eve"].due == "2025-03-01T18:00:00+00:00"
