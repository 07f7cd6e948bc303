"""The checks of an assignment: plain data from any object, and a verdict on any answer."""

import asyncio
import collections
import decimal
import fractions
import itertools
import logging
import math
import os
import statistics
import subprocess
import sys
import time
import warnings

import numpy as np
import pandas as pd
import pytest
import sympy
import torch
from hypothesis import given, strategies as st

from scalelab import units
from scalelab.checks import Incomplete, Task, fresh, seconds_of, variant
from scalelab.checks.call import call
from scalelab.checks.fresh import PUBLIC, secret
from scalelab.checks.keys import course_key, student_key, using
from scalelab.checks.plain import Unreadable, plain
from scalelab.checks.quantity import quantity
from scalelab.checks.report import points
from scalelab.checks.words import LINE, describe, difference, show
from scalelab.records import Machine, Sample

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
PLAIN = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4), max_leaves=12)


class Evil:
    """Equal to everything, convertible to anything, and every way of touching it is recorded."""

    touched: list = []  # noqa: RUF012

    def _trap(self, *_, **__):
        Evil.touched.append(True)
        return True

    __eq__ = __ne__ = __lt__ = __gt__ = __bool__ = __contains__ = _trap
    __hash__ = None

    def __float__(self):
        self._trap()
        return 16.0

    def __array__(self, *_, **__):
        self._trap()
        return np.array([16.0])

    def __getattr__(self, name):
        self._trap()
        raise AttributeError(name)

    def __str__(self):
        self._trap()
        raise RuntimeError("no text for you")

    __repr__ = __str__


class LyingFloat(float):
    def __float__(self):
        return 16.0

    def __eq__(self, other):
        return True

    __hash__ = float.__hash__


class LyingArray(np.ndarray):
    def tolist(self):
        return [16.0]

    def __array_finalize__(self, parent):
        pass


class LyingList(list):
    def __iter__(self):
        while True:
            yield 16

    def __len__(self):
        return 1


class LyingScalar(np.float32):
    def item(self):
        return 16.0


def knot():
    loop = []
    loop.append(loop)
    return loop


Row = collections.namedtuple("Row", "workers seconds")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (16, 16),
        (np.int64(16), 16),
        (np.float16(0.5), 0.5),
        (np.float64(0.25), 0.25),
        (np.longdouble(0.25), 0.25),
        (np.bool_(True), True),
        (np.str_("up"), "up"),
        (np.array(3.0), 3.0),
        (np.array([[1], [2]]), [[1], [2]]),
        (np.array([1, None], dtype=object), [1, None]),
        (np.ma.array([1.0, 2.0]), [1.0, 2.0]),
        (range(3), [0, 1, 2]),
        (Row(8, 60.0), [8, 60.0]),
        (collections.OrderedDict(a=1), {"a": 1}),
        (fractions.Fraction(1, 4), 0.25),
        (decimal.Decimal("0.25"), 0.25),
        (pd.DataFrame({"k": [1, 2], "t": [0.5, 0.25]}), [[1.0, 0.5], [2.0, 0.25]]),
        (pd.Series([1, 2]), [1, 2]),
        (torch.tensor(0.5, requires_grad=True), 0.5),
        (torch.tensor([1, 2]), [1, 2]),
        (torch.tensor([0.5], dtype=torch.bfloat16), [0.5]),
        (pd.RangeIndex(1, 4), [1, 2, 3]),
        (collections.deque([1, 2]), [1, 2]),
        ({"a": 1, "b": 2}.values(), [1, 2]),
        (np.roots([1, 0, 1])[0] * 1j, -1.0),
        (np.timedelta64(35, "ns"), 3.5e-8),
        (pd.Timedelta("35 ms"), 0.035),
        (pd.Series(pd.to_timedelta(["1 s", "2 min"])), [1.0, 120.0]),
        (sympy.Rational(1, 4), 0.25),
        (sympy.Integer(7), 7),
        (LyingFloat(2.0), 2.0),
        (LyingScalar(2.0), 2.0),
        (np.array([1.0, 2.0]).view(LyingArray), [1.0, 2.0]),
        (LyingList([1, 2]), [1, 2]),
    ],
)
def test_numbers_from_every_library_are_numbers_and_subclasses_cannot_lie(value, expected):
    got = plain(value)
    assert got == expected
    assert type(got) is type(expected)


def test_what_a_function_yields_is_a_list_unless_it_never_ends():
    assert call(lambda n: (i * i for i in range(n)), [3]).value == [0, 1, 4]
    assert call(lambda: zip("ab", [1, 2], strict=True)).value == [["a", 1], ["b", 2]]
    assert "more than" in call(itertools.count).value.what


