"""Answers to assignment 3.5: another correct style, and what students plausibly get wrong.

The student has both formulas by heart and has fitted a curve before. What each task diagnoses:

1-1  does not ask on which run a share was read; takes idle time or profiler rows for it
1-2  takes 1/s for a ceiling over one worker, multiples for workers
1-3  looks for an efficiency above 1 only, and trusts every one-worker time
2-1  adds up a profiler's rows; divides by the compute instead of the step
2-2  lets K slip from nodes to GPUs; lets only the many wait for an exchange
2-3  scales the exposed time away, pays by the hour instead of by the job
2-4  compares steps or ceilings where progress is asked; takes a change for as good as another
3-1  feeds the share of K workers to Amdahl's law and believes that the curve turns
3-2  does not know what a step needs in order to turn, nor what the third law's letters cost
3-3  believes a fraction because a fit returned it
"""

import math

ALTERNATIVE = {
    "answer-1-1": """
words = np.array(["Gustafson", "Amdahl", " neither ", "neither", "AMDAHL", "gustafson"])
given = ["ABCDEF".index(kind) for kind in pinned.order]
note_a, note_b, note_c, note_d, note_e, note_f = words[given]
""",
    "answer-1-2": """
import math

def fleet(serial, measured_on, wanted):
    own = laws.rebase(serial, measured_on)
    goal = wanted * laws.amdahl(measured_on, own)
    left = 1 / goal - own
    return np.int64(np.ceil((1 - own) / left)) if left > 1e-12 else math.inf

at_most = np.float32(1 + today.workers * (1 / today.serial - 1))
more = np.int64(fleet(today.serial, today.workers, today.wanted)) - today.workers
""",
    "answer-1-3": """
def above(rows, slack):
    k, t, s = np.array(sorted(rows)).T
    line = k - s * (k - 1)
    return k[t[0] / t > line * (1 + slack)].astype(int)

alone = bench.seconds * (bench.share + bench.workers * (1 - bench.share))
unexplained = f"{(bench.seconds * bench.workers * bench.efficiency - alone) / 60} min"
suspect = ["Baseline", "a"]
""",
    "answer-2-1": """
serial = np.float64(1) - rows.compute / rows.step
hide = rows.step - rows.compute - rows.compute / (2 / serial - 1)

def least_serial(compute, exchange, backward):
    step = max(compute, compute * (1 - backward) + exchange)
    return np.float32(1 - compute / step)
""",
    "answer-2-2": """
def gain(compute, exposed, per_node, gpus):
    return laws.amdahl(gpus // per_node, laws.step_serial(compute, exposed))

def gpus_for(share, compute, exposed, per_node):
    nodes = 1
    while exposed / (compute / nodes + exposed) < share:
        nodes += 1
    return np.int64(nodes * per_node)

low, high = 0.0, 1000.0
for _ in range(60):
    middle = (low + high) / 2
    enough = gain(hall.compute, middle, hall.per_node, hall.gpus) >= hall.wanted
    low, high = (middle, high) if enough else (low, middle)
bearable = np.float64(low)
""",
    "answer-2-3": """
def hours(nodes):
    return order.steps * (order.compute / nodes + order.exposed) / 1000 / 3600

def least(deadline):
    return next(nodes for nodes in range(1, 1000) if hours(nodes) <= deadline)

fewest = least(order.hours)
paid = fewest * hours(fewest) * order.price
hurried = least(order.hours / 2)
bill = f"{paid} $"
haste = hurried * hours(hurried) / (fewest * hours(fewest))
""",
    "answer-2-4": """
def lever(compute, exposed, nodes, worth):
    steps = np.array([[compute, exposed / 2], [4 * compute, exposed], [compute / 2, exposed]])
    times = steps @ [1 / nodes, 1] / [1, worth, 1]
    return "ABC"[times.argmin()], (compute / nodes + exposed) / times.min()

_, best = lever(rig.compute, rig.exposed, rig.nodes, 0.1)
level = best * (4 * rig.compute / rig.nodes + rig.exposed) / (rig.compute / rig.nodes + rig.exposed)
""",
    "answer-3-1": """
import pandas as pd

def curves(compute, exposed, workers):
    k = np.array(workers)
    times = compute / k + exposed
    s = exposed / times
    return pd.DataFrame(
        {"K": k, "S": (compute + exposed) / times, "s": s, "l": times / exposed,
         "m": 1 / (s + (1 - s) / k)}
    )

def peak(compute, exposed):
    return curves(compute, exposed, range(1, 5000)).m.argmax() + 1
""",
    "answer-3-2": """
def fastest(compute, fixed, growth):
    if not growth:
        return float("inf")
    k = np.arange(1, 10 * (compute / growth) ** 0.5 + 10)
    return k[np.argmin(compute / k + growth * k)]

def as_usl(compute, fixed, growth):
    return np.array([fixed + growth, growth]) / (compute + fixed + growth)

growth = np.float64(bend.compute) / bend.lowest / bend.lowest
kappa = as_usl(bend.compute, bend.fixed, growth)
height = laws.usl(bend.lowest, *kappa)
""",
    "answer-3-3": """
def surprises(workers, rate):
    k, gain = np.array(workers, float), np.array(rate) / rate[0]
    serial = (k[1:-1] / gain[1:-1] - 1) / (k[1:-1] - 1)
    return gain[2:] * (serial + (1 - serial) / k[2:])

def refuted(workers, rate, slack):
    off = np.abs(surprises(workers, rate) - 1) > slack
    return [*np.array(workers[2:])[off], np.inf][0]
""",
}


