"""The curves a scaling table is compared with, as rates: the one list of them (Sections 3.5 and 3.9).

A rate is work per second; a time is the inverse of one. Every curve is written relative to the
smallest configuration that was measured, K0 workers, so that a table need not start at one worker:
with k = K / K0 each curve is 1 at k = 1, and a share such as `serial` is a share of the time on K0.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

_INFINITE = np.inf
# Shares from too small to see to all of the time; curves are refined from the best of these.
_SHARES = (0.0, 1e-4, 1e-3, 0.01, 0.05, 0.2, 0.6)


@dataclass(frozen=True)
class Family:
    """One kind of curve: its rate at K workers is `scale * curve(K, K0, *parameters)`."""

    name: str
    formula: str  # the rate over that on K0 workers, k = K / K0
    curve: Callable[..., Any]
    parameters: tuple[str, ...] = ()  # beside the scale
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    grid: tuple[tuple[float, ...], ...] = ()  # where to start looking, per parameter
    of_sizes: bool = False  # its parameter is a size: one beyond the table would not have been seen
    growing: Callable[[float], Any] | None = None  # what its growth of 1 loses at k, if it has one
    extrapolates: bool = True  # False where it describes a table and no size beyond

    def bounds(self, workers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Lowest and highest parameters."""
        if self.of_sizes:
            each = np.ones(len(self.parameters))
            return each * min(workers), each * max(workers)
        return np.array(self.low, float), np.array(self.high, float)

    def starts(self, workers: np.ndarray) -> np.ndarray:
        """Every combination of the grid, one per row; of sizes, each and what lies between."""
        if self.of_sizes:
            sizes = np.unique(workers)
            return np.sort(np.concatenate([sizes, np.sqrt(sizes[1:] * sizes[:-1])]))[:, None]
        return np.stack(np.meshgrid(*self.grid), -1).reshape(-1, len(self.parameters))

    def fixing(self, index: int, value: float) -> Self:
        """The same family with one parameter held at a value."""

        def curve(workers, base, *rest):
            return self.curve(workers, base, *rest[:index], value, *rest[index:])

        parts: dict[str, Any] = {
            part: tuple(x for i, x in enumerate(getattr(self, part)) if i != index)
            for part in ("parameters", "low", "high", "grid")
        }
        return dataclasses.replace(self, curve=curve, growing=None, **parts)


def _linear(workers, base):
    return workers / base


def _hard_cap(workers, base, cap):
    return np.minimum(workers, cap) / np.minimum(base, cap)


def _power(workers, base, exponent):
    return (workers / base) ** exponent


def _amdahl(workers, base, serial):
    return 1 / (serial + (1 - serial) * base / workers)


def _logarithmic(workers, base, serial, growth):
    k = workers / base
    return 1 / (serial + (1 - serial) / k + growth * np.log(k))


def _communication(workers, base, serial, growth):
    k = workers / base
    return (1 + growth) / (serial + (1 - serial) / k + growth * k)


def _usl(workers, base, contention, coherency):
    k = workers / base
    return k / (1 + contention * (k - 1) + coherency * k * (k - 1))


def _gustafson(workers, base, serial):
    return serial + (1 - serial) * workers / base


def _empirical(workers, base, slope, growth):
    k = workers / base
    with np.errstate(divide="ignore"):
        return 1 / (1 + slope * (k - 1) + growth * np.log(k))


_SERIAL: dict[str, Any] = {"low": (0.0,), "high": (1.0,), "grid": (_SHARES,)}
_SERIAL_AND_GROWTH: dict[str, Any] = {
    "low": (0.0, 0.0),
    "high": (1.0, _INFINITE),
    "grid": (_SHARES, (0.0, 1e-6, 1e-4, 1e-3, 0.01, 0.1)),
}
_SIGNED = (-0.3, -0.03, -3e-3, -1e-4, 0.0, 1e-4, 3e-3, 0.03, 0.3)

FAMILIES = (
    Family("linear", "k", _linear),
    Family(
        "hard cap",
        "min(K, cap) / K0",
        _hard_cap,
        ("cap",),
        of_sizes=True,
    ),
    Family(
        "power",
        "k^b",
        _power,
        ("exponent",),
        (-2.0,),
        (2.0,),
        ((-0.5, 0.0, 0.3, 0.6, 0.9, 1.1),),
    ),
    Family(
        "amdahl",
        "1 / (s + (1-s)/k)",
        _amdahl,
        ("serial",),
        **_SERIAL,
    ),
    Family(
        "amdahl + log",
        "1 / (s + (1-s)/k + c ln k)",
        _logarithmic,
        ("serial", "growth"),
        **_SERIAL_AND_GROWTH,
        growing=np.log,
    ),
    # On K0 workers its share of communication is c / (1 + c). It is the USL with κ at most σ, told
    # in seconds: the two fit alike wherever queueing outweighs crosstalk.
    Family(
        "amdahl + linear",
        "(1 + c) / (s + (1-s)/k + c k)",
        _communication,
        ("serial", "growth"),
        **_SERIAL_AND_GROWTH,
        growing=lambda k: k - 1 / k,
    ),
    Family(
        "usl",
        "k / (1 + σ(k-1) + κ k(k-1))",
        _usl,
        ("contention", "coherency"),
        **_SERIAL_AND_GROWTH,
    ),
    Family(
        "gustafson",
        "s + (1-s) k",
        _gustafson,
        ("serial",),
        **_SERIAL,
    ),
    # Without a term that falls with k it describes the time of a growing job at best.
    Family(
        "empirical",
        "1 / (1 + b(k-1) + c ln k)",
        _empirical,
        ("slope", "growth"),
        (-_INFINITE, -_INFINITE),
        (_INFINITE, _INFINITE),
        (_SIGNED, _SIGNED),
        extrapolates=False,
    ),
)
BY_NAME = {family.name: family for family in FAMILIES}
EXTRAPOLATING = {family.name: family for family in FAMILIES if family.extrapolates}
