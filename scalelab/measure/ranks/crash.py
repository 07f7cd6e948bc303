"""What the ranks of a failed launch left in the agent's folder: their output, and where they stood.

Ranks write there; the process that launched them reads. Standard library only.
"""

import faulthandler
import os
import re
import sys
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

# Nobody reads more than a screen of a program that failed.
_SCREEN = 4000
_FRAME = re.compile(r'  File "(.+)", line (\d+),? in (\S+)')
# A rank has this long to write down where it stands before it is stopped.
_MARGIN = 0.2


def watch(deadline: float) -> None:
    """Let this rank note where it stands shortly before the deadline on the monotonic clock."""
    stack = open(Path(os.environ["TORCHELASTIC_ERROR_FILE"]).with_name("stack.txt"), "w")  # noqa: SIM115
    faulthandler.dump_traceback_later(max(0.1, deadline - time.monotonic() - _MARGIN), file=stack)


def output(folder: str | Path, rank: int) -> str:
    """Return the end of what a rank wrote, to standard error if it wrote there.

    >>> output("/nowhere", 0)
    ''
    """
    for name in ("stderr.log", "stdout.log"):
        for log in Path(folder).rglob(f"{rank}/{name}"):
            text = log.read_text(errors="replace").strip()
            if text:
                return text[-_SCREEN:]
    return ""


def standing(folder: str | Path) -> str:
    """Say in which function each rank stood when the time was up, the rarest place first."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for stack in Path(folder).rglob("stack.txt"):
        if place := _innermost(stack.read_text(errors="replace")):
            places[place].append(int(stack.parent.name))
    groups = sorted((len(ranks), sorted(ranks), place) for place, ranks in places.items())
    return ", ".join(f"{named(ranks)} in {place}" for _, ranks, place in groups)


def named(ranks: Iterable[int]) -> str:
    """Name ranks for people.

    >>> named([3]), named([0, 2]), named(range(16))
    ('rank 3', 'ranks 0 and 2', 'ranks 0, 1, 2, 3 and 12 more')
    """
    shown = [str(rank) for rank in ranks]
    if len(shown) > 5:
        shown = [*shown[:4], f"{len(shown) - 4} more"]
    *first, last = shown
    return f"ranks {', '.join(first)} and {last}" if first else f"rank {last}"


def raised(stack: str) -> str:
    r"""Return "function at file:line" of the innermost call in a file of the user's own, or nothing.

    >>> raised('  File "/home/ada/train.py", line 7, in step\n    boom()\n')
    'step at train.py:7'
    """
    ours, installed = str(Path(__file__).parents[3] / "scalelab"), (sys.prefix, sys.base_prefix)
    for file, line, function in reversed(_FRAME.findall(stack)):
        if not file.startswith((ours, *installed, "<")):
            return f"{function} at {Path(file).name}:{line}"
    return ""


def _innermost(stack: str) -> str:
    """Return "function at file:line" of the main thread: the last one, its latest call first."""
    frames = _FRAME.findall(stack.rpartition("Thread ")[2])
    if not frames:
        return ""
    file, line, function = frames[0]
    return f"{function} at {Path(file).name}:{line}"
