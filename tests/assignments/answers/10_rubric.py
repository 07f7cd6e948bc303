"""Answers to assignment 41.6: another correct style, and what students plausibly get wrong.

ALTERNATIVE maps an answer cell to a correct answer in another style than the reference's.
WRONG maps a task to (points, what the check must say, answer): the points when it is graded.
"""

ALTERNATIVE = {
    "answer-1-1": """
import numpy as np

efficiency = slide.alone / slide.seconds / slide.workers
bill = slide.price / 3600 * slide.workers * slide.seconds
wasted = np.float64(bill * (1 - efficiency))
markup = 1 / np.float32(efficiency)
""",
    "answer-1-2": """
import numpy as np

at = {p: np.float64(p * t / 3600) for p, t in zip(workers, seconds)}
k = talk.between
steep = (at[32] - at[k]) / (dict(zip(workers, seconds))[k] - 250)
flat = (at[k] - 1) / (3600 - dict(zip(workers, seconds))[k])
verdicts = (
    ["CONTRADICTED", "Supported"][int(at.get(talk.workers, 0) > talk.times)],
    "open",
    "supported " if steep / flat > talk.dearer else "contradicted",
    "Open",
)
if talk.workers == 64:
    verdicts = ("open", *verdicts[1:])
""",
    "answer-2-1": """
import numpy as np

def passing(rows, tolerance):
    table = np.array(sorted(rows, key=lambda row: row[0]), dtype=float)
    return table[table[:, 1] >= table[0, 1] - tolerance, 0].astype(int)
""",
    "answer-2-2": """
import pandas as pd

def recommend(rows, tolerance, floor, deadline):
    table = pd.DataFrame(rows, columns=["k", "t", "rate", "q"]).sort_values("k")
    base = table.iloc[0]
    table["E"] = base.k * base.t / (table.k * table.t)
    table["cost"] = table.rate * table.t
    table = table[(table.q >= base.q - tolerance) & (table.E >= floor)]
    if deadline is not None:
        table = table[table.t <= deadline]
    by = "t" if deadline is None else "cost"
    return 0 if table.empty else table.sort_values(by).k.iloc[0]
""",
    "answer-2-3": """
import numpy as np

def decide(base, row, tolerance, quantile):
    loss = np.array(base) - np.array(row)
    error = np.sqrt(loss.var(ddof=1) / len(loss))
    if loss.mean() + quantile * error <= tolerance:
        return "Pass"
    if loss.mean() - quantile * error > tolerance:
        return "FAIL"
    return "undecided"
""",
    "answer-3-1": """
import numpy as np

ceiling = np.reciprocal(wall.serial)
half = int(np.ceil(ceiling)) + 1
lost = wall.seconds * wall.workers - wall.alone
share = f"{100 * wall.exposed * wall.workers / lost} %"
share = wall.exposed * wall.workers / lost
""",
    "answer-3-2": """
import numpy as np

record = json.loads(records.to_json(data.capstone()))
of = {k: [p for p in record["passes"] if p["workers"] == k] for k in (1, 2, 4)}
times = {k: np.median([p["seconds"] for p in runs]) for k, runs in of.items()}
quality = np.mean([p["quality"] for p in of[2]])
claim = {"workers": np.int64(2), "speedup": round(times[1] / times[2], 4)}
claim["efficiency"] = claim["speedup"] / 2
claim["quality"] = round(quality, 4)
claim["cost_per_work"] = of[2][0]["rate"] * times[2] / 3600 / of[2][0]["work"]
""",
    "answer-3-3": """
word = {True: "Supported", False: "contradicted "}
import numpy as np
from scipy.stats import ttest_ind

passes = data.capstone().passes
logs = {k: np.log([p.seconds for p in passes if p.workers == k]) for k in (1, 2, 4)}
found = ttest_ind(logs[1], logs[claims.workers], equal_var=False).confidence_interval(0.9)
review = dict(
    speedup="undecided"
    if found.low < np.log(claims.speedup) < found.high
    else word[np.log(claims.speedup) <= found.low],
    accuracy=word[claims.loss > 0.119814],
    cause=word[claims.part < 0.1326],
    energy="not measured",
)
""",
}

_CLAIM = """
record = json.loads(records.to_json(data.capstone()))
from scalelab.rubric import rubric
rows = {r.workers: r for r in rubric.judge(rubric.of_passes(data.capstone())).rows}
def told(k):
    names = ("workers", "speedup", "efficiency", "quality", "cost_per_work")
    return {name: getattr(rows[k], name) for name in names}
"""

