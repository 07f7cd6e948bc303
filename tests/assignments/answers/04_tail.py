"""Answers to assignment 3.4: another correct style, and what students plausibly get wrong.

ALTERNATIVE maps an answer cell to a correct answer in another style than the reference's.
WRONG maps a task to (points, what the check must say, answer): the points when it is graded.
"""

import math

from scipy import stats

from scalelab.models.waiting import queues

ALTERNATIVE = {
    "answer-1-1": """
from collections import Counter

def merged(histograms, share):
    times = Counter()
    for one in histograms:
        times.update({b: n for b, n in one})
    total, seen = sum(times.values()), 0
    for bound, count in sorted(times.items()):
        seen += count
        if seen >= total * share * (1 - 1e-12):
            return np.int64(bound)
""",
    "answer-1-2": """
def allowed(requests, share, confidence):
    print("counting")
    k = np.arange(0, requests)
    shown = k[stats.binom.cdf(k, requests, 1 - share) <= 1 - confidence]
    return int(shown[-1]) if len(shown) else None

risk = np.float64(stats.binom.pmf(range(trial.slow + 1), trial.requests, 1 - trial.share).sum())
verdict = ["Yes", "b"] if risk <= 0.01 else ["No", "c"]
""",
    "answer-1-3": """
inside = chat.rate * chat.seconds
held = f"{inside * chat.cache / 1e9} GB"
crowd = queues.concurrency_percentile(chat.rate, chat.seconds, share=0.99)
gpus = np.ceil(crowd / np.floor(chat.memory / chat.cache))
""",
    "answer-2-1": """
def by_turns(arrivals, service, servers):
    waits = np.zeros(len(arrivals))
    for k in range(servers):
        free = 0
        for i in range(k, len(arrivals), servers):
            waits[i] = max(free - arrivals[i], 0)
            free = arrivals[i] + waits[i] + service[i]
    return waits

def price(arrivals, service, servers):
    return (by_turns(arrivals, service, servers) - simulated.waiting(arrivals, service, servers)).mean()
""",
    "answer-2-2": """
from scalelab.models.waiting import capacity

def servers_for(rate, service, cap, share):
    if capacity.largest_rate(cap, service, 1, share=share) == 0:
        return None
    c = 1
    while capacity.largest_rate(cap, service, c, share=share) < rate:
        c += 1
    return np.int64(c)

needed = servers_for(pool.rate, pool.service, pool.cap, 0.99)
busy = np.divide(pool.rate * pool.service, needed)
added = servers_for(1.5 * pool.rate, pool.service, pool.cap, 0.99) - needed
""",
    "answer-2-3": """
def slow_pages(slow, calls):
    if not slow:
        return 0
    fast = (1 - slow[0]) * (1 - slow_pages(slow[1:], calls[1:]))
    return 1 - fast ** calls[0]

asked = site.services + site.services * site.shards
each = 1 - (1 - site.pages) ** (1 / asked)
""",
    "answer-3-1": """
def readings(rows, percent):
    answered = np.sort([done - sent for _, sent, done in rows if done is not None])
    users = np.sort([np.inf if done is None else done - planned for planned, _, done in rows])
    pick = lambda times: times[-(-percent * len(times) // 100) - 1]
    felt = pick(users)
    return [pick(answered), felt if np.isfinite(felt) else None]
""",
    "answer-3-2": """
users = drill.pauses / (drill.seconds / drill.pause)
felt = f"{1e3 * (users - 0.01) * drill.seconds / drill.pauses} ms"
until = math.floor(0.01 * drill.seconds * drill.per_second + 1e-9) + 1
notices = [["No", "yes"][bool(drill.more // until)], "B"]
""",
    "answer-3-3": """
def choose(timings, rate, cap):
    best, found = 0, None
    for n, t in sorted(timings):
        if t + (n - 1) / rate <= cap and rate * t < n and n / t > best:
            best, found = n / t, n
    return found

batch = choose(timings, box.rate, box.cap)
longest_wait = f"{1e3 * ((batch - 1) / box.rate + dict(timings)[batch])} ms"
""",
    "answer-3-4": """
import torch

def with_spares(values, workers, spares):
    times, total, before = sorted(values), 0.0, 0.0
    for i, time in enumerate(times, 1):
        p = i / len(times)
        over = sum(math.comb(workers, j) * p**j * (1 - p) ** (workers - j)
                   for j in range(workers - spares, workers + 1))
        total += time * (over - before)
        before = over
    return torch.tensor(total, dtype=torch.float64)

def best_spares(values, workers, most):
    useful = [(workers - b) / float(with_spares(values, workers, b)) for b in range(most + 1)]
    return np.int32(useful.index(max(useful)))
""",
}

