"""The probe on machines made up for one rule each, and one short look at the real one."""

import contextlib
import math

import pytest

from scalelab import data, records
from scalelab.measure.probe import levels, part, probe, roofs, workbench
from scalelab.measure.probe.part import Effort
from tests.measure.fake_bench import KIB, MIB, FakeBench
from tests.measure.fake_gpu import FakeGpu

pytestmark = pytest.mark.turns(2)

FIGURES = 1e-4  # a probe keeps five

PLAN = Effort(
    survey=0.2,
    longest=1.0,
    finalists=2,
    soak=2.0,
    window=1.0,
    most=20.0,
    hold=3.0,
    sweep=0.2,
    tries=3,
    pause=0.0,
)


def take(bench, plan=PLAN, **settings):
    settings = {"waited": bench.waited, "clock": bench.clock, "sleep": bench.spend} | settings
    return probe.take(bench, plan, **settings)


@pytest.fixture(scope="module")
def plain():
    """The probe of a machine without surprises."""
    return take(FakeBench())


def samples(found, **wanted):
    return [s for s in found.samples if all(s.given.get(k) == v for k, v in wanted.items())]


def test_a_machine_without_surprises_gets_its_own_numbers_back(plain):
    assert roofs.rates(plain) == {"fp32": pytest.approx(1e9, rel=FIGURES)}
    levels = {"L1d": 400e9, "L2": 200e9, "DRAM": 50e9}
    assert roofs.bandwidths(plain) == pytest.approx(levels, rel=FIGURES)
    assert roofs.launch(plain) == pytest.approx(1e-6)


def test_the_rate_is_what_lasts_and_not_the_burst():
    """For two seconds of work the chip runs a half faster than it can for long."""

    class Boosts(FakeBench):
        def rate(self, name, size):
            return 1.5e9 if self.busy < 2 else 1e9

    found = take(Boosts(products=(256,)))
    assert roofs.rates(found)["fp32"] == pytest.approx(1e9, rel=FIGURES)
    (survey,) = samples(found, phase="survey")
    (kept,) = samples(found, phase="sustained")
    assert 2 * 256**3 / survey.median == pytest.approx(1.5e9, rel=FIGURES)
    assert 2 * 256**3 / kept.given["burst"] == pytest.approx(1.5e9, rel=FIGURES)
    assert kept.given["steady"]


def test_a_size_that_only_starts_fast_loses_to_one_that_lasts():
    """In the survey 512 leads; after two seconds of it, 1024 does."""

    class Throttles(FakeBench):
        def rate(self, name, size):
            return {256: 2e9, 512: 8e9 if self.busy < 4 else 3e9, 1024: 4e9}[size]

    found = take(Throttles())
    assert [s.given["size"] for s in samples(found, phase="sustained")] == [512, 1024]
    assert roofs.rates(found)["fp32"] == pytest.approx(4e9, rel=FIGURES)


def test_only_the_first_product_soaks_the_machine():
    found = take(FakeBench(formats=("fp32", "bf16")))
    first, *others = (s.given["heated"] for s in samples(found, phase="sustained"))
    assert 2 <= first < 4
    assert len(others) == 3
    assert all(heated < 4 for heated in others)


def test_a_machine_that_never_settles_is_told():
    class Slows(FakeBench):
        def rate(self, name, size):
            return 1e9 / (1 + 0.05 * self.busy)

    (kept,) = samples(take(Slows(products=(256,))), phase="sustained")
    assert not kept.given["steady"]
    assert "unsteady" in [case.name for case in kept.advice]


def test_products_that_take_too_long_are_left_out():
    """At 1e9 a second, 1024 takes 2 s; at ten times that, 0.2 s."""
    surveyed = samples(take(FakeBench(products=(256, 512, 1024, 2048))), phase="survey")
    assert [s.given["size"] for s in surveyed] == [256, 512]
    fast = FakeBench(products=(256, 512, 1024, 2048), rate=lambda name, size: 1e10)
    assert [s.given["size"] for s in samples(take(fast), phase="survey")] == [256, 512, 1024]


