"""The panel that asks for the reader's hardware, against the catalogue, without a browser."""

import pytest
from bs4 import BeautifulSoup

from scalelab.models.machines import hardware
from scalelab.show.plots import cost, network, roofline
from tests.notebooks import ROOT

TEXT = (ROOT / "book" / "my_hardware.md").read_text(encoding="utf-8")
OPTIONS = {
    one["value"]: one for one in BeautifulSoup(TEXT, "html.parser").select("option") if one["value"]
}


def test_the_list_has_every_device_of_the_catalogue_once_and_in_a_group():
    assert sorted(OPTIONS) == sorted(hardware.names())
    assert TEXT.count("<option") == len(OPTIONS) + 1
    assert all(one.parent.name == "optgroup" and one.parent["label"] for one in OPTIONS.values())


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
    roofs, wire, bill = rows.values()
    assert (roofline.YOURS.follows, roofs) == ("ridge", "peak and memory, by their ridge")
    assert {network.LINK.follows, network.LATENCY.follows} == {"network", "latency"}
    assert wire == "network between machines, latency"
    assert {cost.LINK.follows, cost.PRICE.follows} == {"network", "price"}
    assert bill == "network between machines, price"


def test_numbers_of_the_text_are_those_of_the_figures_and_the_catalogue():
    assert f"the lowest ridge, at {min(roofline.RIDGES):.0f}," in TEXT
    assert "one of its five devices" in TEXT
    assert len(roofline.DEVICES) == 5
    assert f"section 3.8 computes with {network.LINK.start / 1e9:.0f} GB/s" in TEXT
    assert f"section 3.9 with {cost.LINK.start:g} Gbit/s" in TEXT
    bridge = hardware.link("NVLink 3 bridge").bandwidth / 1e9
    assert f"a bridge carries {bridge:g} GB/s" in TEXT
    for name, times, each in (("MI300X", 7, 64e9), ("TPU v5e", 4, 50e9)):
        assert hardware.device(name).link.bandwidth == pytest.approx(times * each)
