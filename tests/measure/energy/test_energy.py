"""Joules of a block: from trees of files, GPUs and a clock that do what the test says."""

import contextlib
import threading

import pytest
from hypothesis import given, strategies as st

from scalelab.measure.energy import energy, joules, meters
from scalelab.measure.energy.meters import Reading, Sensor


class Tree:
    """A powercap tree; `spend` moves its counters, which start again as the real ones do."""

    def __init__(self, root, zones):
        self.root = root
        for zone, name in zones.items():
            self.write(zone, "name", name)
            self.write(zone, "energy_uj", 0)
            self.write(zone, "max_energy_range_uj", 1000 * 10**6)

    def write(self, zone, name, value):
        folder = self.root / zone
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{value}\n")

    def spend(self, zone, spent):
        before = int((self.root / zone / "energy_uj").read_text())
        self.write(zone, "energy_uj", (before + round(spent * 1e6)) % (1000 * 10**6))


SERVER = {
    "intel-rapl": "",
    "intel-rapl:0": "package-0",
    "intel-rapl:0:0": "core",
    "intel-rapl:0:1": "dram",
    "intel-rapl:1": "package-1",
    "intel-rapl:1:0": "dram",
    "intel-rapl:2": "psys",
    "intel-rapl-mmio:0": "package-0",  # the same package by another road
}
LAPTOP = {"intel-rapl:0": "package-0", "intel-rapl:0:0": "core", "intel-rapl:0:1": "uncore"}


@pytest.fixture
def laptop(tmp_path):
    return Tree(tmp_path, LAPTOP)


