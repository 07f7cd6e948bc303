"""Every clock of a GPU: exact on a fake one; on a real one where there is one."""

import contextlib
import types

import pytest

from scalelab import records
from scalelab.measure.timing import cuda, devices, timing
from tests.measure.fake_gpu import FakeGpu

US = 1e-6


def measure(gpu, function, **settings):
    return cuda.measure(function, label="work", device=gpu, clock=gpu.clock, **settings)


def test_hot_calls_follow_each_other_and_find_what_the_last_one_left():
    """A call takes 20 µs with its data cached, 50 without; launches of 5 µs hide behind the work."""
    gpu = FakeGpu()
    found = measure(gpu, gpu.kernel(20 * US, 50 * US))
    assert found.device.inner == 128
    for sample in (found.device, found.host, found.graph):
        assert sample.median == pytest.approx(20 * US, rel=0.005)  # one launch in 128 calls shows
    assert found.advice == ()
    assert gpu.flushes == 0


def test_cold_calls_are_alone_and_find_an_empty_cache():
    """The flush hides the launch from the device's clock; the caller waits for launch and work."""
    gpu = FakeGpu(cold=True)
    found = measure(gpu, gpu.kernel(20 * US, 50 * US))
    assert found.device.inner == 1
    assert found.device.median == found.graph.median == pytest.approx(50 * US)
    assert found.host.median == pytest.approx(55 * US)
    assert found.overhead == pytest.approx(5 * US)
    assert found.advice == ()
    assert gpu.flushes >= 3 * len(found.device.seconds)


def test_a_graph_tells_launching_from_working():
    """Kernels of 2 µs behind launches of 5: eager calls take 5 µs each, replayed ones 2."""
    gpu = FakeGpu()
    found = measure(gpu, gpu.kernel(2 * US))
    assert found.device.median == pytest.approx(5 * US, rel=0.01)
    assert found.host.median == pytest.approx(5 * US, rel=0.01)
    assert found.graph.median == pytest.approx(2 * US, rel=0.02)
    assert found.overhead == pytest.approx(3 * US, rel=0.02)
    (text,) = found.advice
    assert text.startswith("The device is idle 60% of the time and waits for launches. Replay")


def test_a_graph_that_is_slower_than_launches_is_told_and_makes_no_overhead_below_zero():
    """A copy of a GB took 361 µs launched and 443 replayed on an H100: another engine carries it out."""
    gpu = FakeGpu()
    found = measure(gpu, gpu.kernel(361 * US, replayed=443 * US))
    assert found.graph.median == pytest.approx(443 * US, rel=0.02)
    assert 0 <= found.overhead < 1 * US
    (text,) = found.advice
    assert text.startswith("Replayed, the work takes 23% longer than launched")
    even = measure(gpu, gpu.kernel(361 * US, replayed=370 * US))
    assert even.advice == ()


def test_without_a_graph_the_overhead_is_what_the_caller_waits_beyond_the_device():
    gpu = FakeGpu(cold=True)
    found = measure(gpu, gpu.kernel(2 * US), graph=False)
    assert found.graph is None
    assert found.overhead == pytest.approx(5 * US)


def test_work_on_another_stream_is_not_mistaken_for_fast():
    """The events of the current stream enclose nothing, and only the caller's clock knows."""
    gpu = FakeGpu()
    found = measure(gpu, gpu.kernel(100 * US, stream="side"), graph=False)
    assert found.device.median == pytest.approx(5 * US)
    assert found.host.median == pytest.approx(100 * US, rel=0.01)
    (text,) = found.advice
    assert "sees 5% of the caller's time" in text
    assert "another stream" in text


def test_a_function_that_cannot_be_captured_is_timed_without_a_graph_and_told():
    gpu = FakeGpu()
    kernel = gpu.kernel(2e-3)

    def waits():
        if gpu.capturing is not None:
            raise RuntimeError("CUDA error: operation not permitted\nwhen stream is capturing")
        kernel()

    found = measure(gpu, waits)
    assert found.graph is None
    assert found.device.median == pytest.approx(2e-3, rel=0.01)
    (text,) = found.advice
    assert text.startswith(
        "No CUDA graph could be captured (CUDA error: operation not permitted when"
    )


def test_an_error_of_the_function_itself_reaches_the_caller():
    def broken():
        raise RuntimeError("out of memory")

    with pytest.raises(RuntimeError, match="out of memory"):
        measure(FakeGpu(), broken)