_MERGE = """
def at(pairs, share):
    total, seen = sum(n for _, n in pairs), 0
    for bound, n in sorted(pairs):
        seen += n
        if seen >= share * total * (1 - 1e-12):
            return bound

def merged(histograms, share):
    return {found}
"""


_ALL = "at([pair for one in histograms for pair in one], share)"


def _merged(found):
    return _MERGE.format(found=found)


def _allowed(
    end="slow if slow >= 0 else None",
    risk="stats.binom.cdf(trial.slow, trial.requests, 1 - trial.share)",
    verdict='("yes", "b") if risk <= 0.01 else ("no", "c")',
):
    return f"""
def allowed(n, p, c):
    slow = -1
    while stats.binom.cdf(slow + 1, n, 1 - p) <= 1 - c:
        slow += 1
    return {end}

risk = {risk}
verdict = {verdict}
"""


def _chat(
    inside="chat.rate * chat.seconds",
    held="inside * chat.cache",
    crowd="int(stats.poisson.ppf(0.99, inside))",
    gpus="math.ceil(crowd / (chat.memory // chat.cache))",
):
    return f"""
inside = {inside}
held = {held}
crowd = {crowd}
gpus = {gpus}
"""


def _turns(
    start="max(a, free[i % servers])",
    wait="start - a",
    price="np.mean(by_turns(arrivals, service, servers)) - shared.mean()",
):
    return f"""
def by_turns(arrivals, service, servers):
    free, waits = [0.0] * servers, []
    for i, (a, s) in enumerate(zip(arrivals, service)):
        start = {start}
        free[i % servers] = start + s
        waits.append({wait})
    return waits

def price(arrivals, service, servers):
    shared = simulated.waiting(arrivals, service, servers)
    return {price}
"""


_RESPONSE = "queues.response_percentile(rate, service, c, share=share)"
_WAIT = "queues.waiting_percentile(rate, service, c, share=share)"


def _pool(
    grows=f"{_RESPONSE} > cap",
    idle="-service * math.log(1 - share) >= cap",
    found="c",
    needed="right(1)",
    busy="pool.rate * pool.service / needed",
    added="right(1.5) - needed",
):
    return f"""
def servers_for(rate, service, cap, share):
    if {idle}:
        return None
    c = int(rate * service) + 1
    while {grows}:
        c += 1
    return {found}

def right(times):
    c = int(times * pool.rate * pool.service) + 1
    while queues.response_percentile(times * pool.rate, pool.service, c, share=0.99) > pool.cap:
        c += 1
    return c

needed = {needed}
busy = {busy}
added = {added}
"""


def _tree(
    late="1 - ((1 - own) * (1 - late)) ** count",
    end="late",
    each="tail.fan_out_budget(site.pages, site.services * (1 + site.shards))",
):
    return f"""
def slow_pages(slow, calls):
    late = 0.0
    for own, count in zip(slow[::-1], calls[::-1]):
        late = {late}
    return {end}

each = {each}
"""


def _readings(
    told="d - s",
    felt="d - p",
    gone="math.inf",
    end="None if pick(felt) == math.inf else pick(felt)",
):
    return f"""
def readings(rows, percent):
    told = [{told} for p, s, d in rows if d is not None]
    felt = [{gone} if d is None else {felt} for p, s, d in rows]
    felt = [t for t in felt if t is not None]
    def pick(times):
        return sorted(times)[math.ceil(percent * len(times) / 100) - 1]
    return pick(told), {end}
"""


