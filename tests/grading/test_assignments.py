"""Every assignment of the book, behind walls: its own solution earns everything, its release nothing."""

import json

import pytest

from scalelab.checks.keys import student_key
from scalelab.grading.box import bubblewrap
from scalelab.grading.inputs.collect import Submission
from scalelab.grading.inputs.source import load
from scalelab.grading.judging import grade_one
from tests.assignments.runner import ROOT, SLUGS
from tests.sampling import sampled

pytestmark = pytest.mark.skipif(bool(bubblewrap.find().missing), reason=bubblewrap.find().missing)


@pytest.fixture(scope="module", autouse=True)
def _one_fork_server():
    yield
    grade_one.close()


def graded(slug, folder, key=""):
    """Grade the notebook of a folder as if a student had handed it in."""
    data = json.loads((ROOT / folder / slug / f"{slug}.ipynb").read_text())
    submission = Submission("ada", json.dumps(data).encode())
    return grade_one.grade(grade_one.Unit(load(ROOT, slug), submission, key=key))


@pytest.mark.parametrize(
    ("slug", "key"),
    sampled(
        [
            pytest.param(slug, key, id=f"{slug}, {numbers}")
            for slug in SLUGS
            for numbers, key in (("public", ""), ("own numbers", student_key("ada", b"a course")))
        ],
        4,
    ),
)
def test_the_solution_earns_everything_behind_walls(slug, key):
    found = graded(slug, "solutions", key)
    lost = [test["output"] for test in found["tests"] if test["score"] != test["max_score"]]
    assert lost == []
    assert all("was changed" in flag["text"] for flag in found["flags"])
    assert found["tests"]


@pytest.mark.parametrize("slug", sampled(SLUGS, 1))
def test_the_release_earns_nothing_and_is_called_not_attempted(slug):
    found = graded(slug, "exercises")
    assert (found["status"], found["score"]) == ("graded", 0.0)
    assert all(set(test["states"]) == {"not attempted"} for test in found["tests"])
    assert all(answer["score"] == 0.0 for answer in found["manual"])
