"""Drawings as data, and as HTML: words for those who do not see them, weight, and what is escaped."""

import gzip
import json
import re

import pytest
from bs4 import BeautifulSoup

from scalelab.models.network import messages
from scalelab.records import Stamp
from scalelab.refusal import Refusal
from scalelab.show.drawings import Drawing, Frame, Shape, Stepper
from scalelab.show.drawings.drawing import BELOW
from scalelab.show.drawings.network import all_reduce
from tests.show.drawings import every
from tests.show.test_hostile import evil, read

HEAVIEST = 60_000  # bytes of a drawing, compressed
BOX = Shape("a", "box", 10, 10, 8, 8, text="A")


def drawing(*frames, **more):
    given = {
        "name": "one",
        "title": "Title",
        "about": "A box is a worker.",
        "width": 40,
        "height": 30,
    }
    return Drawing(**given | {"frames": frames, "stamp": Stamp("model")} | more)


def frame(caption, *shapes, **facts):
    return Frame(caption, shapes, facts)


def chapters():
    return Stepper(*[all_reduce(name, plan(8)) for name, plan in messages.ALL_REDUCE.items()])


def soup(stepper):
    return BeautifulSoup(stepper.html(), "html.parser")


def test_the_alt_text_says_what_is_drawn_and_what_happens():
    two = drawing(frame("First.", BOX), frame("Then.", BOX))
    assert two.describe(1) == "Title. A box is a worker. Then."
    picture = soup(Stepper(two)).select_one(".sl-stage svg[role=img]")
    assert picture["aria-label"] == two.describe(0)
    assert chapters().drawings[0].describe(2).startswith("Ring of 8: 14 rounds")


def test_the_twin_has_a_row_for_each_step_of_each_drawing():
    stepper = chapters()
    rows = [
        [cell.text for cell in row.select("th, td")]
        for row in soup(stepper).select(".sl-twin tbody tr")
    ]
    assert rows == [row for one in stepper.drawings for row in one.rows()]
    assert len(rows) == 4 + 14 + 3 + 6 + 6
    assert all(row[1].startswith(("Before", "Round")) for row in rows)


def test_the_legend_shows_a_color_as_what_has_it():
    """Blocks are pale with an edge, and beside them stood a strong bar."""
    shapes = [
        Shape("work", "block", 1, 1, 2, 2, tone=1),
        Shape("done", "circle", 9, 1, 2, 2, tone=2),
        Shape("sent", "arrow", 1, 5, 2, 2, tone=3),
        Shape("came", "circle", 9, 5, 2, 2, tone=3),
    ]
    tones = {"working": 1, "answered": 2, "moving": 3, "elsewhere": 4}
    keys = soup(Stepper(drawing(frame("", *shapes), tones=tones))).select(".sl-legend .sl-key")
    looks = ["sl-of-block", "sl-of-circle", "sl-of-arrow", "sl-of-bar"]
    assert [key["class"][-1] for key in keys] == looks


def test_where_nothing_moves_the_chosen_frames_stand_beside_each_other():
    one = drawing(frame("0.", BOX), frame("1.", BOX), frame("2."), chosen=(0, 2))
    assert [p.text for p in soup(Stepper(one)).select(".sl-still p:last-child")] == ["0.", "2."]
    other = drawing(frame("3.", BOX), name="other")
    stills = soup(Stepper(one, other)).select(".sl-still p:last-child")
    assert [p.text for p in stills] == ["2.", "3."]


@pytest.mark.parametrize("name", every())
def test_no_drawing_of_the_book_opens_on_its_empty_first_step_or_on_the_answer(name):
    for one in every()[name]().drawings:
        assert 0 < one.opening < len(one.frames) - 1
        seen = [
            sum(bool(one.text) or one.width * one.height > 0 or one.kind in BELOW for one in shapes)
            for shapes in (one.frames[0].shapes, one.frames[one.opening].shapes)
        ]
        assert seen[1] > seen[0]


