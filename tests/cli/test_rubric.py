"""`scalelab rubric`: what it prints, writes and refuses."""

import json
import re

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from scalelab import records
from scalelab.measure.capstone import one_pass
from scalelab.rubric import gate, rubric
from scalelab.rubric.text import verdict
from scalelab.show import report as pages, scorecard
from scalelab.show.template import asset
from tests.cli.command import scalelab
from tests.measure.capstone.test_one_pass import one
from tests.notebooks import ROOT
from tests.rubric.test_rubric import QUALITY, K, T, golden, study

TABLE = "workers,seconds,rate,accuracy,work\n" + "".join(
    f"{k},{t},{k},{q},1200000\n" for k, t, q in zip(K, T, QUALITY, strict=True)
)
SENTENCE = re.compile(r"scalelab: .+ must .+, got .+: .+\n")


def stamp(said):
    """The line under a table that says where it is from."""
    return next(line for line in said.splitlines() if line.startswith("recorded"))


def judged(*arguments, **how):
    return scalelab("rubric", *arguments, **how)


@pytest.fixture
def runs(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text(TABLE)
    return path


def test_the_json_is_that_of_the_textbook(runs):
    done = judged(runs, "--floor", "70%", "--tolerance", "0.005", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    expected = rubric.plain(golden())
    assert found == json.loads(json.dumps(expected))
    assert (found["cheapest"], found["largest_efficient"], found["recommended"]) == (1, 8, 8)


def replicated(tmp_path, seconds):
    path = tmp_path / "study.json"
    for k, times in seconds.items():
        for seed, time in enumerate(times):
            one_pass.append(path, one(k, time, seed=seed))
    return path


def intervals(*arguments):
    return {
        row["workers"]: row["intervals"]
        for row in json.loads(judged(*arguments, "--json").stdout)["rows"]
    }


def test_the_json_says_how_sure_each_number_is_and_keeps_what_is_asked(tmp_path):
    """Against scipy's tests on the logarithms: Welch's of two sizes, Student's of one."""
    times = {1: (60.0, 62.0, 59.0), 2: (33.0, 35.0, 34.0), 4: (58.0, 70.0, 50.0)}
    found = intervals(replicated(tmp_path, times), "--floor", "0.8", "--budget", "$5")
    logs = {k: np.log(values) for k, values in times.items()}
    for k in (2, 4):
        test = stats.ttest_ind(logs[1], logs[k], equal_var=False)
        ends = np.exp(test.confidence_interval(2 * gate.LEVEL - 1))
        ours = [found[k]["speedup"][end] for end in ("low", "high")]
        assert ours == pytest.approx(ends)
        assert [found[k]["efficiency"][end] * k for end in ("low", "high")] == pytest.approx(ours)
        run = stats.t.interval(2 * gate.LEVEL - 1, 2, logs[k].mean(), stats.sem(logs[k]))
        dollars = np.exp(run) * k / 3600  # a dollar an hour each
        assert [found[k]["cost"][end] for end in ("low", "high")] == pytest.approx(dollars)
        assert found[k]["loss"]["verdict"] == "supported"
    assert {name: each["level"] for name, each in found[2].items()} == dict.fromkeys(
        ("speedup", "efficiency", "loss", "cost"), gate.LEVEL
    )
    assert [found[k]["speedup"]["verdict"] for k in (1, 2, 4)] == [None, "supported", "undecided"]
    assert [found[k]["efficiency"]["least"] for k in (1, 2, 4)] == [0.8] * 3
    assert [found[k]["efficiency"]["verdict"] for k in (2, 4)] == ["supported", "contradicted"]
    assert found[1]["cost"]["verdict"] == "supported"


def test_one_run_of_each_size_is_judged_as_it_stands_and_has_no_interval(runs):
    found = intervals(runs)[32]
    assert (
        {each["low"] for each in found.values()} == {None} == {e["level"] for e in found.values()}
    )
    words = {name: each["verdict"] for name, each in found.items()}
    assert words == {
        "speedup": "supported", "efficiency": "contradicted", "loss": "supported", "cost": None,
    }  # fmt: skip


def test_the_page_of_records_names_every_field_of_an_interval(runs):
    page = (ROOT / "book" / "records.md").read_text().split("## What a rubric prints")[1]
    table = page.split("## ")[0].partition("|---|")[2]
    named = [n for line in table.splitlines() for n in re.findall("`(.+?)`", line.split(" | ")[0])]
    assert named == list(intervals(runs)[1]["speedup"])


def test_the_table_and_the_verdict_are_printed(runs):
    done = judged(runs)
    assert done.returncode == 0
    assert done.stdout.count("\nrecorded · ") == 1
    assert (
        "32    250 s    14.40       0.450     0.871   2.22       1.852      0.5400" in done.stdout
    )
    assert verdict(golden()) in done.stdout
    assert "a table made by hand" in done.stdout


def test_options_reach_the_judge(runs):
    limits = {"--deadline": "20 min", "--budget": "$1.2", "--baseline": "2", "--prefer": "fastest"}
    done = judged(runs, "--json", "--full", *(part for pair in limits.items() for part in pair))
    found = json.loads(done.stdout)
    assert found["limits"] | {"deadline": 1200.0, "budget": 1.2} == found["limits"]
    assert (found["baseline"], found["recommended"]) == (2, 4)
    assert found["rows"][3]["missed"] == ["budget"]


def test_noise_and_carbon_from_the_command_line(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text("gpus,seconds,rate,bleu,energy (kWh)\n1,100,1,24.59,1\n4,30,4,24.30,2\n")
    done = judged(
        path, "--tolerance", "0.2", "--noise", "0.159", "--noise-runs", "50",
        "--intensity", "400", "--co2", "500", "--json", "--full",
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert found["rows"][1]["passes_gate"] is None
    assert [row["grams"] for row in found["rows"]] == [400.0, 800.0]
    assert found["rows"][1]["missed"] == ["grams"]


@pytest.mark.parametrize("name", ["runs.csv", "./runs.csv", "runs.html", "link.html", "report.txt"])
def test_a_report_never_takes_the_place_of_the_study(name, runs):
    """Whatever the study is called, and by which of its names."""
    page = runs.with_suffix(".html")
    page.write_text(TABLE)
    (runs.parent / "link.html").symlink_to(page)
    given = page if name.endswith("html") else runs
    done = judged(given.name, "--html", name, folder=runs.parent)
    assert done.returncode == 2
    assert SENTENCE.fullmatch(done.stderr)
    assert "--html must " in done.stderr
    assert runs.read_text() == page.read_text() == TABLE
    assert not (runs.parent / "report.txt").exists()


@pytest.mark.parametrize(
    ("asked", "column"),
    [
        (("--latency", "1s"), "latency"),
        (("--joules", "3MJ"), "joules"),
        (("--co2", "3", "--intensity", "400"), "joules"),
    ],
)
def test_a_limit_on_what_was_not_measured_is_no_verdict(asked, column, runs):
    done = judged(runs, *asked)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        f"scalelab: {asked[0]} must go with a column `{column}`, got none"
    )


def test_a_flat_price_is_that_of_all_workers(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text("workers,seconds,quality\n1,3600,0.9\n2,1900,0.9\n8,700,0.9\n")
    flat, grows = (
        [
            row["cost"]
            for row in json.loads(judged(path, "--price", 5, *how, "--json").stdout)["rows"]
        ]
        for how in (["--flat-rate"], [])
    )
    assert flat == pytest.approx([5, 5 * 1900 / 3600, 5 * 700 / 3600])
    assert grows == pytest.approx([5, 2 * 5 * 1900 / 3600, 8 * 5 * 700 / 3600])


def test_a_price_beside_the_rates_of_a_table_is_refused(runs):
    done = judged(runs, "--price", "5")
    assert done.returncode == 2
    assert (
        "--price must go with rows that state no rate, got 5 beside a rate in each" in done.stderr
    )


@pytest.mark.parametrize("ending", ["csv", "json"])
def test_what_run_wrote_was_not_made_by_hand(ending, tmp_path):
    line = "sh -c 'echo rate $((100 * {workers})); echo acc 0.9' {workers}"
    ran = scalelab(
        "run", "--command", line, "--workers", "1,2", "--rate", "rate (.+)", "--quality", "acc (.+)",
        "--out", f"runs.{ending}", folder=tmp_path,
    )  # fmt: skip
    assert ran.returncode == 0
    priced = ("--work", 600, "--price", 3)
    said = judged(f"runs.{ending}", *priced, folder=tmp_path).stdout
    assert re.match(r"recorded · .+ · \d{4}-\d\d-\d\d · scalelab run --command .sh -c", stamp(said))
    assert "by hand" not in said
    assert "- Each row is one process of `scalelab run --command`" in said
    full = json.loads(judged(f"runs.{ending}", *priced, "--json", "--full", folder=tmp_path).stdout)
    assert full["stamp"].startswith("recorded · ")
    assert full["bound"] is False
    # Rows of two commands in one table are somebody's own.
    file = tmp_path / f"runs.{ending}"
    file.write_text(file.read_text().replace("acc 0.9' {workers}", "acc 0.9'  # {workers}", 1))
    assert "by hand" in judged(file.name, *priced, folder=tmp_path).stdout


def test_a_quiet_rubric_makes_no_remarks(runs):
    loud, quiet = judged(runs).stdout, judged(runs, "-q").stdout
    assert "\n- The rows were put together by hand" in loud
    assert loud.startswith(quiet)
    assert "\n- " not in quiet


def test_standard_input_is_a_file_too(runs):
    done = judged("-", "--json", text=TABLE)
    assert json.loads(done.stdout) == json.loads(judged(runs, "--json").stdout)


def test_passes_are_judged_and_stamped_by_their_machine(tmp_path):
    path = tmp_path / "study.json"
    for k, seconds in ((1, 60), (2, 31), (4, 17)):
        one_pass.append(path, one(k, seconds))
    done = judged(path)
    assert done.returncode == 0
    assert "recorded · laptop, 4 cores, torch 2.13.0" in done.stdout
    assert "made by hand" not in done.stdout
    for ignored in (("--price", 3), ("--work", 9), ("--better", "lower")):
        refused = judged(path, *ignored)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert f"study.json: {ignored[0]} must go with" in refused.stderr


def test_passes_of_two_configurations_are_refused_by_the_field(tmp_path):
    path = tmp_path / "study.json"
    one_pass.append(path, one(1))
    one_pass.append(path, one(2, 31, configuration={"width": 512}))
    done = judged(path)
    assert done.returncode == 2
    assert f"{path}: passes must agree in configuration 'width', got 256" in done.stderr


def test_a_loss_and_a_latency_are_known_by_their_columns(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text("workers,seconds,rate,val_loss,p99 (ms)\n1,60,1,2.1,30\n2,31,2,2.2,90\n")
    found = json.loads(judged(path, "--json", "--full", "--latency", "50ms").stdout)
    assert found["better"] == "lower"
    assert found["rows"][1]["passes_gate"] is False
    assert [row["latency"] for row in found["rows"]] == [0.03, 0.09]
    assert found["recommended"] == 1


@pytest.mark.parametrize(("name", "verdict"), [("seed", True), ("replicate", None)])
def test_runs_named_by_their_seeds_are_paired(tmp_path, name, verdict):
    path = tmp_path / "runs.csv"
    rows = [(k, 60 / k, k, q, s) for k in (1, 2) for s, q in enumerate((0.80, 0.90, 0.95))]
    lines = [",".join(map(str, row)) for row in rows]
    path.write_text("\n".join([f"workers,seconds,rate,accuracy,{name}", *lines]))
    found = json.loads(judged(path, "--json").stdout)
    assert found["rows"][1]["passes_gate"] is verdict


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("workers,seconds,rate\n1,60,1\n2,31,2\n", [], "column `quality`"),
        ("workers,seconds,accuracy\n1,60,.9\n2,31,.9\n", [], "column `rate`"),
        ("workers,seconds,rate,accuracy\n1,60,1,.9\n2,31,2,\n", [], "line 3 must hold a quality"),
        ("workers,seconds,rate,accuracy\n1,60,1,.9\n", [], "at least two worker counts"),
        ("workers,seconds,rate,accuracy\n1,0,1,.9\n2,31,2,.9\n", [], "line 2 column 'seconds'"),
        ("workers,seconds,rate,accuracy\n1,-5,1,.9\n2,31,2,.9\n", [], "line 2 column 'seconds'"),
        ("workers,seconds,rate,accuracy\n1,60,3,.9\n8,9,3,.9\n", [], "price of all workers together"),
        ("workers,seconds,rate,acc,run\n1,6,1,.9,1\n1,7,1,.9,1\n2,3,2,.9,1\n", [], "line 3 must be a run"),
        (TABLE, ["--noise", "0.1", "--noise-runs", "1"], "runs must be a whole number from 2 on"),
        ("workers,throughput,rate,accuracy\n1,60,1,.9\n2,110,2,.9\n", [], "state the work"),
        ("workers,seconds,rate,accuracy,host\n1,60,1,.9,a\n2,31,2,.9,b\n", [], "one machine"),
        ("", [], "an empty file"),
        (TABLE, ["--tolerance", "5"], "tolerance must be below the quality"),
        (TABLE, ["--tolerance", "much"], "--tolerance must be"),
        (TABLE, ["--baseline", "3"], "baseline must be one of the sizes"),
        (TABLE, ["--baseline", "x"], "--baseline must be a whole number"),
        (TABLE, ["--deadline", "8 workers"], "--deadline must be"),
        (TABLE, ["--floor", "70"], "floor must be in [0, 1]"),
        (TABLE, ["--prefer", "best"], "prefer must be fastest or cheapest"),
        (TABLE, ["--noise-runs", "5"], "--noise-runs must go with --noise"),
        (TABLE, ["--noise", "-1"], "--noise must be"),
        (TABLE, ["--html", "/nowhere/r.html"], "'/nowhere/r.html' must be a file that can be written"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence_and_exit_code_two(tmp_path, text, options, said):
    path = tmp_path / "runs.csv"
    path.write_text(text)
    done = judged(path, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert SENTENCE.fullmatch(done.stderr), done.stderr
    assert said in done.stderr


@pytest.mark.parametrize("tries", [12, pytest.param(100, marks=pytest.mark.thorough)])
def test_a_table_that_was_damaged_is_judged_or_refused_in_one_sentence(tries):
    @settings(max_examples=tries)
    @given(st.data())
    def judged_or_refused(data):
        cells = [line.split(",") for line in TABLE.strip().splitlines()]
        for _ in range(data.draw(st.integers(1, 4))):
            row = data.draw(st.integers(0, len(cells) - 1))
            column = data.draw(st.integers(0, len(cells[row]) - 1))
            junk = [
                "",
                "0",
                "-1",
                "nan",
                "1e400",
                "x",
                "1;2",
                "7",
                '"',
                "0.9",
                "1e-30",
                "1e30",
                "½",
            ]
            cells[row][column] = data.draw(st.sampled_from(junk))
        text = "\n".join(",".join(row) for row in cells)
        try:
            report = rubric.judge(rubric.parse("runs.csv", text))
        except ValueError as error:
            assert re.fullmatch(r".+ must .+, got .+: .+", str(error)), error  # noqa: PT017
        else:
            json.dumps(rubric.plain(report, full=True), allow_nan=False)
            assert pages.page_of(report)

    judged_or_refused()


@given(st.data())
def test_a_record_that_was_damaged_is_judged_or_refused_in_one_sentence(data):
    tree = json.loads(records.to_json(records.Passes("s", (one(1), one(2, 31.0)))))
    target = data.draw(st.sampled_from([tree, *tree["passes"]]))
    name = data.draw(st.sampled_from(sorted(target)))
    target[name] = data.draw(
        st.sampled_from([None, "", "x", 0, -1, 1e300, True, [], {}, [[]], {"a": 1}])
    )
    text = json.dumps(tree)
    try:
        rubric.judge(rubric.parse("study.json", text))
    except ValueError as error:
        assert re.fullmatch(r".+ must .+, got .+: .+", str(error)), error  # noqa: PT017


# --- The page ---


def test_the_report_is_one_file_that_asks_for_nothing(runs, tmp_path):
    path = tmp_path / "report.html"
    done = judged(runs, "--html", path)
    assert done.returncode == 0
    page = path.read_text()
    assert page == pages.page_of(rubric.judge(rubric.read(runs)))
    loads = re.findall(
        r"<(?:link|img|iframe|object|embed|base|form)\b|\ssrc=|@import|url\((?!#)", page
    )
    assert loads == []
    assert set(re.findall(r"https?://[^\"'<) ]+", page)) <= {
        "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink",
    }  # fmt: skip
    assert "default-src 'none'" in page


def test_every_figure_of_the_report_has_its_words_and_its_numbers():
    page = pages.page_of(golden())
    for figure in (scorecard.speedup, scorecard.efficiency, scorecard.cost):
        chart = figure(golden())
        assert f'aria-label="{chart.describe()}"' in page
        assert all("recommended, K = 8" in c for c in chart.columns() if "recommended" in c)
    assert page.count('class="sl-twin"') == 3
    assert page.count(asset("figure.css")) == 1
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page
    assert 'name="viewport"' in page


def test_the_report_says_what_it_claims_and_what_it_cannot():
    page = pages.page_of(golden(), claim="Eight workers <b>suffice</b>.")
    for part in (
        verdict(golden()), "Limits of the claim", "What was not measured", "More than 32 workers",
        "Eight workers &lt;b&gt;suffice&lt;/b&gt;.", "55% of what is paid for does nothing",
    ):  # fmt: skip
        assert part in page


def test_a_hostile_name_stays_text():
    report = rubric.judge(study(name="<script>alert(1)</script>", metric='"><img src=x>'))
    page = pages.page_of(report)
    assert "<script>alert" not in page
    assert "<img" not in page


def test_the_figures_show_the_rows_of_the_report():
    chart = scorecard.cost(rubric.judge(study(quality=(*QUALITY[:-1], 0.8))))
    series = {one.label: one for one in chart.series}
    assert list(series["holds quality"].x) == sorted(T[:-1])
    assert series["holds quality"].words == tuple(
        f"K = {row.workers}" for row in reversed(golden().rows[:-1])
    )
    assert list(series["lost quality, or undecided"].x) == [250.0]
    speedup = {one.label: one for one in scorecard.speedup(golden()).series}
    assert list(speedup["measured"].y) == [row.speedup for row in golden().rows]
    assert speedup["Amdahl, s = 0.0376"].y[-1] == pytest.approx(golden().predicted_speedup)


def test_a_report_in_a_frame_is_the_page_itself():
    """What a browser reads back from the attribute, letter by letter."""
    import html
    import re

    from scalelab.show.report import Embedded

    page = '<!DOCTYPE html>\n<p title="a & b">"quoted" \'too\'</p>'
    shown = Embedded(page, title='a "title"')._repr_html_()
    assert html.unescape(re.search(r'srcdoc="([^"]*)"', shown).group(1)) == page
    assert 'sandbox="allow-scripts"' in shown
    # What goes on below fades, as deep as the empty end of a page: a table seemed to be its last.
    assert "mask-image:linear-gradient(#000 calc(100% - 3rem),transparent)" in shown
    assert re.search(r"body {[^}]*padding: \S+ \S+ 3rem;", asset("page.css"))
    assert shown.count("<") == 2
