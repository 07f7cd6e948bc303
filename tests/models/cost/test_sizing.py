"""The configuration to buy, against a search through every row."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scalelab.models.cost import cost, sizing, step
from scalelab.models.cost.step import Step
from scalelab.refusal import Refusal

# Small whole numbers, so that ties are common.
ROWS = st.lists(
    st.tuples(st.integers(1, 64), st.integers(1, 6), st.integers(1, 6)),
    min_size=1,
    max_size=12,
    unique_by=lambda row: row[0],
)


def columns(rows):
    """Turn rows into the three columns."""
    return [list(column) for column in zip(*rows, strict=True)]


@given(ROWS, st.integers(0, 7))
def test_the_cheapest_that_meets_the_deadline_is_what_a_search_finds(rows, deadline):
    best = None
    for workers, seconds, dollars in rows:
        if seconds <= deadline and (best is None or (dollars, seconds, workers) < best):
            best = (dollars, seconds, workers)
    found = sizing.cheapest_within(*columns(rows), deadline)
    assert found == (best and best[2])


@given(ROWS, st.integers(0, 7))
def test_the_fastest_within_the_budget_is_what_a_search_finds(rows, budget):
    best = None
    for workers, seconds, dollars in rows:
        if dollars <= budget and (best is None or (seconds, dollars, workers) < best):
            best = (seconds, dollars, workers)
    found = sizing.fastest_within(*columns(rows), budget)
    assert found == (best and best[2])


@given(ROWS)
def test_a_row_is_worth_a_look_unless_another_beats_it(rows):
    _, seconds, dollars = columns(rows)
    beaten = [
        any(
            a <= seconds[i] and b <= dollars[i] and (a, b) != (seconds[i], dollars[i])
            for a, b in zip(seconds, dollars, strict=True)
        )
        for i in range(len(rows))
    ]
    assert sizing.worth_a_look(seconds, dollars).tolist() == [not b for b in beaten]


@given(ROWS, st.integers(0, 7))
def test_whatever_the_limit_the_choice_is_worth_a_look(rows, limit):
    workers, seconds, dollars = columns(rows)
    kept = sizing.worth_a_look(seconds, dollars)
    for choose in (sizing.cheapest_within, sizing.fastest_within):
        chosen = choose(workers, seconds, dollars, limit)
        assert chosen is None or kept[workers.index(chosen)]


def test_the_rubric_table_of_section_41_6():
    """The cheapest is one worker; eight meet ten minutes; two dollars buy sixteen."""
    workers = [1, 2, 4, 8, 16, 32]
    seconds = [3600, 1880, 1010, 560, 340, 250]
    bills = cost.dollars(seconds, hourly=workers)
    assert sizing.cheapest_within(workers, seconds, bills, 3600) == 1
    assert sizing.cheapest_within(workers, seconds, bills, 600) == 8
    assert sizing.cheapest_within(workers, seconds, bills, 249) is None
    assert sizing.fastest_within(workers, seconds, bills, 2.0) == 16
    assert sizing.fastest_within(workers, seconds, bills, 0.5) is None
    assert sizing.worth_a_look(seconds, bills).all()  # every row buys time with money


def test_beyond_the_turning_point_nothing_is_worth_a_look():
    """More workers, more time and more money: no limit makes anyone buy them."""
    job = Step(512, 5000, 1e6, lambda size, workers: 1e-3 * workers)
    workers = [1, 2, 4, 8, 16, 32, 64]
    seconds = step.seconds(job, workers)
    kept = sizing.worth_a_look(seconds, cost.dollars(seconds, hourly=workers))
    assert kept.tolist() == [True] * 4 + [False] * 3
    assert seconds.argmin() == 3


def test_columns_of_unequal_length_and_several_limits_are_refused():
    with pytest.raises(ValueError, match=r"workers of shape \(2,\) and seconds of shape \(1,\)"):
        sizing.cheapest_within([1, 2], [5], [1, 2], 10)
    with pytest.raises(ValueError, match=r"budget must be .*, got \[1, 2\]: it is the one sum"):
        sizing.fastest_within([1, 2], [5, 3], [1, 2], [1, 2])


def test_the_size_worth_an_hour_is_the_least_of_the_whole_bill():
    """Against a search over sizes: p K T(K) + v T(K) with T(K) = c / K + x."""
    sizes = np.arange(1, 5000)
    for c, x, p, v in (
        (25.6, 0.224, 2.0, 100.0),
        (25.6, 0.224, 2.0, 1000.0),
        (90.0, 1.1, 3.0, 50.0),
    ):
        whole = (p * sizes + v) * (c / sizes + x)
        assert abs(sizes[whole.argmin()] - sizing.size_worth(c, x, p, v)) <= 1


def test_the_fastest_size_and_the_hidden_one_are_where_a_search_finds_them():
    sizes = np.arange(1, 5000)
    times = 25.6 / sizes + 0.224 + 4e-5 * sizes
    assert abs(sizes[times.argmin()] - sizing.fastest_size(25.6, 4e-5)) <= 1
    job = step.Step(512, 20, 1.4e9, lambda size, workers: 0.224 + 0 * workers, overlap=1.0)
    hidden = sizes[:512][np.asarray(step.exposed(job, sizes[:512])) == 0].max()
    assert hidden == int(sizing.hidden_until(25.6, 0.224))


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        (lambda: sizing.hidden_until(25.6, 0), "exchange"),
        (lambda: sizing.size_worth(25.6, -1, 2, 100), "exchange"),
        (lambda: sizing.fastest_size(25.6, "x"), "growth"),
    ],
)
def test_a_term_that_is_of_no_use_is_refused_by_its_own_name(asked, name):
    with pytest.raises(Refusal, match=f"^{name} must "):
        asked()
