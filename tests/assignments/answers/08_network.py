"""Answers to assignment 3.8: another correct style, and what students plausibly get wrong.

The student knows that networks have a speed and has read a data sheet. What each task diagnoses:

1-1  takes bandwidth for the only number of a link; turns factors upside down
1-2  rounds down, or reaches half of the bandwidth whatever was asked for
1-3  believes that only rings and trees of whole messages exist; forgets that halving comes back
2-1  does not undo the ring: latencies of all rounds, bytes of the message
2-2  goes one doubling too far; prices whole messages in every round
2-3  fits in seconds; keeps a negative latency, or the slope that came with it
3-1  does a whole all-reduce inside, or exchanges the whole message across
3-2  takes busbw for the message per second; believes the withdrawn conversion
3-3  forgets what every bucket pays, that the last one sticks out, or that they queue
3-4  prices 2 instead of 2 (K - 1) / K; takes the share that waits for the efficiency
"""

ALTERNATIVE = {
    "answer-1-1": """
even = f"{link.alpha * link.bandwidth / 1000} kB"
def took(alpha, bandwidth):
    return alpha + link.size / bandwidth
now = took(link.alpha, link.bandwidth)
quicker = np.float32(now / took(link.alpha / 2, link.bandwidth))
wider = now / took(link.alpha, 2 * link.bandwidth)
buy = ["Latency", "a"] if quicker > wider else ["Bandwidth", "b"]
""",
    "answer-1-2": """
def pack(size, alpha, bandwidth, share):
    count = 1
    while count * size / (alpha + count * size / bandwidth) < share * bandwidth:
        count += 1
    return np.int64(count)
""",
    "answer-1-3": """
import math

def which(alpha, times):
    def misfit(rounds):
        return sum((math.log(t / alpha) - math.log(rounds(k))) ** 2 for k, t in times.items())

    found = [
        (misfit(lambda k: 2 * k - 2), "Ring"),
        (misfit(lambda k: math.log2(k)), "recursive doubling"),
        (misfit(lambda k: 2 * math.log2(k)), "halving-doubling"),
    ]
    return min(found)[1].lower()
""",
    "answer-2-1": """
def two_numbers(rows, workers):
    matrix = [[2 * (workers - 1), 2 * (1 - 1 / workers) * size] for size, _ in rows]
    alpha, beta = np.linalg.solve(matrix, [seconds for _, seconds in rows])
    return [alpha, 1 / beta]
""",
    "answer-2-2": """
def ring_limit(size, alpha, beta, most):
    best = 2
    for n in range(1, 17):
        k = 2**n
        bytes_ = 2 * (k - 1) / k * size * beta
        if 2 * (k - 1) * alpha + bytes_ <= most * (2 * n * alpha + bytes_):
            best = k
    return np.int64(best)
""",
    "answer-2-3": """
from scipy.optimize import nnls

def relative(sizes, seconds):
    matrix = np.array([[1 / t, m / t] for m, t in zip(sizes, seconds)])
    scale = np.abs(matrix).max(0)
    found, _ = nnls(matrix / scale, np.ones(len(seconds)))
    latency, per_byte = found / scale
    return latency, 1 / per_byte
""",
    "answer-3-1": """
g, n = plan.per_node, plan.nodes
inside = plan.size * (g - 1) / g / plan.inside
across = plan.size / g * 2 * (n - 1) / n / plan.outside
phases = np.array([inside, across, inside])
factor = (2 * inside + across + 2 * inside) / phases.sum()

def pipelined(*phases):
    return np.max([phases[0] + phases[2], phases[1]])
""",
    "answer-3-2": """
message = bench.busbw / (2 * (bench.workers - 1) / bench.workers)
wire = f"{message * (bench.workers + 1) / bench.workers / 1e9} GB/s"
most = bench.link * 2 * (bench.workers - 1) / (bench.workers + 1)
if bench.busbw > most:
    verdict = "Impossible"
else:
    verdict = "switch" if bench.busbw > bench.link else "messages"
""",
    "answer-3-3": """
def fewest(size, backward, alpha, beta, workers, allowed):
    b = np.arange(1, 1001)
    c = 2 * (workers - 1) * alpha + 2 * (workers - 1) / workers * beta * size / b
    good = np.maximum(c, b * c - (1 - 1 / b) * backward) <= allowed
    return b[good][0] if good.any() else np.int64(0)
""",
    "answer-3-4": """
pair = 2 * job.size / job.bandwidth
critical = np.float64(job.compute / pair) + 1
ratio = (job.wanted - 1) * pair / job.compute
exchange = 2 * (job.wanted - 1) / job.wanted * job.size / job.bandwidth
efficiency = job.compute / (job.wanted * (job.compute / job.wanted + exchange))
""",
}

