"""Alpha and beta: recovered where they are known, never negative, honest where they cannot be seen."""

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from scalelab import records
from scalelab.curves.fit import Refused
from scalelab.files.nccl import nccl_tests
from scalelab.links import alphabeta, compare
from scalelab.links.sweep import Sweep, published_names
from scalelab.models.network import collectives
from scalelab.models.network.network import Network, half_size
from scalelab.records import Caution, Machine, Recording, Sample
from tests.cli.command import scalelab
from tests.models import collective_simulator as simulator
from tests.notebooks import ROOT
from tests.sampling import sampled

pytestmark = pytest.mark.turns(3)

SIZES = np.array([2.0**n for n in range(10, 31)])
LINK = Network(alpha=5e-6, beta=1 / 50e9)


@pytest.fixture(scope="module")
def published():
    """Both sweeps, fitted once."""
    return {name: alphabeta.fit(Sweep.published(name)) for name in published_names()}


@pytest.mark.parametrize(
    ("model", "collective", "algorithm"),
    [
        (collectives.all_reduce, "all-reduce", "ring"),
        (collectives.all_reduce, "all-reduce", "recursive doubling"),
        (collectives.all_gather, "all-gather", "doubling"),
        (collectives.broadcast, "broadcast", "binomial tree"),
        (collectives.all_to_all, "all-to-all", "Bruck"),
    ],
)
def test_the_link_behind_a_collective_is_recovered_through_its_rounds_and_bytes(
    model, collective, algorithm
):
    seconds = model(SIZES, 6, LINK, algorithm)
    sweep = Sweep.of(SIZES, seconds, workers=6, collective=collective, algorithm=algorithm)
    (regime,) = alphabeta.fit(sweep).regimes
    assert regime.network.alpha == pytest.approx(LINK.alpha, rel=1e-3)
    assert regime.network.beta == pytest.approx(LINK.beta, rel=1e-3)


def test_a_simulated_ring_gives_its_link_back():
    """The simulator moves real buffers and counts; it knows no formula."""
    workers, sizes = 4, [4 * n for n in (2, 16, 128, 1024, 8192)]
    buffers = [np.ones((workers, n), int) for n in sizes]
    runs = [simulator.run(simulator.ring_all_reduce(workers, b.shape[1]), b) for b in buffers]
    sweep = Sweep.of(
        [simulator.ELEMENT * n for n in sizes],
        [run.seconds(LINK) for run in runs],
        workers=workers,
        collective="all-reduce",
        algorithm="ring",
    )
    (regime,) = alphabeta.fit(sweep).regimes
    assert regime.network.alpha == pytest.approx(LINK.alpha, rel=5e-3)
    assert regime.network.beta == pytest.approx(LINK.beta, rel=2e-2)


def test_half_of_the_bandwidth_is_reached_where_the_closed_form_says():
    sweep = Sweep.of(SIZES, LINK.alpha + LINK.beta * SIZES)
    (regime,) = alphabeta.fit(sweep).regimes
    assert regime.half == pytest.approx(half_size(LINK), rel=2e-3)


def test_three_regimes_are_found_where_there_are_three():
    rng = np.random.default_rng(3)
    lines = [(10e-6, 1e-9), (30e-6, 1e-10), (90e-6, 2e-11)]
    which = np.digitize(SIZES, [2**16.5, 2**23.5])
    seconds = np.array([lines[i][0] + lines[i][1] * m for i, m in zip(which, SIZES, strict=True)])
    fitted = alphabeta.fit(Sweep.of(SIZES, seconds * np.exp(0.01 * rng.standard_normal(21))))
    assert np.round(np.log2(fitted.edges), 6).tolist() == [16.5, 23.5]
    for regime, (latency, per_byte) in zip(fitted.regimes, lines, strict=True):
        assert regime.latency.value == pytest.approx(latency, rel=0.1)
        assert 1 / regime.bandwidth.value == pytest.approx(per_byte, rel=0.1)


def test_one_line_with_noise_is_rarely_cut_and_its_intervals_hold():
    rng = np.random.default_rng(7)
    cut, held, inside = 0, [0, 0], 0
    for _ in range(25):
        seconds = (20e-6 + SIZES / 40e9) * np.exp(0.03 * rng.standard_normal(len(SIZES)))
        fitted = alphabeta.fit(Sweep.of(SIZES[::2], seconds[::2]))
        cut += len(fitted.regimes) > 1
        low, high = fitted.regimes[0].latency.low, fitted.regimes[0].latency.high
        held[0] += (low or 0) <= 20e-6 <= high
        rate = fitted.regimes[-1].bandwidth
        held[1] += rate.low <= 40e9 <= (rate.high or np.inf)
        found = fitted.predict(SIZES[11])
        inside += found.low <= seconds[11] <= found.high
    assert cut <= 5
    assert min(*held, inside) >= 18  # of 25; cuts that luck suggests cost some of the 90%


