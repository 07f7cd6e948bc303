"""Answers to assignment 3.2: another correct style, and what students plausibly get wrong.

The student has bought a machine before and can read a price, not a footnote. What each task diagnoses:

1-1  scales up or out by reflex, whatever the number; names a number that does not decide
1-2  divides by peaks with sparsity, by both directions at once, GB by GiB, bytes by bits
1-3  takes what an upgrade saved for what waited; multiplies factors that belong to two parts
2-1  counts weights for states, lets what every device keeps whole divide, forgets the node
2-2  adds up memories that hold copies; takes the highest stage because it always fits best
2-3  trusts code that runs; does not see that the number of devices cancelled
3-1  repairs one number and keeps the old interval; asks for faster disks by reflex; subtracts
3-2  takes one machine's failures, or one machine's interval, for those of many
3-3  pays in proportion to the gain; compares bills of an hour of fleets that are not equally fast
"""

import math

ALTERNATIVE = {
    "answer-1-1": """
def way(goes_out, why):
    return [["Up", "OUT "][bool(goes_out)], why]

table, film = way(1 / grown.locked > 10, "A"), way(grown.frames - 1, " b")
tune, serve = way(2 * grown.gradients < grown.network, "c"), way(int(grown.weights), "d")
""",
    "answer-1-2": """
utilization = np.float32(2 * sheet.reached / sheet.peak)
hop = f"{2000 * sheet.payload / sheet.link} ms"
advantage = np.float64(sheet.link) / 2 / (sheet.card / 8)
fill = f"{8 * sheet.label * 1.024**3 / sheet.card / 60} min"
""",
    "answer-1-3": """
def memory_share(before, after, faster):
    # Two equations: wait + compute = before, wait / faster + compute = after.
    wait, _ = np.linalg.solve([[1, 1], [1 / faster, 1]], [before, after])
    return wait / before

def forecast(before, after, faster, bandwidth, peak):
    parts = np.linalg.solve([[1, 1], [1 / faster, 1]], [before, after])
    return parts @ np.array([1 / bandwidth, 1 / peak])

seconds = forecast(trial.before, trial.after, trial.faster, trial.bandwidth, trial.peak)
third = f"{seconds * 1000} ms"
most = np.float32(trial.before / seconds)
""",
    "answer-2-1": """
def fewest(parameters, memory_bytes, stage, free, per_node):
    each = [(16, 0), (4, 12), (2, 14), (0, 16)][stage]
    usable = memory_bytes - free * memory_bytes
    if parameters * each[0] > usable or (stage and parameters * each[0] == usable):
        return float("inf")
    nodes = 1
    while parameters * (each[0] + each[1] / (nodes * per_node)) > usable * (1 + 1e-12):
        nodes += 1
    return np.int64(nodes * per_node)
""",
    "answer-2-2": """
def states(parameters, devices):
    k = devices
    return parameters * np.array([16, 4 + 12 / k, 2 + 14 / k, 16 / k])

def stage_for(parameters, memory_bytes, devices, free):
    fits = states(parameters, devices) <= memory_bytes * (1 - free)
    return int(fits.argmax()) if fits.any() else math.inf

stage = stage_for(rack.billions * 1e9, rack.gib * 2**30, rack.devices, rack.free)
left = f"{rack.gib - states(rack.billions * 1e9, rack.devices)[stage] / 2**30} GiB"
""",
    "answer-2-3": """
def devices_for(parameters, gib):
    k = 1
    while k * gib * 2**30 < 16 * parameters:
        k += 1
    return k

def bill(parameters, tokens, serial, offer):
    _, gib, sparse, dollars = offer
    k = devices_for(parameters, gib)
    alone = 6 * parameters * tokens / (0.2 * sparse)
    seconds = alone / k * (1 + serial * (k - 1))
    return np.float64(k * dollars * seconds / 3600)

def cheapest(parameters, tokens, serial, offers):
    bills = [bill(parameters, tokens, serial, offer) for offer in offers]
    return offers[int(np.argmin(bills))][0]
""",
    "answer-3-1": """
def kept(write, restart, mttf):
    return failures.useful_share(failures.daly_interval(write, mttf), write, restart, mttf)

def repairs(write, restart, mttf):
    halves = np.array([[1, 1, 1], [0.5, 1, 1], [1, 0.5, 1], [1, 1, 2]])
    return kept(*(halves * [write, restart, mttf]).T)

always = ["Failures", "b"]
share, aim, *_ = repairs(stop.write, stop.restart, stop.mttf)
low, high = 0, stop.restart
for _ in range(60):
    middle = (low + high) / 2
    low, high = (middle, high) if kept(stop.write, middle, stop.mttf) > aim else (low, middle)
as_good = f"{low / 60} min"
""",
    "answer-3-2": """
def largest_cluster(one, write, restart, floor):
    k = np.arange(1, 400_000)
    mttf = one / k
    share = failures.useful_share(failures.daly_interval(write, mttf), write, restart, mttf)
    return k[share >= floor][-1]

year = 365 * 24 * 3600
machines = largest_cluster(fleet.years * year, fleet.write, fleet.restart, fleet.floor)
save_every = f"{failures.daly_interval(fleet.write, fleet.years * year / machines) / 60} min"
""",
    "answer-3-3": """
def fair_price(target, gain, serial, hourly):
    if target * serial >= 1:
        return float("inf")
    def reached(k):
        return k / (1 + serial * (k - 1))
    small = big = 1
    while reached(small) < target:
        small += 1
    while gain * reached(big) < target:
        big += 1
    hours = 1 / reached(small)  # of the job, where one small machine takes an hour
    return np.float32(hours * small * hourly * gain * reached(big) / big)

pay = f"{fair_price(quote.target, quote.gain, quote.serial, quote.hourly)} $/h"
""",
}


