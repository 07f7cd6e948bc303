"""nbgrader's formgrader over a class that we graded: the same scores, and a person's stay."""

from __future__ import annotations

import contextlib

import pytest
from nbgrader.api import Gradebook
from playwright.sync_api import expect

from scalelab.grading.box import bubblewrap
from scalelab.grading.judging import grade_one
from tests.browser.conftest import visiting
from tests.browser.test_lab import PATIENCE, TOKEN, serving
from tests.submissions import assignment, classes
from tests.submissions.kinds import kinds

pytestmark = pytest.mark.skipif(bool(bubblewrap.find().missing), reason=bubblewrap.find().missing)
CLASS = {"ada": "honest", "ben": "answer missing", "cleo": "scripts in the text"}


@contextlib.contextmanager
def one_thread():
    with classes.OneThread() as pool:
        yield pool
        pool.submit(grade_one.close).result()


def grade(root):
    return classes.grade(root, executor=one_thread, gradebook=True)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A graded class, with its results."""
    root = assignment.course(tmp_path_factory.mktemp("formgrader"))
    named = {kind.name: kind for kind in kinds()}
    for student, name in CLASS.items():
        named[name].put(root, root / "course" / "submitted" / student / assignment.SLUG)
    return root, grade(root)


@pytest.fixture(scope="module")
def server(course, tmp_path_factory):
    """The address of a Jupyter server in the course's folder."""
    with serving("jupyter_server", course[0], tmp_path_factory.mktemp("server")) as one:
        yield one.address


# The page takes its MathJax from elsewhere, and reads no score before that has come.
MATHJAX = """window.MathJax = {Hub: {
  Config() {}, Configured() {}, Queue() {}, Typeset() {}, Register: {StartupHook() {}, MessageHook() {}},
  Startup: {signal: {Interest(tell) { setTimeout(() => tell("End"), 0); }}},
}};"""


def shown(page, server, root, student):
    """Open a student's submission; return {cell: points shown}, given by hand or automatically."""
    with Gradebook(f"sqlite:///{root / 'course' / 'gradebook.db'}") as book:
        (notebook,) = book.find_submission(assignment.SLUG, student).notebooks
        name = notebook.id
    page.goto(f"{server}/formgrader/submissions/{name}/")
    boxes = page.locator("input.score")
    expect(boxes).to_have_count(4, timeout=PATIENCE)
    page.wait_for_function("[...document.querySelectorAll('input.score')].some(e => e.placeholder)")
    points = {
        box.get_attribute("id"): box.input_value() or box.get_attribute("placeholder")
        for box in boxes.all()
    }
    return {cell: float(text) for cell, text in points.items() if text}


def test_formgrader_shows_our_scores_and_keeps_what_a_person_gives(browser, course, server):
    root, found = course
    with visiting(browser, home=server) as visit:
        visit.context.set_default_timeout(PATIENCE)
        visit.context.route(
            "**/mathjax/**",
            lambda route: route.fulfill(body=MATHJAX, content_type="text/javascript"),
        )
        visit.page.goto(f"{server}/login?token={TOKEN}")  # for the cookie: scores are asked with it
        asked = []
        visit.page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
        for student, one in found.items():
            points = shown(visit.page, server, root, student)
            ours = {test["id"]: test["score"] for test in one["tests"]}
            assert points | ours == points, student
        assert asked == []  # no script of a student's has run
        shown(visit.page, server, root, "ada")
        visit.page.fill("#answer-3-2", "1.5")
        visit.page.press("#answer-3-2", "Tab")
        expect(visit.page.locator(".score-saved:visible").first).to_be_visible(timeout=PATIENCE)
        grade(root)
        points = shown(visit.page, server, root, "ada")
    assert points == {"check-1-1": 2, "check-2-1": 1, "check-3-1": 3, "answer-3-2": 1.5}
    page = (root / "course" / "feedback" / "ada" / "demo" / "demo.html").read_text()
    assert "7.5 of 8 points" in page
