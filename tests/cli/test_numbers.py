"""Numbers that a person compares: one unit in a column, and one notation of an efficiency."""

import re

import pytest

from scalelab.cli.run import programs
from scalelab.records import Machine, Sample
from scalelab.show.columns import table
from tests.cli.command import scalelab

# From hours to minutes, as a table over worker counts goes.
RUNS = "workers,seconds,rate,quality\n" + "".join(
    f"{k},{14400 / k + 60},{3 * k},0.9\n" for k in (1, 2, 4, 8, 16, 32)
)
COMMANDS = {
    "audit -": (),
    "fit - --at 2,300,3000": ("time", "90% interval"),
    "rubric -": ("T(K)",),
    "plan example": ("step", "time", "energy"),
}


def columns(printed, heading):
    """Yield the columns of every printed table that has such a heading, cell by cell."""
    for part in printed.split("\n\n"):
        lines = part.splitlines()
        for at, line in enumerate(lines):
            if not (found := re.search(rf"(?:^|  ){re.escape(heading)}(?:  |$)", line)):
                continue
            end = found.end() if found.end() == len(line) else found.end() - 2
            cells = []
            for row in lines[at + 1 :]:
                if len(row) < end or not re.match(r" *[\d,]+  ", row):
                    break
                cells.append(re.split(r" {2,}", row[:end])[-1])
            yield cells


@pytest.mark.parametrize("line", COMMANDS)
def test_a_column_has_one_unit_down_and_across_an_interval(line):
    printed = scalelab(*line.split(), text=RUNS).stdout
    for heading in COMMANDS[line]:
        (cells,) = [cells for cells in columns(printed, heading) if len(cells) > 1]
        units = {
            unit for cell in cells for unit in re.findall(r"\d ([^\W\d]+)", cell) if unit != "to"
        }
        assert len(units) == 1, (heading, cells)


@pytest.mark.parametrize("line", COMMANDS)
def test_an_efficiency_is_a_share_of_one_everywhere(line):
    printed = scalelab(*line.split(), text=RUNS).stdout
    found = [*columns(printed, "efficiency"), *columns(printed, "efficiency over 1")]
    cells = [cell for column in found for cell in column]
    assert len(cells) > 2
    assert [cell for cell in cells if not re.fullmatch(r"\d\.\d{3,5}", cell)] == []
    assert not re.search(r"%[^,;.]* efficient|efficien[^,;.]*%", printed)


def test_runs_of_a_program_and_what_they_lie_between_have_one_unit():
    """Once it read 2.04 h (116 min to 2.15 h)."""
    cells = programs._spreads([[7344, 6960, 7740], [900], []], "s")
    assert cells == ["7,340 s (6,960 s to 7,740 s)", "900 s", "failed"]
    assert programs._spreads([[0.9, 0.9, 0.9]]) == ["0.9"]


def test_samples_below_each_other_have_one_unit():
    fast, slow = (
        Sample("x", tuple(s * (1 + n / 50) for n in range(7)), 1, Machine("host", 1), "2026-01-01")
        for s in (0.003, 2.0)
    )
    for order in ((fast, slow), (slow, fast)):
        cells = repr(table({"time": order}, "t"))
        assert len(set(re.findall(r"\d (m?s)\b", cells))) == 1
