"""Answers to assignment 3.6: another correct style, and what students plausibly get wrong.

The student has read Sections 3.1 to 3.6, programs fluently, and thinks of parallelism as of lanes:
more of them, more of it. What each task finds out:

1.1  that more workers help whatever is the matter; that an order can shorten a chain
1.2  that the chip with more lanes, or with the faster lane, always wins; that likely is sure
1.3  that the most expensive task of the longest chain gives its whole cost; slack for gain
1.4  that parallelism is a property of the machine
2.1  that efficiency falls evenly; that the bound is what happens; parallelism as a number to buy
2.2  that a bound is met; that the longest part is all that counts; cuts for parts
2.3  that a loop must wait for itself; which of two steps comes first; one place further each round
2.4  that a promise is an estimate
3.1  that overlap leaves one exchange, whatever its length; that the network starts at once
3.2  that a bucket may go before it is full; that the network sends several; start for each layer
3.3  that the smallest bubble is the shortest step; that only waiting is waste
3.4  that what the exchange takes is what a faster network gives

ALTERNATIVE maps an answer cell to a correct answer in another style than the reference's.
WRONG maps a task to (points, what the check must say, answer): the points when it is graded.
"""

import functools
import heapq
import math
from types import SimpleNamespace

ALTERNATIVE = {
    "answer-1-1": """
def shorter(tasks, workers):
    return np.ceil(tasks / workers) >= 1.5 * np.ceil(tasks / workers / 2)

flat = {"a": 32, "d": 64, "f": jobs.f_maps}
has = {"a": jobs.a_workers, "d": jobs.d_workers, "f": jobs.f_workers}
job_a, job_d, job_f = (["None", "Workers"][int(shorter(flat[k], has[k]))] for k in "adf")
job_b = "WORKERS" if 16 * jobs.b_chain < jobs.b_loose else "chain "
job_c = np.array(["workers", "order"])[int(jobs.c_last * 2 > jobs.c_short / 16)]
job_e = {1: "Chain", 8: "none"}[jobs.e_sums]
""",
    "answer-1-2": """
def duel(work, depth, one, two):
    lanes, seconds = np.array([one, two]).T
    worst = seconds * ((work - depth) / lanes + depth)
    best = seconds * np.maximum(work / lanes, depth)
    return ["open", "one", "two"][int(worst[0] < best[1]) + 2 * int(worst[1] < best[0])]

low, high = 1.0, float(chips.work)
for _ in range(100):
    deepest = (low + high) / 2
    seconds = chips.gpu_seconds * workdepth.brent(chips.work, deepest, chips.gpu_lanes)
    if seconds <= chips.cpu_seconds * chips.work / chips.cpu_lanes:
        low = deepest
    else:
        high = deepest
""",
    "answer-1-3": """
import networkx as nx

def gains(tasks):
    def depth(costs):
        dag = nx.DiGraph()
        dag.add_node("end")
        for i, (_, needs) in enumerate(tasks):
            dag.add_edge(i, "end", weight=costs[i])
            for need in needs:
                dag.add_edge(need, i, weight=costs[need])
        return nx.dag_longest_path_length(dag)

    costs = [cost for cost, _ in tasks]
    found = [depth(costs) - depth(costs[:i] + [0] + costs[i + 1 :]) for i in range(len(costs))]
    return np.array(found)
""",
    "answer-2-1": """
def keeps(name, size, floor):
    print("building", name)
    dag = graphs[name](size)
    work, depth = workdepth.work(dag), workdepth.depth(dag)
    largest = promised = 0
    for k in range(1, int(work / depth / floor) + 1):
        if schedule.greedy(dag, k).efficiency >= floor:
            largest = k
        if work / (k * workdepth.brent(work, depth, k)) >= floor:
            promised = k
    return np.array([largest, promised])
""",
    "answer-2-2": """
def parts(costs, workers, deadline):
    rest = np.sort(costs)[::-1]
    longest, rest = rest[0], rest[1:]
    count = 1
    while count <= 50:
        ends = np.zeros(workers)
        for cost in np.sort(np.append(rest, [longest / count] * count))[::-1]:
            ends[np.argmin(ends)] += cost
        if ends.max() <= deadline:
            return np.int64(count)
        count += 1
""",
    "answer-2-3": """
def combine(first, second):
    one, two = (np.array([[a, b], [0, 1]]) for a, b in (first, second))
    return (two @ one)[0]

def rounds(items):
    import math
    reaches = [2**n for n in range(math.ceil(math.log2(items)))]
    return [[(right - reach, right) for right in range(items - 1, reach - 1, -1)] for reach in reaches]
""",
    "answer-3-1": """
from scalelab.models.graphs import rank_dags

def lasts(overlap):
    times = slow.forward, slow.backward, slow.exchange
    return workdepth.depth(rank_dags.data_parallel_step(1, slow.layers, *times, overlap=overlap))

exposed = lasts(True) - slow.layers * (slow.forward + slow.backward)
exposed = f"{1000 * exposed} ms"
gain = np.float32(lasts(False) / lasts(True))
limit = f"{1e6 * slow.backward} µs"
""",
    "answer-3-2": """
def step(layers, forward, backward, start, each, bucket):
    waiting, free = 0, layers * forward
    now = layers * forward
    for layer in range(1, layers + 1):
        now += backward
        waiting += 1
        if waiting == bucket or layer == layers:
            free = (free if free > now else now) + start + waiting * each
            waiting = 0
    return np.float64(free)

table = [
    step(mesh.layers, mesh.forward, mesh.backward, mesh.start, mesh.each, bucket)
    for bucket in range(1, mesh.layers + 1)
]
best = np.argmin(table) + 1
saved = f"{1000 * (table[0] - min(table))} ms"
""",
    "answer-3-3": """
import torch

def belt(stages, work, overhead, microbatches):
    slots = torch.tensor(microbatches + stages - 1.0, dtype=torch.float64)
    seconds = slots * work / microbatches + slots * overhead
    return torch.stack([seconds, (seconds - work) / seconds])

p, work, overhead = line.stages, line.work, line.overhead
root = ((p - 1) * work / overhead) ** 0.5
soonest = min(int(root), int(root) + 1, key=lambda m: float(belt(p, work, overhead, m)[0]))
few = next(m for m in range(1, 9999) if (p - 1) / (m + p - 1) <= 0.01 + 1e-12)
slower = belt(p, work, overhead, few)[0] / belt(p, work, overhead, soonest)[0]
why = ["Overhead", "A"]
""",
}

