"""The catalogue of hardware, against clocks, bus widths and link counts it does not contain."""

import dataclasses

import pytest

from scalelab import units
from scalelab.data import catalogue
from scalelab.models.machines import hardware
from scalelab.models.machines.hardware import Link, Node
from scalelab.refusal import Refusal
from tests.cases import every

GPUS = [name for name in hardware.names() if "tf32 tensor" in hardware.device(name).peaks]
# SMs, boost clock of the tensor cores and of the plain cores in MHz, multiply-adds per SM and clock
# in bf16 on tensor cores and in fp32: whitepapers of the A100 (table 4), of the H100 (table 3), of
# Turing, GA102 and Ada; of the RTX cards with sums in fp32. An MI300X has compute units, a TPU four
# matrix units of 128 x 128.
ARITHMETIC = {
    "A100 SXM 40GB": (108, 1410, 1410, 1024, 64),
    "A100 SXM 80GB": (108, 1410, 1410, 1024, 64),
    "H100 SXM": (132, 1830, 1980, 2048, 128),
    "H200 SXM": (132, 1830, 1980, 2048, 128),
    "MI300X": (304, 2100, 2100, 1024, 128),
    "TPU v5e": (4, 1500, None, 128 * 128, None),
    "T4": (40, 1590, 1590, 512, 64),
    "L4": (58, 2040, 2040, 512, 128),
    "A10": (72, 1695, 1695, 512, 128),
    "RTX 3090": (82, 1695, 1695, 256, 128),
    "RTX 4090": (128, 2520, 2520, 256, 128),
}
# Bus width in bits and memory clock in MHz, two transfers per clock, as the drivers report them.
MEMORY_BUS = {
    "A100 SXM 40GB": (5120, 1215),
    "A100 SXM 80GB": (5120, 1593),
    "H100 SXM": (5120, 2619),
    "B200 SXM": (7680, 3996),
    "MI300X": (8192, 2600),
    "T4": (256, 5001),
    "L4": (192, 6251),
    "A10": (384, 6251),
    "RTX 3090": (384, 9751),
    "RTX 4090": (384, 10501),
}


def cells():
    """Every cell of the file, as (where it stands, cell)."""
    file = catalogue.hardware()
    for name, written in (file["links"] | file["devices"]).items():
        for quantity, cell in written.items():
            if isinstance(cell, dict):
                yield from ((f"{name}, {quantity}, {kind}", c) for kind, c in cell.items())
            elif isinstance(cell, list):
                yield f"{name}, {quantity}", cell


@every("where, cell", cells())
def test_every_value_says_where_it_comes_from(where, cell):
    printed, key, *halved = cell
    found = catalogue.hardware()["sources"][key]
    assert printed[0].isdigit(), where
    assert {"title", "date", "url"} <= set(found)
    assert "20" in found["date"]
    assert found["url"].startswith("https://")
    assert halved in ([], ["printed with sparsity"], ["both directions together"])


def test_every_source_is_used():
    used = {cell[1] for _, cell in cells()}
    used |= {node["source"] for node in catalogue.hardware()["nodes"].values()}
    used |= {key for core in catalogue.hardware()["cores"].values() for key in core["sources"]}
    assert used == set(catalogue.hardware()["sources"])


@pytest.mark.parametrize("name", hardware.names())
def test_a_device_carries_a_source_for_each_of_its_values(name):
    device = hardware.device(name)
    values = {"bandwidth"} | {q for q in ("memory", "power", "label") if getattr(device, q)}
    tables = ("peaks", "sparse_peaks", "boost_peaks")
    values |= {f"{table}: {kind}" for table in tables for kind in getattr(device, table)}
    assert set(device.sources) == values


@pytest.mark.parametrize("name", ARITHMETIC)
def test_dense_peaks_are_what_the_units_can_do_at_their_clock(name):
    sms, tensor_clock, clock, tensor_adds, adds = ARITHMETIC[name]
    peaks = hardware.device(name).peaks
    printed = peaks.get("bf16 tensor", peaks.get("fp16 tensor"))
    assert printed == pytest.approx(sms * tensor_clock * 1e6 * tensor_adds * 2, 3e-3)
    assert ("fp32" in peaks) == (adds is not None)
    if adds:
        assert peaks["fp32"] == pytest.approx(sms * clock * 1e6 * adds * 2, 6e-3)


@pytest.mark.parametrize("name", MEMORY_BUS)
def test_bandwidth_is_bus_width_times_memory_clock(name):
    bits, clock = MEMORY_BUS[name]
    assert hardware.device(name).bandwidth == pytest.approx(bits / 8 * 2 * clock * 1e6, 5e-3)