def test_it_stops_when_every_clock_knows_or_the_budget_is_spent():
    gpu = FakeGpu(launch=2**-18)  # powers of two add without rounding
    known = measure(gpu, gpu.kernel(2**-8), budget=10)
    assert known.device.stopped == "precise: all medians are known within 0%"
    assert len(known.device.seconds) == 23
    gpu, calls = FakeGpu(), iter(range(10**6))

    def restless():
        gpu.kernel(1e-3 * (1 + next(calls) % 7))()

    spent = measure(gpu, restless, budget=1, precision=1e-3, graph=False)
    assert spent.host.stopped == f"budget: 1 s spent on {len(spent.host.seconds)} repetitions"
    waited = sum(spent.device.seconds) + sum(spent.host.seconds)
    assert 1 <= spent.host.inner * waited < 1.03


def test_a_recording_keeps_all_clocks_and_what_they_say():
    gpu = FakeGpu()
    found = measure(gpu, gpu.kernel(2 * US), given={"bytes": 4096})
    read = records.from_json(records.to_json(found.recording))
    assert [s.label for s in read.samples] == ["work, device", "work, host", "work, graph"]
    assert read.samples == (found.device, found.host, found.graph)
    assert all(s.given == {"bytes": 4096} for s in read.samples)
    assert read.note == found.advice[0]


def test_the_timer_uses_the_device_s_clock():
    """Cold, launches of 10 µs hide behind the flush: the caller's clock would add them."""
    gpu = FakeGpu(cold=True, launch=10 * US)
    sample = timing.measure(gpu.kernel(40 * US), label="work", device=gpu, clock=gpu.clock)
    assert sample.median == pytest.approx(40 * US)
    assert sample.inner == 1


