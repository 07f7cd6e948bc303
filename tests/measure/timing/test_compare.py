"""Verdicts on functions that take turns: exact on a clock that only the functions move."""

import itertools
import math
import random

import pytest

from scalelab import data, records
from scalelab.measure.timing import compare
from scalelab.measure.timing.compare import Beside, judge
from scalelab.records import Machine, Sample
from scalelab.refusal import Refusal


class Host:
    """A machine whose clock its functions move, and whose speed may change for all of them."""

    def __init__(self, *, seed=0, spread=0.0, slowness=lambda now: 1.0):
        self.now, self.rng = 0.0, random.Random(seed)
        self.spread, self.slowness = spread, slowness
        self.log = []

    def clock(self):
        return self.now

    def work(self, seconds, label=""):
        def call():
            self.log.append(label)
            self.now += seconds * self.slowness(self.now) * self.rng.lognormvariate(0, self.spread)

        return call

    def compare(self, seconds, **settings):
        functions = {label: self.work(s, label) for label, s in seconds.items()}
        return compare.compare(functions, clock=self.clock, **{"budget": 1e3, **settings})


def test_half_the_time_is_faster_and_twice_the_time_is_slower():
    found = Host().compare({"old": 1.0, "half": 0.5, "twice": 2.0})
    assert found.besides == (
        Beside("half", "old", 0.5, 0.5, 0.5),
        Beside("twice", "old", 2.0, 2.0, 2.0),
    )
    assert [v.says for v in found.besides] == ["faster", "slower"]
    assert [s.median for s in found.samples] == [1.0, 0.5, 2.0]
    assert found.samples[0].stopped == "precise: every ratio is known within 0%"


def test_the_same_function_twice_cannot_be_told_apart():
    (verdict,) = Host().compare({"a": 1.0, "b": 1.0}).besides
    assert verdict.says == "cannot tell"
    assert verdict.text == "cannot tell: 1 times as long (1 to 1)"


def test_a_verdict_is_one_line_with_the_ratio_and_its_interval():
    verdict = Beside("new", "old", 0.763, 0.75, 0.781)
    assert verdict.text == "faster: 1.31 times as fast (1.28 to 1.33)"
    assert Beside("new", "old", 2.0, 1.9, 2.2).text == "slower: 2 times as long (1.9 to 2.2)"
    assert Beside("new", "old", 1.0, 0.9, 1.2).text == "cannot tell: 1 times as long (0.9 to 1.2)"
    assert verdict.off == pytest.approx(0.018 / 0.763)


def test_every_round_holds_each_function_once_in_an_order_that_the_seed_decides():
    def rounds(seed):
        host = Host()
        found = host.compare({"a": 1.0, "b": 1.0, "c": 1.0}, seed=seed)
        counted = host.log[-3 * len(found.samples[0].seconds) :]
        return [tuple(counted[k : k + 3]) for k in range(0, len(counted), 3)]

    first = rounds(seed=1)
    assert all(sorted(order) == ["a", "b", "c"] for order in first)
    assert len(set(first)) > 3
    assert first == rounds(seed=1) != rounds(seed=2)


def test_short_functions_are_repeated_within_their_turn():
    found = Host().compare({"long": 1.0, "short": 2e-6}, budget=2)
    assert [s.inner for s in found.samples] == [1, 64]
    assert found.besides[0].ratio == pytest.approx(2e-6)


