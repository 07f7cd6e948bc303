"""What tries many cases in one test names each that fails, and asks for nothing that the test does not."""

import inspect

import pytest

from tests.cases import every


@every("low", [1, 5])
@every("high, name", [(3, "three"), (4, "four")])
def between(low, high, name, tmp_path):
    assert low < high, name


def test_each_case_that_fails_is_named_and_the_others_are_not():
    with pytest.raises(pytest.fail.Exception) as failed:
        between(tmp_path=None)
    said = str(failed.value)
    assert "5: " in said
    assert "(3, 'three')" in said
    assert "(4, 'four')" in said
    assert not said.startswith("1: ")
    assert "\n1: " not in said


def test_only_fixtures_are_asked_for():
    assert [*inspect.signature(between).parameters] == ["tmp_path"]


def test_nothing_to_try_is_no_test():
    with pytest.raises(AssertionError, match="a case to try"):
        every("low", [])(between)