_JOBS = """
two = {"a": "workers none", "b": "workers chain", "c": "workers order"}
two |= {"d": "workers none", "e": "none chain", "f": "workers none"}
first = {"a": jobs.a_workers == 4, "b": jobs.b_loose > 400, "c": jobs.c_last < 8}
first |= {"d": jobs.d_workers == 8, "e": jobs.e_sums == 8, "f": jobs.f_workers == 100}
job_a, job_b, job_c, job_d, job_e, job_f = (two[k].split()[not first[k]] for k in two)
"""


def _jobs(letter, word=""):
    """Right but for one job; without a word, that one gets the word it would have at other sizes."""
    return _JOBS + f"job_{letter} = {word!r} or two['{letter}'].split()[first['{letter}']]"


def _duel(
    mine="worst",
    other="best",
    first="one",
    second="two",
    body="",
    deepest="(best - chips.work / chips.gpu_lanes) / (1 - 1 / chips.gpu_lanes)",
):
    return f"""
def duel(work, depth, one, two):
    def worst(chip):
        return chip[1] * ((work - depth) / chip[0] + depth)
    def best(chip):
        return chip[1] * max(work / chip[0], depth)
    {body}
    if {mine}(one) < {other}(two):
        return "{first}"
    return "{second}" if {mine}(two) < {other}(one) else "open"

best = chips.cpu_seconds * chips.work / chips.cpu_lanes / chips.gpu_seconds
deepest = {deepest}
"""


