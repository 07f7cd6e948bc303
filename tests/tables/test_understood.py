"""What was understood of a table: what was taken for what, its kind with the reason, and its curve."""

import json

import pytest

from scalelab.data import datasets
from scalelab.tables import text
from scalelab.tables.audit import audit
from scalelab.tables.table import of_series, parse
from scalelab.tables.understood import understood
from tests.cli.command import scalelab

MESSY = """# what I found on the cluster
GPUs;Laufzeit (min);Notiz;Lauf
1;92,5;;1
1;93,5;kalt;2
2;46,5;;1
# here the node was rebooted
4;OOM;;1
4;31;;2
"""


def lines(content, width=100):
    table = parse("runs.csv", content)
    found = understood(table)
    return [*text.understood_lines(table, found)], [*text.curve_lines(table, found, width)]


def test_what_was_taken_for_what_is_said_with_units_and_reasons():
    said, curve = lines(MESSY, 60)
    assert said == [
        "columns  workers: 'GPUs'; seconds: 'Laufzeit (min)', in min; run: 'Lauf'; not read: 'Notiz'",
        "taken    as strong scaling: nothing says otherwise, so every row is taken to do the same job",
        "rows     4 used, 2 left out: line 6 (a comment), line 7 (no seconds: OOM)",
    ]
    assert [line.split() for line in curve[1:]] == [
        ["1", "2", "93", "1", "1.000"],
        ["2", "1", "46.5", "2", "1.000"],
        ["4", "1", "31", "3", "0.750"],
    ]
    assert curve[0].split("  ")[-3:] == ["median time (min)", "speedup", "efficiency"]


@pytest.mark.parametrize(
    ("content", "kind", "why"),
    [
        ("workers,seconds\n1,9\n2,5\n", "strong", "nothing says otherwise"),
        ("weak scaling\nworkers,seconds\n1,9\n2,9\n", "weak", "its heading says so"),
        ("workers,seconds,scaling\n1,9,weak\n2,9,weak\n", "weak", "the column `scaling` says so"),
        ("workers,seconds,work\n1,9,10\n2,9,20\n", "weak", "the work grows"),
        ("workers,seconds,work\n1,9,10\n2,9,10\n", "strong", "the work is the same"),
        ("workers,seconds,work\n1,9,10\n2,9,15\n", "neither", "neither stays nor grows"),
        (
            "weak\nworkers,seconds\n1,90\n2,50\n8,12\n",
            "strong",
            "its heading says weak, what stands",
        ),
        ("workers,tput,batch\n1,9,8\n2,9,16\n", "weak", "the global batch grows with"),
        ("weak\nworkers,tput,batch\n1,9,8\n2,18,8\n", "strong", "though its heading says weak"),
        ("workers,throughput\n1,9\n2,9\n", "neither", "rates compare either way"),
        ("workers,seconds,scaling\n1,9,weak\n2,9,strong\n", "mixed", "some rows hold the work"),
    ],
)
def test_the_kind_of_a_study_is_said_with_the_reason(content, kind, why):
    found = understood(parse("runs.csv", content))
    assert found.kind == kind
    assert why in found.why


def test_weak_scaling_is_compared_by_work_per_second():
    found = understood(parse("r", "workers,seconds,work\n2,10,20\n8,20,80\n"))
    assert (found.lines[1].speedup, found.lines[1].efficiency, found.base) == (2, 0.5, 2)
    assert "scaled speedup over 2" in lines("workers,seconds,work\n2,10,20\n8,20,80\n")[1][0]


def test_a_rate_of_one_worker_is_shown_for_all_of_them():
    found = understood(parse("r", "GPUs,tokens/s/GPU\n1,10\n4,9\n"))
    assert [line.value for line in found.lines] == [10, 36]


def test_a_column_of_the_curve_has_one_unit_however_far_its_values_lie_apart():
    _, curve = lines("workers,seconds\n1,7200\n64,90\n4096,1.5\n")
    assert [line.split()[1] for line in curve] == ["time", "7,200", "90", "1.5"]


def test_the_bar_shrinks_and_goes_where_the_line_is_narrow():
    wide, narrow, none = (lines("workers,seconds\n1,60\n2,40\n", w)[1][2] for w in (100, 52, 40))
    assert wide.count("█") + wide.count("░") == 20
    assert 8 <= narrow.count("█") + narrow.count("░") < 20
    assert len(narrow) <= 52
    assert "█" not in none


def test_very_many_sizes_are_shown_by_their_ends():
    rows = "".join(f"{k},{100 / k}\n" for k in range(1, 101))
    _, curve = lines("workers,seconds\n" + rows)
    assert len(curve) == 42
    assert "and 60 more sizes" in curve[21]


@pytest.mark.parametrize("width", [20, 60, 100, 200])
def test_every_public_series_is_shown_in_lines_that_fit(width):
    for name in datasets.names():
        series = datasets.load(name)
        if not (series.seconds or series.throughput):
            continue
        table = of_series(series)
        shown = list(text.curve_lines(table, understood(table), width))
        bare = list(text.curve_lines(table, understood(table), 0))
        assert max(map(len, shown)) <= max(width, *map(len, bare)), name


def test_the_command_says_it_before_the_findings_and_json_says_the_same():
    people = scalelab("audit", "-", text=MESSY).stdout
    assert people.index("columns ") < people.index("efficiency") < people.index("missing")
    plain = json.loads(scalelab("audit", "-", "--json", text=MESSY).stdout)
    assert plain["understood"]["columns"][1] == {
        "quantity": "seconds", "name": "Laufzeit (min)", "unit": "min"
    }  # fmt: skip
    assert plain["understood"]["left_out"][1] == {"row": 7, "why": "no seconds: OOM"}
    assert plain["sizes"][2] == pytest.approx(
        {"workers": 4, "runs": 1, "seconds": 1860, "speedup": 3, "efficiency": 0.75}, rel=1e-3
    )
    assert [one["name"] for one in plain["findings"]] == [
        finding.name for finding in audit(parse("stdin", MESSY))
    ]


def test_a_quiet_audit_gives_the_findings_alone():
    said = scalelab("audit", "-", "--quiet", text=MESSY).stdout
    assert "columns" not in said
    assert "missing" in said
