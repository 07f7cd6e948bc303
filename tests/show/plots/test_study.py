"""The charts of section 3.3 that stand beside its tables."""

import numpy as np
import pytest

from scalelab.show.plots import study


def by_name(chart):
    return {one.label: one for one in chart.series}


def test_what_a_cell_costs_is_one_at_the_largest_piece_and_the_inverse_of_an_efficiency():
    chart = study.pieces({1: 4.0, 2: 3.0, 4: 2.5}, (2.0, 2.0), {1: 0.5, 0.5: 0.25})
    found = by_name(chart)
    line, timed = found["fit to one GPU"], found["one GPU, timed"]
    assert timed.y == pytest.approx([4 / 2.5, 3 / 2.5, 1])
    assert line.y[-1] == pytest.approx(1)
    assert np.interp(timed.x, line.x, line.y) == pytest.approx(timed.y)
    assert found["strong study: 1/E"].y.tolist() == [2, 4]


def test_a_share_is_found_by_trying_larger_ones_until_the_efficiency_is_kept():
    rules = {"not at all": lambda k: 1, "with each doubling": lambda k: np.log2(k),
             "with each worker": lambda k: k - 1}  # fmt: skip
    found = by_name(study.share_to_keep(0.8, seconds=0.005, sample=0.002))
    assert set(found) == set(rules)
    for name, rule in rules.items():
        for workers, share in list(zip(found[name].x, found[name].y, strict=True))[:7]:
            samples = 1
            while samples * 0.002 / (samples * 0.002 + 0.005 * rule(workers)) < 0.8 - 1e-9:
                samples += 1
            assert share == pytest.approx(samples)


def test_rows_of_one_batch_share_a_colour_and_a_rate_is_over_that_of_the_first_row():
    chart = study.rates("t", [1, 2, 4], [10, 16, 36], [8, 16, 64])
    found = by_name(chart)
    assert found["batch of 8 each"].y.tolist() == [1, 0.8]
    assert found["batch of 16 each"].y.tolist() == [0.9]
    assert len({one.tone for one in chart.series}) == len(chart.series)


def test_the_ideal_starts_in_the_first_row_and_falls_as_workers_are_added():
    found = by_name(study.until("t", [4, 8, 32], [10, 6, 3], 3.5))
    assert found["ideal: hours fall as 1/K"].y.tolist() == [10, 5, 1.25]
    assert set(found["the deadline"].y) == {3.5}


def test_the_fastest_batch_is_the_one_that_was_tried_and_took_least():
    job = {"fixed": 0.02, "sample": 0.002, "critical": 8192, "least_steps": 10_000}
    found = by_name(study.two_losses(512, **job))

    def hours(batch):
        return 10_000 * (1 + 8192 / batch) * (0.02 + 0.002 * batch / 512) / 3600

    best = min(range(1000, 20_000), key=hours)
    (at,), (least,) = found["fastest batch"].x, found["fastest batch"].y
    assert at == pytest.approx(best, abs=1)
    assert least == pytest.approx(hours(best))
    whole, more, longer = (
        found[name].y
        for name in ("all of it", "overhead of the added steps", "computing of the longer steps")
    )
    # What the batch does not move: the overhead of the fewest steps, and computing the fewest samples.
    rest = 10_000 * (0.02 + 0.002 * 8192 / 512) / 3600
    assert whole == pytest.approx(more + longer + rest)


def test_more_samples_cost_steps_only_where_the_critical_batch_stays():
    job = {"fixed": 0.02, "sample": 0.002, "critical": 8192}
    today, stays, root, grows = study.more_data(4, **job, least_steps=10_000).series
    for one, steps, critical in ((today, 1, 1), (stays, 4, 1), (root, 2, 2), (grows, 1, 4)):
        # McCandlish's product form at the fastest batch, which here is never below one for each.
        each = np.sqrt(0.02) + np.sqrt(0.002 * critical * 8192 / one.x)
        assert one.y == pytest.approx(steps * 10_000 * each**2 / 3600)
    assert stays.y[0] < 1.15 * grows.y[0]
    assert (grows.y < root.y).all()
    assert (root.y < stays.y).all()


def test_the_steepest_share_more_than_doubles_and_the_flat_one_stays():
    flat, _, steep = study.share_to_keep(0.8, 0.005, 0.002).series
    assert flat.y == pytest.approx(flat.y[0])
    assert (steep.y[1:] > 2 * steep.y[:-1]).all()
    assert flat.y[0] == steep.y[0]


def test_what_no_batch_changes_and_the_two_terms_are_all_of_it():
    job = {"fixed": 0.02, "sample": 0.002, "critical": 8192, "least_steps": 10_000}
    whole, *parts, best = study.two_losses(512, **job).series
    assert len(parts) == 3
    assert np.sum([one.y for one in parts], axis=0) == pytest.approx(whole.y)
    assert best.y == pytest.approx(min(whole.y))
