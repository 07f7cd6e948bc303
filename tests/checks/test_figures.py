"""Figures and records as answers: what crosses of them as data, and what a check says of it."""

import contextlib
import io
import json

import matplotlib as mpl
import pytest
from hypothesis import given, strategies as st

from scalelab.checks import Task, variant
from scalelab.checks.plain import Unreadable, plain
from scalelab.grading.box import bubblewrap, wire
from scalelab.grading.inputs.collect import Submission
from scalelab.grading.inputs.source import Cell, Source
from scalelab.grading.judging import grade_one
from scalelab.records import Machine, Recording, Sample

mpl.use("Agg")
WORKERS, SPEEDUP = [1, 2, 4], [1.0, 1.9, 3.5]


@pytest.fixture
def chart():
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    axes.plot(WORKERS, SPEEDUP, label="measured")
    axes.plot(WORKERS, WORKERS)
    axes.scatter([2], [1.8], label="again")
    axes.bar([1, 2], [3, 4])
    axes.set(title="Speedup", xlabel="workers", ylabel="speedup", xscale="log")
    axes.legend()
    yield figure
    plt.close(figure)


def test_a_figure_is_its_words_scales_lines_points_and_bars(chart):
    ((panel,),) = plain(chart).values()
    assert [panel[name] for name in ("title", "xlabel", "ylabel", "xscale", "yscale")] == [
        *("Speedup", "workers", "speedup", "log", "linear")
    ]
    assert panel["legend"] == ["measured", "again"]
    assert panel["lines"] == [
        {"label": "measured", "x": WORKERS, "y": SPEEDUP},
        {"label": "", "x": WORKERS, "y": WORKERS},
    ]
    assert panel["points"] == [{"label": "again", "x": [2.0], "y": [1.8]}]
    assert panel["bars"] == [{"label": "", "y": [3, 4]}]
    assert plain(chart.axes[0]) == plain(chart)
    assert plain(chart.axes) == [plain(chart)]
    assert wire.decoded(json.loads(json.dumps(wire.encoded(plain(chart))))) == plain(chart)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({}, ""),
        ({"scales": ("log", "linear"), "lines": 3}, ""),
        ({"expect": (WORKERS, SPEEDUP)}, ""),
        ({"expect": (WORKERS, WORKERS), "line": 1}, ""),
        ({"expect": ([2], [1.8]), "line": "again"}, ""),
        ({"expect": (WORKERS, SPEEDUP), "line": "ideal"}, "no line is labelled 'ideal'"),
        ({"expect": (WORKERS, [1, 2, 4]), "line": "measured"}, "the y of its line: item 2 is not"),
        ({"expect": ([1, 2], [1, 2])}, "the x of its line: a list of 3 items, where 2 were"),
        ({"scales": ("log", "log")}, "its y-axis is not log"),
        ({"panel": 1}, "1 panels, where 2 were expected"),
        ({"lines": 4}, "3 lines are drawn, where 4 were expected"),
    ],
)
def test_a_check_looks_at_a_figure_and_says_what_is_wrong(chart, asked, says):
    task = Task("1", points=1, answers={"chart": chart})
    task.figure("chart", **asked)
    assert task.verdicts[0].state == ("wrong" if says else "right")
    assert says in task.verdicts[0].text


def test_what_a_student_draws_can_be_held_against_their_own_data(chart):
    answers = {"chart": chart, "seconds": [1.0, 1 / 1.9, 1 / 3.5]}
    task = Task("1", points=1, answers=answers)
    how = {"own": ("seconds",), "expect": lambda s: [WORKERS, [s[0] / t for t in s]]}
    task.figure("chart", **how)
    answers["seconds"] = [1.0, 0.5, 0.25]
    task.figure("chart", hidden=True, **how)
    assert [v.state for v in task.verdicts] == ["right", "wrong"]
    assert task.verdicts[1].text == "is not the right answer"


def test_an_axis_without_a_label_is_told(chart):
    chart.axes[0].set_ylabel(" ")
    task = Task("1", points=1, answers={"chart": chart, "other": 3})
    for name in ("chart", "other"):
        task.figure(name)
    assert task.verdicts[0].text.endswith("its y-axis has no label")
    assert task.verdicts[1].text == "it is 3; a number, where a figure was expected"


