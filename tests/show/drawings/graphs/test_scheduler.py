"""The drawing of a greedy schedule, each frame held against one carried out here, minute by minute."""

import itertools

import pytest

from scalelab.models import graphs
from scalelab.refusal import Refusal
from scalelab.show.drawings import Stepper
from scalelab.show.drawings.graphs import greedy

WORKERS = (2, 4, 8)
TREE = {f"{k} workers": (k, "first ready") for k in WORKERS}
ORDERS = {"as they come": (3, "first ready"), "longest first": (3, "longest")}


def of_tree():
    return greedy("A tree of 16 numbers", graphs.tree_sum(16), TREE)


def of_seven():
    return greedy("Seven tasks", graphs.independent([1] * 6 + [3]), ORDERS)


SHOWN = {
    "a tree on lanes": lambda: Stepper(*of_tree(), choose="workers"),
    "seven tasks": lambda: Stepper(*of_seven(), choose="order"),
}


def needs():
    """What each of the 15 additions of a tree waits for: 8 of them for none, and then pairs."""
    found, level, letters = {}, list("ABCDEFGH"), iter("IJKLMNO")
    found |= dict.fromkeys(level, "")
    while len(level) > 1:
        above = []
        for left, right in zip(level[::2], level[1::2], strict=True):
            above.append(next(letters))
            found[above[-1]] = left + right
        level = above
    return found


def by_the_minute(needs, costs, workers, order):
    """(running, done) at each minute, one queue and no events: who is first in the order goes first."""
    left, queue, seen = dict(costs), [], set()
    running, states = {}, []
    done = set()
    while len(done) < len(costs):
        queue += [t for t in costs if t not in seen and done.issuperset(needs[t])]
        seen |= set(queue)
        queue.sort(key=order)
        while queue and len(running) < workers:
            running[queue.pop(0)] = None
        states.append((set(running), set(done)))
        for task in list(running):
            left[task] -= 1
            if not left[task]:
                del running[task]
                done.add(task)
    return [*states, (set(), done)]


def drawn_at(frame, tone):
    return {
        s.text for s in frame.shapes if s.kind == "block" and s.key[:4] == "task" and s.tone == tone
    }


@pytest.mark.parametrize("workers", WORKERS)
def test_the_tree_fills_its_lanes_as_a_queue_does(workers):
    drawn = of_tree()[WORKERS.index(workers)]
    states = by_the_minute(needs(), dict.fromkeys(needs(), 1), workers, lambda task: 0)
    assert len(drawn.frames) == 2 * len(states) - 1
    for minute, (running, done) in enumerate(states):
        before = drawn.frames[2 * minute]
        assert drawn_at(before, drawn.tones["done"]) == done
        assert before.facts["Work left"] == f"{15 - len(done)} of 15"
        if running:
            after = drawn.frames[2 * minute + 1]
            assert drawn_at(after, drawn.tones["runs"]) == running
            idle = [
                s for s in after.shapes if s.text == "idle" and s.key.endswith(f"from {minute}")
            ]
            assert len(idle) == workers - len(running)
    assert drawn.title.endswith(f"done at {len(states) - 1}")
    bounds = max(15 / workers, 4), 11 / workers + 4
    assert drawn.frames[-1].caption.endswith("between {:g} and {:g}.".format(*bounds))
    # Time with somebody idle is at most the depth, as the proof says.
    idle = sum(len(running) < workers for running, _ in states[:-1])
    assert drawn.frames[-1].facts["Time with somebody idle"] == f"{idle}"
    assert idle <= 4


@pytest.mark.parametrize("drawn", [*of_tree(), *of_seven()], ids=lambda one: one.name)
def test_a_bar_is_as_long_as_its_task_and_no_two_of_a_lane_overlap(drawn):
    bars = [s for s in drawn.frames[-1].shapes if s.key[:4] == "bar "]
    tasks = {s.text: s.width for s in drawn.frames[-1].shapes if s.key[:5] == "task "}
    assert {s.text for s in bars} == set(tasks)
    unit = {round((s.width + 2) / (tasks[s.text] + 2), 6) for s in bars}
    assert len(unit) == 1  # in the graph and in the lanes, a task is as wide as it costs
    for one, two in itertools.combinations(bars, 2):
        if one.y == two.y:
            assert abs(one.x - two.x) >= (one.width + two.width) / 2


