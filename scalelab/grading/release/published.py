"""Look for solutions, hidden checks, mark schemes and secrets in whatever is published.

Folders, archives, notebooks, pages, search indexes and PDFs are read as text; a passage of a
solution counts wherever it stands, however it is coloured or wrapped. Run it from the course's
root. Standard library only; a PDF needs pdftotext or pypdf.
"""

import html
import io
import itertools
import json
import re
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scalelab.grading.release.leaks import marker
from scalelab.refusal import Refusal

# Letters and signs that no other text has by chance: in one line, in two neighbouring ones.
# The form of a check, which visible checks share: it names no answer, no case and no message.
_FORM = re.compile(
    r"((weight|within)=[\d.]+,|(unit|what)=\"[\w /]*\",|hidden=True,)*((known|cases)=(\[|_\w+,))?"
)
_LONG, _SHORT = 40, 16
_PIECE = _SHORT // 2
_QUOTES = str.maketrans("‘’“”–", "''\"\"-")
_SKIPPED = {".woff", ".woff2", ".ttf", ".png", ".jpg", ".ico", ".mo", ".po", ".map", ".inv", ".pyc"}
# A page's scripts and styles are copied as they come with the theme: 25 MB without our words.
_THEMES = re.compile(r"(^|/)_static/.*\.(js|css|json|svg|txt)$")
_STRAY = re.compile(r"(^|/)(solutions|course)/|tests/assignments/|\.key$")
_MARKER = re.compile(r"^\W*(BEGIN|END)\W+(SOLUTION|HIDDEN\W?TESTS?|MARK\W?SCHEME)\W*$", re.M | re.I)


def passages(notebook: Mapping[str, Any]) -> dict[str, str]:
    r"""Return {squeezed passage: cell} that must never be published, from a source notebook.

    In code two neighbouring lines, or one long one; in a mark scheme every long line.

    >>> cell = {"id": "a", "cell_type": "code", "metadata": {}}
    >>> cell["source"] = "### BEGIN SOLUTION\nx = 1  # of two\ny = x + 1234\n### END SOLUTION"
    >>> passages({"cells": [cell]})
    {'x=1#oftwoy=x+1234': 'a'}
    """
    origins: dict[str, str] = {}
    shown = ""
    for cell in notebook["cells"]:
        remaining, regions = _regions(cell)
        shown += _squeezed("\n".join(remaining))
        for lines in regions:
            squeezed = [s for line in lines if (s := _squeezed(line))]
            pairs = [a + b for a, b in itertools.pairwise(squeezed)]
            if cell["cell_type"] == "markdown":
                pairs = []
            for passage in [p for p in pairs if len(p) >= _SHORT] + [
                line for line in squeezed if len(line) >= _LONG
            ]:
                origins.setdefault(passage, cell["id"])
    return {p: cell for p, cell in origins.items() if p not in shown and not _FORM.fullmatch(p)}


def look(path: str | Path, secrets: Mapping[str, str]) -> list[str]:
    """Return one clause per thing in a file, a folder or an archive that must not be there.

    `secrets` maps a squeezed passage to where it is from.
    """
    path = Path(path)
    if not path.exists():
        raise Refusal(f"{path} is not there: build it first")
    clauses, holders = [], _pieces(secrets)
    for name, content in _files(path):
        if _STRAY.search(name):
            clauses.append(f"{name} is a file that must not be published")
        text = _text(name, content)
        squeezed = _squeezed(text)
        if _MARKER.search(text):
            clauses.append(f"{name} has a marker")
        inside = _inside(squeezed, holders)
        if inside:
            first = next(passage for passage in secrets if passage in inside)
            clauses.append(f"{name} has a passage of {secrets[first]}")
    return clauses


