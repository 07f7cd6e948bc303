"""Passages of a program, on clocks that only the test moves, and functions that are really decorated."""

import asyncio
import functools
import math
import threading

import pytest

from scalelab.measure.timing import cuda, passages, rounds, timing
from scalelab.measure.timing.passages import Block, block, each
from scalelab.refusal import Refusal
from tests.measure.fake_gpu import FakeGpu


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_every_time_that_a_block_is_passed_counts():
    clock = Clock()
    step = Block("step", clock=clock)
    for seconds in (3.0, 1.0, 2.0):
        with step:
            clock.now += seconds
    assert step.sample.seconds == (3, 1, 2)
    assert step.sample.median == step.seconds == 2
    assert [one.name for one in step.sample.advice if one.name in ("few", "short")] == ["few"]


def test_the_first_times_may_be_left_out():
    clock = Clock()
    step = Block("step", warmup=2, clock=clock)
    for seconds in (30.0, 20.0, 1.0):
        with step:
            clock.now += seconds
    assert step.sample.seconds == (1,)


def test_a_block_that_an_error_left_does_not_count_and_the_error_goes_on():
    clock = Clock()
    step = Block("step", clock=clock)

    def fail():
        with step:
            clock.now += 1
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    with step:
        clock.now += 5
    assert step.sample.seconds == (5,)


def test_a_block_within_itself_and_in_two_threads_keeps_its_times_apart():
    clock = Clock()
    step = Block("step", clock=clock)
    with step:
        clock.now += 1
        with step:
            clock.now += 2
    assert step.sample.seconds == (2, 3)
    inside, leave = threading.Event(), threading.Event()

    def other():
        with step:
            inside.set()
            leave.wait()

    thread = threading.Thread(target=other)
    thread.start()
    inside.wait()
    clock.now += 10
    with step:
        clock.now += 1
    leave.set()
    thread.join()
    assert step.sample.seconds[2:] == (1, 11)


def test_on_a_gpu_both_ends_wait_for_what_was_launched():
    gpu = FakeGpu(launch=0.0)
    step = Block("step", device=gpu, clock=gpu.clock)
    gpu.kernel(100.0)()  # launched before the block: none of its time
    with step:
        gpu.kernel(7.0)()
        gpu.kernel(8.0, stream="side")()
    assert step.sample.seconds == (8,)


def test_cuda_is_refused_where_there_is_none():
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    for use in (block, functools.partial(each, print), functools.partial(timing.measure, print)):
        with pytest.raises(Refusal, match='got "cuda" and no CUDA device'):
            use(device="cuda")


@pytest.mark.gpu
def test_a_block_on_a_real_gpu_takes_as_long_as_its_kernels():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    left = torch.randn(4096, 4096, device="cuda")
    clocks = cuda.measure(lambda: left @ left, budget=0.5)
    step = block("product", warmup=3, device="cuda")
    for _ in range(20):
        with step:
            left @ left
    assert step.sample.median >= 0.9 * clocks.device.low
    assert timing.measure(lambda: left @ left, device="cuda", budget=0.5).median == pytest.approx(
        clocks.device.median, rel=0.3
    )


def test_short_passages_are_cautioned_of():
    clock = Clock()
    step = Block("step", clock=clock)
    for _ in range(6):
        with step:
            clock.now += 1e-5
    assert "short" in [one.name for one in step.sample.advice]
    still = Block("still", clock=lambda: 0.0)
    with still:
        pass
    assert still.seconds > 0


def test_a_block_that_was_not_passed_says_so():
    assert repr(block("load")) == "<Block load: not passed yet>"
    with pytest.raises(Refusal, match="block must have been passed, got no time of 'load': "):
        _ = block("load").sample


def test_each_call_is_timed_and_answers_as_before():
    @each(warmup=1)
    def power(base, *, exponent=2):
        """Return a power."""
        return base**exponent

    assert [power(3), power(3, exponent=3), power(2)] == [9, 27, 4]
    assert len(power.sample.seconds) == 2
    assert power.sample.label == power.__name__ == "power"
    assert power.__doc__ == "Return a power."
    assert each(math.sqrt)(4) == 2


def test_a_method_is_timed_on_whatever_object():
    class Model:
        def __init__(self, size):
            self.size = size

        @each(label="step")
        def step(self, more):
            return self.size + more

    assert (Model(1).step(2), Model(10).step(more=3)) == (3, 13)
    assert len(Model.step.sample.seconds) == 2


def test_a_call_that_fails_does_not_count():
    @each
    def fails():
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011 - its own
        fails()
    with pytest.raises(Refusal, match="block must have been passed"):
        _ = fails.sample


async def coroutine():
    await asyncio.sleep(0)


async def many():
    yield 1


def few():
    yield 1


@pytest.mark.parametrize("function", [coroutine, many, few])
def test_what_works_after_its_call_is_refused(function):
    for use in (each, timing.measure, cuda.measure):
        with pytest.raises(Refusal, match=r"function must work when it is called, got an? .*: "):
            use(function)


@pytest.mark.parametrize("junk", [3, "step", None, b"", [], print])
def test_junk_is_refused(junk):
    if junk is not print and junk is not None:
        with pytest.raises(Refusal, match="function must be one to decorate, got "):
            each(junk)
    if not isinstance(junk, str):
        with pytest.raises(Refusal, match="label must be text, got "):
            block(junk)
    with pytest.raises(Refusal, match="warmup must be a whole number"):
        block(warmup=-1 if junk == 3 else junk)
    with pytest.raises(Refusal, match="device must be "):
        block(device=junk)


def test_a_function_without_a_label_has_its_own_name():
    def step():
        return sum(range(100))

    class Callable:
        def __call__(self):
            return step()

    assert timing.measure(step, budget=0.01).label.endswith("step")
    assert rounds.named(Callable()) == "Callable"
    assert rounds.named(functools.partial(functools.partial(print, 1), 2)) == "print"
    assert passages.Each.__doc__
