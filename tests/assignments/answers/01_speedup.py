"""Answers to assignment 3.1: another correct style, and what students plausibly get wrong.

ALTERNATIVE maps an answer cell to a correct answer in another style than the reference's.
WRONG maps a task to (points, what the check must say, answer): the points when it is graded.
"""

import math
from itertools import pairwise

ALTERNATIVE = {
    "answer-1-1": """
def crossing(workers, efficiency, floor):
    kept = np.flatnonzero(np.asarray(efficiency) >= floor)
    fall = kept[-1] + 1 if len(kept) else 0
    padded = [None, *workers, None]
    return np.array([padded[fall], padded[fall + 1]], dtype=object)
""",
    "answer-1-2": """
share = lambda workers, efficiency: np.float32((1 - efficiency) / (1 - 1 / workers))

def workers_for(target, workers, efficiency):
    print("searching")
    serial, count = (1 / efficiency - 1) / (workers - 1), 1
    while serial * count / (1 + serial * (count - 1)) < target:
        count += 1
    return np.int64(count)

row = job.workers, job.efficiency
saved = np.subtract(*(workers_for(t, *row) for t in (job.wanted, job.enough)))
""",
    "answer-1-3": """
import warnings

def doubling(workers, serial):
    warnings.warn("this is only a model")
    cost = np.array([1, 2]) * workers * serial + 1 - serial
    bill = cost[1] / cost[0]
    return np.array([2 / bill, 1 / cost[1], bill])

def stop_at(serial, most):
    powers = 2 ** np.arange(40)
    bills = (2 * powers * serial + 1 - serial) / (powers * serial + 1 - serial)
    return powers[bills > most][0]

k = stop_at(plan.serial, plan.most)
dearer = np.float32(k / speedup.speedup(1.0, plan.serial + (1 - plan.serial) / k))
""",
    "answer-2-1": """
import pandas as pd

def sweep(serial, workers):
    k = np.array(workers, dtype=float)
    with np.errstate(divide="ignore"):
        most = np.minimum(1, 0.25 / (k - 1))
    time = serial + (1 - serial) / k
    return pd.DataFrame({"K": k, "T": time, "S": 1 / time, "E": 1 / time / k, "f": most})

def limits(serial, workers):
    for k in workers:
        if 1 / (k * serial + 1 - serial) < 0.5:
            return [1 / serial, k]
    return [1 / serial, None]
""",
    "answer-2-2": """
def usable(serial, most):
    if not serial:
        return float("inf")
    workers = 1
    while (workers + 1) * serial + 1 - serial <= most:
        workers = workers + 1
    return workers

def claim(reported, workers, floor):
    missing = (1 / reported - 1 / workers) * workers / (workers - 1)
    return float(np.floor((1 - floor) / (floor * missing)) + 1)

fits = np.int64(claim(slide.reported, slide.workers, slide.floor))
cut = np.float32((slide.workers / slide.reported - 1) / (1 / slide.floor - 1))
""",
    "answer-2-3": """
def diagnose(workers, seconds, within):
    order = np.argsort(workers)
    k, t = np.array(workers)[order], np.array(seconds)[order]
    def ends(i):
        return [
            (t[i] * (1 - w) / (t[0] * (1 + w)) - 1 / k[i]) / (1 - 1 / k[i]) for w in (within, -within)
        ]
    (low, high), (least, most) = ends(1), ends(-1)
    if least > 1.25 * high:
        return "Overhead"
    if most < 0.75 * low:
        return "Baseline"
    return "cannot tell" if least < 0.75 * high or most > 1.25 * low else "Serial"
""",
    "answer-3-1": """
def honest_baseline(seconds, workers, efficiency):
    return np.float64(seconds) * workers * efficiency

def penalty(reported, seconds, workers):
    surplus = reported / (workers * seconds) - 1
    return surplus * workers * seconds if surplus > 0 else 0

lost = f"{penalty(audited.alone, audited.seconds, audited.devices) / 60} min"
flattered = 1 - audited.devices * audited.seconds / audited.alone
""",
    "answer-3-2": """
def saturation(total, levels):
    workers = 1
    while total / workers > levels[0][0]:
        workers += 1
    for room, bandwidth in levels:
        if room >= total:
            alone = total / bandwidth
            break
    return workers, alone / (total / levels[0][1])
""",
    "answer-3-3": """
import torch

def outlook(workers, baseline, anchor, seconds, serial):
    parallel = torch.tensor(seconds - serial, dtype=torch.float64) * anchor
    time = serial + parallel / workers
    return torch.stack([baseline / (time * workers), (serial + parallel) / (time * workers)])

own = tale.alone, tale.anchor, tale.seconds, tale.serial
ends = next(k for k in range(1, 10_000) if outlook(k, *own)[0] < 1)
""",
    "answer-3-4": """
import pandas as pd

def repaired(rows):
    times = pd.DataFrame(rows, columns=["k", "t"]).groupby("k").t.median().sort_index()
    table = pd.DataFrame({"k": times.index, "s": times.iloc[0] / times.to_numpy()})
    table["e"] = table.s * table.k.iloc[0] / table.k
    return table
""",
}

