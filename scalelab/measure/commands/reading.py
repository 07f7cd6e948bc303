"""What a program wrote, read without ever holding it whole: the last number of a pattern, why it failed."""

import contextlib
import math
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

from scalelab import units
from scalelab.arguments import shown, unpainted
from scalelab.measure.commands import process
from scalelab.measure.commands.process import Ended
from scalelab.refusal import Refusal

_LONGEST = 2**16  # characters of a line; what is longer is read as several
_FIRST, _LAST = 2**16, 2**20  # bytes of a log that are kept when the program has ended
_TAIL = 2**16
_OUT_OF_MEMORY = re.compile(
    r"out of memory|OutOfMemoryError|\bMemoryError\b|cannot allocate memory|\bbad_alloc\b|oom-kill",
    re.IGNORECASE,
)
_ERROR = re.compile(r"\b\w*(Error|Exception|Fault)\b|\berror:", re.IGNORECASE)
# What torchrun says at its end of the rank that failed first; the others are told to end, or echo it.
_ROOT = re.compile(r"Root Cause[^\0]{,400}?\brank +: (\d+)[^\0]{,80}?\bexitcode +: (-?\d{1,3})\b")
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")
# What goes on behind a number that a pattern has left: more of its figures, its exponent, its prefix.
_MORE = re.compile(
    r"\d|(?P<comma>,)\d|[.']\d|[eE][+-]?\d|(?P<prefix>[kKMGT])(?:i?[Bb]|(?i:flop)|(?![A-Za-z]))"
)
_BEGUN = re.compile(r"\d\.?$|(?<![\w.,)])-$")  # what a number had before: figures, or its sign
# What a pattern says after its last group.
_BEHIND = re.compile(r".*(?<!\\)\((?!\?)[^()]*\)(.*)", re.DOTALL)


def pattern(option: str, text: str) -> re.Pattern[str]:
    r"""Return the pattern of a number, in a group of its own.

    >>> pattern("--rate", r"samples/s: (\S+)").groups
    1
    """
    try:
        found = re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise Refusal(
            f"{option} must be a regular expression, got {shown(text)} ({error}): "
            "write it like 'samples/s: (\\S+)'"
        ) from None
    if not found.groups:
        raise Refusal(
            f"{option} must hold parentheses around the number, got {shown(text)}: "
            "write it like 'samples/s: (\\S+)'"
        )
    return found


def last(log: str | Path, wanted: re.Pattern[str]) -> float | str:
    r"""Return the number of the last match in what a program wrote, or why there is none.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "log")
    ...     _ = file.write_text("samples/s: 90\rsamples/s: 1,200.5\ndone\n")
    ...     last(file, re.compile("samples/s: ([0-9.,]+)")), last(file, re.compile("loss: (.+)"))
    (1200.5, "nothing in its output matches 'loss: (.+)'")
    """
    found = whole = None
    asked = f"'{wanted.pattern}'" if len(wanted.pattern) <= 60 else shown(wanted.pattern)
    for line in _lines(log):
        for match in wanted.finditer(line):
            place, *others = [n for n in range(1, match.re.groups + 1) if match[n] is not None] or [
                0
            ]
            if any(match.start(other) >= match.end(place) for other in others):
                both = f"{shown(match[place])} and {shown(match[others[-1]])}"
                return f"{asked} finds {both} at once: write (?:...) around all but the number"
            found, whole = (match[place], _cut(match, place)) if place else ("", "")
    if found is None:
        return f"nothing in its output matches {asked}"
    plain = found.strip().rstrip(",.")
    try:
        number = float(plain.replace(",", "") if _GROUPED.fullmatch(plain) else plain)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        return f"{asked} found {shown(found)}, which is no finite number"
    if whole:
        return (
            f"{asked} takes only a part of {shown(whole)}: write (\\S+) for the number, "
            "or in the pattern what stands around it"
        )
    return number


def _cut(match: re.Match[str], place: int) -> str:
    """Return the number that a group has only a part of: 1,234 for [0-9.]+, which takes 1; else nothing.

    A pattern that names the comma or the prefix behind its group means what it says.
    """
    line, begin, end = match.string, *match.span(place)
    more = _MORE.match(line, end) if line[begin:end][-1:].isdigit() else None
    sign = more and (more["comma"] or more["prefix"])
    if sign and (rest := _BEHIND.fullmatch(match.re.pattern)) and sign in rest[1]:
        more = None
    if not (more or _BEGUN.search(line, max(0, begin - 3), begin)):
        return ""
    before, behind = line[max(0, begin - 30) : begin], line[end : end + 30]
    first, last = re.search(r"[\w.,'+-]*$", before), re.match(r"[\w.,'+-]*", behind)
    return (first[0] if first else "") + match[place] + (last[0] if last else "")


def cause(ended: Ended, log: str | Path, timeout: float | None) -> str:
    """Say why a program failed, in a few words; nothing where it did not.

    >>> cause(Ended(1.0, -11), "/dev/null", None)
    'ended by SIGSEGV'
    """
    if ended.unstarted:
        return f"it could not be started ({ended.unstarted})"
    if ended.cut == "timeout":
        return f"no end within {units.text(timeout or 0, 's')}"
    if ended.cut == "output":
        return f"more than {process.MOST_OUTPUT // 2**20} MiB of output"
    if not ended.code:
        return ""
    tail = _tail(log)
    code, where = ended.code, ""
    if root := _ROOT.search(tail):
        code, where = int(root[2]), f" on rank {root[1]}"
        prefix = f"[rank{root[1]}]: "
        own = [line.removeprefix(prefix) for line in tail.splitlines() if line.startswith(prefix)]
        tail = "\n".join(own)
    how = f"exit code {code}{where}"
    code = 128 - code if code > 128 else code  # a shell's word for a signal
    if code < 0:
        with contextlib.suppress(ValueError):
            how = f"ended by {signal.Signals(-code).name}{where}"
    if _OUT_OF_MEMORY.search(tail):
        return f"out of memory ({how})"
    if code == -signal.SIGKILL:
        return f"{how}, as systems do where memory runs out"
    lines = [" ".join(line.split()) for line in tail.splitlines() if re.search(r"\w", line)]
    errors = [line for line in lines if _ERROR.search(line)]
    word = (errors or lines or [""])[-1]
    return f"{how}: {word if len(word) <= 100 else word[:97] + '...'}" if word else how


def trim(log: str | Path) -> None:
    """Keep the beginning and the end of a log that is long."""
    path = Path(log)
    size = path.stat().st_size
    if size <= _FIRST + _LAST:
        return
    with path.open("r+b") as file:
        file.seek(-_LAST, os.SEEK_END)
        end = file.read(_LAST)
        file.seek(_FIRST)
        file.write(b"\n... %d bytes left out ...\n" % (size - _FIRST - _LAST) + end)
        file.truncate()


def _lines(log: str | Path) -> Iterator[str]:
    """Yield the lines; a bar that overwrites itself has many."""
    with open(log, errors="replace") as file:
        while line := file.readline(_LONGEST):
            yield unpainted(line.removesuffix("\n"))


def _tail(log):
    with open(log, "rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL))
        return unpainted(file.read(_TAIL).decode(errors="replace").replace("\r", "\n"))
