"""The gradebook, the pages and the tables, on a small class: honest, wrong, blank, unreadable, missing."""

import contextlib
import csv
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from sqlalchemy import create_engine, text

from scalelab.grading.box import bubblewrap
from scalelab.grading.inputs import course as courses, source
from scalelab.grading.out import record
from tests.submissions import assignment, classes
from tests.submissions.kinds import kinds

pytestmark = pytest.mark.skipif(bool(bubblewrap.find().missing), reason=bubblewrap.find().missing)

NAMED = {kind.name: kind for kind in kinds()}
CLASS = {
    "ada": "honest",
    "ben": "nothing answered",
    "cleo": "cut off",
    "dan": "answer missing",
    "eve": "no folder",
    "=cmd": "lambda",
}


def enrol(root):
    for student, name in CLASS.items():
        NAMED[name].put(root, root / "course" / "submitted" / student / assignment.SLUG)
    folder = root / "course" / "submitted" / "dan" / assignment.SLUG
    (folder / "timestamp.txt").write_text("2025-03-02 12:00:00 UTC")


@pytest.fixture(scope="module", autouse=True)
def _one_fork_server():
    yield
    classes.close()


def grade(root, **wish):
    return classes.grade(root, executor=classes.here, **({"gradebook": True} | wish))


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    root = assignment.course(tmp_path_factory.mktemp("recorded"))
    enrol(root)
    grade(root)
    return root


@contextlib.contextmanager
def book(root, url=None):
    with Gradebook(url or f"sqlite:///{root / 'course' / 'gradebook.db'}") as opened:
        yield opened


def rows(root, url=None):
    """Return {student: {cell: (automatic score, needs a person)}}."""
    with book(root, url) as opened:
        return {
            submission.student_id: {
                grade.name: (grade.auto_score, grade.needs_manual_grade)
                for notebook in submission.notebooks
                for grade in notebook.grades
            }
            for submission in opened.find_assignment(assignment.SLUG).submissions
        }


FULL = {"check-1-1": (2, False), "check-2-1": (1, False), "check-3-1": (3, False)}


def test_the_gradebook_holds_every_score_and_no_row_where_there_is_none(course):
    assert rows(course) == {
        "ada": FULL | {"answer-3-2": (None, True)},
        "=cmd": FULL | {"answer-3-2": (None, True)},
        "ben": dict.fromkeys(FULL, (0, False)) | {"answer-3-2": (None, True)},
        "dan": FULL | {"check-1-1": (0, False), "answer-3-2": (None, True)},
    }


def test_a_failed_submission_counts_as_0_in_no_average_of_the_gradebook(course):
    with book(course) as opened:
        assert opened.find_student("cleo")
        assert opened.average_assignment_score(assignment.SLUG) == (6 + 6 + 0 + 4) / 4


def test_what_a_person_gave_outlives_a_hand_in_that_cannot_be_read(tmp_path):
    root = assignment.course(tmp_path)
    enrol(root)
    grade(root)
    with book(root) as opened:
        mark = opened.find_grade("answer-3-2", "demo", "demo", "ada")
        mark.manual_score, mark.needs_manual_grade = 1.5, False
        opened.db.commit()
    for student in ("ada", "ben"):
        (root / "course" / "submitted" / student / "demo" / "demo.ipynb").write_text("{")
    grade(root)
    found = rows(root)
    assert found["ada"] == dict.fromkeys(FULL, (None, True)) | {"answer-3-2": (None, False)}
    assert "ben" not in found
    with book(root) as opened:
        (notebook,) = opened.find_submission(assignment.SLUG, "ada").notebooks
        assert {c.auto_comment for c in notebook.comments} == {
            "Not graded: it is not a notebook: it is no JSON, or is cut off."
        }
    assert not (root / "course" / "autograded" / "ada" / "demo").exists()


def test_grading_again_changes_nothing(course):
    kept = rows(course), files(course)
    grade(course, resume=True)
    assert (rows(course), files(course)) == kept
    grade(course)
    assert (rows(course), files(course)) == kept


def files(root):
    found = [*root.glob("course/graded/**/*"), *root.glob("course/feedback/**/*.html")]
    return {p: p.read_bytes() for p in found if p.is_file() and p.name != "timings.json"}


