"""Formulas as a docstring types them, set as they are printed: letters slant, powers rise, signs are signs.

A docstring is read in a terminal, so `N^alpha` stands there for what a page can show.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from docutils import nodes

GREEK = {
    **{"Alpha": "α", "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "lambda": "λ"},
    **{"mu": "μ", "rho": "ρ", "tau": "τ"},
}
SIGNS = {
    **{">=": "≥", "<=": "≤", "...": "…", "infinity": "∞"},
    **{"sqrt(": "√(", "Phi(": "Φ(", "Gamma(": "Γ("},
    **GREEK,
}
SIGN = re.compile(rf">=|<=|[.]{{3}}|\b(?:sqrt|Phi|Gamma)\(|\b(?:infinity|{'|'.join(GREEK)})\b")
# An x between two names is a sign, and elsewhere a name itself: K x peak, but a x + y, and rho x (1 + v).
TIMES = re.compile(r"(?<! of)(?<! the)(?<=[\w)]) x (?=\w)(?!(?:and|with)\b)")
MINUS = re.compile(r"(?<= )-(?= )|(?<=\()-(?=\w)|(?<=\b\w)-(?=1\b)")
HELD = re.compile(r"\((?:[^()]|\([^()]*\)){1,30}\)")  # in brackets; a phone has room for it
OPERATOR = re.compile(r" [=+−/×] ")
# A letter that stands alone; an article is none, nor the second of a unit.
A = r"(?<=[a-z;,=+] )A|(?<=[=+/(\xa0] )a|(?<=[(/\xa0])a|a(?=\xa0| [·=+/])"
BASE = rf"(?<![\w'’-])(?<![BP]/)(?:[B-Zb-zα-ωΦΓ]|{A})"
PIECE = re.compile(
    rf"(?P<base>{BASE})(?:_(?P<low>\w+)|(?P<foot>0|min|(?<=B)c|(?<=T)o(?=\()))?(?![\w'’])"
    r"|(?P<word>\b(?:log|lost))_?(?P<number>\d|j)\b"
    r"|\^(?:\((?P<wide>(?:[^()]|\([^()]*\))+)\)|(?P<up>\w+))"
)


def typeset(text: str) -> list[nodes.Node]:
    """Return a text with its formulas set; what is in short brackets stays on one line."""
    text = SIGN.sub(lambda found: SIGNS[found[0]], text)
    text = MINUS.sub("−", TIMES.sub(" × ", text))
    return list(_pieces(HELD.sub(_unbroken, text)))


def _unbroken(found: re.Match[str]) -> str:
    return found[0].replace(" ", "\xa0") if OPERATOR.search(found[0]) else found[0]


def _pieces(text: str) -> Iterator[nodes.Node]:
    end = 0
    for found in PIECE.finditer(text):
        yield from _plain(text[end : found.start()])
        end = found.end()
        if found["base"]:
            yield nodes.emphasis(text=found["base"])
        yield from _plain(found["word"])
        if below := found["low"] or found["foot"] or found["number"]:
            yield nodes.subscript("", "", *_small(below.replace("inf", "∞")))
        if above := found["wide"] or found["up"]:
            yield nodes.superscript("", "", *_small(above))
    yield from _plain(text[end:])


def _small(text: str) -> Iterator[nodes.Node]:
    yield from [nodes.emphasis(text=text)] if len(text) == 1 and text.isalpha() else _pieces(text)


def _plain(text: str | None) -> Iterator[nodes.Text]:
    if text:
        yield nodes.Text(text)