def _first(*flipped, **reason):
    """Go the other way with the jobs of `flipped`, or give another reason; all else is right."""
    return f"""
n = grown
up = {{
    "table": n.locked > 0.5,
    "film": n.frames == 1,
    "tune": n.gradients > n.network / 2,
    "serve": n.weights < 1,
}}
why = {{"table": "a", "film": "b", "tune": "c", "serve": "d"}} | {reason}
table, film, tune, serve = (
    ("up" if up[job] != (job in {flipped}) else "out", why[job]) for job in up
)
"""


def _sheet(
    utilization="2 * n.reached / n.peak",
    hop="2 * n.payload / n.link",
    advantage="4 * n.link / n.card",
    fill="8 * n.label * 2**30 / 1e9 / n.card",
):
    return f"""
n = sheet
utilization = {utilization}
hop = {hop}
advantage = {advantage}
fill = {fill}
"""


def _upgrade(
    share="(1 - b / a) / (1 - 1 / f)",
    forecast="a * (m / w + (1 - m) / p)",
    third="right(*n)",
    most="n[0] / third",
):
    return f"""
n = trial.before, trial.after, trial.faster, trial.bandwidth, trial.peak

def memory_share(a, b, f):
    return {share}

def forecast(a, b, f, w, p):
    m = (1 - b / a) / (1 - 1 / f)
    return {forecast}

def right(a, b, f, w, p):
    m = (1 - b / a) / (1 - 1 / f)
    return a * (m / w + (1 - m) / p)

third = {third}
most = {most}
"""


def _fewest(
    room="m * (1 - free) - n * kept",
    split="n * split",
    count="math.ceil(x / room)",
    nodes="g * math.ceil(k / g)",
    none="room < 0 or (room == 0 and x)",
    kept="16 - (0, 12, 14, 16)[stage]",
    one="nodes(1, g)",
):
    return f"""
def nodes(k, g):
    return {nodes}

def fewest(n, m, stage, free, g):
    kept = {kept}
    split = 16 - (16 - (0, 12, 14, 16)[stage])
    room, x = {room}, {split}
    if {none}:
        return math.inf
    if not x:
        return {one}
    k = {count}
    return nodes(k, g)
"""