def _gains(result="whole - without"):
    return f"""
def depth(tasks):
    ends = []
    for cost, needs in tasks:
        ends.append(cost + max([ends[i] for i in needs], default=0))
    return max(ends), ends

def gains(tasks):
    whole, ends = depth(tasks)
    after = [0] * len(tasks)
    for i in reversed(range(len(tasks))):
        for need in tasks[i][1]:
            after[need] = max(after[need], after[i] + tasks[i][0])
    found = []
    for i, (cost, needs) in enumerate(tasks):
        without, _ = depth(tasks[:i] + [(0, needs)] + tasks[i + 1 :])
        slack = whole - ends[i] - after[i]
        found.append({result})
    return found
"""


def _keeps(
    largest="max(k for k in efficiency if efficiency[k] >= floor)",
    promised="int(1 + (1 / floor - 1) * work / depth)",
):
    return f"""
import math

def keeps(name, size, floor):
    dag = graphs[name](size)
    work, depth = workdepth.work(dag), workdepth.depth(dag)
    efficiency = {{}}
    for k in range(1, int(work / depth / floor) + 2):
        efficiency[k] = work / k / schedule.greedy(dag, k).makespan
    return {largest}, {promised}
"""


def _parts(test="time <= deadline", found="n", none="None", first=1, rule="longest", cut="rest"):
    return f"""
import math

def parts(costs, workers, deadline):
    *rest, longest = sorted(costs)
    for n in range({first}, 51):
        night = dags.independent({cut} + [longest / n] * n)
        time = schedule.greedy(night, workers, "{rule}").makespan
        if {test}:
            return {found}
    return {none}
"""


_HALVING = """
def parts(costs, workers, deadline):
    *rest, longest = sorted(costs)
    def late(n):
        night = dags.independent(rest + [longest / n] * n)
        return schedule.greedy(night, workers, "longest").makespan > deadline
    few, many = 0, 51
    while many - few > 1:
        n = (few + many) // 2
        few, many = (n, many) if late(n) else (few, n)
    return many if many < 51 else None
"""


def _scan(
    combine="a * a2, a2 * b + b2", grow="2 * reach", until="n", pair="(i - reach, i)", end=""
):
    return f"""
def combine(first, second):
    (a, b), (a2, b2) = first, second
    return {combine}

def rounds(n):
    reach, found = 1, []
    while reach < {until}:
        found.append([{pair} for i in range(reach, n)])
        reach = {grow}
    {end}
    return found
"""


_LOOP = """
def rounds(n):
    return [[(i - 1, i)] for i in range(1, n)]
"""


def _exposed(exposed="e + (n - 1) * (e - b)", gain="(c + n * e) / (c + exposed)", limit="b"):
    return f"""
n, f, b, e = slow.layers, slow.forward, slow.backward, slow.exchange
c = n * (f + b)
exposed = {exposed}
gain = {gain}
limit = {limit}
"""


def _step(
    ready="layers * f + g * b",
    begin="max(free, ready)",
    cost="start + each * (g - first)",
    gathered="min(first + bucket, layers)",
    best="min(range(1, mesh.layers + 1), key=mine)",
    saved="mine(1) - mine(best)",
):
    return f"""
def step(layers, f, b, start, each, bucket):
    free = 0
    for first in range(0, layers, bucket):
        g = min(first + bucket, layers)
        ready = {ready}
        g = {gathered}
        free = max(free, {begin} + {cost})
    return free

def mine(bucket):
    n, done, free = mesh.layers, 0, 0
    while done < n:
        size = min(bucket, n - done)
        done += size
        free = max(free, n * mesh.forward + done * mesh.backward) + mesh.start + size * mesh.each
    return free

best = {best}
saved = {saved}
"""


# As in 3.1, but the last bucket may be a small one, and then the longest chain turns before it.
_TWO_CHAINS = """
def step(layers, f, b, start, each, bucket):
    full, left = divmod(layers, bucket)
    all_sent = min(bucket, layers) * b + (full + (left > 0)) * start + layers * each
    all_computed = layers * b + start + (left or bucket) * each
    return layers * f + max(all_sent, all_computed)
"""
_DIVISOR = "min((n for n in range(1, mesh.layers + 1) if mesh.layers % n == 0), key=mine)"


