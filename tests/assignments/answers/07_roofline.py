"""Answers to assignment 3.7: another correct style, and what students plausibly get wrong.

ALTERNATIVE maps an answer cell to a correct answer in another style than the reference's.
WRONG maps a task to (points, what the check must say, answer): the points when it is graded.
"""

NEEDS = {"2-2": ["2-1"], "2-4": ["2-1", "2-2"]}

ALTERNATIVE = {
    "answer-1-1": """
new = dict.fromkeys(["ridge", "flat"], np.float64(narrow.faster))
new["intensity"] = new["slope"] = 1 / (narrow.bits / 16)
old = {"flat": 1.0, "slope": np.float32(16) / narrow.bits, "ridge": np.int64(1)}
old["intensity"] = old["slope"]
needed = ["Flat", "A"]
""",
    "answer-1-2": """
def clocks(batch, n, k, width, peak, bandwidth):
    moved = np.array([k * n * width, batch * k * 2, batch * n * 2])
    return np.array([batch * n * k / (peak / 2), moved.sum() / bandwidth])

def gain(batch, n, k, width, *chip):
    return clocks(batch, n, k, 2, *chip).max() / clocks(batch, n, k, width, *chip).max()

def leaves(n, k, width, *chip):
    few, many = 0, 2**40
    compute, memory = clocks(many, n, k, width, *chip)
    if memory >= compute * (1 - 1e-9):
        return float("inf")
    while many - few > 1:
        half = (few + many) // 2
        compute, memory = clocks(half, n, k, width, *chip)
        few, many = (few, half) if compute >= memory else (half, many)
    return np.float64(many)

earlier = np.subtract(*(
    leaves(layer.n, layer.k, w, layer.peak, layer.bandwidth) for w in (2, layer.width)
))
""",
    "answer-1-3": """
flops = np.array([step.product, 2e12, 1e10])
moved = np.array([4e9, step.cache, step.state])
offers = {"today": (1, 1), "peak": (2, 1), "memory": (1, 1.5)}
took = {
    name: np.maximum(flops / 1e15 / p, moved / 4e12 / b).sum() for name, (p, b) in offers.items()
}
now = f"{took['today'] * 1e3:.6f} ms"
gain_peak, gain_memory = took["today"] / took["peak"], took["today"] / took["memory"]
buy = min(["peak", "memory"], key=took.get).upper()
""",
    "answer-2-1": """
def weights(shape):
    h, f = shape["hidden"], shape["feedforward"]
    wide, narrow = (shape[name] * shape["head"] for name in ("heads", "kv_heads"))
    return np.int64(h * wide + wide * h + 2 * h * narrow + 3 * h * f)

def cache(shape, tokens):
    return float(tokens) * shape["kv_heads"] * shape["head"] * 4

fits = 0
while chat.layers * (2 * weights(shape) + (fits + 1) * cache(shape, chat.context)) <= chat.memory:
    fits += 1
""",
    "answer-2-2": """
def layer_time(shape, tokens, pairs, cached, peak, bandwidth):
    h, f, q, g, d = (shape[n] for n in ("hidden", "feedforward", "heads", "kv_heads", "head"))
    count = 2 * h * d * (q + g) + 3 * h * f
    flops = np.array([2 * count * tokens, 4 * q * d * pairs], dtype=float)
    moved = np.array([2 * count, 4 * g * d * cached], dtype=float)
    return np.maximum(flops / peak, moved / bandwidth).sum()

def reading(shape, tokens, *chip):
    return layer_time(shape, tokens, tokens**2 / 2, tokens, *chip)

def writing(shape, batch, context, *chip):
    return layer_time(shape, batch, batch * context, batch * context, *chip)
""",
    "answer-2-3": """
import pandas as pd

def repaired(rows, width, printed, bandwidth):
    t = pd.DataFrame(rows, columns=["name", "m", "n", "k", "seconds"])
    compute = 2.0 * t.m * t.n * t.k / (printed / 2)
    memory = (t.m * t.k + t.k * t.n + t.m * t.n) * width / bandwidth
    t["share"] = np.maximum(compute, memory) / t.seconds
    return t.sort_values("share")[["name", "share"]]
""",
    "answer-2-4": """
def users_at(shape, layers, context, rate, peak, bandwidth):
    few, many = 0, 2**20
    while many - few > 1:
        half = (few + many) // 2
        keeps = layers * writing(shape, half, context, peak, bandwidth) * rate <= 1
        few, many = (half, many) if keeps else (few, half)
    return np.int32(few)

own = service.rate, 1e15, service.bandwidth
users = users_at(shape, service.layers, service.context, *own)
doubled = users_at(shape, service.layers, 2 * service.context, *own)
""",
    "answer-3-1": """
import pandas as pd

def roof(runs):
    return np.float64(pd.Series([work / np.median(seconds) for work, seconds in runs]).max())

best = {}
for sample in record.samples:
    known = sample.given
    if known.get("phase") == "sustained":
        key, work = known["format"], known["flops"]
    elif known.get("what") == "copy":
        key, work = known["level"], known["bytes"]
    else:
        continue
    best[key] = max(best.get(key, (0,)), (work / np.median(sample.seconds), sample.label, sample))
reached, _, run = best["fp32"]
far = best["DRAM"][2]
corner = f"{reached / best['DRAM'][0]:.6f} FLOP/B"
reached = f"{reached / 1e9:.5f} GFLOP/s"
run = {"seconds": run.seconds, "given": run.given}
""",
    "answer-3-2": """
def waits_for(sides, seconds):
    order = np.argsort(sides)
    n, t = np.array(sides)[order], np.array(seconds)[order]
    power = (np.log2(t[-1]) - np.log2(t[0])) / (np.log2(n[-1]) - np.log2(n[0]))
    return np.array(["LAUNCH", "Memory", "compute"])[np.searchsorted([1, 2.5], power)]

times = 0.103825 / 0.0012875
cause = ["compute", "b"]
""",
    "answer-3-3": """
word = {"a": "Flops", "b": "Bytes ", "c": "SECONDS", "d": "Roof", "e": "seconds", "f": "roof"}
rate = np.array([points.a, points.b, 2 * 8192**3 / points.c, points.d, 2 * 8192**3 / points.e, points.f])
above = rate > np.array([989e12, 3.35e12, 989e12, 67e12, 989e12, 3.35e12])
wrong = {k: word[k] if higher else "None" for k, higher in zip(word, above)}
""",
}

