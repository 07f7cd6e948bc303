"""What a drawing says, before anything is drawn: frames of shapes, each with a caption in words.

A drawing is plain data, as a chart is. A shape's key names the thing that it stands for: the same key in
two frames is the same thing, moved or recoloured. `stepper` sets it into HTML and plays it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from scalelab.records import Stamp
from scalelab.refusal import Refusal

KINDS = ("line", "arrow", "box", "block", "circle", "bar", "text")
BELOW = ("line", "arrow")  # the others
ALIGNED = ("start", "middle", "end")


@dataclass(frozen=True)
class Shape:
    """One thing in one frame: a box, circle, bar or text around (x, y), or an arrow that begins there.

    An arrow leads `width` to the right and `height` down, and so does a line, which has no tip. A bar is a
    column of cells, the first at its bottom, and those that are true are filled. A block is filled whole,
    and it alone may grow and shrink; its text is written where it has room. A text starts, ends or has its
    middle at x. What has a `start` came from there in this step.
    """

    key: str
    kind: str
    x: float
    y: float
    width: float = 0.0
    height: float = 0.0
    tone: int = 0
    text: str = ""
    weight: float = 1.0  # of an arrow's line
    cells: tuple[bool, ...] = ()
    start: tuple[float, float] | None = None
    align: str = "middle"

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise Refusal(
                f"kind must be one of {', '.join(KINDS)}, got {self.kind!r}: it says what is drawn"
            )
        if self.align not in ALIGNED:
            raise Refusal(
                f"align must be one of {', '.join(ALIGNED)}, got {self.align!r}: it places a text"
            )

    @property
    def lasting(self) -> tuple[str, float, float, int, str]:
        """What may not change from frame to frame."""
        size = (0.0, 0.0) if self.kind == "block" else (self.width, self.height)
        return self.kind, *size, len(self.cells), self.align


@dataclass(frozen=True)
class Frame:
    """One step: what happens in it, in words, what there is then, and what else is known of it."""

    caption: str
    shapes: tuple[Shape, ...]
    facts: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "shapes", tuple(self.shapes))
        keys = [shape.key for shape in self.shapes]
        if twice := sorted({key for key in keys if keys.count(key) > 1}):
            raise Refusal(
                f"keys must differ within a frame, got {twice[0]!r} twice: a key names one thing"
            )


@dataclass(frozen=True)
class Drawing:
    """What happens, frame after frame, on paper of one size.

    `about` says what the shapes stand for, `tones` what their colours mean, and `chosen` which frames
    stand for all of them where nothing moves, as on paper.
    """

    name: str
    title: str
    about: str
    width: float
    height: float
    frames: tuple[Frame, ...]
    chosen: tuple[int, ...] = (0,)
    tones: Mapping[str, int] = field(default_factory=dict)
    stamp: Stamp | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "frames", tuple(self.frames))
        if not self.frames:
            raise Refusal(f"drawing {self.title!r} must hold at least one frame, got none")
        if any(not 0 <= at < len(self.frames) for at in self.chosen):
            raise Refusal(
                f"chosen of {self.title!r} must be among its {len(self.frames)} frames, counted from "
                f"zero, got {self.chosen}: choose others"
            )
        if len({tuple(frame.facts) for frame in self.frames}) > 1:
            raise Refusal(
                f"facts of {self.title!r} must have the same names in every frame: change their texts"
            )
        lasting(self.frames)

    @property
    def opening(self) -> int:
        """Return the step to be seen before anything plays: the first chosen one, if it is not the answer."""
        return self.chosen[0] if self.chosen[0] < len(self.frames) - 1 else len(self.frames) // 2

    def describe(self, step: int) -> str:
        """Return the alt text of one frame: what is drawn, and what happens in this step."""
        return f"{self.title}. {self.about} {self.frames[step].caption}"

    def columns(self) -> list[str]:
        """Return the headings of the table twin."""
        return ["step", "what happens", *self.frames[0].facts]

    def rows(self) -> Iterator[list[str]]:
        """Yield the rows of the table twin, one for each step."""
        for step, frame in enumerate(self.frames):
            yield [f"{self.name} {step}".strip(), frame.caption, *frame.facts.values()]


def lasting(frames: tuple[Frame, ...]) -> dict[str, Shape]:
    """Return the first shape of each key, those below first; refuse a key that changes kind or size."""
    found: dict[str, Shape] = {}
    for frame in frames:
        for shape in frame.shapes:
            first = found.setdefault(shape.key, shape)
            if first.lasting != shape.lasting:
                raise Refusal(
                    f"{shape.key!r} must keep its kind and size in all frames, got {first.lasting} and "
                    f"{shape.lasting}: another thing has another key"
                )
    return dict(sorted(found.items(), key=lambda item: item[1].kind not in BELOW))
