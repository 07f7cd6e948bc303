"""`scalelab audit` and what reads tables as it does: `fit` and `run` say the same of the same file."""

import csv
import json

import pytest

from scalelab.curves.answer import judge
from scalelab.tables import table as tables
from tests.cli.command import scalelab


@pytest.mark.parametrize("weak", [False, True])
@pytest.mark.parametrize("repeats", [2, 4])
def test_run_audit_and_fit_gain_the_same_however_many_repeats_there_are(repeats, weak, tmp_path):
    """The median of times and that of rates are two things where the number of runs is even."""
    line = ("run", "--command", "true {workers}", "--workers", "1,2,4", "--repeats", repeats)
    line = (*line, "--out", "s.csv", *["--weak"] * weak)
    assert scalelab(*line, folder=tmp_path).returncode == 0
    file, seconds = tmp_path / "s.csv", {"1": 10, "2": 6, "4": 4}
    with file.open(newline="") as there:
        rows = list(csv.DictReader(there))
    for row in rows:  # as if another program had run beside, and more of it each time
        row["seconds"] = seconds[row["workers"]] + 5 * int(row["run"]) ** 2
    with file.open("w", newline="") as there:
        writer = csv.DictWriter(there, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    told = [row.split() for row in scalelab(*line, folder=tmp_path).stdout.splitlines()]
    ran = {
        row[0]: float(row[-1]) for row in told if row and row[0] in seconds and row[-2][0].isdigit()
    }
    audited = json.loads(scalelab("audit", file, "--json").stdout)["sizes"]
    judged = judge(tables.read(file), [1, 2, 4])
    for size, one in zip(audited, judged.predictions, strict=True):
        gain = audited[0]["seconds"] / size["seconds"] * (size["workers"] if weak else 1)
        assert size["speedup"] == pytest.approx(gain)
        assert size["efficiency"] == pytest.approx(judged.efficiency(one))
        assert size["efficiency"] == pytest.approx(ran[str(size["workers"])], rel=0.005)