_BITS = """
s, v = 16 / narrow.bits, narrow.faster
new = dict(zip(["intensity", "ridge", "slope", "flat"], [{new}]))
old = dict(zip(["intensity", "ridge", "slope", "flat"], [{old}]))
needed = {needed}
"""


def _bits(new="s, v, s, v", old="s, 1, s, 1", needed=("flat", "a")):
    return _BITS.format(new=new, old=old, needed=needed)


_RIGHT = "right(2) - right(layer.width)"
_EARLIER = "leaves(layer.n, layer.k, 2, *chip) - leaves(layer.n, layer.k, layer.width, *chip)"


def _narrow(
    moved="width * n * k + rows",
    slower="max",
    gain="time(batch, n, k, 2, p, b) / time(batch, n, k, width, p, b)",
    leaves="math.ceil(r * width * n * k / spare)",
    spare="2 * n * k - 2 * r * (n + k)",
    never="np.inf",
    earlier=_EARLIER,
):
    return f"""
import math

chip = layer.peak, layer.bandwidth

def right(width):
    n, k, r = layer.n, layer.k, layer.peak / layer.bandwidth
    return math.ceil(r * width * n * k / (2 * n * k - 2 * r * (n + k)))

def bytes_of(batch, n, k, width):
    rows = 2 * batch * (n + k)
    return {moved}

def time(batch, n, k, width, p, b):
    return {slower}([2 * batch * n * k / p, bytes_of(batch, n, k, width) / b])

def gain(batch, n, k, width, p, b):
    return {gain}

def leaves(n, k, width, p, b):
    r = p / b
    spare = {spare}
    if spare <= 0:
        return {never}
    return {leaves}

earlier = {earlier}
"""


def _offers(
    each="max",
    total="sum(map({each}, flops, moved))",
    gain_peak="now / took(2, 1)",
    gain_memory="now / took(1, 1.5)",
    buy="'peak' if gain_peak > gain_memory else 'memory'",
):
    return f"""
def both(a, b):
    return a + b

def took(p, b):
    flops = [f / 1e15 / p for f in (step.product, 2e12, 1e10)]
    moved = [q / 4e12 / b for q in (4e9, step.cache, step.state)]
    return {total.format(each=each)}

now = took(1, 1)
gain_peak = {gain_peak}
gain_memory = {gain_memory}
buy = {buy}
"""