def test_auto_means_the_gpu_where_there_is_one(monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert isinstance(devices.pick("auto"), devices.Processor)
    monkeypatch.setattr(devices, "Cuda", FakeGpu)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert isinstance(devices.pick("auto"), FakeGpu)


def test_a_gpu_that_is_not_there_is_refused_in_one_sentence(monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(
        ValueError, match=r'device must be one that PyTorch sees, got "cuda" and no'
    ):
        timing.measure(lambda: None, label="work", device="cuda")
    with pytest.raises(
        ValueError, match="device must be a GPU, got 'auto': time the processor with"
    ):
        cuda.measure(lambda: None, label="work", device="auto")


@pytest.mark.parametrize("device", ["gpu", "cuda:0", None, 3, print])
def test_an_unknown_device_is_refused(device):
    with pytest.raises(
        ValueError, match='device must be "cpu", "cuda", "auto" or a Stopwatch, got'
    ):
        timing.measure(lambda: None, label="work", device=device)


class FakeTorchCuda:
    """The part of torch.cuda that `Cuda` uses: it writes down what is called, in order."""

    def __init__(self):
        self.log = []

    def is_available(self):
        return True

    def current_device(self):
        return 0

    def get_device_properties(self, _):
        return types.SimpleNamespace(L2_cache_size=200 * 2**20)

    def synchronize(self):
        self.log.append("synchronize")

    def Event(self, enable_timing):
        assert enable_timing
        log, name = self.log, f"event {len(self.log)}"
        log.append(name)
        return types.SimpleNamespace(
            record=lambda: log.append(f"{name} recorded"),
            synchronize=lambda: log.append(f"{name} awaited"),
            elapsed_time=lambda other: 7.5,  # milliseconds
        )

    def CUDAGraph(self):
        return types.SimpleNamespace(replay=lambda: self.log.append("replay"))

    def Stream(self):
        return types.SimpleNamespace(wait_stream=lambda s: self.log.append("side waits"))

    def current_stream(self):
        return types.SimpleNamespace(wait_stream=lambda s: self.log.append("current waits"))

    @contextlib.contextmanager
    def stream(self, side):
        self.log.append("on side")
        yield
        self.log.append("off side")

    def get_sync_debug_mode(self):
        return 1

    def set_sync_debug_mode(self, mode):
        self.log.append(f"on waiting {mode}")

    @contextlib.contextmanager
    def graph(self, graph):
        self.log.append("capture")
        yield
        self.log.append("captured")


@pytest.fixture
def torch_cuda(monkeypatch):
    """Put the fake in the place of torch.cuda, and the flush buffer on the CPU."""
    import torch

    fake = FakeTorchCuda()
    monkeypatch.setattr(torch, "cuda", fake)

    def empty(size, dtype, device):
        assert device == "cuda"
        fake.buffer = size * dtype.itemsize
        return types.SimpleNamespace(zero_=lambda: fake.log.append("flush"))

    monkeypatch.setattr(torch, "empty", empty)
    return fake


@pytest.mark.parametrize("cold", [True, False])
def test_the_device_s_clock_encloses_the_work_and_nothing_else(torch_cuda, cold):
    gpu = devices.Cuda(cold=cold)
    torch_cuda.log.clear()
    assert gpu.elapsed(lambda: torch_cuda.log.append("work")) == 0.0075
    flushed = ["flush"] if cold else []
    rest = ["event 0 recorded", "work", "event 1 recorded", "event 1 awaited"]
    assert torch_cuda.log == [*flushed, *rest]


def test_the_flush_is_larger_than_the_cache_it_empties(torch_cuda):
    devices.Cuda(cold=True)
    assert torch_cuda.buffer == 2 * 200 * 2**20


def test_a_graph_is_captured_after_a_run_on_a_side_stream(torch_cuda):
    gpu = devices.Cuda()
    torch_cuda.log.clear()
    replay = gpu.captured(lambda: torch_cuda.log.append("work"))
    run = ["on waiting error", "work", "on waiting 1"]
    side = ["side waits", "on side", *run, "off side", "current waits"]
    assert torch_cuda.log == [*side, "capture", "work", "captured"]
    replay()
    assert torch_cuda.log[-1] == "replay"


def test_what_would_wait_is_found_before_the_capture_that_it_would_spoil(torch_cuda):
    def waits():
        if torch_cuda.log[-1] == "on waiting error":
            raise RuntimeError("called a synchronizing CUDA operation")

    gpu = devices.Cuda()
    torch_cuda.log.clear()
    with pytest.raises(RuntimeError, match="called a synchronizing CUDA operation"):
        gpu.captured(waits)
    assert torch_cuda.log[-2:] == ["on waiting 1", "current waits"]
    assert "capture" not in torch_cuda.log


def test_the_fake_has_only_names_that_torch_has():
    """Otherwise the tests above would agree with themselves alone."""
    import torch

    names = [name for name in vars(FakeTorchCuda) if not name.startswith("_")]
    assert len(names) >= 10
    assert all(hasattr(torch.cuda, name) for name in names)


@pytest.fixture
def torch():
    """Skip where CUDA is missing."""
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("needs CUDA")
    return torch


@pytest.mark.gpu
@pytest.mark.parametrize("size", [1024, 4096])
def test_cold_times_agree_with_triton_s_do_bench(torch, size):
    """Both flush the cache and read the device's clock; do_bench returns the median in ms.

    The first GPU that ran it, an H100 under PyTorch 2.11, did not agree: 8.8 µs beside 10.2, and 176
    beside 189. do_bench waits for nothing between its calls; whether that is why is not known.
    """
    triton = pytest.importorskip("triton.testing")
    left, right = (torch.randn(size, size, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    ours = cuda.measure(
        lambda: left @ right, label="product", budget=3, device=devices.Cuda(cold=True), graph=False
    )
    theirs = triton.do_bench(lambda: left @ right, warmup=200, rep=500, return_mode="median") / 1e3
    # Of the few microseconds of a small product, half of one is what an event can tell.
    assert ours.device.median == pytest.approx(theirs, rel=0.05, abs=1e-6)


@pytest.mark.gpu
def test_a_copy_that_fits_the_cache_is_faster_hot_than_cold(torch):
    source = torch.ones(2 * 2**20, device="cuda")
    target = torch.empty_like(source)
    hot, cold = (
        cuda.measure(lambda: target.copy_(source), label="copy", device=devices.Cuda(cold=cold))
        for cold in (False, True)
    )
    assert hot.graph.high < cold.graph.low


@pytest.mark.gpu
def test_a_graph_takes_the_launches_out_of_tiny_kernels(torch):
    value = torch.ones(16, device="cuda")
    found = cuda.measure(lambda: value.add_(1).mul_(0.5), label="tiny")
    assert found.graph.high < found.device.low
    assert found.overhead > 0
    assert any("waits for launches" in text for text in found.advice)


@pytest.mark.gpu
def test_the_clocks_of_device_and_caller_agree_on_long_work(torch):
    matrix = torch.randn(8192, 8192, device="cuda")
    found = cuda.measure(lambda: matrix @ matrix, label="product", budget=5)
    assert found.device.median == pytest.approx(found.host.median, rel=0.05)
    assert found.graph.median == pytest.approx(found.device.median, rel=0.05)


@pytest.mark.gpu
def test_a_function_that_waits_for_the_gpu_is_told_and_still_timed(torch):
    value = torch.ones(16, device="cuda")
    found = cuda.measure(lambda: value.sum().item(), label="waits")
    assert found.graph is None
    assert "No CUDA graph" in found.advice[0]
    assert torch.cuda.get_sync_debug_mode() == 0
    assert torch.rand(3, device="cuda").max() < 1, "a spoilt capture would leave no random numbers"


@pytest.mark.gpu
def test_the_seeds_of_the_gpu_are_restored(torch):
    torch.cuda.init()
    before = torch.cuda.get_rng_state()
    with timing.seeds(1):
        first = torch.rand(3, device="cuda")
    with timing.seeds(1):
        assert torch.equal(torch.rand(3, device="cuda"), first)
    assert torch.equal(torch.cuda.get_rng_state(), before)
