"""The reference names everything that a room hands out, and says what it is for."""

from __future__ import annotations

import ast
import sys

import pytest
from bs4 import BeautifulSoup
from docutils import nodes

import scalelab
from tests.housemap import PACKAGE, rooms
from tests.notebooks import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import reference
import typed

FOR_READERS = [room for room in rooms() if "face(" in (room / "__init__.py").read_text()]


@pytest.fixture(scope="module")
def page():
    return BeautifulSoup((ROOT / "_build/html/book/api.html").read_text(), "html.parser")


@pytest.fixture(scope="module")
def terms(page):
    """Return what the page explains, by its anchor."""
    return {term["id"]: term for term in page.find_all("dt", id=True)}


@pytest.fixture(scope="module")
def headings(page):
    """Return what stands over each section, by its anchor."""
    sections = page.find_all("section", id=True)
    return {
        one["id"]: one.find(["h2", "h3"]).get_text() for one in sections if one.find(["h2", "h3"])
    }


@pytest.fixture(scope="module")
def listed(page):
    """Return what the contents beside the page call each place."""
    return {link["href"]: link.get_text() for link in page.select("nav.page-toc a")}


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


@pytest.mark.parametrize("room", FOR_READERS, ids=lambda room: room.relative_to(PACKAGE).as_posix())
def test_every_module_of_a_room_has_a_heading_that_the_contents_list(room, headings, listed):
    for file in room.glob("*.py"):
        if file.stem != "__init__" and any(reference.public(file)):
            dotted = ".".join(room.relative_to(ROOT).parts)
            module = dotted if file.stem == room.stem else f"{dotted}.{file.stem}"
            place = nodes.make_id(f"module {module}")
            assert headings[place].startswith(file.stem)
            assert listed[f"#{place}"] == file.stem


def shown(text):
    """A typeset text with its letters between stars, and what is raised or lowered in braces."""
    marks = {nodes.emphasis: "*{}*", nodes.subscript: "_{{{}}}", nodes.superscript: "^{{{}}}"}

    def one(node):
        if isinstance(node, nodes.Text):
            return node.astext()
        return marks[type(node)].format("".join(map(one, node.children)))

    return "".join(map(one, typed.typeset(text))).replace("\xa0", "~")


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("S_j = K T(1) / (T(1) + lost_1)", "*S*_{*j*} = *K* *T*(1) / (*T*(1)~+~lost_{1})"),
        ("L = E + A / N^alpha", "*L* = *E* + *A* / *N*^{*α*}"),
        ("tau e^(-R/mu), D = (C / 6)^b", "*τ* *e*^{−*R*/*μ*}, *D* = (*C*~/~6)^{*b*}"),
        ("B = sqrt(Bc a K / b)", "*B* = √(*B*_{*c*}~*a*~*K*~/~*b*)"),
        ("K0 workers, a share of K", "*K*_{0} workers, a share of *K*"),
        ("max(T_1 / K, T_inf)", "max(*T*_{1}~/~*K*,~*T*_{∞})"),
        ("K x peak, y = A x with A of m", "*K* × peak, *y* = *A* *x* with *A* of *m*"),
        ("rho x (1 + v) / (2 (1 - rho))", "*ρ* *x* (1~+~*v*) / (2~(1~−~*ρ*))"),
        (
            "GB/s of a link, Amdahl's law, a K-th, Ctrl-C",
            "GB/s of a link, Amdahl's law, a *K*-th, Ctrl-C",
        ),
        ("memory / per_parameter (Section 3.2)", "memory / per_parameter (Section 3.2)"),
    ],
)
def test_a_typed_formula_is_set_and_a_sentence_left_alone(written, printed):
    assert shown(written) == printed


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