def _memory(
    weights="h * (2 * (q + g) * d + 3 * f)",
    cache="4 * tokens * g * d",
    fits="int((chat.memory / chat.layers - 2 * W) / C)",
):
    return f"""
import math

def weights(shape):
    h, f, q, g, d = shape.values()
    return {weights}

def cache(shape, tokens):
    h, f, q, g, d = shape.values()
    return {cache}

W, C = 855_638_016, 4096 * chat.context
fits = {fits}
"""


def _phases(
    reading="how([2 * W * n / p, 2 * W / b]) + how([2 * Q * n * n / p, C(n) / b])",
    writing="join([how([2 * W * batch / p, 2 * W / b]), "
    "how([4 * Q * n * batch / p, batch * C(n) / b])])",
    how="max",
    join="sum",
):
    return f"""
how, join = {how}, {join}

def counts(shape):
    h, f, q, g, d = shape.values()
    return h * (2 * (q + g) * d + 3 * f), q * d, lambda n: 4 * g * d * n

def reading(shape, n, p, b):
    W, Q, C = counts(shape)
    return {reading}

def writing(shape, batch, n, p, b):
    W, Q, C = counts(shape)
    return {writing}
"""


def _list(
    flops="2 * m * n * k",
    moved="width * (m * k + k * n + m * n)",
    flat="printed / 2",
    slope="bandwidth * flops / moved",
    roof="min(flat, slope)",
    order="sorted(found, key=lambda one: one[1])",
):
    return f"""
def repaired(rows, width, printed, bandwidth):
    found = []
    for name, m, n, k, seconds in rows:
        flops = {flops}
        moved = {moved}
        flat, slope = {flat}, {slope}
        found.append((name, flops / seconds / {roof}))
    return {order}
"""


def _service(found="count(shape, layers, n, rate, p, b)", users=None, doubled=None):
    users = users or "count(shape, service.layers, service.context, *own)"
    doubled = doubled or "count(shape, service.layers, 2 * service.context, *own)"
    return f"""
def count(shape, layers, n, rate, p, b):
    batch = 0
    while layers * rate * writing(shape, batch + 1, n, p, b) <= 1:
        batch += 1
    return batch

def alone(shape, layers, n, rate, p, b):
    return int(1 / (rate * layers * writing(shape, 1, n, p, b)))

def users_at(shape, layers, n, rate, p, b):
    return {found}

own = service.rate, 1e15, service.bandwidth
users = {users}
doubled = {doubled}
"""


def _roofs(
    roof="max(w / median(s) for w, s in runs)",
    phase="sustained",
    form="fp32",
    reached="rate(run, 'flops')",
    corner="rate(run, 'flops') / rate(far, 'bytes')",
):
    return f"""
from statistics import mean

def roof(runs):
    return {roof}

def rate(sample, work):
    return sample.given[work] / median(sample.seconds)

products = [s for s in record.samples if s.given.get("phase") == "{phase}"]
products = [s for s in products if s.given["format"] == "{form}" and len(s.seconds) >= 8]
run = max(products, key=lambda s: rate(s, "flops"))
copies = [s for s in record.samples if s.given.get("what") == "copy"]
far = max((s for s in copies if s.given["level"] == "DRAM"), key=lambda s: rate(s, "bytes"))
reached = {reached}
corner = {corner}
"""


def _growth(
    words="launch memory compute",
    few="min(times)",
    many="max(times)",
    power="math.log(times[many] / times[few]) / math.log(many / few)",
    times="0.103825 / 0.0012875",
    cause=("compute", "b"),
):
    return f"""
import math

def waits_for(sides, seconds):
    times = dict(zip(sides, seconds))
    few, many = {few}, {many}
    power = {power}
    flat, middle, steep = "{words}".split()
    return flat if power < 1 else middle if power < 2.5 else steep

times = {times}
cause = {cause}
"""


_POINTS = """
two = {"a": "flops none", "b": "bytes none", "c": "seconds seconds"}
two |= {"d": "roof none", "e": "none none", "f": "roof none"}
low = {"a": points.a < 9e14, "b": points.b < 3.2e12, "c": False}
low |= {"d": points.d < 6e13, "e": False, "f": points.f < 3e12}
wrong = {k: two[k].split()[low[k]] for k in two}
"""