def _whose(**changed):
    """Name the law of each kind of note, whatever its letter, but for the `changed` kinds."""
    return f"""
words = "gustafson amdahl neither neither amdahl gustafson".split()
law = dict(zip("ABCDEF", words)) | {changed}
note_a, note_b, note_c, note_d, note_e, note_f = (law[which] for which in pinned.order)
"""


_FLEET = "math.ceil(k0 * (1 - s) / (1 / w - s))"


def _fleet(fleet=_FLEET, reach="s * w >= 1", over="laws.gustafson(k, s) / s", more=None):
    return f"""
import math

def fleet(s, k0, w):
    return math.inf if {reach} else {fleet}

def needed(s, k0, w):
    return {_FLEET}

k, s, w = today.workers, today.serial, today.wanted
at_most = {over}
more = {more or "needed(s, k, w) - k"}
"""


def _above(
    test="t1 / t > (1 + slack) * (k - s * (k - 1))",
    rows="sorted(rows)",
    unexplained="e * k * t - t * (k - s * (k - 1))",
    suspect="('baseline', 'a')",
):
    return f"""
def above(rows, slack):
    t1 = min(rows)[1]
    return [k for k, t, s in {rows} if {test}]

k, t, s, e = bench.workers, bench.seconds, bench.share, bench.efficiency
unexplained = {unexplained}
suspect = {suspect}
"""


def _profile(
    serial="(t - c) / t",
    hide="c * serial / (1 - serial) - c * serial / (2 - serial)",
    exposed="max(0, x - b * c)",
    of="c + e",
):
    return f"""
c, x, t = rows.compute, rows.exchange, rows.step
serial = {serial}
hide = {hide}

def least_serial(c, x, b):
    e = {exposed}
    return e / ({of})
"""


def _units(
    gain="(c + x) / (c * g / k + x)",
    gpus="g * math.ceil(q / (1 - q) * c / x)",
    bearable="c * (1 - w * g / k) / (w - 1)",
):
    return f"""
import math

def gain(c, x, g, k):
    return {gain}

def gpus_for(q, c, x, g):
    return {gpus}

c, w, g, k = hall.compute, hall.wanted, hall.per_node, hall.gpus
bearable = {bearable}
"""


def _order(
    fewest="least(order.hours)",
    bill="cost(fewest)",
    haste="cost(least(order.hours / 2)) / cost(fewest)",
):
    return f"""
import math

c, x, per_ms = order.compute, order.exposed, order.steps / 3.6e6

def least(h):
    return math.ceil(c / (h / per_ms - x))

def hours(n):
    return per_ms * (c / n + x)

def cost(n):
    return n * order.price * hours(n)

fewest = {fewest}
bill = {bill}
haste = {haste}
"""


