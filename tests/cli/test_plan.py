"""`scalelab plan`: table, JSON, figure, and exit code 2 with one sentence."""

import functools
import json
from unittest import mock

import pytest

from scalelab.plan import file as plan_file, plan
from tests.cli.command import scalelab


@pytest.fixture(scope="module", autouse=True)
def planned():
    """Plan the same job once: how is the business of others."""
    with mock.patch.object(plan, "plan", functools.cache(plan.plan)):
        yield


def test_the_example_that_is_printed_can_be_planned(tmp_path):
    printed = scalelab("plan", "--example")
    assert (printed.returncode, printed.stdout) == (0, plan_file.example())
    file = tmp_path / "plan.toml"
    file.write_text(printed.stdout)
    done = scalelab("plan", file)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\nBuy 128: " in done.stdout
    assert "model · times within a factor of" in done.stdout
    assert done.stdout == scalelab("plan", "example").stdout.replace("example:", "plan.toml:")


def test_standard_input_is_read_as_toml():
    done = scalelab("plan", "-", "--json", text=plan_file.example())
    assert json.loads(done.stdout)["chosen"] == 128


def test_json_holds_what_the_table_shows():
    document = json.loads(scalelab("plan", "example", "--json").stdout)
    table = scalelab("plan", "example").stdout
    assert document["stamp"] == "model"
    assert f"Buy {document['chosen']}:" in table
    for one in document["rows"]:
        assert one["low"] < one["seconds"] < one["high"]
        assert f"${one['dollars']:,.0f}" in table
    assert [one["change"] in table for one in document["what_ifs"]] == [True] * len(
        document["what_ifs"]
    )


def test_notes_say_what_is_not_modelled():
    said = scalelab("plan", "example", "--notes").stdout
    assert "What it does not model:" in said
    assert "no experts" in said


@pytest.mark.parametrize(
    ("name", "begins"),
    [("p.png", b"\x89PNG"), ("p.html", b"<!doctype html>"), ("p.svg", b"<?xml")],
)
def test_the_figure_goes_into_a_file(tmp_path, name, begins):
    assert scalelab("plan", "example", "--plot", tmp_path / name).returncode == 0
    drawn = (tmp_path / name).read_bytes()
    assert drawn.startswith(begins)
    if not name.endswith("png"):
        assert b"size to buy" in drawn
        assert b"://" not in drawn.replace(b"http://www.w3.org", b"")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[model]\nlayer = 3\n", "my.toml must have a table training"),
        (plan_file.example().replace("layers", "layer", 1), "did you mean layers?"),
        (plan_file.example().replace('"21 d"', '"soon"'), "goal.deadline must be a time such as"),
        ("]", "my.toml must be TOML"),
    ],
)
def test_a_bad_file_ends_with_code_two_and_one_sentence(tmp_path, text, said):
    file = tmp_path / "my.toml"
    file.write_text(text)
    done = scalelab("plan", file)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert said in done.stderr


@pytest.mark.parametrize("arguments", [(), ("no.toml",), (".",), ("example", "--plot", "p.gif")])
def test_a_bad_call_ends_with_code_two_and_one_sentence(arguments):
    done = scalelab("plan", *arguments)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