def _wrong(**changed):
    """Right but for some points; without a word, one gets what it has on the roof's other side."""
    return _POINTS + "".join(
        f"wrong['{k}'] = {word!r} or two['{k}'].split()[not low['{k}']]\n"
        for k, word in changed.items()
    )


WRONG = {
    "1-1": [
        (2.7, "that is what happens to the bytes", _bits(new="1 / s, v, s, v")),
        (2.7, "the FLOPs stay and the bytes do not", _bits(new="1, v, s, v")),
        (2.7, "is no matter of the kernel's intensity", _bits(new="v, v, s, v")),
        (2.7, "the ridge is the peak over the bandwidth", _bits(new="s, 1 / v, s, v")),
        (2.7, "faster arithmetic moves the corner", _bits(new="s, 1, s, v")),
        (2.7, "it is the peak that moves", _bits(new="s, s, s, v")),
        (2.7, "waits for its bytes, and they are fewer", _bits(new="s, v, 1, v")),
        (2.7, "does not wait for arithmetic, however fast", _bits(new="s, v, v, v")),
        (2.7, "waits for arithmetic, and it is faster", _bits(new="s, v, s, 1")),
        (2.7, "does not wait for its bytes, however few", _bits(new="s, v, s, s")),
        (2.4, "narrow numbers are what moves", _bits(old="1, v, s, 1")),
        (2.7, "this machine is as it was", _bits(old="s, v, s, 1")),
        (2.7, "it is the kernel that moved", _bits(old="s, s, s, 1")),
        (2.7, "however the arithmetic is done", _bits(old="s, 1, 1, 1")),
        (2.7, "it computes in 16 bits as before", _bits(old="s, 1, s, v")),
        (2.7, "which is done in 16 bits as before", _bits(old="s, 1, s, s")),
        (2.7, "FLOPs are divided by them", _bits(old="1 / s, 1, s, 1")),
        (2.4, "fewer bytes arrive sooner on the old machine", _bits(needed=("slope", "b"))),
        (2.4, "that is of no use on the flat", _bits(needed=("flat", "c"))),
        (2.4, "is not the right answer", _bits(needed=("flat", "b"))),
    ],
    "1-2": [
        (3, "the rows move too, and there is a flat", _narrow(gain="2 / width")),
        (
            3,
            "a gain above 1 means faster",
            _narrow(gain="time(batch, n, k, width, p, b) / time(batch, n, k, 2, p, b)"),
        ),
        (3, "the slower one counts", _narrow(slower="sum")),
        (
            3,
            "from the corner on arithmetic decides",
            _narrow(gain="bytes_of(batch, n, k, 2) / bytes_of(batch, n, k, width)"),
        ),
        (1, "from the corner on they are not small", _narrow(spare="2 * n * k")),
        (
            2,
            "on that batch it still waits",
            _narrow(leaves="int(r * width * n * k / spare)", earlier=_EARLIER + " + 1"),
        ),
        (
            2,
            "a multiply-add is two FLOPs",
            _narrow(spare="n * k - 2 * r * (n + k)", leaves="math.ceil(r * width * n * k / spare)"),
        ),
        (2, "that is the ridge", _narrow(leaves="int(r)")),
        (
            3,
            "which cannot be",
            _narrow(never="10**9", leaves="math.ceil(r * width * n * k / spare)").replace(
                "10**9", "0"
            ),
        ),
        (
            3,
            "asked is how many rows earlier",
            _narrow(earlier="leaves(layer.n, layer.k, layer.width, *chip)"),
        ),
        (3, "turn the difference round", _narrow(earlier=f"-({_EARLIER})")),
        *(
            (3, "on fresh inputs: gives", _narrow(leaves=leaves, earlier=_RIGHT))
            for leaves in (
                "max(1, round(r * width * n * k / spare))",
                "1 + int(r * width * n * k / spare)",
                "min(1000, math.ceil(r * width * n * k / spare))",
                "next((m for m in range(1, 100_000) if spare * m >= r * width * n * k), np.inf)",
            )
        ),
    ],
    "1-3": [
        (1, "that adds both clocks", _offers(each="both")),
        (1, "the kernels run one after the other", _offers(total="max(sum(flops), sum(moved))")),
        (3, "that stays on the flat", _offers(gain_peak="2")),
        (3, "that stays on the slope", _offers(gain_memory="1.5")),
        (3, "upside down", _offers(gain_peak="took(2, 1) / now")),
        (3, "upside down", _offers(gain_memory="took(1, 1.5) / now")),
        (3, "that is the share of the time saved", _offers(gain_peak="1 - took(2, 1) / now")),
        (
            3,
            "is not the right answer",
            _offers(buy="'memory' if gain_peak > gain_memory else 'peak'"),
        ),
    ],
    "2-1": [
        (3, "those are bytes", _memory(weights="2 * h * (2 * (q + g) * d + 3 * f)")),
        (3, "which are fewer", _memory(weights="h * (4 * q * d + 3 * f)")),
        (3, "three matrices, not two", _memory(weights="h * (2 * (q + g) * d + 2 * f)")),
        (3, "half of it", _memory(cache="2 * tokens * g * d")),
        (3, "that counts the numbers of the keys", _memory(cache="tokens * g * d")),
        (3, "`kv_heads`, not `heads`", _memory(cache="4 * tokens * q * d")),
        (2, "round down", _memory(fits="math.ceil((chat.memory / chat.layers - 2 * W) / C)")),
        (
            2,
            "the weights take their place first",
            _memory(fits="int(chat.memory / chat.layers / C)"),
        ),
        (2, "a weight has two bytes", _memory(fits="int((chat.memory / chat.layers - W) / C)")),
        (
            2,
            "keys and values have `kv_heads` heads",
            _memory(fits="int((chat.memory / chat.layers - 2 * W) / C / 8)"),
        ),
        (
            2,
            "every layer has a cache of its own",
            _memory(fits="int((chat.memory - 2 * chat.layers * W) / C)"),
        ),
    ],
    "2-2": [
        (
            2,
            "the mask hides half",
            _phases(reading="how([2 * W * n / p, 2 * W / b]) + how([4 * Q * n * n / p, C(n) / b])"),
        ),
        (
            2,
            "of a parameter as of a pair",
            _phases(reading="how([W * n / p, 2 * W / b]) + how([Q * n * n / p, C(n) / b])"),
        ),
        (0, "within a kernel the clocks overlap", _phases(how="sum")),
        (
            2,
            "not for each token",
            _phases(
                reading="how([2 * W * n / p, 2 * W * n / b]) + how([2 * Q * n * n / p, C(n) / b])"
            ),
        ),
        (
            2,
            "a cache of its own",
            _phases(
                writing="how([2 * W * batch / p, 2 * W / b]) "
                "+ how([4 * Q * n * batch / p, C(n) / b])"
            ),
        ),
        (
            2,
            "they pass once for all",
            _phases(
                writing="batch * (how([2 * W / p, 2 * W / b]) + how([4 * Q * n / p, C(n) / b]))"
            ),
        ),
        (2, "the kernels run one after the other", _phases(join="max")),
    ],
    "2-3": [
        (0, "on the flat that is half", _list(flat="printed")),
        (0, "on the flat that is half", _list(flops="m * n * k")),
        (0, "it lacks both", _list(flops="m * n * k", flat="printed")),
        (1, "the result is written", _list(moved="width * (m * k + k * n)")),
        (0, "that is the share of the peak", _list(roof="flat")),
        (0, "each has `width` bytes", _list(moved="m * k + k * n + m * n")),
        (0, "the intensity is upside down", _list(slope="bandwidth * moved / flops")),
        (3, "the order of the alphabet", _list(order="sorted(found)")),
        (3, "turn it round", _list(order="sorted(found, key=lambda one: -one[1])")),
    ],
    "2-4": [
        (2, "each gets a little less", _service("count(shape, layers, n, rate, p, b) + 1")),
        (
            3,
            "that divides the speed of a lone user",
            _service("alone(shape, layers, n, rate, p, b)"),
        ),
        (
            3,
            "that divides the speed of a lone user",
            _service(users="alone(shape, service.layers, service.context, *own)"),
        ),
        (
            2,
            "the weights pass too",
            _service("int(b / (rate * layers * cache(shape, n)))"),
        ),
        (2, "a token passes all of them", _service("count(shape, 1, n, rate, p, b)")),
        (3, "gives a wrong answer", _service("min(10_000, count(shape, layers, n, rate, p, b))")),
        (3, "twice the context is twice the cache", _service(doubled="users")),
        (3, "leaves room for fewer", _service(doubled="2 * users")),
    ],
    "3-1": [
        (4, "that is by the mean", _roofs(roof="max(w / mean(s) for w, s in runs)")),
        (4, "that is by the fastest call", _roofs(roof="max(w / min(s) for w, s in runs)")),
        (4, "a roof is the highest", _roofs(roof="min(w / median(s) for w, s in runs)")),
        (
            4,
            "gives a wrong answer",
            _roofs(roof="max(w / sorted(s)[len(s) // 2] for w, s in runs)"),
        ),
        (
            4,
            "gives a wrong answer",
            _roofs(roof="max(w / sorted(s)[(len(s) - 1) // 2] for w, s in runs)"),
        ),
        (4, "gives a wrong answer", _roofs(roof="max(w / s[len(s) // 2] for w, s in runs)")),
        (
            4,
            "gives a wrong answer",
            _roofs(roof="(lambda w, s: w / median(s))(*max(runs))"),
        ),
        (
            4,
            "that is all work over all time",
            _roofs(roof="sum(w for w, _ in runs) / sum(median(s) for _, s in runs)"),
        ),
        (3, "`run` is not the sustained product", _roofs(form="bf16")),
        (3, "it is the ridge of other samples", _roofs(phase="survey")),
        (4, "that counts a multiply-add once", _roofs(reached="rate(run, 'flops') / 2")),
        (4, "that is the time of a call", _roofs(reached="median(run.seconds)")),
        (4, "upside down", _roofs(corner="rate(far, 'bytes') / rate(run, 'flops')")),
        (
            4,
            "for each number of four bytes",
            _roofs(corner="4 * rate(run, 'flops') / rate(far, 'bytes')"),
        ),
    ],
    "3-2": [
        (2, "rows may come in any order", _growth(few="sides[0]", many="sides[-1]")),
        (
            2,
            "that takes the ratio of the times",
            _growth(power="times[many] / times[few]"),
        ),
        (2, "the words are turned round", _growth(words="compute memory launch")),
        (
            2,
            "gives a wrong answer",
            _growth(power="math.log(max(seconds) / min(seconds)) / math.log(many / few)"),
        ),
        (3, "by the bytes and upside down", _growth(times="2")),
        (3, "fp16 takes longer", _growth(times="0.0012875 / 0.103825")),
        (3, "that compares with bf16", _growth(times="0.103825 / 0.000322255")),
        (3, "fewer bytes are a reason for less time", _growth(cause=("memory", "a"))),
        (3, "these times grow and grow", _growth(cause=("launch", "c"))),
    ],
    "3-3": [
        (2.5, "the right one for dense bf16", _wrong(a="roof")),
        (2.5, "compare the rate with the dense peak of bf16", _wrong(a=None)),
        (2.5, "is that of HBM, as drawn", _wrong(b="roof")),
        (2.5, "compare with what HBM delivers", _wrong(b=None)),
        (2.5, "had it ended when the clock stopped", _wrong(c="flops")),
        (2.5, "which units did it", _wrong(d="flops")),
        (2.5, "compare with the line that was drawn", _wrong(d=None)),
        (2.5, "it is below the peak", _wrong(e="flops")),
        (2.5, "the bytes did move; from where", _wrong(f="bytes")),
        (2.5, "compare with the slope that was drawn", _wrong(f=None)),
        (0.5, "is not the right answer", _wrong(**dict.fromkeys("abdef", "seconds"))),
    ],
}