@pytest.mark.parametrize("drawn", [*of_tree(), *of_seven()], ids=lambda one: one.name)
def test_numbers_of_time_stand_below_the_lanes_and_each_bound_is_named_at_its_own_line(drawn):
    """The name of the later bound began below the line of the earlier one, and was read as its name."""
    shapes = {s.key: s for s in drawn.frames[-1].shapes}
    times = {float(s.text): s.x for s in shapes.values() if s.key.startswith("time ")}
    assert len(times) >= 4
    zero = times[0]
    unit = (max(times.values()) - zero) / max(times)
    assert list(times.values()) == pytest.approx([zero + unit * time for time in times])
    for bar in (s for s in shapes.values() if s.key[:4] == "bar "):
        end = (bar.x + (bar.width + 2) / 2 - zero) / unit
        assert end == pytest.approx(round(end))
    feet = {}
    for word in ("earliest", "latest"):
        (line,) = (s for s in shapes.values() if s.key.startswith(f"{word}, ") and s.kind == "line")
        said = shapes[f"{word}, in words"]
        assert float(said.text.split()[1]) == pytest.approx((line.x - zero) / unit)
        assert (said.align, line.x - said.x) == ("end", 4)
        assert line.y < said.y < line.y + line.height
        assert all(abs(line.x - x) > 7 for x in times.values())  # no number is struck through
        feet[word] = line.x, said.y
    (first, row), (second, below) = feet["earliest"], feet["latest"]
    assert below > row or second - first > 58


def test_an_arrow_leads_from_every_task_to_the_one_that_needs_it():
    drawn = of_tree()[0]
    arrows = {s.key.removeprefix("arrow ") for s in drawn.frames[0].shapes if s.kind == "arrow"}
    assert arrows == {before + after for after, both in needs().items() for before in both}
    thick = [
        s for s in drawn.frames[0].shapes if s.kind == "arrow" and s.tone == drawn.tones["a longest chain"]
    ]  # fmt: skip
    assert len(thick) == 3  # four tasks
    assert all(s.weight > 2 for s in thick)


def test_the_long_task_last_ends_on_the_upper_bound_and_first_on_the_lower():
    late, early = of_seven()
    costs = dict(zip("ABCDEFG", [1] * 6 + [3], strict=True))
    free = dict.fromkeys(costs, "")
    assert len(by_the_minute(free, costs, 3, lambda task: 0)) - 1 == 5
    assert len(by_the_minute(free, costs, 3, lambda task: -costs[task])) - 1 == 3
    assert (late.title[-1], early.title[-1]) == ("5", "3")
    assert late.frames[-1].caption.endswith("between 3 and 5.")
    assert late.frames[-1].facts["Time with somebody idle"] == "3"
    assert early.frames[-1].facts["Time with somebody idle"] == "0"
    # Of the long task that runs, a part is done.
    assert early.frames[2].facts["Longest chain left"] == "2 of 3"
    assert early.frames[2].facts["Work left"] == "6 of 9"


@pytest.mark.parametrize(
    ("dag", "ways"),
    [
        (graphs.tree_sum(17), TREE),
        (graphs.tree_sum(4), {"many": (9, "first ready")}),
        (graphs.tree_sum(4), {"odd": ("2", "first ready")}),
        (graphs.tree_sum(4), {"odd": (2, "best")}),
        (graphs.tree_sum(4), {"odd": 2}),
        (graphs.tree_sum(4), {}),
        (None, TREE),
    ],
)
def test_what_cannot_be_told_apart_is_refused(dag, ways):
    with pytest.raises(Refusal, match="must"):
        greedy("A tree", dag, ways)
