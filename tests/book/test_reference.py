"""The reference names everything that a room hands out, and says what it is for."""

from __future__ import annotations

import ast
import sys

import pytest
from bs4 import BeautifulSoup

import scalelab
from tests.housemap import PACKAGE, rooms
from tests.notebooks import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import reference

FOR_READERS = [room for room in rooms() if "face(" in (room / "__init__.py").read_text()]


@pytest.fixture(scope="module")
def terms():
    """Return what the page explains, by its anchor."""
    file = ROOT / "_build" / "html" / "book" / "api.html"
    found = BeautifulSoup(file.read_text(), "html.parser").find_all("dt", id=True)
    return {term["id"]: term for term in found}


@pytest.mark.parametrize("room", FOR_READERS, ids=lambda room: room.relative_to(PACKAGE).as_posix())
def test_every_public_name_of_a_room_is_there_with_what_it_is_for(room, terms):
    dotted = ".".join(room.relative_to(ROOT).parts)
    for file in room.glob("*.py"):
        for node in reference.public(file):
            module = dotted if file.stem in ("__init__", room.stem) else f"{dotted}.{file.stem}"
            term = terms.get(f"{module}.{node.name}")
            assert term, f"{module}.{node.name}"
            assert term.get_text().startswith(f"{node.name}(")
            assert term.find_next("dd").get_text().strip().endswith((".", ":")), term


def test_a_signature_shows_names_and_defaults_and_a_record_its_fields():
    code = "def f(a: int, *b, c: str = 'x', **d) -> int: ...\nclass R:\n    x: int\n    y: str = ''"
    function, record = ast.parse(code).body
    assert reference.signature(function) == "f(a, *b, c='x', **d)"
    assert reference.signature(record) == "R(x, y)"


def test_a_first_sentence_ends_where_the_next_begins():
    (node,) = ast.parse('def f():\n    """Return T(K) in s. Section 3.9.\n\n    More."""').body
    assert reference.sentence(node) == "Return T(K) in s."


def test_an_example_is_what_the_docstring_runs_and_nothing_else():
    code = '''def f():\n    """Add.\n\n    >>> f()\n    1\n\n    More.\n\n    >>> f() + 1\n    2\n    """'''
    (node,) = ast.parse(code).body
    assert reference.example(node) == ">>> f()\n1\n>>> f() + 1\n2"


@pytest.mark.parametrize("name", scalelab.__all__)
def test_every_verb_is_there_with_its_example(name, terms):
    own = name in ("plan", "rubric")
    term = terms[f"scalelab.{name}" if own else f"scalelab.verbs.{name}"]
    assert term.get_text().startswith(f"{name}(")
    shown = term.find_next("dd")
    assert shown.find("p").get_text().endswith(".")
    assert ">>> " in shown.find("pre").get_text()