def test_what_slows_the_whole_machine_changes_no_verdict():
    """Its speed halves and recovers again and again: 1% is still seen, though both times double."""
    host = Host(slowness=lambda now: 1 + (now // 23) % 2)
    found = host.compare({"old": 1.0, "new": 0.99}, precision=1e-3)
    (verdict,) = found.besides
    assert (verdict.says, verdict.ratio) == ("faster", pytest.approx(0.99))
    assert {round(s) for s in found.samples[0].seconds} == {1, 2}


def test_a_difference_of_a_tenth_is_found_in_noise_of_a_tenth():
    said = {
        Host(seed=seed, spread=0.1).compare({"old": 1.0, "new": 0.9}).besides[0].says
        for seed in range(40)
    }
    assert said == {"faster"}


def wrong(functions, trials, **settings):
    """The share of comparisons of equal functions that find any difference."""
    count = 0
    for seed in range(trials):
        found = Host(seed=seed, spread=0.05).compare(dict.fromkeys(functions, 1.0), **settings)
        count += any(v.says != "cannot tell" for v in found.besides)
    return count / trials


def told(seconds):
    """What is said of {label: seconds} that took turns."""
    laptop = Machine("laptop", cores=4)
    return judge([Sample(str(k), tuple(s), 1, laptop, "2025-11-20") for k, s in seconds.items()])


def at_most(share, trials):
    """Three standard errors above it, so that a fair seed passes."""
    return share + 3 * math.sqrt(share * (1 - share) / trials)


TRIALS = pytest.mark.parametrize("trials", [60, pytest.param(300, marks=pytest.mark.thorough)])


@TRIALS
@pytest.mark.parametrize("precision", [0.01, 0.03])
def test_equal_functions_are_told_apart_no_more_often_than_the_level_allows(precision, trials):
    """Although the width of the interval decides when to stop."""
    assert wrong("ab", trials, precision=precision) < at_most(0.05, trials)


@TRIALS
def test_many_equal_functions_do_not_find_a_difference_by_their_number(trials):
    """Six candidates at 95% each would find one in a quarter of all comparisons."""
    assert wrong("abcdefg", trials, budget=400) < at_most(0.05, trials)


def test_too_few_rounds_give_a_ratio_and_no_verdict():
    found = Host().compare({"old": 10.0, "new": 5.0}, budget=60)
    (verdict,) = found.besides
    assert len(found.samples[0].seconds) == 4
    assert verdict == Beside("new", "old", 0.5, 0.0, math.inf)
    assert verdict.says == "cannot tell"
    assert found.samples[0].stopped == "budget: 60 s spent on 4 repetitions"


def test_noise_of_a_whole_round_cancels():
    """Heavy-tailed rounds, where the medians alone would say nothing."""
    rng = random.Random(1)
    slow = [rng.paretovariate(0.7) for _ in range(60)]
    seconds = {"old": slow, "new": [0.98 * s * rng.gauss(1, 0.01) for s in slow]}
    (verdict,) = told(seconds)
    assert verdict.says == "faster"
    assert 0.97 < verdict.low < verdict.high < 0.99


@pytest.mark.parametrize("sample", data.recorded("noise").samples, ids=lambda s: s.label[:4])
def test_a_recorded_kernel_is_rarely_told_from_itself(sample):
    """In the order they were taken, slow spells and all; the bench holds this to 93%."""
    assert len(sample.seconds) == 3000
    assert sample.stamp.kind == "recorded"
    right, trials = 0, 200
    rng = random.Random(1)
    for start in range(0, 2800, 2800 // trials):
        pairs = [rng.sample(sample.seconds[k : k + 2], 2) for k in range(start, start + 120, 2)]
        one, same = zip(*pairs, strict=True)
        right += told({"one": one, "same": same})[0].says == "cannot tell"
    assert right / trials > 0.9


def test_every_sample_says_where_it_was_measured():
    found = Host().compare({"a": 1.0, "b": 1.0})
    assert all(s.machine.cores >= 1 and s.date and s.kind == "measured here" for s in found.samples)
    assert [s.label for s in found.samples] == ["a", "b"]


def test_a_saved_comparison_can_be_judged_again():
    found = Host(spread=0.05).compare({"old": 1.0, "new": 0.9, "other": 1.1})
    read = records.from_json(records.to_json(found.recording))
    assert judge(read.samples) == found.besides
    assert read.note == found.text


def test_what_took_no_turns_is_refused():
    with pytest.raises(Refusal, match="samples must have taken turns, got 9 and 8 readings: "):
        told({"old": [1.0] * 9, "new": [1.0] * 8})
    for junk in ([], [1.0], None):
        with pytest.raises(Refusal, match="samples must be timings, at least one, got "):
            judge(junk)


@pytest.mark.parametrize("functions", [{}, {"a": print}, [print, print], None, print])
def test_fewer_than_two_functions_are_refused(functions):
    with pytest.raises(Refusal, match="functions must be a dictionary of at least two, got"):
        compare.compare(functions)


def test_what_cannot_be_called_is_refused():
    with pytest.raises(Refusal, match="function must be callable without arguments, got 3"):
        compare.compare({"a": print, "b": 3})


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        *itertools.product(["budget", "precision"], [0, -1, math.nan, None]),
        *itertools.product(["level"], [0, 1, 95, None]),
        *itertools.product(["seed"], [-1, 0.5, None]),
    ],
)
def test_impossible_settings_are_refused_before_anything_runs(setting, value):
    host = Host()
    with pytest.raises(Refusal, match=rf"{setting} must be .*, got .*: "):
        host.compare({"a": 1.0, "b": 1.0}, **{setting: value})
    assert host.log == []


def test_a_ratio_that_is_not_1_does_not_look_like_it():
    assert compare.Beside("b", "a", 0.978, 0.943, 0.99974).text == (
        "faster: 1.0225 times as fast (1.0003 to 1.0604)"
    )
    assert compare.Beside("b", "a", 0.97, 0.94, 1.0).text == (
        "cannot tell: 0.97 times as long (0.94 to 1)"
    )


def test_what_cannot_be_told_is_said_in_a_sentence():
    sample = compare.rounds.sample("a", [1.0] * 6, 1, "", 0.02)
    assert repr(compare.Compared((sample, sample))).endswith(
        ": a: cannot tell: 1 times as long (1 to 1)>"
    )
