"""Charts to pictures, with matplotlib: SVG for pages and notebooks, PNG for print."""

from __future__ import annotations

import functools
import hashlib
import io
import re
from dataclasses import replace
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from scalelab.show.chart import Axis, Chart, Points
from scalelab.show.series import starts
from scalelab.show.words import text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.typing import RcKeyType

# Tone 0 is for what is not data. The other tones are told apart by people who do not see red and green alike
# (Okabe and Ito, "Color Universal Design", 2008), darkened until each has 4.5:1 against white.
LIGHT = {
    **{"ink": "#20262e", "soft": "#5b6470", "grid": "#d9dee4", "panel": "#f5f7f9"},
    **{"accent": "#0b62a3", "paper": "#ffffff"},
    **{"tone-0": "#5b6470", "tone-1": "#0b62a3", "tone-2": "#b34a00"},
    **{"tone-3": "#00755a", "tone-4": "#9b3f86", "tone-5": "#7a5c00"},
}
DARK = {
    **{"ink": "#e3e7ec", "soft": "#a9b3bf", "grid": "#3a424c", "panel": "#1f262e"},
    **{"accent": "#7cbcf0", "paper": "#14181d"},
    **{"tone-0": "#a9b3bf", "tone-1": "#6db3ee", "tone-2": "#ff9a57"},
    **{"tone-3": "#3fc9a2", "tone-4": "#e39bd0", "tone-5": "#dcbf5a"},
}
TONES = [colour for name, colour in LIGHT.items() if name.startswith("tone-")]
INKS = {
    LIGHT[name]: name
    for name in LIGHT
    if name in ("ink", "grid", "paper") or name.startswith("tone-")
}
POINT = 1.0 / 72.0
MOST_INSIDE = 6  # series in a legend that still leaves a picture to see
SMALL = 12.0  # of what is written inside the picture or a bar, in points; figure.js has it too
BAR = 13  # of a bar with a word in it, in points
TALL = 4.6  # of a picture of more rows of such bars than MOST_ROWS, in inches
MOST_ROWS = 10
LOW, LOW_ROWS = 2.3, 3.0  # of a picture of so few rows that nothing is read off, in inches
ROW, FOOT = 0.4, 0.75  # of a picture of few named bars: of each of them, and of its axis, in inches
ROW_NAMED = 0.42  # of a bar that has its name above it
ABOVE = 0.77  # of the size of type, from such a bar to the middle of its name
THICK = 0.6  # of its row, which a bar without a word takes at most
CROWD, DOT = 100, 4.5  # marks of one series; more of them are drawn so small, in points
DIGIT, DIGIT_TALL = 0.64, 0.9  # of a digit and the air around it, of the size of its type
AT_MARK, LIFTED = 4.0, 8.5  # points from a mark to its word and up to its middle
# Where the word of a mark of a path may stand, which leaves room above to the right and below to the left,
# and how far off a dashed line that runs straight across or up; figure.js has both too.
BESIDE = [(i * AT_MARK, i * (LIFTED + off)) for off in (0.0, 12.0, 24.0) for i in (1, -1)]
CLEAR = 1.5
# Where the word of a mark may stand, in points from it: at a corner, clear of the head of an arrow that leads
# to the mark, or, where lines leave no room there, beside it, and then farther off.
CORNERS = [
    *((aside, lift) for lift in (10.5, -10.5) for aside in (-AT_MARK, AT_MARK)),
    *((6.0, 0.0), (-6.0, 0.0), (0.0, 13.0), (0.0, -13.0)),
    *((aside, lift) for lift in (19.0, -19.0) for aside in (-AT_MARK, AT_MARK, 0.0)),
]
# What a word costs that could be read as that of another mark, as much as a line straight through it: one
# that is not so many points nearer to its own.
DOUBT, OWN = 5, 2.5
HAIR = 0.4  # by which a bar of a lane is shorter at either end, in points; figure.js has it too