_TALK = """
first = {8: 1.244, 16: 1.511, 32: 2.222}.get(talk.workers, 0) > talk.times
verdicts = ["open" if talk.workers == 64 else "supported" if first else "contradicted", "open"]
verdicts += ["supported" if talk.dearer < 50 else "contradicted", "open"]
next_word = {"supported": "contradicted", "contradicted": "supported", "open": "supported"}
"""

_CLAIMS = """
low, high = {2: (1.599, 1.784), 4: (1.563, 1.718)}[claims.workers]
holds = claims.speedup <= low, claims.loss > 0.12, claims.part < 0.13
words = ["supported" if one else "contradicted" for one in holds]
other = ["contradicted" if one else "supported" for one in holds]
if low < claims.speedup < high:
    words[0], other[0] = "undecided", "supported"
review = dict(zip(["speedup", "accuracy", "cause", "energy"], [*words, "not measured"]))
"""

_PASSING = """
def passing(rows, tolerance):
    base = {}
    return sorted(k for k, q in rows if base - q <= tolerance)
""".format

_RECOMMEND = """
def recommend(rows, tolerance, floor, deadline):
    first, alone, _, best = {}
    kept = [r for r in rows if best - r[3] <= tolerance and {} >= floor]
    if deadline is None:
        return min(kept, key=lambda r: r[1])[0] if kept else 0
    kept = [r for r in kept if r[1] <= deadline]
    return min(kept, key=lambda r: {})[0] if kept else 0
""".format
_EFFICIENCY = "first * alone / (r[0] * r[1])"

_DECIDE = """
def decide(base, row, tolerance, quantile):
    losses = [b - r for b, r in zip(base, row)]
    n, loss = len(losses), statistics.mean(losses)
    margin = {}
    if loss + margin <= tolerance:
        return "pass"
    return "fail" if loss - margin > tolerance else "undecided"
""".format