_UPGRADE = """
even = link.alpha * link.bandwidth
x = link.size / even
quicker = (1 + x) / (0.5 + x)
wider = (1 + x) / (1 + x / 2)
buy = ("latency", "a") if x < 1 else ("bandwidth", "b")
"""
_PACK = """
def pack(size, alpha, bandwidth, share):
    return {}
"""
_NEEDED = "alpha * bandwidth * share / (1 - share) / size"
_WHICH = """
def which(alpha, times):
    names = {{"ring": {}, "recursive doubling": {}, "halving-doubling": {}}}
    def off(rounds):
        return sum(abs(np.log(t / alpha / rounds(k))) for k, t in times.items())
    return min(names, key=lambda name: off(names[name]))
"""
_ONE = """
by_all = which
def which(alpha, times):
    return by_all(alpha, {{{0}: times[{0}]}})
"""
_RING = "lambda k: 2 * (k - 1)"
_ONCE, _TWICE = "lambda k: np.log2(k)", "lambda k: 2 * np.log2(k)"
_TWO = """
def two_numbers(rows, workers):
    (m, t), (n, u) = rows
    slope = (t - u) / (m - n)
    start = t - slope * m
    return {}, {}
"""
_LIMIT = """
def ring_limit(size, alpha, beta, most):
    k = 2 ** np.arange(1, 17)
    moving = 2 * (k - 1) / k * size * beta
    ring = 2 * (k - 1) * alpha + moving
    good = k[ring <= most * ({})]
    return {}
"""
_RELATIVE = """
def relative(sizes, seconds):
    m, t = np.array(sizes), np.array(seconds)
    columns = np.stack([1 / t, m / t], axis=1)
    scale = np.linalg.norm(columns, axis=0)
    a, b = np.linalg.lstsq(columns / scale, np.ones(len(m)))[0] / scale
    corner = ((m / t) ** 2).sum() / (m / t).sum()
    {}
"""
_FITTED = """
def relative(sizes, seconds):
    b, a = np.polyfit({})
    return a, 1 / b
"""
_PLAN = """
inside = (1 - 1 / plan.per_node) * plan.size / plan.inside
across = 2 * (1 - 1 / plan.nodes) * plan.size / plan.per_node / plan.outside
phases = {}
factor = {}

def pipelined(scatter, across, gather):
    return {}
"""
_BOTH = "max(scatter + gather, across)"
_RIGHT_FACTOR = "(4 * inside + across) / (2 * inside + across)"
_BENCH = """
K = bench.workers
wire = bench.busbw * {}
right = bench.busbw * (K + 1) / (2 * (K - 1))
verdict = "messages" if bench.busbw <= bench.link else "switch" if right <= bench.link else "impossible"
"""
_FEWEST = """
def fewest(size, backward, alpha, beta, workers, allowed):
    for b in range(1, 1001):
        c = 2 * (workers - 1) * ({})
        if {} <= allowed:
            return b
    return {}
"""
_EACH = "alpha + size / b / workers * beta"
_LEFT = "max(c, b * c - (1 - 1 / b) * backward)"
_CRITICAL = """
pairs = job.compute * job.bandwidth / (2 * job.size)
critical = {}
ratio = {}
efficiency = {}
"""
_EFFICIENCY = "1 / (1 + (job.wanted - 1) / pairs)"
_RATIO = "(job.wanted - 1) / (critical - 1)"

