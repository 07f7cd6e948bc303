"""Bus bandwidth: the factors, what the link allows, and the traps in a number somebody printed."""

import pytest

from scalelab.data import datasets
from scalelab.links.busbw import explain_busbw
from scalelab.links.factors import factor, per_byte
from scalelab.models.machines import hardware
from scalelab.models.network.collectives import all_reduce
from scalelab.models.network.network import Network

NVLINK = hardware.link("NVLink 4")
SIZE = 2**33


def at(bus, workers=8):
    """The time behind a bus bandwidth of an all-reduce of 8 GiB."""
    return factor("all-reduce", workers) * SIZE / bus


def test_a_ring_without_latency_shows_its_link_however_many_take_part():
    link = Network(alpha=0, beta=1 / 50e9)
    for workers in (2, 3, 8, 100):
        seconds = all_reduce(1e9, workers, link)
        found = explain_busbw(1e9, seconds, workers)
        assert found.bus_bandwidth == pytest.approx(50e9)
        assert found.wire == found.bus_bandwidth


def test_published_rings_are_as_expected_and_sums_in_the_switch_above_the_link():
    for name, verdicts in (
        ("nccl_allreduce_H200_8GiB_vs_gpus_ring", {"as expected"}),
        ("nccl_allreduce_H200_8GiB_vs_gpus_NVLS", {"as expected", "close to the link", "above the link"}),
    ):  # fmt: skip
        series = datasets.load(name)
        found = [
            explain_busbw(SIZE, at(1e9 * bus, k), k, link=NVLINK)
            for k, bus in zip(series.workers, series.values, strict=True)
        ]
        assert {one.verdict for one in found} == verdicts
    assert "NVLS" in " ".join(found[-1].sentences)
    inside = explain_busbw(SIZE, at(473.1e9), 8, algorithm="in switch", link=NVLINK)
    assert inside.verdict == "as expected"
    assert inside.wire == pytest.approx(473.1e9 / 1.75 * 9 / 8)


def test_what_no_switch_can_do_names_other_reasons():
    found = explain_busbw(SIZE, at(900e9), 8, link=NVLINK)
    assert found.verdict == "above the link"
    assert "Not even a switch" in found.sentences[2]
    assert "clock that stopped at the launch" in found.sentences[3]


def test_the_expected_band_is_in_bus_bandwidth():
    found = explain_busbw(SIZE, at(200e9), 8, link=NVLINK)
    assert found.verdict == "below"
    assert found.expected == (0.75 * 450e9, 0.96 * 450e9)
    assert explain_busbw(SIZE, at(445e9), 8, link=NVLINK).verdict == "close to the link"
    assert explain_busbw(SIZE, at(200e9), 8).verdict == "no link given"


@pytest.mark.parametrize(
    ("times", "words"),
    [
        (1, "as computed here"),
        (1e9 / 2**30, "GiB/s printed as GB/s"),
        (2**30 / 1e9, "a size in GB taken for GiB"),
        (1 / 1.75, "without the factor"),
        (1.75, "the factor applied twice"),
        (8, "bits, not bytes"),
        (2, "both directions"),
        (1.33, "no mistake that is known"),
    ],
)
def test_a_reported_number_betrays_its_mistake(times, words):
    found = explain_busbw(SIZE, at(365e9), 8, reported=times * 365e9)
    assert words in found.sentences[-1]


def test_other_algorithms_load_the_wire_with_what_they_move():
    tree = explain_busbw(1e9, 0.1, 8, "broadcast", "binomial tree")
    assert (tree.factor, tree.wire) == (1, pytest.approx(3 * 1e10))
    assert per_byte("reduce-scatter", "all-reduce by ring", 4) == (6, 1.5)
    assert per_byte("send", "point to point", 2) == (1, 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 1, 8), "size must be"),
        ((1, 0, 8), "seconds must be"),
        ((1, 1, 1), "workers must be a whole number from 2 on"),
        ((1, 1, 8, "gossip"), "collective must be one of"),
        ((1, 1, 8, "all-reduce", "double binary tree"), "algorithm must be one of"),
        ((1, 1, 8, "all-reduce", None, 450e9), "link must be a Link"),
        ((1, 1, 8, "all-reduce", None, None, float("nan")), "reported must be"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(arguments, message):
    with pytest.raises(ValueError, match=f"{message}.*, got .+: .+"):
        explain_busbw(*arguments)
