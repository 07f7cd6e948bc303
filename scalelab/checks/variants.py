"""The numbers a student works with: one of twenty variants of a task, chosen by the student's key.

All twenty are public and all are solved in the tests, so none is harder than another; which one
is whose follows from the course's secret. Without a key there is the public variant, number 0.
Standard library and `scalelab.units` only.
"""

import hashlib
import hmac
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from scalelab.checks.keys import owner
from scalelab.checks.words import show
from scalelab.refusal import Refusal
from scalelab.units import text

VARIANTS = 20
_TRIES = 10_000
Range = list[Any] | range | tuple[float, float]  # what to draw a number from


@dataclass(frozen=True)
class Numbers:
    """The numbers of one variant, as attributes; `print` shows them and says whose they are.

    >>> print(Numbers("1.2", 0, "", {"workers": 64, "serial": 0.05}))
    workers = 64
    serial = 0.05
    (the public numbers: no key was found)
    """

    name: str
    variant: int  # 0 is the public one
    student: str
    values: dict[str, Any]
    public: "Numbers | None" = field(default=None, repr=False)
    units: dict[str, str] = field(default_factory=dict, repr=False)

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["values"][name]
        except KeyError:
            raise AttributeError(
                f"variant {self.__dict__.get('name')!r} has no number {name!r}: "
                f"it has {', '.join(self.__dict__.get('values', ()))}"
            ) from None

    def __str__(self):
        whose = f"variant {self.variant} of {VARIANTS}, for {self.student}"
        if not self.student:
            whose = "the public numbers: no key was found"
        lines = [f"{name} = {self._shown(name)}" for name in self.values]
        return "\n".join([*lines, f"({whose})"])

    def _shown(self, name):
        value, unit = self.values[name], self.units.get(name)
        if not unit:
            return show(value)
        written = text(value, unit)
        plain = written == f"{show(value)} {unit}"
        return written if plain else f"{show(value)}, which is {written}"

    def stale(self, expect: Callable[["Numbers"], object]) -> tuple[object, str]:
        """Return a pair for `known`: the answer of who worked with the public numbers instead."""
        public = self.public or self
        return expect(public), "right for the public numbers: put your key beside the notebook"


def variant(
    name: str,
    *,
    keep: Callable[[Numbers], bool] | None = None,
    seed: int = 0,
    units: dict[str, str] | None = None,
    **ranges: Range,
) -> Numbers:
    """Draw the numbers of a task, such as "02_hardware/1.2", for the student whose key is found.

    A range is a list, of which one is taken; a `range`; or a pair (low, high) of floats, drawn
    to three figures. `keep` refuses combinations that would be too easy or too hard; where it
    would give the solution away, take another `seed` until the tested bounds hold. `units` says
    in which units to show what: {"memory": "B"}.

    >>> mine = variant("docs/1.1", workers=[8, 16, 32], serial=(0.01, 0.2))
    >>> mine.workers in (8, 16, 32), 0.01 <= mine.serial <= 0.2, mine.variant
    (True, True, 0)
    """
    if not ranges:
        raise Refusal(f"variant {name!r} must draw at least one number, got none: name a range")
    if taken := set(ranges) & {*Numbers.__dataclass_fields__, "stale"}:
        raise Refusal(f"variant {name!r} must use other names than {min(taken)!r}: it is taken")
    student, _, key = owner().partition(" ")
    public = _draw(name, seed, Numbers(name, 0, "", {}, units=units or {}), keep, ranges)
    if not key:
        return public
    own = Numbers(name, chosen(name, key), student, {}, public, units or {})
    return _draw(name, seed, own, keep, ranges)


def chosen(name: str, key: str) -> int:
    """Return which variant of a task, 1 to 20, a key stands for.

    >>> {chosen(f"task {n}", "0" * 32) for n in range(400)} == set(range(1, 21))
    True
    """
    digest = hmac.new(key.encode(), name.encode(), hashlib.sha256).digest()
    return int.from_bytes(digest[:8], "big") % VARIANTS + 1


def _draw(name, seed, empty, keep, ranges):
    # `random.Random` seeded with text draws alike on every platform and version since 3.2.
    rng = random.Random(f"{name} {seed} {empty.variant}")
    for _ in range(_TRIES):
        values = {key: _one(rng, key, given) for key, given in ranges.items()}
        numbers = replace(empty, values=values)
        if keep is None or keep(numbers):
            return numbers
    raise Refusal(
        f"variant {name!r} must leave some numbers to draw, got none in {_TRIES} tries: "
        "loosen `keep`, or widen the ranges"
    )


def _one(rng, key, given):
    if isinstance(given, tuple):
        low, high = given
        return float(f"{rng.uniform(low, high):.3g}")
    if isinstance(given, (list, range)) and len(given):
        return given[rng.randrange(len(given))]
    raise Refusal(
        f"{key} must be a list, a range or a pair (low, high), got {given!r}: it is what to draw from"
    )
