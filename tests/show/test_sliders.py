"""Figures one can play with, live and replayed."""

import gzip
import importlib
import json
import re

import numpy as np
import pytest

from scalelab import units
from scalelab.show import sliders as explore
from scalelab.show.chart import Axis, Chart, Points
from scalelab.show.plots import speedup as figures
from scalelab.show.sliders import Figure, Replay, Slider
from tests.notebooks import ROOT, WRITTEN, asked, explored


def parabola(scale, shift=0.0):
    x = np.linspace(0, 4, 9)
    return Chart(
        f"scale {scale:g}",
        Axis("x"),
        Axis("y"),
        (Points("curve", x, scale * x**2 + shift),),
        {"top": f"{scale * 16:g}"},
    )


def sliders(**values):
    return {name: Slider(name, one, one[0]) for name, one in values.items()}


def carried(html):
    text = re.search(
        r'<script type="application/json" class="sl-data">(.*?)</script>', html, re.DOTALL
    )
    return json.loads(text.group(1))


def test_replay_carries_what_the_function_returns_at_every_position():
    """Decode each frame as the page's script does and compare with a fresh call."""
    data = carried(Replay(parabola, sliders(scale=(1.0, 2.0, 3.0), shift=(0.0, 5.0))).html())
    assert data["shape"] == [3, 2]
    index = 0
    for scale in (1.0, 2.0, 3.0):
        for shift in (0.0, 5.0):
            series, title, alt, readouts, columns = data["frames"][index]
            chart = parabola(scale, shift)
            assert data["arrays"][series[0][0]] == pytest.approx(chart.series[0].x, rel=1e-3)
            assert data["arrays"][series[0][1]] == pytest.approx(chart.series[0].y, rel=1e-3)
            assert data["texts"][title] == chart.title
            assert data["texts"][alt] == chart.describe()
            assert [data["texts"][one] for one in readouts] == list(chart.readouts.values())
            told = [[data["texts"][cell] for cell in data["columns"][one]] for one in columns]
            assert list(map(list, zip(*told, strict=True))) == list(chart.rows())
            index += 1


def test_the_first_picture_is_the_one_the_sliders_start_at():
    figure = Replay(parabola, {"scale": Slider("scale", (1.0, 2.0), 2.0)})
    assert figure.chart.title == "scale 2"
    assert 'value="1"' in figure.html()


def test_the_figure_of_section_3_1_fits_its_weight():
    """At most 300 kB compressed on top of a plain page."""
    html = Replay(
        figures.fixed_job,
        {
            "serial": Slider("s", np.linspace(0, 1, 101).tolist(), 0.0),
            "floor": Slider("e", (0.5, 0.7, 0.9), 0.5),
        },
    ).html()
    assert len(gzip.compress(html.encode())) < 150_000


def test_a_page_figure_names_no_address():
    """Whatever is not in the page would have to be fetched; the namespaces of SVG are only names."""
    html = Replay(parabola, sliders(scale=(1.0, 2.0))).html()
    addresses = set(re.findall(r"https?://[^\"' )>]+", html))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


def test_words_from_a_chart_cannot_become_markup():
    evil = Chart(
        "<script>alert(1)</script>",
        Axis("<b>"),
        Axis('"><img src=x>'),
        (Points("</script>", [1], [1]), Points("b", [1], [1])),
    )
    html = Figure(evil).html()
    assert "<script>alert" not in html
    assert "<img" not in html
    assert "</script>alert" not in Replay(lambda n: evil, sliders(n=(1.0, 2.0))).html()


def test_live_sliders_call_the_function_again(monkeypatch):
    monkeypatch.delenv(explore.REPLAY, raising=False)
    calls = []

    def make(scale):
        calls.append(scale)
        return parabola(scale)

    box = explore.explore(make, scale=Slider("scale", (1.0, 2.0, 3.0), 1.0))
    slider, _, picture, fold, numbers = box.children
    assert "scale 1" in picture.value
    slider.value = 3.0
    assert calls == [1.0, 3.0]
    assert "scale 3" in picture.value
    assert "<td>" in numbers.value
    assert "<td>" not in picture.value
    assert numbers.layout.display == "none"
    fold.value = True
    slider.value = 2.0
    assert numbers.layout.display is None


def test_reset_puts_live_sliders_and_picture_back(monkeypatch):
    monkeypatch.delenv(explore.REPLAY, raising=False)
    scale, shift = Slider("scale", (1.0, 2.0), 2.0), Slider("shift", (0.0, 5.0), 0.0)
    *controls, reset, picture, _, _ = explore.explore(parabola, scale=scale, shift=shift).children
    first = picture.value
    controls[0].value, controls[1].value = 1.0, 5.0
    assert picture.value != first
    reset.click()
    assert [one.value for one in controls] == [2.0, 0.0]
    assert picture.value == first


