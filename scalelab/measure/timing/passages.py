"""A passage of a running program, timed whenever it is passed: a block, or every call of a function.

Nothing is repeated for the sake of timing, so the first times are those of a program that warms up.
"""

from __future__ import annotations

import functools
import threading
import time
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, ParamSpec, Self, TypeVar

from scalelab.arguments import shown, whole
from scalelab.measure.timing import devices, rounds
from scalelab.records import Caution, Sample
from scalelab.refusal import Refusal
from scalelab.seen import Seen
from scalelab.units import text

_Given = ParamSpec("_Given")
_Answer = TypeVar("_Answer")


class Block(Seen):
    """A passage under its name, and the seconds of every time that it was passed to its end."""

    def __init__(
        self,
        label: str = "block",
        *,
        warmup: int = 0,
        device: str | devices.Stopwatch = "cpu",
        clock: devices.Clock = time.perf_counter,
    ) -> None:
        if not isinstance(label, str) or not label.strip():
            raise Refusal(f"label must be text, got {shown(label)}: say what is timed")
        self.label, self._clock = label, clock
        self._left = whole("warmup", warmup, "it counts the first times that do not count", 0)
        # Of work that goes on while the caller does, both ends are waited for.
        self._wait = getattr(devices.pick(device, clock), "synchronize", None)
        self._seconds = array("d")
        self._began = threading.local()

    def __enter__(self) -> Self:
        self._starts.append(self._now())
        return self

    def __exit__(self, kind: object, *rest: object) -> None:
        start = self._starts.pop()
        if kind is None:  # what was left by an error is no whole passage
            self._keep(self._now() - start)

    @property
    def sample(self) -> Sample:
        """All times so far as one Sample, with what is odd about them."""
        if not self._seconds:
            raise Refusal(
                f"block must have been passed, got no time of {shown(self.label)}: "
                "run what is in it first, more often than its warm-up"
            )
        passed = f"passed: {len(self._seconds)} times, as the program ran"
        sample = rounds.sample(self.label, self._seconds, 1, passed, 0.02)
        if sample.median >= devices.Processor.shortest:
            return sample
        said = (
            f"Half of the times are under {text(devices.Processor.shortest, 's')}, where looking at the "
            "clock is a part of them. Put a loop into the block, or time the function alone."
        )
        return replace(sample, advice=(Caution("short", said), *sample.advice))

    @property
    def seconds(self) -> float:
        """The last time."""
        return self.sample.seconds[-1]

    def __repr__(self) -> str:
        return repr(self.sample) if self._seconds else f"<Block {self.label}: not passed yet>"

    def facts(self) -> Mapping[str, Sequence[object]]:
        """A row for each time."""
        return self.sample.facts()

    def summary(self) -> Mapping[str, Sequence[object]]:
        """One row for all."""
        return self.sample.summary()

    def _now(self):
        if self._wait:
            self._wait()
        return self._clock()

    def _keep(self, seconds):
        if self._left:
            self._left -= 1
        else:
            self._seconds.append(max(seconds, 1e-9))  # two looks at a coarse clock may be one

    @property
    def _starts(self):
        """When this thread entered, outermost first: a block may stand within itself."""
        if not hasattr(self._began, "starts"):
            self._began.starts = []
        return self._began.starts


class Each(Generic[_Given, _Answer]):
    """A function whose every call is timed; `sample` has the times so far."""

    def __init__(self, function: Callable[_Given, _Answer], block: Block) -> None:
        functools.update_wrapper(self, function)
        self._function, self._block = function, block

    def __call__(self, *given: _Given.args, **named: _Given.kwargs) -> _Answer:
        """Call the function, and keep how long it took."""
        with self._block:
            return self._function(*given, **named)

    def __get__(self, owner: object, kind: type | None = None) -> Any:
        method: Callable[..., Any] = self
        return self if owner is None else functools.partial(method, owner)

    @property
    def sample(self) -> Sample:
        """The times of all calls so far."""
        return self._block.sample

    def __repr__(self) -> str:
        return repr(self._block)


def block(
    label: str = "block", *, warmup: int = 0, device: str | devices.Stopwatch = "cpu"
) -> Block:
    """Return a context manager that times what is in it, every time that it is passed. Section 3.1.

    On "cuda" it waits for the device at both ends. The first `warmup` times do not count.

    >>> adding = block("adding")
    >>> for size in (10_000, 20_000, 30_000):
    ...     with adding:
    ...         _ = sum(range(size))
    >>> len(adding.sample.seconds)
    3
    """
    return Block(label, warmup=warmup, device=device)


def each(
    function: Callable[..., Any] | None = None,
    *,
    label: str = "",
    warmup: int = 0,
    device: str | devices.Stopwatch = "cpu",
) -> Any:
    """Decorate a function so that every call is timed; its `sample` has the times. Section 3.1.

    >>> @each
    ... def add(size):
    ...     return sum(range(size))
    >>> add(10_000), add(20_000), len(add.sample.seconds)
    (49995000, 199990000, 2)
    """
    if function is None:
        return functools.partial(each, label=label, warmup=warmup, device=device)
    if not callable(function):
        raise Refusal(
            f"function must be one to decorate, got {shown(function)}: write @each above it, "
            "and its settings by name"
        )
    rounds.works(function)
    return Each(function, Block(label or rounds.named(function), warmup=warmup, device=device))
