"""The price of every collective, against a simulator that moves the bytes."""

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scalelab.models.network import algorithms, collectives, crossover
from scalelab.models.network.network import Network
from tests.cases import every
from tests.models import collective_simulator as simulator
from tests.sampling import sampled

# Each term alone would hide a mistake in the others; powers of two keep the arithmetic exact.
NETWORK = Network(alpha=2.0**-10, beta=2.0**-20, gamma=2.0**-22)
COUNTS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 16, 17, 24, 31, 32, 33]
COLLECTIVES = {
    "all-reduce": collectives.all_reduce,
    "reduce-scatter": collectives.reduce_scatter,
    "all-gather": collectives.all_gather,
    "reduce": collectives.reduce,
    "broadcast": collectives.broadcast,
    "all-to-all": collectives.all_to_all,
}
SIMULATED = {
    ("all-reduce", "ring"): simulator.ring_all_reduce,
    ("all-reduce", "recursive doubling"): simulator.recursive_doubling_all_reduce,
    ("all-reduce", "halving-doubling"): simulator.halving_doubling_all_reduce,
    ("all-reduce", "binomial tree"): simulator.binomial_all_reduce,
    ("reduce-scatter", "ring"): simulator.ring_reduce_scatter,
    ("reduce-scatter", "halving"): simulator.halving_reduce_scatter,
    ("all-gather", "ring"): simulator.ring_all_gather,
    ("all-gather", "doubling"): simulator.doubling_all_gather,
    ("reduce", "binomial tree"): simulator.binomial_reduce,
    ("reduce", "halving, gather"): lambda k, n: (
        simulator.halving_reduce_scatter(k, n)
        + simulator.backwards(simulator.binomial_scatter(k, n), adds=False)
    ),
    ("broadcast", "binomial tree"): simulator.binomial_broadcast,
    ("broadcast", "scatter, ring"): lambda k, n: (
        simulator.binomial_scatter(k, n) + simulator.ring_all_gather(k, n)
    ),
    ("broadcast", "scatter, doubling"): lambda k, n: (
        simulator.binomial_scatter(k, n) + simulator.doubling_all_gather(k, n)
    ),
    ("all-to-all", "pairwise"): simulator.pairwise_all_to_all,
    ("all-to-all", "Bruck"): simulator.bruck_all_to_all,
}
every_algorithm = pytest.mark.parametrize(("collective", "algorithm"), SIMULATED)


def before(collective, workers, elements):
    """Buffers before the collective; what a worker must not use is poisoned."""
    buffers = np.random.default_rng(8).integers(-(10**6), 10**6, (workers, elements))
    owns = {
        "all-gather": lambda r: simulator.chunks(elements, workers)[r],
        "broadcast": lambda r: np.arange(elements if r == 0 else 0),
    }.get(collective, lambda r: np.arange(elements))
    for r in range(workers):
        buffers[r, np.setdiff1d(np.arange(elements), owns(r))] = -(2**62)
    return buffers


def after(collective, start):
    """(worker, positions, values) that must stand in the buffers at the end."""
    workers, elements = start.shape
    everything, part = np.arange(elements), simulator.chunks(elements, workers)
    total = start.sum(axis=0)
    if collective == "all-reduce":
        return [(r, everything, total) for r in range(workers)]
    if collective == "reduce-scatter":
        return [(r, part[r], total[part[r]]) for r in range(workers)]
    if collective == "all-gather":
        whole = np.concatenate([start[r, part[r]] for r in range(workers)])
        return [(r, everything, whole) for r in range(workers)]
    if collective == "reduce":
        return [(0, everything, total)]
    if collective == "broadcast":
        return [(r, everything, start[0]) for r in range(workers)]
    return [(r, part[d], start[r - d, part[d]]) for r in range(workers) for d in range(workers)]


def simulate(collective, rounds, workers, elements):
    """Run the rounds and check that everyone ends with what the collective promises."""
    buffers = before(collective, workers, elements)
    expected = after(collective, buffers.copy())
    done = simulator.run(rounds, buffers)
    for worker, where, values in expected:
        assert (buffers[worker, where] == values).all(), worker
    return done


def test_every_algorithm_has_its_simulation():
    priced = {(c, a) for c, names in algorithms.ALGORITHMS.items() for a in names}
    assert priced == SIMULATED.keys() | {("all-reduce", "double binary tree")}


