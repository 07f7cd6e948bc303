"""Reports of one file in a real browser, of a rubric and of a class: they ask for nothing, and read well."""

from __future__ import annotations

import itertools

import pytest

from scalelab.grading.inputs.flag import HARMLESS, Flag
from scalelab.grading.out import report as class_report
from scalelab.grading.returned.feedback import feedback
from scalelab.rubric import rubric
from scalelab.show.report import page_of
from tests.grading.out.test_out import LAWS, handed, simulated
from tests.rubric.test_rubric import QUALITY, study
from tests.sampling import sampled

pytestmark = pytest.mark.turns(2)

WIDEST = """Math.max(...[...document.querySelectorAll("body *")]
  .filter((e) => !e.closest(".sl-scroll")).map((e) => e.getBoundingClientRect().right))"""
INKS = "(e) => [getComputedStyle(document.body).backgroundColor, getComputedStyle(e).color]"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    report = rubric.judge(study(quality=(*QUALITY[:-1], 0.86)))
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(page_of(report))
    return path.as_uri()


@pytest.mark.parametrize("scripts", sampled([True, False], 1))
def test_a_report_asks_for_nothing_and_fits_its_window(visit, address, scripts):
    """The visit fails at its end if the page asked for anything, or said an error."""
    reader = visit(java_script_enabled=scripts)
    for scheme, width in itertools.product(("light", "dark"), (360, 1200)):
        reader.page.emulate_media(color_scheme=scheme)
        reader.page.set_viewport_size({"width": width, "height": 800})
        reader.page.goto(address)
        assert reader.page.evaluate(WIDEST) <= width, (scheme, width)
        assert reader.page.locator("svg[role=img][aria-label]").count() == 3


@pytest.mark.thorough
def test_figures_follow_the_reader_into_the_dark(visit, address):
    """Paper and ink trade places together."""
    seen = {}
    for scheme, scripts in (("light", True), ("dark", True), ("dark", False)):
        reader = visit(color_scheme=scheme, java_script_enabled=scripts)
        reader.page.goto(address)
        seen[scheme if scripts else "no script"] = reader.page.locator(".sl-figure").first.evaluate(
            INKS
        )
    brightness = {
        scheme: [sum(map(int, c.strip("rgb()").split(","))) for c in inks]
        for scheme, inks in seen.items()
    }
    assert brightness["light"][0] > 600 > 300 > brightness["light"][1]
    assert brightness["no script"] == brightness["light"]
    assert brightness["dark"][0] < 150 < 600 < brightness["dark"][1]


def test_no_rule_of_accessibility_is_broken(visit, address):
    from axe_playwright_python.sync_playwright import Axe

    reader = visit()
    reader.page.goto(address)
    for scheme in ("light", "dark"):
        reader.page.emulate_media(color_scheme=scheme)
        found = Axe().run(reader.page)
        assert [one["id"] for one in found.response["violations"]] == []


@pytest.fixture(scope="module")
def of_a_class(tmp_path_factory):
    """The addresses of the report of a class, and of the page of one of its students."""
    many = [Flag("was changed; the course's own was used", HARMLESS, c.id) for c in LAWS.cells]
    class_ = [*simulated(40), handed(student="a" * 60, odd=[*many, Flag("x" * 300)])]
    told = class_report.summary(LAWS, class_)
    place = tmp_path_factory.mktemp("class")
    (place / "report.html").write_text(class_report.html(told, "feedback"))
    (place / "student.html").write_text(feedback(LAWS, class_[-1]))
    return [(place / name).as_uri() for name in ("report.html", "student.html")]


def test_the_pages_of_a_class_fit_a_phone_and_break_no_rule_of_accessibility(visit, of_a_class):
    from axe_playwright_python.sync_playwright import Axe

    reader = visit()
    for address in of_a_class:
        reader.page.set_viewport_size({"width": 390, "height": 800})
        reader.page.goto(address)
        assert reader.page.evaluate("document.documentElement.scrollWidth") <= 390, address
        for scheme in ("light", "dark"):
            reader.page.emulate_media(color_scheme=scheme)
            found = Axe().run(reader.page)
            assert [one["id"] for one in found.response["violations"]] == []