_CROSSING = """
def crossing(workers, efficiency, floor):
    first = None
    for n, (k, e) in reversed(list(enumerate(zip(workers, efficiency)))):
        if {test}:
            return {found}
        first = {keep}
    return {end}
"""


def _crossing(test="e >= floor", found="(k, first)", keep="k", end="(None, first)"):
    return _CROSSING.format(test=test, found=found, keep=keep, end=end)


_SAVED = "math.ceil(need(job.wanted)) - math.ceil(need(job.enough))"


def _share(
    share="k * (1 - e) / (k - 1)",
    serial="(1 / e - 1) / (k - 1)",
    workers="math.ceil(t / (1 - t) * (1 - f) / f)",
    saved=_SAVED,
):
    return f"""
import math

def need(t, k=job.workers, e=job.efficiency):
    return t / (1 - t) * (k * e - 1) / (1 - e)

def share(k, e):
    return {share}

def workers_for(t, k, e):
    f = {serial}
    return {workers}

saved = {saved}
"""


def _doubling(
    gain="t / t2",
    efficiency="1 / (2 * k * t2)",
    bill="2 * t2 / t",
    stop="next(k for k in powers if bill(k, f) > most)",
    dearer="work(bought)",
):
    return f"""
powers = [2**n for n in range(40)]

def doubling(k, f):
    t, t2 = f + (1 - f) / k, f + (1 - f) / (2 * k)
    return {gain}, {efficiency}, {bill}

def bill(k, f):
    return doubling(k, f)[2]

def stop_at(f, most):
    return {stop}

def work(k):
    return 1 + plan.serial * (k - 1)

bought = next(k for k in powers if work(2 * k) > plan.most * work(k))
dearer = {dearer}
"""


def _sweep(row="k, t, 1 / t, 1 / t / k", most="1 if k == 1 else 0.25 / (k - 1)", limits=None):
    limits = limits or "1 / f, next((k for k in workers if e(k, f) < 0.5), None)"
    return f"""
def e(k, f):
    return 1 / (k * f + 1 - f)

def sweep(f, workers):
    rows = []
    for k in workers:
        t = f + (1 - f) / k
        rows.append([{row}, {most}])
    return rows

def limits(f, workers):
    return {limits}
"""


def _usable(
    usable="int(1 + (most - 1) / f)",
    claim="usable(serial, 1 / floor)",
    zero="f == 0",
    fits="int(1 + (1 / slide.floor - 1) / implied)",
    cut="(1 / e - 1) / (1 / slide.floor - 1)",
):
    return f"""
import math

def usable(f, most):
    return math.inf if {zero} else {usable}

def claim(s, k, floor):
    serial = (1 / s - 1 / k) / (1 - 1 / k)
    return {claim}

e = slide.reported / slide.workers
implied = (1 / e - 1) / (slide.workers - 1)
fits = {fits}
cut = {cut}
"""