def _batch(n, width):
    ridge = n.peak / n.bandwidth
    return ridge * width / 2 / (1 - ridge * (1 / n.n + 1 / n.k))


def _from_whole(value):
    """Return how far a value is from the next whole number: rounding must not be a gamble."""
    return abs(value - round(value))


def _gain(n, peak=1.0, bandwidth=1.0):
    work = [(n.product, 4e9), (2e12, n.cache), (1e10, n.state)]
    return 1 / sum(max(f / 1e15 / peak, q / 4e12 / bandwidth) for f, q in work)


def _sequences(n):
    return (n.memory / n.layers - 2 * 855_638_016) / (4096 * n.context)


def _forgotten(n):
    """Two slips must not look alike: weights left out, and the numbers of nobody."""
    return abs(int(n.memory / n.layers / 4096 / n.context) - int(_sequences(n.public or n)))


def _users(n):
    left = n.bandwidth / n.rate / n.layers - 2 * 855_638_016
    return left / (4096 * n.context)


def _shares(n):
    """Return by how much each point is above the roof that was drawn."""
    product = 2 * 8192**3 / 989e12
    below = n.a / 989e12, n.b / 3.35e12, n.d / 67e12, n.f / 3.35e12
    return [*below, product / n.c, product / n.e]


BOUNDS = {
    "1-1": {
        "factor of the bytes": (lambda n: 16 / n.bits, 2, 4),
        "factor of the peak": (lambda n: n.faster, 1.5, 3.5),
        "the two apart": (lambda n: abs(n.bits * n.faster / 16 - 1), 0.04, 1),
    },
    "1-2": {
        "rows earlier": (lambda n: _batch(n, 2) - _batch(n, n.width), 20, 900),
        "wide, from whole": (lambda n: _from_whole(_batch(n, 2)), 0.02, 0.5),
        "narrow, from whole": (lambda n: _from_whole(_batch(n, n.width)), 0.02, 0.5),
    },
    "1-3": {
        "how much the better offer is better": (
            lambda n: abs(_gain(n, 2.0) / _gain(n, 1.0, 1.5) - 1),
            0.02,
            0.4,
        ),
        "gain of the peak": (lambda n: _gain(n, 2.0) / _gain(n), 1.05, 1.6),
        "gain of the bandwidth": (lambda n: _gain(n, 1.0, 1.5) / _gain(n), 1.05, 1.45),
    },
    "2-1": {
        "sequences, beyond a short search": (_sequences, 135, 1900),
        "from whole": (lambda n: _from_whole(_sequences(n)), 0.02, 0.5),
        "with the weights forgotten, from the public answer": (_forgotten, 0.5, 900),
    },
    "2-4": {
        "users": (_users, 8, 215),
        "from whole": (lambda n: _from_whole(_users(n)), 0.03, 0.5),
        "doubled, from whole": (lambda n: _from_whole(_users(n) / 2), 0.02, 0.5),
    },
    "3-3": {
        "points above their roof": (lambda n: sum(share > 1 for share in _shares(n)), 2, 4),
        "nearest to a roof": (lambda n: min(abs(share - 1) for share in _shares(n)), 0.05, 1),
    },
}