NOT_PLAIN = {
    "evil object": Evil,
    "list of evil": lambda: [Evil()],
    "knot": knot,
    "long list": lambda: list(range(200_000)),
    "long range": lambda: range(10**12),
    "large array": lambda: np.zeros(200_000),
    "large tensor": lambda: torch.zeros(200_000),
    "long text": lambda: "x" * 20_000,
    "generator": lambda: (n for n in range(3)),
    "map": lambda: map(str, [1]),
    "set": lambda: {1, 2},
    "keys that are pairs": lambda: {(1, 2): 3},
    "function": lambda: knot,
    "bytes": lambda: b"bytes",
    "date": lambda: np.datetime64("2026-01-01"),
    "nameless": type("Meta", (type,), {"__name__": property(lambda self: 1 / 0)})("Odd", (), {}),
}


@pytest.mark.parametrize("kind", NOT_PLAIN)
def test_what_is_no_plain_data_is_named_and_never_touched(kind):
    value = NOT_PLAIN[kind]()
    Evil.touched.clear()
    got = plain(value)
    assert isinstance(got[0] if isinstance(got, list) else got, Unreadable)
    assert Evil.touched == []


@given(PLAIN)
def test_plain_data_stays_what_it_is_and_equals_itself(value):
    assert plain(value) == value
    assert difference(value, value) is None
    assert show(value)
    assert describe(value)


@given(PLAIN, PLAIN)
def test_any_two_values_can_be_compared_and_shown(got, expected):
    found = difference(got, expected)
    assert found is None or found.text


@pytest.mark.parametrize(
    ("got", "expected", "stage"),
    [
        ("eight", 0.8, "type"),
        (True, 1.0, "type"),
        (None, 0.8, "type"),
        (..., 0.8, "type"),
        (1 + 2j, 1.0, "type"),
        ([0.8, 0.8], 0.8, "type"),
        (15.5, 16, "type"),
        (0.8, [0.8], "type"),
        (1, True, "type"),
        ([1, 2, 3], [1, 2], "shape"),
        ([], [1], "shape"),
        (math.nan, 0.8, "finite"),
        (-math.inf, 0.8, "finite"),
        (0.8, math.inf, "finite"),
        (10**400, 0.8, "finite"),
        (0.81, 0.8, "value"),
        (1001, 1000, "value"),
        (-math.inf, math.inf, "value"),
        (False, True, "value"),
        ("overhead", "serial", "value"),
        ([math.nan, "x"], [1.0, 2.0], "type"),
        ([math.nan, 3.0], [1.0, 2.0], "finite"),
        ([[1, 2], [3, 4]], [[1, 2], [3, 5]], "value"),
    ],
)
def test_a_comparison_fails_at_the_first_of_type_shape_finite_value(got, expected, stage):
    assert difference(got, expected).stage == stage


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (16.0, 16),
        (1, 1.0),
        (0.8004, 0.8),
        (float(np.float16(0.7143)), 0.714286),
        (math.inf, math.inf),
        ([[1], [2]], [1, 2]),
        ([1, None], (1, None)),
        ("  Over head", "over HEAD"),
        ([1, "anything"], [1, ...]),
        (1e-12, 0.0),
    ],
)
def test_the_same_answer_in_another_dress_is_right(got, expected):
    assert difference(got, expected) is None


def test_a_rounded_number_is_asked_about_its_rounding():
    assert "rounded" in difference(0.8, 0.803).text


# What a student's function may do


def noisy(x):
    print("hello")
    print("trouble", file=sys.stderr)
    warnings.warn("careful", stacklevel=1)
    logging.getLogger("noisy").error("a log line")
    os.write(2, b"from C\n")
    return 2 * x


def test_noise_costs_nothing_and_reaches_nobody(capfd):
    handler = logging.StreamHandler(sys.stderr)  # holds the stream of the cell that made it
    logging.getLogger("noisy").addHandler(handler)
    try:
        assert call(noisy, [4]).value == 8
        assert capfd.readouterr() == ("", "")
        logging.getLogger("noisy").error("logging is back afterwards")
        assert "logging is back" in capfd.readouterr().err
    finally:
        logging.getLogger("noisy").removeHandler(handler)


def raising(error):
    def function(*_):
        raise error

    return function


class Mute(Exception):
    def __str__(self):
        raise SystemExit