def test_a_drawing_is_light_and_asks_for_nothing():
    html = chapters().html()
    assert len(gzip.compress(html.encode())) < HEAVIEST
    assert not re.search(r"""(src|href)=["'](?!#)|https?:|@import|url\(""", html)


def test_nothing_in_a_drawing_becomes_a_tag():
    shapes = [
        Shape(evil("key"), "box", 1, 1, text=evil("label")),
        Shape("t", "text", 1, 1, text=evil("text")),
    ]
    hostile = drawing(
        Frame(evil("caption"), shapes, {evil("fact"): evil("told")}),
        Frame(evil("next"), (), {evil("fact"): evil("end")}),
        **{"name": evil("name"), "title": evil("title"), "about": evil("about")},
        tones={evil("tone"): 1},
    )
    page = Stepper(hostile, hostile, choose=evil("choose")).html()
    assert BeautifulSoup(page, "html.parser").find_all("script")[2:] == []
    data = BeautifulSoup(page, "html.parser").find("script", type="application/json").text
    assert "<" not in data
    assert json.loads(data)["drawings"][0]["frames"][0][0] == evil("caption")
    assert "<script>alert" not in page
    words = {"label", "text", "caption", "fact", "told", "name", "title", "about", "tone", "choose"}
    assert read(page) >= words


def test_a_fact_has_a_row_of_its_own_only_where_one_of_its_texts_is_long():
    """Rounds stood alone on a row, and all that followed would have fitted beside it."""
    long = "stage 1: nothing; stage 2: B1"
    frames = (
        frame("a", BOX, Rounds="1 of 6", Done="nothing"),
        frame("b", BOX, Rounds="2 of 6", Done=long),
    )
    facts = soup(Stepper(drawing(*frames))).select(".sl-readouts > div")
    wide = {one.dt.string: one.get("class") for one in facts}
    assert wide == {"Rounds": None, "Done": ["sl-wide"]}


def test_only_what_differs_travels_with_the_next_frame():
    moved = Shape("a", "box", 20, 10, 8, 8, text="A")
    come = Shape("b", "text", 5, 5, text="B", start=(1, 2))
    stepper = Stepper(
        drawing(frame("0.", BOX), frame("1.", BOX), frame("2.", moved, come), frame("3.", moved))
    )
    data = json.loads(soup(stepper).select_one(".sl-data").text)
    changes = [one[2] for one in data["drawings"][0]["frames"]]
    assert changes == [[[0, 10, 10, 0, 0]], [], [[0, 20, 10, 0, 0], [1, 5, 5, 0, 1, 1, 2]], [[1]]]
    assert data["texts"] == ["A", "B"]


def test_a_notebook_shows_it_with_its_script_and_says_it_without():
    two = drawing(frame("First.", BOX), frame("Then.", BOX))
    bundle = Stepper(two)._repr_mimebundle_()
    assert bundle["text/html"].count("document.currentScript") == 1
    assert bundle["text/plain"] == "Title. A box is a worker. First.\nThen."


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Shape("a", "blob", 0, 0), "kind must be one of"),
        (lambda: frame("0.", BOX, BOX), "'a' twice"),
        (lambda: drawing(), "at least one frame"),
        (lambda: drawing(frame("0.", BOX), chosen=(1,)), "among its 1 frames"),
        (lambda: drawing(frame("0.", a="1"), frame("1.", b="1")), "same names"),
        (lambda: drawing(frame("0.", BOX), frame("1.", Shape("a", "bar", 0, 0))), "keep its kind"),
        (lambda: Stepper(), "at least one"),
        (lambda: Stepper(drawing(frame("0.")), drawing(frame("0."), width=9)), "share size"),
    ],
)
def test_what_cannot_be_drawn_is_refused(make, said):
    with pytest.raises(Refusal, match=said):
        make()
