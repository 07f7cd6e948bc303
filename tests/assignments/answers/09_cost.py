"""Answers to assignment 3.9: another correct style, and what students plausibly get wrong.

The student can multiply a price by hours and has read of MFU. What each task diagnoses:

1-1  takes whatever is called utilization for a share of the peak
1-2  divides an HFU by four thirds whatever was repeated; lets repeated work shorten a run
1-3  reads one rank for all; takes a share for a factor
2-1  hides more than there is compute; takes the smallest in time for the cheapest
2-2  believes that a faster device makes all of the job faster
2-3  forgets that one machine stops them all; waits for nobody
3-1  fits a form that has no falling term; lets a cost be negative
3-2  counts in seconds, pays one GPU, charges the efficiency twice
3-3  decides by the best guess alone, or by size instead of by bill
"""

ALTERNATIVE = {
    "answer-1-1": """
asked, ran = 1 + 2, 1 + 1 + 2
def word(passes, peak=989e12):
    return {(asked, 989e12): "MFU", (ran, 989e12): "HFU "}.get((passes, peak), "Neither")

line_a = line_e = np.array(["neither"])[0]
line_b, line_c, line_d, line_f = word(lines.b / 2), word(4), word(6 / 2, lines.d), word(lines.f)
""",
    "answer-1-2": """
def honest(hfu, again):
    asked, ran = 1 + 2, 1 + again + 2
    return np.float64(hfu * asked / ran)

ratio = honest(teams.hfu, teams.again) / np.float32(1) / teams.mfu
per_second = teams.gpus * 989e12 * teams.mfu * ratio
days = np.float64(6 * teams.billions * teams.trillions * 1e21 / per_second / (24 * 60 * 60))
""",
    "answer-1-3": """
import pandas as pd

def cure(ranks):
    table = pd.DataFrame(ranks, columns=["compute", "transfer", "waiting", "idle"])
    means = table.mean()
    loss = means.drop("compute")
    if not loss.any():
        return ["nothing", 1]
    return [loss.idxmax(), np.float64(means.sum() / (means.sum() - loss.max()))]
""",
    "answer-2-1": """
def hours(gpus, steps, batch, rate, exchange, hide):
    busy = np.float64(batch) / gpus / rate
    hidden = min(hide * exchange, 2 * busy / 3)
    return (busy + exchange - hidden) * steps / 60 / 60

def take(offers, deadline, *job):
    rows = [(hours(gpus, *job) * hourly, gpus) for gpus, hourly in offers
            if not hours(gpus, *job) > deadline]
    return min(rows)[1] if rows else 0

mine = (run.steps, batch, run.rate, run.exchange, run.hide)
best = np.int64(take(offers, run.deadline, *mine))
bill = [hourly for gpus, hourly in offers if gpus == best][0] * hours(best, *mine)
""",
    "answer-2-2": """
def bill_ratio(share, gain, price):
    return np.float64(price) / (1 / ((1 - share) + share / gain))

def needed(gain, price):
    share = gain * (price - 1) / price / (gain - 1)
    return share if share <= 1 + 1e-12 else float("inf")

fair = newer.gain / (newer.share + newer.gain - newer.gain * newer.share)
""",
    "answer-2-3": """
def lasting(machines, one, write, restart):
    mttf = failures.mean_time_to_failure(one, machines)
    return failures.useful_share(failures.daly_interval(write, mttf), write, restart, mttf)

def most_machines(ratio, one, write, restart):
    if lasting(1, one, write, restart) <= ratio:
        return np.int64(0)
    sizes = np.arange(1, 20_000)
    return sizes[lasting(sizes, one, write, restart) > ratio].max()

bill = np.float64(spot.ratio) / lasting(spot.machines, 3600 * spot.hours, 60, 300)
late = bill / spot.ratio * (1 + spot.machines * 0.5 / spot.hours)
""",
    "answer-3-1": """
from scipy.optimize import lsq_linear

def forecasts(workers, seconds, at):
    n, t = np.array(workers, float), np.array(seconds, float)
    form = [np.ones_like, np.positive, np.log, np.reciprocal]
    a = np.stack([f(n) for f in form], axis=1)
    first = np.linalg.pinv(a[:, :3]) @ t
    scale = np.linalg.norm(a / t[:, None], axis=0)
    bounds = (0, np.inf)
    second = lsq_linear(a / t[:, None] / scale, np.ones(len(t)), bounds, method="bvls").x / scale
    at = np.array([f(np.float64(at)) for f in form])
    return [at[:3] @ first, at @ second]
""",
    "answer-3-2": """
def repaired(tokens_per_second, gpus, price, efficiency, kept):
    lasting_per_hour = tokens_per_second * 3600 * kept
    return np.float64(gpus * price * 1e6) / lasting_per_hour

millions = purse.budget / repaired(
    purse.tokens_per_second, purse.gpus, purse.price, purse.efficiency, purse.kept
)
""",
    "answer-3-3": """
def order(rows, deadline):
    table = np.array(rows, dtype=float)
    answers = []
    for column in (3, 2):
        left = table[table[:, column] <= deadline]
        bills = left[:, 0] * left[:, 2]
        answers.append(np.int64(left[bills.argmin(), 0]) if len(left) else None)
    return answers

def undecided(rows, deadline):
    return np.array(sorted(r[0] for r in rows if r[1] <= deadline and r[3] > deadline), dtype=int)
""",
}


