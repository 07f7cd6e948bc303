"""The charts of a scaling table, and the files they become."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from scalelab.curves.answer import judge
from scalelab.curves.fit import fit
from scalelab.curves.rows import Rows
from scalelab.models.scaling import laws
from scalelab.refusal import Refusal
from scalelab.show import picture, scaling
from scalelab.show.chart import Axis, Chart, Points
from scalelab.tables.audit import audit
from scalelab.tables.table import parse

TEXT = "workers,seconds\n1,100\n1,102\n2,52\n2,53\n4,28\n4,28.4\n8,16\n8,40\n8,16.2\n"
TABLE = parse("runs", TEXT)


@pytest.fixture(scope="module")
def judged():
    return judge(TABLE, [32])


def series(chart, label):
    return next(one for one in chart.series if one.label.startswith(label))


def test_measured_points_carry_the_interval_of_their_replicates(judged):
    found = series(scaling.fitted(judged), "measured")
    assert found.kind == "points"
    assert (found.x.tolist(), found.y.tolist()) == ([1, 2, 4, 8], [101, 52.5, 28.2, 16.2])
    assert (found.low.tolist(), found.high.tolist()) == ([100, 52, 28, 16], [102, 53, 28.4, 40])


def test_the_band_is_the_prediction_and_ends_at_the_size_asked_for(judged):
    chart = scaling.fitted(judged)
    band, expected = series(chart, "90%"), judged.predictions[0]
    assert band.kind == "band"
    assert (band.x[0], band.x[-1]) == (1, 32)
    assert (band.low[-1], band.high[-1]) == pytest.approx((expected.low, expected.high))
    assert "At 32 workers" in chart.readouts


def test_what_is_measured_modelled_and_odd_differs_in_kind_or_tone(judged):
    looks = [(one.kind, one.tone) for one in scaling.fitted(judged).series]
    assert len(set(looks)) == len(looks)


@pytest.mark.parametrize("make", [lambda j: scaling.audited(j.table, j.findings), scaling.fitted])
def test_the_rows_of_serious_findings_are_marked(judged, make):
    chart = make(judged)
    marked = series(chart, "outlier")
    assert (marked.x.tolist(), marked.y.tolist()) == ([8], [40])
    assert chart.readouts["outlier"] == "at 8 workers"


def test_the_alt_text_tells_the_interval(judged):
    told = scaling.fitted(judged).describe()
    assert re.search(r"90% interval, from the last sizes: from [\d.,]+ to [\d.,]+ at 1, and", told)
    assert "measured: from 101 at 1 to 16.2 at 8." in told


def test_the_expected_curve_lies_in_its_band_and_meets_what_was_measured(judged):
    """One robust row for each size, from the table to the picture."""
    chart = scaling.fitted(judged)
    band, curve, points = (series(chart, name) for name in ("90%", "expected", "measured"))
    assert (band.low <= curve.y).all()
    assert (curve.y <= band.high).all()
    assert np.interp(points.x, curve.x, curve.y) == pytest.approx(points.y)


def test_a_refusal_still_shows_what_was_measured():
    table = parse("two", "workers,seconds\n1,100\n2,52\n")
    chart = scaling.fitted(judge(table, [8]))
    assert [one.label for one in chart.series] == ["ideal", "measured"]
    assert series(chart, "ideal").y.tolist() == [100, 50]
    assert audit(table)


@pytest.mark.parametrize(
    ("name", "law", "expected"),
    [
        ("amdahl", lambda k: laws.amdahl(k, 0.05), 20),
        ("hard cap", lambda k: np.minimum(k, 11), 11),
        ("usl", lambda k: laws.usl(k, 0.05, 1e-3), laws.usl(laws.usl_peak(0.05, 1e-3), 0.05, 1e-3)),
        ("power", lambda k: k**0.8, None),
        ("linear", lambda k: k, None),
        ("gustafson", lambda k: laws.gustafson(k, 0.3), None),
    ],
)
def test_a_ceiling_is_the_limit_or_the_peak_of_the_law(name, law, expected):
    k = np.array([1.0, 2, 4, 8, 16, 32])
    rows = Rows.of(k, throughput=law(k))
    found = scaling.ceiling(rows, fit(rows, name), 64)
    assert found == (None if expected is None else pytest.approx(expected, rel=1e-3))


def test_an_svg_stands_alone_and_follows_light_and_dark(judged, tmp_path):
    chart = scaling.fitted(judged)
    picture.write(chart, tmp_path / "fit.svg")
    text = (tmp_path / "fit.svg").read_text()
    root = ET.fromstring(text)
    assert root.get("role") == "img"
    assert root.get("aria-label") == chart.describe()
    style = root.find("{http://www.w3.org/2000/svg}style").text
    used = set(re.findall(r"var\((--sl-[\w-]+)\)", text))
    light, dark = style.split("@media (prefers-color-scheme: dark)")
    assert used
    for part in (light, dark):
        assert used <= set(re.findall(r"(--sl-[\w-]+):", part))
    for one in chart.series:
        assert f">{one.label}<" in text  # the legend
    assert not re.search(r'(?:href|src)="http', text)


def test_png_and_html_carry_the_words(judged, tmp_path):
    chart = scaling.fitted(judged)
    for suffix in ("png", "html"):
        picture.write(chart, tmp_path / f"fit.{suffix}")
    png = (tmp_path / "fit.png").read_bytes()
    assert png.startswith(b"\x89PNG")
    assert b"Description" in png
    assert 'role="img"' in (tmp_path / "fit.html").read_text()


@pytest.mark.parametrize("name", ["fit.gif", "fit", "none/fit.svg", "folder.svg"])
def test_a_picture_that_cannot_be_is_refused(tmp_path, name):
    (tmp_path / "folder.svg").mkdir()
    chart = Chart("t", Axis("x"), Axis("y"), (Points("a", [1, 2], [1, 2]),))
    with pytest.raises(Refusal, match=r"must .+, got .+: .+"):
        picture.write(chart, tmp_path / name)