def _lever(
    a="1 / (c / n + x / 2)",
    b="w / (4 * c / n + x)",
    factor="r[best] * (c / n + x)",
    by="",
    level="max(a, c)",
):
    return f"""
def lever(c, x, n, w):
    r = {{"A": {a}, "B": {b}, "C": 1 / (c / n / 2 + x)}}
    best = {by or "max(r, key=r.get)"}
    return best, {factor}

one, x = rig.compute / rig.nodes, rig.exposed
b = 4 * one + x
a, c, as_is = b / (one + x / 2), b / (one / 2 + x), b / (one + x)
level = {level}
"""


def _curves(
    speedup="(c + x) / t",
    share="x / t",
    left="t / x",
    misread="1 / (x / t + (1 - x / t) / k)",
    peak="best(c, x)",
):
    return f"""
def curves(c, x, workers):
    rows = []
    for k in workers:
        t = c / k + x
        rows.append((k, {speedup}, {share}, {left}, {misread}))
    return rows

def text(c, x, k):
    s = x / (c / k + x)
    return 1 / (s + (1 - s) / k)

def best(c, x):
    return max(range(1, 5000), key=lambda k: text(c, x, k))

def peak(c, x):
    return {peak}
"""


_NEAR = "min((low, low + 1), key=lambda k: c / k + g * k)"


def _bend(
    fastest=_NEAR,
    never="math.inf",
    usl="(x + g) / t1, g / t1",
    growth="c / n**2",
    height="(c + x + growth) / (c / n + x + growth * n)",
):
    return f"""
import math

def fastest(c, x, g):
    if g == 0:
        return {never}
    low = max(1, int((c / g) ** 0.5))
    return {fastest}

def as_usl(c, x, g):
    t1 = c + x + g
    return {usl}

c, x, n = bend.compute, bend.fixed, bend.lowest
growth = {growth}
height = {height}
"""


def _refute(
    ratio="gain[n] / law",
    serial="(k[n - 1] / gain[n - 1] - 1) / (k[n - 1] - 1)",
    law="1 / (s + (1 - s) / k[n])",
    pick="hits[0] if hits else float('inf')",
    row="k",
    test="abs(r - 1) > slack",
):
    return f"""
def surprises(k, rate):
    gain, found = [r / rate[0] for r in rate], []
    for n in range(2, len(k)):
        s = {serial}
        law = {law}
        found.append({ratio})
    return found

def true(k, rate):
    found = []
    for n in range(2, len(k)):
        s = (k[n - 1] * rate[0] / rate[n - 1] - 1) / (k[n - 1] - 1)
        found.append(rate[n] / rate[0] * (s + (1 - s) / k[n]))
    return found

def refuted(workers, rate, slack):
    rows = list(enumerate(zip(workers[2:], true(workers, rate)), 2))
    hits = [{row} for n, (k, r) in rows if {test}]
    return {pick}
"""