_LINES = """
words = ["neither", "mfu", "hfu"]
line_a, line_c, line_e = "neither", "hfu", "neither"
line_b, line_d = words[[2, 6, 8].index(lines.b)], words[lines.d < 1e15]
line_f = words[[1, 3, 4].index(lines.f)]
"""


def _line(letter, word=""):
    """Right but for one line; without a word, that one gets the word that it would have next."""
    return _LINES + f"line_{letter} = {word!r} or words[words.index(line_{letter}) - 1]"


def _teams(honest="h * 3 / (3 + r)", ratio="true(h, r) / a", days="run / true(h, r)"):
    return f"""
def honest(h, r):
    return {honest}

def true(h, r):
    return h * 3 / (3 + r)

a, h, r = teams.mfu, teams.hfu, teams.again
run = 6e21 * teams.billions * teams.trillions / (teams.gpus * 989e12) / 86400
ratio = {ratio}
days = {days}
"""


def _cure(means="[sum(x) / len(x) for x in zip(*ranks)]", factor="step / (step - lost)", none=""):
    nothing = none or "\n    if lost == 0:\n        return 'nothing', 1.0"
    return f"""
def cure(ranks):
    mean = [sum(x) / len(x) for x in zip(*ranks)]
    used = {means}
    step, lost = sum(mean), max(used[1:])
    name = ("transfer", "waiting", "idle")[used[1:].index(lost)]{nothing}
    return name, {factor}
"""


_EXPOSED = "max((1 - hide) * exchange, exchange - 2 / 3 * busy)"


def _offer(
    exposed=_EXPOSED,
    unit="3600",
    left="took <= deadline",
    key="hourly * took",
    best="chosen",
    bill="dict(offers)[best] * true(best)",
    none="0",
):
    return f"""
def hours(gpus, steps, batch, rate, exchange, hide):
    busy = batch / (gpus * rate)
    return steps * (busy + {exposed}) / {unit}

def right(gpus, steps, batch, rate, exchange, hide):
    busy = batch / (gpus * rate)
    return steps * (busy + {_EXPOSED}) / 3600

def take(offers, deadline, *job):
    rows = [(gpus, hourly, right(gpus, *job)) for gpus, hourly in offers]
    rows = [({key}, gpus) for gpus, hourly, took in rows if {left}]
    return min(rows)[1] if rows else {none}

def true(gpus):
    return right(gpus, run.steps, batch, run.rate, run.exchange, run.hide)

chosen = min((hourly * true(g), g) for g, hourly in offers if true(g) <= run.deadline)[1]
best = {best}
bill = {bill}
"""


def _newer(
    ratio="p * (1 - s + s / g)",
    needed="(1 - 1 / p) / (1 - 1 / g)",
    never="float('inf')",
    fair="1 / (1 - s + s / g)",
):
    return f"""
def bill_ratio(s, g, p):
    return {ratio}

def needed(g, p):
    return {never} if p > g else {needed}

s, g = newer.share, newer.gain
fair = {fair}
"""


def _spot(most="k", between="one / k", cost="300", bill="q / kept", late="(1 + wait / mu) / kept"):
    return f"""
def share(k, one, write, restart):
    mu = {between}
    return failures.useful_share(failures.daly_interval(write, mu), write, restart, mu)

def most_machines(ratio, one, write, restart):
    k = 0
    while share(k + 1, one, write, {"restart" if cost == "300" else cost}) > ratio and k < 9999:
        k += 1
    return {most}

q, wait, one = spot.ratio, 1800, 3600 * spot.hours
mu = one / spot.machines
kept = failures.useful_share(failures.daly_interval(60, mu), 60, 300, mu)
single = failures.useful_share(failures.daly_interval(60, one), 60, 300, one)
bill = {bill}
late = {late}
"""