def test_products_that_do_not_fit_are_left_out():
    """Three matrices, priced at eight bytes a number."""
    fits = FakeBench(memory=3 * 8 * 512**2, rate=lambda name, size: 1e12)
    assert [s.given["size"] for s in samples(take(fits), phase="survey")] == [256, 512]


def test_a_format_that_is_not_offered_is_named_and_the_others_are_measured():
    class Old(FakeBench):
        formats = ("fp32", "fp8", "bf16")

        def product(self, name, size):
            if name == "fp8":
                raise RuntimeError("torch._scaled_mm is only supported on newer devices")
            return super().product(name, size)

    found = take(Old())
    assert list(roofs.rates(found)) == ["fp32", "bf16"]
    assert "No product here in fp8." in found.note


def test_every_sample_says_what_it_is(plain):
    assert {s.given["what"] for s in plain.samples} == {"launch", "copy", "triad", "product"}
    assert all(s.given["device"] == "cpu" and s.given["threads"] == 2 for s in plain.samples)
    (triad,) = samples(plain, what="triad", size=2**20)
    assert triad.given["flops"] / triad.given["bytes"] == pytest.approx(1 / 6)
    assert "flops" not in samples(plain, what="copy")[0].given
    assert records.from_json(records.to_json(plain)) == plain


def test_a_set_near_the_size_of_a_cache_belongs_to_no_level(plain):
    named = {s.given["size"]: s.given["level"] for s in samples(plain, what="copy")}
    assert named[64 * KIB] == named[2 * MIB] == named[4 * MIB] == ""
    assert named[32 * KIB] == "L1d"
    assert named[MIB] == "L2"
    assert named[32 * MIB] == "DRAM"


def test_a_fast_set_between_two_levels_lifts_no_roof():
    """At twice the last cache half of the set is still in it; that is not the memory's bandwidth."""

    class Lingers(FakeBench):
        def bandwidth(self, kind, size):
            return 120e9 if size == 4 * MIB else super().bandwidth(kind, size)

    assert roofs.bandwidths(take(Lingers()))["DRAM"] == pytest.approx(50e9, rel=FIGURES)


def test_where_no_caches_are_stated_the_falls_of_the_bandwidth_name_the_levels():
    found = take(FakeBench(stated={}))
    assert roofs.bandwidths(found) == pytest.approx(
        {"level 1": 400e9, "level 2": 200e9, "DRAM": 50e9}, rel=FIGURES
    )
    triad = {s.given["size"]: s.given["level"] for s in samples(found, what="triad")}
    assert (triad[64 * KIB], triad[128 * KIB]) == ("level 1", "level 2")


def test_the_note_says_where_the_bandwidth_falls(plain):
    assert "falls between 64 KiB and 128 KiB, between 2 MiB and 4 MiB." in plain.note


def test_memory_is_swept_again_at_the_end_and_the_better_look_is_its_roof(plain):
    """A neighbour on the same host that took half of the bandwidth has left meanwhile."""

    class Neighbours(FakeBench):
        def bandwidth(self, kind, size):
            shared = size > 2 * MIB and not self.busy and kind in self.slowed
            return 25e9 if shared else super().bandwidth(kind, size)

    changed = "The largest {} moved 25 GB/s before the products and 50 GB/s after: something else"
    for slowed in (("copy",), ("triad",), ("copy", "triad")):
        found = take(Neighbours(slowed=slowed))
        assert found.note.count("something else") == len(slowed)
        assert all(changed.format(kind) in found.note for kind in slowed)
        assert roofs.bandwidths(found)["DRAM"] == pytest.approx(50e9, rel=FIGURES)
    assert [s.label for s in found.samples[-2:]] == [
        "copy of 32 MiB, again",
        "triad of 32 MiB, again",
    ]
    assert "something else" not in plain.note


def test_a_stated_cache_that_does_not_show_is_told():
    flat = FakeBench(bandwidth=lambda kind, size: 100e9)
    assert "No fall confirms the stated size of L1d, L2." in take(flat).note


class Shared(FakeBench):
    """The first products run beside another program, which takes half of the time."""

    def __init__(self, until):
        super().__init__()
        self.until = until

    def spend(self, seconds):
        super().spend(seconds)
        if self.now < self.until:
            super().spend(seconds)
            self.kept += seconds