WRONG = {
    "1-1": [
        (3, "that is the message you have", _UPGRADE + "even = link.size\n"),
        (3, "not from a halved latency", _UPGRADE + "even /= 2\n"),
        (3, "not from twice its bandwidth", _UPGRADE + "even *= 2\n"),
        (3, "only one of the two parts is halved", _UPGRADE + "quicker = 2.0\n"),
        (2, "only one of the two parts is halved", _UPGRADE + "quicker = wider = 2\n"),
        (2, "upside down", _UPGRADE + "quicker, wider = 1 / quicker, 1 / wider\n"),
        (2, "the other offer", _UPGRADE + "quicker, wider = wider, quicker\n"),
        (3, "a data sheet does not know", _UPGRADE + 'buy = ("bandwidth", "c")\n'),
    ],
    "1-2": [
        (0, "round up", _PACK.format("int(alpha * bandwidth * share / (1 - share) / size)")),
        (0, "half of the bandwidth", _PACK.format("int(np.ceil(alpha * bandwidth / size))")),
        (
            0,
            "without bound",
            _PACK.format("int(np.ceil(alpha * bandwidth * share / size))"),
        ),
        *(
            (0, "gives a wrong answer", _PACK.format(found.format(_NEEDED)))
            for found in (
                "1 + int({})",
                "min(1000, int(np.ceil({})))",
                "min(65536, int(np.ceil({})))",
                "max(2, int(np.ceil({})))",
            )
        ),
        (0, "not the right number", _PACK.format(f"max(1, round({_NEEDED}))")),
    ],
    "1-3": [
        (0, "once in and once out", _WHICH.format(_RING, _TWICE, _ONCE)),
        (0, "grow with the workers themselves", 'def which(alpha, times):\n    return "ring"\n'),
        (0, "the latency tells them apart", _WHICH.format(_RING, _ONCE, "lambda k: 1e9")),
        *(
            (0, "gives a wrong answer", f"{_WHICH.format(_RING, _ONCE, _TWICE)}{_ONE.format(k)}")
            for k in ("next(iter(times))", "min(times)")
        ),
    ],
    "2-1": [
        (
            1.5,
            "the latency of the whole ring",
            _TWO.format("start", "2 * (workers - 1) / workers / slope"),
        ),
        (
            1.5,
            "not K - 1",
            _TWO.format("start / (workers - 1)", "2 * (workers - 1) / workers / slope"),
        ),
        (
            1.5,
            "those are bytes of the message",
            _TWO.format("start / 2 / (workers - 1)", "1 / slope"),
        ),
        (
            1.5,
            "a ring goes around twice",
            _TWO.format("start / 2 / (workers - 1)", "(1 - 1 / workers) / slope"),
        ),
    ],
    "2-2": [
        (
            0,
            "the last that is not",
            _LIMIT.format("2 * np.log2(k) * alpha + moving", "min(65536, 2 * int(good[-1]))"),
        ),
        (
            0,
            "recursive doubling moves",
            _LIMIT.format("np.log2(k) * (alpha + size * beta)", "int(good[-1])"),
        ),
        (
            0,
            "not the right number",
            _LIMIT.format("2 * np.log2(k) * alpha + moving", "int(good[0])"),
        ),
        *(
            (
                0,
                says,
                _LIMIT.format("2 * np.log2(k) * alpha + moving", f"min({most}, int(good[-1]))"),
            )
            for says, most in (("not the right number", 1024), ("not the right number", 32768))
        ),
    ],
    "2-3": [
        (0, "the largest message decides alone", _FITTED.format("sizes, seconds, 1")),
        (0, "not to each size", _FITTED.format("sizes, seconds, 1, w=1 / np.array(sizes)")),
        (2.67, "before it is sent", _RELATIVE.format("return a, 1 / b")),
        (2.67, "fitted again", _RELATIVE.format("return max(a, 0.0), 1 / b")),
        (
            1.33,
            "asked is the bandwidth",
            _RELATIVE.format("return (a, b) if a >= 0 else (0.0, 1 / corner)"),
        ),
    ],
    "3-1": [
        (
            2,
            "half of an all-reduce before",
            _PLAN.format("[2 * inside, across, 2 * inside]", _RIGHT_FACTOR, _BOTH),
        ),
        (
            2,
            "exchanges its own part only",
            _PLAN.format("[inside, across * plan.per_node, inside]", _RIGHT_FACTOR, _BOTH),
        ),
        (
            2,
            "goes out and comes back",
            _PLAN.format("[inside, across / 2, inside]", _RIGHT_FACTOR, _BOTH),
        ),
        (
            2,
            "already count one direction",
            _PLAN.format("[inside / 2, across / 2, inside / 2]", _RIGHT_FACTOR, _BOTH),
        ),
        (3, "stays as it is", _PLAN.format("[inside, across, inside]", "2.0", _BOTH)),
        (
            3,
            "upside down",
            _PLAN.format("[inside, across, inside]", "1 / (" + _RIGHT_FACTOR + ")", _BOTH),
        ),
        *(
            (3, says, _PLAN.format("[inside, across, inside]", _RIGHT_FACTOR, how))
            for says, how in (
                ("waits for the end of each phase", "scatter + across + gather"),
                ("these carry both", "max(scatter, across, gather)"),
                ("not always the busier one", "across"),
                ("not done before it", "min(scatter + gather, across)"),
                ("not the right number", "scatter + gather"),
                ("gives a wrong answer", "max(2 * scatter, across)"),
            )
        ),
    ],
    "3-2": [
        (1, "a port carries more", _BENCH.format("K / (2 * (K - 1))")),
        (1, "undo its factor first", _BENCH.format("(K + 1) / K")),
        (1, "is withdrawn", _BENCH.format("K / (2 * (K + 1))")),
    ],
    "3-3": [
        (0, "its own latencies", _FEWEST.format("size / b / workers * beta", _LEFT, "0")),
        (
            0,
            "nothing is left to hide it",
            _FEWEST.format(_EACH, "b * c - (1 - 1 / b) * backward", "0"),
        ),
        (1, "wait in line", _FEWEST.format(_EACH, "c", "0")),
        (3, "not the right number", _FEWEST.format(_EACH, _LEFT, "1000")),
        *(
            (points, "gives a wrong answer", _FEWEST.format(_EACH, _LEFT, "0").replace("1001", end))
            for points, end in ((1, "101"), (1, "129"), (1, "501"), (1, "1000"), (3, "2000"))
        ),
    ],
    "3-4": [
        (
            2,
            "that prices 2 of the message",
            _CRITICAL.format("pairs", "(job.wanted - 1) / pairs", _EFFICIENCY),
        ),
        (
            2,
            "it goes around twice",
            _CRITICAL.format("1 + 2 * pairs", "(job.wanted - 1) / pairs", _EFFICIENCY),
        ),
        (3, "not K", _CRITICAL.format("1 + pairs", "job.wanted / critical", f"1 / (1 + {_RATIO})")),
        (3, "upside down", _CRITICAL.format("1 + pairs", f"1 / ({_RATIO})", f"1 / (1 + {_RATIO})")),
        (
            3,
            "the share that waits",
            _CRITICAL.format("1 + pairs", _RATIO, f"1 - 1 / (1 + {_RATIO})"),
        ),
        (3, "at the critical scale", _CRITICAL.format("1 + pairs", _RATIO, "0.5")),
    ],
}


