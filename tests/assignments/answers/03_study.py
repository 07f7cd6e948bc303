"""Answers to assignment 3.3: another correct style, and what students plausibly get wrong.

The student has read Sections 3.1 to 3.3, programs fluently, has seen slides with efficiencies on
them and believes their headings. What each task finds out:

1.1  that the label of a study is taken from its heading, or from `batch_size`, and not from its work
1.2  that it is taken from how well the times look; a base row of one worker; no growth in between
1.3  that a weak efficiency is read as a strong one, or that an exchange shrinks with the batch
1.4  the same, defended in words
2.1  that the one worker's serial part counts as lost; E for E / (1 - E); the share for the whole
2.2  that busy machines are all there is; two efficiencies that add instead of multiplying
2.3  that the best batch is the busy one, the critical one or the largest one
2.4  that twice the machines, kept as busy, are done sooner
3.1  that minutes to a target are the machines' alone; that losses add
3.2  that a run is a step; that the global batch is a worker's; that one quality makes one lens
3.3  means for medians; efficiencies that divide by K under both lenses; a verdict whatever the noise
3.4  that epochs explain what the machines lost

ALTERNATIVE maps an answer cell to a correct answer in another style than the reference's.
WRONG maps a task to (points, what the check must say, answer): the points when it is graded.
"""

import math

ALTERNATIVE = {
    "answer-1-1": """
words = np.array(["Strong", "weak", "strong", " WEAK", "neither", "Neither "])
study_a, study_b, study_c, study_d, study_e, study_f = words[["ABCDEF".index(k) for k in shelf.order]]
""",
    "answer-1-2": """
import pandas as pd

def mended(rows):
    t = pd.DataFrame(rows, columns=["k", "t", "w"]).sort_values("k").reset_index(drop=True)
    each = t.w / t.k
    def same(column):
        return bool(((column / column[0]).between(0.95, 1.05)).all())
    label = "strong" if same(t.w) else "weak" if same(each) else "neither"
    rate = each / t.t
    return [label, np.column_stack([t.k, rate / rate[0]])]
""",
    "answer-1-3": """
import warnings

def fixed(workers, weak):
    warnings.warn("an exchange as long on any size")
    return np.float32(weak / (weak + workers - weak * workers))

seconds = night.alone / night.workers + night.alone * (1 - night.weak) / night.weak
duration = f"{seconds / 3600} h"
most = 2
while 1 / (1 + (most + 1) * (1 / night.weak - 1)) >= night.floor:
    most += 1
""",
    "answer-2-1": """
import torch

def busy(workers, batch, serial, exchange, sample):
    lost = (workers - 1) * serial + workers * exchange * torch.log2(torch.tensor(float(workers)))
    work = serial + sample * batch
    return work / (work + lost)

def batch_for(workers, efficiency, serial, exchange, sample):
    low, high = workers, 1e15
    if busy(workers, low, serial, exchange, sample) >= efficiency:
        return np.int64(workers)
    for _ in range(200):
        middle = (low + high) / 2
        enough = busy(workers, middle, serial, exchange, sample) >= efficiency
        low, high = (low, middle) if enough else (middle, high)
    return high
""",
    "answer-2-2": """
def passes(critical, efficiency, *step):
    workers = next(2**n for n in range(1, 99) if batch_for(2**n, efficiency, *step) > critical)
    needed = 1 + batch_for(workers, efficiency, *step) / critical
    return np.array([workers, efficiency / needed])

kept = ["Falls", "B"]
learned = crew.total / crew.busy
largest = np.float32(crew.critical * (1 - learned) / learned)
""",
    "answer-2-3": """
def until(workers, batch, critical, least_steps, serial, exchange, sample):
    samples = least_steps * (batch + critical)
    return samples / batch * (serial + exchange * np.log2(workers) + sample * batch / workers)

table = {}
batch = tuned.workers
while batch <= 2**20:
    table[batch] = until(tuned.workers, batch, tuned.critical, 1.0, 4e-3, 5e-3, tuned.sample)
    batch *= 2
soonest = np.int32(sorted(table, key=table.get)[0])
even = batch_for(tuned.workers, 0.8, 0.004, 0.005, tuned.sample)
even = until(tuned.workers, even, tuned.critical, 1.0, 4e-3, 5e-3, tuned.sample)
times = np.float64(even) / table[int(soonest)]
""",
    "answer-3-1": """
import math

def charge(rows):
    rows = np.array(sorted(rows), dtype=float)
    k, t, n = rows.T
    algorithm = n[0] / n
    system = (t[0] / n[0]) / (t / n) / (k / k[0])
    share = math.log(algorithm[-1]) / (math.log(algorithm[-1]) + math.log(system[-1]))
    return np.stack([k, system, algorithm], axis=1), share
""",
    "answer-3-2": """
def anatomy(few, many, samples):
    equations, steps = [], []
    for k, t, n, b in (few, many):
        equations.append([1, b / k])
        steps.append(t * b / (n * samples))
    return np.linalg.solve(equations, steps)

a, b = anatomy(
    (logged.few, logged.few_seconds, logged.few_epochs, logged.few_batch),
    (logged.many, logged.many_seconds, logged.many_epochs, logged.many_batch),
    logged.samples,
)
step = logged.many_seconds * logged.many_batch / (logged.many_epochs * logged.samples)
stuck = np.float32(a / step)
kind = [["neither", "b"], ["Strong", "A"]][int(logged.few_batch / logged.many_batch == 1)]
""",
    "answer-3-3": """
from scalelab.records import Sample
import statistics as st

def lenses(one, same, double, workers):
    a, b, c = map(st.median, (one, same, double))
    return np.array([a / b / workers, a / c])

def better(same, double, workers):
    s, d = sorted(workers * np.array(same)), sorted(double)
    if np.quantile(s, 0.25) > np.quantile(d, 0.75):
        return "Weak"
    if np.quantile(s, 0.75) < np.quantile(d, 0.25):
        return "Strong"
    return "Open"

one = np.array([0.5, 0.52, 0.51, 0.49, 0.53, 0.5, 0.55, 0.51])
same = [0.4, 0.41, 0.42, 0.39, 0.38, 0.4, 0.44]
double = {"seconds": [0.83, 0.82, 0.79, 0.78, 0.85, 0.8, 0.81]}
found = np.median(one) / np.array([0.8, 0.81])
conclusion = "open"
""",
}


