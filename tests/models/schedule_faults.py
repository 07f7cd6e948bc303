"""What is wrong with a schedule, by the definition of one: whoever made it, it is judged alike."""

import itertools

from scalelab.models.graphs.dag import compact


def faults(dag, schedule):
    """Everything a schedule does wrong, one sentence each; none for a valid one."""
    form = compact(dag)
    hair = 1e-9 * schedule.makespan  # what rounding may do
    return (*_crowds(schedule, hair), *_lapses(form, schedule, hair))


def _crowds(schedule, hair):
    """Yield where workers are too many, or one of them is at two places."""
    rows = {}
    for slot in schedule.timeline:
        rows.setdefault(slot.worker, []).append(slot)
    if len(rows) > schedule.workers:
        yield f"{len(rows)} workers are busy, and only {schedule.workers} are paid for"
    for worker, row in rows.items():
        row.sort(key=lambda slot: (slot.start, slot.finish))
        for one, next_one in itertools.pairwise(row):
            if next_one.start < one.finish - hair:
                yield f"worker {worker} does nodes {one.node} and {next_one.node} at once"


def _lapses(form, schedule, hair):
    """Yield what the DAG asks for and the schedule does not do, in the order of the DAG."""
    slots = {slot.node: slot for slot in schedule.timeline}
    strangers = set(slots).difference(form.nodes)
    yield from (f"node {node} is not in the DAG" for node in slots if node in strangers)
    if len(slots) < len(schedule.timeline):
        yield f"{len(schedule.timeline) - len(slots)} slots repeat a node that is done elsewhere"

    waits = [(0.0, None)] * len(form.nodes)  # when each node's inputs are there, and the last one
    for i in form.order:
        node, weight, slot = form.nodes[i], form.weights[i], slots.get(form.nodes[i])
        done = waits[i]  # data is there as soon as what it waits for
        if slot is None and weight:
            yield f"node {node} is never done"
        if slot is not None:
            ready, last = waits[i]
            seconds = slot.finish - slot.start
            if abs(seconds - weight) > hair:
                yield f"node {node} takes {seconds:g}, and its weight is {weight:g}"
            if slot.start < ready - hair:
                yield f"node {node} starts at {slot.start:g}, before node {last} is done at {ready:g}"
            done = (slot.finish, node)
        for j in form.successors[i]:
            waits[j] = max(waits[j], done, key=lambda wait: wait[0])