def _belt(
    seconds="(m + p - 1) * (w / m + o)",
    wasted="1 - w / t",
    soonest="min(range(1, 5000), key=lasts)",
    slower="lasts(few) / lasts(soonest)",
    why=("overhead", "a"),
):
    return f"""
def belt(p, w, o, m):
    t = (m + p - 1) * (w / m + o)
    return {seconds}, {wasted}

def lasts(m):
    return (m + line.stages - 1) * (line.work / m + line.overhead)

few = 99 * (line.stages - 1)
_root = ((line.stages - 1) * line.work / line.overhead) ** 0.5
soonest = {soonest}
slower = {slower}
why = {why!r}
"""


WRONG = {
    "1-1": [
        (2.5, "one of them holds nobody up", _jobs("a", "chain")),
        (2.5, "no order finds more", _jobs("a", "order")),
        (2.5, "that a worker has to do, one after the other", _jobs("a")),
        (2.5, "with what all the others cost each worker", _jobs("b")),
        (2.5, "nothing else can be late", _jobs("b", "order")),
        (2.5, "the last task run alone", _jobs("c")),
        (2.5, "when all others are done", _jobs("c", "chain")),
        (2.5, "a task that nobody has", _jobs("d")),
        (2.5, "one gets shorter", _jobs("d", "chain")),
        (2.5, "no worker can help another", _jobs("e", "workers")),
        (2.5, "to choose from", _jobs("e", "order")),
        (2.5, "does a shorter chain reach", _jobs("e")),
        (2.5, "there are many as long", _jobs("f", "chain")),
        (2.5, "every order is as good", _jobs("f", "order")),
        (2.5, "in how many rounds", _jobs("f")),
        (2.5, "expected one of", _jobs("f", "reduces")),
    ],
    "1-2": [
        (2, "a chain uses one of them", _duel(body='return "one" if one[0] > two[0] else "two"')),
        (2, "done by all of them", _duel(body='return "one" if one[1] < two[1] else "two"')),
        (2, "that is likely, not sure", _duel(other="worst")),
        (2, "that is possible, not sure", _duel(mine="best")),
        (2, "fewer seconds win", _duel(first="two", second="one")),
        (2, "gives a wrong answer", _duel(body="worst = lambda c: c[1] * (work / c[0] + depth)")),
        (2, "gives a wrong answer", _duel(body="best = lambda c: c[1] * work / c[0]")),
        (2, "says nothing of the CPU", _duel(deepest="chips.work / chips.gpu_lanes")),
        (2, "a lane of the GPU is slower", _duel(deepest="chips.work / chips.cpu_lanes")),
        (2, "to be sure, take its worst", _duel(deepest="best")),
        (
            2,
            "asked is the depth",
            _duel(
                deepest="chips.work * (1 - 1 / chips.gpu_lanes) / (best - chips.work / chips.gpu_lanes)"
            ),
        ),
    ],
    "1-3": [
        (0, "without one of them another is the longest", _gains("cost if slack == 0 else 0")),
        (0, "that much less is the work", _gains("cost")),
        (0, "each may grow without harm", _gains("slack")),
        (0, "those are the depths that are left", _gains("without")),
        (0, "is not the right number", _gains("max(0, cost - slack)")),
    ],
    "2-1": [
        (
            1.333,
            "the last before the first fall",
            _keeps("next(k for k in efficiency if efficiency[k] < floor) - 1"),
        ),
        (1.333, "if no worker ever waited", _keeps("int(work / depth / floor)")),
        (1.333, "that is the parallelism", _keeps("int(work / depth)")),
        (
            1.333,
            "one more than the largest",
            _keeps("1 + max(k for k in efficiency if efficiency[k] >= floor)"),
        ),
        (
            2.667,
            "do the job alone is missing",
            _keeps(promised="int((1 / floor - 1) * work / depth)"),
        ),
        (
            2.667,
            "round down",
            _keeps(promised="math.ceil(1 + (1 / floor - 1) * work / depth)"),
        ),
        (2.667, "not for 0.4", _keeps(promised="int(1 + (1 - floor) * work / depth)")),
        (
            1.333,
            "gives a wrong answer",
            _keeps("max(k for k in efficiency if efficiency[k] >= floor and k <= 1024)"),
        ),
        (1.333, "gives a wrong answer", _keeps("max(1, round(work / depth / floor))")),
        (
            2.667,
            "gives a wrong answer",
            _keeps(promised="min(1000, int(1 + (1 / floor - 1) * work / depth))"),
        ),
        (
            2.667,
            "not the right number",
            _keeps(promised="max(1, round(1 + (1 / floor - 1) * work / depth))"),
        ),
        (
            0,
            "not a whole number",
            _keeps("work / depth / floor", "1 + (1 / floor - 1) * work / depth"),
        ),
    ],
    "2-2": [
        (0, "the others take up room as well", _parts(test="longest / n <= deadline")),
        (
            0,
            "a schedule may miss them",
            _parts(test="max(sum(costs) / workers, longest / n, rest[-1]) <= deadline").replace(
                "rest[-1]", "max(rest, default=0)"
            ),
        ),
        (0, "count parts, not cuts", _parts(found="n - 1")),
        (0, "the answer is None", _parts(none="0")),
        (0, "not the right number", _parts(rule="first ready")),
        (0, "not the right number", _parts(first=2)),
        (0, "gives", _parts(cut="[cost for cost in costs if cost != longest]")),
        (0, "gives", _parts(none="51")),
        (0, "gives", _parts() + _HALVING),
        (0, "gives", _parts().replace("range(1, 51)", "range(1, 50)")),
    ],
    "2-3": [
        (2, "that does the second step first", _scan("a * a2, a * b2 + b")),
        (2, "is multiplied by the second", _scan("a * a2, b + b2")),
        (2, "is added, not multiplied", _scan("a * a2, b * b2")),
        (2, "two factors in a row multiply", _scan("a + a2, a2 * b + b2")),
        (2, "after one round no place holds more than two", _scan(grow="n")),
        (
            3,
            "the next round must reach twice as far",
            _scan(grow="2 * reach", pair="(i - 1, i)").replace("range(reach, n)", "range(1, n)"),
        ),
        (3, "one at a time is the loop again", _scan() + _LOOP),
        (2, "gives a wrong answer", _scan(until="n - 1")),
        (2, "gives a wrong answer", _scan(until="min(n, 32)")),
    ],
    "3-1": [
        (2, "while the network keeps up", _exposed("e")),
        (2, "without overlap", _exposed("n * e")),
        (2, "starts one layer late", _exposed("n * (e - b)")),
        (2, "has no gradients to send", _exposed("n * e - c")),
        (2, "follows from your own `exposed`", _exposed("n * (e - b)")),
        (2, "that is in ms", _exposed("1000 * (e + (n - 1) * (e - b))")),
        (2, "a step computes as well", _exposed(gain="n * e / exposed")),
        (2, "behind the backward pass alone", _exposed(limit="f + b")),
        (2, "that is the whole backward pass", _exposed(limit="n * b")),
        (2, "far more stays exposed", _exposed(limit="e")),
    ],
    "3-2": [
        (2, "waits for the end of the backward pass", _step(ready="layers * (f + b)")),
        (2, "sends one bucket at a time", _step(begin="ready")),
        (2, "only what remains", _step(gathered="first + bucket")),
        (2, "waits for all of its layers", _step(ready="layers * f + (first + 1) * b")),
        (2, "each for a layer", _step(cost="start + each")),
        (2, "gives a wrong answer", _step() + _TWO_CHAINS),
        (3, "wrong best, as graded", _step(best=_DIVISOR)),
        (3, "the network falls behind", _step(best="1")),
        (3, "nothing overlaps", _step(best="mesh.layers")),
        (3, "against buckets of one layer", _step(saved="mine(mesh.layers) - mine(best)")),
        (3, "asked are seconds", _step(saved="1 - mine(best) / mine(1)")),
        (3, "that is in ms", _step(saved="1000 * (mine(1) - mine(best))")),
    ],
    "3-3": [
        (3.2, "also pays the overhead", _belt("(m + p - 1) * w / m")),
        (3.2, "not once", _belt("(m + p - 1) * w / m + o")),
        (3.2, "it also waits p - 1 times", _belt("w + m * o")),
        (3.2, "that is the bubble", _belt(wasted="(p - 1) / (m + p - 1)")),
        (3.2, "that is the useful fraction", _belt(wasted="w / t")),
        (3.2, "that is waste over work", _belt(wasted="t / w - 1")),
        (3.2, "look at the seconds of the step", _belt(soonest="few")),
        (3.2, "rule of thumb", _belt(soonest="4 * line.stages")),
        (3.2, "all devices but one wait", _belt(soonest="1")),
        (3.2, "is not the right answer", _belt(soonest="min(range(1, 129), key=lasts)")),
        (3.2, "is not the right answer", _belt(soonest="int(_root) + (_root % 1 < 0.5)")),
        (3.2, "upside down", _belt(slower="lasts(soonest) / lasts(few)")),
        (3.2, "the bubble only falls", _belt(why=("bubble", "b"))),
        (3.2, "one of the two only falls", _belt(why=("both", "b"))),
    ],
}


