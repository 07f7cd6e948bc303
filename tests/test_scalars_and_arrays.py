"""Every public function answers a number with a number, and an array with the same numbers."""

import dataclasses
import inspect
from fnmatch import fnmatch

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scalelab.refusal import Refusal
from tests.public import functions, luck, meant
from tests.sampling import sampled

PLAIN = (float, int, str, bool, type(None))
# What counts, labels or chooses is one value, and a column of a table has one dimension.
SINGLE = """
    alarms.over_the_* bandwidth.bus_reading.tolerance batching.least_latency.*
    batching.most_throughput.* epoch.* failures.stretches.* hierarchy.arrivals.* *.values
    hedging.tied_percentile.service hedging.tied_percentile.waiting memory.*.stage messages.*
    overlap.best_buckets.* overlap.bucketed_seconds.*
    overlap.exposed_seconds.ready overlap.exposed_seconds.seconds ranks.*
    rungs.crossings.* schedule.* sizing.cheapest_within.* sizing.fastest_within.*
    speedup.first_below.* speedup.knee.* stats.* tail.percentile_interval.*
    tail.samples_needed.slower up_or_out.upgraded_speedup.*
"""
# Here no number is asked for, or none is answered.
OTHERWISE = """
    *.advice autograd.* cores.* ledger.ledger dags.* epoch.* failures.stretches hardware.* messages.*
    network.half_size omission.* overlap.bucket_times pipeline.dag preempted.* rank_dags.* reached.* reuse.*
    rungs.crossings schedule.* simulated.* sizing.worth_a_look stats.*
    laws.after_losses timeline.* transformer.*parameters units.*
    workdepth.critical_path workdepth.depth workdepth.work
"""
# NumPy rounds a power or a sum in an array otherwise than a single one, and a search stops elsewhere.
ROUNDED = {"capacity.knee": 1e-6}


def listed(name, patterns):
    return any(fnmatch(name, pattern) for pattern in patterns.split())


def parts(answer):
    """Return the plain values of an answer, also of one that is a tuple, a table or a record."""
    if dataclasses.is_dataclass(answer):
        answer = vars(answer)
    if isinstance(answer, dict):
        answer = tuple(answer.values())
    return [x for part in answer for x in parts(part)] if isinstance(answer, tuple) else [answer]


def asked(function, arguments):
    """Return the parts of the answer; none where the arguments do not go together."""
    try:
        return parts(function(**arguments))
    except Refusal:
        return []


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def same(array, one, other, rounded):
    """The first of the array's two numbers is that for one scalar, the second for the other."""
    both = np.broadcast_to(array, (1, 2)).tolist()
    if both == [[one, other]]:
        return True
    return all(map(is_number, [*both[0], one, other])) and both[0] == pytest.approx(
        [one, other], rel=rounded, abs=0
    )


@pytest.mark.parametrize(
    "function", sampled([one for one in functions() if not listed(one.id, OTHERWISE)], 60)
)
def test_a_scalar_gives_a_float_and_an_array_the_same_numbers(function):
    """Also where only one of the arguments is an array, and also in every part of the answer."""
    name = f"{function.__module__.split('.')[-1]}.{function.__name__}"
    needed, optional = {}, {}
    for parameter in inspect.signature(function).parameters.values():
        place = needed if parameter.default is parameter.empty else optional
        place[parameter.name] = meant(parameter.name)
    compared = set()

    def agree(arguments, others):
        alone = asked(function, arguments)
        assert all(type(part) in PLAIN for part in alone if np.ndim(part) == 0), alone
        if not alone or any(np.ndim(part) for part in alone):
            return
        numbers = [n for n, value in arguments.items() if is_number(value) and is_number(others[n])]
        single = [n for n in numbers if listed(f"{name}.{n}", SINGLE)]
        many = [n for n in numbers if n not in single]
        for changed in [*([n] for n in numbers), many]:
            other = asked(function, arguments | {n: others[n] for n in changed})
            if not (changed and other):
                continue
            both = {n: np.array([[arguments[n], others[n]]]) for n in changed}
            table = asked(function, arguments | both)
            compared.update(changed)
            if changed[0] in single:
                assert not table, f"{changed} takes arrays"
                continue
            for array, one, two in zip(table, alone, other, strict=True):
                assert same(array, one, two, ROUNDED.get(name, 1e-12)), (changed, array, one, two)

    calls = st.fixed_dictionaries(needed, optional=optional)
    others = st.fixed_dictionaries(needed | optional)
    for examples in (20, 300, 3000):  # not all arguments go together
        luck(function, examples)(given(calls, others)(agree))()
        if compared:
            return
    pytest.fail("no number was tried")