def test_a_score_given_by_a_person_stays_and_is_told(tmp_path):
    root = assignment.course(tmp_path)
    enrol(root)
    grade(root)
    with book(root) as opened:
        mark = opened.find_grade("answer-3-2", "demo", "demo", "ada")
        mark.manual_score, mark.needs_manual_grade = 1.5, False
        mark = opened.find_grade("check-1-1", "demo", "demo", "ben")
        mark.manual_score, mark.needs_manual_grade = 2.0, False
        opened.find_comment("answer-3-2", "demo", "demo", "ada").manual_comment = "Well <said>."
        opened.db.commit()
    grade(root, resume=True)
    with book(root) as opened:
        mark = opened.find_grade("answer-3-2", "demo", "demo", "ada")
        assert (mark.manual_score, mark.needs_manual_grade) == (1.5, False)
        mark = opened.find_grade("check-1-1", "demo", "demo", "ben")
        assert (mark.manual_score, mark.auto_score, mark.needs_manual_grade) == (2.0, 0.0, False)
    page = (root / "course/feedback/ada/demo/demo.html").read_text()
    assert "7.5 of 8 points" in page
    assert "Well &lt;said&gt;." in page
    scores = {row["student"]: row for row in table(root, "scores.csv")}
    assert scores["ada"]["score"] == "7.5"
    assert scores["ben"]["score"] == "2.0"


def table(root, name):
    with (root / "course" / "graded" / "demo" / name).open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_tables_name_everybody_and_give_no_number_where_there_is_none(course):
    scores = {row["student"]: row for row in table(course, "scores.csv")}
    assert {name: (row["status"], row["score"]) for name, row in scores.items()} == {
        "ada": ("graded", "6.0"),
        "ben": ("graded", "0.0"),
        "cleo": ("failed", ""),
        "dan": ("graded with flags", "4.0"),
        "eve": ("missing", ""),
        "'=cmd": ("graded", "6.0"),  # or a spreadsheet would run it
    }
    assert [row["demo"] for row in table(course, "canvas.csv")] == [
        "8.0",  # points possible
        "6.0",
        "6.0",
        "0.0",
        "",
        "4.0",
        "",
    ]
    assert list(table(course, "canvas.csv")[0]) == [
        "Student", "ID", "SIS User ID", "SIS Login ID", "Section", "demo",
    ]  # fmt: skip
    assert {row["ID number"] for row in table(course, "moodle.csv")} == {*scores}
    assert {row["provisional"] for row in scores.values() if row["score"]} == {"yes"}


def test_the_results_have_the_shape_of_gradescope(course):
    found = json.loads((course / "course/graded/demo/results/dan.json").read_text())
    assert (found["score"], found["max_score"]) == (4.0, 6.0)
    for test in found["tests"]:
        assert {"name", "number", "score", "max_score", "output", "visibility", "status"} <= set(
            test
        )
        assert test["status"] in ("passed", "failed")
    assert [test["number"] for test in found["tests"]] == ["1.1", "2.1", "3.1"]


def test_the_class_report_says_what_was_solved_and_who_needs_a_look(course):
    told = json.loads((course / "course/graded/demo/report.json").read_text())
    assert told["states"] == {"graded": 3, "graded with flags": 1, "failed": 1, "missing": 1}
    assert [task["solved"] for task in told["tasks"]] == [0.5, 0.75, 0.75, None]
    assert [row["student"] for row in told["students"]] == [
        "cleo",
        "dan",
        "=cmd",
        "ada",
        "ben",
        "eve",
    ]
    page = (course / "course/graded/demo/report.html").read_text()
    assert "the answer of 1.1 is missing" in page


def test_formgrader_and_stock_feedback_show_the_same(course):
    """The feedback of nbgrader itself is made from the graded notebook and the gradebook."""
    made = nbformat.read(course / "course/autograded/ada/demo/demo.ipynb", 4)
    nbformat.validate(made)
    from nbgrader import utils

    scores = [utils.determine_grade(c)[0] for c in made.cells if utils.is_grade(c)]
    assert scores[:3] == [2, 1, 3]


def test_late_work_meets_the_courses_own_policy(tmp_path):
    root = assignment.course(tmp_path)
    enrol(root)
    with (root / "nbgrader_config.py").open("a") as file:
        file.write("\nc.LateSubmissionPlugin.penalty_method = 'zero'\n")
    found, written = courses.find(root), source.load(root, "demo")
    courses.with_gradebooks()
    with book(root) as opened:
        opened.update_or_create_assignment("demo", duedate="2025-03-01 18:00 UTC")
    grade(root)
    with book(root) as opened:
        late = opened.find_submission("demo", "dan")
        assert (late.total_seconds_late, late.notebooks[0].late_submission_penalty) == (64_800, 4.0)
        assert opened.find_submission("demo", "ada").notebooks[0].late_submission_penalty is None
    assert record.known(found, written)["dan"].penalty == 4.0
    assert "4 points were taken off" in (root / "course/feedback/dan/demo/demo.html").read_text()