def _stage(
    each="n * kept + n * (16 - kept) / k",
    room="m * (1 - free)",
    order="0, 1, 2, 3",
    none="math.inf",
    kepts="16, 4, 2, 0",
    stage="right(n, gib * 2**30, k, free)",
    left="gib * 2**30 - states",
):
    return f"""
def stage_for(n, m, k, free):
    for stage in ({order}):
        kept = ({kepts})[stage]
        if {each} <= {room}:
            return stage
    return {none}

def right(n, m, k, free):
    return next(s for s in range(4) if n * size(k, s) <= m * (1 - free))

def size(k, s):
    return (16, 4 + 12 / k, 2 + 14 / k, 16 / k)[s]

n, gib, k, free = rack.billions * 1e9, rack.gib, rack.devices, rack.free
stage = {stage}
states = n * size(k, stage)
left = {left}
"""


def _bill(width=16, unit="2**30", rate="0.2 * p", slow="1 + s * (k - 1)", pick=None):
    return f"""
def bill(n, t, s, offer):
    name, gib, p, dollars = offer
    k = math.ceil({width} * n / (gib * {unit}))
    return dollars * 6 * n * t / ({rate}) * ({slow}) / 3600

def true(n, t, s, offer):
    name, gib, p, dollars = offer
    k = math.ceil(16 * n / (gib * 2**30))
    return dollars / p * (1 + s * (k - 1))

def cheapest(n, t, s, offers):
    return {pick or "min(offers, key=lambda offer: true(n, t, s, offer))[0]"}
"""


def _repairs(
    shares="kept(w, r, m), kept(w / 2, r, m), kept(w, r / 2, m), kept(w, r, 2 * m)",
    interval="None",
    always="('failures', 'b')",
    as_good="n.restart - n.mttf * math.log(fast / slow)",
):
    return f"""
def kept(w, r, m, t=None):
    return failures.useful_share(t or failures.daly_interval(w, m), w, r, m)

def repairs(w, r, m):
    t = {interval}
    return {shares}

always = {always}
n = stop
slow, fast = (kept(w, n.restart, n.mttf) for w in (n.write, n.write / 2))
as_good = {as_good}
"""


def _cluster(
    interval="failures.daly_interval(w, one / k)",
    restart="r",
    found="low",
    machines="right(fleet.write, fleet.restart)",
    every="failures.daly_interval(w, one / machines)",
):
    return f"""
def search(keeps):
    low, high = 1, 2**22
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if keeps(middle) else (low, middle)
    return low

def largest_cluster(one, w, r, floor):
    def keeps(k):
        t = {interval}
        return failures.useful_share(t, w, {restart}, one / k) >= floor
    low = search(keeps)
    return {found}

one, w = fleet.years * 365 * 86400, fleet.write

def right(w, r):
    def keeps(k):
        t = failures.daly_interval(w, one / k)
        return failures.useful_share(t, w, r, one / k) >= fleet.floor
    return search(keeps)

machines = {machines}
save_every = {every}
"""


def _fair(
    small="math.ceil(count(t))",
    big="math.ceil(count(t / g))",
    price="p * g * bill(small, s) / bill(big, s)",
    never="s * t >= 1",
    pay="right(quote.target, quote.gain, quote.serial, quote.hourly)",
):
    return f"""
def fair_price(t, g, s, p):
    def count(t):
        return t * (1 - s) / (1 - s * t)
    if {never}:
        return math.inf
    small, big = {small}, {big}
    return {price}

def count(t, s):
    return t * (1 - s) / (1 - s * t)

def bill(k, s):
    return 1 + s * (k - 1)

def right(t, g, s, p):
    return p * g * bill(math.ceil(count(t, s)), s) / bill(math.ceil(count(t / g, s)), s)

q = quote
pay = {pay}
"""