class BadName(BaseException):
    pass


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (raising(ZeroDivisionError("by zero")), "ZeroDivisionError"),
        (raising(SystemExit(3)), "SystemExit"),
        (raising(KeyboardInterrupt()), "KeyboardInterrupt"),
        (raising(GeneratorExit()), "GeneratorExit"),
        (raising(BadName()), "BadName"),
        (raising(Mute()), "SystemExit"),
        (lambda: 1, "TypeError"),
        (lambda x: undefined, "NameError"),  # noqa: F821
        (lambda x: deep(x), "RecursionError"),
        (lambda x: [0] * 10**15, "MemoryError"),
    ],
)
def test_whatever_a_function_raises_comes_back_as_data(function, error):
    outcome = call(function, [1])
    assert outcome.error == error
    assert outcome.attempted


def deep(x):
    return deep(x)


def test_not_implemented_means_not_attempted():
    assert not call(raising(NotImplementedError())).attempted


def endless(*_):
    while True:
        try:
            while True:
                pass
        except Exception:
            pass


def stubborn(*_):
    for _ in range(3):
        try:
            while True:
                pass
        except BaseException:
            pass
    while True:
        pass


@pytest.mark.parametrize("function", [endless, stubborn])
def test_an_endless_loop_is_cut_short(function):
    assert call(function, seconds=0.05).error == "Timeout"


async def coroutine(x):
    return x


@pytest.mark.filterwarnings("error")
def test_a_coroutine_is_named_without_a_warning(capfd):
    assert "coroutine" in call(coroutine, [1]).value.what
    assert capfd.readouterr().err == ""
    assert asyncio.run(coroutine(1)) == 1


def test_inputs_are_copies():
    rows = [(1, 2.0)]
    call(lambda given: given.clear(), [rows])
    assert rows == [(1, 2.0)]


# Tasks


def verdict(answer, **given):
    """Judge one function on one case and return its verdict."""
    task = Task("1", points=1, answers={} if answer is None else {"half": answer})
    task.function("half", **{"cases": [(4,), (9,)], "expect": [2.0, 4.5], **given})
    return task.verdicts[0]


@pytest.mark.parametrize(
    "answer",
    [None, ..., lambda x: None, lambda x: ..., raising(NotImplementedError("later"))],
)
def test_not_attempted_is_not_wrong(answer):
    assert verdict(answer).state == "not attempted"


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (lambda: 2.0, "half(4) raised TypeError"),
        (2.0, "a function was expected, not a number"),
        (lambda x: 1 / 0, "half(4) raised ZeroDivisionError: division by zero"),
        (lambda x: "two", "half(4) returned 'two'; the text 'two', not a number"),
        (lambda x: True, "the truth value True, not a number"),
        (lambda x: [x / 2, 0], "a list of 2 items, not a number"),
        (lambda x: math.nan, "not a number (NaN)"),
        (lambda x: 10**5000, "far beyond any sensible size"),
        (lambda x: Evil(), "an object of type Evil"),
        (lambda x: {x}, "a set, which has no order"),
        (lambda x: [(y for y in [x])], "a generator, which holds no values yet"),
        (lambda x: 2.0, "half(9) returned 2; not the right number"),
        (lambda x: x / 2 if x == 9 else None, "nothing (None), not a number"),
    ],
)
def test_a_wrong_answer_is_told_what_came_out(answer, says):
    found = verdict(answer)
    assert found.state == "wrong"
    assert says in found.text


def test_an_answer_that_equals_everything_equals_nothing():
    Evil.touched.clear()
    assert verdict(lambda x: Evil()).state == "wrong"
    assert verdict(Evil()).text == "a function was expected, not an object of type Evil"
    assert Evil.touched == []


def test_a_known_misconception_is_named_only_if_it_explains_every_case():
    known = [(lambda x: 2 * x, "that is the double"), ([2.0, 2.0], "that is a constant")]
    assert verdict(lambda x: 2 * x, known=known).text == "half(4) returned 8; that is the double"
    assert verdict(lambda x: 2.0, known=known).text.endswith("that is a constant")
    assert verdict(lambda x: 8 if x == 4 else 1, known=known).text.endswith("not the right number")


def test_a_misconception_without_a_value_explains_nothing():
    assert "right number" in verdict(lambda x: 3.0, known=[(lambda x: x / 0, "never")]).text


def test_none_is_an_answer_where_none_is_expected():
    assert verdict(lambda x: x if x < 0 else None, expect=[None, None]).state == "right"
    assert verdict(lambda x: None, expect=[None, None]).state == "not attempted"
    assert verdict(raising(NotImplementedError()), expect=[None, None]).state == "not attempted"