WRONG = {
    "1-1": [
        (
            1,
            "that is the whole bill; a part of it did buy work",
            "wasted = slide.workers * slide.seconds * slide.price / 3600\n"
            "markup = slide.workers * slide.seconds / slide.alone",
        ),
        (
            1,
            "the price is per hour, and the times are in seconds",
            "wasted = (slide.workers * slide.seconds - slide.alone) * slide.price\n"
            "markup = slide.workers * slide.seconds / slide.alone",
        ),
        (
            1,
            "that is the waste of one worker; the bill is for all of them",
            "wasted = (slide.seconds - slide.alone / slide.workers) * slide.price / 3600\n"
            "markup = slide.workers * slide.seconds / slide.alone",
        ),
        (
            0,
            "that is what the work is worth on one worker; asked is the rest",
            "wasted = slide.alone * slide.price / 3600\n"
            "markup = slide.alone / slide.seconds / slide.workers",
        ),
        (
            2,
            "that is the efficiency; the markup is above 1",
            "wasted = (slide.workers * slide.seconds - slide.alone) * slide.price / 3600\n"
            "markup = slide.alone / slide.seconds / slide.workers",
        ),
        (
            2,
            "that is the speedup; the large run also pays for its workers",
            "wasted = (slide.workers * slide.seconds - slide.alone) * slide.price / 3600\n"
            "markup = slide.alone / slide.seconds",
        ),
        (
            2,
            "that is how much dearer it is; asked is how many times as much",
            "wasted = (slide.workers * slide.seconds - slide.alone) * slide.price / 3600\n"
            "markup = slide.workers * slide.seconds / slide.alone - 1",
        ),
    ],
    "1-2": [
        (3, "is there a row of that size", _TALK + "verdicts[0] = next_word[verdicts[0]]"),
        (3, "and nobody timed either", _TALK + 'verdicts[1] = "supported"'),
        (3, "both fit", _TALK + 'verdicts[1] = "contradicted"'),
        (
            3,
            "divide the dollars added by the hours saved, for both steps",
            _TALK + "verdicts[2] = next_word[verdicts[2]]",
        ),
        (3, "it can be worked out", _TALK + 'verdicts[2] = "open"'),
        (3, "what does the seed alone do?", _TALK + 'verdicts[3] = "supported"'),
        (3, "one run of each size cannot tell", _TALK + 'verdicts[3] = "contradicted"'),
        (2, "expected one of", _TALK + 'verdicts[::2] = ["none"] * 2'),
    ],
    "2-1": [
        (
            0,
            "the first row of the list need not be the baseline: take the fewest workers",
            "def passing(rows, tolerance):\n"
            "    return sorted(k for k, q in rows if rows[0][1] - q <= tolerance)",
        ),
        (
            0,
            "nobody fails for being better: a gate asks only what was lost",
            "def passing(rows, tolerance):\n"
            "    base = min(rows)[1]\n"
            "    return sorted(k for k, q in rows if abs(base - q) < tolerance + 1e-9 and q <= base)",
        ),
        (
            0,
            "a loss of exactly the tolerance passes",
            "def passing(rows, tolerance):\n"
            "    base = min(rows)[1]\n"
            "    return sorted(k for k, q in rows if base - q < tolerance)",
        ),
        (
            0,
            "in ascending order, please",
            "def passing(rows, tolerance):\n"
            "    base = min(rows)[1]\n"
            "    return [k for k, q in rows if base - q <= tolerance]",
        ),
        *(
            (0, "on fresh inputs:", _PASSING(base))
            for base in ("max(rows)[1]", "max(q for _, q in rows)", "dict(rows)[1]")
        ),
    ],
    "2-2": [
        (
            1,
            "the fastest row lost more quality than is accepted: it ranks nowhere",
            """def recommend(rows, tolerance, floor, deadline):
    first, alone, _, best = min(rows)
    if deadline is None:
        kept = [r for r in rows if first * alone / (r[0] * r[1]) >= floor]
        return min(kept, key=lambda r: r[1])[0]
    kept = [r for r in rows if r[1] <= deadline and first * alone / (r[0] * r[1]) >= floor]
    return min(kept, key=lambda r: r[1] * r[2])[0] if kept else 0""",
        ),
        (
            0,
            "that is the fastest of all rows; the gate and the floor come first",
            "def recommend(rows, tolerance, floor, deadline):\n"
            "    return min(rows, key=lambda r: r[1])[0]",
        ),
        (
            1,
            "without a deadline the fastest is asked for, and not the cheapest",
            """def recommend(rows, tolerance, floor, deadline):
    first, alone, _, best = min(rows)
    kept = [r for r in rows if best - r[3] <= tolerance]
    kept = [r for r in kept if first * alone / (r[0] * r[1]) >= floor]
    kept = [r for r in kept if deadline is None or r[1] <= deadline]
    return min(kept, key=lambda r: r[1] * r[2])[0] if kept else 0""",
        ),
        (
            1,
            "with a deadline the cheapest run that meets it is enough",
            """def recommend(rows, tolerance, floor, deadline):
    first, alone, _, best = min(rows)
    kept = [r for r in rows if best - r[3] <= tolerance]
    kept = [r for r in kept if first * alone / (r[0] * r[1]) >= floor]
    kept = [r for r in kept if deadline is None or r[1] <= deadline]
    return min(kept, key=lambda r: r[1])[0] if kept else 0""",
        ),
        (
            0,
            "that one does not meet the deadline: say 0",
            """def recommend(rows, tolerance, floor, deadline):
    first, alone, _, best = min(rows)
    kept = [r for r in rows if best - r[3] <= tolerance]
    kept = [r for r in kept if first * alone / (r[0] * r[1]) >= floor]
    return min(kept, key=lambda r: r[1])[0]""",
        ),
        *(
            (1, "gives a wrong answer", _RECOMMEND(base, efficiency, bill))
            for base, efficiency, bill in (
                ("max(rows, key=lambda r: r[1])", _EFFICIENCY, "r[1] * r[2]"),
                ("rows[0]", _EFFICIENCY, "r[1] * r[2]"),
                ("max(rows, key=lambda r: r[3])", _EFFICIENCY, "r[1] * r[2]"),
                ("min(rows)", "alone / (r[0] * r[1])", "r[1] * r[2]"),
                ("min(rows)", _EFFICIENCY, "r[0] * r[1]"),
                ("min(rows)", _EFFICIENCY, "r[2]"),
            )
        ),
    ],
    "2-3": [
        (
            0,
            "that compares the means alone; the margin is missing",
            "def decide(base, row, tolerance, quantile):\n"
            "    loss = statistics.mean(base) - statistics.mean(row)\n"
            '    return "pass" if loss <= tolerance else "fail"',
        ),
        (
            0,
            "pair the seeds: take the spread of the losses, not of the qualities",
            """def decide(base, row, tolerance, quantile):
    loss = statistics.mean(base) - statistics.mean(row)
    spread = (statistics.variance(base) + statistics.variance(row)) ** 0.5
    margin = quantile * spread / len(base) ** 0.5
    if loss + margin <= tolerance:
        return "pass"
    return "fail" if loss - margin > tolerance else "undecided\"""",
        ),
        (
            0,
            "upside down: a loss is the baseline minus the row",
            """def decide(base, row, tolerance, quantile):
    losses = [b - a for a, b in zip(base, row)]
    loss = statistics.mean(losses)
    margin = quantile * statistics.stdev(losses) / len(losses) ** 0.5
    if -loss - margin > tolerance:
        return "pass"
    return "fail" if -loss + margin <= tolerance else "undecided\"""",
        ),
        *(
            (0, "gives a wrong answer", _DECIDE(margin))
            for margin in (
                "quantile * statistics.pstdev(losses) / n**0.5",
                "quantile * statistics.stdev(losses) / (n - 1) ** 0.5",
                "quantile * statistics.stdev(losses)",
                "quantile * statistics.stdev(losses) / n",
                "statistics.stdev(losses) / n**0.5",
                "2 * statistics.stdev(losses) / n**0.5",
            )
        ),
    ],
    "3-1": [
        (
            3,
            "that is the measured speedup; the ceiling is what the fit allows on any number",
            "ceiling = wall.alone / wall.seconds\n"
            "half = 1 + math.ceil(1 / wall.serial)\n"
            "share = wall.exposed / (wall.seconds - wall.alone / wall.workers)",
        ),
        (
            1,
            "there the efficiency is still above one half",
            "ceiling = 1 / wall.serial\n"
            "half = math.ceil(1 / wall.serial)\n"
            "share = wall.exposed / wall.seconds",
        ),
        (
            1,
            "that is its share of the whole time; asked is its share of what is lost",
            "ceiling = 1 / wall.serial\n"
            "half = math.ceil(1 / wall.serial)\n"
            "share = wall.exposed / wall.seconds",
        ),
        (
            1,
            "that is half the ceiling",
            "ceiling = 1 / wall.serial\n"
            "half = (1 + math.ceil(1 / wall.serial)) // 2\n"
            "share = wall.exposed / (wall.alone - wall.seconds)",
        ),
        (
            1,
            "lost is what the ideal time on that many workers falls short of, not what was saved",
            "ceiling = 1 / wall.serial\n"
            "half = (1 + math.ceil(1 / wall.serial)) // 2\n"
            "share = wall.exposed / (wall.alone - wall.seconds)",
        ),
        (
            2,
            "that is the share of everything else",
            "ceiling = 1 / wall.serial\n"
            "half = 1 + math.ceil(1 / wall.serial)\n"
            "share = 1 - wall.exposed / (wall.seconds - wall.alone / wall.workers)",
        ),
        *(
            (
                3,
                "is not the right answer",
                f"""
ceiling = 1 / wall.serial
half = {half}
share = wall.exposed / (wall.seconds - wall.alone / wall.workers)
""",
            )
            for half in (
                "next((k for k in range(1, 1001) if 1 + wall.serial * (k - 1) >= 2), 0)",
                "math.ceil(1 / wall.serial) + 2",
                "wall.workers",
            )
        ),
    ],
    "3-2": [
        (
            4,
            "the record does not support it: the largest size does not keep the floor or the quality",
            _CLAIM + "claim = told(4)",
        ),
        (
            4,
            "a larger size keeps the floor and the quality too, and is faster",
            _CLAIM + "claim = told(1)",
        ),
        (
            5,
            "that is the speedup of the largest size; claim the one that you recommend",
            _CLAIM + 'claim = told(2) | {"speedup": told(4)["speedup"]}',
        ),
        (
            5,
            "that is the efficiency of the largest size; claim the one that you recommend",
            _CLAIM + 'claim = told(2) | {"efficiency": told(4)["efficiency"]}',
        ),
        (
            5,
            "that is the quality of another size; all numbers are of one row",
            _CLAIM + 'claim = told(2) | {"quality": told(4)["quality"]}',
        ),
        (
            5,
            "that is the cost of another size; all numbers are of one row",
            _CLAIM + 'claim = told(2) | {"cost_per_work": told(4)["cost_per_work"]}',
        ),
        (
            0,
            "`record` cannot be read, and this is judged by it",
            _CLAIM + 'claim = told(2)\nrecord["passes"][3]["seconds"] /= 2',
        ),
    ],
    "3-3": [
        (2.25, "which part of the interval", _CLAIMS + 'review["speedup"] = other[0]'),
        (2.25, "all of it must be allowed", _CLAIMS + 'review["accuracy"] = other[1]'),
        (2.25, "which part of it that was", _CLAIMS + 'review["cause"] = other[2]'),
        (2.25, "was timed in every pass", _CLAIMS + 'review["cause"] = "not measured"'),
        (2.25, "no joules in the record", _CLAIMS + 'review["energy"] = "contradicted"'),
    ],
}

