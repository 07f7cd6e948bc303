"""The gradebook, the pages and the tables of a real assignment: honest, wrong, blank, unreadable, missing."""

import contextlib
import csv
import json
import os
import shutil
import signal
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
from scalelab.grading.inputs.source import number
from scalelab.grading.out import record
from tests.assignments.runner import SLUGS
from tests.sampling import sampled
from tests.submissions import classes, stage as stages
from tests.submissions.kinds import kinds
from tests.submissions.stage import ONE, REST, USERS

pytestmark = [
    pytest.mark.turns(3),
    pytest.mark.skipif(bool(bubblewrap.find().missing), reason=bubblewrap.find().missing),
]

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
    slug = stages.of(root).slug
    for student, name in CLASS.items():
        NAMED[name].put(root, root / "course" / "submitted" / student / slug)
    stamp = root / "course" / "submitted" / "dan" / slug / "timestamp.txt"
    stamp.write_text("2025-03-02 12:00:00 UTC")


@pytest.fixture(scope="module", autouse=True)
def _one_fork_server():
    yield
    classes.close()


def grade(root, **wish):
    return classes.grade(root, executor=classes.here, **({"gradebook": True} | wish))


@pytest.fixture(scope="module", params=sampled(SLUGS, 1))
def graded(request, tmp_path_factory):
    """A course with a graded class, which no test changes."""
    root = stages.course(tmp_path_factory.mktemp("recorded"), request.param)
    enrol(root)
    grade(root)
    return root


@pytest.fixture
def course(graded, tmp_path):
    """A copy of it, to be changed: with `resume` only what has changed is run."""
    shutil.copytree(graded, tmp_path, dirs_exist_ok=True)
    return tmp_path


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
            for submission in opened.find_assignment(stages.of(root).slug).submissions
        }


def give(root, student, cell, points):
    """Give points as a person does in formgrader."""
    slug = stages.of(root).slug
    with book(root) as opened:
        mark = opened.find_grade(cell, slug, slug, student)
        mark.manual_score, mark.needs_manual_grade = points, False
        opened.db.commit()


def place(root, step, student=""):
    """Return the folder of a step, or of a student there."""
    slug = stages.of(root).slug
    return root / "course" / step / student / slug


def checks(root):
    """Return {check: points} and {text: points} of the assignment."""
    cells = stages.of(root).source.cells
    return (
        {cell.id: cell.points for cell in cells if cell.check},
        {cell.id: cell.points for cell in cells if cell.manual},
    )


def test_the_gradebook_holds_every_score_and_no_row_where_there_is_none(graded):
    automatic, texts = checks(graded)
    full = {name: (points, False) for name, points in automatic.items()}
    unread = dict.fromkeys(texts, (None, True))
    found = rows(graded)
    assert {*found} == {"ada", "=cmd", "ben", "dan"}
    assert found["ada"] == found["=cmd"] == full | unread
    assert found["ben"] == dict.fromkeys(automatic, (0, False)) | unread
    stage, dan = stages.of(graded), found["dan"]
    assert dan[stage.id(ONE, "check")] == (0, False)
    # What comes after it may build on it.
    points = sum(dan[name][0] for name in automatic)
    assert stage.due((REST, USERS)) <= points <= stage.due((ONE,))


def test_a_failed_submission_counts_as_0_in_no_average_of_the_gradebook(graded):
    scores = [sum(score or 0 for score, _ in row.values()) for row in rows(graded).values()]
    with book(graded) as opened:
        assert opened.find_student("cleo")
        average = opened.average_assignment_score(stages.of(graded).slug)
    assert average == pytest.approx(sum(scores) / 4)


def test_what_a_person_gave_outlives_a_hand_in_that_cannot_be_read(course):
    automatic, (text, *texts) = checks(course)
    slug = stages.of(course).slug
    give(course, "ada", text, 1.5)
    for student in ("ada", "ben"):
        (place(course, "submitted", student) / f"{slug}.ipynb").write_text("{")
    grade(course, resume=True)
    found = rows(course)
    unread = dict.fromkeys([*automatic, *texts], (None, True))
    assert found["ada"] == unread | {text: (None, False)}
    assert "ben" not in found
    with book(course) as opened:
        (notebook,) = opened.find_submission(slug, "ada").notebooks
        assert {c.auto_comment for c in notebook.comments} == {
            "Not graded: it is not a notebook: it is no JSON, or is cut off."
        }
    assert not place(course, "autograded", "ada").exists()


