"""A whole course with stock nbgrader: release, three submissions, autograde, feedback, export.

The commands are nbgrader's own, run in a copy of the course; book/instructor.md tells
instructors to type the same ones.
"""

import csv
import shutil
import stat
import subprocess

import nbformat
import pytest
from nbgrader.api import Gradebook

from tests.assignments.runner import ROOT, Assignment, table
from tests.children import environment

pytestmark = pytest.mark.course

SLUG = "01_speedup"
PAGE = (ROOT / "book" / "instructor.md").read_text()
COLLECT = r"--FileNameCollectorPlugin.named_regexp=.*/(?P<student_id>[^/_]+)_(?P<file_id>[^/]+)"
AUTOMATIC, MANUAL = 41, 9
LATE_WARNING = """
import logging, sys, warnings

logging.basicConfig()

def sweep(serial, workers):
    warnings.warn("deprecated, they say")
    logging.warning("and log")
    print("and write to stderr", file=sys.stderr)
    return [
        (k, serial + (1 - serial) / k, k / (k * serial + 1 - serial),
         1 / (k * serial + 1 - serial), np.float64(1 if k == 1 else 0.25 / (k - 1)))
        for k in workers
    ]

def limits(serial, workers):
    below = [k for k in workers if k * serial + 1 - serial > 2]
    return np.float64(1 / serial), below[0] if below else None
"""


class Course:
    """A copy of the course in a folder of its own, and nbgrader to work on it."""

    def __init__(self, root):
        self.root, self.typed, self.secrets = root, [], []
        shutil.copy(ROOT / "nbgrader_config.py", root)
        for folder in ("solutions", "exercises"):
            (root / folder / SLUG).mkdir(parents=True)
            shutil.copy(ROOT / folder / SLUG / f"{SLUG}.ipynb", root / folder / SLUG)
        # nbgrader starts alembic and the kernel's python by name.
        self.environment = environment(IPYTHONDIR=str(root / ".ipython"))
        self.environment.pop("SCALELAB_COURSE_SECRET", None)

    def nbgrader(self, *arguments):
        """Run one command and return all that it said; remember how it was typed, and the secret."""
        self.typed.append(" ".join(("nbgrader", *arguments)))
        done = subprocess.run(
            ["nbgrader", *arguments],
            cwd=self.root,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout
        self.secrets.append((self.root / "course" / "secret").read_text())
        return done.stdout

    def hand_in(self, student, answers):
        """Put a released notebook with some answers where a platform's downloads go."""
        notebook = nbformat.read(self.root / "exercises" / SLUG / f"{SLUG}.ipynb", 4)
        for cell in notebook.cells:
            cell.source = answers.get(cell.id, cell.source)
        place = self.root / "course" / "downloaded" / SLUG / "archive"
        place.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, place / f"{student}_{SLUG}.ipynb")

    def grades(self, student):
        """Return {check: automatic score} from the gradebook, and whether a person must look."""
        with Gradebook(f"sqlite:///{self.root / 'course' / 'gradebook.db'}") as book:
            submission = book.find_submission(SLUG, student)
            scores = {g.name: g.auto_score for n in submission.notebooks for g in n.grades}
            return scores, submission.needs_manual_grade


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """The course after release, submission, autograding, feedback and export."""
    course = Course(tmp_path_factory.mktemp("course"))
    course.nbgrader("generate_assignment", SLUG, "--force")
    reference, wrong = Assignment(SLUG), table(SLUG).WRONG
    everything = {key: c.source for key, c in reference.cells.items() if key.startswith("answer")}
    course.hand_in("ada", everything)
    course.hand_in("ben", {})
    course.hand_in(
        "cleo",
        {
            "answer-1-3": wrong["1-3"][6][2],  # the bill per hour: 2.4 of 4
            "answer-2-1": LATE_WARNING,
            "answer-2-2": "this is no Python",
            "answer-3-1": table(SLUG).ALTERNATIVE["answer-3-1"],
            "answer-3-5": "The baseline was too slow.",
        },
    )
    course.nbgrader("zip_collect", SLUG, COLLECT)
    course.nbgrader("autograde", SLUG)
    course.nbgrader("generate_feedback", SLUG)
    course.nbgrader("export", "--to=course/grades.csv")
    return course


def test_stock_nbgrader_makes_the_release_we_commit(course):
    made = course.root / "exercises" / SLUG / f"{SLUG}.ipynb"
    assert made.read_bytes() == (ROOT / "exercises" / SLUG / f"{SLUG}.ipynb").read_bytes()


def test_the_instructor_page_tells_to_type_what_was_typed_here(course):
    page = PAGE.replace("'", "")
    assert [line for line in course.typed[:5] if line not in page] == []


def test_a_course_gets_one_secret_for_its_owner_only(course):
    (word,) = set(course.secrets)  # every command found what the first one made
    assert len(word.strip()) == 64
    assert stat.S_IMODE((course.root / "course" / "secret").stat().st_mode) == 0o600


def test_the_reference_earns_all_that_is_automatic(course):
    scores, manual = course.grades("ada")
    assert sum(score for score in scores.values() if score) == AUTOMATIC
    assert sorted(name for name, score in scores.items() if score is None) == [
        "answer-1-4",
        "answer-2-4",
        "answer-3-5",
    ]
    assert manual


def test_the_stub_earns_nothing_and_needs_nobody(course):
    scores, manual = course.grades("ben")
    assert set(scores.values()) == {0}
    assert not manual


def test_partial_credit_arrives_and_warnings_cost_nothing(course):
    scores, manual = course.grades("cleo")
    earned = {name: score for name, score in scores.items() if score}
    assert earned == pytest.approx({"check-1-3": 2.4, "check-2-1": 4, "check-3-1": 4})
    assert scores["answer-3-5"] is None
    assert manual


def test_feedback_shows_reports_and_no_hidden_check(course):
    for student in ("ada", "ben", "cleo"):
        page = course.root / "course" / "feedback" / student / SLUG / f"{SLUG}.html"
        text = page.read_text()
        assert "Task 1.3: " in text
        for secret in ("BEGIN HIDDEN", "fresh(", "hidden=True", "MARK SCHEME", "3 points:"):
            assert secret not in text
    assert "that is the bill per hour" in text


def test_the_export_has_a_row_for_everybody(course):
    with (course.root / "course" / "grades.csv").open() as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    scores = {name: float(row["score"]) for name, row in rows.items()}
    assert scores == pytest.approx({"ada": AUTOMATIC, "ben": 0, "cleo": 10.4})
    assert {float(row["max_score"]) for row in rows.values()} == {AUTOMATIC + MANUAL}


def test_validate_fails_the_stub_with_our_report_and_passes_the_reference(course):
    stub, reference = f"exercises/{SLUG}/{SLUG}.ipynb", f"course/submitted/ada/{SLUG}/{SLUG}.ipynb"
    said = course.nbgrader("validate", stub, reference)
    of_stub, passed, _ = said.partition("Success! Your notebook passes all the tests.")
    assert said.count("VALIDATION FAILED") == 1
    assert "VALIDATION FAILED ON 13 CELL(S)" in of_stub
    assert "Task 2.3: not attempted, 0 of 4 points" in of_stub
    assert passed
    assert "Traceback" not in said