@pytest.mark.parametrize("name", GPUS)
def test_halving_the_width_of_a_number_doubles_the_tensor_peak(name):
    """Twice more in 8 bits on an RTX card, which adds up fp32 at half the rate and integers at the whole."""
    peaks = hardware.device(name).peaks
    assert peaks["bf16 tensor"] == peaks["fp16 tensor"]
    assert peaks["bf16 tensor"] == pytest.approx(2 * peaks["tf32 tensor"], rel=0.03)
    times = 4 if name.startswith("RTX") else 2
    eight = peaks.get("int8 tensor", times * peaks["bf16 tensor"])
    assert eight == pytest.approx(times * peaks["bf16 tensor"], rel=1e-3)
    assert peaks.get("fp8 tensor", eight) == eight


def test_processors_peak_at_cores_times_clock_times_lanes():
    """Two multiply-adds per cycle: 256 bits wide on Zen 4, 512 on Sapphire Rapids."""
    epyc, xeon = hardware.device("EPYC 9654"), hardware.device("Xeon 8480+")
    assert epyc.peaks["fp64"] == pytest.approx(96 * 2.4e9 * 2 * 4 * 2)
    assert epyc.peaks["fp32"] == 2 * epyc.peaks["fp64"]
    assert xeon.peaks["fp32"] == pytest.approx(56 * 2.0e9 * 2 * 16 * 2)
    assert xeon.peaks["bf16 matrix"] == 16 * xeon.peaks["fp32"]
    assert epyc.bandwidth / xeon.bandwidth == pytest.approx(12 / 8)
    assert epyc.memory is None
    laptop = hardware.device("Core i7-8565U")
    assert laptop.peaks["fp64"] == pytest.approx(4 * 1.8e9 * 2 * 4 * 2)
    assert laptop.peaks["fp32"] == 2 * laptop.peaks["fp64"]
    assert laptop.bandwidth == pytest.approx(2 * 8 * 2400e6)


@pytest.mark.parametrize(
    ("name", "lanes", "gigabytes"),
    [
        ("NVLink 3", 12, 25),
        ("NVLink 4", 18, 25),
        ("NVLink 5", 18, 50),
        ("NVLink 3 bridge", 4, 14.0625),
        ("Infinity Fabric", 7, 64),
        ("TPU v5e ICI", 4, 50),
        ("PCIe 4.0 x16", 16, 16 / 8 * 128 / 130),
        ("PCIe 5.0 x16", 16, 32 / 8 * 128 / 130),
        ("InfiniBand HDR", 4, 50 / 8),
        ("InfiniBand NDR", 4, 100 / 8),
        ("Ethernet 100", 4, 25 / 8),
        ("Ethernet 400", 8, 50 / 8),
    ],
)
def test_a_link_carries_lanes_times_rate_in_one_direction(name, lanes, gigabytes):
    assert hardware.link(name).bandwidth == pytest.approx(lanes * gigabytes * 1e9, rel=1e-3)


def test_from_h100_to_h200_only_the_memory_changes():
    """The natural experiment for scaling up."""
    h100, h200 = (dataclasses.asdict(hardware.device(f"{name} SXM")) for name in ("H100", "H200"))
    changed = {name for name in h100 if h100[name] != h200[name]}
    assert changed - {"name", "sources", "label"} == {"memory", "bandwidth"}
    assert h200["bandwidth"] / h100["bandwidth"] == pytest.approx(1.433, abs=0.001)
    assert h200["memory"] / h100["memory"] == pytest.approx(1.763, abs=0.001)


@pytest.mark.parametrize("name", hardware.names("nodes"))
def test_a_node_adds_up_its_devices_and_its_cards(name):
    node = hardware.node(name)
    assert node.memory == sum(node.device.memory for _ in range(8))
    assert node.outside_bandwidth == sum(node.outside.bandwidth for _ in range(node.nics))
    assert node.inside == node.device.link
    assert node.outside_bandwidth < node.inside.bandwidth * node.count


def test_peak_wants_the_unit_named_and_lists_what_there_is():
    h100 = hardware.device("H100 SXM")
    assert hardware.peak(h100, "bf16 tensor") == 989.5e12
    with pytest.raises(ValueError, match=r"dtype must be one of fp64, .*bf16 tensor.*, got 'bf16'"):
        hardware.peak(h100, "bf16")
    with pytest.raises(Refusal, match=r"device must be a Device, got 'H100 SXM': take one"):
        hardware.peak("H100 SXM", "fp64")


@pytest.mark.parametrize("name", ["T4", "Core i7-8565U"])
def test_a_device_without_bf16_refuses_it_and_names_what_it_has(name):
    device = hardware.device(name)
    there = ", ".join(device.peaks)
    with pytest.raises(Refusal, match=f"dtype must be one of {there}, got 'bf16 tensor': "):
        hardware.peak(device, "bf16 tensor")
    assert hardware.fastest(device, "bf16") == 0