@pytest.fixture(autouse=True)
def no_real_gpu(monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(meters, "_importable", lambda: None)
    monkeypatch.setattr(meters.nvidia, "ask", lambda *fields: [])


def rapl(tree, **settings):
    return energy.meter(sources=[meters.rapl(tree.root)], interval=None, **settings)


def gpu(*readings, least=0.0):
    """Return a Source of one GPU that reads these (joules, watts), the last for ever."""
    listed = list(readings)

    def read():
        return {"GPU 0": Reading(*(listed.pop(0) if len(listed) > 1 else listed[0]))}

    return Sensor(read, {}, least)


def ticking(*moments):
    times = iter(moments)
    return lambda: next(times)


def test_joules_are_what_the_counter_rose_by(laptop):
    with rapl(laptop) as spent:
        laptop.spend("intel-rapl:0", 42.5)
    assert spent.joules == pytest.approx(42.5)
    assert spent.given == {"joules": spent.joules}
    assert spent.stamp.kind == "measured here"
    assert spent.stamp.note == "package-0"
    assert spent.stamp.machine.cores >= 1


def test_packages_and_their_memory_count_and_nothing_counts_twice(tmp_path):
    """Cores are inside a package, psys around them, and mmio reads the package again."""
    tree = Tree(tmp_path, SERVER)
    with rapl(tree) as spent:
        for zone in SERVER:
            tree.spend(zone, 10)
    assert set(spent.parts) == {
        "package-0",
        "package-0 dram",
        "package-1",
        "package-1 dram",
    }
    assert spent.joules == pytest.approx(40)


def test_a_counter_that_starts_again_goes_on(laptop):
    laptop.spend("intel-rapl:0", 990)
    with rapl(laptop) as spent:
        laptop.spend("intel-rapl:0", 25)
    assert spent.joules == pytest.approx(25)


def test_readings_in_between_catch_every_new_start(laptop):
    """Three times round: both ends alone would have seen 400 of 3400 J."""
    with rapl(laptop) as spent:
        for _ in range(4):
            laptop.spend("intel-rapl:0", 850)
            spent.read()
    assert spent.joules == pytest.approx(3400)


@given(st.lists(st.integers(0, 999), max_size=20), st.integers(0, 999))
def test_a_wrapping_counter_adds_up_to_what_was_spent(steps, start):
    """Whatever the steps, as long as each is less than once round."""
    shown = [start]
    for step in steps:
        shown.append((shown[-1] + step) % 1000)
    assert joules.from_counter(shown, wraps=1000) == (sum(steps) or None)


def test_an_absent_tree_is_none_and_says_what_was_looked_for(tmp_path):
    with energy.meter(root=tmp_path / "absent") as spent:
        pass
    assert spent.joules is None
    assert spent.parts == {}
    assert spent.given == {}
    assert spent.disagreement is None
    assert spent.stamp.note == "no joules"
    assert any(f"no RAPL counter under {tmp_path / 'absent'}" in text for text in spent.advice)


def test_a_closed_counter_is_none_and_says_who_may_read_it(laptop):
    """Not by its permission bits: root, who runs the tests in a container, may read anything."""
    (laptop.root / "intel-rapl:0" / "energy_uj").unlink()
    with energy.meter(root=laptop.root) as spent:
        pass
    assert spent.joules is None
    assert any("is closed to this user" in text for text in spent.advice)


def test_one_closed_package_of_two_is_no_sum_of_one(tmp_path):
    tree = Tree(tmp_path, SERVER)
    (tmp_path / "intel-rapl:1" / "energy_uj").unlink()
    assert meters.rapl(tree.root).kind == "closed"


def test_a_counter_that_did_not_move_is_none_and_not_zero(laptop):
    with rapl(laptop) as spent:
        pass
    assert spent.joules is None
    assert any("package-0 did not move" in text for text in spent.advice)


def test_a_counter_that_vanishes_in_between_is_none(laptop):
    with rapl(laptop) as spent:
        laptop.spend("intel-rapl:0", 5)
        (laptop.root / "intel-rapl:0" / "energy_uj").unlink()
    assert spent.joules is None


def test_a_counter_that_was_reset_is_none(laptop):
    """It falls, and has no limit at which it would start again."""
    (laptop.root / "intel-rapl:0" / "max_energy_range_uj").unlink()
    laptop.spend("intel-rapl:0", 500)
    with rapl(laptop) as spent:
        laptop.write("intel-rapl:0", "energy_uj", 0)
    assert spent.joules is None


def test_counter_and_integral_that_agree_are_silent():
    """300 W for 10 s, read three times."""
    source = gpu((1000.0, 300.0), (2500.0, 300.0), (4000.0, 300.0))
    with energy.meter(sources=[source], interval=None, clock=ticking(0.0, 5.0, 10.0)) as spent:
        spent.read()
    part = spent.parts["GPU 0"]
    assert (part.counter, part.integral) == (3000, 3000)
    assert (spent.joules, spent.disagreement) == (3000, 0)
    assert spent.advice == ()


def test_counter_and_integral_that_disagree_are_told_and_the_counter_is_kept():
    """The sensor missed a burst between two readings."""
    source = gpu((0.0, 100.0), (2000.0, 100.0))
    with energy.meter(sources=[source], interval=None, clock=ticking(0.0, 10.0)) as spent:
        pass
    assert spent.joules == 2000
    assert spent.disagreement == pytest.approx(-0.5)
    (text,) = spent.advice
    assert text.startswith("The integral of the power is 50% below the counter.")


def test_power_alone_is_integrated_by_trapezoids():
    source = gpu((None, 100.0), (None, 300.0), (None, 300.0))
    with energy.meter(sources=[source], interval=None, clock=ticking(0.0, 2.0, 3.0)) as spent:
        spent.read()
    assert spent.joules == 400 + 300
    assert spent.disagreement is None


def test_a_power_reading_that_failed_leaves_no_integral():
    """Filling the hole with zero, or with its neighbours, would be invented."""
    source = gpu((None, 100.0), (None, None), (None, 100.0))
    with energy.meter(sources=[source], interval=None, clock=ticking(0.0, 2.0, 3.0)) as spent:
        spent.read()
    assert spent.joules is None


def test_processor_and_gpu_add_up(laptop):
    sources = [meters.rapl(laptop.root), gpu((0.0, None), (70.0, None))]
    with energy.meter(sources=sources, interval=None) as spent:
        laptop.spend("intel-rapl:0", 30)
    assert spent.joules == pytest.approx(100)
    assert spent.stamp.note == "package-0 + GPU 0"


def test_one_part_that_stops_telling_takes_the_sum_with_it(laptop):
    sources = [meters.rapl(laptop.root), gpu((0.0, None), (None, None))]
    with energy.meter(sources=sources, interval=None) as spent:
        laptop.spend("intel-rapl:0", 30)
    assert spent.joules is None
    assert spent.parts["package-0"].joules == pytest.approx(30)


def test_a_block_shorter_than_the_rhythm_of_the_readings_is_told():
    source = gpu((0.0, 100.0), (30.0, 100.0), least=2.0)
    with energy.meter(sources=[source], interval=None, clock=ticking(0.0, 0.3)) as spent:
        pass
    assert any(text.startswith("The block took 300 ms") for text in spent.advice)


def test_a_thread_reads_during_the_block_and_ends_with_it():
    """The block waits for three readings of its own, however slow the machine is."""
    enough, count = threading.Event(), []

    def read():
        count.append(1)
        if len(count) == 4:
            enough.set()
        return {"GPU 0": Reading(watts=100.0)}

    before = threading.active_count()
    with energy.meter(sources=[Sensor(read, {}, 0.0)], interval=0.001) as spent:
        assert enough.wait(timeout=60)
    assert threading.active_count() == before
    assert len(count) >= 5
    assert spent.joules == pytest.approx(100 * spent.seconds)


def test_an_error_in_the_block_passes_and_the_joules_until_then_are_there(laptop):
    def fail():
        laptop.spend("intel-rapl:0", 5)
        raise ZeroDivisionError

    with contextlib.suppress(ZeroDivisionError), rapl(laptop) as spent:
        fail()
    assert spent.joules == pytest.approx(5)


@pytest.mark.parametrize("interval", [0, -1, float("nan"), "1", True])
def test_impossible_intervals_are_refused(interval):
    with (
        pytest.raises(ValueError, match=r"interval must be in \(0, 60\], got"),
        energy.meter(interval=interval),
    ):
        pass


class Library:
    """A pynvml of two GPUs; the second is too old for a counter."""

    class NVMLError(Exception):
        pass

    def __init__(self, broken=False):
        self.broken, self.spent = broken, 0

    def nvmlInit(self):
        if self.broken:
            raise self.NVMLError

    def nvmlDeviceGetCount(self):
        return 2

    def nvmlDeviceGetHandleByIndex(self, index):
        return index

    def nvmlDeviceGetUUID(self, handle):
        return [b"GPU-1a", "GPU-2b"][handle]

    def nvmlDeviceGetTotalEnergyConsumption(self, handle):
        if handle == 1:
            raise self.NVMLError
        self.spent += 700_000
        return self.spent

    def nvmlDeviceGetPowerUsage(self, handle):
        return 350_000


def test_nvidia_s_library_gives_joules_and_watts_in_thousandths():
    source = meters.nvml(Library())
    clock = ticking(0.0, 2.0)
    with energy.meter(sources=[source], interval=None, clock=clock) as spent:
        pass
    assert spent.parts == {"GPU 0": (700.0, 700.0), "GPU 1": (None, 700.0)}
    assert spent.joules == 1400


def test_only_the_gpus_of_this_process_are_read(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-2b")
    assert list(meters.nvml(Library()).read()) == ["GPU 1"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert meters.nvml(Library()) is None


def test_a_library_without_a_driver_is_no_source():
    assert meters.nvml(Library(broken=True)) is None
    assert meters.nvml(None) is None


def test_without_the_library_nvidia_smi_tells_the_power():
    source = meters.smi(lambda field: [{"index": "0", field: "123.45"}, {"index": "1"}])
    assert source.read() == {"GPU 0": Reading(watts=123.45), "GPU 1": Reading()}
    assert meters.smi(lambda field: []).kind == "no power"
    assert meters.smi(lambda field: [{"index": "0"}]).kind == "no power"


def test_every_source_of_the_machine_is_used(laptop):
    rows = [{"index": "0", "power.draw": "50"}]
    sources, missing = meters.sensors(laptop.root, ask=lambda field: rows)
    assert [list(source.read()) for source in sources] == [["package-0"], ["GPU 0"]]
    assert missing == []
    sources, missing = meters.sensors(laptop.root / "absent", pynvml=Library())
    assert [list(source.read()) for source in sources] == [["GPU 0", "GPU 1"]]
    assert len(missing) == 1


def test_what_is_found_is_what_this_host_has():
    """Whatever it has: a number above zero, or none with a reason."""
    with energy.meter(interval=None) as spent:
        sum(range(10**6))
    assert spent.joules is None or spent.joules > 0
    assert spent.joules or spent.advice


@pytest.mark.gpu
def test_a_busy_gpu_draws_power_that_both_ways_know(monkeypatch):
    monkeypatch.undo()
    torch = pytest.importorskip("torch")
    pytest.importorskip("pynvml")
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    source = meters.nvml(meters._importable())
    if source is None:
        pytest.skip("NVIDIA's library does not answer here")
    left = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    with energy.meter(sources=[source]) as spent:
        for _ in range(3000):
            left @ left
        torch.cuda.synchronize()
    assert spent.joules > 50 * spent.seconds
    assert abs(spent.disagreement) < 0.3
