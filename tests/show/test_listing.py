"""The real source of a function, on the page that explains it."""

import inspect

import pytest

from scalelab.models.scaling import speedup
from scalelab.show.listing import source


def test_the_text_is_the_file_s_own():
    shown = source(speedup.efficiency)
    assert shown.text == inspect.getsource(speedup.efficiency)
    assert shown.where.startswith("scalelab/models/scaling/speedup.py, line ")
    assert shown.text in shown._repr_mimebundle_()["text/markdown"]


def test_what_has_no_python_source_is_refused():
    with pytest.raises(ValueError, match="written in Python, got <built-in function len>"):
        source(len)
