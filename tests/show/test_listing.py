"""The real source of a function, on the page that explains it."""

import ast
import inspect
import sys
from inspect import signature

import numpy as np
import pytest
from hypothesis import given, strategies as st

import scalelab.models.cost
import scalelab.models.kernels
import scalelab.models.machines
import scalelab.models.network
import scalelab.models.scaling
import scalelab.models.waiting
from scalelab.models.machines import failures
from scalelab.models.network.network import Network
from scalelab.models.scaling import speedup
from scalelab.refusal import Refusal
from scalelab.show.listing import formula, source
from tests.notebooks import WRITTEN, chapter
from tests.public import luck, meant


def test_the_text_is_the_file_s_own():
    shown = source(speedup.efficiency)
    assert shown.text == inspect.getsource(speedup.efficiency)
    assert shown.where.startswith("scalelab/models/scaling/speedup.py, line ")
    assert shown.text in shown._repr_mimebundle_()["text/markdown"]


def test_what_has_no_python_source_is_refused():
    with pytest.raises(ValueError, match="written in Python, got <built-in function len>"):
        source(len)


def shown():
    """Yield the functions whose formula a chapter shows."""
    for slug in WRITTEN:
        for node in ast.walk(ast.parse("\n".join(chapter(slug).code))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "formula":
                for one in node.args:
                    found = scalelab.models
                    for name in ast.unparse(one).split("."):
                        found = getattr(found, name)
                    yield pytest.param(found, id=ast.unparse(one))


@pytest.mark.parametrize("function", list(shown()))
def test_the_formula_of_a_chapter_computes_what_the_function_does_in_few_lines(function):
    """Whatever checks were left out, on arguments that pass them."""
    text = formula(function).text
    assert 3 <= len(text.splitlines()) <= 8
    assert max(map(len, text.splitlines())) <= 80
    inside = dict(vars(sys.modules[function.__module__]))
    exec(text, inside)

    @luck(function, 25)
    @given(st.fixed_dictionaries({name: meant(name) for name in signature(function).parameters}))
    def agrees(arguments):
        try:
            expected = function(**arguments)
        except Refusal:
            return
        kinds = (int, float, list)
        arrays = {n: np.array(x) if isinstance(x, kinds) else x for n, x in arguments.items()}
        assert inside[function.__name__](**arrays) == pytest.approx(expected, rel=1e-12)

    agrees()


def test_what_reads_checks_and_refuses_is_left_out_of_a_formula():
    text = formula(failures.daly_interval, speedup.ceiling).text
    assert "numbers(" not in text
    assert "answer(" not in text
    assert text.count("def ") == 2
    with pytest.raises(ValueError, match="formula must be given functions, got a class"):
        formula(Network)


def test_every_chapter_shows_the_formula_it_computes_with():
    assert [s for s in WRITTEN if "formula(" not in " ".join(chapter(s).code)] == []