def _drill(
    users="drill.pauses * drill.pause / drill.seconds",
    felt="drill.pause - 0.01 * drill.seconds / drill.pauses",
    until="drill.seconds * drill.per_second // 100 + 1",
    notices='(right, "b")',
):
    return f"""
users = {users}
felt = {felt}
until = {until}
right, other = ("yes", "no") if drill.more > drill.seconds * drill.per_second / 100 else ("no", "yes")
notices = {notices}
"""


def _choose(
    fits="n / t > rate and (n - 1) / rate + t <= cap",
    pick="max(found)[1] if found else None",
    batch="choose(timings, box.rate, box.cap)",
    longest="(batch - 1) / box.rate + dict(timings)[batch]",
):
    return f"""
def choose(timings, rate, cap):
    found = [(n / t, n) for n, t in timings if {fits}]
    return {pick}

batch = {batch}
longest_wait = {longest}
"""


def _spares(
    mean="np.diff(stats.binom.sf(workers - spares - 1, workers, below)) @ times", best=None
):
    best = (
        best
        or "max(range(most + 1), key=lambda b: (workers - b) / with_spares(values, workers, b))"
    )
    return f"""
def with_spares(values, workers, spares):
    times = np.sort(values)
    below = np.arange(len(times) + 1) / len(times)
    return {mean}

def best_spares(values, workers, most):
    return {best}
"""