@functools.cache
def style() -> dict[RcKeyType, Any]:
    """Return the book's matplotlib style, for `matplotlib.rc_context(style())`."""
    import matplotlib

    path = resources.files("scalelab.show") / "book.mplstyle"
    with resources.as_file(path) as file:
        return dict(matplotlib.rc_params_from_file(file, use_default_template=False))


def png(chart: Chart, dpi: int = 150) -> bytes:
    """Return the chart as a PNG with its legend, for print and for viewers without HTML."""
    figure, axes = drawing(chart)
    named = any(series.names or series.words for series in chart.series)
    usual = style()["figure.figsize"][1]
    if named or len(chart.series) > MOST_INSIDE or figure.get_figheight() < usual:
        for columns in range(4 if named else 2, 0, -1):
            legend = figure.legend(
                loc="outside lower center", ncols=columns, fontsize=8, frameon=False
            )
            figure.draw_without_rendering()
            if columns == 1 or legend.get_window_extent().width <= figure.bbox.width:
                break
            legend.remove()  # it would be cut at both ends
    elif len(chart.series) > 1:
        axes.legend()
    return _saved(figure, "png", dpi=dpi, facecolor="white")


def svg(chart: Chart) -> tuple[str, dict[str, list[float]]]:
    """Return the chart as an SVG element, and how data become its coordinates.

    The coordinates are `{"x": [a, b, log], "y": [a, b, log]}`: a value v stands at a + b v, or at
    a + b log10(v). A script that knows them can move the series without drawing anything again.
    """
    figure, axes = drawing(chart, stand_ins=True)
    drawn = _saved(figure, "svg", metadata={"Date": None, "Creator": None})
    image = drawn.decode()[drawn.index(b"<svg") :]
    for number, series in enumerate(chart.series):
        if _unmarked(series):
            group = image.index(f'id="series-{number}"')
            image = image[:group] + image[group:].replace('style="', 'style="display: none; ', 1)
    image = of_the_page(image)
    for size in ("width", "height"):  # the page decides
        image = re.sub(rf'(<svg[^>]*?) {size}="[^"]*"', r"\1", image, count=1)
    image = re.sub(r"font-family: [^;]*; ", "", image)  # the page's own
    image = re.sub(
        r' transform="rotate\(-0 [^"]*"|(?<=<g) id="[^"]*_\d+"', "", image
    )  # say nothing
    image = re.sub(r'(?:\bd|\bx|\by)="[^"]*"|(?:translate|rotate)\([^)]*', _hundredths, image)
    own = hashlib.sha256(image.encode()).hexdigest()[:8]  # ids of two figures must not meet
    image = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>f{own}-", image)
    paper = figure.get_figwidth() / POINT, figure.get_figheight() / POINT
    return image, {"x": _scale(axes, "x", *paper), "y": _scale(axes, "y", *paper)}


def _hundredths(coordinates: re.Match[str]) -> str:
    """Return coordinates to the hundredth of a point, which nobody sees: an eighth of a page is digits."""
    return re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", coordinates[0])


def of_the_page(image: str) -> str:
    """Return matplotlib's SVG with the colours of where it stands, light or dark, for its own."""
    image = re.sub(r"<metadata>.*?</metadata>", "", image, flags=re.DOTALL)
    # Its rule for `*` would be one for the page, all of which a browser styles anew at each such picture.
    rule = r"<svg(.*?)<defs>\s*<style[^>]*>\*\{([^}]*)\}</style>\s*</defs>"
    image = re.sub(rule, r'<svg style="\2"\1', image, count=1, flags=re.DOTALL)
    for colour, name in INKS.items():
        image = image.replace(colour, f"var(--sl-{name})")
    # A picture grows with the page, and its text does not.
    return re.sub(r"font-size: (1[\d.]+)px", r"font-size: calc(\1px * var(--sl-type, 1))", image)