_GIB = "* 2**30 / 1e9"
WRONG = {
    "1-1": [
        (2.25, "hardly any of the time, or most", _first("table")),
        (2.25, "those at the lock pass one after the other", _first(table="b")),
        (2.25, "those at the lock pass one after the other", _first("table", table="b")),
        (2.25, "find a piece of their own", _first("film")),
        (2.25, "into how many pieces the film falls", _first(film="a")),
        (2.25, "into how many pieces the film falls", _first("film", film="a")),
        (2.25, "how long that network carries", _first("tune")),
        (2.25, "what decides is the network", _first(tune="d")),
        (2.25, "what decides is the network", _first("tune", tune="d")),
        (2.25, "up ends where the catalogue ends", _first("serve")),
        (2.25, "is not the right answer", _first(serve="b")),
        (0, "expected a pair", "table = film = tune = serve = 'out'"),
    ],
    "1-2": [
        (3, "never meets a peak with sparsity", _sheet("n.reached / n.peak")),
        (3, "upside down", _sheet("n.peak / n.reached / 2")),
        (3, "travels in one direction", _sheet(hop="n.payload / n.link")),
        (3, "in bytes, not in bits", _sheet(hop="16 * n.payload / n.link")),
        (3, "the payload counts GB", _sheet(hop=f"2 * n.payload {_GIB} / n.link")),
        (3, "that is in ms", _sheet(hop="2000 * n.payload / n.link")),
        (3, "the other counts bits", _sheet(advantage="n.link / n.card")),
        (3, "one direction of the fast link", _sheet(advantage="8 * n.link / n.card")),
        (3, "sold in bits", _sheet(advantage="n.link / n.card / 2")),
        (3, "the label counts GiB", _sheet(fill="8 * n.label / n.card")),
        (3, "sold in bits", _sheet(fill=f"n.label {_GIB} / n.card")),
        (3, "goes one way already", _sheet(fill=f"16 * n.label {_GIB} / n.card")),
        (3, "and a time is asked for", _sheet(fill="'80 GB'")),
    ],
    "1-3": [
        (3, "not all of the wait was saved", _upgrade("1 - b / a")),
        (3, "compare the times, not the speeds", _upgrade("(a / b - 1) / (f - 1)")),
        (3, "which the memory did not touch", _upgrade("1 - (1 - b / a) / (1 - 1 / f)")),
        (3, "the time on the first machine", _upgrade("(a / b - 1) / (1 - 1 / f)")),
        (3, "only one part gains from the bandwidth", _upgrade(forecast="a / w")),
        (3, "each shortens its own part", _upgrade(forecast="a / w / p")),
        (3, "the two parts are swapped", _upgrade(forecast="a * (m / p + (1 - m) / w)")),
        (3, "refer to the first machine's time", _upgrade(forecast="b * (m / w + (1 - m) / p)")),
        (3, "gains from the bandwidth", _upgrade(third="n[0] / n[3]")),
        (3, "follows from your own `third`", _upgrade(third="n[0] / n[3]")),
        (3, "gains from the peak", _upgrade(third="n[0] / n[4]")),
        (3, "not their product", _upgrade(most="n[3] * n[4]")),
        (3, "what ends sooner may cost more", _upgrade(most="third / n[0]")),
        (3, "compares with the second machine", _upgrade(most="n[1] / third")),
    ],
    "2-1": [
        (0.8, "round up once more", _fewest(nodes="k")),
        (0.8, "a number of nodes", _fewest(nodes="math.ceil(k / g)")),
        (0.8, "does not divide", _fewest("m * (1 - free)", "n * 16")),
        (0.8, "shall stay free", _fewest("m - n * kept")),
        (0.8, "not of the states", _fewest("m - n * kept * (1 + free)", "n * split * (1 + free)")),
        (0.8, "training keeps 16", _fewest("m * (1 - free)", "2 * n")),
        (1.6, "do not fit: round up", _fewest(count="int(x / room)")),
        (3.2, "raised an exception", _fewest(none="False")),
        (3.2, "a node is the least", _fewest(one="1")),
        (1.6, "wrong", _fewest(count="max(1, round(x / room))")),
        (1.6, "gives a wrong answer", _fewest(count="min(1000, math.ceil(x / room))")),
        (1.6, "gives a wrong answer", _fewest(count="min(2**16, math.ceil(x / room))")),
        (1.6, "wrong", _fewest(nodes="g * max(1, round(k / g))")),
    ],
    "2-2": [
        (2, "asked is the lowest that fits", _stage(order="3, 2, 1, 0")),
        (2, "shall stay free", _stage(room="m")),
        (2, "only where everything is split", _stage("16 * n / k")),
        (2, "the gradients stay whole", _stage(kepts="16, 2, 2, 0")),
        (10 / 3, "holds its share of all the states", _stage(none="3")),
        (10 / 3, "is not the right answer", _stage(stage="right(n, gib * 2**30, k, free) % 3 + 1")),
        (
            10 / 3,
            "follows from your own `stage`",
            _stage(stage="right(n, gib * 2**30, k, free) % 3 + 1"),
        ),
        (10 / 3, "the driver reports GiB", _stage(left="gib * 1e9 - states")),
        (10 / 3, "is empty as well", _stage(left="gib * 2**30 * (1 - free) - states")),
        (10 / 3, "what the states take", _stage(left="states")),
        (10 / 3, "that is in GB", _stage(left="(gib * 2**30 - states) / 1e9")),
    ],
    "2-3": [
        (2, "still the colleague's bill", _bill(2, "1e9", "0.4 * p", "1")),
        (2, "not 2", _bill(2)),
        (2, "fewer devices hold the model", _bill(unit="1e9")),
        (2, "printed with sparsity", _bill(rate="0.4 * p")),
        (2, "the number of devices cancels", _bill(slow="1")),
        (2, "at 40% of its dense peak", _bill(rate="0.5 * p")),
        (2, "makes the run longer", _bill(slow="1 / (1 + s * (k - 1))")),
        (3, "pay for their number", _bill(pick="min(offers, key=lambda o: o[3] / o[2])[0]")),
        (3, "that is the dearest", _bill(pick="max(offers, key=lambda o: true(n, t, s, o))[0]")),
        (
            3,
            "asked is the name",
            _bill(pick="min(range(len(offers)), key=lambda i: true(n, t, s, offers[i]))"),
        ),
        (
            2,
            "wrong",
            _bill().replace(
                "k = math.ceil(16 * n / (gib * 2**30))\n    return dollars * 6",
                "k = max(1, round(16 * n / (gib * 2**30)))\n    return dollars * 6",
            ),
        ),
        (
            2,
            "wrong",
            _bill().replace(
                "k = math.ceil(16 * n / (gib * 2**30))\n    return dollars * 6",
                "k = 16 * n / (gib * 2**30)\n    return dollars * 6",
            ),
        ),
    ],
    "3-1": [
        (
            2,
            "save as often as it then pays",
            _repairs(
                "kept(w, r, m, t), kept(w / 2, r, m, t), kept(w, r / 2, m, t), kept(w, r, 2 * m, t)",
                "failures.daly_interval(w, m)",
            ),
        ),
        (
            2,
            "twice the time between them",
            _repairs("kept(w, r, m), kept(w / 2, r, m), kept(w, r / 2, m), kept(w, r, m / 2)"),
        ),
        (
            2,
            "writing comes before the restart",
            _repairs("kept(w, r, m), kept(w, r / 2, m), kept(w / 2, r, m), kept(w, r, 2 * m)"),
        ),
        (
            2,
            "asked are the shares kept",
            _repairs(
                "[1 - x for x in "
                "(kept(w, r, m), kept(w / 2, r, m), kept(w, r / 2, m), kept(w, r, 2 * m))]"
            ),
        ),
        (3, "another repair does as much", _repairs(always="('write', 'a')")),
        (3, "one saves less often", _repairs(always="('failures', 'c')")),
        (3, "is not the right answer", _repairs(always="('restart', 'b')")),
        (3, "that halves it", _repairs(as_good="n.restart / 2")),
        (3, "divide the two shares", _repairs(as_good="n.restart - n.mttf * (fast - slow)")),
        (
            3,
            "a part of what is lost goes into writing",
            _repairs(as_good="n.restart * (1 - fast) / (1 - slow)"),
        ),
    ],
    "3-2": [
        (2, "below the floor already", _cluster(found="low + 1")),
        (2, "need not be a power of two", _cluster(found="2 ** int(math.log2(low))")),
        (2, "costs a restart as well", _cluster(restart="0")),
        (2, "does not suit many", _cluster("failures.daly_interval(w, one)")),
        (2, "that is Young's interval", _cluster("failures.young_interval(w, one / k)")),
        (3, "costs a restart as well", _cluster(machines="right(w, 0)")),
        (3, "follows from your own `machines`", _cluster(machines="right(w, 0)")),
        (3, "that is Young's interval", _cluster(every="(2 * w * one / machines) ** 0.5")),
        (3, "save so rarely", _cluster(every="failures.daly_interval(w, one)")),
        (3, "that is in min", _cluster(every="failures.daly_interval(w, one / machines) / 60")),
        (2, "gives a wrong answer", _cluster(found="min(low, 100_000)")),
        (2, "gives a wrong answer", _cluster(found="max(low, 1000)")),
    ],
    "3-3": [
        (2, "if nothing were serial", _fair(price="p * g")),
        (2, "machines are whole", _fair(small="count(t)", big="count(t / g)")),
        (2, "the target is missed", _fair(small="int(count(t))", big="int(count(t / g))")),
        (
            2,
            "the better machine may cost more",
            _fair(price="bill(big, s) / bill(small, s) / p / g"),
        ),
        (2, "the bill of an hour", _fair(price="p * small / big")),
        (
            2,
            "speeds up its serial part, too",
            _fair(big="math.ceil(count(t) / g)", price="p * g * bill(small, s) / bill(g * big, s)"),
        ),
        (3, "raised an exception", _fair(never="False")),
        (3, "if nothing were serial", _fair(pay="q.gain * q.hourly")),
        (
            3,
            "the bill of an hour",
            _fair(
                pay="q.hourly * math.ceil(count(q.target, q.serial))"
                " / math.ceil(count(q.target / q.gain, q.serial))"
            ),
        ),
        (
            3,
            "speeds up its serial part, too",
            _fair(
                pay="q.hourly * q.gain * bill(math.ceil(count(q.target, q.serial)), q.serial)"
                " / bill(q.gain * math.ceil(count(q.target, q.serial) / q.gain), q.serial)"
            ),
        ),
        (
            3,
            "machines are whole",
            _fair(pay="q.hourly * count(q.target, q.serial) / count(q.target / q.gain, q.serial)"),
        ),
        (
            2,
            "wrong",
            _fair(small="max(1, round(count(t)))", big="max(1, round(count(t / g)))"),
        ),
        (2, "gives a wrong answer", _fair(small="min(1000, math.ceil(count(t)))")),
        (2, "gives a wrong answer", _fair(small="min(2**16, math.ceil(count(t)))")),
    ],
}


