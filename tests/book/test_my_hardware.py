"""The panel that asks for the reader's hardware, against the catalogue, without a browser."""

import pytest
from bs4 import BeautifulSoup

from scalelab.models.machines import hardware, reached
from scalelab.show.plots import cost, network, roofline
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
    following = {
        slug
        for slug in WRITTEN
        for number in range(len(explored(slug)))
        if any(one.follows for one in asked(slug, number)[1].values())
    }
    assert following == {"07_roofline", "08_network", "09_cost"}
    assert TEXT.startswith(
        "# My hardware\n\nFour figures of this book, in sections 3.7, 3.8 and 3.9"
    )
    how = (ROOT / "book" / "how_to_read.md").read_text(encoding="utf-8")
    assert "four figures (two in section 3.7, one each in 3.8 and 3.9) start from it" in how


def test_three_devices_are_those_of_the_figure_and_not_all_that_were_searched():
    """Section 3.7 has the best products of a fourth, the A100 of 80 GB."""
    assert reached.best_products("A100 SXM 80GB")
    assert "A100 SXM 80GB" not in roofline.FOUND.values
    assert "The figure of the best products has three devices only" in TEXT


@pytest.mark.parametrize("name", hardware.names())
def test_the_list_says_what_the_catalogue_says(name):
    device, option = hardware.device(name), OPTIONS[name]
    form = next(one for one in ("bf16", "fp16", "fp32") if hardware.fastest(device, one))
    assert option.text == (name if form == "bf16" else f"{name}, {form}")
    assert float(option["data-peak"]) * 1e12 == pytest.approx(hardware.fastest(device, form))
    assert float(option["data-bandwidth"]) * 1e12 == pytest.approx(device.bandwidth)
    assert ("data-link" in option.attrs) == (device.link is not None)
    if device.link:
        assert float(option["data-link"]) * 1e9 == pytest.approx(device.link.bandwidth)


def test_the_page_says_which_figures_follow_and_what():
    rows = dict(line.strip("| ").split(" | ") for line in TEXT.splitlines() if line[:6] == "| the ")
    roofs, found, wire, bill = rows.values()
    assert roofline.YOURS.follows == roofline.FOUND.follows == "peak bandwidth"
    assert roofs == "peak and memory"
    assert found == "peak and memory, if one of its three devices is near"
    assert {network.LINK.follows, network.LATENCY.follows} == {"network", "latency"}
    assert wire == "network between machines, latency"
    assert {cost.LINK.follows, cost.PRICE.follows} == {"network", "price"}
    assert bill == "network between machines, price"


def test_numbers_of_the_text_are_those_of_the_figures_and_the_catalogue():
    assert len(roofline.FOUND.values) == 3
    assert f"within {roofline.FOUND.within:g} times of its own" in TEXT
    assert f"section 3.8 computes with {network.LINK.start / 1e9:.0f} GB/s" in TEXT
    assert f"section 3.9 with {cost.LINK.start:g} Gbit/s" in TEXT
    bridge = hardware.link("NVLink 3 bridge").bandwidth / 1e9
    assert f"a bridge carries {bridge:g} GB/s" in TEXT
    for name, times, each in (("MI300X", 7, 64e9), ("TPU v5e", 4, 50e9)):
        assert hardware.device(name).link.bandwidth == pytest.approx(times * each)