def _six(n):
    """The jobs by letter: tasks of (cost, needs) in the order of the list, and the workers."""

    def chains(count, length):
        return [(1, [i - 1] if i % length else []) for i in range(count * length)]

    maps = [(1, [])] * n.f_maps
    return {
        "a": (chains(32, n.a_length), n.a_workers),
        "b": (chains(1, n.b_chain) + [(1, [])] * n.b_loose, 16),
        "c": ([(1, [])] * n.c_short + [(n.c_last, [])], 16),
        "d": ([(1, [])] * 64, n.d_workers),
        "e": (chains(n.e_sums, n.e_numbers), 8),
        "f": (maps + [(1, range(n.f_maps))] * 10, n.f_workers),
    }


def _takes(tasks, workers):
    """Return (time, longest chain) of a job whose ready tasks are taken in the order of the list."""
    left = [len(needs) for _, needs in tasks]
    then = [[] for _ in tasks]
    for i, (_, needs) in enumerate(tasks):
        for need in needs:
            then[need].append(i)
    ready, running, now = [i for i, n in enumerate(left) if not n], [], 0
    before = [None] * len(tasks)
    while ready or running:
        while ready and len(running) < workers:
            i = heapq.heappop(ready)
            heapq.heappush(running, (now + tasks[i][0], i))
        now, i = heapq.heappop(running)
        for j in then[i]:
            left[j] -= 1
            if not left[j]:
                heapq.heappush(ready, j)
    depth = []
    for cost, needs in tasks:
        last = max(needs, key=lambda i: depth[i], default=None)
        before[len(depth)] = last
        depth.append(cost + (0 if last is None else depth[last]))
    chain, i = [], max(range(len(tasks)), key=lambda i: depth[i])
    while i is not None:
        chain, i = [*chain, i], before[i]
    return now, chain


