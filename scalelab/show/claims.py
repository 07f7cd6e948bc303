"""A claim before a measurement, and whether it held: so that no sentence beside it has to know."""

from __future__ import annotations

import math
import re
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
    """What should happen, which quantity shows it, within what, and what to look for where it does not."""

    what: str
    of: str
    least: float
    most: float
    unit: str
    otherwise: str

    @property
    def expected(self) -> str:
        """The bounds as words, with the unit of two once."""
        least, most = (units.text(bound, self.unit) for bound in (self.least, self.most))
        if math.isinf(self.least):
            return _set(f"at most {most}")
        if math.isinf(self.most):
            return _set(f"at least {least}")
        return _set(re.sub(r"^(\S+?)(%| .+) to (\S+?)\2$", r"\1 to \3\2", f"{least} to {most}"))

    def __call__(self, measured: float) -> Tried:
        """Hold what was measured against the claim."""
        return Tried(self, float(measured))

    def __repr__(self) -> str:
        return f"Claim: {self.what}. {self._bounds()}"

    def _repr_html_(self) -> str:
        said = Markup("<b>Claim.</b> {}.<br>{}")
        return _block("", said.format(self.what, self._bounds()))

    def _bounds(self):
        return f"Expected: {self.expected}{f' for {self.of}' if self.of else ''}."


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
        here = "no number" if no_number else _set(units.text(self.measured, self.claim.unit))
        return {
            "what": f"{self.claim.what}: {self.claim.of}" if self.claim.of else self.claim.what,
            "expected": self.claim.expected,
            "here": here,
            "held": self.held,
        }

    def __repr__(self) -> str:
        return f"{self._said()}. {self._numbers()}"

    def _said(self):
        return "held here" if self.held else "did not hold here"

    def _numbers(self):
        of = f"{self.claim.of} = " if self.claim.of else ""
        numbers = f"Measured: {of}{self.plain['here']}. Expected: {self.claim.expected}."
        return numbers if self.held else f"{numbers} {self.claim.otherwise}"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        mark, kind = ("✓", "sl-held") if self.held else ("✗", "sl-not-held")
        said = Markup("<b>{} {}.</b> {}.<br>{}")
        body = said.format(mark, self._said(), self.claim.what, self._numbers())
        return {
            "text/html": _block(kind, body),
            "text/plain": repr(self),
            MIME: self.plain,
        }


def claim(
    what: str,
    *,
    of: str = "",
    least: float = -math.inf,
    most: float = math.inf,
    unit: str = "",
    otherwise: str,
) -> Claim:
    """State what a measurement should give; call the claim with what it gave.

    `what` is a sentence, and `of` the quantity that is measured, where the sentence does not name it.

    >>> faster = claim("Two workers beat one", of="S(2)", least=1, otherwise="Are two cores free?")
    >>> faster
    Claim: Two workers beat one. Expected: at least 1 for S(2).
    >>> faster(1.46)
    held here. Measured: S(2) = 1.46. Expected: at least 1.
    >>> faster(0.93)
    did not hold here. Measured: S(2) = 0.93. Expected: at least 1. Are two cores free?
    """
    if not least <= most or (least, most) == (-math.inf, math.inf):
        raise Refusal(
            f"a claim must have a least or a most, in order, got {shown(least)} and {shown(most)}: "
            "say what would refute it"
        )
    return Claim(what, of, least, most, unit, otherwise)


def claimed(notebook: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what an executed notebook claimed, in order, as its verdicts list it."""
    return [
        output["data"][MIME]
        for cell in notebook["cells"]
        for output in cell.get("outputs", ())
        if MIME in output.get("data", {})
    ]


def _set(text: str) -> str:
    """Return numbers as the prose of the book writes them.

    >>> _set("at least 3 ×"), _set("-2 to 25%")
    ('at least 3×', '\N{MINUS SIGN}2 to 25%')
    """
    return re.sub(r" (?=[%×]$)", "", re.sub(r"(?<!\w)-(?=\d)", "\N{MINUS SIGN}", text))


def _block(kind, body):
    block = Markup('<style>{}</style><div class="sl-block sl-claim {}"><p>{}</p></div>')
    return block.format(asset("figure.css"), kind, body)