def _from_whole(value):
    """Return how far a value is from the next whole number: rounding must not be a gamble."""
    return abs(value - round(value))


def _waits(n):
    return (1 - n.after / n.before) / (1 - 1 / n.faster)


def _filled(n, stage):
    """Return the states of a device at a stage, over the memory that they may take."""
    kept = (16, 4, 2, 0)[stage]
    each = n.billions * 1e9 * (kept + (16 - kept) / n.devices)
    return each / (n.gib * 2**30 * (1 - n.free))


def _lowest(n):
    return next((s for s in range(4) if _filled(n, s) <= 1), 9)


def _mttf(n, share):
    """Return, to first order, on how many machines a share of the time is lost."""
    year = 365 * 86400 * n.years
    lost = 1 - share
    root = ((2 * n.write + 4 * n.restart * lost) ** 0.5 - (2 * n.write) ** 0.5) / (2 * n.restart)
    return year * root**2


def _count(n, target):
    return target * (1 - n.serial) / (1 - n.serial * target)


def _hourly(n):
    return math.ceil(_count(n, n.target)) / math.ceil(_count(n, n.target / n.gain))


def _job(n):
    """Return the fair price of a big machine in small ones, for the job."""
    small, big = (math.ceil(_count(n, n.target / gain)) for gain in (1, n.gain))
    return n.gain * (1 + n.serial * (small - 1)) / (1 + n.serial * (big - 1))