def test_disturbed_parts_are_repeated_and_counted():
    found = take(Shared(until=0.3))
    assert roofs.launch(found) == pytest.approx(1e-6)
    assert all(s.given["waited"] == 0 for s in found.samples)
    assert "Other programs disturbed 1 of 31 parts, 0 of them also in the" in found.note


def test_parts_that_stay_disturbed_say_so():
    found = take(Shared(until=math.inf), PLAN._replace(soak=0.0))
    assert all(s.given["waited"] == pytest.approx(0.5, rel=0.01) for s in found.samples)
    assert all("kept this one waiting for 50%" in s.advice[-1].text for s in found.samples)
    assert "disturbed 31 of 31 parts, 31 of them also in the calmest try." in found.note


def test_where_nothing_is_known_of_others_the_note_says_so():
    found = take(FakeBench(), waited=lambda: None)
    assert "This system does not say what other programs disturbed." in found.note
    assert all("waited" not in s.given for s in found.samples)


def test_progress_counts_every_part_to_the_end():
    """Also those that turn out to be too long, or beyond the memory."""
    heard = []
    take(FakeBench(), report=lambda *said: heard.append(said))
    done, total, what = zip(*heard, strict=True)
    assert list(done) == sorted(done)
    assert set(total) == {done[-1]}
    assert (done[0], what[0], what[-1]) == (0, "launch", "done")
    assert "fp32 product of 512, sustained" in what
    assert "copy of 64 KiB" in what


def test_what_there_is_can_be_kept_after_every_part():
    """And says that it is not all; the last one kept lacks nothing but the end."""
    kept = []
    found = take(FakeBench(), keep=kept.append)
    sizes = [len(recording.samples) for recording in kept]
    assert sizes == sorted(sizes)
    assert sizes[0] == 1
    assert kept[0].note.startswith("Ended after 1 of ")
    assert kept[-1].samples == found.samples[: sizes[-1]]


def test_readings_are_few_and_all_kept(plain):
    """About a dozen blocks to a part, so that a probe is a small file."""
    assert all(5 <= len(s.seconds) <= 20 for s in plain.samples if s.median * 12 < 0.2)
    assert all(s.inner > 1 for s in samples(plain, what="launch"))


def test_random_numbers_of_the_caller_are_left_alone():
    import torch

    before = torch.get_rng_state()
    take(FakeBench())
    assert torch.equal(torch.get_rng_state(), before)


def test_ranks_of_a_torchrun_do_not_disturb_each_other(monkeypatch):
    told = {"TORCHELASTIC_RUN_ID": "x", "RANK": 1, "LOCAL_WORLD_SIZE": 2, "WORLD_SIZE": 2}
    for name, value in told.items():
        monkeypatch.setenv(name, str(value))
    with pytest.raises(ValueError, match="its machine to itself, got 2 ranks of a torchrun: start"):
        probe.probe(quick=True)


@pytest.mark.parametrize("device", ["tpu", None, 3])
def test_an_unknown_device_is_refused(device):
    with pytest.raises(
        ValueError, match='device must be "cpu", "cuda", "auto" or a Stopwatch, got'
    ):
        probe.probe(device=device)


@pytest.mark.parametrize("other", [None, "probe", data.recorded("superlinear")])
def test_only_a_probe_has_roofs(other):
    with pytest.raises(ValueError, match=r"probe must be a Recording made by measure.probe, got"):
        roofs.rates(other)


class FakeCuda(FakeBench):
    """Kernels on a fake GPU: work of 2 µs behind launches of 5."""

    name, threads, last, formats = "cuda", 1, "HBM", ("tf32",)

    def __init__(self):
        super().__init__(stated={"L2": 2 * MIB})
        self.device = FakeGpu()

    def clock(self):
        return self.device.clock()

    def sizes(self):
        return [256 * KIB, MIB, 32 * MIB]

    @contextlib.contextmanager
    def product(self, name, size):
        yield self.device.kernel(2 * size**3 / 1e9)

    def sweep(self, kind, size):
        return self.device.kernel(size / self.bandwidth(kind, size)), size

    def nothing(self):
        return self.device.kernel(2e-6)

    def spend(self, seconds):
        self.device.now += seconds