def test_a_part_that_is_missing_is_named():
    found = verdict(lambda x: (x,), read=lambda result: result[1], what="second half")
    assert found.text == "half(4) returned [4]; it holds no second half"


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (lambda x: "two", "gives another kind of value than was asked for"),
        (lambda x: math.inf, "gives something that is not a finite number"),
        (lambda x: 77.0, "gives a wrong answer"),
        (raising(ValueError("it was 4")), "raised an exception"),
    ],
)
def test_a_hidden_sub_check_tells_the_kind_only(answer, says):
    assert verdict(answer, hidden=True).text == says


@pytest.mark.parametrize("name", ["It_was_4", "bool", "NotADirectoryError", "print"])
def test_the_name_of_an_exception_carries_no_hidden_input(name):
    answer = raising(type(name, (Exception,), {})())
    assert verdict(answer, hidden=True).text == "raised an exception"


def test_lists_within_lists_are_shown_in_one_line_that_does_not_multiply():
    nested = [1] * 5
    for _ in range(6):
        nested = [nested] * 5
    assert len(show(nested)) <= LINE + 1
    assert len(verdict(lambda x: nested).text) < 2 * LINE
    assert len(show(dict.fromkeys(range(5), nested))) <= LINE + 1


def test_what_cannot_be_read_in_the_students_process_is_told_as_beside_them():
    from scalelab.grading.box import wire

    there = wire.decoded(wire.encoded(plain({"a", "b"})))
    assert plain(there) == there
    says = "half(4) returned a set, which has no order: make it a list"
    assert verdict(lambda x: there).text == verdict(lambda x: {"a", "b"}).text == says
    assert plain(Unreadable(["no text"])) == {"what": ["no text"]}


def test_an_endless_function_is_called_once_and_a_slow_one_while_time_is_left(monkeypatch):
    monkeypatch.setattr("scalelab.checks.judge.SECONDS", 0.05)
    called = []
    found = verdict(lambda x: called.append(x) or endless())
    assert found.text == "took longer than 0.05 s: does a loop never end?"
    assert called == [4]
    slow = verdict(lambda x: time.sleep(0.03), cases=[(4,)] * 100, expect=[2.0] * 100)
    assert found.text == slow.text


@pytest.mark.parametrize(
    ("answer", "state", "says"),
    [
        (0.964, "readable", "judged when it is graded"),
        (np.float32(0.964), "readable", ""),
        (96.4, "wrong", "that is a percentage"),
        (1.5, "wrong", "not within 0 and 1"),
        ("0.964", "readable", ""),
        ("most of it", "wrong", "not a number"),
        (math.nan, "wrong", "NaN"),
        (True, "wrong", "truth value"),
        (..., "not attempted", ""),
        (None, "not attempted", ""),
    ],
)
def test_a_number_without_an_expected_value_is_judged_by_kind_and_range(answer, state, says):
    task = Task("1", points=1, answers={"share": answer})
    task.number("share", between=(0, 1), known=[(96.4, "that is a percentage")])
    assert task.verdicts[0].state == state
    assert says in task.verdicts[0].text


def test_values_of_every_kind_can_be_right_wrong_and_hidden():
    task = Task("1", points=4, answers={"n": 8, "word": "NO", "name": "cache ", "pair": (16, 32)})
    task.number("n", expect=8)
    task.number("n", expect=9, hidden=True)
    task.choice("word", options=["yes", "no"], expect="no")
    task.text("name", expect="Cache")
    task.sequence("pair", expect=[16, 64])
    assert [v.state for v in task.verdicts] == ["right", "wrong", "right", "right", "wrong"]
    assert task.verdicts[1].text == "is not the right answer"
    assert task.score() == 2.0  # the visible n is practice, the pair is wrong


def test_a_score_reads_as_a_float_that_never_passes_the_maximum(capsys):
    for worth in (1, 3, 7, 0.1, 2.675):
        for right in range(4):
            task = Task("1", points=worth, answers={"a": 1, "b": 2})
            for n in range(3):
                task.number("a", expect=1 if n < right else 5, what=str(n))
            score = task.score()
            assert isinstance(score, float)
            assert 0 <= score <= worth
            assert float(repr(score)) == score
            assert (score == worth) == (right == 3)


