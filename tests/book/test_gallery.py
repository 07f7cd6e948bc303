"""The public series as lines and cards: each point where the data put it, and nothing over anything else."""

import importlib
import itertools
from dataclasses import replace

import numpy as np
import pytest
from bs4 import BeautifulSoup

from scalelab.data import datasets
from tests.book.test_extension import extension
from tests.notebooks import ROOT

ALL = [datasets.load(name) for name in datasets.names()]
DRAWN = [one for one in ALL if one.scaling and (one.seconds or one.throughput)]


@pytest.fixture(scope="module")
def gallery():
    return extension("gallery")


@pytest.fixture(scope="module")
def tracing(gallery):
    return importlib.import_module("tracing")


@pytest.fixture(scope="module")
def made(gallery):
    return BeautifulSoup(gallery.html(), "html.parser")


def efficiencies(series):
    """Doublings and efficiency of each size, from the definitions: of runs of one size the middle one."""
    runs = {}
    for row, size in enumerate(series.workers):
        done = {"weak": size}.get(series.scaling, 1)
        if series.column("parameters"):
            done = series.column("parameters")[row]
        measured = series.throughput[row] if series.throughput else series.seconds[row] / done
        runs.setdefault(size, []).append(measured)
    middle = {size: np.median(each) for size, each in sorted(runs.items())}
    rate = middle if series.throughput else {size: 1 / time for size, time in middle.items()}
    least = min(rate)
    return [(np.log2(k / least), rate[k] / k / (rate[least] / least)) for k in rate]


def test_every_series_with_a_rate_that_scales_has_a_line(made):
    assert [line.title.get_text() for line in made.select("polyline")] == [s.name for s in DRAWN]


def test_a_line_stands_where_its_doublings_and_efficiencies_are(made, tracing):
    for line in made.select("polyline"):
        series = datasets.load(line.title.get_text())
        points = [tuple(map(float, point.split(","))) for point in line["points"].split()]
        for (x, y), (doublings, share) in zip(points, efficiencies(series), strict=True):
            assert x / tracing.WIDE == pytest.approx(doublings, abs=0.006), series.name
            assert tracing.TOP - y / tracing.HIGH == pytest.approx(share, abs=0.0011), series.name
        assert line["class"] == [f"sl-is-{series.scaling}"]


def test_the_growing_model_has_the_efficiency_that_its_authors_print(tracing):
    """74.3% and 74.7%: without the parameters it would be another."""
    for key, share in (("dgx2", 0.743), ("a100", 0.747)):
        gained = tracing.gains(datasets.load(f"megatron2020_{key}_mp"))
        assert gained.efficiency[-1] == pytest.approx(share, abs=0.006)


def test_the_note_says_what_the_lines_show(made):
    """The middle efficiency at the largest size by kind, how many are cut off, how many have no line."""
    ends, above = {}, []
    for series in DRAWN:
        shares = [share for _, share in efficiencies(series)]
        ends.setdefault(series.scaling, []).append(shares[-1])
        above += [max(shares)] if max(shares) > 1.2 else []
    note = made.select_one(".sl-note").get_text()
    for kind, each in ends.items():
        assert f"{kind}, {len(each)} lines, {100 * np.median(each):.0f}%" in note
    assert f"{len(above)} lines rise above 1.2, to {max(above):.2f}, and are cut there." in note
    assert f"{len(ALL) - len(DRAWN)} series have no line" in note


def test_a_bold_line_is_the_median_of_its_kind_as_far_as_half_of_them_reach(made):
    """Read off the thin lines themselves, in whole units."""
    for line in made.select(".sl-over .sl-middle"):
        kind = line["class"][-1]
        thin = [places(one["points"]) for one in made.select(f"polyline.{kind}")]
        bold = places(line["d"].lstrip("M"))
        for x, y in bold:
            reach = [one for one in thin if one[-1, 0] >= x]
            assert len(reach) >= len(thin) / 2
            assert y == pytest.approx(np.median([np.interp(x, *one.T) for one in reach]), abs=1)
        assert sum(one[-1, 0] >= bold[-1, 0] + 100 for one in thin) < len(thin) / 2
    assert len(made.select(".sl-over .sl-middle")) == 3


def places(points):
    """The corners of a line of the overlay."""
    return np.array([[float(one) for one in corner.split(",")] for corner in points.split()])


def test_what_is_drawn_on_a_card_stays_in_it_and_no_word_covers_another(tracing):
    for series in ALL:
        curve = tracing.curve(series)
        for x, y in (*curve.points, *curve.ideal):
            assert tracing.LEFT <= round(x, 6) <= tracing.RIGHT, series.name
            assert tracing.UP <= round(y, 6) <= tracing.DOWN, series.name
        assert all(one[0] < two[0] for one, two in itertools.pairwise(curve.points)), series.name
        assert max(len(curve.last), len(curve.best)) <= 8, series.name
        if curve.best:
            assert abs(curve.points[-1][1] - curve.ideal[-1][1]) >= tracing.APART, series.name
        assert bool(curve.ideal) == (series in DRAWN), series.name


def test_a_card_says_in_words_what_its_curve_ends_with(made):
    said = {card["id"]: card.svg["aria-label"] for card in made.select(".sl-cards > li")}
    assert said["usl_raytracer"] == "Speedup over 1: 15.5 at 64, where 64 is ideal"
    assert said["sysbench_cpu"] == "Speedup over 1: 3.31 at 2,048, where 2,048 is ideal"
    assert said["nccl_allreduce_8xH200_payload"] == "1.44 GB/s at 32 KiB, 482 GB/s at 16 GiB"
    assert said["megatron_core_strong_h100"] == "47% at 96, 42% at 4,608"


def test_no_word_of_the_data_becomes_a_tag(gallery, monkeypatch):
    evil = "<script>alert(1)</script>\"'&"
    one = replace(ALL[0], name=evil, note=evil, unit=evil, teaches=evil, traps=(evil,), group=evil)
    monkeypatch.setattr(datasets, "names", lambda: (evil,))
    monkeypatch.setattr(datasets, "load", lambda name: one)
    made = BeautifulSoup(gallery.html(), "html.parser")
    assert not made.select("script")
    (card,) = made.select(".sl-cards > li")
    assert (card["id"], card["data-program"], card.code.get_text()) == (evil, evil, evil)
    assert card.select_one(".sl-trap").get_text() == f"Trap: {evil}"


def test_the_page_is_made_anew_when_the_data_change_or_what_draws_them(gallery):
    read = {str(file.relative_to(ROOT)) for file in gallery.read_from(ROOT)}
    assert read >= {
        "book/_ext/gallery.py",
        "book/_ext/tracing.py",
        "scalelab/data/public_scaling.csv",
        "scalelab/data/public_scaling.json",
        "scalelab/data/datasets.py",
        "scalelab/curves/rows.py",
        "scalelab/show/draw.py",
        "scalelab/show/templates/gallery.html",
    }


def test_143_curves_stay_light(gallery):
    assert len(gallery.html().encode()) < 300_000
