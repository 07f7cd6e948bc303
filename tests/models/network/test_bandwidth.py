"""Bus bandwidth and what the wires carried, against moved bytes and published measurements."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scalelab.models.network import bandwidth, collectives
from scalelab.models.network.network import Network
from tests.models import collective_simulator as simulator

# all_reduce_perf, 8 GiB, H200 with NVLink 4 (450 GB/s per direction), bus bandwidths in GB/s, from
# stas00/ml-engineering at 744d01e1, network/README.md, section SHARP: by the switch, and with
# NCCL_NVLS_ENABLE=0 by a ring.
BY_SWITCH = {5: 414.2, 6: 435.6, 7: 460.0, 8: 473.1}
BY_RING = {4: 363.3, 5: 364.4, 6: 365.1, 7: 365.7, 8: 365.6}
NVLINK = 450.0
SIZE = 8 * 2**30

WORKERS = st.integers(2, 10_000)


@pytest.mark.parametrize("workers", [2, 3, 8, 12])
def test_the_factor_is_what_the_busiest_link_of_a_ring_carries(workers):
    elements = 4 * workers
    for collective, rounds in {
        "all-reduce": simulator.ring_all_reduce,
        "reduce-scatter": simulator.ring_reduce_scatter,
        "all-gather": simulator.ring_all_gather,
        "all-to-all": simulator.pairwise_all_to_all,
    }.items():
        buffers = np.ones((workers, elements), int)
        sent = simulator.run(rounds(workers, elements), buffers).sent
        factor = bandwidth.bus_factor(workers, collective)
        assert factor * elements * simulator.ELEMENT == pytest.approx(sent.max())


@given(WORKERS)
def test_a_ring_without_latency_shows_the_link_as_its_bus_bandwidth(workers):
    link = Network(alpha=0, beta=1 / 450e9)
    for collective in ("all-reduce", "reduce-scatter", "all-gather", "all-to-all"):
        seconds = getattr(collectives, collective.replace("-", "_"))(SIZE, workers, link)
        shown = bandwidth.bus_bandwidth(SIZE, seconds, workers, collective)
        assert shown == pytest.approx(450e9)


def algorithm_bandwidths(published):
    workers = np.array(list(published))
    return workers, np.array(list(published.values())) / bandwidth.bus_factor(workers)


def test_the_bus_bandwidth_of_a_published_ring_hardly_depends_on_the_gpus():
    workers, rates = algorithm_bandwidths(BY_RING)
    assert np.ptp(rates) / rates.mean() > 0.14  # GB of the message per second: 242 down to 209
    shown = bandwidth.bus_bandwidth(rates, 1, workers)
    assert np.ptp(shown) / shown.mean() < 0.01


@pytest.mark.parametrize("workers", [2, 3, 5, 8, 16])
def test_a_switch_that_reduces_carries_what_moving_the_bytes_shows(workers):
    elements = 6 * workers
    buffers = np.random.default_rng(1).integers(0, 99, (workers, elements))
    total = buffers.sum(axis=0)
    up, down = simulator.switch_all_reduce(buffers)
    assert (buffers == total).all()
    size = elements * simulator.ELEMENT
    carried = bandwidth.switch_bandwidth(size, 1, workers)
    assert carried == pytest.approx(up.max())
    assert carried == pytest.approx(down.max())


def test_published_switch_runs_carry_the_same_on_every_link():
    """482 or 473 GB/s over a 450 GB/s link is no miracle: the wire carried 306, on 5 to 8 GPUs."""
    workers, rates = algorithm_bandwidths(BY_SWITCH)
    carried = bandwidth.switch_bandwidth(rates, 1, workers)
    assert carried == pytest.approx(np.full(4, 306.6), rel=0.015)
    assert (carried < NVLINK).all()
    assert bandwidth.bus_bandwidth(rates, 1, workers).max() > NVLINK


def test_a_bus_bandwidth_above_the_link_is_read_as_in_network_reduction_up_to_a_limit():
    assert bandwidth.bus_reading(365.6e9, 450e9, 8) == "messages"
    assert bandwidth.bus_reading(473.1e9, 450e9, 8) == "in-network"
    exactly = {"link": 450e9, "tolerance": 0}
    assert bandwidth.bus_reading(700e9, workers=8, **exactly) == "in-network"  # 14/9 x 450
    assert bandwidth.bus_reading(700.1e9, workers=8, **exactly) == "impossible"
    assert bandwidth.bus_reading(451e9, workers=2, **exactly) == "impossible"  # saves two nothing
    # Printed with two digits, 12.5 GB/s may read 12.51; that is no reduction in the network.
    assert bandwidth.bus_reading(12.51e9, 12.5e9, 8) == "messages"
    assert bandwidth.bus_reading(12.51e9, 12.5e9, 8, tolerance=0) == "in-network"


@given(st.floats(1e9, 1e12), WORKERS)
def test_a_full_link_with_a_switch_is_the_limit_of_the_reading(link, workers):
    seconds = SIZE * ((workers + 1) / workers) / link
    assert bandwidth.switch_bandwidth(SIZE, seconds, workers) == pytest.approx(link)
    shown = bandwidth.bus_bandwidth(SIZE, seconds, workers)
    assert bandwidth.bus_reading(shown * (1 - 1e-9), link, workers, 0) != "impossible"
    above = max(shown, link) * (1 + 1e-9)
    assert bandwidth.bus_reading(above, link, workers, 0) == "impossible"
    assert bandwidth.bus_reading(above * 1.01, link, workers) == "impossible"


@pytest.mark.parametrize(("nodes", "per_node"), [(2, 2), (2, 4), (4, 2), (8, 4)])
def test_a_nic_carries_the_bytes_of_its_workers_part_among_the_nodes(nodes, per_node):
    """One card per worker; the all-reduce across nodes moves one part of the message over each."""
    elements = 4 * nodes * per_node
    part = elements // per_node
    sent = simulator.run(simulator.ring_all_reduce(nodes, part), np.ones((nodes, part), int)).sent
    size = elements * simulator.ELEMENT
    assert bandwidth.nic_bandwidth(size, 1, nodes, per_node) == pytest.approx(sent.max())


@pytest.mark.parametrize(("nodes", "nics"), [(2, 1), (2, 8), (4, 8), (16, 8)])
def test_a_bus_bandwidth_passes_the_network_cards_most_on_two_nodes(nodes, nics):
    """Full 50 GB/s cards: two nodes of 8 GPUs show 1.875 of what they have, sixteen show 1.06."""
    workers = 8 * nodes
    seconds = 1.0
    size = 50e9 * seconds * nics / (2 * (nodes - 1) / nodes)
    assert bandwidth.nic_bandwidth(size, seconds, nodes, nics) == pytest.approx(50e9)
    shown = bandwidth.bus_bandwidth(size, seconds, workers)
    assert shown / (nics * 50e9) == pytest.approx((1 - 1 / workers) / (1 - 1 / nodes))


def test_an_unknown_collective_is_answered_with_the_known_ones():
    with pytest.raises(
        ValueError, match=r"collective must be one of all-reduce, reduce-scatter, .*"
    ):
        bandwidth.bus_factor(8, "allreduce")
    with pytest.raises(ValueError, match="it counts the workers, and one alone moves no bytes"):
        bandwidth.bus_factor(1)


def test_a_reading_far_over_the_link_is_the_switchs_work():
    assert list(bandwidth.bus_reading([1, 500], 450, 8)) == ["messages", "in-network"]