def course_secrets(root: str | Path) -> dict[str, str]:
    """Return {squeezed passage: where it is from} of all assignments and of the course's secret."""
    secrets: dict[str, str] = {}
    for path in sorted((Path(root) / "solutions").glob("*/*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            cell["source"] = "".join(cell["source"])
        secrets |= {p: f"{path.stem}, cell {cell!r}" for p, cell in passages(notebook).items()}
    if not secrets:
        raise Refusal(f"{root}/solutions must hold the assignments: run this from the root")
    word = Path(root) / "course" / "secret"
    if word.is_file() and len(word.read_text().strip()) >= 20:
        secrets[word.read_text().strip()] = "the course's secret"
    return secrets


def _regions(cell):
    """Return the lines that are shown, and a list of the regions that are removed."""
    remaining: list[str] = []
    regions: list[list[str]] = []
    inside = False
    for line in cell["source"].splitlines():
        if mark := marker(line):
            inside = mark[0] == "begin"
            if inside:
                regions.append([])
        else:
            (regions[-1] if inside else remaining).append(line)
    if cell["metadata"].get("nbgrader", {}).get("solution") and not regions:
        remaining, regions = [], [remaining]
    return remaining, regions


def _files(path):
    """Yield (name, bytes) of a file, of all files of a folder, of all members of an archive."""
    if path.is_dir():
        for inner in sorted(p for p in path.rglob("*") if p.is_file()):
            name = inner.relative_to(path).as_posix()
            if inner.suffix not in _SKIPPED and not _THEMES.search(name):
                yield name, inner.read_bytes()
    elif path.suffix in (".whl", ".zip"):
        with zipfile.ZipFile(path) as archive:
            yield from ((n, archive.read(n)) for n in archive.namelist() if not n.endswith("/"))
    elif path.suffix in (".gz", ".tgz", ".tar"):
        with tarfile.open(path) as archive:
            for member in archive.getmembers():
                if member.isfile() and (file := archive.extractfile(member)):
                    yield member.name, file.read()
    else:
        yield path.name, path.read_bytes()


def _text(name, content):
    """Return what a reader of a file can see of it, as text."""
    if content.startswith(b"%PDF"):
        return _pdf(name, content)
    text = content.decode("utf-8", errors="replace")
    if name.endswith(".ipynb"):
        try:
            cells = json.loads(text)["cells"]
            text = "\n".join("".join(c["source"]) + json.dumps(c.get("outputs")) for c in cells)
        except (ValueError, LookupError, TypeError):
            raise Refusal(f"{name} is not a notebook: build it again") from None
    if name.endswith((".html", ".htm")):
        text = html.unescape(re.sub(r"<[^>]*>", "", text))
    return text


def _pdf(name, content):
    if shutil.which("pdftotext"):
        done = subprocess.run(["pdftotext", "-", "-"], input=content, capture_output=True)
        if done.returncode == 0:
            return done.stdout.decode("utf-8", errors="replace")
    try:
        from pypdf import PdfReader

        return "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(content)).pages)
    except ImportError:
        sentence = f"{name} cannot be read: install pdftotext or pypdf"
    except Exception as error:
        sentence = f"{name} is not a PDF that can be read: {error}"
    raise Refusal(sentence)


def _pieces(passages):
    """Return {piece of 8 letters: the passages that hold it among their first 15}.

    Wherever a passage of 16 letters stands, one of the pieces into which its text is cut is one of these.
    """
    holders: dict[str, list[str]] = {}
    for passage in passages:
        for at in range(_PIECE):
            holders.setdefault(passage[at : at + _PIECE], []).append(passage)
    return holders


def _inside(text, holders):
    """Return the passages that stand in a text; few of them have to be searched for."""
    pieces = {text[at : at + _PIECE] for at in range(0, len(text), _PIECE)}
    suspects = {passage for piece in pieces & holders.keys() for passage in holders[piece]}
    return {passage for passage in suspects if passage in text}


def _squeezed(text):
    """Drop what a page changes in a text: white space, emphasis, the form of quotes."""
    return re.sub(r"[\s*`>\\]", "", text.translate(_QUOTES))