def drawing(chart: Chart, stand_ins: bool = False) -> tuple[Figure, Axes]:
    """Return a chart as matplotlib draws it, without title and legend.

    With stand-ins, points of which none is here leave a mark for a script to move.
    """
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(style()):
        figure = Figure()
        x, y = limits([chart])
        high, bar = _sizes(chart, y)
        figure.set_figheight(high)
        FigureCanvasAgg(figure)
        axes = figure.subplots()
        for name, axis in (("x", x), ("y", y)):
            _prepare(axes, name, axis)
        for number, series in enumerate(chart.series):
            if stand_ins and _unmarked(series):
                corner = np.array([[x.low], [y.low]], float)
                series = replace(series, x=corner[0], y=corner[1], low=None, high=None)
            _add(axes, series, f"series-{number}", bar)
            _list(axes, series)
            _fill(axes, series, f"series-{number}")
        for place, name in zip(y.ticks, y.names if y.inside else (), strict=False):
            _write(axes, name, x.low or 0.0, place, 3.0, bar / 2 + ABOVE * SMALL, LIGHT["ink"])
        named = [series for series in chart.series if series.names]
        tags = {at: [one for one in chart.series if _tag_of(one, at)] for at in (0, -1)}
        said = {
            f"series-{number}": series
            for number, series in enumerate(chart.series)
            if series.words and series.kind == "points" and not series.quiet
        }
        paths = {
            f"series-{number}": series
            for number, series in enumerate(chart.series)
            if series.words and series.kind == "joined"
        }
        dashed = [series for series in chart.series if series.kind == "dashed"]
        if named or any(tags.values()) or said or paths:
            figure.draw_without_rendering()  # or a place in the data is not yet one on the paper
        _number(axes, named)
        for at, tagged in tags.items():
            _tag(axes, tagged, at)
        _say(axes, said)
        for gid, series in paths.items():
            _name(axes, series, gid, dashed)
        figure.draw_without_rendering()
        _thin(axes)
    return figure, axes


def _sizes(chart: Chart, y: Axis) -> tuple[float, float]:
    """Return how high a picture is, in inches, and how thick a bar without a word is, in points."""
    usual, thin = style()["figure.figsize"][1], 7.0
    worded = any(_worded(series) for series in chart.series)
    low, high = y.low or 0.0, y.high or 0.0
    if worded and high > MOST_ROWS:
        return TALL, thin
    if y.bare and high <= LOW_ROWS:
        return LOW, thin
    if worded or not y.names or not any(series.kind == "lane" for series in chart.series):
        return usual, thin
    if y.inside:
        return FOOT + ROW_NAMED * (high - low), thin
    row = min(ROW, (usual - FOOT) / (high - low))
    return FOOT + row * (high - low), min(BAR, THICK * row / POINT)


def limits(charts: list[Chart]) -> tuple[Axis, Axis]:
    """Return axes wide enough for all the charts, so that a slider moves curves and not the paper."""
    axes = []
    for name in ("x", "y"):
        given: Axis = getattr(charts[0], name)
        values = [_extent(series, name) for chart in charts for series in chart.series]
        flat = np.concatenate(
            [v[np.isfinite(v) & ((v > 0) if given.log else True)] for v in values]
        )
        low, high = (float(flat.min()), float(flat.max())) if flat.size else (1.0, 2.0)
        if given.log:
            low, high = low / 1.12, high * 1.12
        else:
            low, high = min(low, 0.0), high + 0.05 * (high - min(low, 0.0) or 1.0)
        axes.append(
            replace(
                given,
                low=low if given.low is None else given.low,
                high=high if given.high is None else given.high,
            )
        )
    return axes[0], axes[1]


def _extent(series: Points, name: str) -> np.ndarray:
    if name == "x":
        return series.x
    return np.concatenate([v for v in (series.y, series.low, series.high) if v is not None])


def _unmarked(series: Points) -> bool:
    return series.kind == "points" and not (np.isfinite(series.x) & np.isfinite(series.y)).any()


