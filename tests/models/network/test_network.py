"""One message: latency, bandwidth, and the size at which they weigh the same."""

import inspect
import warnings

import pytest
from hypothesis import given, strategies as st

from scalelab.models.network import algorithms, collectives, crossover, hierarchy, network, overlap
from scalelab.models.network.network import Network
from scalelab.refusal import Refusal
from tests.models.test_bad_input import JUNK, PLAUSIBLE, SENTENCE, legitimate
from tests.sampling import sampled

LINK = Network(alpha=5e-6, beta=1 / 50e9)
SIZES = st.floats(1e-3, 1e15)
NETWORKS = st.builds(Network, st.floats(1e-9, 1e-2), st.floats(1e-13, 1e-6))


def arrival(size, link, packet):
    """When the last byte arrives if the link takes packet after packet, each after the one before."""
    clock = link.alpha
    while size > 0:
        clock += min(size, packet) * link.beta
        size -= packet
    return clock


@pytest.mark.parametrize("size", [0, 1, 999, 1000, 123_456])
def test_a_message_is_there_when_its_last_packet_is(size):
    assert network.message_seconds(size, LINK) == pytest.approx(arrival(size, LINK, 1000))


@given(NETWORKS)
def test_half_the_bandwidth_is_where_latency_and_bytes_take_equally_long(link):
    half = network.half_size(link)
    assert network.message_seconds(half, link) == pytest.approx(2 * link.alpha)


@given(SIZES, NETWORKS)
def test_two_messages_cost_one_latency_more_than_one(size, link):
    apart = 2 * network.message_seconds(size, link)
    together = network.message_seconds(2 * size, link)
    assert apart - together == pytest.approx(link.alpha, rel=1e-6, abs=1e-9 * apart)


def test_a_link_without_latency_has_no_half_size():
    assert network.half_size(Network(alpha=0, beta=1e-9)) == 0


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("alpha", -1e-6, "alpha must be in [0, 1e+06], got -1e-06: it is the seconds"),
        ("beta", 0, "beta must be in [1e-18, 1], got 0: it is in seconds per byte"),
        ("beta", 50e9, "beta must be in [1e-18, 1], got 50000000000.0: it is in seconds per byte"),
        ("beta", float("nan"), "beta must be in [1e-18, 1], got nan"),
        ("gamma", "fast", "gamma must be in [0, 1], got 'fast': it is the seconds"),
    ],
)
def test_a_network_refuses_what_cannot_be(field, value, sentence):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the sentence is compared
        Network(**{"alpha": 5e-6, "beta": 2e-11, field: value})
    assert str(error.value).startswith(sentence)


def test_a_bandwidth_given_for_a_network_is_answered_with_what_to_write():
    with pytest.raises(Refusal) as error:
        network.message_seconds(1e6, 50e9)
    assert str(error.value) == (
        "network must be a Network, got 50000000000.0: "
        "write Network(alpha=seconds, beta=1 / bandwidth)"
    )


# --- Junk beside a real network ------------------------------------------------------------------

RATES = st.one_of(st.floats(1e-12, 1e-3), st.sampled_from([1e-18, 1.0]))
FROM_ZERO = st.one_of(RATES, st.sampled_from([0, 5e-324, 1e-300]))
REAL = {
    "network": st.builds(Network, FROM_ZERO, RATES, FROM_ZERO),
    "collective": st.sampled_from([*algorithms.ALGORITHMS]),
    "algorithm": st.sampled_from([a for t in algorithms.ALGORITHMS.values() for a in t]),
}
REAL |= dict.fromkeys(("across", "inside"), REAL["network"])
REAL |= dict.fromkeys(("first", "second"), REAL["algorithm"])


def functions_of_a_network():
    for module in (network, algorithms, collectives, crossover, hierarchy, overlap):
        for name, function in inspect.getmembers(module, inspect.isfunction):
            ours = function.__module__ == module.__name__ and not name.startswith("_")
            if ours and REAL.keys() & inspect.signature(function).parameters.keys():
                yield function


@pytest.mark.parametrize("function", sampled(functions_of_a_network(), 8))
@given(data=st.data())
def test_junk_beside_a_real_network_gets_an_answer_or_a_sentence(function, data):
    """Where every argument is junk, the network is the first to be refused and hides the others."""
    given_ = {
        p.name: data.draw(REAL.get(p.name, st.one_of(st.integers(1, 64), PLAUSIBLE, JUNK)), p.name)
        for p in inspect.signature(function).parameters.values()
        if p.default is p.empty or data.draw(st.booleans())
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            answer = function(**given_)
        except Refusal as error:
            assert SENTENCE.fullmatch(str(error)), error  # noqa: PT017 - either outcome is fine
        else:
            assert legitimate(answer, infinite="infinite" in function.__doc__)
