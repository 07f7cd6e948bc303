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


@pytest.mark.parametrize(
    ("unit", "bounds", "measured", "said"),
    [
        ("s", (0.002, 0.004), 0.003, "Measured: 3 ms. Expected: 2 to 4 ms."),
        ("s", (0.0005, 4), 0.003, "Measured: 3 ms. Expected: 500 µs to 4 s."),
        ("%", (-0.02, 0.25), 0.045, "Measured: 4.5%. Expected: −2 to 25%."),
        ("×", (3, math.inf), 38.7, "Measured: 38.7×. Expected: at least 3×."),
        ("times", (0.75, 1.5), 1, "Measured: 1 times. Expected: 0.75 to 1.5 times."),
    ],
)
def test_numbers_are_told_with_their_unit_and_that_of_two_bounds_once(unit, bounds, measured, said):
    made = claim("It waits", least=bounds[0], most=bounds[1], unit=unit, otherwise=LOOK)
    assert repr(made(measured)) == f"held here. {said}"


def test_what_is_measured_is_told_apart_from_what_is_claimed():
    made = claim("One is enough", of="S(2)", most=1.1, otherwise=LOOK)
    assert repr(made) == "Claim: One is enough. Expected: at most 1.1 for S(2)."
    assert (
        made(1)
        ._repr_mimebundle_()["text/html"]
        .endswith("One is enough.<br>Measured: S(2) = 1. Expected: at most 1.1.</p></div>")
    )
    assert made(1).plain["what"] == "One is enough: S(2)"


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
