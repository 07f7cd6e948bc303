"""Drawings to HTML: a frame that says much, how each differs from the one before, and buttons that play them.

The HTML stands on its own, as a chart's does: no request leaves it, and without its script, and on paper,
chosen frames stand beside each other instead: of several drawings, the last chosen one of each. What is
drawn is as wide as the page lets it be: places across are shares of the width, places down are lengths, and
so is the size of letters.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

from markupsafe import Markup

from scalelab.refusal import Refusal
from scalelab.show import page
from scalelab.show.drawings import still
from scalelab.show.drawings.drawing import Drawing, Frame, Shape, lasting
from scalelab.show.template import rendered

State = list[Any]  # x, y, tone, what is written or filled, and where it came from


class Stepper:
    """A drawing that notebooks and pages know how to play; of several, the reader chooses one.

    `choose` is what the choice is called. The drawings share their paper, tones and names of facts, and
    what has the same key in two of them is the same thing.
    """

    def __init__(self, *drawings: Drawing, choose: str = "drawing") -> None:
        self.drawings, self.choose = drawings, choose
        shared = {(one.width, one.height, tuple(one.frames[0].facts)) for one in drawings}
        if len(shared) != 1:
            raise Refusal(
                f"drawings must be at least one, and share size and names of facts, got "
                f"{len(shared)} different: show them apart"
            )
        self.things = lasting(tuple(frame for one in drawings for frame in one.frames))

    @property
    def name(self) -> str:
        """Return what the figure is called in an address: as its choice, or its only drawing."""
        return page.name(self.choose if len(self.drawings) > 1 else self.drawings[0].name)

    @property
    def stills(self) -> list[tuple[Drawing, int]]:
        """Return the frames that stand for all where nothing moves: of several drawings the last of each."""
        last = -1 if len(self.drawings) > 1 else 0
        return [(one, step) for one in self.drawings for step in one.chosen[last:]]

    @property
    def tones(self) -> dict[str, int]:
        """Return the tone of each meaning, of all drawings."""
        return {name: tone for one in self.drawings for name, tone in one.tones.items()}

    @property
    def keys(self) -> dict[int, str]:
        """Return how the legend shows each tone: as the blocks or circles that have it, or else as a bar."""
        frames = [frame for one in self.drawings for frame in one.frames]
        kinds = {(shape.tone, shape.kind) for frame in frames for shape in frame.shapes}
        return {
            tone: next(
                (
                    kind
                    for kind in ("block", "line", "arrow", "bar", "circle")
                    if (tone, kind) in kinds
                ),
                "bar",
            )
            for tone in self.tones.values()
        }

    def png(self) -> bytes:
        """Return the frames that stand for all as a PNG, for print and for viewers without HTML."""
        return still.png(self.stills, self.tones)

    def html(self) -> Markup:
        """Return the drawing, its controls, its table twin and the script that plays it."""
        first = self.drawings[0]
        return rendered(
            "show/drawings/stepper.html",
            drawings=self.drawings,
            choose=self.choose,
            first=first,
            name=self.name,
            shapes=self._shapes(first.frames[first.opening]),
            stills=[
                (one, step, self._shapes(one.frames[step], absent=False))
                for one, step in self.stills
            ],
            tones=self.tones,
            keys=self.keys,
            longest=self._longest(),
            data=self._data(),
            outline=still.outline,
            share=self._share,
            short=_short,
        )

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        said = [one.describe(0) for one in self.drawings]
        steps = [frame.caption for one in self.drawings for frame in one.frames[1:]]
        return {
            "text/html": self.html(),
            "image/png": base64.b64encode(self.png()).decode(),
            "text/plain": "\n".join([*said, *steps]),
        }

    def _share(self, across: float, unit: str = "%") -> str:
        """Return a length or a place across as a share of the width."""
        return f"{_short(100 * across / self.drawings[0].width)}{unit}"

    def _longest(self) -> dict[str, Any]:
        """Return the longest of all texts that take turns in one place."""
        frames = [frame for one in self.drawings for frame in one.frames]
        return {
            "title": max((one.title for one in self.drawings), key=len),
            "caption": max((frame.caption for frame in frames), key=len),
            "facts": {
                name: max((frame.facts[name] for frame in frames), key=len)
                for name in frames[0].facts
            },
        }

    def _shapes(self, frame: Frame, absent: bool = True) -> list[tuple[Shape, bool]]:
        """Return each thing as it is in a frame, or first will be, and whether it is there."""
        there = {shape.key: shape for shape in frame.shapes}
        return [
            (there.get(key, thing), key in there)
            for key, thing in self.things.items()
            if absent or key in there
        ]

    def _data(self) -> dict[str, Any]:
        """Return what the script needs: of each frame its words, and the states that differ."""
        numbers = {key: number for number, key in enumerate(self.things)}
        texts: dict[str, int] = {}
        return {
            "wide": self.drawings[0].width,
            "drawings": [
                {
                    "name": one.name,
                    "title": one.title,
                    "opening": one.opening,
                    "about": f"{one.title}. {one.about}",
                    "frames": [
                        [frame.caption, list(frame.facts.values()), changes]
                        for frame, changes in zip(
                            one.frames, _changes(one.frames, numbers, texts), strict=True
                        )
                    ],
                }
                for one in self.drawings
            ],
            "texts": list(texts),
        }


def _changes(
    frames: Iterable[Frame], numbers: dict[str, int], texts: dict[str, int]
) -> list[list[State]]:
    """Return, of each frame, [number, state] of what is new or differs, and [number] of what has gone."""
    before: dict[str, State] = {}
    found = []
    for frame in frames:
        now = {shape.key: _state(shape, texts) for shape in frame.shapes}
        differs = [
            [numbers[key], *state]
            for key, state in now.items()
            if state != before.get(key) or len(state) > 4  # it comes from somewhere once more
        ]
        found.append([*differs, *([numbers[key]] for key in before if key not in now)])
        before = now
    return found


def _state(shape: Shape, texts: dict[str, int]) -> State:
    said: float | list[float]
    if shape.kind in ("line", "arrow"):
        said = _short(shape.weight)
    else:
        word = still.outline(shape) if shape.kind == "bar" else shape.text
        said = texts.setdefault(word, len(texts))
        if shape.kind == "block":
            said = [said, _short(shape.width), _short(shape.height)]
    came = [_short(one) for one in shape.start] if shape.start else []
    return [_short(shape.x), _short(shape.y), shape.tone, said, *came]


def _short(number: float) -> float:
    """Return a number in as many digits as are seen: of many drawings, half of a page is numbers."""
    near = round(number, 1)
    return int(near) if near == int(near) else near