def test_grading_again_changes_nothing(graded):
    kept = rows(graded), files(graded)
    grade(graded, resume=True)
    assert (rows(graded), files(graded)) == kept
    grade(graded)
    assert (rows(graded), files(graded)) == kept


def files(root):
    found = [*root.glob("course/graded/**/*"), *root.glob("course/feedback/**/*.html")]
    return {p: p.read_bytes() for p in found if p.is_file() and p.name != "timings.json"}


def test_a_score_given_by_a_person_stays_and_is_told(course):
    (check, *_), (text, *_) = checks(course)
    slug, most = stages.of(course).slug, stages.of(course).most
    give(course, "ada", text, 1.5)
    give(course, "ben", check, 2.0)
    with book(course) as opened:
        opened.find_comment(text, slug, slug, "ada").manual_comment = "Well <said>."
        opened.db.commit()
    grade(course, resume=True)
    with book(course) as opened:
        mark = opened.find_grade(text, slug, slug, "ada")
        assert (mark.manual_score, mark.needs_manual_grade) == (1.5, False)
        mark = opened.find_grade(check, slug, slug, "ben")
        assert (mark.manual_score, mark.auto_score, mark.needs_manual_grade) == (2.0, 0.0, False)
    page = (place(course, "feedback", "ada") / f"{slug}.html").read_text()
    assert f"{most + 1.5:g} of " in page
    assert "Well &lt;said&gt;." in page
    scores = {row["student"]: row for row in table(course, "scores.csv")}
    assert float(scores["ada"]["score"]) == most + 1.5
    assert scores["ben"]["score"] == "2.0"


def table(root, name):
    with (place(root, "graded") / name).open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_tables_name_everybody_and_give_no_number_where_there_is_none(graded):
    slug, most = stages.of(graded).slug, stages.of(graded).most
    everything = most + sum(checks(graded)[1].values())
    dan = sum(score or 0 for score, _ in rows(graded)["dan"].values())
    scores = {row["student"]: row for row in table(graded, "scores.csv")}
    assert {name: (row["status"], row["score"]) for name, row in scores.items()} == {
        "ada": ("graded", f"{most}"),
        "ben": ("graded", "0.0"),
        "cleo": ("failed", ""),
        "dan": ("graded with flags", f"{dan}"),
        "eve": ("missing", ""),
        "'=cmd": ("graded", f"{most}"),  # or a spreadsheet would run it
    }
    possible, *canvas = [row[slug] for row in table(graded, "canvas.csv")]
    assert possible == f"{everything}"
    assert canvas == [f"{most}", f"{most}", "0.0", "", f"{dan}", ""]
    assert list(table(graded, "canvas.csv")[0]) == [
        "Student", "ID", "SIS User ID", "SIS Login ID", "Section", slug,
    ]  # fmt: skip
    assert {row["ID number"] for row in table(graded, "moodle.csv")} == {*scores}
    assert {row["provisional"] for row in scores.values() if row["score"]} == {"yes"}


def test_the_results_have_the_shape_of_gradescope(graded):
    found = json.loads((place(graded, "graded") / "results" / "dan.json").read_text())
    assert found["score"] == sum(test["score"] for test in found["tests"])
    assert found["max_score"] == stages.of(graded).most
    for test in found["tests"]:
        assert {"name", "number", "score", "max_score", "output", "visibility", "status"} <= set(
            test
        )
        assert test["status"] in ("passed", "failed")
    numbers = [number(stages.of(graded).source, name) for name in checks(graded)[0]]
    assert [test["number"] for test in found["tests"]] == numbers


def test_the_class_report_says_what_was_solved_and_who_needs_a_look(graded):
    told = json.loads((place(graded, "graded") / "report.json").read_text())
    stage = stages.of(graded)
    assert told["states"] == {"graded": 3, "graded with flags": 1, "failed": 1, "missing": 1}
    solved = {task["id"]: task["solved"] for task in told["tasks"]}
    assert solved[stage.id(ONE, "check")] == 0.5
    assert {solved[check] for check in checks(graded)[0]} <= {0.5, 0.75}
    order = [row["student"] for row in told["students"]]
    assert order == ["cleo", "dan", "=cmd", "ada", "ben", "eve"]
    page = (place(graded, "graded") / "report.html").read_text()
    assert f"the answer of {number(stage.source, stage.id(ONE, 'check'))} is missing" in page


