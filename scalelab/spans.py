"""Sets of moments as spans that are in order and never touch: what makes no moment count twice.

A span is (start, end), end excluded. Traces have whole nanoseconds, whose lengths add up exactly.
Standard library only; every layer may import it.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

Span = tuple[int, int]


def union(*sets: Iterable[Span]) -> tuple[Span, ...]:
    """Return the moments that are in any of the sets, each of which may be in any order.

    >>> union([(3, 5), (0, 2)], [(1, 4), (7, 7)])
    ((0, 5),)
    """
    merged: list[list[int]] = []
    for start, end in sorted(span for spans in sets for span in spans if span[0] < span[1]):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return tuple((start, end) for start, end in merged)


def difference(one: Iterable[Span], other: Sequence[Span]) -> tuple[Span, ...]:
    """Return the moments of one union that are not in the other.

    >>> difference(((0, 10),), ((2, 3), (9, 12)))
    ((0, 2), (3, 9))
    """
    left, i = [], 0
    for start, end in one:
        while i < len(other) and other[i][1] <= start:
            i += 1
        j = i  # a long span of the other may reach into the next of this one
        while j < len(other) and other[j][0] < end:
            left.append((start, other[j][0]))
            start = max(start, other[j][1])
            j += 1
        left.append((start, end))
    return tuple(span for span in left if span[0] < span[1])


def intersection(one: Sequence[Span], other: Sequence[Span]) -> tuple[Span, ...]:
    """Return the moments that are in both unions.

    >>> intersection(((0, 5), (6, 8)), ((4, 7),))
    ((4, 5), (6, 7))
    """
    return difference(one, difference(one, other))


def within(spans: Sequence[Span], start: int, end: int) -> tuple[Span, ...]:
    """Return the moments of a union from start to end, without a look at the others.

    >>> within(((0, 2), (3, 9), (11, 12)), 5, 10)
    ((5, 9),)
    """
    first = bisect_right(spans, start, key=lambda span: span[1])
    last = bisect_left(spans, end, key=lambda span: span[0])
    return tuple((max(s, start), min(e, end)) for s, e in spans[first:last])


def length(spans: Iterable[Span]) -> int:
    """Return how long a union is.

    >>> length(((0, 2), (3, 9)))
    8
    """
    return sum(end - start for start, end in spans)
