"""Tables that the code beside them computed: HTML that scrolls on a phone, plain text elsewhere."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from scalelab import units
from scalelab.records import Sample, Stamp
from scalelab.refusal import Refusal
from scalelab.show.template import rendered
from scalelab.tables.printed import aligned, texts

LONG = 28  # letters of a cell that may take several lines
NAMED = 14  # letters of the name of a row that may take several on a phone
FIGURES = 3  # of a number that nobody told how to be written
Columns = Mapping[str, Iterable[object]]  # values by heading


class Table:
    """Columns of equal length under their headings; the first one names the rows."""

    def __init__(self, columns: Columns, title: str, stamp: Stamp | None, form: str | None) -> None:
        listed = {name: _listed(values) for name, values in columns.items()}
        sizes = {name: len(values) for name, values in listed.items()}
        if len(set(sizes.values())) != 1:
            raise Refusal(
                f"columns must have the same length, got {sizes}: give one value for each row"
            )
        self.columns, self.title, self.stamp = list(listed), title, stamp
        cells = [_cells(values, form) for values in listed.values()]
        self.rows = [list(row) for row in zip(*cells, strict=True)]

    @property
    def looks(self) -> list[str]:
        """Return the classes of the columns: words stand at the left, and numbers under each other."""
        first, *others = zip(*self.rows, strict=True) if self.rows else [()] * len(self.columns)
        names = _look(first, any)
        if names == "sl-words" and max(map(len, first)) > NAMED:
            names += " sl-named"
        return [names, *(_look(cells, all) for cells in others)]

    def _repr_html_(self) -> str:
        return rendered("columns.html", table=self)

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, width: int | None = None, stamped: bool = True) -> Iterator[str]:
        """Yield its title, its rows under their headings, no wider than that, and its stamp."""
        left = [at for at, cells in enumerate(zip(*self.rows, strict=True)) if texts(cells)]
        yield self.title
        yield from aligned([self.columns, *self.rows], left, width=width)
        if self.stamp and stamped:
            yield self.stamp.text


def table(
    columns: Columns,
    title: str,
    *,
    stamp: Stamp | None = None,
    form: str | None = None,
) -> Table:
    """Return a table of columns, its fractional numbers in `form` (such as ".4f") or three digits.

    A measured Sample shows as its median and the interval around it, in the same unit.
    """
    return Table(columns, title, stamp, form)


def _look(cells, enough):
    """Return the classes of a column: words, where enough of its cells begin with a letter."""
    said = [cell for cell in cells if cell.strip("–")]
    if not said or not enough(cell[0].isalpha() for cell in said):
        return ""
    return "sl-words sl-prose" if max(map(len, said)) > LONG else "sl-words"


def _listed(values):
    """Return the cells of a column, or the one of it; whole numbers beside fractions are such, too."""
    plain = values.tolist() if hasattr(values, "tolist") else values  # of NumPy, torch or pandas
    single = isinstance(plain, (str, Sample)) or not isinstance(plain, Iterable)
    cells = [one.item() if hasattr(one, "item") else one for one in ([plain] if single else plain)]
    if any(isinstance(one, numbers.Real) and not _whole(one) for one in cells):
        return [float(one) if _whole(one) else one for one in cells]
    return cells


def _whole(value):
    return isinstance(value, numbers.Integral)


def _cells(values: Sequence[Any], form: str | None) -> list[str]:
    """Write the cells of a column: what was measured in one unit, whatever its prefix."""
    medians = [one.median for one in values if isinstance(one, Sample)]
    cells = [_cell(value, form, medians) for value in values]
    fractions = [isinstance(one, float) and form is None for one in values]
    places = max((_places(c) for c, one in zip(cells, fractions, strict=True) if one), default=0)
    return [
        _even(cell, places) if one else cell for cell, one in zip(cells, fractions, strict=True)
    ]


def _alike(texts: Sequence[str]) -> list[str]:
    """Write times of one unit as exactly as each other: in four figures what needs four to be told apart.

    >>> _alike(["621.3 µs", "621 µs", "621.8 µs"]), _alike(["9.74 ms", "9.4 ms", "10.2 ms"])
    (['621.3 µs', '621.0 µs', '621.8 µs'], ['9.74 ms', '9.40 ms', '10.2 ms'])
    """
    parts = [text.partition(" ") for text in texts]
    places = max(_places(number) for number, _, _ in parts)
    most = max(FIGURES, *(_figures(number) for number, _, _ in parts))
    return [f"{_even(number, places, most)}{space}{unit}" for number, space, unit in parts]


def _figures(text: str) -> int:
    """Return how many figures a number is written in, without the zeros that end a whole one."""
    whole, _, rest = text.lstrip("-").replace(",", "").partition(".")
    return len((whole + rest).lstrip("0") if rest else whole.rstrip("0"))


def _places(text: str) -> int:
    return len(text.partition(".")[2]) if "e" not in text else 0


def _even(text: str, places: int, most: int = FIGURES) -> str:
    """Write a number as exactly as those above and below it, in no more than so many figures.

    >>> _even("3.9", 2), _even("14", 2), _even("29.6", 2), _even("0.5", 1), _even("1,930", 2)
    ('3.90', '14.0', '29.6', '0.5', '1,930')
    """
    whole, _, rest = text.lstrip("-").partition(".")
    if not (whole + rest).isdecimal() or not float(f"{whole}.{rest}"):
        return text
    figures = len((whole + rest).lstrip("0"))
    more = min(places - len(rest), most - figures)
    return text if more <= 0 else f"{text}{'' if rest else '.'}{'0' * more}"


def _cell(value: Any, form: str | None, medians: Sequence[float] = ()) -> str:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Sample):
        median, *ends = _alike(
            units.alike([value.median, value.low, value.high], "s", among=medians)
        )
        return f"{median} ({' to '.join(end.partition(' ')[0] for end in ends)})"
    if _whole(value):
        return units.text(int(value), digits=15)
    return units.text(float(value)) if form is None else format(float(value), form)