def _upward(n):
    return sum([n.locked > 0.1, n.frames < 2, n.gradients > n.network / 2, n.weights < 1])


def _writing(n):
    """Return the share of the time that writing and repeated work take, about."""
    return math.sqrt(2 * n.write / n.mttf)


BOUNDS = {
    "1-1": {
        "jobs that go up": (_upward, 1, 3),
        "the lock, from even": (lambda n: abs(math.log10(n.locked / 0.1)), 0.6, 1.1),
        "exchange, from a step": (lambda n: abs(math.log10(n.gradients / n.network)), 0.7, 2),
    },
    "1-2": {
        "utilization": (lambda n: 2 * n.reached / n.peak, 0.2, 0.85),
        "link over card": (lambda n: 4 * n.link / n.card, 2, 40),
    },
    "1-3": {"share that waits": (_waits, 0.12, 0.8)},
    "2-2": {
        "stage": (_lowest, 1, 3),
        "room at that stage": (lambda n: _filled(n, min(3, _lowest(n))), 0.2, 0.98),
        "one stage lower": (lambda n: _filled(n, min(3, _lowest(n)) - 1), 1.02, 20),
        "left by the label": (lambda n: n.gib - n.billions * 16 / n.devices, 1, 100),
    },
    "3-1": {
        "share as it is": (lambda n: math.exp(-n.restart / n.mttf) - _writing(n), 0.6, 0.95),
        "restart that is as good": (
            lambda n: 1 - 0.29 * _writing(n) * n.mttf / n.restart,
            0.5,
            0.95,
        ),
    },
    "3-2": {"machines, about": (lambda n: _mttf(n, n.floor), 800, 90_000)},
    "3-3": {
        "small machines": (lambda n: _count(n, n.target), 11, 70),
        "big machines": (lambda n: _count(n, n.target / n.gain), 2, 20),
        "small, from whole": (lambda n: _from_whole(_count(n, n.target)), 0.05, 0.5),
        "big, from whole": (lambda n: _from_whole(_count(n, n.target / n.gain)), 0.05, 0.5),
        "unlike the gain": (
            lambda n: _count(n, n.target) / _count(n, n.target / n.gain) / n.gain,
            1.08,
            4,
        ),
        "an hour's bill, from the job's": (lambda n: abs(_hourly(n) / _job(n) - 1), 0.002, 1),
        "parts of machines, from whole ones": (
            lambda n: abs(_count(n, n.target) / _count(n, n.target / n.gain) / _job(n) - 1),
            0.002,
            1,
        ),
    },
}

SURVIVORS = {
    "3-2: 0 → 1": "from one machine on the powers lead to the same place, and one keeps every floor asked",
    "3-2: failures.useful_share(interval, write, restart, mttf) >= fl… → "
    "failures.useful_share(interval, write, restart, mttf) > flo…": (
        "drawn numbers never meet the floor exactly, and no check should depend on the last bit"
    ),
    "3-2: 40 → 41": "both are powers beyond any cluster, so the search starts higher and ends alike",
}

FIXED = {"3-1 always": "a reason that holds for all numbers"}
