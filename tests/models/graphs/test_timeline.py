"""A schedule as plain data, and the judge of any schedule."""

import pytest
from hypothesis import assume, given, strategies as st

from scalelab.models.graphs import dags, schedule
from scalelab.models.graphs.timeline import Schedule, Slot
from tests.models import small_dags
from tests.models.schedule_faults import faults

REAL = small_dags.dags(8, st.floats(0.5, 5))


@given(REAL, st.integers(1, 4))
def test_efficiency_is_the_share_of_the_paid_time_that_is_busy(dag, workers):
    result = schedule.greedy(dag, workers)
    busy = sum(weight for _, weight in dag.nodes(data="weight"))
    assert result.efficiency == pytest.approx(busy / (workers * result.makespan))


def test_nothing_to_do_leaves_nobody_idle():
    result = schedule.greedy(dags.tree_sum(1), 4)
    assert (result.timeline, result.makespan, result.efficiency) == ((), 0, 1)


@given(REAL, st.integers(1, 3), st.data())
def test_a_task_moved_before_its_inputs_is_found(dag, workers, data):
    result = schedule.greedy(dag, workers)
    late = [slot for slot in result.timeline if slot.start > 0]
    assume(late)
    moved = data.draw(st.sampled_from(late))
    alone = moved._replace(worker="new", start=0.0, finish=moved.finish - moved.start)
    others = [alone if slot is moved else slot for slot in result.timeline]
    found = faults(dag, Schedule(workers + 1, tuple(others)))
    expected = [f"node {moved.node} starts at 0, before"] if dag.pred[moved.node] else []
    assert len(found) == len(expected)
    assert all(one.startswith(start) for one, start in zip(found, expected, strict=True))


@given(REAL, st.integers(1, 3), st.data())
def test_a_task_left_out_or_done_in_no_time_is_found(dag, workers, data):
    timeline = schedule.greedy(dag, workers).timeline
    victim = data.draw(st.sampled_from(timeline))
    without = tuple(slot for slot in timeline if slot is not victim)
    assert f"node {victim.node} is never done" in faults(dag, Schedule(workers, without))
    hasty = victim._replace(finish=victim.start + 0.1)
    found = faults(dag, Schedule(workers, (*without, hasty)))
    assert any(one.startswith(f"node {victim.node} takes 0.1, and its weight is") for one in found)


def test_each_other_fault_has_its_sentence():
    dag = small_dags.build({"a": 1.0, "b": 1.0}, [])
    a, b = Slot("a", 0, 0, 1), Slot("b", 1, 0, 1)
    assert faults(dag, Schedule(2, (a, b))) == ()
    assert faults(dag, Schedule(1, (a, b))) == ("2 workers are busy, and only 1 are paid for",)
    together = (a, b._replace(worker=0, start=0.5, finish=1.5))
    assert faults(dag, Schedule(2, together)) == ("worker 0 does nodes a and b at once",)
    assert faults(dag, Schedule(2, (a, b, Slot("c", 0, 1, 2)))) == ("node c is not in the DAG",)
    again = faults(dag, Schedule(2, (a, b, b._replace(start=1, finish=2))))
    assert again == ("1 slots repeat a node that is done elsewhere",)


def test_data_passes_on_when_it_is_ready():
    """`pile` weighs nothing and has no slot, and still what follows must wait for what it holds."""
    dag = small_dags.build({"a": 2.0, "pile": 0.0, "b": 1.0}, [("a", "pile"), ("pile", "b")])
    early = Schedule(2, (Slot("a", 0, 0, 2), Slot("b", 1, 1, 2)))
    assert faults(dag, early) == ("node b starts at 1, before node a is done at 2",)
    late = Schedule(2, (Slot("a", 0, 0, 2), Slot("b", 1, 2, 3)))
    assert faults(dag, late) == ()


@pytest.mark.parametrize(
    "timeline",
    [
        5,
        [Slot("a", 0, 0, 1)],
        (("a", 0, 0, 1),),
        (Slot("a", 0, 2, 1),),
        (Slot("a", 0, -1, 1),),
        (Slot("a", 0, 0, float("nan")),),
        (Slot("a", 0, 0, float("inf")),),
        (Slot("a", 0, "now", "then"),),
        (Slot(["a"], 0, 0, 1),),
    ],
)
def test_a_timeline_that_is_none_is_refused(timeline):
    with pytest.raises(
        ValueError, match=r"^timeline must be a tuple of slots .*, got .*: write Slot"
    ):
        Schedule(1, timeline)


def test_a_schedule_needs_a_worker():
    with pytest.raises(ValueError, match=r"^workers must be a whole number from 1 on, got 0: "):
        Schedule(0, ())
