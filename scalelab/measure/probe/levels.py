"""Which level of the memory a working set lives in: by the sizes stated, or by the bandwidth seen.

A set close to the size of a cache lives in two levels at once, and is given to neither.
"""

from collections.abc import Iterable, Mapping, Sequence

from scalelab.records import Machine

# How much of a cache the set may fill, and by how much it must overflow the one below: what the
# system keeps for itself, and sets that are not replaced in order, blur the edge.
_INSIDE, _OUTSIDE = 0.75, 1.5
# So much larger than the last cache each array must be before none of it is left there.
# Source: https://www.cs.virginia.edu/stream/ref.html.
STREAM = 4
# A fall to under this share of a level's best bandwidth is another level ...
_FALL = 0.75
# ... whose own begins once the next size loses no more than a fifth.
_FLAT = 0.8

_Fall = tuple[int, int]  # the last size above, the first below


def capacities(machine: Machine, threads: int) -> dict[str, int]:
    """Return the bytes of each level that so many threads reach together, smallest first.

    >>> from scalelab.records import Machine
    >>> laptop = Machine("laptop", 4, caches={"L2": 100, "L3": 900}, cache_counts={"L2": 4, "L3": 1})
    >>> capacities(laptop, threads=2)
    {'L2': 200, 'L3': 900}
    """
    total = {
        level: size * min(threads, machine.cache_counts.get(level, 1))
        for level, size in machine.caches.items()
    }
    return dict(sorted(total.items(), key=lambda level: level[1]))


def level(size: int, arrays: int, stated: Mapping[str, int], last: str) -> str:
    """Return the level that a working set of `size` bytes in so many arrays lives in, or "".

    `stated` is what capacities() returns; `last` names what lies beyond all caches. Section 3.7.

    >>> [level(kib * 1024, 2, {"L1": 2**15, "L2": 2**20}, "DRAM") for kib in (16, 32, 512, 8192)]
    ['L1', '', 'L2', 'DRAM']
    """
    below = 0
    for name, capacity in stated.items():
        if size <= _INSIDE * capacity:
            return name if size >= _OUTSIDE * below else ""
        below = capacity
    return last if size / arrays >= STREAM * below else ""


def falls(points: Iterable[tuple[int, float]]) -> list[_Fall]:
    """Return (last size above, first size below) for each fall of the bandwidth.

    `points` are (size, bandwidth) pairs. Falling over several sizes in a row is one fall.
    Section 3.7.

    >>> falls([(1, 100), (2, 98), (4, 70), (8, 50), (16, 49)])
    [(2, 8)]
    """
    points = sorted(points)
    edges: list[_Fall] = []
    best, k = 0.0, 0
    while k < len(points):
        _, rate = points[k]
        if rate >= _FALL * best:
            best = max(best, rate)
            k += 1
            continue
        above = points[k - 1][0]
        # Down to where it is flat again.
        while k + 1 < len(points) and points[k + 1][1] < _FLAT * points[k][1]:
            k += 1
        edges.append((above, points[k][0]))
        best = points[k][1]
        k += 1
    return edges


def between_falls(size: int, seen: Iterable[_Fall], last: str) -> str:
    """Return the level of a working set where no cache sizes are stated: "level 1" and so on, or "".

    >>> [between_falls(size, [(2, 8)], "DRAM") for size in (1, 2, 4, 8, 16)]
    ['level 1', 'level 1', '', 'DRAM', 'DRAM']
    """
    for count, (above, below) in enumerate(seen, start=1):
        if size <= above:
            return f"level {count}"
        if size < below:
            return ""
    return last


def unseen(stated: Mapping[str, int], seen: Sequence[_Fall]) -> list[str]:
    """Return the levels whose stated end no fall of the bandwidth confirms.

    >>> unseen({"L1": 2**15, "L2": 2**20}, [(2**14, 2**16)])
    ['L2']
    """
    return [
        name
        for name, capacity in stated.items()
        if not any(
            above <= _OUTSIDE * capacity and below >= _INSIDE * capacity for above, below in seen
        )
    ]