def _diagnose(
    words="overhead baseline serial open", t1="times[1]", few="few", number="e", w="within"
):
    return f"""
def diagnose(workers, seconds, within):
    times = dict(zip(workers, seconds))
    few, *_, many = {"sorted(k for k in times if k > 1)" if few == "few" else "workers[1:]"}
    t1 = {t1}
    def e(k, w):
        return (times[k] * (1 + w) / (t1 * (1 - w)) - 1 / k) / (1 - 1 / k)
    def efficiency(k, w):
        return t1 / times[k] / k
    up, down, flat, dark = "{words}".replace("open", "cannot+tell").split()
    low, high, least, most = ({number}(k, w) for k in (few, many) for w in (-{w}, {w}))
    sure = least >= 0.75 * high and most <= 1.25 * low
    word = up if least > 1.25 * high else down if most < 0.75 * low else flat if sure else dark
    return word.replace("+", " ")
"""


def _audit(
    baseline="e * k * t",
    penalty="max(0, reported - k * t)",
    lost="audited.alone - audited.devices * audited.seconds",
    flattered="lost / audited.alone",
):
    return f"""
def honest_baseline(t, k, e):
    return {baseline}

def penalty(reported, t, k):
    return {penalty}

lost = {lost}
flattered = {flattered}
"""


def _saturation(workers="math.ceil(total / room)", efficiency="fast / alone"):
    return f"""
import math

def saturation(total, levels):
    (room, fast), (room2, _) = levels[:2]
    slow = levels[-1][1]
    alone = next(speed for size, speed in levels if total <= size)
    return {workers}, {efficiency}
"""


def _outlook(time="s + p / k", reported="t1 / time / k", honest="(s + p) / time / k", ends=None):
    ends = ends or "(n.alone - n.anchor * (n.seconds - n.serial)) / n.serial + 1"
    return f"""
def outlook(k, t1, k0, t, s):
    p = (t - s) * k0
    time = {time}
    return {reported}, {honest}

n = tale
ends = int({ends})
"""


def _repaired(pick="median", baseline="times[least]", gain="t0 / times[k]", e="s * least / k"):
    return f"""
from statistics import mean, median, median_high, median_low

def last(runs):
    return runs[-1]

def repaired(rows):
    runs = {{}}
    for k, t in rows:
        runs.setdefault(k, []).append(t)
    times = {{k: {pick}(runs[k]) for k in sorted(runs)}}
    least = min(times)
    t0 = {baseline}
    table = []
    for k in times:
        s = {gain}
        table.append((k, s, {e}))
    return table
"""