def _lens(**changed):
    """Name the lens of each kind of study, whatever its letter, but for the `changed` kinds."""
    return f"""
lens = dict(zip("ABCDEF", ["strong", "weak"] * 2 + ["neither"] * 2)) | {changed}
study_a, study_b, study_c, study_d, study_e, study_f = (lens[which] for which in shelf.order)
"""


def _mended(
    work="[w / w0 for _, _, w in rows]",
    share="[w / k / (w0 / k0) for k, _, w in rows]",
    efficiency="w / w0 * t0 / t * k0 / k",
    slack=0.05,
    rest="neither",
    base="rows[0]",
    order="sorted(rows)",
):
    return f"""
def mended(rows):
    given, rows = rows, {order}
    k0, t0, w0 = {base}
    def same(values):
        return all(abs(v - 1) <= {slack} for v in values)
    label = "{rest}"
    if same({work}):
        label = "strong"
    elif same({share}):
        label = "weak"
    return label, [(k, {efficiency}) for k, t, w in rows]
"""


def _fixed(
    fixed="1 / (1 + k * (1 / e - 1))",
    duration="night.alone * (1 / night.workers + 1 / night.weak - 1)",
    most="int((1 / night.floor - 1) / (1 / night.weak - 1))",
):
    return f"""
def fixed(k, e):
    return {fixed}

duration = {duration}
most = {most}
"""


def _batch(
    alone="s + c * b",
    time="s + x * np.log2(k) + c * b / k",
    efficiency="alone / time / k",
    lost="(k - 1) * s + k * x * np.log2(k)",
    work="e / (1 - e) * lost",
    batch="(work - s) / c",
    least="max(k, batch)",
):
    return f"""
def busy(k, b, s, x, c):
    alone = {alone}
    time = {time}
    return {efficiency}

def batch_for(k, e, s, x, c):
    lost = {lost}
    work = {work}
    batch = {batch}
    return {least}
"""


def _passes(workers="k", total="e / (1 + b / critical)", kept=("falls", "b"), largest="e / t - 1"):
    return f"""
def passes(critical, e, s, x, c):
    k, b = 1, 0
    while b <= critical:
        k *= 2
        b = (e / (1 - e) * ((k - 1) * s + k * x * np.log2(k)) - s) / c
    learned = 1 / (1 + b / critical)
    return {workers}, {total}

kept = {kept!r}
e, t = crew.busy, crew.total
largest = crew.critical * ({largest})
"""