def _prepare(axes: Axes, name: str, axis: Axis) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

    getattr(axes, f"set_{name}label")(axis.label)
    if axis.log:
        getattr(axes, f"set_{name}scale")("log")
    getattr(axes, f"set_{name}lim")(axis.low, axis.high)
    ticks = getattr(axes, f"{name}axis")
    if axis.bare:
        ticks.set_major_locator(NullLocator())
        ticks.set_minor_locator(NullLocator())
        return
    assert axis.low is not None  # `limits` chose both
    assert axis.high is not None
    if axis.ticks:
        ticks.set_major_locator(FixedLocator(axis.ticks))
    elif axis.log and axis.high < 100 * axis.low:  # powers of ten alone could leave one label
        fine = axis.high < 10 * axis.low
        ticks.set_major_locator(LogLocator(subs=(1, 2, 3, 4, 5, 6, 8) if fine else (1, 2, 5)))
    if axis.log:
        ticks.set_minor_locator(NullLocator())
    called = dict(zip(axis.ticks, axis.names, strict=False))
    if axis.inside:
        ticks.set_tick_params(length=0, labelleft=False)
    ticks.set_major_formatter(FuncFormatter(lambda value, _: called.get(value) or text(value)))


def _thin(axes: Axes) -> None:
    """Leave out each label under the x axis that would touch the next one shown; its tick stays."""
    low, high = axes.get_xlim()
    left_of_next = np.inf
    for tick in reversed(axes.xaxis.get_major_ticks()):
        if low <= tick.get_loc() <= high:
            box = tick.label1.get_window_extent()
            touches = box.x1 + box.height / 4 > left_of_next
            tick.label1.set_visible(not touches)
            left_of_next = left_of_next if touches else box.x0


def _add(axes: Axes, series: Points, gid: str, bar: float) -> None:
    colour = TONES[series.tone % len(TONES)]
    if series.kind in ("band", "part"):
        assert series.low is not None  # what it fills lies between the two
        assert series.high is not None
        corners = (
            np.concatenate([series.x, series.x[::-1]]),
            np.concatenate([series.low, series.high[::-1]]),
        )
        alpha = 0.45 if series.kind == "part" else 0.24  # of a part nothing is seen through it
        axes.fill(*corners, color=colour, alpha=alpha, lw=0, label=series.label, gid=gid)
        return
    if series.kind in ("points", "joined") and series.low is not None and series.high is not None:
        gaps = np.full_like(series.x, np.nan)
        xs = np.column_stack([series.x, series.x, gaps]).ravel()
        ys = np.column_stack([series.low, series.high, gaps]).ravel()
        axes.plot(xs, ys, color=colour, lw=1.6, gid=f"{gid}-bars")
    label = series.label if series.in_legend else ""
    if series.kind == "points":
        size = DOT if series.x.size > CROWD else style()["lines.markersize"]
        axes.plot(series.x, series.y, "o", color=colour, mew=0, ms=size, label=label, gid=gid)
        return
    if series.kind == "moved":
        begin, end = ((series.x[at], series.y[at]) for at in (0, -1))
        head = {"arrowstyle": "-|>,head_length=0.7,head_width=0.3", "mutation_scale": 12}
        look = {**head, "color": colour, "linewidth": 2.4, "shrinkA": 0, "shrinkB": 0}
        led = axes.annotate("", end, begin, arrowprops=look)
        assert led.arrow_patch is not None  # it is what was asked for
        led.arrow_patch.set_gid(gid)
        axes.plot([], [], color=colour, label=series.label)  # for a legend on paper
        return
    if series.kind == "lane":
        series = replace(series, x=_apart(axes, series.x))
    looks: dict[str, dict[str, Any]] = {
        "edge": {"linewidth": 1.2},
        "dashed": {"linestyle": (0, (5, 4)), "linewidth": 1.6},
        "joined": {"marker": "o", "markeredgewidth": 0},
        "lane": {"linewidth": BAR if _worded(series) else bar, "solid_capstyle": "butt"},
    }
    axes.plot(series.x, series.y, color=colour, label=label, gid=gid, **looks.get(series.kind, {}))


