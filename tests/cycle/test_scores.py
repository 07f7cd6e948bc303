"""Stock nbgrader runs every assignment through the whole cycle, and scores it as we do.

nbgrader's own converters, in this process: four submissions for each assignment, one kernel each.
Today's assignment every day, all of them by `make test-all`.
"""

import pytest
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
from nbgrader.plugins import CsvExportPlugin
from nbgrader.validator import Validator

from scalelab.checks.keys import course_key, using
from tests.assignments.runner import SLUGS, Assignment, table
from tests.sampling import sampled
from tests.submissions.nbgrader_course import Course, entered

pytestmark = pytest.mark.course

STUDENTS = ("ada", "ben", "cleo", "dora")


def answers_of(slug):
    """Return what each student hands in: the reference, nothing, slips, another style."""
    reference = Assignment(slug)
    slips = {f"answer-{task}": wrong[-1][2] for task, wrong in table(slug).WRONG.items()}
    keys = [key for key in reference.cells if key.startswith("answer-")]
    everything = {key: reference.cells[key].source for key in keys}
    return dict(zip(STUDENTS, (everything, {}, slips, table(slug).ALTERNATIVE), strict=True))


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """The folder of a course, its gradebook shared by all assignments."""
    with entered(tmp_path_factory.mktemp("course")) as root:
        yield root


@pytest.fixture(scope="module", params=sampled(SLUGS, 1))
def course(request, root):
    """One assignment after release, submission, autograding and feedback."""
    course = Course(root, request.param, keys=["ada", "cleo", "dora"])  # ben: the public numbers
    course.run(GenerateAssignment)
    for student, answers in answers_of(course.slug).items():
        course.submit(student, answers)
    course.run(Autograde)
    course.run(GenerateFeedback)
    return course


def test_stock_nbgrader_scores_every_check_as_we_do(course):
    for student, answers in answers_of(course.slug).items():
        stub = Assignment(course.slug, "exercises")
        given = {key: answers.get(key, stub.cells[key].source) for key in stub.answers}
        with using(course_key(student, course.root / "course")):
            ours = {k: g.points for k, g in Assignment(course.slug).grade(given).items()}
        assert course.scores(student) == pytest.approx(ours), student
        most = sum(c.metadata.nbgrader.points for k, c in stub.cells.items() if k in ours)
        full = sum(ours.values()) == most
        assert full == (student in ("ada", "dora"))
        assert any(ours.values()) or student in ("ben", "cleo")


def test_feedback_and_export_arrive_for_everybody_and_tell_nothing_hidden(course):
    for student in STUDENTS:
        page = course.root / "course" / "feedback" / student / course.slug / f"{course.slug}.html"
        text = page.read_text()
        for secret in ("BEGIN HIDDEN", "fresh(", "hidden=True", "MARK SCHEME", "3 points:"):
            assert secret not in text
    export = CsvExportPlugin(to=str(course.root / "grades.csv"))
    with Gradebook(course.database) as book:
        export.export(book)
    rows = (course.root / "grades.csv").read_text().splitlines()
    assert sum(row.startswith(f"{course.slug},") for row in rows) == len(STUDENTS)


def test_the_validator_passes_the_reference(course):
    handed_in = course.root / "course" / "submitted" / "ada" / course.slug / course.name
    result = Validator(config=course.config).validate(str(handed_in))
    assert "failed" not in result, result["failed"][0]["error"]