def _until(
    steps="least * (1 + critical / b)",
    step="s + x * np.log2(k) + c * b / k",
    seconds="steps * step",
    soonest="min(powers, key=wait)",
    times="wait(even) / wait(soonest)",
):
    return f"""
def until(k, b, critical, least, s, x, c):
    steps = {steps}
    step = {step}
    return {seconds}

def wait(b):
    k, c = tuned.workers, tuned.sample
    return (1 + tuned.critical / b) * (0.004 + 0.005 * np.log2(k) + c * b / k)

powers = [2**n for n in range(21) if 2**n >= tuned.workers]
lost = (tuned.workers - 1) * 0.004 + tuned.workers * 0.005 * np.log2(tuned.workers)
even = (4 * lost - 0.004) / tuned.sample
soonest = {soonest}
times = {times}
"""


def _charge(system="total / algorithm", algorithm="n0 / n", share=None, table="table"):
    share = share or "np.log(algorithm) / np.log(total)"
    return f"""
def charge(rows):
    rows = sorted(rows)
    k0, t0, n0 = rows[0]
    table = []
    for k, t, n in rows:
        total = k0 * t0 / k / t
        algorithm = n0 / n
        table.append((k, {system}, {algorithm}))
    return {table}, {share}
"""


def _anatomy(
    steps="n * samples / b",
    share="b / k",
    result="y - slope * x, slope",
    stuck="a / (a + b * logged.many_batch / logged.many)",
    kind="own_kind",
):
    return f"""
def points(rows, samples):
    for k, t, n, b in rows:
        yield {share}, t / ({steps})

def line(few, many, samples):
    (x, y), (x2, y2) = points((few, many), samples)
    slope = (y - y2) / (x - x2)
    return {result}

def anatomy(few, many, samples):
    return line(few, many, samples)

def own():
    rows = []
    for name in ("few", "many"):
        v = logged.values
        k, t, n, b = v[name], v[name + "_seconds"], v[name + "_epochs"], v[name + "_batch"]
        rows.append((b / k, t * b / n / logged.samples))
    (x, y), (x2, y2) = rows
    return y - (y - y2) / (x - x2) * x, (y - y2) / (x - x2)

a, b = own()
stuck = {stuck}
same = logged.few_batch == logged.many_batch
own_kind, other = [("neither", "b"), ("strong", "a")][:: -1 if same else 1]
kind = {kind}
"""


def _measured(
    lenses="m(one) / m(same) / k, m(one) / m(double)",
    m="median",
    better='"weak" if k * q(same, 25) > q(double, 75) else '
    '"strong" if k * q(same, 75) < q(double, 25) else "open"',
    runs="recorded.values()",
    found="lenses(one, same, double, 2)",
    conclusion='"weak"',
):
    return f"""
from statistics import mean, median

def lenses(one, same, double, k):
    m = {m}
    return {lenses}

def better(same, double, k):
    q, m = np.percentile, np.median
    return {better}

one, same, double = {runs}
found = {found}
conclusion = {conclusion}
"""