def test_a_mended_check_is_judged_again_for_all_and_the_rest_is_kept(tmp_path):
    root = assignment.course(tmp_path)
    enrol(root)
    before = grade(root)
    path = root / "solutions" / "demo" / "demo.ipynb"
    mended = nbformat.read(path, 4)
    cell = next(c for c in mended.cells if c.id == "check-3-1")
    cell.source = cell.source.replace(
        "hidden=True)", "hidden=True)\ntask.verdicts.clear()"
    ).replace(
        "task.score()", 'task.function("mean", cases=[([2, 2],)], expect=[7.0])\ntask.score()'
    )
    nbformat.write(mended, path)
    after = grade(root, tasks=("3.1",))
    assert [test["score"] for test in after["ada"]["tests"]] == [2.0, 1.0, 0.0]
    assert after["ada"]["tests"][:2] == before["ada"]["tests"][:2]
    assert after["ada"]["answers"] == before["ada"]["answers"]
    assert rows(root)["ada"]["check-3-1"] == (0, False)
    assert grade(root, resume=True) == after
    with pytest.raises(ValueError, match=r"--task must be one of 1\.1, 2\.1, 3\.1, got '9\.9'"):
        grade(root, tasks=("9.9",))


def test_one_student_can_be_graded_alone_and_the_tables_still_hold_all(course):
    kept = files(course)
    found = grade(course, only=("ada",))
    assert list(found) == ["ada"]
    assert files(course) == kept


def test_a_gradebook_that_cannot_be_reached_is_one_sentence_and_the_results_are_kept(tmp_path):
    root = assignment.course(tmp_path)
    enrol(root)
    (root / "course" / "gradebook.db").mkdir()
    with pytest.raises(ValueError, match="the gradebook must take the scores, got no connection"):
        grade(root)


# --- PostgreSQL ---------------------------------------------------------------------------------


def _binaries():
    """Return the folder of PostgreSQL's programs, or None."""
    listed = [Path(p).parent for p in [shutil.which("initdb")] if p]
    listed += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((place.resolve() for place in listed if (place / "initdb").exists()), None)


@pytest.fixture
def postgres():
    """A real server in a folder of its own; its address."""
    binaries = _binaries()
    try:
        import psycopg  # noqa: F401
    except ImportError:
        binaries = None
    if binaries is None:
        if os.environ.get("SCALELAB_REQUIRE_POSTGRES"):
            pytest.fail("PostgreSQL is required here, and is not installed")
        pytest.skip("PostgreSQL and psycopg are not installed")
    place = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))  # short: a socket goes there
    user = {}
    if os.geteuid() == 0:  # it refuses to run as root
        user = {"user": "nobody"}
        shutil.chown(place, "nobody")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data = place / "data"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.STDOUT, "cwd": place, **user}
    subprocess.run(
        [binaries / "initdb", "-D", data, "-U", "course", "-A", "trust", "--no-sync"],
        check=True, **quiet,
    )  # fmt: skip
    server = subprocess.Popen(
        [binaries / "postgres", "-D", data, "-p", str(port), "-k", place, "-F",
         "-c", "listen_addresses=127.0.0.1"],
        **quiet,
    )  # fmt: skip
    address = f"postgresql+psycopg://course@127.0.0.1:{port}/postgres"
    try:
        for _ in range(200):
            with contextlib.suppress(Exception):
                create_engine(address).connect().close()
                break
            time.sleep(0.05)
        yield address
    finally:
        server.terminate()
        server.wait(timeout=30)
        shutil.rmtree(place)


def test_a_real_postgresql_takes_the_same_scores_even_when_its_connections_are_cut(
    course, postgres, tmp_path, monkeypatch
):
    root = assignment.course(tmp_path)
    found = courses.find(root, postgres)
    written = source.load(root, "demo")
    place = course / "course" / "graded" / "demo" / "results"
    results = [json.loads(path.read_bytes()) for path in sorted(place.glob("*.json"))]
    write, cut = record._write, []

    def write_and_lose(book, *arguments):
        write(book, *arguments)
        if len(cut) < 2:
            cut.append(True)
            with create_engine(postgres).connect() as other:
                other.execute(
                    text(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                        "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
                    )
                )

    monkeypatch.setattr(record, "_write", write_and_lose)
    record.record(found, written, results)
    assert len(cut) == 2
    assert rows(root, postgres) == rows(course)
    monkeypatch.setattr(record, "_write", write)
    record.record(found, written, results)
    assert rows(root, postgres) == rows(course)
    assert sorted(record.students(found)) == sorted({*CLASS} - {"eve"})