_EACH = 3 / 6
WRONG = {
    "1-1": [
        (3 - _EACH, "far longer than that step", _whose(A="amdahl")),
        (3 - _EACH, "before anything was divided", _whose(B="gustafson")),
        (3 - _EACH, "the rows list what the compute hides", _whose(C="gustafson")),
        (3 - _EACH, "the idle share is less than s", _whose(D="gustafson")),
        (3 - _EACH, "is the time of one worker", _whose(E="gustafson")),
        (3 - _EACH, "another, smaller one", _whose(F="amdahl")),
        (1, "expected one of", _whose(**dict.fromkeys("ACDF", "x"))),
        (0.5, "expected one of", _whose(**dict.fromkeys("CDEF"), A=0.12, B="Amdahl")),
    ],
    "1-2": [
        (4 - 16 / 6, "if nothing were serial", _fleet("math.ceil(k0 * w - 1e-9)")),
        (
            4 - 16 / 6,
            "still short of what is wanted: round up",
            _fleet("int(k0 * (1 - s) / (1 / w - s))"),
        ),
        (4 - 16 / 6, "asked are workers", _fleet("math.ceil((1 - s) / (1 / w - s))")),
        (
            4 - 16 / 6,
            "round the workers, not the multiples",
            _fleet("k0 * math.ceil((1 - s) / (1 / w - s))"),
        ),
        (4 - 16 / 6, "it bounds the gain over those", _fleet("math.inf")),
        (4 - 4 / 6, "raised an exception", _fleet(reach="False")),
        (4 - 4 / 6, "wants a share of", _fleet(over="laws.amdahl(k, s) / s")),
        (4 - 4 / 6, "more of them could still help", _fleet(over="laws.gustafson(k, s)")),
        (4 - 4 / 6, "can add to today's run", _fleet(over="1 / s")),
        (4 - 4 / 6, "does not take one worker any longer", _fleet(over="k / s")),
        (4 - 4 / 6, "would hold for an exchange", _fleet(over="k * (1 - s) / s")),
        (4 - 4 / 6, "if nothing were serial", _fleet(more="k * (w - 1)")),
        (4 - 4 / 6, "asked is how many are added", _fleet(more="needed(s, k, w)")),
        (4 - 4 / 6, "short of what is wanted", _fleet(more="needed(s, k, w) - k - 1")),
        (4 - 16 / 6, "wrong", _fleet("max(1, round(k0 * (1 - s) / (1 / w - s)))")),
        (4 - 16 / 6, "gives a wrong answer", _fleet(f"min(1000, {_FLEET})")),
        (4 - 12 / 6, "gives a wrong answer", _fleet(f"min(2**16, {_FLEET})")),
    ],
    "1-3": [
        (2, "compare with the line, not with K", _above("t1 / t > (1 + slack) * k")),
        (
            2,
            "wants a share of",
            _above("t1 / t > (1 + slack) / (s + (1 - s) / k)"),
        ),
        (2, "in growing order", _above(rows="rows")),
        (2, "slack is a fraction of it", _above("t1 / t > slack + k - s * (k - 1)")),
        (
            2,
            "asked is who lies above",
            _above("k > 1 and t1 / t < (1 + slack) * (k - s * (k - 1))"),
        ),
        (2 + 2 / 3, "against the ideal nothing is odd", _above(unexplained="e * k * t - k * t")),
        (2 + 2 / 3, "a part of it is explained", _above(unexplained="e * k * t")),
        (
            2 + 2 / 3,
            "wants a share of",
            _above(unexplained="e * k * t - t / (s + (1 - s) / k)"),
        ),
        (2 + 2 / 3, "one worker too pays", _above(unexplained="e * k * t - t * k * (1 - s)")),
        (
            2 + 2 / 3,
            "that is in min",
            _above(unexplained="(e * k * t - t * (k - s * (k - 1))) / 60"),
        ),
        (4 - 2 / 3, "the line knows of it already", _above(suspect="('exchange', 'b')")),
        (4 - 2 / 3, "pushes a point below", _above(suspect="('imbalance', 'c')")),
        (
            2,
            "gives another number of values",
            _above().replace("min(rows)[1]", "max(t for _, t, _ in rows)"),
        ),
        (
            2,
            "gives another number of values",
            _above("t1 / t > (1 + 0.95 * slack) * (k - s * (k - 1))"),
        ),
        (2, "wrong", _above().replace("min(rows)[1]", "rows[0][1]")),
    ],
    "2-1": [
        (3, "the rows count hidden exchange", _profile("x / (c + x)")),
        (3, "runs behind the compute", _profile("x / t")),
        (3, "follows from your own `serial`", _profile("x / t")),
        (3, "not a ratio to the compute", _profile("(t - c) / c")),
        (3, "that is the part which divides", _profile("c / t")),
        (3, "half of what is exposed is too little", _profile(hide="(t - c) / 2")),
        (3, "nothing would limit the gain", _profile(hide="t - c")),
        (3, "that much may stay exposed", _profile(hide="c * (t - c) / (t + c)")),
        (2, "that hides nothing", _profile(exposed="x")),
        (3, "what is hidden does not lengthen it", _profile(of="c + x")),
        (3, "not a ratio to the compute", _profile(of="c")),
        (3, "not all of the compute", _profile(exposed="max(0, x - c)")),
        (3, "never below zero", _profile(exposed="x - b * c")),
    ],
    "2-2": [
        (8 / 3, "nodes, not GPUs", _units("(c + x) / (c / k + x)")),
        (8 / 3, "that is over one GPU", _units("(g * c + x) / (c * g / k + x)")),
        (8 / 3, "that is over one GPU", _units("g * c / (c * g / k + x)")),
        (8 / 3, "does not divide", _units("k / g")),
        (8 / 3, "the other law", _units("(x + c * k / g) / (c + x)")),
        (8 / 3, "that is a number of nodes", _units(gpus="math.ceil(q / (1 - q) * c / x)")),
        (8 / 3, "nodes are bought whole", _units(gpus="math.ceil(g * q / (1 - q) * c / x)")),
        (8 / 3, "still short of the share", _units(gpus="g * int(q / (1 - q) * c / x)")),
        (8 / 3, "are swapped", _units(gpus="g * math.ceil(q / (1 - q) * x / c)")),
        (8 / 3, "never reached", _units(bearable="c / (w - 1)")),
        (8 / 3, "nodes, not GPUs", _units(bearable="c * (1 - w / k) / (w - 1)")),
        (8 / 3, "one node waits for the exchange", _units(bearable="c / w - c * g / k")),
        (8 / 3, "wrong", _units(gpus="g * max(1, round(q / (1 - q) * c / x))")),
        (
            8 / 3,
            "gives a wrong answer",
            _units(gpus="g * min(1000, math.ceil(q / (1 - q) * c / x))"),
        ),
        (
            8 / 3,
            "gives a wrong answer",
            _units(gpus="g * min(2**16, math.ceil(q / (1 - q) * c / x))"),
        ),
    ],
    "2-3": [
        (2, "on that many it ends too late", _order("least(order.hours) - 1")),
        (2, "follows from your own `fewest`", _order("least(order.hours) - 1")),
        (2, "stays in every step", _order("math.ceil(c * per_ms / order.hours)")),
        (2, "stays in every step", _order("math.ceil((c + x) * per_ms / order.hours)")),
        (3, "the run ends before it", _order(bill="fewest * order.price * order.hours")),
        (3, "the bill of one node", _order(bill="order.price * hours(fewest)")),
        (3, "is a time, and money is asked for", _order(bill="'8 h'")),
        (3, "that is the bill per hour", _order(haste="least(order.hours / 2) / fewest")),
        (3, "do not halve the time", _order(haste="cost(2 * fewest) / cost(fewest)")),
        (
            3,
            "the hurried run is the dearer",
            _order(haste="cost(fewest) / cost(least(order.hours / 2))"),
        ),
    ],
    "2-4": [
        (4 / 3, "over a larger step", _lever(by="'B'")),
        (4 / 3, "compare progress, not steps", _lever(b="1 / (4 * c / n + x)")),
        (4 / 3, "that holds on one node", _lever(by="'C'")),
        (4 / 3, "worth `worth` steps, not four", _lever(b="4 / (4 * c / n + x)")),
        (8 / 3, "upside down", _lever(factor="1 / (r[best] * (c / n + x))")),
        (
            8 / 3,
            "worth more than one",
            _lever(factor="r[best] * (c / n + x) / (w if best == 'B' else 1)"),
        ),
        (8 / 3, "how far the ceiling rises", _lever(factor="(4 * c / x + 1) / (c / x + 1)")),
        (8 / 3, "it holds no factor", _lever(factor="*[]")),
        (8 / 3, "what does a step of it cost", _lever(level="4")),
        (8 / 3, "as good as no change", _lever(level="as_is")),
        (8 / 3, "harder to beat", _lever(level="min(a, c)")),
    ],
    "3-1": [
        (4 - 4 / 6, "that is the efficiency", _curves("(c + x) / t / k")),
        (4 - 4 / 6, "it never was a ratio of two times", _curves("text(c, x, k)")),
        (4 - 4 / 6, "its share of the one-node time", _curves(share="x / (c + x)")),
        (4 - 4 / 6, "that is the share of compute", _curves(share="1 - x / t")),
        (4 - 4 / 6, "and never moves", _curves(left="(c + x) / x")),
        (4 - 4 / 6, "the text takes the share of each K", _curves(misread="(c + x) / t")),
        (4 - 8 / 6, "asked is the K", _curves(peak="text(c, x, best(c, x))")),
        (4 - 8 / 6, "one step too early", _curves(peak="best(c, x) - 1")),
        (4 - 8 / 6, "already falling", _curves(peak="best(c, x) + 1")),
        (4 - 8 / 6, "the true speedup never turns", _curves(peak="float('inf')")),
        (4 - 8 / 6, "gives a wrong answer", _curves(peak="min(128, best(c, x))")),
        (4 - 8 / 6, "gives a wrong answer", _curves(peak="min(1024, best(c, x))")),
        (4 - 8 / 6, "gives a wrong answer", _curves(peak="max(3, best(c, x))")),
        (4 - 8 / 6, "gives a wrong answer", _curves(peak="round(1 + (1 + c / x) ** 0.5)")),
    ],
    "3-2": [
        (4 - 8 / 7, "compare both", _bend("low")),
        (4 - 8 / 7, "compare both", _bend("math.ceil((c / g) ** 0.5)")),
        (4 - 8 / 7, "a root is missing", _bend("round(c / g)")),
        (4 - 8 / 7, "does not move its lowest point", _bend("round((c / x) ** 0.5)")),
        (4 - 4 / 7, "never makes a step slower", _bend(never="1")),
        (4 - 8 / 7, "one growth stand in sigma", _bend(usl="x / t1, g / t1")),
        (4 - 8 / 7, "the law wants shares of T(1)", _bend(usl="x + g, g")),
        (4 - 8 / 7, "sigma comes first", _bend(usl="g / t1, (x + g) / t1")),
        (4 - 8 / 7, "sigma is the rest", _bend(usl="c / t1, g / t1")),
        (4 - 4 / 7, "all nodes share in it", _bend(growth="c / n")),
        (4 - 4 / 7, "follows from your own `growth`", _bend(growth="c / n")),
        (4 - 4 / 7, "does not move its lowest point", _bend(growth="x / n")),
        (4 - 4 / 7, "without any exchange would it be K", _bend(height="n")),
        (4 - 4 / 7, "waits for its exchange, too", _bend(height="c / (c / n + x + growth * n)")),
        (4 - 4 / 7, "upside down", _bend(height="(c / n + x + growth * n) / (c + x + growth)")),
        (4 - 8 / 7, "compare both", _bend("max(1, round((c / g) ** 0.5))")),
        (4 - 8 / 7, "gives a wrong answer", _bend(f"min(1000, {_NEAR})")),
        (4 - 8 / 7, "gives a wrong answer", _bend(f"min(2**16, {_NEAR})")),
    ],
    "3-3": [
        (2.5, "upside down", _refute("law / gain[n]")),
        (
            2.5,
            "a forecast that was made from it",
            _refute(serial="(k[n] / gain[n] - 1) / (k[n] - 1)"),
        ),
        (
            2.5,
            "not from the second row for all",
            _refute(serial="(k[1] / gain[1] - 1) / (k[1] - 1)"),
        ),
        (2.5, "forecasts an ideal gain", _refute(law="gain[n - 1] * k[n] / k[n - 1]")),
        (2.5, "the idle share, not the serial", _refute(serial="1 - gain[n - 1] / k[n - 1]")),
        (5 - 10 / 6, "that is the last one", _refute(pick="hits[-1] if hits else float('inf')")),
        (
            5 - 10 / 6,
            "that is the worst one",
            _refute(row="(abs(r - 1), k)", pick="max(hits)[1] if hits else float('inf')"),
        ),
        (5 - 10 / 6, "below the forecast refutes", _refute(test="r > 1 + slack")),
        (5 - 10 / 6, "that row the forecast was made from", _refute(row="workers[n - 1]")),
        (5 - 10 / 6, "hand in the worker count", _refute(row="n")),
        (2.5, "gives another kind of value", _refute(pick="hits[0] if hits else None")),
    ],
}