WRONG = {
    "1-1": [
        (0, "those are positions in the list", _crossing(found="(n, first)", keep="n")),
        (
            0,
            "the count before the fall comes first",
            _crossing(found="(first, k)", end="(first, None)"),
        ),
        (0, "the count before the fall is missing", _crossing(found="first", end="first")),
        (1, "a row exactly at the floor still keeps it", _crossing(test="e > floor")),
        (
            2,
            "even without a fall there are two values",
            _crossing(found="(k, first) if first else None"),
        ),
        (2, "where nothing (None) was expected", _crossing(end="(workers[-1], first)")),
        (
            1,
            "what counts is the fall that lasts",
            """
def crossing(workers, efficiency, floor):
    last = None
    for count, value in zip(workers, efficiency):
        if value < floor:
            return last, count
        last = count
    return last, None
""",
        ),
        (1, "gives a wrong answer", _crossing(test="e >= floor - 0.001")),
        (
            1,
            "gives another kind of value",
            _crossing().replace(
                "    first = None",
                "    if efficiency[0] < floor: return None, workers[0]\n    first = None",
                1,
            ),
        ),
    ],
    "1-2": [
        (3, "that is a percentage", _share(share="100 * k * (1 - e) / (k - 1)")),
        (3, "that is the speedup itself", _share(share="k * e")),
        (3, "that is the efficiency, a share of K", _share(share="e")),
        (3, "that is the idle share of the workers", _share(share="1 - e")),
        (3, "no K reaches its ceiling", _share(share="k * e * (1 / (k * e))")),
        (2, "round up, not down", _share(workers="int(t / (1 - t) * (1 - f) / f)")),
        (2, "only the part 1 - s is divided", _share(workers="math.ceil(t / (1 - t) / f - 1e-9)")),
        (2, "not a whole number", _share(workers="t / (1 - t) * (1 - f) / f")),
        (2, "1 - E is the idle share of the row", _share(serial="1 - e")),
        (2, "a share of the ceiling", _share(workers="int(1 + (1 / t - 1) / f)")),
        (3, "a difference of shares", _share(saved="job.wanted - job.enough")),
        (3, "asked is how many fewer", _share(saved="math.ceil(need(job.enough))")),
        (
            3,
            "work out both sizes, then subtract",
            _share(saved="math.ceil(need(job.wanted - job.enough))"),
        ),
        (
            2,
            "gives a wrong answer",
            _share(workers="min(1000, math.ceil(t / (1 - t) * (1 - f) / f))"),
        ),
        (
            2,
            "gives a wrong answer",
            _share(workers="min(2**16, math.ceil(t / (1 - t) * (1 - f) / f))"),
        ),
        (2, "wrong", _share(workers="max(1, round(t / (1 - t) * (1 - f) / f))")),
    ],
    "1-3": [
        (3.2, "the gain is their ratio", _doubling(gain="1 / t2 - 1 / t")),
        (3.2, "the serial part does not get faster", _doubling(gain="2")),
        (3.2, "a gain above 1 means faster", _doubling(gain="t2 / t")),
        (3.2, "that is the efficiency before the step", _doubling(efficiency="1 / (k * t)")),
        (3.2, "that is how much efficiency is kept", _doubling(efficiency="t / t2 / 2")),
        (3.2, "divide by 2K, not by K", _doubling(efficiency="1 / (k * t2)")),
        (2.4, "that is the bill per hour", _doubling(bill="2")),
        (3.2, "the bill for the job grows by less", _doubling(stop="1")),
        (2.4, "below 1 the job would get cheaper", _doubling(bill="t / t2 / 2", stop="0")),
        (2.4, "divide by the gain", _doubling(bill="2 * t / t2", stop="0")),
        (
            3.2,
            "compare with the size before the step",
            _doubling(stop="max(k for k in powers if k * f + 1 - f <= most)"),
        ),
        (
            3.2,
            "already costs more than `per_doubling`",
            _doubling(stop="2 * next(k for k in powers if bill(k, f) > most)"),
        ),
        (
            3.2,
            "still within `most`",
            _doubling(stop="max(1, next(k for k in powers if bill(k, f) > most) // 2)"),
        ),
        (2.4, "it holds no bill", _doubling(stop="8").replace(", 2 * t2 / t", "")),
        (3.2, "you have made several", _doubling(dearer="plan.most")),
        (3.2, "or the count itself", _doubling(dearer="bought")),
        (3.2, "was already too dear", _doubling(dearer="work(2 * bought)")),
        (
            3.2,
            "the first ones cost less",
            _doubling(dearer="plan.most ** (bought.bit_length() - 1)"),
        ),
        (
            3.2,
            "gives a wrong answer",
            _doubling(stop="next((k for k in powers[:11] if bill(k, f) > most), 1024)"),
        ),
        (
            3.2,
            "gives a wrong answer",
            _doubling(stop="next((k for k in powers[:17] if bill(k, f) > most), 2**16)"),
        ),
    ],
    "2-1": [
        (2, "speedup comes before efficiency", _sweep(row="k, t, 1 / t / k, 1 / t")),
        (2, "that efficiency is a percentage", _sweep(row="k, t, 1 / t, 100 / t / k")),
        (2, "that is the ideal line", _sweep(row="k, 1 / k, k, 1")),
        (3, "0 is the smallest fraction", _sweep(most="0")),
        (3, "K - 1, not K", _sweep(most="0.25 / k")),
        (3, "not for 0.2", _sweep(most="1 if k == 1 else 0.2 / (k - 1)")),
        (3, "that is the job's own fraction", _sweep(most="f")),
        (1, "raised an exception", _sweep(most="0.25 / (k - 1)")),
        (
            3,
            "asked is the first below",
            _sweep(limits="1 / f, [k for k in workers if e(k, f) >= 0.5][-1]"),
        ),
        (
            3,
            "the ceiling is its limit",
            _sweep(
                limits="workers[-1] * e(workers[-1], f), "
                "next((k for k in workers if e(k, f) < 0.5), None)"
            ),
        ),
        (
            3,
            "not the parallel part",
            _sweep(limits="1 / (1 - f), next((k for k in workers if e(k, f) < 0.5), None)"),
        ),
        (1, "gives a wrong answer", _sweep().replace("k in workers:", "k in sorted(workers):")),
        (
            1,
            "another number of values",
            _sweep().replace("k in workers:", "k in dict.fromkeys(workers):"),
        ),
        (
            3,
            "gives a wrong answer",
            _sweep(limits="1 / f, next((k for k in workers if e(k, f) <= 0.5), None)"),
        ),
        (
            3,
            "gives",
            _sweep(
                limits="1 / f, next((b for a, b in zip(workers, workers[1:]) if e(b, f) < 0.5), None)"
            ),
        ),
    ],
    "2-2": [
        (2.5, "the worker that would do the job alone", _usable("int((most - 1) / f)")),
        (2.5, "the job already costs more", _usable("math.ceil(1 + (most - 1) / f)")),
        (2.5, "of one GPU's that is 0.375", _usable("int(1 + (1 - 1 / most) / f + 1e-9)")),
        (2.5, "that is the ceiling of the speedup", _usable("round(1 / f)")),
        (2.5, "K GPUs cost K times as much per hour", _usable("int(most)")),
        (5.5, "raised an exception", _usable(zero="False")),
        (4, "1 - E is the idle share", _usable(claim="usable(1 - s / k, 1 / floor)")),
        (4, "see Karp and Flatt", _usable(claim="usable(1 / s, 1 / floor)")),
        (4, "with fewer GPUs it falls too", _usable(claim="int(s / floor)")),
        (
            5,
            "on one GPU fewer it would fit",
            _usable(fits="2 + int((1 / slide.floor - 1) / implied)"),
        ),
        (5, "speedup falls too", _usable(fits="int(slide.reported / slide.floor)")),
        (5, "asked is how many times smaller", _usable(cut="(1 / slide.floor - 1) / (1 / e - 1)")),
        (5, "the efficiency has to rise", _usable(cut="slide.floor / e")),
        (5, "asked are serial fractions", _usable(cut="(1 - e) / (1 - slide.floor)")),
        (5, "not within 1 and 1000", _usable(cut="implied")),
        (2.5, "wrong", _usable("max(1, round(1 + (most - 1) / f))")),
        (2.5, "gives a wrong answer", _usable("min(1000, int(1 + (most - 1) / f))")),
        (2.5, "gives a wrong answer", _usable("min(2**16, int(1 + (most - 1) / f))")),
        (4, "gives a wrong answer", _usable(claim="min(k, usable(serial, 1 / floor))")),
        (4, "gives a wrong answer", _usable(claim="min(10_000, usable(serial, 1 / floor))")),
    ],
    "2-3": [
        (0, "a falling efficiency alone is no overhead", _diagnose(words="overhead " * 4)),
        (0, "two words are swapped", _diagnose(words="baseline overhead serial open")),
        (0, "watch e(K)", _diagnose(words="overhead baseline baseline open", number="efficiency")),
        (0, "at 2% each, what may e(2) be?", _diagnose(w="0")),
        (0, "not the right word", _diagnose(words="more less same dark")),
        (3, "rows in any order", _diagnose(t1="seconds[0]")),
        (3, "rows in any order", _diagnose(few="any")),
        (0, "gives a wrong answer", _diagnose().replace("t1 * (1 - w)", "t1")),
        (0, "gives a wrong answer", _diagnose().replace("times[k] * (1 + w)", "times[k]")),
    ],
    "3-1": [
        (3, "that is the T(1) for an efficiency of 1", _audit(baseline="k * t")),
        (3, "a lower efficiency belongs to a shorter T(1)", _audit(baseline="k * t / e")),
        (3, "the workers are missing", _audit(baseline="e * t")),
        (3, "below 0 nothing shows", _audit(penalty="reported - k * t")),
        (3, "that is the time saved", _audit(penalty="reported - t")),
        (3, "that is how far E exceeds 1", _audit(penalty="reported / (k * t) - 1")),
        (
            3,
            "follows from your own `lost`",
            _audit(lost="audited.alone - audited.seconds"),
        ),
        (3, "that is the time saved", _audit(lost="audited.alone - audited.seconds")),
        (
            3,
            "that is in min",
            _audit(lost="(audited.alone - audited.devices * audited.seconds) / 60"),
        ),
        (
            3,
            "and a time is asked for",
            _audit(
                lost="'3 GB'", flattered="1 - audited.devices * audited.seconds / audited.alone"
            ),
        ),
        (
            3,
            "the growth over the honest speedup",
            _audit(flattered="lost / (audited.alone - lost)"),
        ),
        (3, "that is a percentage", _audit(flattered="100 * lost / audited.alone")),
    ],
    "3-2": [
        (2, "still too large: round up", _saturation(workers="max(1, total // room)")),
        (
            2,
            "it need not be a power of two",
            _saturation(workers="2 ** max(0, math.ceil(math.log2(total / room)))"),
        ),
        (2, "asked is the fastest", _saturation(workers="math.ceil(total / room2)")),
        (2, "they fit the second level", _saturation(efficiency="fast / slow")),
        (
            2,
            "that is the speedup",
            _saturation(efficiency="fast / alone * math.ceil(total / room)"),
        ),
        (2, "the time falls as the bandwidth grows", _saturation(efficiency="alone / fast")),
        (2, "reads from a slower level", _saturation(efficiency="1")),
        (2, "it holds no efficiency", _saturation().replace(", fast / alone", ",")),
        (2, "wrong", _saturation(workers="max(1, round(total / room))")),
        (2, "gives a wrong answer", _saturation(workers="min(1000, math.ceil(total / room))")),
        (2, "gives a wrong answer", _saturation(workers="min(2**16, math.ceil(total / room))")),
        (
            2,
            "gives a wrong answer",
            _saturation(
                efficiency="fast / (fast if total <= room else levels[1][1] if total <= room2 else slow)"
            ),
        ),
    ],
    "3-3": [
        (4 / 3, "it would stay at 1.25 for ever", _outlook(time="t * k0 / k")),
        (4 / 3, "that is the speedup", _outlook(reported="t1 / time", honest="(s + p) / time")),
        (
            4 / 3,
            "the two are swapped",
            _outlook(reported="(s + p) / time / k", honest="t1 / time / k"),
        ),
        (8 / 3, "pays the serial part once", _outlook(honest="t * k0 / time / k")),
        (8 / 3, "that still uses the reported baseline", _outlook(honest="t1 / time / k")),
        (8 / 3, "no honest efficiency stays at 1", _outlook(honest="1")),
        (
            8 / 3,
            "one more",
            _outlook(ends="(n.alone - n.anchor * (n.seconds - n.serial)) / n.serial"),
        ),
        (
            8 / 3,
            "take them off",
            _outlook(ends="(n.alone - n.anchor * n.seconds) / n.serial + 1"),
        ),
        (8 / 3, "asked is the reported one", _outlook(ends="2")),
        (8 / 3, "but from above 1", _outlook(ends="n.anchor + 1")),
    ],
    "3-4": [
        (0, "that keeps only the last run", _repaired(pick="last")),
        (0, "that is the mean", _repaired(pick="mean")),
        (0, "that compares the fastest runs", _repaired(pick="min")),
        (0, "it is what ran first", _repaired(baseline="times[rows[0][0]]")),
        (
            2,
            "the smallest count's own speedup is 1",
            _repaired(gain="least * t0 / times[k]", e="s / k"),
        ),
        (2, "the baseline had 8 workers", _repaired(e="s / k")),
        (2, "efficiency divides it by 1, 2 and 4", _repaired(e="s")),
        (
            0,
            "the rows come in growing order",
            _repaired().replace("sorted(runs)", "runs"),
        ),
        (
            0,
            "is not the right number",
            """
def repaired(rows):
    seconds = dict(rows)
    baseline = rows[0][1]
    return [(k, baseline / seconds[k], baseline / seconds[k] / k) for k in sorted(seconds)]
""",
        ),
        (0, "take their mean", _repaired(pick="median_high")),
        (0, "take their mean", _repaired(pick="median_low")),
        (0, "gives a wrong answer", _repaired(baseline="max(times.values())")),
    ],
}


