"""A claim before a measurement, and whether it held: so that no sentence beside it has to know."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from scalelab import units
from scalelab.arguments import shown
from scalelab.refusal import Refusal
from scalelab.show.template import asset

MIME = "application/vnd.scaling-claim+json"  # by which the status page finds what was claimed


@dataclass(frozen=True)
class Claim:
    """What should happen, within what, and what to look for where it does not."""

    what: str
    least: float
    most: float
    unit: str
    otherwise: str

    @property
    def expected(self) -> str:
        """The bounds as words."""
        least, most = (units.text(bound, self.unit) for bound in (self.least, self.most))
        if math.isinf(self.least):
            return f"at most {most}"
        return f"at least {least}" if math.isinf(self.most) else f"{least} to {most}"

    def __call__(self, measured: float) -> Tried:
        """Hold what was measured against the claim."""
        return Tried(self, float(measured))

    def __repr__(self) -> str:
        return f"Claim: {self.what}. Expected: {self.expected}."

    def _repr_html_(self) -> str:
        said = Markup("<b>Claim.</b> {}. Expected: {}.")
        return _block("", said.format(self.what, self.expected))


@dataclass(frozen=True)
class Tried:
    """A claim and what was measured."""

    claim: Claim
    measured: float

    @property
    def held(self) -> bool:
        """Whether it held here; what is no number holds nothing."""
        return self.claim.least <= self.measured <= self.claim.most

    @property
    def plain(self) -> dict[str, Any]:
        """What the status page lists."""
        no_number = math.isnan(self.measured)
        here = "no number" if no_number else units.text(self.measured, self.claim.unit)
        return {
            "what": self.claim.what,
            "expected": self.claim.expected,
            "here": here,
            "held": self.held,
        }

    def __repr__(self) -> str:
        return f"{self._said()}: {self._numbers()}"

    def _said(self):
        return "held here" if self.held else "did not hold here"

    def _numbers(self):
        numbers = f"{self.plain['here']}, expected {self.claim.expected}."
        return numbers if self.held else f"{numbers} {self.claim.otherwise}"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        mark, kind = ("✓", "sl-held") if self.held else ("✗", "sl-not-held")
        said = Markup("<b>{} {}.</b> {}: {}")
        body = said.format(mark, self._said(), self.claim.what, self._numbers())
        return {
            "text/html": _block(kind, body),
            "text/plain": repr(self),
            MIME: self.plain,
        }


def claim(
    what: str,
    *,
    least: float = -math.inf,
    most: float = math.inf,
    unit: str = "",
    otherwise: str,
) -> Claim:
    """State what a measurement should give; call the claim with what it gave.

    >>> faster = claim("Two workers are faster than one", least=1.0, otherwise="Are two cores free?")
    >>> faster
    Claim: Two workers are faster than one. Expected: at least 1.
    >>> faster(1.46)
    held here: 1.46, expected at least 1.
    >>> faster(0.93)
    did not hold here: 0.93, expected at least 1. Are two cores free?
    """
    if not least <= most or (least, most) == (-math.inf, math.inf):
        raise Refusal(
            f"a claim must have a least or a most, in order, got {shown(least)} and {shown(most)}: "
            "say what would refute it"
        )
    return Claim(what, least, most, unit, otherwise)


def claimed(notebook: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what an executed notebook claimed, in order, as its verdicts list it."""
    return [
        output["data"][MIME]
        for cell in notebook["cells"]
        for output in cell.get("outputs", ())
        if MIME in output.get("data", {})
    ]


def _block(kind, body):
    block = Markup('<style>{}</style><div class="sl-block sl-claim {}"><p>{}</p></div>')
    return block.format(asset("figure.css"), kind, body)