@pytest.mark.parametrize("name", published_names())
def test_published_sweeps_are_met_within_eight_percent_and_no_latency_is_negative(published, name):
    fitted = published[name]
    errors = np.abs(fitted.seconds(fitted.sweep.size) / fitted.sweep.seconds - 1)
    assert np.median(errors) < 0.02
    assert all(r.latency.value > 0 and (r.latency.low or 0) >= 0 for r in fitted.regimes)
    assert len(fitted.regimes) <= 3


@pytest.mark.parametrize("name", sampled(published_names(), 1))
def test_a_size_that_was_left_out_is_predicted_within_eight_percent_at_the_median(name):
    sweep = Sweep.published(name)
    errors = []
    for size in sweep.size[::2]:
        rest = alphabeta.fit(sweep.at(sweep.size != size))
        errors.append(rest.predict(size).value / sweep.seconds[sweep.size == size][0] - 1)
    assert np.median(np.abs(errors)) < 0.08


def test_least_squares_gets_the_small_messages_wrong_where_the_fit_does_not(published):
    sweep = Sweep.published("nccl_allreduce_8xH200_payload")
    latency, _, chance = compare.least_squares(sweep)
    assert latency == pytest.approx(np.polyfit(sweep.size, sweep.seconds, 1)[1], rel=1e-6)
    assert latency > 2 * sweep.seconds[:5].max()  # it is decided by messages of gigabytes
    small = published["nccl_allreduce_8xH200_payload"].seconds(sweep.size[:5])
    assert np.abs(small / sweep.seconds[:5] - 1).max() < 0.12
    rng = np.random.default_rng(1)
    again = sweep.seconds * (1 + 0.05 * rng.standard_normal((4000, 20)))
    negative = np.mean(np.polyfit(sweep.size, again.T, 1)[1] < 0)
    assert compare.least_squares(sweep, 0.05)[2] == pytest.approx(negative, abs=0.02)
    assert chance < negative


@given(st.lists(st.floats(1e-7, 10), min_size=3, max_size=7), st.integers(0, 20))
@settings(max_examples=25, derandomize=True)
def test_whatever_was_measured_no_latency_is_negative_and_every_end_is_finite(seconds, first):
    sizes = [2.0 ** (first + 2 * i) for i in range(len(seconds))]
    fitted = alphabeta.fit(Sweep.of(sizes, seconds))
    for regime in fitted.regimes:
        assert 0 <= regime.latency.value <= regime.latency.high < np.inf
        assert regime.bandwidth is None or 0 < regime.bandwidth.low <= regime.bandwidth.value
    for size in (sizes[0] / 2 + 1, sizes[1] * 1.5, sizes[-1] * 8):
        found = fitted.predict(size)
        assert 0 < found.low <= found.value <= found.high < np.inf


def test_sizes_too_small_for_a_bandwidth_give_none():
    (regime,) = alphabeta.fit(Sweep.of([8, 16, 32, 64], [1e-5, 1.01e-5, 0.99e-5, 1e-5])).regimes
    assert regime.bandwidth is None or regime.bandwidth.high is None
    assert regime.latency.value == pytest.approx(1e-5, rel=0.02)


def test_sizes_too_large_for_a_latency_leave_it_open():
    sizes = 2.0 ** np.arange(30, 36)
    (regime,) = alphabeta.fit(Sweep.of(sizes, sizes / 1e9)).regimes
    assert regime.latency.low is None
    assert regime.bandwidth.value == pytest.approx(1e9, rel=1e-2)


def test_printed_digits_say_how_exact_a_value_is():
    sweep = Sweep.of_rates([1, 2], [0.01, 482.26], workers=8, collective="all_reduce")
    assert sweep.seconds[0] == pytest.approx(1.75 / 0.01e9)
    assert sweep.rounding[0] == pytest.approx(np.log(3) / 2)  # from 0.005 to 0.015
    assert sweep.rounding[1] == pytest.approx(0.005 / 482.26, rel=1e-3)
    assert Sweep.of([1, 2], ["12.3", "1e1"]).rounding[0] == pytest.approx(0.05 / 12.3)


def test_a_coarsely_printed_row_counts_for_less():
    """At 64 bytes 0.0032 GB/s are printed as "0.00" or "0.01": such rows must not bend the line."""
    sizes = 2.0 ** np.arange(6, 13)
    texts = [f"{max(x, 0.0051):.2f}" for x in sizes / (20e-6 + sizes / 40e9) / 1e9]
    coarse = Sweep.of_rates(sizes, texts, workers=2, collective="broadcast")
    blind = dataclasses.replace(coarse, rounding=np.zeros(len(sizes)))
    knowing, blind = (alphabeta.fit(sweep).seconds(4096.0) / 20.1e-6 for sweep in (coarse, blind))
    assert abs(knowing - 1) < 0.05
    assert abs(blind - 1) > 2 * abs(knowing - 1)