WRONG = {
    "1-1": [
        (2.5, "a step held the same images", _lens(A="weak")),
        (2.5, "the one of a single worker", _lens(B="strong")),
        (2.5, "there are fewer of them", _lens(C="weak")),
        (2.5, "that is what the heading says", _lens(D="strong")),
        (2.5, "the operations of a worker do not", _lens(E="weak")),
        (2.5, "the share of one did not stay", _lens(F="weak")),
        (2.5, "the global batch did not stay", _lens(F="strong")),
        (2.5, "expected one of 'strong', 'weak', 'neither'", _lens(E="memory")),
    ],
    "1-2": [
        (
            2,
            "only the work can say",
            _mended(
                work="[1 if any(t < 0.9 * t0 or t > 1.3 * t0 for _, t, _ in rows) else 2]",
                share="[1]",
            ),
        ),
        (2, "within 5% counts as the same", _mended(slack=0)),
        (2, "between the two there is a third", _mended(rest="weak")),
        (2, "the work of all rows for the same", _mended(efficiency="t0 / t * k0 / k")),
        (2, "the work of a worker for the same", _mended(efficiency="t0 / t")),
        (2, "divide by K / K0, not by K", _mended(efficiency="w / w0 * t0 / t / k")),
        (2, "that is the scaled speedup", _mended(efficiency="w / w0 * t0 / t")),
        (0, "is not the right number", _mended(base="given[0]")),
        (2, "is not the right number", _mended(order="sorted(rows)[::-1]", base="rows[-1]")),
        (2, "gives a wrong answer", _mended(slack=0.04)),
        (2, "gives a wrong answer", _mended(slack=0.06)),
        (
            2,
            "gives a wrong answer",
            _mended(
                work="[b[2] / a[2] for a, b in zip(rows, rows[1:])]",
                share="[b[2] / b[0] / (a[2] / a[0]) for a, b in zip(rows, rows[1:])]",
            ),
        ),
        (
            2,
            "wrong",
            _mended(efficiency="w / w0 * t1 / t * k0 / k").replace(
                "    label", "    t1 = max(t for _, t, _ in rows)\n    label", 1
            ),
        ),
    ],
    "1-3": [
        (2, "there the computing grows", _fixed(fixed="e")),
        (2, "that is the speedup", _fixed(fixed="k / (1 + k * (1 / e - 1))")),
        (2, "but the computing is divided", _fixed(fixed="e / k")),
        (2, "not 1 - weak", _fixed(fixed="1 / (1 + k * (1 - e))")),
        (2, "here it is paid once", _fixed(fixed="e**k")),
        (3, "without an exchange", _fixed(duration="night.alone / night.workers")),
        (
            3,
            "it does not",
            _fixed(duration="night.alone / night.workers / night.weak"),
        ),
        (
            3,
            "that is in h",
            _fixed(duration="night.alone * (1 / night.workers + 1 / night.weak - 1) / 3600"),
        ),
        (
            3,
            "round down",
            _fixed(most="math.ceil((1 / night.floor - 1) / (1 / night.weak - 1))").replace(
                "def", "import math\n\ndef", 1
            ),
        ),
        (3, "it is 1/floor - 1", _fixed(most="int(1 / night.floor / (1 / night.weak - 1))")),
        (3, "not for 0.4", _fixed(most="int((1 - night.floor) / (1 / night.weak - 1))")),
    ],
    "2-1": [
        (3, "one worker pays the serial part too", _batch(alone="c * b")),
        (3, "that is the speedup", _batch(efficiency="alone / time")),
        (3, "adds the exchange once more", _batch(time="s + x + c * b / k")),
        (3, "not the natural logarithm", _batch(time="s + x * np.log(k) + c * b / k")),
        (1, "the global batch is asked for", _batch(least="max(k, batch) / k")),
        (1, "only K - 1 workers lose it", _batch(lost="k * s + k * x * np.log2(k)")),
        (1, "it holds the serial part as well", _batch(batch="work / c")),
        (
            1,
            "and once as done by the one worker",
            _batch(lost="k * s + k * x * np.log2(k)", batch="work / c"),
        ),
        (1, "not just what is lost", _batch(work="lost")),
        (1, "not E times", _batch(work="e * lost")),
        (1, "W leaves the lost part out", _batch(work="lost / (1 - e)")),
        (3, "with few samples", _batch(least="batch")),
        (1, "gives a wrong answer", _batch(least="max(k, round(batch))")),
        (1, "gives a wrong answer", _batch(least="max(k, int(batch))")),
    ],
    "2-2": [
        (3.2, "still below the critical one", _passes(workers="k // 2")),
        (3.2, "one doubling after the first", _passes(workers="2 * k")),
        (2.4, "that is the efficiency of the learning", _passes(total="learned")),
        (2.4, "that is the efficiency of the machines", _passes(total="e")),
        (2.4, "has jumped over the critical one", _passes(total="e / 2")),
        (2.4, "the two efficiencies multiply", _passes(total="e + learned - 1")),
        (3.2, "that holds one factor of two", _passes(kept=("stays", "a"))),
        (3.2, "makes up for just that", _passes(kept=("falls", "d"))),
        (3.2, "a step of them is not free", _passes(kept=("rises", "c"))),
        (3.2, "half of the learning is left", _passes(largest="1")),
        (3.2, "lose a part already", _passes(largest="1 / t - 1")),
        (3.2, "does not add up", _passes(largest="1 / (1 - e + t) - 1")),
        (3.2, "gives a wrong answer", _passes(workers="min(k, 1024)")),
    ],
    "2-3": [
        (2, "only a huge batch comes near", _until(steps="least")),
        (2, "not seconds", _until(seconds="steps / least")),
        (2, "a small batch takes more steps", _until(steps="least * (1 + b / critical)")),
        (2, "the batch is shared", _until(step="s + x * np.log2(k) + c * b")),
        (3, "nearest to 80% busy", _until(soonest="2 ** round(np.log2(even))")),
        (
            3,
            "asks nothing of the machines",
            _until(soonest="2 ** round(np.log2(tuned.critical))"),
        ),
        (3, "each of them long", _until(soonest="powers[-1]")),
        (3, "has the shortest step", _until(soonest="powers[0]")),
        (3, "follows from your own `soonest`", _until(soonest="powers[-1]")),
        (3, "upside down", _until(times="wait(soonest) / wait(even)")),
    ],
    "3-1": [
        (2, "also hold the additional epochs", _charge(system="total")),
        (2, "once more: divide, do not multiply", _charge(system="total * algorithm")),
        (2, "divide by K / K0, too", _charge(system="total / algorithm * k / k0")),
        (2, "more epochs are a lower efficiency", _charge(algorithm="n / n0")),
        (2, "not taken off one by one", _charge(share="(1 - algorithm) / (1 - total)")),
        (
            2,
            "that is the part of the machines",
            _charge(share="1 - np.log(n0 / n) / np.log(total)"),
        ),
        (
            2,
            "asked is its part of all",
            _charge(share="np.log(algorithm) / np.log(total / algorithm)"),
        ),
        (1, "it holds no", _charge(table="total / algorithm")),
        (
            0,
            "gives a wrong answer",
            _charge().replace(
                "    k0, t0, n0", "    rows.sort(key=lambda row: -row[1])\n    k0, t0, n0"
            ),
        ),
        (
            2,
            "gives a wrong answer",
            _charge(
                algorithm="min(n for _, _, n in rows) / n",
                system="k0 * t0 / k / t * n / n0",
                share="np.log(n0 / n) / np.log(total)",
            ),
        ),
    ],
    "3-2": [
        (2, "the seconds of one step", _anatomy(steps="1")),
        (2, "more steps than one epoch", _anatomy(steps="samples / b")),
        (2, "not those of all", _anatomy(share="b")),
        (3, "not samples per second", _anatomy(result="y - slope * x, 1 / slope")),
        (
            3,
            "asked is the one on the many",
            _anatomy(stuck="a / (a + b * logged.few_batch / logged.few)"),
        ),
        (
            3,
            "the part that grows with the samples",
            _anatomy(stuck="1 - a / (a + b * logged.many_batch / logged.many)"),
        ),
        (
            3,
            "that is a percentage",
            _anatomy(stuck="100 * a / (a + b * logged.many_batch / logged.many)"),
        ),
        (3, "compare the two global batches", _anatomy(kind="other")),
        (3, "a lens is what a step held", _anatomy(kind="('strong', 'd')")),
        (3, "the share of one did not stay", _anatomy(kind="('weak', 'c')")),
    ],
    "3-3": [
        (
            3,
            "one slow run moves them",
            _measured(m="mean"),
        ),
        (
            3,
            "the strong efficiency comes first",
            _measured("m(one) / m(double), m(one) / m(same) / k"),
        ),
        (
            3,
            "efficiency divides by the workers",
            _measured("m(one) / m(same), m(one) / m(double)"),
        ),
        (
            3,
            "there the ratio is not divided",
            _measured("m(one) / m(same) / k, m(one) / m(double) / k"),
        ),
        (3, "from the quickest runs", _measured(m="min")),
        (
            3.667,
            "when do you not know?",
            _measured(better='"weak" if k * m(same) > m(double) else "strong"'),
        ),
        (
            3.667,
            "the two are swapped",
            _measured(
                better='"strong" if k * q(same, 25) > q(double, 75) else '
                '"weak" if k * q(same, 75) < q(double, 25) else "open"'
            ),
        ),
        (
            3.667,
            "too cautious; take the quartiles",
            _measured(
                better='"weak" if k * min(same) > max(double) else '
                '"strong" if k * max(same) < min(double) else "open"'
            ),
        ),
        (
            3.667,
            "compare efficiencies",
            _measured(better='"strong" if m(same) < m(double) else "weak"'),
        ),
        (4.333, "here as well", _measured(found="lenses(one, same, double, 2)[::-1]")),
        (4.333, "not the right", _measured(conclusion='"strong"')),
        (
            4,
            "the times are all alike",
            _measured(runs="[1.7] * 7, [1.4] * 7, [2.2] * 7"),
        ),
        (4, "7 are needed", _measured(runs="([1.7, 1.6, 1.8], [1.4, 1.3, 1.5], [2.2, 2.1, 2.3])")),
    ],
}