def test_a_gpu_tells_launching_from_working_from_waiting():
    """Back to back a launch takes 5 µs, replayed 2; alone, launch and work follow each other: 7."""
    found = take(FakeCuda())
    median = {s.given["what"]: s.median for s in found.samples}
    assert median["launch"] == pytest.approx(5e-6, rel=0.01)
    assert median["replay"] == pytest.approx(2e-6, rel=0.05)
    assert median["round trip"] == pytest.approx(7e-6, rel=0.01)
    assert roofs.launch(found) == median["launch"]


def test_short_sweeps_of_a_gpu_are_not_bound_by_their_launches():
    """1 MiB takes 5.2 µs and 256 KiB 1.3, each behind a launch of 5: the graph replays without."""
    found = take(FakeCuda())
    assert roofs.bandwidths(found) == pytest.approx({"L2": 200e9, "HBM": 50e9}, rel=0.01)
    (small,) = samples(found, what="copy", size=256 * KIB)
    assert small.given["bytes"] / small.median == pytest.approx(200e9, rel=0.02)


def test_long_sweeps_of_a_gpu_are_launched_and_not_replayed():
    """An H100 copied a GB at 3.0 TB/s when launched and at 2.4 in a graph, which copies by other means."""

    class Slower(FakeCuda):
        def sweep(self, kind, size):
            seconds = size / self.bandwidth(kind, size)
            return self.device.kernel(seconds, replayed=1.2 * seconds), size

    found = take(Slower())
    assert roofs.bandwidths(found)["HBM"] == pytest.approx(50e9, rel=0.01)


def test_the_recorded_probe_is_a_probe_of_a_named_machine_on_a_quiet_day():
    found = data.recorded("probe")
    assert all(s.stamp.kind == "recorded" and s.date and s.machine.torch for s in found.samples)
    link = samples(found, collective="send", workers=2)
    assert all(s.given["waited"] <= 0.02 for s in found.samples if s not in link)
    assert [s.given["bytes"] for s in link] == sorted(s.given["bytes"] for s in link)
    assert link[0].median < link[-1].median
    rates, bandwidths = roofs.rates(found), roofs.bandwidths(found)
    assert rates["bf16"] > rates["fp32"] > rates["fp64"]
    assert list(bandwidths) == ["L1d", "L2", "L3", "DRAM"]
    stated = levels.capacities(found.samples[0].machine, found.samples[0].given["threads"])
    seen = [(s.given["size"], s.given["bytes"] / s.median) for s in samples(found, what="copy")]
    assert levels.unseen(stated, levels.falls(seen)) == []


def test_a_short_look_at_this_machine():
    """Real products and sweeps, few and small; how fast they are is not the test's business."""
    bench = workbench.pick("cpu")
    bench.formats, bench.products = ("fp32", "fp64"), (64, 128)
    bench.sizes = lambda: [64 * KIB, MIB]
    tiny = Effort(0.01, 0.1, 1, 0.0, 0.01, 0.05, 0.02, 0.01, 1, 0.0)
    found = probe.take(bench, tiny)
    assert set(roofs.rates(found)) == {"fp32", "fp64"}
    assert all(rate > 0 for rate in roofs.rates(found).values())
    assert 0 < roofs.launch(found) < 1
    assert records.from_json(records.to_json(found)) == found
    assert found.samples[0].stamp.kind == "measured here"


@pytest.mark.gpu
def test_a_quick_probe_of_a_real_gpu():
    """All stages and formats, on two sizes of products."""
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("needs CUDA")
    bench = workbench.pick("cuda")
    bench.products = (1024, 2048)
    found = probe.take(bench, part.QUICK)
    rates, bandwidths = roofs.rates(found), roofs.bandwidths(found)
    assert {"fp32", "fp16"} <= rates.keys()
    assert rates["fp16"] > rates["fp32"]
    assert bandwidths.keys() == {"L2", bench.last}
    assert 1e-7 < roofs.launch(found) < 1e-3
    (replay,) = samples(found, what="replay")
    (trip,) = samples(found, what="round trip")
    assert replay.median < trip.median
    assert records.from_json(records.to_json(found)) == found