def test_a_report_fits_the_width_of_the_validator(capsys):
    task = Task("1", points=1, answers={"half": lambda x: "a word " * 100})
    task.function("half", cases=[([1.5] * 50,)], expect=[1.0])
    task.score()
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_validate_shows_the_report_and_nothing_else(monkeypatch, capsys):
    monkeypatch.setenv("NBGRADER_VALIDATING", "1")
    task = Task("1", points=2, answers={"n": 8})
    task.number("n", expect=9)
    with pytest.raises(Incomplete, match="Task 1: 0 of 2 points") as raised:
        task.score()
    assert raised.value._render_traceback_() == str(raised.value).splitlines()
    task = Task("1", points=2, answers={"n": 8})
    task.number("n", expect=8)
    assert task.score() == 2.0


@pytest.mark.parametrize("worth", [0, -1, True, "3", None, math.nan])
def test_points_must_be_a_number_above_zero(worth):
    with pytest.raises(ValueError, match="points must be a number above 0, got"):
        Task("1", points=worth, answers={})


def test_stand_ins_for_another_process_are_judged_alike():
    """A mapping of proxies: a callable that sends plain data away, and plain data that came."""

    class Proxies(collections.abc.Mapping):
        def __getitem__(self, name):
            if name == "n":
                return 8
            if name == "half":
                return lambda *arguments: {"x": [a / 2 for a in arguments]}["x"][0]
            raise KeyError(name)

        def __iter__(self):
            return iter(("n", "half"))

        def __len__(self):
            return 2

    task = Task("1", points=3, answers=Proxies())
    task.number("n", expect=8)
    task.function("half", cases=[(4,)], expect=[2.0])
    task.function("third", cases=[(4,)], expect=[2.0])
    assert [v.state for v in task.verdicts] == ["right", "right", "not attempted"]


# Fresh inputs


def test_the_secret_comes_from_the_environment_then_from_the_course(tmp_path, monkeypatch):
    monkeypatch.delenv("SCALELAB_COURSE_SECRET", raising=False)
    (tmp_path / "course").mkdir()
    inner = tmp_path / "course" / "autograded" / "ada" / "01_speedup"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    assert secret() == PUBLIC
    public = fresh("task").random()
    (tmp_path / "course" / "secret").write_text("of the course\n")
    assert secret() == b"of the course"
    course = fresh("task").random()
    monkeypatch.setenv("SCALELAB_COURSE_SECRET", "of the year")
    assert secret() == b"of the year"
    assert len({public, course, fresh("task").random()}) == 3


def test_the_same_secret_draws_the_same_numbers_in_every_process():
    here = fresh("task").random()
    code = "from scalelab.checks import fresh; print(fresh('task').random())"
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(there.stdout) == here


def test_points_are_shared_by_weight():
    task = Task("1", points=4, answers={"a": 1, "b": 2})
    task.number("a", expect=1, weight=3)
    task.number("b", expect=1, weight=1)
    assert points(task.verdicts, 4) == 3.0


# A student's own numbers

RANGES = {"workers": [8, 16, 32, 64], "serial": (0.01, 0.2), "nodes": range(2, 10)}


def test_every_student_has_numbers_of_their_own_and_the_grader_draws_the_same(monkeypatch):
    keys = [student_key(f"student {n}".replace(" ", ""), b"course") for n in range(60)]
    drawn = []
    for key in keys:
        monkeypatch.setenv("SCALELAB_STUDENT_KEY", key)
        at_home = variant("docs/1.1", **RANGES)
        monkeypatch.delenv("SCALELAB_STUDENT_KEY")
        with using(key):
            assert variant("docs/1.1", **RANGES).values == at_home.values
        assert at_home.student == key.split()[0]
        drawn.append(at_home.variant)
    assert len(set(drawn)) > 15
    assert 0 not in drawn


def test_a_key_tells_nothing_of_the_secret_and_another_course_makes_another():
    assert student_key("ada", b"one") != student_key("ada", b"two")
    assert student_key("ada", b"one") != student_key("bob", b"one")


def test_without_a_key_the_numbers_are_public_and_say_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SCALELAB_STUDENT_KEY", raising=False)
    assert "(the public numbers: no key was found)" in str(variant("docs/1.1", **RANGES))
    (tmp_path / "scalelab.key").write_text(student_key("ada", b"course") + "\n")
    assert "for ada)" in str(variant("docs/1.1", **RANGES))
    (tmp_path / "scalelab.key").write_text("ada key\n")
    with pytest.raises(ValueError, match="must hold an id and a key of 32 digits"):
        variant("docs/1.1", **RANGES)