def _reach(n):
    """The message in multiples of the one that gets half of the bandwidth."""
    return n.size / n.alpha / n.bandwidth


def _phases(n):
    inside = (n.per_node - 1) / n.per_node * n.size / n.inside
    return inside, 2 * (n.nodes - 1) / n.nodes * n.size / n.per_node / n.outside


def _wire(n):
    return n.busbw * (n.workers + 1) / (n.workers - 1) / 2


def _critical(n):
    return 1 + n.compute * n.bandwidth / n.size / 2


BOUNDS = {
    "1-1": {
        "message over half size": (_reach, 0.05, 12),
        "not near a tie": (lambda n: max(_reach(n), 1 / _reach(n)), 1.1, 20),
    },
    "3-1": {
        "inside over across": (lambda n: _phases(n)[0] / _phases(n)[1], 0.02, 3),
        "seconds": (lambda n: 2 * _phases(n)[0] + _phases(n)[1], 0.02, 10),
    },
    "3-2": {
        "off the link, ratio": (lambda n: abs(n.busbw / n.link - 1), 0.02, 2),
        "off the switch, ratio": (lambda n: abs(_wire(n) / n.link - 1), 0.02, 2),
    },
    "3-4": {
        "critical scale": (_critical, 8, 350),
        "ratio": (lambda n: (n.wanted - 1) / (_critical(n) - 1), 1.15, 60),
    },
}

_TIE = "equality has probability zero on drawn inputs"
SURVIVORS = {
    "1-1: link.size < even → link.size <= even": _TIE,
    "2-2: ring <= most * halving → ring < most * halving": _TIE,
    "2-3: latency < 0 → latency <= 0": _TIE,
    "3-2: bench.busbw <= bench.link → bench.busbw < bench.link": _TIE,
    "3-2: wire <= bench.link → wire < bench.link": _TIE,
    "3-3: max(each, queued) <= allowed → max(each, queued) < allowed": _TIE,
}