@functools.cache
def _factors(*sizes):
    """Return for each job what each change makes of its time: old over new, at best."""
    found = {}
    for letter, (tasks, workers) in _six(SimpleNamespace(**dict(sizes))).items():
        now, chain = _takes(tasks, workers)
        half = [(cost / 2 if i in set(chain) else cost, n) for i, (cost, n) in enumerate(tasks)]
        work, depth = sum(cost for cost, _ in tasks), sum(tasks[i][0] for i in chain)
        found[letter] = {
            "workers": now / _takes(tasks, 2 * workers)[0],
            "chain": now / _takes(half, workers)[0],
            "order": now / max(math.ceil(work / workers), depth),
        }
    return found


def _helps(n):
    """Return for each job the words of the changes that help, and of all others how much at most."""
    factors = _factors(*n.values.items())
    helps = {k: [word for word, factor in f.items() if factor >= 1.5] for k, f in factors.items()}
    rest = [x for k, f in factors.items() for word, x in f.items() if word not in helps[k]]
    return helps, max(rest), min(f[w] for k, f in factors.items() for w in helps[k])


def _unlike_reference(n):
    """How many words are others than those that the reference hands in."""
    with_none = {k: words or ["none"] for k, words in _helps(n)[0].items()}
    names = {"jobs": n}
    exec(_JOBS, names)
    return sum(words != [names[f"job_{k}"]] for k, words in with_none.items())


