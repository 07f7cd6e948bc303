"""Six right answers to each of two real tasks of 01_speedup, in six styles, and copies of one of them."""

CROSSING = [
    """
def crossing(workers, efficiency, floor):
    last, first = None, None
    for i in range(len(workers)):
        if efficiency[i] >= floor:
            last = workers[i]
            first = None
        elif first is None:
            first = workers[i]
    return last, first
""",
    """
def crossing(workers, efficiency, floor):
    good = [i for i, e in enumerate(efficiency) if e >= floor]
    if not good:
        return None, workers[0]
    i = good[-1]
    return workers[i], (workers[i + 1] if i + 1 < len(workers) else None)
""",
    """
def crossing(workers, efficiency, floor):
    w = np.array(workers)
    ok = np.array(efficiency) >= floor
    below = len(ok) - int(np.argmax(ok[::-1])) if ok.any() else 0
    left = int(w[below - 1]) if below > 0 else None
    right = int(w[below]) if below < len(w) else None
    return left, right
""",
    """
def crossing(workers, efficiency, floor):
    position = len(workers) - 1
    while position >= 0 and efficiency[position] < floor:
        position -= 1
    before = workers[position] if position >= 0 else None
    after = workers[position + 1] if position < len(workers) - 1 else None
    return before, after
""",
    """
def crossing(workers, efficiency, floor):
    if len(workers) == 0:
        return None, None
    if efficiency[-1] >= floor:
        return workers[-1], None
    last, first = crossing(workers[:-1], efficiency[:-1], floor)
    return last, workers[-1] if first is None else first
""",
    """
from itertools import takewhile

def crossing(workers, efficiency, floor):
    table = list(zip(workers, efficiency))[::-1]
    lost = [k for k, e in takewhile(lambda pair: pair[1] < floor, table)]
    kept = table[len(lost):]
    return (kept[0][0] if kept else None), (lost[-1] if lost else None)
""",
]
REPAIRED = [
    """
from collections import defaultdict
from statistics import median

def repaired(rows):
    times = defaultdict(list)
    for k, t in rows:
        times[k].append(t)
    counts = sorted(times)
    base = counts[0]
    out = []
    for k in counts:
        s = median(times[base]) / median(times[k])
        out.append((k, s, s * base / k))
    return out
""",
    """
import pandas as pd

def repaired(rows):
    frame = pd.DataFrame(rows, columns=["K", "T"]).groupby("K")["T"].median().sort_index()
    frame = frame.reset_index()
    frame["S"] = frame["T"].iloc[0] / frame["T"]
    frame["E"] = frame["S"] * frame["K"].iloc[0] / frame["K"]
    return [tuple(row) for row in frame[["K", "S", "E"]].itertuples(index=False)]
""",
    """
def repaired(rows):
    table = np.array([list(row) for row in rows], dtype=float)
    ks = np.unique(table[:, 0])
    med = np.array([np.median(table[table[:, 0] == k, 1]) for k in ks])
    gain = med[0] / med
    eff = gain / (ks / ks[0])
    return [(int(a), float(b), float(c)) for a, b, c in zip(ks, gain, eff)]
""",
    """
from itertools import groupby

def repaired(rows):
    result, first = [], None
    for k, group in groupby(sorted(rows, key=lambda r: r[0]), key=lambda r: r[0]):
        middle = np.median([seconds for _, seconds in group])
        first = first or (k, middle)
        speed = first[1] / middle
        result.append((k, speed, speed / (k / first[0])))
    return result
""",
    """
def med(xs):
    xs = sorted(xs)
    h = len(xs) // 2
    return xs[h] if len(xs) % 2 else (xs[h - 1] + xs[h]) / 2

def repaired(rows):
    ks = []
    for row in rows:
        if row[0] not in ks:
            ks.append(row[0])
    ks.sort()
    t0 = med([row[1] for row in rows if row[0] == ks[0]])
    res = []
    for k in ks:
        t = med([row[1] for row in rows if row[0] == k])
        res += [(k, t0 / t, t0 * ks[0] / (t * k))]
    return res
""",
    """
def repaired(rows):
    by_count = {k: np.median([t for other, t in rows if other == k]) for k, _ in rows}
    smallest = min(by_count)
    alone = by_count[smallest] * smallest
    return [
        (k, by_count[smallest] / by_count[k], alone / (by_count[k] * k)) for k in sorted(by_count)
    ]
""",
]
# Of the first and of the fifth style: names, comments, layout and numbers' form changed, lines moved.
COPIES = {
    "answer-1-1": """
def crossing( workers , efficiency , floor ):
    # my own idea
    after = None; before = None
    for index in range(len(workers)):
        # still good
        if efficiency[index] >= floor:
            after = None
            before = workers[index]
        elif after is None:
            after = workers[index]

    return (before, after)
""",
    "answer-3-4": """
def middle_of(numbers):
    half = len(numbers) // 2
    numbers = sorted(numbers)
    return numbers[half] if len(numbers) % 2 else (numbers[half - 1] + numbers[half]) / 2

def repaired(rows):
    different = []
    for line in rows:
        if line[0] not in different:
            different.append(line[0])
    answer = []
    different.sort()
    start = middle_of([line[1] for line in rows if line[0] == different[0]])
    for workers in different:
        now = middle_of([line[1] for line in rows if line[0] == workers])
        answer += [(workers, start / now, start * different[0] / (now * workers))]
    return answer
""",
}