def _needed(n):
    return (1 / n.floor - 1) / (1 / n.weak - 1)


def _from_whole(value):
    """Return how far a value is from the next whole number: rounding must not be a gamble."""
    return abs(value - round(value))


def _wait(n, batch):
    step = 0.004 + 0.005 * math.log2(n.workers) + n.sample * batch / n.workers
    return (1 + n.critical / batch) * step


def _powers(n):
    return sorted((2**p for p in range(21) if 2**p >= n.workers), key=lambda b: _wait(n, b))


def _even(n):
    lost = (n.workers - 1) * 0.004 + n.workers * 0.005 * math.log2(n.workers)
    return (4 * lost - 0.004) / n.sample


def _apart(ratio):
    """Return how clearly two batches differ; those that are the same differ clearly enough."""
    return abs(math.log(ratio)) or 0.6


def _stuck(n):
    x, y = n.few_batch / n.few, n.few_seconds * n.few_batch / n.few_epochs
    x2, y2 = n.many_batch / n.many, n.many_seconds * n.many_batch / n.many_epochs
    return 1 - (y - y2) / (x - x2) * x2 / y2


def _shares(n):
    """Return the largest share of a GPU over the smallest, in the study of the tokens."""
    shares = [batch / gpus for batch, gpus in zip(n.batches, (8, 16, 32), strict=True)]
    return max(shares) / min(shares)


