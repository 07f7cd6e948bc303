"""What can be wrong with a value: of the wrong kind, out of range, or not the one expected.

Each function here returns the `fault` of one kind of answer, which maps a plain value and what
was expected (None: only the kind counts) to a Difference or None. Standard library only.
"""

import math
from collections.abc import Sequence

from scalelab.checks.reading import number
from scalelab.checks.words import Difference, Fault, difference, show


def number_fault(between: Sequence[float] | None, within: float | None) -> Fault:
    """Return the fault of a number: against a value, else in its kind and its range."""

    def fault(value, want):
        value = number(value, want)
        if want is not None and within is None:
            return difference(value, want)
        other = difference(value, 0.0)  # any number will do: only its kind is of interest
        if other and other.stage != "value":
            return other
        if (
            within is not None
            and want is not None
            and not math.isclose(value, want, rel_tol=within)
        ):
            return Difference("value", "not the right number")
        if want is None and between and not between[0] <= value <= between[1]:
            return Difference("value", f"not within {show(between[0])} and {show(between[1])}")
        return None

    return fault


def choice_fault(options: Sequence[str], reasons: Sequence[str] | None) -> Fault:
    """Return the fault of a word from a list, or of a pair of a word and a reason."""

    def one_of(value, allowed):
        if any(not difference(value, option) for option in allowed):
            return None
        return Difference("type", f"expected one of {', '.join(repr(o) for o in allowed)}")

    def fault(value, want):
        if reasons is None:
            return one_of(value, options) or (difference(value, want) if want is not None else None)
        value = [*value.values()] if isinstance(value, dict) else value
        value = value.rsplit(maxsplit=1) if isinstance(value, str) else value  # "memory, b"
        if not isinstance(value, list) or len(value) != 2:
            return Difference("type", "expected a pair: your choice and your reason")
        other = one_of(value[0], options) or one_of(value[1], reasons)
        if other or want is None or not (wrong := difference(value, list(want))):
            return other
        if difference(value[0], want[0]):
            return Difference("value", "not the right choice")
        return Difference(wrong.stage, "the choice is right, and another reason supports it")

    return fault


def text_fault(value: object, want: object) -> Difference | None:
    """Return the fault of a short text."""
    found = difference(value, "" if want is None else want)
    return found if want is not None or (found and found.stage == "type") else None


def figure_fault(
    panel: int, line: int | str, lines: int, scales: Sequence[str] | None, labelled: bool
) -> Fault:
    """Return the fault of a figure, as `drawn` gives it; what is expected is one line's [x, y]."""

    def fault(value, want):
        panels = value.get("figure") if isinstance(value, dict) else None
        if not isinstance(panels, list):
            return Difference.of("type", "{}, where a figure was expected", value)
        try:
            return _panel_fault(panels, want)
        except (TypeError, LookupError, AttributeError):
            return Difference("type", "a figure that cannot be read")

    def _panel_fault(panels, want):
        if len(panels) <= panel:
            return Difference("shape", f"{len(panels)} panels, where {panel + 1} were expected")
        axes = panels[panel]
        curves = axes["lines"] + axes["points"]
        if len(curves) < lines:
            return Difference(
                "shape", f"{len(curves)} lines are drawn, where {lines} were expected"
            )
        for axis in ("x", "y") if labelled else ():
            if not axes[f"{axis}label"].strip():
                return Difference("value", f"its {axis}-axis has no label")
        for axis, scale in zip("xy", scales or (), strict=False):
            if axes[f"{axis}scale"] != scale:
                return Difference("value", f"its {axis}-axis is not {scale}")
        return None if want is None else _line_fault(curves, want)

    def _line_fault(curves, want):
        named = [curve for curve in curves if curve["label"] == line]
        if isinstance(line, str) and not named:
            return Difference("shape", f"no line is labelled {line!r}")
        if not isinstance(line, str):
            named = curves[line : line + 1]
        for axis, numbers in zip("xy", want, strict=True):
            if wrong := difference(named[0][axis], list(numbers)):
                begin = f"the {axis} of its line:"
                return Difference(
                    wrong.stage,
                    f"{begin} {wrong.text}",
                    words=wrong.words and f"{begin} {wrong.words}",
                )
        return None

    return fault


def list_fault(length: int | None) -> Fault:
    """Return the fault of a list: against another, else in its kind and its length."""

    def fault(value, want):
        want = [...] * length if want is None and length else want
        if want is not None:
            return difference(value, list(want))
        return None if isinstance(value, list) else difference(value, [])

    return fault
