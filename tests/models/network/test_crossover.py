"""Which algorithm wins, and where the winner changes."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scalelab.models.network import algorithms, collectives, crossover
from scalelab.models.network.network import Network

LINK = Network(alpha=5e-6, beta=1 / 50e9, gamma=1 / 400e9)
NETWORKS = st.builds(Network, st.floats(1e-7, 1e-3), st.floats(1e-12, 1e-8), st.floats(0, 1e-9))
names = st.sampled_from([*algorithms.ALGORITHMS["all-reduce"]])


@given(st.floats(1, 1e12), st.integers(2, 3000), NETWORKS)
def test_the_fastest_is_no_slower_than_any_other(size, workers, network):
    best = crossover.fastest(size, workers, network)
    least = collectives.all_reduce(size, workers, network, best)
    for name in algorithms.ALGORITHMS["all-reduce"]:
        assert least <= collectives.all_reduce(size, workers, network, name)


@pytest.mark.parametrize("doublings", [2, 3, 6, 10])
def test_recursive_doubling_gives_way_where_its_extra_bytes_outweigh_its_fewer_rounds(doublings):
    """It saves lg K alpha and sends M ((lg K - 2 (K-1)/K) beta + (lg K - (K-1)/K) gamma) more."""
    workers = 2**doublings
    part = (workers - 1) / workers
    exact = (
        doublings
        * LINK.alpha
        / ((doublings - 2 * part) * LINK.beta + (doublings - part) * LINK.gamma)
    )
    found = crossover.crossover_size(workers, LINK, "recursive doubling", "halving-doubling")
    assert found == pytest.approx(exact, rel=1e-9)


@given(st.integers(2, 3000), NETWORKS, names, names)
def test_the_algorithms_change_places_at_the_crossover(workers, network, first, second):
    size = crossover.crossover_size(workers, network, first, second)

    def lead(m):
        return collectives.all_reduce(m, workers, network, first) - collectives.all_reduce(
            m, workers, network, second
        )

    if size == 0:
        assert lead(1) >= 0
    elif size == np.inf:
        assert lead(2.0**60) < 0
    else:
        assert lead(0.999 * size) <= 0 <= lead(1.001 * size)


def test_crossovers_of_many_counts_are_those_of_each():
    counts = np.array([4, 8, 100])
    table = crossover.crossover_size(counts, LINK, "recursive doubling", "ring")
    each = [crossover.crossover_size(int(k), LINK, "recursive doubling", "ring") for k in counts]
    assert list(table) == each
    assert type(each[0]) is float


def test_the_ring_of_many_workers_loses_to_the_trees_until_the_message_is_huge():
    tree, ring = "double binary tree", "ring"
    sizes = crossover.crossover_size([64, 512, 4096], LINK, tree, ring)
    assert (np.diff(sizes) > 0).all()
    assert sizes[0] > 1e6


def test_what_never_wins_has_no_crossover():
    assert crossover.crossover_size(8, LINK, "halving-doubling", "ring") == np.inf
    assert crossover.crossover_size(8, LINK, "ring", "halving-doubling") == 0


def test_other_collectives_have_crossovers_too():
    small, large = crossover.fastest([100, 1e9], 64, LINK, "broadcast")
    assert (small, large) == ("binomial tree", "scatter, doubling")
    # Bruck saves K - 1 - lg K latencies and sends lg K / 2 of the message instead of (K - 1) / K.
    exact = (63 - 6) * LINK.alpha / ((3 - 63 / 64) * LINK.beta)
    found = crossover.crossover_size(64, LINK, "Bruck", "pairwise", "all-to-all")
    assert found == pytest.approx(exact, rel=1e-9)
