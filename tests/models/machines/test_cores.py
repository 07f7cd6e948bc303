"""What cores can do at best, against the peaks of whole processors, and what is said where it is unknown."""

import itertools

import pytest

from scalelab.data import catalogue
from scalelab.models.machines import cores, hardware

ZEN4, SAPPHIRE = ("AuthenticAMD", 25, 17), ("GenuineIntel", 6, 143)


def test_cores_by_their_units_make_the_peaks_that_are_printed_for_all_of_them():
    """96 cores at 2.4 and 3.7 GHz, 56 at 2.0: the catalogue's processors, from other sources."""
    epyc, xeon = hardware.device("EPYC 9654"), hardware.device("Xeon 8480+")
    for clock, peaks in ((2.4e9, epyc.peaks), (3.7e9, epyc.boost_peaks)):
        for width, name in ((4, "fp32"), (8, "fp64")):
            found = cores.theory(*ZEN4, 512, clock, 96, width)
            assert found.peak == pytest.approx(peaks[name])
    assert cores.theory(*SAPPHIRE, 512, 2.0e9, 56).peak == pytest.approx(xeon.peaks["fp32"])


def test_a_vector_is_no_wider_than_told_and_no_wider_than_the_unit():
    """512 bits take two turns in units of 256; a system that hides 512 leaves half of a unit idle."""
    wide, narrow = cores.design(*SAPPHIRE), cores.design(*ZEN4)
    assert [wide.cycle(bits) for bits in (512, 256)] == [64, 32]
    assert [narrow.cycle(bits) for bits in (512, 256, 128)] == [32, 32, 16]
    assert wide.cycle(512, width=8) == 32


def test_no_processor_has_two_designs():
    held = [
        (name, written["vendor"], written["family"], set(range(low, high + 1)))
        for name, written in catalogue.hardware()["cores"].items()
        for low, high in written["models"]
    ]
    for (_, *mine, first), (_, *others, second) in itertools.combinations(held, 2):
        assert mine != others or not first & second
    for name, vendor, family, models in held:
        assert {cores.design(vendor, family, model).name for model in models} == {name}
        assert cores.design(vendor, family, min(models)).source.count("https://") == 2


@pytest.mark.parametrize(
    ("told", "missing"),
    [
        ((None, None, None, None, None), ["which core this is", "how wide", "how fast"]),
        ((*ZEN4, None, 3e9), ["how wide"]),
        ((*ZEN4, 512, None), ["how fast"]),
        (
            ("GenuineIntel", 6, 85, 512, 3e9),
            ["how many units this core has (Intel, family 6, model 85)"],
        ),
        (
            ("Maker", 6, 85, 512, 3e9),
            ["how many units this core has ('Maker', family 6, model 85)"],
        ),
        (("AuthenticAMD", 25, None, 512, 3e9), ["which core this is"]),
    ],
)
def test_what_is_not_told_is_said_and_not_guessed(told, missing):
    found = cores.theory(*told)
    assert found.peak is None
    assert len(found.missing) == len(missing)
    said = found.beside(90e9)
    assert said.startswith("No calculated flat here. Not known: ")
    assert all(part in said for part in missing)


def test_where_only_the_clock_is_missing_the_measured_rate_asks_for_one():
    """32 FLOP in a cycle: 96 GFLOP/s are 3 GHz."""
    said = cores.theory(*ZEN4, 512, None).beside(96e9)
    assert said.endswith("does 32 FLOP in a cycle, so what was measured takes 3 GHz at least.")
    assert "GHz" not in cores.theory(None, None, None, 512, None).beside(96e9)