_ZERO = "drawn numbers never meet the threshold exactly"
_FAR = "what is drawn lies well above the roof or well below it"
SURVIVORS = {
    "1-2: 0 → 1": "a millionth of the terms it is the difference of",
    "1-3: 4000000000.0 → 4500000000.0": "the product waits for arithmetic with every offer",
    "1-3: 10000000000.0 → 11250000000.0": "the update waits for memory with every offer",
    "2-4: layers * writing(shape, users + 1, context, peak, bandwidth… → "
    "layers * writing(shape, users + 1, context, peak, bandwidth…": _ZERO,
    "2-4: 1000000000000000.0 → 1125000000000000.0": "writing waits for memory: that is the point",
    "3-1: s.given['flops'] / s.median → s.given['flops'] * s.median": "the same sample is best",
    "3-1: s.given['flops'] / s.median → s.given['flops']": "the same sample is best",
    "3-2: power >= 2.5 → power > 2.5": _ZERO,
    "3-2: power >= 1 → power > 1": _ZERO,
    "3-3: points.a > 989000000000000.0 → points.a >= 989000000000000.0": _ZERO,
    "3-3: points.b > 3350000000000.0 → points.b >= 3350000000000.0": _ZERO,
    "3-3: points.d > 67000000000000.0 → points.d >= 67000000000000.0": _ZERO,
    "3-3: points.f > 3350000000000.0 → points.f >= 3350000000000.0": _ZERO,
    "3-3: 67000000000000.0 → 75375000000000.0": _FAR,
    "3-3: 3350000000000.0 → 3768750000000.0 (again)": _FAR,
}

FIXED = {
    "1-1 old ridge": "the corner of a machine that is as it was",
    "1-1 old flat": "arithmetic that is as it was",
    "1-1 needed": "a reason that holds for all numbers",
    "3-2": "a recorded measurement; the function is called on fresh tables",
    "3-3 wrong c": "a clock that stops too early is above any roof",
    "3-3 wrong e": "a time that is plausible in every case",
}
