"""Claims: what is said before a measurement, and after it."""

import math

import nbformat
import pytest
from nbclient import NotebookClient

from scalelab.refusal import Refusal
from scalelab.show.claims import MIME, claim, claimed

LOOK = "Is another program at work?"


@pytest.mark.parametrize(
    ("bounds", "measured", "held"),
    [
        ({"least": 1.0}, 1.0, True),
        ({"least": 1.0}, 0.999, False),
        ({"most": 2.0}, 2.0, True),
        ({"most": 2.0}, math.inf, False),
        ({"least": 1.0, "most": 2.0}, 1.5, True),
        ({"least": 1.0, "most": 2.0}, math.nan, False),
    ],
)
def test_a_claim_holds_within_its_bounds_and_never_for_what_is_no_number(bounds, measured, held):
    verdict = claim("Two are faster", otherwise=LOOK, **bounds)(measured)
    assert verdict.held is held
    for said in (repr(verdict), verdict._repr_mimebundle_()["text/html"]):
        assert ("did not hold here" in said) is not held
        assert (LOOK in said) is not held


def test_both_numbers_are_told_with_their_unit():
    said = repr(claim("It waits", least=0.002, most=0.004, unit="s", otherwise=LOOK)(0.003))
    assert said == "held here: 3 ms, expected 2 ms to 4 ms."


@pytest.mark.parametrize("bounds", [{}, {"least": 2.0, "most": 1.0}, {"least": math.nan}])
def test_a_claim_that_nothing_could_refute_is_refused(bounds):
    with pytest.raises(Refusal, match="refute it"):
        claim("It runs", otherwise=LOOK, **bounds)


def test_what_stands_in_a_claim_is_text():
    made = claim("S < <b>2</b>", most=2.0, otherwise="<i>")
    html = made._repr_html_() + made(3)._repr_mimebundle_()["text/html"]
    assert "<b>2" not in html
    assert "<i>" not in html


def test_an_executed_notebook_tells_what_it_claimed():
    code = (
        "from scalelab.show import claim\n"
        f"faster = claim('Two are faster', least=1.0, otherwise={LOOK!r})\nfaster"
    )
    cells = [nbformat.v4.new_code_cell(text) for text in (code, "faster(0.9)", "faster(1.5)")]
    made = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(made, kernel_name="python3").execute()
    found = claimed(made)
    assert [(one["what"], one["expected"], one["held"]) for one in found] == [
        ("Two are faster", "at least 1", False),
        ("Two are faster", "at least 1", True),
    ]
    assert MIME not in made.cells[0].outputs[0]["data"]