_SECONDS = {1: 3600, 4: 1010, 8: 560, 16: 340, 32: 250}


def _dearer(n):
    """Return how many times as dear an hour saved is on the second part of the way."""
    one, two, three = ((k * _SECONDS[k], _SECONDS[k]) for k in (1, n.between, 32))
    return (three[0] - two[0]) / (two[1] - three[1]) * (one[1] - two[1]) / (two[0] - one[0])


def _from_bill(n):
    """Return how far the claimed bill is from that of the table, and 1 where there is no row."""
    bill = n.workers * _SECONDS.get(n.workers, 0) / 3600
    return abs(bill / n.times - 1) if bill else 1.0


def _fitted(n):
    """Return what the fit of the study says of its largest size."""
    return n.alone * (n.serial + (1 - n.serial) / n.workers)


_ENDS = {2: (1.599, 1.784), 4: (1.563, 1.718)}  # of the recorded speedups, 95% each

BOUNDS = {
    "1-2": {
        "first, from the bill": (_from_bill, 0.05, 1.1),
        "third, from the table": (lambda n: abs(_dearer(n) / n.dearer - 1), 0.4, 8),
    },
    "3-3": {
        "speedup, from the ends of its interval": (
            lambda n: min(abs(end / n.speedup - 1) for end in _ENDS[n.workers]), 0.03, 1.3,
        ),
        "loss, from the end of its interval": (lambda n: abs(0.1198 / n.loss - 1), 0.2, 2),
        "part, from the shortfall": (lambda n: abs(0.1326 / n.part - 1), 0.1, 1),
    },
    "1-1": {
        "efficiency": (lambda n: n.alone / n.seconds / n.workers, 0.2, 0.7),
        "markup": (lambda n: n.workers * n.seconds / n.alone, 1.4, 5),
        "waste and work apart": (
            lambda n: abs(n.workers * n.seconds / n.alone - 2), 0.05, 4,
        ),
    },
    "3-1": {
        "clock over fit": (lambda n: n.seconds / _fitted(n), 0.95, 1.05),
        "half, beyond a short search": (lambda n: 1 + 1 / n.serial, 1050, 2600),
        "ceiling far from whole": (lambda n: abs(1 / n.serial % 1 - 0.5), 0, 0.48),
        "share": (lambda n: n.exposed / (n.seconds - n.alone / n.workers), 0.05, 0.45),
    },
}  # fmt: skip

_FAR = "no claim that is drawn lies near to what the table or the record holds"
SURVIVORS = {
    "1-2: bill > talk.times → bill >= talk.times": _FAR,
    "1-2: dearer > talk.dearer → dearer >= talk.dearer": _FAR,
    "3-3: four.gate.high <= claims.loss → four.gate.high < claims.loss": _FAR,
    "3-3: judged_study.shortfall.low >= claims.part → judged_study.shortfall.low > claims.part": _FAR,
    "3-2: 0.02 → 1.02": "the recorded four workers miss the floor, too; the rule is graded in 2.2",
    "3-2: statistics.mean((one['quality'] for one in record['passes']… → "
    "statistics.median((one['quality'] for one in record['passes…": (
        "each seed of the recorded size that is chosen has the same accuracy"
    ),
}

NEEDS = {"3-2": ["2-2"]}

FIXED = {
    "1-2 verdicts 1": "what nobody measured stays open",
    "1-2 verdicts 3": "what one run of each size leaves open stays open",
    "3-3 review energy": "what the record does not hold",
}