WRONG = {
    "1-1": [
        (0, "the mean of the servers' own", _merged("np.mean([at(h, share) for h in histograms])")),
        (0, "the worst server's own", _merged("max(at(h, share) for h in histograms)")),
        (0, "one server's percentile", _merged("at(histograms[0], share)")),
        (
            0,
            "that is a count of requests",
            _merged("9901 if share == 0.99 else 9000 if share == 0.5 else 1"),
        ),
        (
            1.5,
            "raised ValueError",
            """
def merged(histograms, share):
    counts = np.sum([[n for _, n in h] for h in histograms], axis=0)
    place = np.ceil(share * counts.sum() - 1e-9)
    return histograms[0][np.searchsorted(np.cumsum(counts), place)][0]
""",
        ),
        (
            1.5,
            "gives a wrong answer",
            _merged(_ALL).replace("share * total", "round(share * total)"),
        ),
        (1.5, "gives a wrong answer", _merged(_ALL).replace("share * total", "int(share * total)")),
        (
            1.5,
            "gives a wrong answer",
            _merged(_ALL).replace("seen >= share * total * (1 - 1e-12)", "seen > share * total"),
        ),
    ],
    "1-2": [
        (3, "luck could have kept them", _allowed(end="int((1 - p) * n + 1e-9)")),
        (3, "no longer", _allowed(end="slow + 1")),
        (3, "the answer is None", _allowed(end="slow")),
        (3, "the share of slow requests", _allowed(risk="trial.slow / trial.requests")),
        (3, "asked is that of such a test", _allowed(risk="1 - trial.share")),
        (
            3,
            "what is missing from it to 1",
            _allowed(risk="stats.binom.sf(trial.slow, trial.requests, 1 - trial.share)"),
        ),
        (
            3,
            "the number itself belongs to it",
            _allowed(risk="stats.binom.cdf(trial.slow - 1, trial.requests, 1 - trial.share)"),
        ),
        (
            3,
            "fewer would have been as good",
            _allowed(risk="stats.binom.pmf(trial.slow, trial.requests, 1 - trial.share)"),
        ),
        (4, "an even chance of being luck", _allowed(verdict='("yes", "a")')),
        (3, "gives a wrong answer", _allowed(end="min(slow, 100) if slow >= 0 else None")),
        (3, "gives a wrong answer", _allowed(end="min(slow, 200) if slow >= 0 else None")),
    ],
    "1-3": [
        (3, "so many would fit", _chat(inside="chat.memory / chat.cache")),
        (3, "each stays for longer", _chat(inside="chat.rate")),
        (3, "about half of the time there are more", _chat(crowd="math.ceil(inside)")),
        (3, "one fewer has room", _chat(crowd="int(stats.poisson.ppf(0.99, inside)) - 1")),
        (3, "not 99% of the room", _chat(crowd="math.ceil(inside / 0.99)")),
        (3, "so many hold the mean", _chat(gpus="math.ceil(inside / (chat.memory // chat.cache))")),
    ],
    "2-1": [
        (
            0,
            "one queue for all",
            _turns().replace(
                "    return waits\n", "    return simulated.waiting(arrivals, service, servers)\n"
            ),
        ),
        (0, "that is the response", _turns(wait="start - a + s")),
        (0, "nobody waits less than nothing", _turns(start="free[i % servers]")),
        (0, "that is one server for all", _turns().replace("i % servers", "0")),
        (
            2.67,
            "that is the sum over all",
            _turns(price="np.sum(by_turns(arrivals, service, servers)) - shared.sum()"),
        ),
        (
            2.67,
            "the other way round",
            _turns(price="shared.mean() - np.mean(by_turns(arrivals, service, servers))"),
        ),
    ],
    "2-2": [
        (2.5, "a user also waits for the service", _pool(grows=f"{_WAIT} > cap", idle="False")),
        (
            2.5,
            "promised is a share",
            _pool(grows="queues.response(rate, service, c) > cap", idle="False"),
        ),
        (
            2.5,
            "the promise needs more",
            _pool(grows="False", found="math.ceil(rate * service)", idle="False"),
        ),
        (2.5, "one fewer than keeps it", _pool(found="c - 1")),
        (
            4.17,
            "not the response",
            _pool(
                needed="next(c for c in range(int(pool.rate * pool.service) + 1, 99) if "
                "queues.waiting_percentile(pool.rate, pool.service, c, share=0.99) <= pool.cap)"
            ),
        ),
        (4.17, "of all of them", _pool(busy="pool.rate * pool.service")),
        (4.17, "how idle each is", _pool(busy="1 - pool.rate * pool.service / needed")),
        (4.17, "so many it takes in all", _pool(added="right(1.5)")),
        (4.17, "do not grow in step", _pool(added="needed / 2")),
        (4.17, "more traffic takes more", _pool(added="needed - right(1.5)")),
        (2.5, "gives a wrong answer", _pool(found="min(c, 100)")),
        (2.5, "gives a wrong answer", _pool(found="min(c, 128)")),
    ],
    "2-3": [
        (2, "10 times 20", _tree(late="1 - (1 - own) ** count * (1 - late)")),
        (2, "share of pages that are fast", _tree(end="1 - late")),
        (2, "do not add up", _tree(late="count * (own + late)")),
        (
            2,
            "the services themselves are slow",
            _tree(
                late="1 - ((1 - own * (count != calls[0] or len(calls) == 1)) * (1 - late)) ** count"
            ),
        ),
        (2, "far more pages would be slow", _tree(each="site.pages")),
        (
            2,
            "the services must be fast, too",
            _tree(each="tail.fan_out_budget(site.pages, site.services * site.shards)"),
        ),
        (
            2,
            "every service asks its own shards",
            _tree(each="tail.fan_out_budget(site.pages, site.services + site.shards)"),
        ),
        (
            2,
            "the shards must be fast, too",
            _tree(each="tail.fan_out_budget(site.pages, site.services)"),
        ),
        (
            2,
            "the share that must be fast",
            _tree(each="1 - tail.fan_out_budget(site.pages, site.services * (1 + site.shards))"),
        ),
    ],
    "3-1": [
        (2, "the tool counts from the sending", _readings(told="d - p")),
        (
            2,
            "the tool knows nothing",
            _readings().replace(
                "pick(told),",
                "[pick([math.inf if d is None else d - s for p, s, d in rows])]"
                "[0] if pick([math.inf if d is None else d - s for p, s, d in rows]) < 9 else None,",
            ),
        ),
        (2, "counts as the slowest of all", _readings(gone="None")),
        (2, "users started as planned", _readings(felt="d - s")),
        (2, "hand in None", _readings(end="pick(felt)")),
        (
            0,
            "wrong",
            _readings().replace(
                "math.ceil(percent * len(times) / 100)", "round(percent * len(times) / 100)"
            ),
        ),
        (
            0,
            "wrong",
            _readings().replace(
                "math.ceil(percent * len(times) / 100)", "(percent * len(times) // 100)"
            ),
        ),
    ],
    "3-2": [
        (3, "more than one pause", _drill(users="drill.pause / drill.seconds")),
        (3, "the longest wait", _drill(felt="drill.pause")),
        (3, "most users did not wait", _drill(felt="0.99 * drill.pause")),
        (
            3,
            "spread over all the pauses",
            _drill(felt="drill.pause - 0.01 * drill.seconds"),
        ),
        (3, "still a fast request", _drill(until="drill.seconds * drill.per_second // 100")),
        (3, "when the users notice", _drill(until="0.01 * drill.seconds / drill.pause")),
        (3, "beside `until`", _drill(notices='(other, "b")')),
        (3, "the client sends nothing", _drill(notices='(right, "a")')),
        (3, "the client sends nothing", _drill(notices='(other, "a")')),
        (3, "a p99 counts requests", _drill(notices='(right, "c")')),
        (3, "a p99 counts requests", _drill(notices='(other, "c")')),
        (
            3,
            "follows from your own `until`",
            _drill(
                until="2 + drill.more // 2 if 100 * drill.more < drill.seconds * drill.per_second "
                "else 2 * drill.more",
                notices='(other, "b")',
            ),
        ),
    ],
    "3-3": [
        (1, "before a batch is served it must fill", _choose(fits="n / t > rate and t <= cap")),
        (
            1,
            "the objective here is throughput",
            _choose(pick="min((n / r, n) for r, n in found)[1] if found else None"),
        ),
        (2, "no batch of this table keeps up", _choose(fits="(n - 1) / rate + t <= cap")),
        (1, "without the limits", _choose(fits="True")),
        (3, "waits too long", _choose(batch="2 * choose(timings, box.rate, box.cap)")),
        (3, "the batch had to fill", _choose(longest="dict(timings)[batch]")),
        (3, "does not wait for itself", _choose(longest="batch / box.rate + dict(timings)[batch]")),
        (
            3,
            "the mean of the batch",
            _choose(longest="(batch - 1) / 2 / box.rate + dict(timings)[batch]"),
        ),
        (2, "gives a wrong answer", _choose(pick="max(n for _, n in found) if found else None")),
        (
            2,
            "gives a wrong answer",
            _choose(fits="n <= 1024 and n / t > rate and (n - 1) / rate + t <= cap"),
        ),
    ],
    "3-4": [
        (0, "the slowest time ever seen", _spares(mean="times[-1]")),
        (0, "the mean of one worker", _spares(mean="times.mean()")),
        (
            0,
            "counted from the other end",
            _spares(mean="np.diff(stats.binom.sf(spares, workers, below)) @ times"),
        ),
        (0, "spares or not", _spares(mean="np.diff(below ** workers) @ times")),
        (2.67, "what is thrown away counts", _spares(best="most")),
        (
            2.67,
            "wrong",
            _spares(
                best="max(range(max(most, 1)), key=lambda b: (workers - b) / with_spares(values, workers, b))"
            ),
        ),
    ],
}


