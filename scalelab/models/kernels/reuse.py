"""How far down a number goes before it is needed again (Section 3.7).

Between two uses of a number others pass. A cache that holds all of them still has it; a smaller one does
not. `Walk` is one operation over vectors, and walks that take turns on one piece after the other are a group.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scalelab.arguments import real, shown
from scalelab.refusal import Refusal

MEMORY = "DRAM"  # behind all caches
_BYTES = "it counts the bytes that pass"
_ROOM = "it is the size of a cache in bytes"


@dataclass(frozen=True)
class Walk:
    """One operation, number by number: the vectors that it reads, and the one that it writes."""

    reads: tuple[str, ...]
    writes: str

    def __post_init__(self) -> None:
        names = self.reads if isinstance(self.reads, tuple) else (None,)
        if not names or not all(isinstance(one, str) for one in (*names, self.writes)):
            raise Refusal(
                f"a walk must name what it reads and what it writes, got {shown(self.reads)} and "
                f"{shown(self.writes)}: write Walk(('a', 'b'), 'c')"
            )

    @property
    def touches(self) -> frozenset[str]:
        """All vectors that pass in it."""
        return frozenset((*self.reads, self.writes))


def holds(bytes: float, caches: Mapping[str, float]) -> str:
    """The first of some caches, nearest first, that holds so many bytes; "DRAM" if none does.

    Source: an LRU cache keeps what was used within its size: Mattson et al. 1970,
    doi:10.1147/sj.92.0078. Section 3.7.

    >>> [holds(size, {"L1d": 48e3, "L2": 1e6}) for size in (20e3, 320e3, 192e6)]
    ['L1d', 'L2', 'DRAM']
    """
    bytes = real("bytes", bytes, _BYTES, 0)
    if not isinstance(caches, Mapping):
        raise Refusal(f"caches must be sizes by name, got {shown(caches)}: write {{'L2': 1e6}}")
    rooms = {name: real("caches", size, _ROOM, 0) for name, size in caches.items()}
    return next((str(name) for name, size in rooms.items() if bytes <= size), MEMORY)


def found(
    groups: Sequence[Sequence[Walk]], vector: float, piece: float, caches: Mapping[str, float]
) -> list[list[dict[str, str]]]:
    """Where each walk finds what it reads, and how far down its result goes: to its next reader's place.

    All walks of a group are done on a `piece` of the vectors before the next piece; a group ends before
    the next begins. What nobody has touched is in memory, and there goes what nobody reads again.
    Source: Mattson et al. 1970, doi:10.1147/sj.92.0078, with all vectors of the walks between two uses
    taken as passing. Section 3.7.

    >>> two = Walk(("a", "b"), "t"), Walk(("t", "c"), "d")
    >>> found([two], 64e6, 64e3, {"L1d": 48e3, "L2": 1e6})[0][1]
    {'t': 'L2', 'c': 'DRAM', 'd': 'DRAM'}
    """
    vector = real("vector", vector, "it is the size of a vector in bytes", 0, above=True)
    piece = real(
        "piece", piece, "it is the part of a vector done at once, in bytes", 0, vector, above=True
    )
    try:
        walks = [(at, walk) for at, group in enumerate(groups) for walk in group]
        ordered = all(isinstance(walk, Walk) for _, walk in walks)
    except TypeError:
        ordered = False
    if not ordered:
        raise Refusal(
            f"groups must be lists of walks, got {shown(groups)}: write [[Walk(('a',), 'b')]]"
        )
    holds(0, caches)
    places: list[dict[str, str]] = [{} for _ in walks]
    for turn, (group, walk) in enumerate(walks):
        for name in walk.reads:
            before = [one for one in range(turn) if name in walks[one][1].touches]
            places[turn][name] = MEMORY
            if before:
                last = before[-1]
                passing = frozenset().union(*(one.touches for _, one in walks[last : turn + 1]))
                at_once = piece if walks[last][0] == group else vector
                places[turn][name] = holds(at_once * len(passing), caches)
                if walks[last][1].writes == name:
                    places[last][name] = places[turn][name]
        places[turn].setdefault(walk.writes, MEMORY)
    rest = iter(places)
    return [[next(rest) for _ in each] for each in groups]