_LEAST = "np.linalg.lstsq({}, {}, rcond=None)[0]".format
_FREE = _LEAST("form[:, :3]", "t")
_SHARES, _ONES = "form / t[:, None]", "np.ones(len(t))"


def _forms(first=_FREE, second=f"nnls({_SHARES}, {_ONES})[0]", answer="found"):
    return f"""
from scipy.optimize import nnls

def forecasts(workers, seconds, at):
    def columns(n):
        n = np.array(n, float)
        return np.stack([n**0, n, np.log(n), 1 / n], axis=1)
    form, t = columns(workers), np.array(seconds, float)
    found = [columns([at])[0, : len(x)] @ x for x in ({first}, {second})]
    return {answer}
"""


def _tokens(repaired="g * p / (0.0036 * t * k)", millions="b * 0.0036 * t * k / (g * p)"):
    return f"""
def repaired(t, g, p, e, k):
    return {repaired}

t, g, p, e, k = purse.tokens_per_second, purse.gpus, purse.price, purse.efficiency, purse.kept
b = purse.budget
millions = {millions}
"""


def _order(
    sure="r[3] <= deadline",
    hoped="r[2] <= deadline",
    key="r[0] * r[2]",
    pair="pick(a), pick(b)",
    none="None",
    held="r[1] <= deadline < r[3]",
):
    return f"""
def order(rows, deadline):
    def pick(left):
        return min(left, key=lambda r: {key})[0] if left else {none}
    a = [r for r in rows if {sure}]
    b = [r for r in rows if {hoped}]
    return {pair}

def undecided(rows, deadline):
    return sorted(r[0] for r in rows if {held})
"""