@every_algorithm
@every("workers", COUNTS)
def test_rounds_bytes_and_seconds_are_those_of_the_simulation(collective, algorithm, workers):
    """With chunks of equal size the formula is exact: every round, every byte."""
    elements = 2 * workers * 2 ** int(np.log2(workers))  # K and its power of two divide it
    rounds = SIMULATED[collective, algorithm](workers, elements)
    done = simulate(collective, rounds, workers, elements)
    size = elements * simulator.ELEMENT
    price = algorithms.traffic(size, workers, NETWORK, collective, algorithm)
    assert price.rounds == done.rounds
    assert price.moved == pytest.approx(done.moved, rel=1e-13)
    assert price.reduced == pytest.approx(done.reduced, rel=1e-13)
    seconds = COLLECTIVES[collective](size, workers, NETWORK, algorithm)
    assert seconds == pytest.approx(done.seconds(NETWORK), rel=1e-13)


@pytest.mark.parametrize("workers", [2, 3, 8, 13])
@pytest.mark.parametrize(
    ("algorithm", "run"),
    [("switch", simulator.switch_sums_all), ("switch, by parts", simulator.switch_all_reduce)],
)
def test_a_switch_that_adds_costs_what_its_busiest_link_carries(algorithm, run, workers):
    """Both directions at once, and the workers add nothing."""
    buffers = before("all-reduce", workers, 4 * workers)
    total = buffers.sum(axis=0)
    up, down = run(buffers)
    assert (buffers == total).all()
    size = 4 * workers * simulator.ELEMENT
    traffic = algorithms.traffic(size, workers, NETWORK, "all-reduce", algorithm)
    assert traffic == algorithms.Traffic(2, pytest.approx(max(up.max(), down.max())), 0)
    seconds = collectives.all_reduce(size, workers, NETWORK, algorithm)
    assert seconds == pytest.approx(2 * NETWORK.alpha + traffic.moved * NETWORK.beta)


def test_a_switch_gives_one_worker_nothing_to_do_and_is_no_choice_of_the_workers():
    for algorithm in algorithms.IN_NETWORK["all-reduce"]:
        assert collectives.all_reduce(1e9, 1, NETWORK, algorithm) == 0
        assert collectives.all_reduce(1e9, [1, 2], NETWORK, algorithm)[0] == 0
    assert crossover.fastest(1e9, 512, NETWORK) in algorithms.ALGORITHMS["all-reduce"]
    with pytest.raises(ValueError, match=r"algorithm must be one of .*, got 'switch'"):
        collectives.all_gather(1e9, 8, NETWORK, "switch")


