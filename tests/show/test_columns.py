"""Tables computed by the code beside them."""

import numpy as np
import pytest

from scalelab.records import Machine, Sample
from scalelab.show.columns import table


def test_a_table_prints_its_numbers_in_the_format_asked_for():
    text = repr(table({"K": [1, 2], "E(K)": [1.0, 0.95238]}, "Efficiency", form=".4f"))
    assert text.splitlines() == ["Efficiency", "K    E(K)", "1  1.0000", "2  0.9524"]


def test_the_first_column_names_the_rows():
    html = table({"K": [1], "S": [1.0]}, "t")._repr_html_()
    assert '<th scope="row">1</th><td>1</td>' in html


def test_words_stand_at_the_left_and_only_long_ones_take_several_lines():
    """Or the table of published upgrades, whose last column says what was set, is cut on a wide screen."""
    told = "layers split over 4 GPUs on H100, over 2 on H200"
    columns = {
        "job": ["3D U-Net", "BERT"],
        "gain": ["1.04 ± 0.01", "–"],
        "K": [1, 2],
        "set": ["", told],
    }
    assert table(columns, "t").looks == ["sl-words", "", "", "sl-words sl-prose"]
    html = table(columns, "t")._repr_html_()
    assert '<th scope="col" class="sl-words">job</th><th scope="col">gain</th>' in html
    assert f'<td>–</td><td>2</td><td class="sl-words sl-prose">{told}</td>' in html


def test_on_a_phone_a_long_name_of_a_row_takes_several_lines():
    """Or it takes the width in which the numbers would stand, for which the table is there."""
    names = ["Megatron-core, 177 billion", "Llama 3"]
    assert table({"job": names, "S": [43, 2]}, "t").looks == ["sl-words sl-named", ""]
    assert table({"job": ["one worker", "–"], "S": [1, 2]}, "t").looks == ["sl-words", ""]


def test_text_in_a_cell_cannot_become_markup():
    assert "<img" not in table({"who": ["<img src=x>"]}, "<img>")._repr_html_()


def test_columns_of_different_length_are_refused():
    with pytest.raises(ValueError, match=r"same length, got \{'K': 2, 'S': 1\}"):
        table({"K": [1, 2], "S": [1]}, "t")


def test_a_column_may_be_anything_that_holds_numbers():
    columns = {
        "array": np.array([1, 2345]),
        "floats": np.array([1, 2345.0], np.float32),
        "mixed": (np.int64(1), 2345.5),
        "words": ["a", 1],
        "range": range(2),
    }
    assert table(columns, "t").rows == [
        ["1", "1", "1", "a", "0"],
        ["2,345", "2,340", "2,350", "1", "1"],
    ]
    assert table({"k": np.array(5.0), "who": "ada"}, "t").rows == [["5", "ada"]]


def test_a_measurement_shows_its_median_and_interval():
    seconds = tuple(0.1 + 0.001 * n for n in range(9))
    sample = Sample("step", seconds, 1, Machine("host", cores=1), "2026-01-01")
    assert "104 ms (101 to 107)" in repr(table({"K": [1], "T": [sample]}, "t"))
