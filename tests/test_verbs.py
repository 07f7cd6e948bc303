"""What `import scalelab` offers: the verbs, and what their results show of themselves."""

import importlib
import inspect
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import scalelab
from scalelab import plan, rubric, seen, verbs
from scalelab.curves.answer import Judgement
from scalelab.measure.timing.compare import Compared
from scalelab.measure.timing.passages import Block
from scalelab.plan.plan import Plan
from scalelab.records import Sample
from scalelab.refusal import Refusal
from scalelab.rubric.report import Report
from scalelab.tables.finding import Audit
from scalelab.tables.nouns import ScalingTable

RUNS = "workers,seconds\n1,100\n2,55\n4,32.5\n8,21.25\n"


def passed():
    made = scalelab.block("<b>load</b>")
    with made:
        sum(range(100_000))
    return made


RESULTS = {
    "sample": (Sample, lambda: scalelab.time(lambda: sum(range(99)), budget=0.02)),
    "compared": (Compared, lambda: scalelab.compare(abs_, abs_, budget=0.02)),
    "block": (Block, passed),
    "table": (ScalingTable, lambda: scalelab.read("sysbench_cpu")),
    "audit": (Audit, lambda: scalelab.audit("sysbench_cpu")),
    "clean": (Audit, lambda: Audit(scalelab.read("sysbench_cpu"), ())),
    "families": (Judgement, lambda: scalelab.fit("usl_raytracer")),
    "predictions": (Judgement, lambda: scalelab.fit("usl_raytracer", at=[96, 192])),
    "refused": (Judgement, lambda: scalelab.fit("nv_bert_tf2_a100_seq128_fp16", at=512)),
    "plan": (Plan, lambda: scalelab.plan("example")),
    "rubric": (Report, lambda: scalelab.rubric("nv_gnmt_dgx1_v100_fp16", price=3, tolerance=0.3)),
}


def abs_():
    return abs(-1)


@pytest.fixture(scope="module", params=RESULTS)
def result(request):
    kind, make = RESULTS[request.param]
    made = make()
    assert isinstance(made, kind)
    return made


def test_a_result_is_one_line_that_says_what_was_found(result):
    line = repr(result)
    assert "\n" not in line
    assert re.fullmatch(r"<\w+ .+>", line)
    assert len(line) < 400


def test_a_result_is_a_table_in_a_notebook_and_what_users_said_stays_text(result):
    html = result._repr_html_()
    assert "<table" in html
    assert "<b>load" not in html
    assert all(name in html for name in result.summary())


def test_a_result_is_a_frame_of_its_facts(result):
    frame = result.frame()
    facts = result.facts()
    assert list(frame.columns) == list(facts)
    assert len(frame) == len(next(iter(facts.values())))


def test_what_a_frame_holds_is_what_was_found():
    sample = scalelab.time(abs_, budget=0.02)
    assert tuple(sample.frame()["seconds"]) == sample.seconds
    table = scalelab.read("usl_raytracer")
    assert tuple(table.frame()["throughput"]) == table.values
    found = scalelab.fit("usl_raytracer", at=96)
    assert found.frame()["value"][0] == found.predictions[0].value


def test_two_functions_of_one_name_are_told_apart():
    found = scalelab.compare(lambda: 1, lambda: 2, abs_, budget=0.02)
    assert [one.label for one in found.samples] == ["lambda", "lambda 2", "abs_"]


def test_a_table_comes_from_a_file_a_name_a_frame_or_as_it_is(tmp_path, monkeypatch):
    import pandas as pd

    file = tmp_path / "runs.csv"
    file.write_text(RUNS)
    monkeypatch.chdir(tmp_path)
    table = scalelab.read(file)
    assert table.values == (100, 55, 32.5, 21.25)
    assert scalelab.read("runs.csv").values == scalelab.read(table).values == table.values
    assert scalelab.read(pd.read_csv(file)).values == table.values
    assert scalelab.fit(file, at=16).chosen == "amdahl"
    Path("sysbench_cpu").write_text(RUNS)  # a file goes before a name
    assert scalelab.read("sysbench_cpu").values == table.values