def _worded(series: Points) -> bool:
    """Whether its bars have words in them, or may get such bars from a slider."""
    empty = series.kind == "lane" and not np.isfinite(series.x).any()
    return bool(series.words and series.kind == "lane") or empty


def _apart(axes: Axes, x: np.ndarray) -> np.ndarray:
    """Shorten the bars of a lane by a hair at their ends, or neighbours would be one bar."""
    left, right = axes.transAxes.transform([(0, 0), (1, 0)])[:, 0] / axes.figure.dpi / POINT
    low, high = axes.get_xlim()
    apart = x.copy()
    known = np.isfinite(x)
    first = known & ~np.append(False, known[:-1])
    hair = HAIR * (high - low) / (right - left)
    apart[first] += hair
    apart[known & ~first] -= hair
    return apart


def _fill(axes: Axes, series: Points, gid: str) -> None:
    """Write the words of a lane into its bars."""
    if series.kind != "lane":
        return
    for turn, (start, word) in enumerate(zip(starts(series), series.words, strict=False)):
        middle = (series.x[start] + series.x[start + 1]) / 2
        axes.text(
            middle,
            series.y[start],
            word,
            ha="center",
            va="center_baseline",
            color=LIGHT["paper"],
            fontsize=SMALL,
            gid=f"{gid}-inside-{turn}",
        )


def _list(axes: Axes, series: Points) -> None:
    """Give the legend on paper the numbers and names of named points."""
    for number, name in enumerate(series.names, 1):
        axes.plot([], [], " ", label=f"{number} {name}")


def _number(axes: Axes, lines: list[Points]) -> None:
    """Write its number beside each named point, left and right by turns, as neighbours may be close.

    Where another point or number stands there, a line passes, or the number could be read as that of
    another point, the other sides are tried, those above and below, the corners, and above and below farther
    off.
    """
    dots = _dots(axes) if lines else []
    taken = dots.copy()
    passed = _passed(axes) if lines else np.empty((0, 2))
    for line in lines:
        for turn, at in enumerate(np.argsort(line.x, kind="stable")):
            word, mark = str(at + 1), _placed(axes, line.x[at], line.y[at])
            wide = DIGIT * SMALL * len(word) / 2
            aside = (-6.0, 6.0) if turn % 2 == 0 else (6.0, -6.0)
            corners = [(one, lift) for lift in (-9.0, 9.0) for one in (6.0, -6.0)]
            sides = [(one, 0.0) for one in aside] + [(0.0, -9.0), (0.0, 9.0), *corners]
            sides += [(0.0, -13.0), (0.0, 13.0)]
            boxes = [
                (mark[0] + x + np.sign(x) * wide, mark[1] + y, wide, DIGIT_TALL * SMALL / 2)
                for x, y in sides
            ]
            bad = [
                (any(_meet(box, one) for one in taken), _cost(passed, dots, mark, box))
                for box in boxes
            ]
            best = bad.index(min(bad))
            taken.append(boxes[best])
            _write(axes, word, line.x[at], line.y[at], *sides[best], LIGHT["ink"])


def _name(axes: Axes, path: Points, gid: str, dashed: list[Points]) -> None:
    """Write the word of each mark of a path where no straight dashed line and no other word of it stands."""
    taken = [box for line in dashed if (box := _straight(axes, line))]
    for turn, (word, x, y) in enumerate(zip(path.words, path.x, path.y, strict=False)):
        left, up = _placed(axes, x, y)
        wide, high = DIGIT * SMALL * len(word) / 2, DIGIT_TALL * SMALL / 2
        boxes = {
            (aside, lift): (left + aside + np.sign(aside) * wide, up + lift, wide, high)
            for aside, lift in BESIDE
        }
        free = (at for at, box in boxes.items() if not any(_meet(box, one) for one in taken))
        best = next(free, BESIDE[0])
        if word:
            taken.append(boxes[best])
        _write(axes, word, x, y, *best, LIGHT["ink"], f"{gid}-word-{turn}")


