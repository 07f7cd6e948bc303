"""The worked proposal: every number of the page, recomputed from what the page itself says."""

import doctest
import re

import pytest
from click.testing import CliRunner

from scalelab.cli import commands
from tests.notebooks import ROOT

PAGE = (ROOT / "book" / "proposal.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)


def test_every_answer_on_the_page_is_what_its_code_returns():
    told = doctest.DocTestParser().get_doctest("\n".join(BLOCKS), {}, "proposal", "proposal.md", 0)
    report = []
    results = doctest.DocTestRunner().run(told, out=report.append)
    assert results.attempted > 20
    assert results.failed == 0, "".join(report)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["fit", "{}", "--at", "256"], ["256  1.23 s", "measure 128 workers"]),
        (["audit", "{}"], ["relative to 8", "Each size has one row"]),
    ],
)
def test_the_commands_of_the_page_say_what_it_reports(command, words, tmp_path):
    file = tmp_path / "timed.csv"
    file.write_text(re.search(r"^```csv\n(.*?)^```", PAGE, re.M | re.S)[1])
    told = CliRunner().invoke(commands, [part.format(file) for part in command])
    assert told.exit_code == 0
    for word in words:
        assert word in told.output


def test_what_the_prose_rounds_follows_from_what_is_printed():
    """Three and a half times as long; a factor of five; the last doubling; four times the bill."""
    days = {int(k): (float(d), float(b.replace(",", ""))) for k, d, b in re.findall(
        r"^ *(\d+) GPUs +([\d.]+) d +\$([\d,]+)", PAGE, re.M)}  # fmt: skip
    assert round(1.3 / 0.37, 1) == 3.5
    assert round(1024 / 201) == 5
    assert round(24 * days[256][0]) == 21
    assert days[256][1] / days[8][1] == pytest.approx(4, abs=0.1)
    assert 24 * (days[128][0] - days[256][0]) == pytest.approx(1.5, abs=0.15)
    assert 4500 < days[256][1] - days[128][1] < 5000
    assert days[32] == (2.14, 3289)