def _chance(k, n, p):
    return sum(math.comb(n, j) * (1 - p) ** j * p ** (n - j) for j in range(k + 1))


def _servers(n, times=1.0):
    c = int(times * n.rate * n.service) + 1
    while _p99(n, times, c) > n.cap:
        c += 1
    return c


def _waits(n):
    c = int(n.rate * n.service) + 1
    while queues.waiting_percentile(n.rate, n.service, c, share=0.99) > n.cap:
        c += 1
    return c


def _p99(n, times, servers):
    return queues.response_percentile(times * n.rate, n.service, servers, share=0.99)


def _near(n, times=1.0):
    """Return how far the p99 of the pool is from its cap, as a share: rounding must not decide."""
    return 1 - _p99(n, times, _servers(n, times)) / n.cap


def _batches(n):
    times = [(k, n.setup + n.each * k) for k in (1, 2, 4, 8, 16, 32, 64)]
    return [k for k, t in times if k / t > n.rate and (k - 1) / n.rate + t <= n.cap]


def _margin(n):
    """Return how near the next limit is, as a share of it."""
    k = max(_batches(n), default=1)
    late = [(j - 1) / n.rate + n.setup + n.each * j for j in (k, 2 * k)]
    return min(abs(t / n.cap - 1) for t in late)