def test_without_a_kernel_the_same_call_is_a_replay(monkeypatch):
    monkeypatch.setenv(explore.REPLAY, "replay")
    assert isinstance(explore.explore(parabola, scale=Slider("scale", (1.0, 2.0), 1.0)), Replay)


def test_every_viewer_finds_something_to_show():
    bundle = Replay(parabola, sliders(scale=(1.0, 2.0)))._repr_mimebundle_()
    assert set(bundle) == {"text/html", "image/png", "text/plain"}


def test_too_many_positions_are_refused_before_they_are_computed():
    def never(**_):
        raise AssertionError("must not be called")

    many = tuple(float(n) for n in range(200))
    with pytest.raises(ValueError, match="at most 1500 positions together, got 40000"):
        Replay(never, sliders(a=many, b=many))


def test_a_start_that_is_no_position_is_refused():
    with pytest.raises(ValueError, match="must be one of its values, got 7"):
        Slider("s", (1, 2, 3), 7)


def test_names_that_move_with_a_slider_are_refused():
    def make(n):
        return Chart("t", Axis("x"), Axis("y"), (Points(f"curve {n}", [1], [1]),))

    with pytest.raises(ValueError, match="must keep their names"):
        Replay(make, sliders(n=(1, 2)))


@pytest.mark.parametrize(
    "written",
    [{"names": ("a",), "kind": "points"}, {"tag": "a"}, {"end": "a"}, {"kind": "moved"}],
)
def test_what_is_written_at_a_place_is_refused_under_sliders(written):
    """The script moves marks and lines, and would leave the text behind."""

    def make(n):
        return Chart("t", Axis("x"), Axis("y"), (Points("one", [1], [n], **written),))

    with pytest.raises(ValueError, match="neither names nor a tag"):
        Replay(make, sliders(n=(1, 2)))


def test_a_slider_may_run_over_names():
    slider = Slider("computation", ("sum", "scan"), "scan")
    assert slider.texts == ["sum", "scan"]
    replay = Replay(lambda which: parabola({"sum": 1.0, "scan": 2.0}[which]), {"which": slider})
    assert replay.chart.title == "scale 2"
    assert 'data-texts="sum|scan"' in replay.html()
    assert "--sl-value:" not in replay.html().partition("</style>")[2]


def test_the_longest_value_of_a_slider_has_room_on_one_line():
    words = ("serve", "train, recompute")
    html = Replay(
        lambda which: parabola(len(which)), {"which": Slider("what", words, "serve")}
    ).html()
    assert '<div class="sl-controls" style="--sl-value: 9.6em">' in html


@pytest.mark.parametrize("page", ["cover", *WRITTEN])
def test_what_a_slider_of_the_book_shows_reads_back_as_its_value(page, monkeypatch):
    """A run on 16,384 GPUs had 16,380 beside its slider, and a context of 131,072 tokens 131,100."""
    monkeypatch.syspath_prepend(ROOT / "book" / "_ext")
    if page == "cover":
        moved = [importlib.import_module("cover").SLIDERS]
    else:
        moved = [asked(page, number)[1] for number, _ in enumerate(explored(page))]
    sliders = [slider for one in moved for slider in one.values()]
    assert sliders
    for slider in sliders:
        assert len(set(slider.texts)) == len(slider.values)
        for value, text in zip(slider.values, slider.texts, strict=True):
            read = text if isinstance(value, str) else units.parse(text, slider.unit)
            assert read == value, f"{slider.label}: {text}"


def test_a_slider_that_follows_says_where_each_stop_stands():
    slider = Slider("device", ("old", "new"), "old", follows="ridge", near=(150.0, 300.0))
    page = Replay(lambda which: parabola({"old": 1.0, "new": 2.0}[which]), {"which": slider}).html()
    assert 'data-follows="ridge" data-near="150.0|300.0"' in page
    both = Slider("b", (1.0, 2.0), 1.0, "", "peak bandwidth", ((1.0, 3.0), (2.0, 4.0)), 1.5)
    page = Replay(lambda which: parabola(which), {"which": both}).html()
    assert 'data-follows="peak bandwidth" data-near="1.0 3.0|2.0 4.0" data-within="1.5"' in page
    assert "data-follows" not in Replay(parabola, {"scale": Slider("a", (1.0, 2.0), 1.0)}).html()


@pytest.mark.parametrize(
    "wrong",
    [
        {"follows": "colour"},
        {"follows": "ridge"},  # names have no number of their own
        {"follows": "ridge", "near": (1.0,)},
        {"follows": "peak bandwidth", "near": (1.0, 2.0)},  # each stop has two
        {"follows": "ridge", "near": ((1.0, 2.0), (3.0, 4.0))},
    ],
)
def test_a_slider_that_cannot_follow_is_refused(wrong):
    with pytest.raises(ValueError, match="of 'device' must"):
        Slider("device", ("old", "new"), "old", **wrong)
