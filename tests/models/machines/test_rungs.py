"""What crosses each rung, against layers and copies whose messages are counted one by one."""

import numpy as np
import pytest

from scalelab.models.machines import hardware, rungs


def ring(buffers):
    """Add up arrays by a ring; return them, and the numbers that the first worker sent."""
    workers = len(buffers)
    parts = [list(np.array_split(buffer, workers)) for buffer in buffers]
    sent = 0
    for phase in ("reduce-scatter", "all-gather"):
        for turn in range(workers - 1):
            start = 0 if phase == "reduce-scatter" else 1
            moving = [(start + rank - turn) % workers for rank in range(workers)]
            messages = [parts[rank][moving[rank]].copy() for rank in range(workers)]
            sent += messages[0].size
            for rank, part in enumerate(moving):
                here = parts[(rank + 1) % workers]
                arrived = messages[rank]
                here[part] = here[part] + arrived if phase == "reduce-scatter" else arrived
    return [np.concatenate(one) for one in parts], sent


@pytest.mark.parametrize("split", [2, 4, 8])
def test_the_activations_sent_are_those_of_a_tensor_split_that_is_carried_out(split):
    """Megatron's layer: columns of the first matrix, rows of the second, then one sum; twice each way."""
    tokens, hidden, layers = 3, 16, 2
    rng = np.random.default_rng(32)
    x, first, second = (rng.normal(size=s) for s in ((tokens, hidden), (hidden, 64), (64, hidden)))
    halves = zip(np.split(first, split, axis=1), np.split(second, split), strict=True)
    partial = [(np.maximum(x @ a, 0) @ b).ravel() for a, b in halves]
    summed, sent = ring(partial)
    whole = np.maximum(x @ first, 0) @ second
    assert all(np.allclose(one.reshape(whole.shape), whole) for one in summed)
    sums = 4 * layers  # after attention and after the middle, forward and back
    model = rungs.activations_sent(tokens, hidden, layers, split, width=1)
    assert model == pytest.approx(sums * sent)


@pytest.mark.parametrize("copies", [2, 4, 16])
def test_the_gradients_sent_are_those_of_a_ring_among_the_copies(copies):
    parameters, split = 64 * 12, 4
    grads = [np.full(parameters // split, rank + 1.0) for rank in range(copies)]
    summed, sent = ring(grads)
    assert all((one == copies * (copies + 1) / 2).all() for one in summed)
    assert rungs.gradients_sent(parameters, split, copies, width=1) == pytest.approx(sent)


def test_a_device_alone_sends_nothing():
    assert rungs.activations_sent(4096, 8192, 80, split=1) == 0
    assert rungs.gradients_sent(70e9, split=8, copies=1) == 0


def test_a_mean_byte_takes_the_mean_of_simulated_bytes():
    rng = np.random.default_rng(2)
    far = rng.random(200_000) < 0.01
    simulated = np.where(far, 1 / 50e9, 1 / 3.35e12).mean()
    assert rungs.mean_seconds_per_byte(0.01, 3.35e12, 50e9) == pytest.approx(simulated, rel=0.03)
    assert rungs.mean_seconds_per_byte(0, 3e12, 1) == pytest.approx(1 / 3e12)


def test_the_card_of_a_dgx_h100_carries_a_ninth_of_its_nvlink():
    """And its memory 67 times the card: 3,350, 450 and 50 GB/s."""
    box = hardware.node("DGX H100")
    card = box.outside_bandwidth / box.count
    assert box.inside.bandwidth / card == pytest.approx(9)
    assert box.device.bandwidth / card == pytest.approx(67)
