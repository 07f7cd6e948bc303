"""Numbers in the prose of a chapter that nothing vouches for: `python -m tests.book.numbers [CHAPTER ...]`.

A number in a text cell is vouched for if a cell of the chapter prints it in every run
(`tests/golden/numbers.json`) or holds it in its code, or if its paragraph names a source. Every other has
its reason in `numbers.toml`: arithmetic behind "=", which is computed here, or words. A reason for
a number that is gone is refused too.
"""

from __future__ import annotations

import ast
import json
import math
import operator
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tests import golden
from tests.notebooks import ROOT, WRITTEN, chapter

REASONS = Path(__file__).with_name("numbers.toml")
PRINTED = ROOT / "tests" / "golden" / "numbers.json"
SMALL = range(13)  # counts that prose may use freely
YEARS = range(1900, 2100)
_NUMBER = re.compile(r"(?<![\w.,/-])\d[\d,]*(?:\.\d+)?(?:e-?\d+)?(?![\w/]*\.(?:ipynb|md))")
_SOURCE = re.compile(r"\]\(https?://|\{cite|bibliography|doi\.org|\]\([^)]*corrections\.md")
_NO_PROSE = re.compile(
    r"\]\([^)]*\)|`[^`]*`|<[^>]+>|\((?:eq|tab|fig)-[\w-]+\)"  # links, code, tags, labels
    r"|[Ss]ections? [\d.]+(?:(?:,| and| to|;) [\d.]+)*|[Ee]xercises? [\d.]+|[Cc]orrections? \d+"
    r"|^#+ [\d.]+|^\*\*[\d.]+\*\*|^\d+\.(?= )|\bA100|H100|H200|B200",
    re.M,
)
_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.USub: operator.neg,
}
_FUNCTIONS = {name: getattr(math, name) for name in ("sqrt", "log", "log2", "exp", "ceil", "floor")}


def paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of a text cell, each item of a list by itself."""
    for block in re.split(r"\n\s*\n", text):
        yield from re.split(r"\n(?=- |\d+\. )", block)


def numbers(text: str) -> list[str]:
    """Return the numbers of a paragraph as they are written; small counts and years are none.

    >>> numbers("In 1988 he had 1,024 processors ([section 3.1](01_speedup.ipynb)): 0.4% of `2.5`.")
    ['1,024', '0.4']
    """
    text = _NO_PROSE.sub(" ", text).replace("{,}", ",").replace("\\,", "")
    written = [number.rstrip(",") for number in _NUMBER.findall(text)]
    return [n for n in written if not (n.isdigit() and (int(n) in SMALL or int(n) in YEARS))]


def value(written: str) -> float:
    """Return what a written number stands for."""
    return float(written.replace(",", ""))


def agrees(written: str, exact: float) -> bool:
    """Say whether a number is another one, rounded to the digits that it is written with; or its percent.

    >>> agrees("0.31", 0.3118), agrees("31", 0.3118), agrees("1,820", 1820.4), agrees("31", 33)
    (True, True, True, False)
    """
    digits = len(written.partition(".")[2].partition("e")[0])
    half = 0.5 * 10**-digits * (1 + 1e-9)
    stated = value(written)
    if not digits and stated >= 1000:  # 1,200,000 is written with the digits that count
        zeros = len(written.replace(",", "")) - len(written.replace(",", "").rstrip("0"))
        half = max(half, 0.5 * 10 ** min(zeros, 9)) if zeros > 2 else half
    return any(abs(stated - times * abs(exact)) <= half for times in (1, 100))


def computed(expression: str) -> float:
    """Return the value of an arithmetic expression.

    >>> computed("32 * (1 - 0.2)")
    25.6
    """

    def of(node):
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return node.value
        if isinstance(node, ast.BinOp):
            return _OPERATORS[type(node.op)](of(node.left), of(node.right))
        if isinstance(node, ast.UnaryOp):
            return _OPERATORS[type(node.op)](of(node.operand))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return _FUNCTIONS[node.func.id](*map(of, node.args))
        raise ValueError(f"{ast.unparse(node)} is no arithmetic")

    return float(of(ast.parse(expression.strip(), mode="eval").body))


def vouched(slug: str) -> list[float]:
    """Return the numbers that the cells of a chapter print or hold."""
    shown = json.loads(PRINTED.read_text(encoding="utf-8")).get(slug, "")
    return [value(n) for text in (shown, *chapter(slug).code) for n in golden.numbers(text)]


def unvouched(slug: str) -> dict[str, str]:
    """Return the numbers of a chapter that need a reason, with the first paragraph of each."""
    known, alone = vouched(slug), {}
    for cell in chapter(slug).markdown:
        for paragraph in paragraphs(cell):
            if not _SOURCE.search(paragraph):
                for written in numbers(paragraph):
                    if not any(agrees(written, number) for number in known):
                        alone.setdefault(written, " ".join(paragraph.split()))
    return alone


def faults(slug: str, reasons: dict) -> Iterator[str]:
    """Yield what is wrong with a chapter's numbers and their reasons, a line each."""
    alone = unvouched(slug)
    if "open" in reasons:  # nobody has gone through this chapter yet: it may only get better
        if len(alone) > reasons["open"]:
            yield f"{slug}: {len(alone)} numbers without a reason, {reasons['open']} at most"
        return
    for written, paragraph in alone.items():
        reason = reasons.get(written, "")
        if not reason:
            at = paragraph.find(written)
            yield f"{slug}: nothing vouches for {written} in: ...{paragraph[max(at - 60, 0) : at + 60]}..."
        elif reason.startswith("="):
            for part in reason.split("=")[1:]:
                if not agrees(written, exact := computed(part)):
                    yield f"{slug}: {written} is said to be{part}, which is {exact:g}"
    # One that a cell prints as well keeps its reason: that may be by chance, of another thing.
    for written in reasons.keys() - {n for cell in chapter(slug).markdown for n in numbers(cell)}:
        yield f"{slug}: {written} stands in the prose no more: take it out of {REASONS.name}"


def main(slugs: list[str]) -> int:
    """Print all faults; return 1 where there are any."""
    reasons = tomllib.loads(REASONS.read_text(encoding="utf-8"))
    wrong = [fault for slug in slugs or WRITTEN for fault in faults(slug, reasons.get(slug, {}))]
    print("\n".join(wrong), end="\n" * bool(wrong))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