def _straight(axes: Axes, line: Points) -> tuple[float, ...] | None:
    """Return the box that a line fills if it runs straight across or up, a little wider than it is."""
    ends = np.array([_placed(axes, x, y) for x, y in zip(line.x, line.y, strict=True)])
    middle, half = (ends.max(axis=0) + ends.min(axis=0)) / 2, np.ptp(ends, axis=0) / 2
    return (*middle, *(half + CLEAR)) if half.min() < HAIR else None


def _say(axes: Axes, said: dict[str, Points]) -> None:
    """Write the word of each mark at the first place beside it within the axes that nothing else takes."""
    passed, dots = (_passed(axes), _dots(axes)) if said else (np.empty((0, 2)), [])
    taken = dots.copy()
    area = np.array(axes.bbox.padded(2).extents) / axes.figure.dpi / POINT
    for gid, series in said.items():
        for turn, (word, x, y) in enumerate(zip(series.words, series.x, series.y, strict=True)):
            left, up = _placed(axes, x, y)
            wide = DIGIT * SMALL * len(word) / 2
            boxes = {
                (aside, lift): (
                    left + aside + np.sign(aside) * wide,
                    up + lift,
                    wide,
                    DIGIT_TALL * SMALL / 2,
                )
                for aside, lift in CORNERS
            }
            bad = {
                corner: (
                    not _within(area, box),
                    any(_meet(box, one) for one in taken),
                    _cost(passed, dots, np.array([left, up]), box),
                )
                for corner, box in boxes.items()
            }
            best = min(bad, key=bad.__getitem__)
            taken.append(boxes[best])
            _write(axes, word, x, y, *best, LIGHT["ink"], f"{gid}-word-{turn}")


def _passed(axes: Axes) -> np.ndarray:
    """Return places along all lines of a chart, at most two points of the paper apart."""
    places = [np.empty((0, 2))]
    for line in axes.lines:
        path = line.get_transform().transform_path(line.get_path())
        along = np.asarray(path.vertices, float)
        if line.get_linestyle() != "None" and len(along):
            # A logarithm of nothing lies far below the paper.
            along = np.clip(along / axes.figure.dpi / POINT, -1e4, 1e4)
            steps = np.hypot(*np.diff(along, axis=0).T)
            far = np.concatenate([[0], np.cumsum(np.nan_to_num(steps))])
            at = np.arange(0, far[-1], 2.0)
            places.append(np.column_stack([np.interp(at, far, one) for one in along.T]))
    return np.concatenate(places)


def _dots(axes: Axes) -> list[tuple[float, ...]]:
    """Return the boxes that marks fill, but for those of a crowd."""
    dot = style()["lines.markersize"] / 2
    boxes: list[tuple[float, ...]] = []
    for line in axes.lines:
        at = np.column_stack([np.asarray(one, float) for one in line.get_data()])
        if line.get_marker() == "o" and len(at) <= CROWD:
            shown = at[np.isfinite(at).all(axis=1)]
            boxes += [(*map(float, _placed(axes, *one)), dot, dot) for one in shown]
    return boxes


def _cost(
    passed: np.ndarray, dots: list[tuple[float, ...]], mark: np.ndarray, box: tuple[float, ...]
) -> int:
    """Return how ill the word of a mark stands in a box: on lines, or as if it were that of another mark."""
    here = [np.allclose(dot[:2], mark) for dot in dots]
    far = [_between(box, dot) for dot in dots]
    own = min((one for one, mine in zip(far, here, strict=True) if mine), default=0.0)
    other = min((one for one, mine in zip(far, here, strict=True) if not mine), default=np.inf)
    return _on(passed, (*box[:2], box[2] + CLEAR, box[3] + CLEAR)) + DOUBT * (other < own + OWN)