def test_a_name_that_is_not_in_the_catalogue_gets_the_list():
    with pytest.raises(ValueError, match=r"name must be one of A100 SXM 40GB, .*, got 'H100': "):
        hardware.device("H100")
    with pytest.raises(ValueError, match=r"name must be one of NVLink 3, .*, got 'NVLink': "):
        hardware.link("NVLink")
    with pytest.raises(ValueError, match=r"section must be one of devices, links, nodes, got 'x'"):
        hardware.names("x")


def test_records_are_frozen_and_those_in_the_catalogue_cannot_be_spoilt():
    h100 = hardware.device("H100 SXM")
    assert h100 == hardware.device("H100 SXM")
    assert len({h100, hardware.device("H100 SXM")}) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        h100.bandwidth = 1.0
    h100.peaks["fp64"] = 1.0
    assert hardware.device("H100 SXM").peaks["fp64"] == 34e12


def test_a_device_of_ones_own_is_checked():
    mine = dataclasses.replace(hardware.device("H100 SXM"), name="mine", bandwidth=4.8e12)
    assert mine.peaks == hardware.device("H200 SXM").peaks
    link = Link("mine", units.parse("50 GB/s", "B/s"))
    assert Node("mine", mine, 2, link, link, 1).outside_bandwidth == 50e9
    for wrong in ({"bandwidth": 0}, {"peaks": {"fp64": -1}}, {"memory": float("nan")}):
        with pytest.raises(ValueError, match="must be a finite number above 0, got"):
            dataclasses.replace(mine, **wrong)
    with pytest.raises(ValueError, match="count must be a whole number from 1 on, got 0"):
        Node("mine", mine, 0, link, link, 1)
    with pytest.raises(Refusal, match="inside must be a Link, got 5"):
        Node("mine", mine, 1, 50e9, link, 1)
    with pytest.raises(ValueError, match=r"bandwidth must .* one direction"):
        Link("mine", -1)


def test_a_processor_boosts_by_the_ratio_of_its_clocks_and_a_gpu_is_rated_boosted():
    epyc = hardware.device("EPYC 9654")
    for dtype in epyc.peaks:
        assert hardware.boost(epyc, dtype) == pytest.approx(3.7 / 2.4)
    assert hardware.boost(hardware.device("Core i7-8565U"), "fp64") == pytest.approx(4.1 / 1.8)
    assert hardware.boost(hardware.device("H100 SXM"), "bf16 tensor") == 1
    assert hardware.boost(hardware.device("Xeon 8480+"), "fp32") == 1  # no source, no allowance


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"name": ""}, "name must be text, got '': say what it is"),
        ({"peaks": [1e12]}, r"peaks must be a dict, got \[1000000000000.0\]: "),
        ({"peaks": {16: 1e12}}, "a key of peaks must be text, got 16: name the number format"),
        ({"peaks": {"fp64": "fast"}}, "peaks must be a finite number above 0, got 'fast'"),
        ({"sparse_peaks": {"fp64": 0}}, "sparse_peaks must be a finite number above 0, got 0"),
        ({"boost_peaks": None}, "boost_peaks must be a dict, got None: "),
        ({"power": -1}, "power must be a finite number above 0, got -1: it is in watts"),
        ({"link": 450e9}, "link must be a Link, got 450000000000.0: take one"),
        ({"host": "PCIe"}, "host must be a Link, got 'PCIe': take one"),
        ({"label": 80}, "label must be text, got 80: leave it out"),
        ({"sources": ["a sheet"]}, "sources must be a dict, got .'a sheet'.: "),
        ({"sources": {"power": None}}, "the source of power must be text, got None: "),
    ],
)
def test_every_field_of_a_device_is_checked(changes, sentence):
    with pytest.raises(Refusal, match=sentence):
        dataclasses.replace(hardware.device("H100 SXM"), **changes)


def test_every_field_of_a_link_and_of_a_node_is_checked():
    for wrong in ({"name": None}, {"bandwidth": "fast"}, {"source": 3}):
        with pytest.raises(Refusal, match=f"{next(iter(wrong))} must be .*, got .*: "):
            dataclasses.replace(hardware.link("NVLink 4"), **wrong)
    for wrong in ({"name": " "}, {"device": "H100"}, {"outside": 1}, {"nics": 0.5}, {"source": 3}):
        with pytest.raises(Refusal, match=f"{next(iter(wrong))} must be .*, got .*: "):
            dataclasses.replace(hardware.node("DGX H100"), **wrong)