BOUNDS = {
    "1-1": {
        "shares that did not stay": (_shares, 2, 12),
        "images of a GPU": (lambda n: n.images / n.many, 4, 64),
    },
    "1-3": {
        "GPUs that keep the floor": (_needed, 8, 60),
        "from whole": (lambda n: _from_whole(_needed(n)), 0.05, 0.5),
        "strong efficiency": (lambda n: 1 / (1 + n.workers * (1 / n.weak - 1)), 0.08, 0.6),
    },
    "2-2": {
        "largest over critical": (lambda n: n.busy / n.total - 1, 0.3, 1.8),
        "from the critical one": (lambda n: abs(n.busy / n.total - 2), 0.05, 1),
    },
    "2-3": {
        "80% over the soonest": (lambda n: _wait(n, _even(n)) / _wait(n, _powers(n)[0]), 1.3, 6),
        "runner-up": (lambda n: _wait(n, _powers(n)[1]) / _wait(n, _powers(n)[0]), 1.006, 1.5),
        "soonest over critical": (
            lambda n: _powers(n)[0] / 2 ** round(math.log2(n.critical)),
            2,
            16,
        ),
        "soonest over smallest": (lambda n: _powers(n)[0] / n.workers, 2, 1024),
        "80% over the soonest batch": (lambda n: _even(n) / _powers(n)[0], 1.6, 60),
    },
    "3-2": {
        "share that stays": (_stuck, 0.75, 0.96),
        "batches, if not the same": (lambda n: _apart(n.many_batch / n.few_batch), 0.1, 0.6),
    },
}

_ZERO = "drawn numbers never meet the threshold exactly, and rounding decides where they do"
NEEDS = {"2-2": ["2-1"], "2-3": ["2-1"]}
SURVIVORS = {
    "1-2: abs(work / w0 - 1) <= 0.05 → abs(work / w0 - 1) < 0.05": _ZERO,
    "1-2: abs(work / k / (w0 / k0) - 1) <= 0.05 → abs(work / k / (w0 / k0) - 1) < 0.05": _ZERO,
    "2-2: batch_for(workers, efficiency, serial, exchange, sample) <=… → "
    "batch_for(workers, efficiency, serial, exchange, sample) < …": _ZERO,
    "2-3: batch >= tuned.workers → batch > tuned.workers": "the smallest batch is never the best",
    "2-3: 21 → 22": "nor is the largest, which one more would only exceed",
    "3-3: workers * quick > slow2 → workers * quick >= slow2": _ZERO,
    "3-3: workers * slow < quick2 → workers * slow <= quick2": _ZERO,
    "3-3: 2 → 3 (again)": "three workers make the recorded times no less clear: still weak",
}

FIXED = {"2-2 kept": "a reason that holds for all numbers"}
