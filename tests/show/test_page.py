"""Charts as HTML, and the page around what is kept as a file."""

import re
from dataclasses import replace
from unittest import mock

import pytest
from bs4 import BeautifulSoup
from jinja2 import UndefinedError
from markupsafe import Markup

from scalelab.records import Machine, Stamp
from scalelab.show import draw, page
from scalelab.show.chart import Axis, Chart, Points
from scalelab.show.template import asset, rendered

CHART = Chart("Title", Axis("x"), Axis("y"), (Points("line", [1, 2], [1, 2]),))


def declared(css):
    """The colours that a rule gives to names."""
    return dict(re.findall(r"--sl-([\w-]+): (#\w+)", css))


def test_the_style_of_figures_has_the_colours_of_pictures_light_and_dark():
    first, second = (rule for rule in asset("figure.css").split("}") if "--sl-ink:" in rule)
    for rule, colours in ((first, draw.LIGHT), (second, draw.DARK)):
        assert {**declared(rule), "paper": colours["paper"]} == colours


@pytest.mark.parametrize(("name", "scripts"), [("page.html", True), ("plain.html", False)])
def test_a_page_loads_nothing_and_says_its_title_as_it_was_given(name, scripts):
    title = "</title><script>alert(1)</script>"
    made = rendered(name, title=title, body=Markup("<p>Body</p>"))
    soup = BeautifulSoup(made, "html.parser")
    assert soup.title.string == title
    assert soup.main.p.string == "Body"
    policy = soup.find("meta", {"http-equiv": "Content-Security-Policy"})["content"]
    assert policy.startswith("default-src 'none'; ")
    assert ("script-src" in policy) == bool(soup.find_all("script")) == scripts


def test_a_value_that_a_page_lacks_is_no_empty_place():
    with pytest.raises(UndefinedError, match="title"):
        rendered("page.html", body="")


@pytest.mark.parametrize(
    "make", [lambda: page.figure(CHART), lambda: page.replay([CHART, CHART], [2], 0, "", "fig-two")]
)
def test_a_figure_is_drawn_once(make):
    with mock.patch.object(draw, "svg", wraps=draw.svg) as drawn:
        make()
    assert drawn.call_count == 1


@pytest.mark.parametrize(("text", "rows"), [("295 FLOP/B, memory, 31 ms", True), ("6.43×", False)])
def test_readings_that_are_phrases_stand_below_each_other(text, rows):
    """Five of them were torn over three rows, and none could be compared with another."""
    chart = replace(CHART, readouts=dict.fromkeys("abc", text))
    found = BeautifulSoup(page.figure(chart), "html.parser").find("dl", class_="sl-readouts")
    assert ("sl-rows" in found["class"]) == rows


@pytest.mark.parametrize("date", ["2026-01-02", ""])
def test_the_date_of_a_stamp_stays_on_one_line(date):
    stamp = Stamp("recorded", Machine("a host", 2, python="3.11"), date, "as it came")
    soup = BeautifulSoup(page.figure(replace(CHART, stamp=stamp)), "html.parser")
    shown = soup.select_one(".sl-stamp")
    assert shown.get_text() == stamp.text
    assert [one.string for one in shown.find_all("time")] == [date] * bool(date)
    assert ".sl-stamp time { white-space: nowrap; }" in asset("figure.css")