def test_a_table_of_nccl_tests_is_read_and_fitted():
    table = nccl_tests.read(ROOT / "tests" / "samples" / "nccl_all_reduce.txt")
    fitted = alphabeta.fit(Sweep.recorded(table))
    assert (fitted.sweep.workers, fitted.sweep.collective) == (16, "all-reduce")
    assert fitted.regimes[0].network is None  # NCCL chose, and did not say what
    assert fitted.bus_bandwidth == pytest.approx(330e9, rel=0.05)  # its last row says 322 and 330


def test_our_own_sweep_brings_its_algorithm_along():
    machine = Machine("here", cores=2)
    told = {"collective": "all-reduce", "algorithm": "ring", "workers": 4}
    samples = [
        Sample("x", (collectives.all_reduce(m, 4, LINK),), 1, machine, "2025-01-01",
               given={**told, "bytes": m})
        for m in (1e3, 1e5, 1e7)
    ]  # fmt: skip
    (regime,) = alphabeta.fit(Sweep.recorded(samples)).regimes
    assert regime.network.bandwidth == pytest.approx(50e9, rel=1e-2)


LOG = ROOT / "tests" / "samples" / "nccl_all_reduce.txt"


def test_the_command_fits_a_log_of_nccl_tests_and_predicts_a_size():
    fitted = alphabeta.fit(Sweep.recorded(nccl_tests.read(LOG)))
    done = scalelab("fit", "-", "--at", "64MiB,1GiB", "--json", text=LOG.read_text())
    assert done.returncode == 0
    said = json.loads(done.stdout)
    assert said["regimes"] == [dataclasses.asdict(one) for one in fitted.regimes]
    assert said["predictions"][0] == {"bytes": 2**26} | vars(fitted.predict(2**26))
    lines = scalelab("fit", LOG, "--at", "64MiB").stdout.splitlines()
    assert lines[0].startswith("all-reduce on 16 workers: 12 rows, ")
    assert lines[2].startswith("1 KiB to 1 GiB  22 µs (21.7 µs to 22.4 µs)  177 GB/s (173 GB/s to ")
    assert any(line.startswith("64 MiB in ") for line in lines)


def test_the_command_fits_what_scalelab_run_has_kept_and_passes_its_advice_on(tmp_path):
    ring = {"collective": "all-reduce", "algorithm": "ring", "workers": 4}
    doubtful = (Caution("late start", "The ranks began apart."),)
    samples = tuple(
        Sample(f"x of {m:g}", (collectives.all_reduce(m, 4, LINK),), 1, Machine("here", cores=2),
               "2025-01-01", advice=doubtful, given={**ring, "bytes": m})
        for m in (1e3, 1e5, 1e7)
    )  # fmt: skip
    (tmp_path / "run.json").write_text(records.to_json(Recording("all-reduce", samples)))
    done = scalelab("fit", tmp_path / "run.json", "--json", "--strict")
    said = json.loads(done.stdout)
    assert said["regimes"][0]["alpha"]["value"] == pytest.approx(LINK.alpha, rel=1e-2)
    assert said["advice"] == ["x of 1000 (and 2 more): The ranks began apart."]
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("change", "options", "said"),
    [
        (lambda text: text[: text.index("#       size")], (), "hold a header of columns, got"),
        (lambda text: text.replace("21.52", "2x.52"), (), "line 26 must hold size, count"),
        (lambda text: text.replace("all_reduce_perf", "perf"), (), "collective must be one of"),
        (lambda text: text, ("--family", "amdahl"), "--family must go with a scaling table"),
        (lambda text: text, ("--at", "64 workers"), "--at must be in B, got '64 workers'"),
        (lambda text: text, ("--at", "0 B"), "--at must be sizes from 1 B on"),
        (lambda text: '{"config": {"nthreads": 1, ', (), "continue as JSON"),
    ],
)
def test_a_spoilt_log_or_a_wish_that_needs_a_table_is_refused_in_one_sentence(
    change, options, said, tmp_path
):
    (tmp_path / "log.txt").write_text(change(LOG.read_text()))
    done = scalelab("fit", tmp_path / "log.txt", *options)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert said in line


def test_what_cannot_be_fitted_is_refused_in_a_sentence():
    with pytest.raises(Refused, match="size must take at least 3 different values, got 2"):
        alphabeta.fit(Sweep.of([1, 2, 2], [1, 2, 2]))
    wrong = [
        (lambda: Sweep.of([1, 2], [1, -1]), "seconds must be positive"),
        (lambda: Sweep.of([1, 2], [1, "x"]), "seconds must be a column of numbers"),
        (lambda: Sweep.of([1, 2], [1]), "seconds must be a column of 2 rows"),
        (lambda: Sweep.published("nccl"), "name must be one of"),
        (lambda: Sweep.recorded([]), "samples must be a sweep"),
        (lambda: alphabeta.fit(3), "sweep must be a Sweep"),
        (
            lambda: alphabeta.fit(
                Sweep.of([1, 2, 4], [1, 2, 4], collective="all-reduce", algorithm="magic")
            ),
            "algorithm must be one of ring, .+ leave it out",
        ),
    ]
    for call, message in wrong:
        with pytest.raises(ValueError, match=message):
            call()
