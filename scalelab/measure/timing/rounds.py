"""What every timer here does: warm up, read until enough is known or the budget is spent, keep all.

`timing` reads one function, `cuda` one by several clocks.
"""

import functools
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import TypeVar

from scalelab.arguments import real, shown
from scalelab.measure.host.machine import this_machine
from scalelab.measure.timing import stats
from scalelab.measure.timing.devices import Clock, Stopwatch
from scalelab.records import Sample
from scalelab.refusal import Refusal
from scalelab.units import counted, text

# As many readings as the budget may hold: all are kept.
_MOST = 10_000
# A call of an empty Python function takes longer than a nanosecond: beyond this the clock stands.
_MOST_INNER = 2**20
# To stop at the first narrow interval favours lucky runs, and costs 95% intervals up to 3 points. A
# minimum, rare looks and a second opinion leave 94 to 97%: see tests/bench/timing.py.
_FEWEST, _LOOK = 15, 1.5

_Reading = TypeVar("_Reading")


def checked(function: Callable[[], object], budget: float, precision: float) -> tuple[float, float]:
    """Return budget and precision as floats, or refuse what cannot be timed before anything runs."""
    if not callable(function):
        raise Refusal(
            f"function must be callable without arguments, got {shown(function)}: "
            "wrap the call, as in `lambda: step(batch)`"
        )
    works(function)
    return (
        real("budget", budget, "it is in seconds", 0, above=True),
        real("precision", precision, "it is a share of the median", 0, above=True),
    )


def works(function: Callable[..., object]) -> None:
    """Refuse a function whose call returns before its work has begun."""
    kinds: dict[str, Callable[[object], bool]] = {
        "an async function": inspect.iscoroutinefunction,
        "an async generator": inspect.isasyncgenfunction,
        "a generator": inspect.isgeneratorfunction,
    }
    for kind, meant in kinds.items():
        if meant(function):
            raise Refusal(
                f"function must work when it is called, got {kind}, {named(function)}: its call "
                "returns before the work begins; time what runs it to its end"
            )


def named(function: Callable[..., object]) -> str:
    """Return what to call a function that was given no label.

    >>> named(math.sqrt), named(functools.partial(math.pow, 2, 3)), named(lambda: 1)
    ('sqrt', 'pow', 'lambda')
    """
    while isinstance(function, functools.partial):
        function = function.func
    name = getattr(function, "__qualname__", None)
    name = name if isinstance(name, str) else type(function).__name__
    return name.rpartition("<locals>.")[2].replace("<lambda>", "lambda")


def reader(function: Callable[[], object], device: Stopwatch) -> Callable[[int], float]:
    """Return reading(inner): the seconds of one call, from that many in a row."""

    def reading(inner: int) -> float:
        def run() -> None:
            for _ in range(inner):
                function()

        return device.elapsed(run) / inner

    return reading


def settle(reading: Callable[[int], float], shortest: float, budget: float) -> int:
    """Warm up until the time is steady, for a fifth of the budget; return the calls of one reading.

    Steady: twice in a row no better than the best before it by 5%. The first call may be unlike
    all others, so it alone decides nothing. A reading takes `shortest` seconds at least; where that
    is 0, each is one call.
    """
    shortest = shortest and max(shortest, budget / _MOST)
    inner, best, steady, spent = 1, math.inf, 0, 0.0
    while True:
        seconds = reading(inner)
        spent += seconds * inner
        if seconds * inner < shortest:
            inner, best, steady = inner * 2, math.inf, 0
            if inner > _MOST_INNER:
                raise Refusal(
                    f"clock must advance while the function runs, got under "
                    f"{text(shortest, 's')} for {_MOST_INNER} calls: give one that counts "
                    "seconds, such as time.perf_counter, and work that it can see"
                )
            continue
        steady = steady + 1 if seconds > 0.95 * best else 0
        if steady == 2 or (spent >= budget / 5 and best < math.inf):
            return inner
        best = min(best, seconds)


def repeat(
    reading: Callable[[], _Reading],
    known: Callable[[list[_Reading]], str],
    budget: float,
    clock: Clock,
    *,
    least: int = 1,
    readings: list[_Reading] | None = None,
) -> tuple[list[_Reading], str]:
    """Return every reading, and why no more: known(readings) said so twice, or the budget is spent.

    The first look comes at 15 readings, each next one at half as many again; two looks in a row
    must agree. `least` are taken whatever they cost. Whoever gives an empty list of `readings` has
    them also when they are interrupted.
    """
    readings = [] if readings is None else readings
    look, before, start = _FEWEST, "", clock()
    while len(readings) < least or clock() - start < budget:
        readings.append(reading())
        if len(readings) >= look:
            reason = known(readings)
            if before and reason:
                return readings, reason
            before, look = reason, math.ceil(look * _LOOK)
    count = counted(len(readings), "repetition")
    return readings, f"budget: {text(budget, 's')} spent on {count}"


def sample(
    label: str,
    seconds: Sequence[float],
    inner: int,
    stopped: str,
    precision: float,
    given: Mapping[str, float | str | bool] | None = None,
) -> Sample:
    """Return the Sample of what was timed here and now."""
    return Sample(
        label=label,
        seconds=tuple(seconds),
        inner=inner,
        machine=this_machine(),
        date=date.today().isoformat(),
        stopped=stopped,
        advice=stats.advice(seconds, precision),
        given=dict(given or {}),
    )