_SEVENTH = 4 / 7
WRONG = {
    "1-1": [
        (2.5, "no operations", _line("a", "mfu")),
        (2.5, "no operations", _line("a", "hfu")),
        (2.5, "those asked for, those that run, or others", _line("b")),
        (2.5, "the profiler saw some twice", _line("c", "mfu")),
        (
            2.5,
            "which does the run multiply",
            _line("d").replace("words.index(line_d) - 1", "lines.d > 1e15"),
        ),
        (2.5, "is not in the formula", _line("d", "hfu")),
        (2.5, "compares the run with itself", _line("e", "mfu")),
        (2.5, "is it as many as are asked for", _line("f")),
        (1.5, "expected one of", _LINES + "line_a = line_b = line_c = 'x'"),
    ],
    "1-2": [
        (2, "only where the whole forward pass", _teams("h * 3 / 4")),
        (2, "upside down", _teams("h * (3 + r) / 3")),
        (2, "counts as two forward passes", _teams("h / (1 + r)")),
        (2, "is not the part that is repeated", _teams("h * (1 - r)")),
        (3, "with the other's HFU", _teams(ratio="h / a")),
        (3, "how much faster the other team is", _teams(ratio="a / true(h, r)")),
        (3, "which nobody reaches", _teams(days="run")),
        (3, "work that advances nothing", _teams(days="run / h")),
        (3, "the other team's run", _teams(days="run / a")),
        (3, "those are hours", _teams(days="24 * run / true(h, r)")),
        (3, "those are seconds", _teams(days="86400 * run / true(h, r)")),
    ],
    "1-3": [
        (1, "average first", _cure("[max(x) for x in zip(*ranks)]")),
        (1, "the share that is lost", _cure(factor="lost / step")),
        (1, "divide the old step by the new one", _cure(factor="1 + lost / step")),
        (1, "upside down", _cure(factor="1 - lost / step")),
        (1, "the largest alone", _cure(factor="step / mean[0]")),
        (3, "nothing", _cure(none=" ")),
        (1, "gives a wrong answer", _cure("list(np.median(ranks, axis=0))")),
        (1, "gives a wrong answer", _cure("ranks[0]")),
        (1, "gives a wrong answer", _cure("ranks[-1]")),
    ],
    "2-1": [
        (4 - 2 * _SEVENTH, "in both of these runs a part shows", _offer("0")),
        (4 - 2 * _SEVENTH, "hides nothing of the exchange", _offer("exchange")),
        (4 - 2 * _SEVENTH, "than the backward pass lasts", _offer("(1 - hide) * exchange")),
        (
            4 - 2 * _SEVENTH,
            "only a part of the exchange can hide",
            _offer("max(0, exchange - 2 / 3 * busy)"),
        ),
        (4 - 2 * _SEVENTH, "those are minutes", _offer(unit="60")),
        (4 - 2 * _SEVENTH, "those are seconds", _offer(unit="1")),
        (4 - 2 * _SEVENTH, "not always the cheapest run", _offer(key="gpus")),
        (4 - 3 * _SEVENTH, "there it ends too late", _offer(left="True")),
        (4 - 2 * _SEVENTH, "that is the fastest", _offer(key="took")),
        (4 - 2 * _SEVENTH, "gives a wrong answer", _offer(key="hourly")),
        *(
            (4 - 2 * _SEVENTH, "gives a wrong answer", _offer().replace(" in offers]", once))
            for once in (" in dict(offers).items()]", " in dict(offers[::-1]).items()]")
        ),
        (4 - _SEVENTH, "nothing in time", _offer(none="8")),
        (4 - _SEVENTH, "the fastest is not asked for", _offer(best="8 * run.block")),
        (4 - _SEVENTH, "follows from your own `best`", _offer(best="8 * run.block")),
        (
            4 - _SEVENTH,
            "the run ends before the deadline",
            _offer(bill="dict(offers)[best] * run.deadline"),
        ),
        (4 - _SEVENTH, "those are hours; asked are dollars", _offer(bill="true(best)")),
    ],
    "2-2": [
        (3.2, "only a part of the job", _newer("p / g")),
        (3.2, "a bill has a price in it", _newer("1 - s + s / g")),
        (3.2, "that is the old bill over the new one", _newer("1 / (p * (1 - s + s / g))")),
        (3.2, "not the speeds", _newer("p / (1 + s * (g - 1))")),
        (2.4, "is the bill at a share of one", _newer(needed="p / g")),
        (2.4, "becomes shorter", _newer(needed="(p - 1) / (g - 1)")),
        (2.4, "which may stay as it was", _newer(needed="1 - (1 - 1 / p) / (1 - 1 / g)")),
        (3.2, "returned 1.2", _newer(never="(1 - 1 / p) / (1 - 1 / g)")),
        (3.2, "so much only if all", _newer(fair="g")),
        (3.2, "ask which price undoes it", _newer(fair="1 - s + s / g")),
        (3.2, "average the times, not the speeds", _newer(fair="1 + s * (g - 1)")),
    ],
    "2-3": [
        (2.4, "the dearer one already", _spot("k + (k > 0)")),
        (2.4, "one more is still cheaper", _spot("k - 1 if k else 0")),
        (2.4, "a restart is billed", _spot(cost="0")),
        (2.4, "gives a wrong answer", _spot("min(k, 1000)")),
        (3.2, "are billed", _spot(bill="q")),
        (3.2, "for a single machine", _spot(bill="q / single")),
        (3.2, "the wait is not billed", _spot(bill="q / kept * (1 + wait / mu)")),
        (3.2, "have to be waited for", _spot(late="1 / kept")),
        (3.2, "for a single machine", _spot(late="1 / single")),
        (3.2, "a wait for each machine", _spot(late="(1 + wait / one) / kept")),
        (3.2, "asked is a time", _spot(late="q * (1 + wait / mu) / kept")),
    ],
    "3-1": [
        (0, "comes first", _forms(answer="found[::-1]")),
        (0, "has no d/N", _forms(_LEAST("form", "t"))),
        (0, "one term more", _forms(second=f"nnls(({_SHARES})[:, :3], {_ONES})[0]")),
        (0, "still fitted like the first", _forms(second=_LEAST("form", "t"))),
        (0, "one of these costs is below zero", _forms(second=_LEAST(_SHARES, _ONES))),
        (0, "fit them again", _forms(second=f"np.maximum({_LEAST(_SHARES, _ONES)}, 0)")),
        (0, "errors are relative", _forms(second="nnls(form, t)[0]")),
        (0, "on the seconds as they are", _forms(_LEAST(f"({_SHARES})[:, :3]", _ONES))),
    ],
    "3-2": [
        (1, "what the colleague's function returns", _tokens("1e6 / t * p / e / k")),
        (1, "makes seconds, not hours", _tokens("1e6 / t * g * p / k")),
        (1, "all of them are paid", _tokens("p / (0.0036 * t * k)")),
        (1, "has the efficiency in it already", _tokens("g * p / (0.0036 * t * k * e)")),
        (1, "has the efficiency in it already", _tokens("g * p * e / (0.0036 * t * k)")),
        (1, "buys no lasting token", _tokens("g * p / (0.0036 * t)")),
        (1, "dearer, not cheaper", _tokens("g * p * k / (0.0036 * t)")),
        (3, "some of those do not last", _tokens(millions="b * 0.0036 * t / (g * p)")),
        (
            3,
            "the measured rate has the efficiency in it",
            _tokens(millions="b * 0.0036 * t * k * e / (g * p)"),
        ),
        (3, "asked are millions of them", _tokens(millions="b * 3600 * t * k / (g * p)")),
    ],
    "3-3": [
        (1, "the sure one comes first", _order(pair="pick(b), pick(a)")),
        (1, "the whole interval is in time", _order(sure="r[2] <= deadline")),
        (2, "not always the cheapest", _order(key="r[0]")),
        (2, "gives a wrong answer", _order(key="r[0] * r[3]")),
        (2, "gives a wrong answer", _order(key="r[0] * r[1]")),
        (1, "that is the fastest", _order(key="r[2]")),
        (3, "None", _order(none="0")),
        (3, "that surely keep it", _order(held="r[1] <= deadline")),
        (3, "that surely miss it", _order(held="r[3] > deadline")),
    ],
}