def _serial(n):
    return (1 / n.efficiency - 1) / (n.workers - 1)


def _needed(n, share):
    return share / (1 - share) * (1 / _serial(n) - 1)


def _cut(n):
    return (n.workers / n.reported - 1) / (1 / n.floor - 1)


def _largest(n):
    return 1 + (n.workers - 1) / _cut(n)


def _from_whole(value):
    """Return how far a value is from the next whole number: rounding must not be a gamble."""
    return abs(value - round(value))


def _bought(n):
    """Return the workers whose doubling multiplies the bill by exactly as much as is allowed."""
    return (n.most - 1) / (2 - n.most) * (1 - n.serial) / n.serial


def _falls(n):
    return (n.alone - n.anchor * (n.seconds - n.serial)) / n.serial


def _slips_apart(n):
    """Return the least distance between the right count of task 3.3 and the counts of slips."""
    ends = int(_falls(n)) + 1
    counts = sorted((ends, ends - 1, ends - n.anchor, n.anchor + 1, 2))
    return min(after - before for before, after in pairwise(counts))


BOUNDS = {
    "1-2": {
        "serial fraction": (_serial, 0.01, 0.1),
        "GPUs saved": (lambda n: _needed(n, n.wanted) - _needed(n, n.enough), 20, 1500),
        "wanted, from whole": (lambda n: _from_whole(_needed(n, n.wanted)), 0.02, 0.5),
        "enough, from whole": (lambda n: _from_whole(_needed(n, n.enough)), 0.02, 0.5),
    },
    "1-3": {
        "GPUs bought": (_bought, 8, 300),
        "from a power of two": (lambda n: _from_whole(math.log2(_bought(n))), 0.03, 0.5),
    },
    "2-2": {
        "GPUs that fit": (_largest, 4, 200),
        "from whole": (lambda n: _from_whole(_largest(n)), 0.1, 0.5),
        "cut": (_cut, 1.2, 32),
        "slips apart": (lambda n: abs(int(_largest(n)) + 1 - int(n.reported / n.floor)), 1, 200),
    },
    "3-1": {"reported efficiency": (lambda n: n.alone / n.devices / n.seconds, 1.05, 2.5)},
    "3-3": {
        "reported efficiency": (lambda n: n.alone / n.anchor / n.seconds, 1.1, 1.4),
        "devices": (_falls, 12, 60),
        "from whole": (lambda n: _from_whole(_falls(n)), 0.05, 0.5),
        "slips apart": (_slips_apart, 1, 60),
    },
}

_ZERO = "drawn numbers never meet the threshold exactly, and the question leaves equality open"
SURVIVORS = {
    "1-3: doubling(workers, serial)[2] <= per_doubling → doubling(workers, serial)[2] < per_doubling": _ZERO,
    "2-3: low[many] > 1.25 * high[few] → low[many] >= 1.25 * high[few]": _ZERO,
    "2-3: high[many] < 0.75 * low[few] → high[many] <= 0.75 * low[few]": _ZERO,
    "2-3: low[many] >= 0.75 * high[few] → low[many] > 0.75 * high[few]": _ZERO,
    "2-3: high[many] <= 1.25 * low[few] → high[many] < 1.25 * low[few]": _ZERO,
}