def _between(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    """Return how far two boxes are apart."""
    x, y = (max(0.0, abs(one[at] - other[at]) - one[at + 2] - other[at + 2]) for at in (0, 1))
    return float(np.hypot(x, y))


def _on(places: np.ndarray, box: tuple[float, ...]) -> int:
    """Return how many of the places lie in a box."""
    return int(np.sum(np.all(abs(places - box[:2]) < box[2:], axis=1)))


def _within(area: np.ndarray, box: tuple[float, ...]) -> bool:
    """Whether a box lies in an area, whose left, lower, right and upper ends are given."""
    x, y, wide, high = box
    left, low, right, top = area
    return left <= x - wide and x + wide <= right and low <= y - high and y + high <= top


def _meet(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Whether two boxes, each a middle and half of its width and height, lie on each other."""
    return abs(one[0] - other[0]) < one[2] + other[2] and abs(one[1] - other[1]) < one[3] + other[3]


def _placed(axes: Axes, x: float, y: float) -> np.ndarray:
    """Return where a place in the data lies on the paper, in points."""
    return axes.transData.transform((x, y)) / axes.figure.dpi / POINT


def _tag_of(line: Points, at: int) -> str:
    """Return what stands at the first point of a line, 0, or at its last, -1."""
    return line.end if at else line.tag


def _tag(axes: Axes, lines: list[Points], at: int) -> None:
    """Write the tag of each line beside its first or last point, none on another and all near their lines."""
    rising = sorted(lines, key=lambda line: line.y[at])
    places = [float(_placed(axes, line.x[at], line.y[at])[1]) for line in rising]
    for tagged, place, moved in zip(rising, places, _spread(places, 1.25 * SMALL), strict=True):
        aside, colour = 5.0 if at else -5.0, TONES[tagged.tone % len(TONES)]
        here = _tag_of(tagged, at), tagged.x[at], tagged.y[at]
        _write(axes, *here, aside, moved - place, colour)


def _spread(rising: list[float], apart: float) -> list[float]:
    """Return rising places at least so far apart, each crowd of them around where it was.

    >>> _spread([0.0, 1.0, 9.0], 4.0)
    [-1.5, 2.5, 9.0]
    """
    crowds: list[list[float]] = []  # of places as if nothing were between them
    for number, place in enumerate(rising):
        crowds.append([place - apart * number])
        while len(crowds) > 1 and np.mean(crowds[-2]) > np.mean(crowds[-1]):
            last = crowds.pop()
            crowds[-1] += last
    closed = [float(np.mean(crowd)) for crowd in crowds for _ in crowd]
    return [place + apart * number for number, place in enumerate(closed)]


def _write(
    axes: Axes,
    words: str,
    x: float,
    y: float,
    aside: float,
    lift: float,
    colour: str,
    gid: str | None = None,
) -> None:
    """Write words so many points beside and above a place; what is to its left ends there."""
    axes.annotate(
        words,
        (x, y),
        (aside, lift),
        textcoords="offset points",
        ha="right" if aside < 0 else "left" if aside else "center",
        # As ticks have it: `figure.css` keeps the middle of such words where it is, however large they are.
        va="center_baseline" if aside else "center",
        color=colour,
        fontsize=SMALL,
        gid=gid,
    )


def _scale(axes: Axes, name: str, width: float, height: float) -> list[float]:
    """Return [a, b, log] of one axis in SVG coordinates, whose y grows downwards."""
    low, high = getattr(axes, f"get_{name}lim")()
    log = getattr(axes, f"get_{name}scale")() == "log"
    corner = axes.get_position()
    if name == "x":
        start, end = corner.x0 * width, corner.x1 * width
    else:
        start, end = height - corner.y0 * height, height - corner.y1 * height
    low, high = (np.log10(low), np.log10(high)) if log else (low, high)
    slope = (end - start) / (high - low)
    return [round(float(start - slope * low), 4), round(float(slope), 6), log]


def _saved(figure: Figure, kind: str, **options: Any) -> bytes:
    import matplotlib

    out = io.BytesIO()
    with matplotlib.rc_context(style()):
        figure.savefig(out, format=kind, **options)
    return out.getvalue()