def test_stock_feedback_reads_our_scores_from_the_graded_notebook(graded):
    """The feedback of nbgrader itself is made from the graded notebook and the gradebook."""
    slug = stages.of(graded).slug
    made = nbformat.read(place(graded, "autograded", "ada") / f"{slug}.ipynb", 4)
    nbformat.validate(made)
    from nbgrader import utils

    judged = [c for c in made.cells if utils.is_grade(c) and c.cell_type == "code"]
    found = {c.metadata.nbgrader.grade_id: utils.determine_grade(c)[0] for c in judged}
    assert found == checks(graded)[0]


def test_late_work_meets_the_courses_own_policy(course):
    slug = stages.of(course).slug
    with (course / "nbgrader_config.py").open("a") as file:
        file.write("\nc.LateSubmissionPlugin.penalty_method = 'zero'\n")
    courses.with_gradebooks()
    with book(course) as opened:
        opened.update_or_create_assignment(slug, duedate="2025-03-01 18:00 UTC")
    grade(course, resume=True)
    points = sum(score or 0 for score, _ in rows(course)["dan"].values())
    with book(course) as opened:
        late = opened.find_submission(slug, "dan")
        assert late.total_seconds_late == 64_800
        assert late.notebooks[0].late_submission_penalty == points
        assert opened.find_submission(slug, "ada").notebooks[0].late_submission_penalty is None
    found, written = courses.find(course), source.load(course, slug)
    assert record.known(found, written)["dan"].penalty == points
    page = (place(course, "feedback", "dan") / f"{slug}.html").read_text()
    assert f"{points:g} points were taken off" in page


def test_a_mended_check_is_judged_again_for_all_and_the_rest_is_kept(course):
    stage = stages.of(course)
    before = grade(course, resume=True)
    path = course / "solutions" / stage.slug / f"{stage.slug}.ipynb"
    mended = nbformat.read(path, 4)
    check = stage.id(ONE, "check")
    cell = next(c for c in mended.cells if c.id == check)
    more = 'task.number("of_nobody", expect=7.0, hidden=True)'
    cell.source = cell.source.replace("### END HIDDEN", f"{more}\n### END HIDDEN")
    nbformat.write(mended, path)
    after = grade(course, tasks=(number(stage.source, check),))
    scores, old = ({t["id"]: t for t in found["ada"]["tests"]} for found in (after, before))
    assert 0 < scores[check]["score"] < old[check]["score"]
    assert {name: t for name, t in scores.items() if name != check} == {
        name: t for name, t in old.items() if name != check
    }
    assert after["ada"]["answers"] == before["ada"]["answers"]
    assert rows(course)["ada"][check] == (scores[check]["score"], False)
    again = grade(course, resume=True)  # judges the rest of that exercise as well: nothing changes
    assert {s: found | {"keys": 0} for s, found in again.items()} == {
        s: found | {"keys": 0} for s, found in after.items()
    }
    assert grade(course, resume=True) == again
    with pytest.raises(ValueError, match=r"--task must be one of 1\.1, 1\.2, .*, got '9\.9'"):
        grade(course, tasks=("9.9",))


def test_one_student_can_be_graded_alone_and_the_tables_still_hold_all(graded):
    kept = files(graded)
    found = grade(graded, only=("ada",))
    assert list(found) == ["ada"]
    assert files(graded) == kept


def test_a_gradebook_that_cannot_be_reached_is_one_sentence_and_the_results_are_kept(course):
    kept = place(course, "graded") / "results"
    before = {path: path.read_bytes() for path in kept.iterdir()}
    (course / "course" / "gradebook.db").unlink()
    (course / "course" / "gradebook.db").mkdir()
    with pytest.raises(ValueError, match="the gradebook must take the scores, got no connection"):
        grade(course, resume=True)
    assert {path: path.read_bytes() for path in kept.iterdir()} == before


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
        server.send_signal(signal.SIGINT)  # at once, whoever is still connected
        server.wait(timeout=30)
        shutil.rmtree(place)


def test_a_real_postgresql_takes_the_same_scores_even_when_its_connections_are_cut(
    graded, postgres, tmp_path, monkeypatch
):
    slug = stages.of(graded).slug
    root = stages.course(tmp_path, slug)
    found, written = courses.find(root, postgres), source.load(root, slug)
    kept = sorted((place(graded, "graded") / "results").glob("*.json"))
    results = [json.loads(path.read_bytes()) for path in kept]
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
    assert rows(root, postgres) == rows(graded)
    monkeypatch.setattr(record, "_write", write)
    record.record(found, written, results)
    assert rows(root, postgres) == rows(graded)
    assert sorted(record.students(found)) == sorted({*CLASS} - {"eve"})
