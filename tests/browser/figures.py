"""A figure that moves in a page without a kernel, beside the same figure made anew by Python."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import urlencode
from xml.etree import ElementTree

import numpy as np

from scalelab.show import draw
from scalelab.show.chart import Chart
from scalelab.show.sliders import Replay
from tests.browser.conftest import Visit
from tests.notebooks import asked

SVG = "{http://www.w3.org/2000/svg}"

STATE = """(figure) => {
  const texts = (selector) => [...figure.querySelectorAll(selector)].map((e) => e.textContent);
  const inputs = [...figure.querySelectorAll(".sl-control input")];
  return {
    values: inputs.map((e) => Number(e.value)),
    spoken: inputs.map((e) => e.getAttribute("aria-valuetext")),
    outputs: texts(".sl-control output"),
    title: figure.querySelector(".sl-title").textContent,
    alt: figure.querySelector("svg[role=img]").getAttribute("aria-label"),
    readouts: texts(".sl-readouts dd"),
    rows: [...figure.querySelectorAll(".sl-twin tbody tr")]
      .map((row) => [...row.cells].map((e) => e.textContent)),
    words: texts("svg :is([id*=-inside-], [id*=-word-])").map((said) => said.trim()).sort(),
    drawn: [...figure.querySelectorAll("svg [id*='-series-']")].map((group) => [
      group.id.replace(/.*(series-)/, "$1"),
      group.querySelector(":scope > path")?.getAttribute("d") ?? "",
      [...group.querySelectorAll("use")].filter((e) => e.style.display !== "none")
        .map((e) => [Number(e.getAttribute("x")), Number(e.getAttribute("y"))]),
    ]),
  };
}"""

GO = """(hash) => new Promise((done) => {
  addEventListener("hashchange", () => done(), { once: true });
  location.hash = hash;
})"""


def made_anew(slug: str, number: int) -> Replay:
    """The figure that a chapter's own cell makes here."""
    return Replay(*asked(slug, number))


@dataclass
class Live:
    """A figure in a page, and the same figure made anew by Python."""

    visit: Visit
    figure: object
    replay: Replay
    first: dict  # its state when the page had opened
    drawn: dict = field(default_factory=dict)

    @classmethod
    def on(cls, visit: Visit, number: int, replay: Replay) -> Live:
        """Return the figure of that number among those of the open page that move."""
        figure = visit.page.locator(".sl-figure:has(.sl-controls)").nth(number)
        return cls(visit, figure, replay, figure.evaluate(STATE))

    @property
    def start(self) -> list[int]:
        return [int(at) for at in np.unravel_index(self.replay.start, self.replay.shape)]

    @property
    def end(self) -> list[int]:
        return [count - 1 for count in self.replay.shape]

    def view(self, stops: list[int]) -> str:
        """Return what stands behind an address that asks for this figure with its sliders there."""
        sliders = zip(self.replay.sliders.items(), stops, strict=True)
        return (
            f"{self.replay.name}?{urlencode({name: one.texts[at] for (name, one), at in sliders})}"
        )

    def reset(self) -> None:
        """Press the button that brings back what was there at first."""
        self.figure.get_by_role("button", name="Reset").click()

    def go(self, address: str) -> None:
        """Change what stands behind the page's address, and wait until its figures know."""
        self.visit.page.evaluate(GO, address)

    def buttons(self) -> list:
        """Return what stands below the sliders, in order."""
        return self.figure.locator(".sl-link, .sl-reset").all()

    def sliders(self) -> list:
        """The sliders as an assistive technology finds them: by role and name."""
        return [
            self.figure.get_by_role("slider", name=one.label, exact=True)
            for one in self.replay.sliders.values()
        ]

    def agrees(self, state: dict | None = None) -> dict:
        """Hold all that the page shows, or showed, against Python's chart of that choice; return it."""
        state = state or self.figure.evaluate(STATE)
        frame = int(np.ravel_multi_index(state["values"], self.replay.shape))
        chart = self.replay.frames[frame]
        if frame not in self.drawn:
            self.drawn[frame] = pictured(chart)
        sliders = self.replay.sliders.values()
        texts = [one.texts[at] for one, at in zip(sliders, state["values"], strict=True)]
        assert state["outputs"] == state["spoken"] == texts
        assert state["title"] == chart.title
        assert state["alt"] == chart.describe()
        assert state["readouts"] == list(chart.readouts.values())
        assert state["rows"] == list(chart.rows())
        assert state["words"] == sorted(word for series in chart.series for word in series.words)
        for name, distance in distances(state["drawn"], *self.drawn[frame]).items():
            assert distance < 0.5, f"{name} is {distance:g} px from where Python draws it"
        return state


def pictured(chart: Chart) -> tuple[dict, list]:
    """Where each series stands in Python's own picture of the chart, and the corners of its axes."""
    text, scales = draw.svg(chart)
    corners = []
    for scale, axis in ((scales["x"], chart.x), (scales["y"], chart.y)):
        start, slope, log = scale
        corners.append(
            sorted(start + slope * (np.log10(v) if log else v) for v in (axis.low, axis.high))
        )
    python = {
        group.get("id").split("-", 1)[1]: (
            getattr(group.find(f"{SVG}path"), "attrib", {}).get("d", ""),
            [
                [float(use.get("x")), float(use.get("y"))]
                for use in group.iter(f"{SVG}use")
                if "display: none" not in use.get("style", "")
            ],
        )
        for group in ElementTree.fromstring(text).iter(f"{SVG}g")
        if "-series-" in group.get("id", "")
    }
    return python, corners


def distances(drawn: list, python: dict, corners: list) -> dict[str, float]:
    """How far each series in the page is from the one in Python's picture."""
    assert {name for name, *_ in drawn} == set(python)
    found = {}
    for name, path, marks in drawn:
        there_path, there_marks = python[name]
        one, two = segments(path, marks), segments(there_path, there_marks)
        found[name] = max(farthest(one, two, corners), farthest(two, one, corners))
    return found


def segments(path: str, marks: list) -> np.ndarray:
    """The straight pieces (from, to) of a path; a lone point, and a mark, is a piece of no length."""
    pieces = [(mark, mark) for mark in marks]
    for stroke in path.split("M")[1:]:
        points = np.array(re.findall(r"-?\d+\.?\d*", stroke), float).reshape(-1, 2)
        if stroke.strip().lower().endswith("z"):
            points = np.vstack([points, points[:1]])
        pieces += list(zip(points, points[1:] if len(points) > 1 else points, strict=False))
    return np.array(pieces, float).reshape(-1, 2, 2)


def farthest(one: np.ndarray, two: np.ndarray, corners: list) -> float:
    """The largest distance of ends and middles of `one` inside the axes from the pieces of `two`."""
    (left, right), (top, bottom) = corners
    ends = np.concatenate([one[:, 0], one[:, 1], one.mean(axis=1)])
    x, y = ends.T
    ends = ends[(x >= left) & (x <= right) & (y >= top) & (y <= bottom)]
    if not len(ends):
        return 0.0
    if not len(two):
        return np.inf
    start, step = two[:, 0], two[:, 1] - two[:, 0]
    length = (step**2).sum(-1)
    along = ((ends[:, None] - start) * step).sum(-1) / np.where(length > 0, length, 1)
    nearest = start + np.clip(along, 0, 1)[..., None] * step
    return float(np.sqrt(((ends[:, None] - nearest) ** 2).sum(-1)).min(-1).max())
