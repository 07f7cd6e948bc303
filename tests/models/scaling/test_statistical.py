"""What more compute is worth to the model that is trained."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import optimize

from scalelab.models.scaling import laws, statistical


def test_chinchilla_loses_less_than_gopher_on_the_same_compute():
    """Gopher is 280e9 parameters on 300e9 tokens, Chinchilla 70e9 on 1.4e12 (table 1 of the paper)."""
    assert statistical.loss(70e9, 1.4e12) < statistical.loss(280e9, 300e9)


@pytest.mark.parametrize("flops", [1e18, 5.76e23, 1e26])
def test_compute_optimal_split_is_what_a_numerical_search_finds(flops):
    """Minimise the loss over the split of C = 6 N D without the closed form."""
    parameters, tokens = statistical.compute_optimal(flops)
    assert 6 * parameters * tokens == pytest.approx(flops, rel=1e-9)
    found = optimize.minimize_scalar(
        lambda log_n: statistical.loss(10**log_n, flops / 6 / 10**log_n),
        bounds=(5, 15),
        method="bounded",
    )
    assert statistical.loss(parameters, tokens) == pytest.approx(found.fun, rel=1e-9)


def test_more_compute_never_hurts_and_never_passes_the_floor():
    """The loss falls with compute towards the entropy of the text."""
    losses = statistical.loss(*statistical.compute_optimal(np.geomspace(1e15, 1e30, 40)))
    assert (np.diff(losses) < 0).all()
    assert losses[-1] > statistical.E


# --- The batch ---------------------------------------------------------------------------------

COUNT = st.floats(1, 1e9)


@given(COUNT, COUNT, COUNT)
def test_steps_and_samples_lie_on_the_published_hyperbola(batch, least_steps, least_samples):
    """McCandlish et al. 2018: (S / Smin - 1) (E / Emin - 1) = 1, and E = B S."""
    steps = statistical.training_steps(batch, least_steps, least_samples)
    samples = statistical.training_samples(batch, least_steps, least_samples)
    assert samples == pytest.approx(batch * steps)
    more_steps = Fraction(steps) / Fraction(least_steps) - 1
    more_samples = Fraction(samples) / Fraction(least_samples) - 1
    if min(more_steps, more_samples) > 1e-6:  # else the floats themselves have lost the difference
        assert float(more_steps * more_samples) == pytest.approx(1, rel=1e-3)


@given(COUNT, COUNT)
def test_at_the_critical_batch_steps_and_samples_are_twice_the_least(least_steps, least_samples):
    batch = statistical.critical_batch(least_steps, least_samples)
    steps = statistical.training_steps(batch, least_steps, least_samples)
    samples = statistical.training_samples(batch, least_steps, least_samples)
    assert steps == pytest.approx(2 * least_steps)
    assert samples == pytest.approx(2 * least_samples)


@given(COUNT, COUNT, st.integers(1, 10**6))
def test_the_batch_is_a_worker_count_under_amdahls_law(least_steps, least_samples, batch):
    """Steps that no batch saves are the serial part; samples divide by the batch."""
    one, many = statistical.training_steps(np.array([1, batch]), least_steps, least_samples)
    serial = least_steps / (least_steps + least_samples)
    assert one / many == pytest.approx(laws.amdahl(batch, serial), rel=1e-6)


@pytest.mark.parametrize("batch", [1, 4, 16, 64])
def test_noisy_descent_needs_the_steps_that_the_noise_scale_predicts(batch):
    """Descend on |x|^2 / 2 by means of `batch` noisy gradients, at the best of many step sizes.

    The drop per step, against the drop without noise, is the ratio of the steps to a target. The
    critical batch is then the trace of the noise over the squared gradient: here 4 x 4 / 2 = 8.
    """
    random = np.random.default_rng(3)
    place = np.array([1.0, 1.0, 0.0, 0.0])
    noise = random.normal(scale=2.0, size=(4000, batch, 4)).mean(axis=1)
    rates = np.linspace(0, 1.2, 601)[:, None]
    gradient = place + noise
    after = (
        place @ place
        - 2 * rates * (gradient @ place)
        + rates**2 * (gradient * gradient).sum(axis=1)
    ).mean(axis=1) / 2
    drop, noiseless = place @ place / 2 - after.min(), place @ place / 2
    predicted = statistical.training_steps(batch, least_steps=1, least_samples=8)
    assert noiseless / drop == pytest.approx(predicted, rel=0.05)
