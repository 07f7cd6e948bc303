"""Rows of text in columns, as wide as there is room: what every command prints as a table.

Where a line would be longer than the room, headings and words wrap first. Numbers never do: what is
still too wide goes on in a further block, which begins with the first column again.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Iterator, Sequence

_GAP = 2  # spaces between columns
_LEAST = (20, 14, 8)  # letters that a column of words keeps, where there is room for so many
_TIED = re.compile(r"(?<=[\d∞]) (?=[^\W\d]|%)")  # between a number and its unit, where no line ends
_TIE = "\xa0"


def aligned(
    rows: Sequence[Sequence[str]],
    left: Collection[int] = (),
    drop_empty: bool = False,
    width: int | None = None,
) -> Iterator[str]:
    r"""Yield rows of text in columns, to the right but for those `left`, the first row being headings.

    >>> print(*aligned([("workers", "note"), ("8", ""), ("16", "best")], left=[1]), sep="\n")
    workers  note
          8
         16  best
    >>> print(*aligned([("workers", "time", "speedup"), ("8", "60 s", "1")], width=15), sep="\n")
    workers  time
          8  60 s
    <BLANKLINE>
    workers  speedup
          8        1
    """
    import tabulate

    columns = [
        column
        for column in ([at, *cells] for at, *cells in zip(range(len(rows[0])), *rows, strict=True))
        if not drop_empty or any(column[2:])
    ]
    for number, (block, widths) in enumerate(_blocks(columns, left, width)):
        cells = [
            ["\n".join(wrapped(cell, room)) for cell in column]
            for (_, *column), room in zip(block, widths, strict=True)
        ]
        lines = [*zip(*cells, strict=True)]
        if number:
            yield ""
            lines = [line for line in lines if any(line[1:])]
        # Its own wrapping takes 1,024 for a broken number.
        text = tabulate.tabulate(
            lines,
            tablefmt="plain",
            disable_numparse=True,
            colalign=["left" if at in left else "right" for at, *_ in block],
        )
        yield from (line.rstrip() for line in text.split("\n"))


def wrapped(text: str, width: int | None, indent: str = "", whole: bool = False) -> list[str]:
    """Return lines of so many letters, broken between words, and never between a number and its unit.

    A word that is longer than a line is cut, or, with `whole`, longer than that.

    >>> wrapped("it takes 22.6 d, 1.57 d too long", 14, "  ")
    ['it takes', '  22.6 d,', '  1.57 d too', '  long']
    """
    if width is None or len(text) <= width:
        return [text]
    tied = _TIED.sub(_TIE, text)
    lines = textwrap.wrap(
        tied,
        width,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=not whole,
    )
    return [line.replace(_TIE, " ") for line in lines]


def texts(column: Sequence[str]) -> bool:
    """Whether a column holds words: most of its cells do not begin as a number does.

    >>> texts(["pass", "fail", "–"]), texts(["60 s", "failed", ""]), texts(["$3", "-1.5 %", "–"])
    (True, False, False)
    """
    told = [cell for cell in column if cell not in ("", "-", "–")]
    words = [cell for cell in told if not cell.lstrip("+-−$<>~±∞")[:1].isdecimal()]
    return 2 * len(words) > len(told)


def _blocks(columns, left, width):
    """Yield the columns of each block with their widths, or None for each where all have what they want."""
    if width is None or _total(map(_natural, columns)) <= width:
        yield columns, [None] * len(columns)
        return
    key, *others = columns
    least = [_least(column, left) for column in others]
    room = width - _GAP - min(_least(key, left), max(width // 3, _least(key, left, _LEAST[1])))
    while others:
        count = next((n for n in range(len(others), 1, -1) if _total(least[:n]) <= room), 1)
        block = [key, *others[:count]]
        yield block, _fitted(block, left, width)
        others, least = others[count:], least[count:]


def _fitted(columns, left, width):
    """Return the widths of columns in a room: the widest give way first, none below its least."""
    natural = [*map(_natural, columns)]
    for letters in _LEAST:
        least = [_least(column, left, letters) for column in columns]
        for cap in range(max(natural), 0, -1):
            widths = [max(low, min(want, cap)) for low, want in zip(least, natural, strict=True)]
            if _total(widths) <= width:
                return widths
    return widths


def _total(widths):
    every = [*widths]
    return sum(every) + _GAP * (len(every) - 1)


def _natural(column):
    return max(map(len, column[1:]))


def _least(column, left, letters=_LEAST[0]):
    """How few letters a column can do with: of numbers all, of words some, of a heading its longest word."""
    at, heading, *cells = column
    if at not in left:
        return max([*map(len, heading.split()), *map(len, cells), 1])
    natural, least = _natural(column), letters
    if letters > _LEAST[-1]:
        least = max(letters, *(len(word) for cell in (heading, *cells) for word in cell.split()))
    if letters == _LEAST[0]:  # of a sentence half, rather than many lines
        least = max(least, natural // 2)
    return min(natural, least)
