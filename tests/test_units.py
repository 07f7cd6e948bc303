"""Numbers to text and back."""

import math

import pytest
from hypothesis import given, strategies as st

from scalelab import units

UNITS = ("s", "B", "B/s", "bit/s", "FLOP/s", "J", "W", "%", "samples/s", "$", "")


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (0.0035, "s", "3.5 ms"),
        (0.9999, "s", "1 s"),
        (600, "s", "600 s"),
        (5400, "s", "90 min"),
        (20e9, "B/s", "20 GB/s"),
        (0, "B", "0 B"),
        (0.5, "B", "0.5 B"),
        (-0.0035, "s", "-3.5 ms"),
        (20_000, "samples/s", "20,000 samples/s"),
        (19.2844, "", "19.3"),
        (0.703, "%", "70.3%"),
        (math.inf, "", "∞"),
        (1e-15, "s", "0.001 ps"),
    ],
)
def test_a_value_is_written_with_the_prefix_that_fits(value, unit, expected):
    assert units.text(value, unit) == expected


def test_a_gigabyte_and_a_gibibyte_differ_by_seven_per_cent():
    assert units.parse("1 GiB", "B") / units.parse("1 GB", "B") == pytest.approx(1.0737, abs=1e-4)
    assert units.text(2**30, "B", binary=True) == "1 GiB"
    assert units.text(2**30, "B") == "1.07 GB"


@given(st.floats(1e-9, 1e17), st.sampled_from(UNITS), st.integers(2, 9))
def test_reading_back_what_was_written_loses_only_the_digits_left_out(value, unit, digits):
    written = units.text(value, unit, digits=digits)
    assert units.parse(written, unit) == pytest.approx(value, rel=10 ** (1 - digits))


@given(st.floats(1, 1e17), st.integers(4, 9))
def test_binary_prefixes_read_back_too(value, digits):
    written = units.text(value, "B", digits=digits, binary=True)
    assert units.parse(written, "B") == pytest.approx(value, rel=10 ** (1 - digits))


@given(st.floats(1e-11, 1e20), st.integers(1, 6))
def test_a_prefixed_number_stays_between_one_and_a_thousand(value, digits):
    number = float(units.text(value, "FLOP", digits=digits).split()[0].replace(",", ""))
    assert number < 1000 or value >= 9.99e20
    assert number >= 1 or value < 1


@pytest.mark.parametrize("spelling", ["3 µs", "3 μs", "3 us", "3us", " 3.0e0 us "])
def test_micro_has_several_spellings(spelling):
    assert units.parse(spelling, "s") == 3e-6


@pytest.mark.parametrize("written", ["70 %", "70%", "7e1 %"])
def test_decimal_prefixes_add_no_binary_dust(written):
    assert units.parse(written, "%") == 0.7


@pytest.mark.parametrize(
    ("given", "unit", "hint"),
    [
        ("16 Gb", "B", "GB is 1e9 bytes, GiB is 2**30 bytes"),
        ("20 Gbit/s", "B/s", "8 bit make a byte"),
        ("16 GB", "s", "write it like '35 ms', '90 s' or '2 h'"),
        ("0 GB", "s", "must be in ns, µs, ms, s, min, h or d"),
        ("5", "s", "must be in ns, µs, ms, s, min, h or d"),
        ("fast", "s", "must be a number and a unit"),
        ("1,2 s", "s", "must be a number and a unit"),
        ("", "s", "must be a number and a unit"),
        ("1e999 s", "s", "below 1.8e308"),
    ],
)
def test_a_wrong_dimension_or_number_is_explained(given, unit, hint):
    with pytest.raises(ValueError, match=r"^value must be .*, got .*: ") as error:
        units.parse(given, unit)
    assert hint in str(error.value)


@pytest.mark.parametrize("junk", [math.nan, None, "3", True, [1, 2], 10**400])
def test_what_is_not_one_number_is_refused(junk):
    with pytest.raises(ValueError, match="value must be one number, got"):
        units.text(junk, "s")


def test_binary_prefixes_are_for_bytes_and_bits_only():
    with pytest.raises(ValueError, match="unit must be B or bit"):
        units.text(3, "s", binary=True)


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=9), st.sampled_from(("s", "B/s", "J")))
def test_a_column_has_one_unit(values, unit):
    cells = units.column(values, unit)
    assert len({cell.partition(" ")[2] for cell in cells}) == 1
    assert units.parse(cells[0], unit) == pytest.approx(values[0], rel=0.005)


def test_a_row_takes_the_unit_of_the_column_that_it_stands_in():
    assert units.alike([5, 6], "s", among=[0.005, 0.006, 5]) == ["5,000 ms", "6,000 ms"]
    assert units.column([None, 5, 0.2], "s", none="–") == ["–", "5 s", "0.2 s"]
    assert units.column([None]) == [""]


@pytest.mark.parametrize(
    ("value", "written"),
    [(1, "1.000"), (0.9684, "0.968"), (1.379, "1.379"), (0.0883, "0.0883"), (0, "0.000")],
)
def test_an_efficiency_is_a_share_of_one(value, written):
    assert units.share(value) == written