def _notices(n):
    return n.seconds * n.per_second // 100 + 1


def _inside(n, most):
    return stats.poisson.cdf(most, n.rate * n.seconds)


def _crowd(n):
    return int(stats.poisson.ppf(0.99, n.rate * n.seconds))


def _gpus(count, n):
    return math.ceil(count / (n.memory // n.cache))


def _split(ratio):
    return abs(ratio - round(ratio))


BOUNDS = {
    "1-2": {
        "risk": (lambda n: _chance(n.slow, n.requests, n.share), 1e-6, 0.7),
        "from 0.01": (
            lambda n: abs(math.log(100 * _chance(n.slow, n.requests, n.share))),
            0.05,
            10,
        ),
    },
    "1-3": {
        "GPUs": (lambda n: _gpus(_crowd(n), n), 4, 20),
        "more than for the mean": (
            lambda n: _gpus(_crowd(n), n) - _gpus(n.rate * n.seconds, n),
            1,
            5,
        ),
        "from a whole one": (lambda n: _split(n.memory / n.cache), 0.01, 0.5),
        "from the p99": (lambda n: abs(_inside(n, _crowd(n)) - 0.99), 1e-5, 0.01),
        "below the p99": (lambda n: abs(_inside(n, _crowd(n) - 1) - 0.99), 1e-5, 0.01),
    },
    "2-2": {
        "servers": (_servers, 4, 20),
        "servers more than the least": (lambda n: _servers(n) - int(n.rate * n.service), 2, 6),
        "more than the wait needs": (lambda n: _servers(n) - _waits(n), 1, 6),
        "servers added": (lambda n: _servers(n, 1.5) - _servers(n), 1, 8),
        "cap over idle": (lambda n: n.cap / n.service / math.log(100), 1.04, 1.3),
        "from the cap": (_near, 0.001, 0.5),
        "from the cap with more": (lambda n: _near(n, 1.5), 0.001, 0.5),
    },
    "2-3": {"servers of a page": (lambda n: n.services * (1 + n.shards), 15, 1300)},
    "3-2": {
        "p99 of the users": (lambda n: n.pause - 0.01 * n.seconds / n.pauses, 1.5, 9),
        "pauses to notice": (_notices, 10, 220),
        "more, from those": (lambda n: abs(math.log(n.more / _notices(n))), 0.25, 2.5),
        "requests due in one of more pauses": (
            lambda n: n.pauses * n.pause / n.more * n.per_second,
            1.5,
            150,
        ),
    },
    "3-3": {
        "batch": (lambda n: max(_batches(n), default=0), 2, 32),
        "from a limit": (_margin, 0.005, 1),
    },
}

_ZERO = "drawn numbers never meet the limit exactly"
_RESPONSE_CUT = "queues.response_percentile(rate, service, servers, share=sh…"
SURVIVORS = {
    "1-2: stats.binom.cdf(slow + 1, requests, 1 - share) <= 1 - confi… → "
    "stats.binom.cdf(slow + 1, requests, 1 - share) < 1 - confid…": _ZERO,
    "1-2: risk <= 0.01 → risk < 0.01": _ZERO,
    "1-2: 1 → 2": "to begin one lower costs one more turn, and nothing else",
    "2-2: -service * math.log(1 - share) >= cap → -service * math.log(1 - share) > cap": _ZERO,
    f"2-2: {_RESPONSE_CUT} → {_RESPONSE_CUT}": _ZERO,
    "3-2: drill.more >= until → drill.more > until": _ZERO,
    "3-3: n / t > rate → n / t >= rate": _ZERO,
    "3-3: (n - 1) / rate + t <= cap → (n - 1) / rate + t < cap": _ZERO,
}

COMMON = {
    "3-2 notices": "14 of 21: the bounds that keep it equally hard leave few other draws",
}
