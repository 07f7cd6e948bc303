"""How lines reach a person: in colour and as wide as a terminal is, in plain letters where it has no others.

A pipe or a file gets no colour. NO_COLOR and FORCE_COLOR decide if they are set, TERM=dumb means none,
and COLUMNS is the width.
"""

import codecs
import io
import os
import re
import shutil
import sys
from collections.abc import Iterator
from functools import partial
from typing import IO, Any

import click

from scalelab.tables.printed import wrapped

_QUIET = "scalelab.quiet"
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_WIDTH = 100  # where nothing tells it
_HANGING = re.compile(
    r" *(?:\w+ {2,}(?=\S))?(?:(?:→|-) )?"
)  # below what stands after it words go on
_NARROWEST = 20
_PLAIN = {
    "→": "->", "←": "<-", "×": "x", "–": "-", "—": "-", "−": "-", "…": "...", "µ": "u", "μ": "u",
    "█": "#", "░": ".",
    "∞": "inf", "≥": ">=", "≤": "<=", "≈": "~", "±": "+-", "·": "*", "²": "^2", "α": "alpha", "β": "beta",
    "σ": "sigma", "κ": "kappa", "λ": "lambda", "ρ": "rho", "’": "'", "‘": "'", "“": '"', "”": '"', " ": " ",
    "✓": "yes", "✗": "no", "€": "EUR",
}  # fmt: skip
# What a line opens with, or what a cell says. Red is for what is wrong, green for what to do.
_PAINT = (
    (re.compile(r"^(?:error(?=  )|refused:|scalelab:|no(?=  ))"), {"fg": "red", "bold": True}),
    (re.compile(r"^warning(?=  )|\btoo (?:late|dear|small|slow)\b"), {"fg": "yellow", "bold": True}),
    (re.compile(r"^note(?=  )"), {"fg": "cyan"}),
    (re.compile(r"^ *→.*|<- buy\b|^nothing wrong was found$"), {"fg": "green"}),
    (re.compile(r"[█#]*[░.]{2,}\+?$|█+\+?$"), {"fg": "blue"}),
)  # fmt: skip


def prepare() -> None:
    """Let every stream write what it can: a terminal without → gets ->, what is closed takes anything."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if (
            getattr(sys, name) is None
        ):  # as after >&-, where the next file opened would be taken for it
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115
    codecs.register_error("scalelab.plain", _plain)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="scalelab.plain")


def say(*lines: str) -> None:
    """Print lines, in colour where it can be seen, and on a terminal broken between words."""
    widest = listing_width()
    whole = (line for text in lines for line in text.split("\n"))
    for line in (part for one in whole for part in broken(one, widest)):
        # click.echo writes UTF-8 to a terminal that says it knows ASCII only.
        print(painted(line) if coloured(sys.stdout) else line, flush=True)


def complain(line: str) -> None:
    """Print one line beside the output, likewise."""
    for part in broken(line, width() if sys.stderr.isatty() else None):
        print(painted(part) if coloured(sys.stderr) else part, file=sys.stderr, flush=True)


def broken(line: str, widest: int | None) -> Iterator[str]:
    """Yield a line in parts of so many letters, each below the words of the first.

    What somebody would copy, a path or a command, stays whole: the terminal itself shows it on two lines.

    >>> [*broken("rows     3 used, 1 left out: line 7", 28)]
    ['rows     3 used, 1 left out:', '         line 7']
    """
    line = _CONTROL.sub("?", line)  # a name in a file may hold the codes of a terminal
    if widest is None or len(line) <= widest or line.startswith("→ scalelab "):
        yield line
        return
    opening = _HANGING.match(line)
    indent = len(opening.group()) if opening else 0
    yield from wrapped(line, max(widest, _NARROWEST), " " * min(indent, widest // 3), whole=True)


def painted(line: str) -> str:
    """Return a line with its colours.

    >>> painted("note     one_run")
    '\\x1b[36mnote\\x1b[0m     one_run'
    """
    for words, style in _PAINT:
        line = words.sub(partial(_styled, style), line)
    return line


def coloured(stream: IO[str]) -> bool:
    """Whether colour is wanted there."""
    if os.environ.get("NO_COLOR"):
        return False
    if (forced := os.environ.get("FORCE_COLOR")) is not None:
        return forced not in ("", "0", "false")
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def width() -> int:
    """How many letters a line may have."""
    return shutil.get_terminal_size((_WIDTH, 24)).columns


def listing_width() -> int | None:
    """At how many letters a long line may be cut: a pipe gets all of it."""
    return width() if sys.stdout.isatty() or "COLUMNS" in os.environ else None


def hush(context: click.Context, option: click.Parameter, quiet: bool) -> None:
    """Remember that only the answer is wanted."""
    if quiet:
        context.meta[_QUIET] = True


def quiet() -> bool:
    """Whether only the answer is wanted."""
    context = click.get_current_context(silent=True)
    return bool(context and context.meta.get(_QUIET))


def _styled(style: dict[str, Any], found: re.Match[str]) -> str:
    return click.style(found.group(), **style)


def _plain(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    letters = error.object[error.start : error.end]
    return "".join(_PLAIN.get(letter, "?") for letter in letters), error.end