def _took(n, gpus):
    """Return the hours of a run on an offer of task 2.1."""
    busy = 64 * n.block / gpus / n.rate
    return n.steps / 3600 * (busy + n.exchange - min(n.hide * n.exchange, busy * 2 / 3))


def _offers(n):
    return {k * n.block: k * n.block * each for k, each in ((1, 2.6), (2, 2.4), (4, 2), (8, 2))}


def _in_time(n):
    """Return bills and sizes of the offers in time, cheapest first."""
    return sorted(
        (bill * _took(n, g), g) for g, bill in _offers(n).items() if _took(n, g) <= n.deadline
    )


def _lead(n):
    bills = [bill for bill, _ in _in_time(n)]
    return bills[1] / bills[0] if len(bills) > 1 else 0.0


def _late(n):
    """Return preemptions in a day, by the machines of task 2.3."""
    return 24 * n.machines / n.hours


def _words_of(n):
    by_passes = {3: "mfu", 4: "hfu"}
    words = [by_passes.get(passes, "neither") for passes in (n.b / 2, n.f)]
    return [*words, "mfu" if n.d < 1e15 else "neither", "neither", "hfu", "neither"]


BOUNDS = {
    "1-1": {
        "MFUs": (lambda n: _words_of(n).count("mfu"), 1, 3),
        "HFUs": (lambda n: _words_of(n).count("hfu"), 1, 3),
    },
    "1-2": {
        "B over A": (lambda n: n.hfu / (1 + n.again / 3) / n.mfu, 0.7, 1.6),
        "far from equal": (lambda n: abs(n.hfu / (1 + n.again / 3) / n.mfu - 1), 0.01, 0.6),
        "days": (
            lambda n: 6e21 * n.billions * n.trillions / n.gpus / 989e12 / n.mfu / 86400,
            0.3,
            100,
        ),
    },
    "2-1": {
        "offers in time": (lambda n: len(_in_time(n)), 2, 4),
        "cheapest is not the smallest in time": (
            lambda n: float(_in_time(n)[0][1] > min(g for _, g in _in_time(n))),
            1,
            1,
        ),
        "lead over the next bill": (_lead, 1.02, 2),
        "far from the deadline": (
            lambda n: min(abs(_took(n, g) / n.deadline - 1) for g in _offers(n)),
            0.02,
            1,
        ),
    },
    "2-2": {"fair price": (lambda n: n.gain / (n.share + n.gain * (1 - n.share)), 1.3, 3.6)},
    "2-3": {"preemptions a day": (_late, 2, 45)},
    "3-2": {
        "million tokens": (
            lambda n: n.budget * 0.0036 * n.tokens_per_second * n.kept / n.gpus / n.price,
            5000,
            2e6,
        )
    },
}

_ZERO = "drawn numbers never meet the threshold exactly, and the question leaves equality open"
SURVIVORS = {
    "2-1: took <= deadline → took < deadline": _ZERO,
    "2-3: ratio < kept(machines + 1, one, write, restart) → "
    "ratio <= kept(machines + 1, one, write, restart)": _ZERO,
    "2-3: 300 → 301": "a second more of restart moves the bill by less than the tolerance",
    "3-1: 1 → 2": "twice the column of 1/N spans the same curves",
}

FIXED = {
    "1-1 line_a": "what no number makes a share of a peak",
    "1-1 line_c": "a count of what ran, in every case",
    "1-1 line_e": "what no number makes a share of a peak",
}