def test_in_the_course_nothing_that_was_handed_in_decides_whose_numbers_they_are(
    tmp_path, monkeypatch
):
    monkeypatch.delenv("SCALELAB_COURSE_SECRET", raising=False)
    home = tmp_path / "course" / "autograded" / "ada" / "01_speedup"
    home.mkdir(parents=True)
    (tmp_path / "course" / "secret").write_text("of the course\n")
    (home / "scalelab.key").write_text(student_key("bob", b"of the course"))
    monkeypatch.setenv("SCALELAB_STUDENT_KEY", student_key("bob", b"of the course"))
    monkeypatch.chdir(home)
    assert variant("docs/1.1", **RANGES).student == ""  # ada was handed no key
    (tmp_path / "course" / "keys").mkdir()
    (tmp_path / "course" / "keys" / "ada.key").write_text("whatever")
    assert variant("docs/1.1", **RANGES).student == "ada"
    assert course_key("ada", tmp_path / "course") == student_key("ada", b"of the course")


def test_numbers_are_shown_with_their_units():
    mine = variant("docs/1.4", memory=[80e9], time=[0.035], units={"memory": "B", "time": "s"})
    assert "memory = 8e+10, which is 80 GB\ntime = 0.035, which is 35 ms" in str(mine)
    mine = variant("docs/1.4", time=[754.0], units={"time": "s"})
    assert "time = 754 s\n" in str(mine)


def test_combinations_that_are_too_easy_are_never_drawn():
    for n in range(40):
        with using(student_key(f"s{n}", b"")):
            drawn = variant("docs/1.2", keep=lambda v: v.workers * v.serial < 1, **RANGES)
        assert drawn.workers * drawn.serial < 1
    with pytest.raises(ValueError, match="must leave some numbers to draw"):
        variant("docs/1.2", keep=lambda v: False, **RANGES)


def test_who_used_the_public_numbers_is_told():
    with using(next(k for n in range(99) if _drawn(k := student_key(f"s{n}", b"")) > 1)):
        mine = variant("docs/1.3", workers=range(2, 500))
        task = Task("1", points=1, answers={"twice": 2 * mine.public.workers})
        double = lambda v: 2 * v.workers  # noqa: E731
        task.number("twice", expect=double(mine), known=[mine.stale(double)], hidden=True)
    assert task.verdicts[0].text == (
        "right for the public numbers: put your key beside the notebook"
    )


def _drawn(key):
    with using(key):
        mine = variant("docs/1.3", workers=range(2, 500))
        return abs(mine.workers - mine.public.workers)


# Units, reasons, parts, data of one's own, and what follows from an earlier slip


@pytest.mark.parametrize(
    ("answer", "state", "says"),
    [
        (0.035, "right", ""),
        ("35 ms", "right", ""),
        ("0.035 s", "right", ""),
        (35, "wrong", "that is in ms; a plain number is in s, and with its unit it reads '35 ms'"),
        ("35", "wrong", "that is in ms"),
        ("soon", "wrong", "is not a time"),
        ("35 GB", "wrong", "'35 GB' is a number of bytes, and a time is asked for"),
        ("20 GB/s", "wrong", "is a bandwidth, and a time is asked for"),
        ("36 ms", "wrong", "not the right number"),
        (float("nan"), "wrong", "not a number (NaN)"),
        (None, "not attempted", ""),
    ],
)
def test_an_answer_may_carry_its_unit(answer, state, says):
    task = Task("1", points=1, answers={"wait": answer})
    task.number("wait", expect=0.035, unit="s")
    assert task.verdicts[0].state == state
    assert says in task.verdicts[0].text


def test_a_list_is_read_up_to_the_first_item_that_is_no_quantity(monkeypatch):
    read, parse = [], units.parse
    monkeypatch.setattr(units, "parse", lambda *given: read.append(given) or parse(*given))
    found = quantity(["1 s", "1 zz", *["2 zz"] * 99_000], "s")
    assert found.text.startswith("'1 zz' is not a time")
    assert {text for text, *_ in read} == {"1 s", "1 zz"}


@pytest.mark.parametrize(
    ("factor", "says"),
    [
        (2**30 / 1e9, "takes GB for GiB"),
        (1e9 / 2**30, "takes GiB for GB"),
        (8, "counts bits"),
        (0.125, "divides by 8 once too often"),
        (1e-9, "that is in GB"),
        (2.0**-40, "that is in TiB"),
    ],
)
def test_a_number_in_the_wrong_unit_is_told_which(factor, says):
    task = Task("1", points=1, answers={"memory": 112e9 * factor})
    task.number("memory", expect=112e9, unit="B", hidden=True)
    assert says in task.verdicts[0].text