def test_rooms_that_are_called_stay_rooms(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(plan.file.example())
    chosen = plan("example").chosen
    assert plan(file).chosen == plan(str(file)).chosen == chosen
    assert plan.plan.plan(plan.file.read(file)).chosen == chosen
    assert scalelab.plan is plan is sys.modules["scalelab.plan"]
    assert scalelab.rubric is rubric
    assert rubric.rubric.judge
    study = tmp_path / "study.csv"
    study.write_text("workers,seconds,rate,quality\n1,100,1,0.9\n2,55,2,0.9\n")
    assert rubric(study, floor=0.7).recommended == 2
    assert rubric(rubric.files.read(study)).rows == rubric(scalelab.read(study)).rows


@pytest.mark.parametrize("name", scalelab.__all__)
def test_a_verb_is_there_says_what_it_does_and_is_found_by_completion(name):
    verb = getattr(scalelab, name)
    assert callable(verb)
    assert name in dir(scalelab)
    assert inspect.getdoc(verb).partition("\n")[0].endswith(".")


def test_completion_offers_what_is_meant_to_be_used_and_nothing_else():
    offered = {name for name in dir(scalelab) if not name.startswith("__")} - {*scalelab.__all__}
    assert len(offered) > 5
    for name in offered:
        assert importlib.import_module(f"scalelab.{name}").__doc__, name
    assert not offered & {"Any", "importlib", "arguments", "verbs"}


def test_no_other_name_is_made_up():
    with pytest.raises(AttributeError, match="module 'scalelab' has no attribute 'tim'"):
        scalelab.tim  # noqa: B018


@pytest.mark.parametrize(
    ("statement", "never"),
    [
        ("import scalelab; scalelab.plan; scalelab.time; scalelab.each", {"numpy", "pandas"}),
        ("import scalelab; scalelab.time(lambda: 1, budget=.01)", {"scipy", "pandas", "jinja2"}),
        ("import scalelab; repr(scalelab.read('usl_raytracer'))", {"torch", "pandas", "jinja2"}),
    ],
)
def test_a_verb_imports_what_it_needs_and_no_more(statement, never):
    code = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not never & set(done.stdout.split())


def test_without_pandas_a_frame_is_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(Refusal, match="frame must have pandas, got none: pip install pandas"):
        scalelab.read("usl_raytracer").frame()


def test_a_cell_shows_nothing_for_what_is_not_known():
    assert [seen._cell(one) for one in (None, math.nan, True, 2, "x")] == ["", "", "yes", 2, "x"]


JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.floats(),
    st.text(max_size=4),
    st.binary(max_size=3),
    st.sampled_from([[], {}, set(), object(), ..., [1, "a"], {"workers": 1}, Path("/nowhere")]),
)


def refused(call):
    """Whether a call is answered, or refused in one sentence."""
    try:
        call()
    except Refusal as error:
        assert re.fullmatch(r"(?s).+: .+", str(error)), error  # noqa: PT017 - either is fine


@given(JUNK)
def test_junk_in_the_place_of_a_table_is_refused(junk):
    for verb in (verbs.read, verbs.audit, verbs.fit, rubric, plan):
        refused(lambda verb=verb: verb(junk))


@given(JUNK)
def test_junk_in_the_place_of_a_function_or_a_setting_is_refused(junk):
    work = abs_
    for call in (
        lambda: verbs.time(junk, budget=1e-3),
        lambda: verbs.time(work, budget=junk if not isinstance(junk, (int, float)) else -1),
        lambda: verbs.time(work, precision=junk, budget=1e-3),
        lambda: verbs.time(work, device=junk, budget=1e-3),
        lambda: verbs.compare(junk, budget=1e-3),
        lambda: verbs.compare(work, junk, budget=1e-3),
        lambda: verbs.compare({"a": work, "b": junk}, budget=1e-3),
        lambda: verbs.block(junk),
        lambda: verbs.each(junk),
    ):
        refused(call)


@pytest.mark.parametrize("junk", [0, -1, 1.5, "60", b"3", None, object(), [None], 10**400])
def test_junk_in_the_place_of_a_size_is_refused(junk):
    with pytest.raises(Refusal, match=r"at must be a whole number from 1 to .*, got .*: "):
        verbs.fit("sysbench_cpu", at=junk)


@pytest.mark.parametrize("given", [(), (abs_,), ({},), ({"a": abs_},), (abs_, 3), ({1: 2, 3: 4},)])
def test_fewer_than_two_functions_are_refused(given):
    with pytest.raises(Refusal, match=r"functions? must be .*, got .*: "):
        scalelab.compare(*given)


@pytest.mark.parametrize(
    "table",
    [
        {"workers": np.array([1, 2, 4]), "seconds": [60, np.float32(31), 17]},
        [{"workers": k, "seconds": s} for k, s in ((1, 60), (2, 31), (4, 17))],
    ],
    ids=["columns", "rows"],
)
def test_a_table_may_be_what_python_holds(table):
    found = scalelab.read(table)
    assert (found.workers, found.values) == ((1, 2, 4), (60, 31, 17))


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ("sysbench_cup", "did you mean sysbench_cpu?"),
        ("", "is a variable empty?"),
        ({"workers": {1}}, "must hold numbers and words"),
        ({"workers": [1, 2], "seconds": [1.0]}, "columns of equal length"),
        ([], "a list of rows"),
        ([[1, 2]], "row 1 must be an object"),
        ({}, "a list of rows"),
    ],
)
def test_what_is_no_table_is_refused_in_one_sentence(table, sentence):
    with pytest.raises(Refusal, match=re.escape(sentence)):
        scalelab.read(table)


def test_numbers_that_are_missing_are_gaps():
    found = scalelab.read({"workers": [1, 2, 4], "seconds": [60, math.nan, 17]})
    assert [row.workers for row in found.rows if row.seconds] == [1, 4]
