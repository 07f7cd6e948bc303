"""What is read as one stays on one line of a page."""

import pytest
from docutils import nodes
from docutils.core import publish_doctree

from tests.book.test_extension import extension


def kept(text):
    """The first paragraph of a text after the extension: (its words, what it holds together)."""
    tree = publish_doctree(text)
    extension("together").keep_together(None, tree)
    paragraph = next(tree.findall(nodes.paragraph))
    wrapped = [one for one in paragraph.findall(nodes.inline) if "together" in one["classes"]]
    return paragraph.astext().replace("\u00a0", "~"), [one.astext() for one in wrapped]


@pytest.mark.parametrize("unit", ["%", "ms", "µs", "GB", "GB/s", "GiB", "TFLOP/s", "Gbit/s", "kWh"])
def test_a_number_is_not_parted_from_its_unit(unit):
    assert kept(f"Of 3.5 {unit}, say.") == (f"Of 3.5~{unit}, say.", [])


def test_a_part_is_not_parted_from_its_number():
    assert kept("(part 5) of the 12 parts 3 had.") == ("(part~5) of the 12 parts 3 had.", [])
    assert kept("(correction 5), corrections 11") == ("(correction~5), corrections 11", [])


def test_the_level_that_ends_a_heading_stays_behind_its_dot():
    """A phone began or ended a line with the dot."""
    tree = publish_doctree(
        "2. Speed: how much? · *Beginner*\n================================\n\nA word."
    )
    name = next(tree.findall(nodes.Element))["ids"]
    extension("together").keep_together(None, tree)
    assert next(tree.findall(nodes.title)).astext().endswith("much? ·\u00a0Beginner")
    assert next(tree.findall(nodes.Element))["ids"] == name


def test_a_number_may_be_parted_from_a_word_and_code_stays_as_it_is():
    assert kept("On 8 GPUs 2 show ``1 s``.") == ("On 8 GPUs 2 show 1 s.", [])


def test_a_formula_keeps_the_punctuation_that_touches_it():
    words, together = kept("Of :math:`K`, (:math:`s`) the :math:`K`-th and :math:`x` of it.")
    assert words == "Of K, (s) the K-th and x of it."
    assert together == ["K,", "(s)", "K-th"]


def test_punctuation_is_taken_from_beside_the_formula_and_not_from_an_equal_text_before():
    """MyST makes a text of its own of the full stop that ends a line."""
    text, math = nodes.Text, nodes.math
    parts = [
        nodes.emphasis("", "begins"),
        text("."),
        text(" It ends at "),
        math("", "E"),
        text("."),
    ]
    tree = nodes.section("", nodes.paragraph("", "", *parts))
    extension("together").keep_together(None, tree)
    assert tree.astext() == "begins. It ends at E."
    assert [one.astext() for one in tree.findall(nodes.inline)] == ["E."]


def test_a_heading_is_left_alone():
    tree = publish_doctree("Profile :math:`K`, once\n=======================\n\nA word.")
    extension("together").keep_together(None, tree)
    assert not list(tree.findall(nodes.inline))