def test_an_earlier_slip_costs_its_own_points_only():
    def judged(**answers):
        task = Task("1", points=2, answers=answers)
        task.number("step", expect=4.0)
        task.number("hour", expect=lambda step: 3600 / step, follows={"step": 4.0})
        return [v.state for v in task.verdicts], task.verdicts[1].text

    assert judged(step=4.0, hour=900.0) == (["right", "right"], "")
    states, text = judged(step=8.0, hour=450.0)
    assert states == ["wrong", "right"]
    assert text == "follows from your own `step`, which is not right itself"
    assert judged(step="8 s", hour=450.0)[0] == ["wrong", "right"]
    assert judged(step=8.0, hour=451.0)[0] == ["wrong", "wrong"]
    assert judged(step=-4.0, hour=-900.0)[0] == ["wrong", "wrong"]
    assert judged(hour=900.0)[0] == ["not attempted", "right"]
    assert judged(step=0.0, hour=0.0)[0] == ["wrong", "wrong"]
    assert judged(step=float("inf"), hour=0.0)[0] == ["wrong", "wrong"]


def test_a_choice_with_its_reason_is_right_only_with_both():
    def said(answer):
        task = Task("1", points=1, answers={"buy": answer})
        task.choice("buy", options=["yes", "no"], reasons=["a", "b"], expect=("no", "a"))
        return task.verdicts[0].state, task.verdicts[0].text

    assert said(("No", "a")) == ("right", "")
    assert "another reason supports it" in said(("no", "b"))[1]
    assert "not the right choice" in said(("yes", "a"))[1]
    assert "your choice and your reason" in said("no")[1]
    assert "expected one of 'a', 'b'" in said(("no", "z"))[1]


def test_parts_of_an_answer_are_judged_apart():
    task = Task("1", points=2, answers={"plan": {"gpus": 8, "limit": None}})
    task.number("plan", part="gpus", expect=8)
    task.choice("plan", part="limit", options=["memory", "compute"], expect="memory")
    task.number("plan", part="cost", expect=3.0, unit="$")
    assert [v.state for v in task.verdicts] == ["right", "not attempted", "wrong"]
    assert [v.what for v in task.verdicts] == ["gpus", "limit", "cost"]
    assert "without a part 'cost'" in task.verdicts[2].text


MACHINE = Machine("a machine", 2)


@pytest.mark.parametrize(
    ("record", "says"),
    [
        ([0.1, 0.2, 0.15], ""),
        (Sample("sum", (0.1, 0.2, 0.15), 1, MACHINE, "2026-01-01"), ""),
        ({"seconds": [0.1, 0.2]}, "only 2 times; 3 are needed"),
        ({"times": [0.1, 0.2]}, "a record without `seconds`"),
        ([0.1, 0.2, -1.0], "a finite number above 0"),
        ([0.1, 0.2, 90.0], "not within 1e-09 s and 60 s"),
        ([0.1, 0.1, 0.1], "no two runs ever are"),
        ([0.1, "0.2", 0.3], "not all of its times are numbers"),
        (0.1, "a list of times was expected"),
    ],
)
def test_a_measurement_is_judged_by_its_own_data(record, says):
    task = Task("1", points=1, answers={"run": record})
    task.measured("run", least=3, between=(1e-9, 60.0))
    assert task.verdicts[0].state == ("wrong" if says else "right")
    assert says in task.verdicts[0].text


def test_a_conclusion_must_agree_with_the_data_it_was_drawn_from():
    def judged(run, typical):
        task = Task("1", points=1, answers={"run": run, "typical": typical})
        median = lambda run: statistics.median(seconds_of(run))  # noqa: E731
        mean = lambda run: statistics.mean(seconds_of(run))  # noqa: E731
        slips = [(mean, "that is the mean")]
        task.number("typical", own=("run",), expect=median, known=slips, unit="s")
        return task.verdicts[0].state, task.verdicts[0].text

    assert judged([0.1, 0.2, 0.6], "200 ms")[0] == "right"
    assert judged([0.1, 0.3, 0.6], "200 ms")[0] == "wrong"
    assert "that is the mean" in judged([0.1, 0.2, 0.6], 0.3)[1]
    assert judged(None, 0.3) == ("not attempted", "it is judged by `run`: answer that first")
    # What is left open fits anything, so nothing may be judged by it.
    assert judged([...], ...) == ("not attempted", "")
    task = Task("1", points=1, answers={"run": {"seconds": [...]}, "typical": [7.0], "first": 7})
    task.sequence("typical", own=("run",), expect=seconds_of)
    task.number("first", own=("run",), expect=lambda run: seconds_of(run)[0])
    task.sequence("typical", follows={"run": [1.0]}, expect=seconds_of)
    assert [v.state for v in task.verdicts] == ["wrong"] * 3
    assert judged("fast", 0.3) == ("wrong", "`run` cannot be read, and this is judged by it")