def _from_whole(value):
    """Return how far a value is from the next whole number: rounding must not be a gamble."""
    return abs(value - round(value))


def _workers(n):
    return n.workers * (1 - n.serial) / (1 / n.wanted - n.serial)


def _nodes(n, share=1):
    return n.compute / (share * n.hours * 3.6e6 / n.steps - n.exposed)


def _careless(n):
    """Return the nodes that would do if the exposed time divided too."""
    return (n.compute + n.exposed) * n.steps / n.hours / 3.6e6


def _unexplained(n):
    """Return the part of the reported one-worker time that the run does not explain."""
    return 1 - (1 - n.share * (n.workers - 1) / n.workers) / n.efficiency


def _filled(n):
    """Return the wanted gain over that of nodes that wait for nothing."""
    return n.wanted * n.per_node / n.gpus


def _level(n):
    one = n.compute / n.nodes
    return (4 * one + n.exposed) / min(one + n.exposed / 2, one / 2 + n.exposed)


BOUNDS = {
    "1-1": {
        "share of the exchange": (lambda n: n.bare / n.step, 0.05, 0.2),
        "share of the rows": (lambda n: n.rows / n.step, 0.2, 0.6),
        "share that never divides": (lambda n: n.fixed / n.job, 0.001, 0.008),
        "idle over serial": (lambda n: n.efficiency * (n.workers - 1), 6, 20),
    },
    "1-2": {
        "workers needed": (_workers, 30, 700),
        "from whole": (lambda n: _from_whole(_workers(n)), 0.03, 0.5),
        "unlike the ideal": (lambda n: _workers(n) / n.workers / n.wanted, 1.03, 3),
    },
    "1-3": {"unexplained share": (_unexplained, 0.02, 0.3)},
    "2-1": {
        "serial fraction": (lambda n: 1 - n.compute / n.step, 0.05, 0.25),
        "exchange hidden, ms": (lambda n: n.exchange - n.step + n.compute, 25, 125),
    },
    "2-2": {
        "exposed time, ms": (lambda n: (1 - _filled(n)) * n.compute / (n.wanted - 1), 8, 90),
        "share of the nodes' gain": (_filled, 0.08, 0.6),
    },
    "2-3": {
        "nodes": (_nodes, 4, 25),
        "nodes in half the time": (lambda n: _nodes(n, 0.5), 9, 90),
        "exposed time matters, nodes": (lambda n: int(_nodes(n)) - int(_careless(n)), 1, 20),
        "from whole": (lambda n: _from_whole(_nodes(n)), 0.03, 0.5),
        "half, from whole": (lambda n: _from_whole(_nodes(n, 0.5)), 0.03, 0.5),
    },
    "2-4": {
        "level": (_level, 1.4, 3.9),
        "from the other lever": (lambda n: abs(math.log(n.compute / n.nodes / n.exposed)), 0.1, 3),
    },
    "3-2": {"growth, ms": (lambda n: n.compute / n.lowest**2, 0.1, 7)},
}

_ZERO = "drawn numbers never meet the threshold exactly, and the question leaves equality open"
SURVIVORS = {
    "1-3: alone / seconds > (1 + slack) * laws.gustafson(workers, sha… → "
    "alone / seconds >= (1 + slack) * laws.gustafson(workers, sh…": _ZERO,
    "3-1: 1 → 2": "the text's curve is higher at 2 than at 1 whatever is exposed: no peak lies lower",
    "3-1: curves(compute, exposed, [k + 1])[0][4] > curves(compute, e… → "
    "curves(compute, exposed, [k + 1])[0][4] >= curves(compute, …": _ZERO,
    "3-3: abs(ratio - 1) > slack → abs(ratio - 1) >= slack": _ZERO,
}

FIXED = {"1-3 suspect": "what lies above its own line has one suspect, whatever the numbers"}
