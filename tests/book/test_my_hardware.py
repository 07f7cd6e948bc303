"""The panel that asks for the reader's hardware, against the catalogue, without a browser."""

import re

import pytest
from bs4 import BeautifulSoup

from scalelab.data import catalogue
from scalelab.models.machines import hardware, reached
from scalelab.show.plots import cost, hardware as boxes, network, roofline
from tests.book.test_extension import extension
from tests.notebooks import ROOT, WRITTEN, asked, explored

TEXT = (ROOT / "book" / "my_hardware.md").read_text(encoding="utf-8")
OPTIONS = {
    one["value"]: one for one in BeautifulSoup(TEXT, "html.parser").select("option") if one["value"]
}


def test_the_list_has_every_device_of_the_catalogue_once_and_in_a_group():
    assert sorted(OPTIONS) == sorted(hardware.names())
    assert TEXT.count("<option") == len(OPTIONS) + 1
    assert all(one.parent.name == "optgroup" and one.parent["label"] for one in OPTIONS.values())


def test_the_page_names_every_figure_that_follows():
    """And no slider says that it starts from a reader's hardware of which the page does not speak."""
    following = [
        slug
        for slug in WRITTEN
        for number in range(len(explored(slug)))
        if any(one.follows for one in asked(slug, number)[1].values())
    ]
    rows = [line for line in TEXT.splitlines() if line[:6] == "| the " or line[:7] == "| what "]
    assert [slug in row for slug, row in zip(following, rows, strict=True)] == [True] * 7
    where = "in sections 3.2, 3.7, 3.8 and 3.9"
    assert sorted(set(following)) == ["02_hardware", "07_roofline", "08_network", "09_cost"]
    assert TEXT.startswith(f"# My hardware\n\nSeven figures of this book, {where}")
    how = (ROOT / "book" / "how_to_read.md").read_text(encoding="utf-8")
    assert f"seven figures ({where}) start from it" in how


def test_three_devices_are_those_of_the_figure_and_not_all_that_were_searched():
    """Section 3.7 has the best products of a fourth, the A100 of 80 GB."""
    assert reached.best_products("A100 SXM 80GB")
    assert "A100 SXM 80GB" not in roofline.FOUND.values
    assert "of one of its three devices" in TEXT


@pytest.mark.parametrize("slug", WRITTEN)
def test_whatever_asks_for_a_device_or_a_box_follows_the_readers(slug):
    names = {*hardware.names(), *hardware.names("nodes")}
    for number in range(len(explored(slug))):
        for slider in asked(slug, number)[1].values():
            assert slider.follows or not names & set(map(str, slider.values)), slider.label


@pytest.mark.parametrize("name", hardware.names())
def test_the_list_says_what_the_catalogue_says(name):
    device, option = hardware.device(name), OPTIONS[name]
    form = next(one for one in ("bf16", "fp16", "fp32") if hardware.fastest(device, one))
    assert option.text == (name if form == "bf16" else f"{name}, {form}")
    assert float(option["data-peak"]) * 1e12 == pytest.approx(hardware.fastest(device, form))
    assert float(option["data-bandwidth"]) * 1e12 == pytest.approx(device.bandwidth)
    assert ("data-memory" in option.attrs) == (device.memory is not None)
    if device.memory:
        assert float(option["data-memory"]) * 1e9 == pytest.approx(device.memory, rel=5e-4)


def test_the_page_says_which_figures_follow_and_what():
    rows = [line.strip("| ").split(" | ") for line in TEXT.splitlines() if " | " in line][1:]
    fits, out, roofs, found, wire, clocks, bill = (what for _, what in rows)
    assert (boxes.HOLDING.follows, fits.split(",")[0]) == ("memory", "capacity")
    near = "peak and bandwidth, if both are within a factor of 1.5 of those of"
    assert out == clocks == f"{near} a device in one of its boxes"
    assert {one.follows for one in (boxes.BOX, network.BOX, roofline.YOURS, roofline.FOUND)} == {
        "peak bandwidth"
    }
    assert roofs == "peak and bandwidth"
    assert found == f"{near} one of its three devices"
    assert {network.LINK.follows, network.LATENCY.follows} == {"network", "latency"}
    assert wire == "network between machines, latency"
    assert {cost.LINK.follows, cost.PRICE.follows} == {"network", "price"}
    assert bill == "network between machines, price"


@pytest.mark.parametrize("name", hardware.names())
def test_every_number_of_the_panel_has_a_source_with_an_address_and_a_date(name):
    origins, option = extension("origins"), OPTIONS[name]
    cells = origins.cells(name)
    shown = {"peak": "peak", "memory": "bandwidth", "capacity": "memory"}
    assert {shown[one] for one in cells} == {key[5:] for key in option.attrs if key[:5] == "data-"}
    scale = {"peak": 1e12, "memory": 1e12, "capacity": 1e9}
    for number, cell in cells.items():
        told = float(option[f"data-{shown[number]}"]) * scale[number]
        assert catalogue.value(cell) == pytest.approx(told, rel=5e-4)
    first, *said = origins.told(name)
    assert first.astext() == name
    assert len(said) == 3 * len(origins.shared(name))
    assert all(link["refuri"].startswith("https://") for link in said[1::3])
    assert all(re.search(r"20\d\d", dated.astext()) for dated in said[2::3])


def test_numbers_of_the_text_are_those_of_the_figures_and_the_catalogue():
    assert len(roofline.FOUND.values) == 3
    assert len(boxes.BOX.values) == len(network.BOX.values) == 4
    assert len(boxes.HOLDING.values) == 6
    assert "if it is within 10% of that of one of its six devices" in TEXT
    assert boxes.HOLDING.within == pytest.approx(1.1)
    assert boxes.BOX.within == network.BOX.within == roofline.FOUND.within
    assert f"within a factor of {roofline.FOUND.within:g} of those of one" in TEXT
    assert f"section 3.8 computes with {network.LINK.start / 1e9:.0f} GB/s" in TEXT
    assert (
        f"section 3.9 with {cost.LINK.start / 8:g} GB/s, a card of {cost.LINK.start:g} Gbit" in TEXT
    )


def test_what_fits_starts_near_every_device_of_the_list_that_has_memory_of_its_own():
    """Of four devices none was near a T4, a TPU or an H200."""
    stops = [hardware.device(name).memory for name in boxes.HOLDING.values]
    for name in hardware.names():
        if memory := hardware.device(name).memory:
            far = min(max(memory / stop, stop / memory) for stop in stops)
            assert far <= boxes.HOLDING.within, name


def test_the_driver_reports_more_than_the_label_says_and_never_less():
    """It was said to report a little more or less."""
    described = [hardware.device(name) for name in hardware.names()]
    more = [one.memory / 1e9 / float(one.label.split()[0]) - 1 for one in described if one.memory]
    assert 0 < min(more) < max(more) < 0.075
    assert f"the driver's number is larger, by up to {max(more):.1%}." in TEXT