def test_a_figure_cannot_say_more_of_itself_than_it_shows(chart):
    from matplotlib.figure import Figure

    class Mine(Figure):
        """Answers for itself."""

    mine = Mine()
    Mine.axes = property(lambda self: pytest.fail("a student's own code was run"))
    assert isinstance(plain(mine), Unreadable)
    chart.axes[0].get_title = chart.axes[0].get_lines = lambda: pytest.fail("so was this")
    assert plain(chart)["figure"][0]["title"] == "Speedup"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda axes: axes.plot(range(200_000), range(200_000)),
        lambda axes: axes.__dict__.update(_children=7),
        lambda axes: setattr(axes, "xaxis", None),
    ],
    ids=["too large", "no children", "no axis"],
)
def test_a_figure_that_is_too_large_or_broken_is_no_answer(chart, spoil):
    spoil(chart.axes[0])
    assert isinstance(plain(chart), Unreadable)


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=2)
            | st.dictionaries(st.sampled_from(["figure", "lines", "points", "x", "label"]), inner)
        ),
        max_leaves=9,
    )
)
def test_no_forged_figure_makes_a_check_raise(found):
    task = Task("1", points=1, answers={"a": found, "b": {"figure": [found]}})
    for name in "ab":
        task.figure(name, scales=("log", "log"), expect=([1], [2]))
        task.figure(name, labelled=False, line="x", expect=([1], [2]), hidden=True)
    assert {v.state for v in task.verdicts} <= {"wrong", "not attempted"}


def test_a_record_crosses_with_all_it_holds_and_an_impostor_does_not():
    sample = Sample("sum", (0.1, 0.2), 1, Machine("x", 2), "2026-01-01", given={"size": 8})
    told = plain(Recording("sums", (sample,)))
    assert told["samples"][0]["seconds"] == [0.1, 0.2]
    assert told["samples"][0]["given"] == {"size": 8}
    assert "machine" not in told["samples"][0]
    assert plain(variant("docs/1.1", workers=[8]))["values"] == {"workers": 8}
    impostor = type("Sample", (), {"__module__": "scalelab.records"})
    assert isinstance(plain(impostor()), Unreadable)


CHECK = """from scalelab.checks import Task

task = Task("1.1", points=2, answers=globals())
task.figure("chart", lines=1)
task.figure("chart", expect=([1, 2, 4], [1.0, 1.9, 3.5]), what="line", hidden=True)
task.figure("drawn", scales=("log", "linear"))
task.score()"""
ANSWER = """import matplotlib.pyplot as plt
chart, axes = plt.subplots()
axes.plot([1, 2, 4], [1.0, 1.9, 3.5])
axes.set(xlabel="workers", ylabel="speedup")
drawn = axes
plt.show()"""


@pytest.mark.skipif(bool(bubblewrap.find().missing), reason=bubblewrap.find().missing)
def test_the_same_check_says_the_same_beside_the_student_and_behind_walls():
    names, said = {}, io.StringIO()
    exec(ANSWER, names)
    *lines, last = CHECK.splitlines()
    with contextlib.redirect_stdout(said):
        exec("\n".join(lines), names)
        points = eval(last, names)
    cells = (
        Cell("question-1-1", "markdown", "### 1.1 Draw", "### 1.1 Draw"),
        Cell("answer-1-1", "code", ANSWER, "pass", answer=True),
        Cell("check-1-1", "code", CHECK, CHECK, 2.0, graded=True),
    )
    handed = {
        "cells": [
            {"cell_type": c.kind, "metadata": {}, "id": c.id, "source": c.text} for c in cells
        ]
    }
    job = grade_one.Unit(Source("x", cells), Submission("ada", json.dumps(handed).encode()))
    try:
        found = grade_one.grade(job)
    finally:
        grade_one.close()
    assert found["tests"][0]["score"] == points == 1.33
    assert found["tests"][0]["output"] == said.getvalue().strip()
    assert found["answers"][0]["shown"]["pictures"]