@every("workers", [2, 3, 5, 6, 7, 8, 13])
@every("elements", [1, 2, 10, 61, 100])
@every("collective, algorithm", [names for names in SIMULATED if names[0] != "all-to-all"])
def test_a_size_that_does_not_divide_costs_at_most_the_next_that_does(
    collective, algorithm, workers, elements
):
    """The formula cuts bytes into equal parts; whole elements can only take longer."""
    rounds = SIMULATED[collective, algorithm](workers, elements)
    done = simulate(collective, rounds, workers, elements)
    core = 2 ** int(np.log2(workers))
    unit = core if algorithm in ("recursive doubling", "halving-doubling") else workers
    padded = -(-elements // unit) * unit
    low, high = (
        algorithms.traffic(n * simulator.ELEMENT, workers, NETWORK, collective, algorithm)
        for n in (elements, padded)
    )
    assert done.rounds == low.rounds == high.rounds
    assert low.moved * (1 - 1e-13) <= done.moved <= high.moved * (1 + 1e-13)
    assert low.reduced * (1 - 1e-13) <= done.reduced <= high.reduced * (1 + 1e-13)


def test_a_ring_of_uneven_chunks_is_as_slow_as_its_largest_chunk():
    """10 elements on 4 workers: somebody sends 3 of them in every round."""
    done = simulate("all-reduce", simulator.ring_all_reduce(4, 10), 4, 10)
    padded = algorithms.traffic(12 * simulator.ELEMENT, 4, NETWORK, "all-reduce", "ring")
    assert done.moved == padded.moved


def pipelining(workers, size, blocks):
    """A network on which this many blocks are best: latency against the bytes that wait for it."""
    c = blocks * blocks  # the rule is the least b with b (b + 1) >= c
    depth = int(np.log2(workers))
    per_byte = 2 * NETWORK.beta + NETWORK.gamma
    return Network((depth - 1) * size * per_byte / 4 / c or 1.0, NETWORK.beta, NETWORK.gamma)


@every("workers", [k for k in COUNTS if k > 1])
@every("blocks", [1, 2, 3, 7])
def test_the_double_tree_is_priced_like_its_slowest_schedule(workers, blocks):
    """The colours of some edges can be swapped, which saves one round each way at the most."""
    blocks = blocks if workers > 3 else 1  # trees of depth 1 have nothing to pipeline
    elements = 2 * blocks * 5
    size = elements * simulator.ELEMENT
    network = pipelining(workers, size, blocks)
    assert algorithms.best_blocks(size, workers, network) == blocks

    rounds = simulator.double_tree_all_reduce(workers, elements, blocks)
    done = simulate("all-reduce", rounds, workers, elements)
    price = algorithms.traffic(size, workers, network, "all-reduce", "double binary tree")
    assert price.rounds == done.rounds
    assert price.moved == pytest.approx(done.moved, rel=1e-13)
    assert price.reduced == pytest.approx(done.reduced, rel=1e-13)
    seconds = collectives.all_reduce(size, workers, network, "double binary tree")
    assert seconds == pytest.approx(done.seconds(network), rel=1e-13)

    groups = simulator.colour_groups(simulator.two_trees(workers))
    for swap in itertools.product((0, 1), repeat=len(groups)):
        if workers > 2:
            other = simulator.double_tree_all_reduce(workers, elements, blocks, swap)
            assert done.rounds - 2 <= len(other) <= done.rounds


PLACES = [
    pytest.param(*one) for one in itertools.product([6, 13, 32], [2.0**-14, 2.0**-10, 2.0**-7])
]


@pytest.mark.parametrize(("workers", "alpha"), sampled(PLACES, 3))
def test_no_other_number_of_blocks_is_faster_when_simulated(workers, alpha):
    elements = 2 * 2520  # halves that 1 to 10 blocks divide
    network = Network(alpha, NETWORK.beta, NETWORK.gamma)
    best = algorithms.best_blocks(elements * simulator.ELEMENT, workers, network)
    times = {}
    for blocks in range(1, 11):
        rounds = simulator.double_tree_all_reduce(workers, elements, blocks)
        times[blocks] = simulate("all-reduce", rounds, workers, elements).seconds(network)
    assert min(best, 10) == min(times, key=times.get)


# --- Published costs -----------------------------------------------------------------------------

# For p a power of two, messages of n bytes and lg = log2 p: factors of alpha, n beta and n gamma, as
# Thakur et al. 2005 give them (and the comments of MPICH's source repeat them).
PUBLISHED = {
    ("all-gather", "ring"): lambda p, lg: (p - 1, (p - 1) / p, 0),
    ("all-gather", "doubling"): lambda p, lg: (lg, (p - 1) / p, 0),
    ("broadcast", "binomial tree"): lambda p, lg: (lg, lg, 0),
    ("broadcast", "scatter, ring"): lambda p, lg: (lg + p - 1, 2 * (p - 1) / p, 0),
    ("broadcast", "scatter, doubling"): lambda p, lg: (2 * lg, 2 * (p - 1) / p, 0),
    ("all-to-all", "Bruck"): lambda p, lg: (lg, lg / 2, 0),
    ("reduce-scatter", "ring"): lambda p, lg: (p - 1, (p - 1) / p, (p - 1) / p),  # their pairwise
    ("reduce-scatter", "halving"): lambda p, lg: (lg, (p - 1) / p, (p - 1) / p),
    ("reduce", "binomial tree"): lambda p, lg: (lg, lg, lg),
    ("reduce", "halving, gather"): lambda p, lg: (2 * lg, 2 * (p - 1) / p, (p - 1) / p),
    ("all-reduce", "recursive doubling"): lambda p, lg: (lg, lg, lg),
    ("all-reduce", "halving-doubling"): lambda p, lg: (2 * lg, 2 * (p - 1) / p, (p - 1) / p),
}


@every("doublings", [1, 2, 3, 5, 10, 20])
@every("collective, algorithm", PUBLISHED)
def test_powers_of_two_cost_what_thakur_rabenseifner_and_gropp_print(
    collective, algorithm, doublings
):
    workers = 2**doublings
    price = algorithms.traffic(1.0, workers, NETWORK, collective, algorithm)
    published = PUBLISHED[collective, algorithm](workers, doublings)
    assert (price.rounds, price.moved, price.reduced) == pytest.approx(published)


@pytest.mark.parametrize("workers", [3, 6, 7, 100])
def test_other_counts_cost_what_mpich_adds_for_folding(workers):
    """Its comments: (2 floor(lg p) + 2) alpha and 2 n beta + n gamma on top, lg p rounded down.

    They go on with p where the part that is halved has only the power of two below it.
    """
    core = 2 ** int(np.log2(workers))
    price = algorithms.traffic(1.0, workers, NETWORK, "all-reduce", "halving-doubling")
    assert price.rounds == 2 * np.log2(core) + 2
    assert price.moved == pytest.approx(2 * (core - 1) / core + 2)
    assert price.reduced == pytest.approx((core - 1) / core + 1)
    assert price.moved < 2 * (workers - 1) / workers + 2


@given(st.integers(1, 10**6), st.floats(0, 1e15))
def test_the_ring_is_the_row_that_the_reference_article_prints(workers, size):
    """2 (N-1)/N data / bandwidth + 2 (N-1) latency, with nothing for the additions."""
    link = Network(alpha=5e-6, beta=1 / 50e9)
    printed = 2 * (workers - 1) / workers * size / 50e9 + 2 * (workers - 1) * 5e-6
    assert collectives.all_reduce(size, workers, link) == pytest.approx(printed)


# --- Limits, identities, bounds ------------------------------------------------------------------

WORKERS = st.integers(2, 2**20)
SIZES = st.floats(1, 1e12)
NETWORKS = st.builds(Network, st.floats(0, 1e-3), st.floats(1e-13, 1e-6), st.floats(0, 1e-9))
names = st.sampled_from([(c, a) for c, table in algorithms.ALGORITHMS.items() for a in table])


@given(names, SIZES, NETWORKS)
def test_one_worker_has_nothing_to_send(name, size, network):
    assert algorithms.traffic(size, 1, network, *name).seconds(network) == 0


@given(names, WORKERS, SIZES, NETWORKS)
def test_no_algorithm_beats_the_lower_bounds(name, workers, size, network):
    """Data from one worker needs lg K rounds to reach all; what a worker lacks must come in.

    Chan et al. 2007, doi:10.1002/cpe.1206, section 3; Patarasuk and Yuan 2009 for the all-reduce.
    """
    price = algorithms.traffic(size, workers, network, *name)
    part = (workers - 1) / workers * size
    must_move = {"all-reduce": 2 * part, "reduce": size, "broadcast": size}.get(name[0], part)
    adds = name[0] in ("all-reduce", "reduce", "reduce-scatter")
    assert price.rounds >= np.log2(workers)
    assert price.moved >= must_move * (1 - 1e-12)
    assert price.reduced >= adds * part * (1 - 1e-12)


@given(names, WORKERS, SIZES, st.floats(1, 100), NETWORKS)
def test_more_bytes_never_take_less_time(name, workers, size, factor, network):
    small, large = (
        algorithms.traffic(m, workers, network, *name).seconds(network)
        for m in (size, factor * size)
    )
    assert small <= large * (1 + 1e-12)


@given(names, WORKERS, SIZES, NETWORKS, st.sampled_from([0.25, 2, 64]))
def test_a_network_slower_in_everything_is_slower_by_as_much(name, workers, size, network, times):
    slower = Network(*(times * rate for rate in vars(network).values()))
    seconds = algorithms.traffic(size, workers, network, *name).seconds(network)
    scaled = algorithms.traffic(size, workers, slower, *name).seconds(slower)
    assert scaled == pytest.approx(times * seconds)


@given(WORKERS, SIZES, NETWORKS)
def test_an_all_reduce_is_a_reduce_scatter_and_an_all_gather(workers, size, network):
    def sum_of(scatter, gather):
        scattered = collectives.reduce_scatter(size, workers, network, scatter)
        return scattered + collectives.all_gather(size, workers, network, gather)

    assert collectives.all_reduce(size, workers, network) == pytest.approx(sum_of("ring", "ring"))
    core = 2 ** int(np.log2(workers))
    if core == workers:
        together = collectives.all_reduce(size, workers, network, "halving-doubling")
        assert together == pytest.approx(sum_of("halving", "doubling"))


def test_a_double_tree_on_a_link_without_latency_sends_everything_twice():
    """As many blocks as bytes: the pipeline is always full, and only 2 M beta remains."""
    free = Network(alpha=0, beta=1 / 50e9)
    seconds = collectives.all_reduce(1e9, 1024, free, "double binary tree")
    assert seconds == pytest.approx(2 * 1e9 / 50e9, rel=1e-6)


# --- Kind of answer ------------------------------------------------------------------------------


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_a_scalar_gives_a_float_and_an_array_the_same_numbers(collective):
    function = COLLECTIVES[collective]
    for algorithm in algorithms.ALGORITHMS[collective]:
        sizes, counts = np.array([1e3, 1e6]), np.array([[2], [7], [64]])
        table = function(sizes, counts, NETWORK, algorithm)
        assert table.shape == (3, 2)
        for i, j in np.ndindex(3, 2):
            scalar = function(float(sizes[j]), int(counts[i, 0]), NETWORK, algorithm)
            assert type(scalar) is float
            assert scalar == table[i, j]