def _cpu_best(n):
    """The CPU's best, counted in operations of one lane of the GPU."""
    return n.cpu_seconds * n.work / n.cpu_lanes / n.gpu_seconds


def _deepest(n):
    return (_cpu_best(n) - n.work / n.gpu_lanes) / (1 - 1 / n.gpu_lanes)


def _lasts(n, size):
    free = 0
    for first in range(0, n.layers, size):
        done = min(first + size, n.layers)
        free = max(free, n.layers * n.forward + done * n.backward)
        free += n.start + n.each * (done - first)
    return free


def _ranked(n):
    return sorted(range(1, n.layers + 1), key=lambda size: _lasts(n, size))


def _root(n):
    return math.sqrt((n.stages - 1) * n.work / n.overhead)


def _belts(n):
    def lasts(m):
        return (m + n.stages - 1) * (n.work / m + n.overhead)

    return lasts(99 * (n.stages - 1)) / lasts(round(_root(n)))


def _far_from_the_middle(n):
    """The two whole numbers beside the root must not do equally well."""
    return abs(_root(n) % 1 - 0.5)


BOUNDS = {
    "1-1": {
        "wrong words": (_unlike_reference, 0, 0),
        "a change that helps": (lambda n: _helps(n)[2], 1.55, 3),
        "one that does not": (lambda n: _helps(n)[1], 1, 1.45),
        "jobs that one word fits": (
            lambda n: max(map(list(_helps(n)[0].values()).count, (["workers"], []))),
            1,
            4,
        ),
    },
    "1-2": {
        "best over worst": (lambda n: _cpu_best(n) / _deepest(n), 1.02, 1.6),
        "parallelism needed": (lambda n: n.work / _deepest(n), 40, 2000),
    },
    "3-1": {
        "exchange over backward": (lambda n: n.exchange / n.backward, 1.25, 2.6),
        "exchange against a whole layer": (
            lambda n: n.exchange / (n.forward + n.backward),
            1.03,
            2,
        ),
    },
    "3-2": {
        "layers in the best bucket": (lambda n: _ranked(n)[0], 2, 12),
        "runner-up": (lambda n: _lasts(n, _ranked(n)[1]) / _lasts(n, _ranked(n)[0]), 1.0005, 1.1),
        "gain over single layers": (lambda n: _lasts(n, 1) / _lasts(n, _ranked(n)[0]), 1.03, 2),
    },
    "3-3": {
        "micro-batches, beyond a short search": (_root, 135, 260),
        "from the middle": (_far_from_the_middle, 0.05, 0.5),
        "small bubble over soonest": (_belts, 1.2, 6),
        "from four for each stage": (lambda n: abs(_root(n) / n.stages / 4 - 1), 0.05, 3),
    },
}

_ENDS = "the least lies far from both ends of what is tried, so one more or less changes nothing"
_FAR = "all sizes that are drawn lie far from the threshold, so that nobody is near a draw"
SURVIVORS = {
    "1-1: 16 * jobs.b_chain > jobs.b_loose → 16 * jobs.b_chain >= jobs.b_loose": _FAR,
    "1-1: 16 → 17": _FAR,
    "1-1: jobs.c_last > 8 → jobs.c_last >= 8": _FAR,
    "1-1: 8 → 9": _FAR,
    "1-3: 0 → 1 (again)": "every chain gets longer by one, and only differences are handed in",
    "3-2: 0 → 1 (again) (again)": _ENDS,
    "3-3: 1 → 2": _ENDS,
    "3-3: 5000 → 5625": _ENDS,
}

FIXED = {
    "3-3 why": "a reason that holds for all numbers",
}
