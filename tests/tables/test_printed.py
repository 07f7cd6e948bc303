"""Tables as text: no wider than the room, and nothing lost, broken or mixed where they are narrow."""

import re

import pytest
from hypothesis import given, strategies as st

from scalelab.tables.printed import aligned, wrapped

ROWS = [
    ("devices", "time", "rate", "why"),
    ("8", "1,800 d", "6,430", "too big for what is left of the memory"),
    ("1024", "1.69 d", "7,040,000", ""),
]
CELLS = st.one_of(
    st.from_regex(r"\A[1-9]\d{0,5}(\.\d)?( (ms|%|GB/s))?\Z"),
    st.lists(st.sampled_from(["met", "too", "late", "fifteen-letters"]), max_size=5).map(" ".join),
)
TABLES = st.integers(2, 6).flatmap(
    lambda n: st.lists(st.tuples(*[CELLS.filter(bool)] * n), min_size=2, max_size=5)
)


@pytest.mark.parametrize("width", [20, 30, 40, 60, 80])
def test_no_line_is_wider_than_the_room(width):
    lines = [*aligned(ROWS, left=(3,), width=width)]
    assert max(map(len, lines)) <= width


def test_where_there_is_room_a_table_is_one_block():
    assert [*aligned(ROWS, left=(3,), width=80)] == [*aligned(ROWS, left=(3,))]


def test_each_block_begins_with_the_first_column():
    heads = [line for line in aligned(ROWS, left=(3,), width=30) if line.startswith("devices")]
    assert [head.split()[1:] for head in heads] == [["time", "rate"], ["why"]]


def test_a_row_that_says_nothing_more_is_left_out_of_a_further_block():
    *_, last = "\n".join(aligned(ROWS, left=(3,), width=30)).split("\n\n")
    assert "1024" not in last


@given(TABLES, st.integers(34, 90))
def test_every_word_of_a_table_is_printed_in_any_room(rows, width):
    printed = "\n".join(aligned(rows, left=range(len(rows[0])), width=width)).split()
    assert {word for row in rows for cell in row for word in cell.split()} <= {*printed}


@given(TABLES, st.integers(34, 90))
def test_no_number_is_parted_from_its_unit(rows, width):
    """A line that ended in a number would be told by one that begins with its unit."""
    for line in aligned(rows, left=range(len(rows[0])), width=width):
        assert not re.search(r"(?:^|  )(?:ms|%|GB/s)(?:  |$)", line)


def test_a_sentence_is_broken_between_words():
    text = "not 2, 4 and 8: at 8 it takes 22.6 d, 1.57 d too long"
    lines = wrapped(text, 20, "  ")
    assert " ".join(line.strip() for line in lines) == text
    assert max(map(len, lines)) <= 20
    assert wrapped(text, None) == wrapped(text, 99) == [text]