@given(PLAIN | st.sampled_from(["35 ms", 10**400, -(10**400), 1e308, 5e-324, 1j, "1e999 s"]), PLAIN)
def test_no_answer_makes_a_check_of_a_value_raise(value, other):
    task = Task("1", points=1, answers={"x": value, "y": other, "f": lambda: value})
    task.number("x", expect=0.035, unit="s", within=0.02)
    task.number("x", between=(0, 1), unit="B")
    task.number("x", part="a", expect=3)
    task.number("x", expect=lambda y: 2 * y, follows={"y": 3.0}, known=[(lambda y: 1 / y, "no")])
    task.number("x", expect=lambda y: y["seconds"][0] / 2, own=("y",), hidden=True)
    task.choice("x", options=["a", "b"], expect="a")
    task.choice("x", options=["a", "b"], reasons=["c"], expect=("a", "c"), hidden=True)
    task.text("x", expect="memory")
    task.sequence("x", expect=[1.0, 2.0], unit="s")
    task.sequence("x", length=2)
    task.measured("x", least=1, states={"median": statistics.median})
    assert {v.state for v in task.verdicts} <= {"right", "readable", "wrong", "not attempted"}


@pytest.mark.parametrize("kind", [*NOT_PLAIN, "not a value"])
def test_nothing_that_is_no_plain_data_gets_through_a_check_of_a_value(kind):
    answers = {"x": NOT_PLAIN.get(kind, lambda: print)(), "y": 1.0}
    task = Task("1", points=1, answers=answers)
    task.number("x", expect=1.0, unit="s")
    task.number("x", part=0, expect=1.0)
    task.number("y", expect=lambda x: x, follows={"x": 2.0})
    task.number("y", expect=lambda x: x, own=("x",))
    task.measured("x")
    assert {v.state for v in task.verdicts} == {"wrong"}


@pytest.mark.parametrize(("answer", "right"), [(8e-11, True), (2e-11, False), (0.0, False)])
def test_seconds_per_byte_are_compared_as_closely_as_any_other_number(answer, right):
    task = Task("1.1", points=1, answers={"beta": answer})
    task.number("beta", expect=8e-11)
    assert (task.score() == 1) is right


EVIL = 'evil: "it\'s" the REFERENCE'


class evil(Exception):
    """What a student's function raises, or returns."""


def _raising(x):
    raise evil(EVIL)


@pytest.mark.parametrize("answer", [EVIL, [EVIL, 1], evil(), {"evil": EVIL}, lambda x: evil()])
def test_a_student_cannot_write_what_a_class_is_told_of_its_slips(answer):
    names = ("share", "wait", "sizes", "word", "record", "chart", "half")
    task = Task("1", points=2, answers=dict.fromkeys(names, answer) | {"third": _raising})
    task.number("share", expect=0.5)
    task.number("wait", expect=0.5, unit="s")
    task.sequence("sizes", expect=[1, 2])
    task.choice("word", options=["yes", "no"], expect="no")
    task.measured("record")
    task.figure("chart")
    task.number("record", part="key", expect=1.0)
    task.function("half", cases=[(4,)], expect=[2.0])
    task.function("third", cases=[(4,)], expect=[2.0])
    slips = [verdict.slip for verdict in task.verdicts]
    assert all(slips)
    assert any("evil" in verdict.text for verdict in task.verdicts)
    assert not any("evil" in slip for slip in slips)
    assert slips[-1] == "raised an exception"


def test_a_slip_names_an_exception_that_python_has_and_says_what_was_wrong():
    def half(x):
        raise ValueError(EVIL)

    task = Task("1", points=2, answers={"half": half, "wait": "35 GB", "sizes": ["soon", 2]})
    task.function("half", cases=[(4,)], expect=[2.0])
    task.number("wait", expect=0.5, unit="s")
    task.sequence("sizes", expect=[1, 2])
    assert [verdict.slip for verdict in task.verdicts] == [
        "raised ValueError",
        "is a number of bytes, and a time is asked for: write it like '35 ms', '90 s' or '2 h'",
        "item 1 is a text, not a number",
    ]
