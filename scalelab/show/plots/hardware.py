"""Section 3.2: what a device holds, what leaves it, what fails, and up against out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from scalelab import units
from scalelab.models.machines import failures, hardware, memory, rungs, up_or_out, upgrades
from scalelab.models.scaling import laws, speedup
from scalelab.records import Stamp
from scalelab.show.chart import Axis, Chart, Points
from scalelab.show.plots import MODEL, bars, yours

SMALL, BIG = "A100 SXM 40GB", "H200 SXM"
# What a driver reports is in no data sheet.
DRIVER = Stamp("published", note="data sheets; memory by the driver")
MLPERF = Stamp("published", date="2024-06-11", note="MLPerf Training v4.0, NVIDIA")
TRAINING = 16  # bytes per parameter, from memory.state()
# Layers, hidden units, attention heads, and heads with keys of their own: Llama 3, table 3 of its report.
SHAPES = {8: (32, 4096, 32, 8), 70: (80, 8192, 64, 8)}  # by billions of parameters
# What a device is for: the optimizer and what is recomputed, of which serving has neither.
PURPOSES = {
    "train": ("adam", "selective"),
    "train, recompute": ("adam", "full"),
    "train, recompute, 8-bit Adam": ("adam 8-bit", "full"),
    "serve": None,
}
SPLITS = ("nothing", "optimizer", "optimizer, gradients", "all states")  # the stages 0 to 3 of ZeRO
# What a step holds and moves keeps its colour from figure to figure, here and in `drawings.machines`.
TONES = {
    "arithmetic": 0,
    "weights": 1,
    "gradients": 2,
    "cache": 3,
    "optimizer": 4,
    "activations": 5,
}
DEVICES = 2.0 ** np.arange(11)
GPU_LIFE = 54 * 86400 / 419 * 16384  # seconds between interruptions per GPU: Llama 3, section 3.3.4
LAYERED = 4096  # tokens in a sequence, where layers are split
# In the rendered book these two start from the reader's own: what a device holds, and what stands in a box.
HOLDING = yours.holding(
    ("T4", "RTX 4090", "A100 SXM 40GB", "H100 SXM", "H200 SXM", "B200 SXM"),
)
BOX = yours.boxes()


def two_quotes(gain: float, price: float, most: float = 0.3) -> Chart:
    """What one job costs on as many old machines as keep up with a new one, and on the new one."""
    counts = np.arange(max(math.ceil(gain), 2), 1000)
    ends = (counts / gain - 1) / (counts - 1)  # where so many keep up just so: each is a step
    ends = ends[(ends > 0) & (ends < most)]
    serial = np.unique([*np.linspace(0, most, 121), *(ends - 1e-9), *(ends + 1e-9)])
    old = up_or_out.workers_to_match(gain, serial)
    bills = old / laws.amdahl(old, serial)
    return Chart(
        f"One job: a machine {gain:g} times as fast at {price:g} times the price, or old ones",
        Axis("serial share of the job", low=0.0, high=most),
        Axis("bill, in hours of one old machine", low=0.0),
        (
            Points("old ones, as many as keep up", serial, bills, tone=1),
            Points("the new one", serial, np.full_like(serial, price / gain), "dashed", tone=2),
        ),
        stamp=MODEL,
        see="Each step of the first line is one more old machine. They are the cheaper buy while little "
        "is serial, and then cost more and more, for the ones that join find less and less to do.",
    )


def generations(names: Sequence[str]) -> Chart:
    """What devices offer, in multiples of the first: arithmetic, memory, and the ways to feed both."""
    devices = [hardware.device(name) for name in names]
    offers = {
        "dense bf16 peak": [hardware.peak(one, "bf16 tensor") for one in devices],
        "memory bandwidth": [one.bandwidth for one in devices],
        "memory": [one.memory or np.nan for one in devices],
        "link": [one.link.bandwidth if one.link else np.nan for one in devices],
    }
    places = np.arange(1.0, len(devices) + 1)
    short = tuple(name.replace(" SXM", "") for name in names)
    return Chart(
        f"{'Five devices' if len(names) == 5 else 'Devices'}, in multiples of the {short[0]}",
        Axis("device", low=0.7, high=len(devices) + 0.3, ticks=tuple(places), names=short),
        Axis(f"multiples of the {short[0]}", low=0.0),
        tuple(
            Points(name, places, np.array(values) / values[0], "joined", tone=tone)
            for tone, (name, values) in enumerate(offers.items(), 1)
        ),
        stamp=DRIVER,
        see="Where the peak is level and the memory rises, a vendor changed the memory alone. From end to "
        "end arithmetic grew most and the link least, so a byte from elsewhere costs more FLOPs than it did.",
    )


def far_bytes(near: float, ways: Mapping[str, float]) -> Chart:
    """How much longer the mean byte takes, over the share of bytes that come by each slower way."""
    far = np.unique([*np.geomspace(0.001, 1, 37), 0.01, 0.1, 0.875])
    series = [
        Points(name, 100 * far, near * rungs.mean_seconds_per_byte(far, near, rate), tone=tone)
        for tone, (name, rate) in enumerate(ways.items(), 1)
    ]
    slower = near / min(ways.values())
    return Chart(
        "What a few bytes from far away cost all of them",
        Axis("bytes from far away, %", log=True, ticks=(0.1, 1, 10, 100)),
        Axis("time of a byte (memory: 1)", log=True, ticks=(1, 2, 5, 10, 20, 50)),
        (*series, Points("all from memory", [0.1, 100], [1, 1], "dashed", tone=0)),
        stamp=MODEL,
        see=f"Where a byte takes {slower:.0f} times as long, one such byte in {slower:.0f} nearly doubles "
        "the mean time: there the far bytes take as long as all bytes would from memory.",
    )


def published_gains(runs: Sequence[upgrades.Upgrade], faster: float) -> Chart:
    """Published gains of an upgrade with their uncertainty, beside what its faster memory can give."""
    gains = {_job(one): (one.gain - one.error, one.gain, one.gain + one.error) for one in runs}
    return bars.between(
        "From eight H100 to eight H200, job by job",
        Axis("times as fast", low=0.9, high=1.6),
        gains,
        {"if all waits for memory,": round(faster, 3), "if nothing does,": 1},
        MLPERF,
        "The jobs stand in the order of the table, each with its uncertainty. The first alone reaches what "
        "a faster memory can give; the others gain less than half of it, and the bars of the last two reach "
        "down to no gain. "
        "Where a bar hardly shows, it is shorter than the mark is wide.",
        ("two standard errors either way", "gain of the mean times"),
    )


def upgrade_bills(runs: Sequence[upgrades.Upgrade], dearer: float) -> Chart:
    """What each job costs on the better machine, over its bill on the old one, between its errors."""
    bills = {
        _job(one): (
            dearer / (one.gain + one.error),
            dearer / one.gain,
            dearer / (one.gain - one.error),
        )
        for one in runs
    }
    return bars.between(
        f"The bill on eight H200, which cost {dearer:.2f} times as much an hour",
        Axis("bill, over that on eight H100", low=0.7),
        bills,
        {"the bill on the H100,": 1},
        Stamp("published", note="MLPerf Training v4.0, and the prices of the cell above"),
        "Left of the dashed line a job is cheaper on the better machine. A bar that crosses the line leaves "
        "it open.",
        ("two standard errors either way", "bill by the mean times"),
    )


def _job(run):
    """Return the name of a job without what stands behind it in brackets."""
    return run.job.split(" (")[0]


def fast_reach(wanted: float = 405e9) -> Chart:
    """The largest model whose states fit into what one fast link joins, box by box, and a rack."""
    held = {}
    for name in ("DGX A100", "DGX H100", "DGX H200", "DGX B200"):
        box = hardware.node(name)
        # Of two products with one name, the memory tells which.
        model, *rest = box.device.name.split()
        size = next((f" {word}" for word in rest if word.endswith("GB")), "")
        held[f"8 {model}{size}"] = box.count * (box.device.memory or np.nan)
    held["72 B200, a rack"] = 72 * (box.device.memory or np.nan)
    most = {name: float(memory.largest_model(size, TRAINING)) / 1e9 for name, size in held.items()}
    return bars.ranked(
        "What fits inside the reach of one fast link",
        Axis("parameters to train, billions", low=0.0),
        most,
        (f"{wanted / 1e9:g} billion", wanted / 1e9),
        MODEL,
        "From box to box the memories grow, and a model of 405 billion still has to leave them. "
        "The rack holds it because nine times as many GPUs are inside.",
    )


def corner(fed: float, cores: int) -> Chart:
    """Speedup on cores that share one memory, beside Amdahl's curve through the same last point."""
    end = min(max(fed, 1), cores)
    counts = np.union1d(np.linspace(1, cores, 60).round(), [end])
    reached = np.minimum(counts, fed)
    serial = min(max(speedup.karp_flatt(reached[-1], cores), 0.0), 1.0)
    turns = [Points("the corner, c", [fed], [fed], "points", tone=3)] if 1 <= fed < cores else []
    return Chart(
        f"{cores} cores that share one memory",
        Axis(
            "cores K",
            low=0.0,
            high=cores * 1.04,
            ticks=tuple(np.linspace(0, cores, 5).round()),
        ),
        Axis("speedup S(K)", low=0.0),
        (
            Points("what the memory feeds, min(K, c)", counts, reached, tone=1),
            Points(
                "Amdahl, with the same end", counts, laws.amdahl(counts, serial), "dashed", tone=2
            ),
            *turns,
        ),
        stamp=Stamp("model", note="from the rate measured above"),
        see="Both begin and end alike. Up to its corner the memory costs nothing, and beyond it every "
        "further core is for nothing; Amdahl's curve bends from the start."
        if fed < cores
        else "Here the memory feeds all the cores, so nothing bends: the two lines are one.",
    )


def room(
    each: float, weights: Mapping[str, float], memories: Mapping[str, float], wanted: float
) -> Chart:
    """What models and the cache of so many tokens take, in bytes, beside the memories they may use."""
    most = 1.05 * max((max(memories.values()) - min(weights.values())) / each, wanted)
    tokens = np.linspace(0, most, 36)
    thousands = tokens / 1e3
    taken = [
        Points(name, thousands, (size + each * tokens) / 1e9, tone=tone)
        for tone, (name, size) in enumerate(weights.items(), 1)
    ]
    limits = [
        Points(
            f"memory of {name}", thousands, np.full_like(tokens, size / 1e9), "dashed", tone=tone
        )
        for tone, (name, size) in zip((3, 0, 4, 5), memories.items(), strict=False)
    ]
    at = [(size + each * wanted) / 1e9 for size in weights.values()]
    need = Points("what is needed", [wanted / 1e3] * len(at), at, "points", tone=5)
    return Chart(
        "Room for the cache beside the weights",
        Axis("tokens in the cache, thousands", low=0.0),
        Axis("GB", low=0.0),
        (*taken, *limits, need),
        stamp=MODEL,
        see="Where a rising line meets a dashed one, that memory is full. Only marks below a dashed line "
        "can be served from it.",
    )


def saving(write: float, mttf: float) -> Chart:
    """What saving and what failing cost a run, over the interval between checkpoints, to first order."""
    best = failures.young_interval(write, mttf)
    intervals = np.geomspace(best / 8, best * 8, 49)
    saves, loses = write / intervals, intervals / 2 / mttf
    return Chart(
        "What saving costs, and what is lost between two saves",
        Axis("minutes of work between checkpoints", log=True),
        Axis("share of the time, %", low=0.0),
        (
            Points("saving, δ/τ", intervals / 60, 100 * saves, tone=5),
            Points("work lost, τ/2μ", intervals / 60, 100 * loses, tone=2),
            Points("both", intervals / 60, 100 * (saves + loses), tone=1),
            Points("Young's interval", [best / 60], [200 * write / best], "points", tone=0),
        ),
        stamp=MODEL,
        see="Where the two costs are equal their sum is least. Twice that interval, or half of it, makes the "
        "sum a quarter larger.",
    )


def budget(
    device: str, purpose: str, billions: int, split: str, sequences: int, context: int
) -> Chart:
    """What each of K devices holds of a model, of what passes through it, and of the optimizer's part."""
    limit = hardware.device(device).memory
    assert limit is not None  # those of the slider have memory of their own
    counts = np.arange(1.0, DEVICES[-1] + 1)
    piles = _bytes_by_part(purpose, billions, split, sequences, context, counts)
    parts = {name: sizes[DEVICES.astype(int) - 1] for name, sizes in piles.items()}
    series, below = [], np.zeros_like(DEVICES)
    for name, size in parts.items():
        above, tone = below + size / 1e9, TONES[name]
        series.append(Points(name, DEVICES, size / 1e9, "part", tone=tone, low=below, high=above))
        below = above
    line = np.full_like(DEVICES, limit / 1e9)
    series.append(Points("memory of the device", DEVICES, line, "dashed", tone=0))
    fits = counts[sum(piles.values()) <= limit]
    at = int(np.flatnonzero(DEVICES == 64)[0])
    largest = max(parts, key=lambda name: parts[name][at])
    return Chart(
        f"{billions} billion parameters on {device}, each with {sequences} × {context:,} tokens",
        Axis("devices", log=True, ticks=tuple(DEVICES[::2])),
        Axis("GB on each device", low=0.0, high=240.0),
        tuple(series),
        {
            "Memory of a device": units.text(limit, "B"),
            "Fits from": units.counted(int(fits[0]), "device", grouped=True)
            if fits.size
            else "no number of devices",
            "Each of 64 needs": units.text(1e9 * below[at], "B"),
            "The largest part": f"{largest}, {units.text(parts[largest][at], 'B')}",
        },
        MODEL,
        "What is split gets thinner towards the right; what is not keeps its thickness on any number of "
        "devices. A model fits where the pile stays below the dashed line. A pile is cut at 240 GB.",
    )


def _bytes_by_part(purpose, billions, split, sequences, context, devices):
    """Bytes on each of so many devices by what they are."""
    layers, hidden, heads, kv_heads = SHAPES[billions]
    none, training = np.zeros_like(devices), PURPOSES[purpose]
    stage = SPLITS.index(split)
    parts = dict.fromkeys(("weights", "gradients", "optimizer", "activations", "cache"), none)
    if training is None:
        tokens = sequences * context
        cache = memory.cache_bytes(tokens, layers, kv_heads, hidden // heads)
        weights = memory.states(1e9 * billions, devices, stage=stage)["weights"]
        return parts | {"weights": weights, "cache": none + cache}
    optimizer, recompute = training
    parts |= memory.states(1e9 * billions, devices, optimizer, "mixed", stage)
    activations = memory.activation_bytes(sequences, context, layers, hidden, heads, recompute)
    return parts | {"activations": none + activations}


def way_out(node: str, boxes: int, share: float) -> Chart:
    """What a training step of 70 billion parameters takes on each rung out of a device, by its sequences.

    Each layer is split over the box, each box has a copy of the model; `share` of the peak is reached.
    """
    box = hardware.node(node)
    layers, hidden, _, _ = SHAPES[70]
    sequences = 2.0 ** np.arange(9)
    tokens = LAYERED * sequences
    sent = rungs.activations_sent(tokens, hidden, layers, box.count)
    rate = share * hardware.peak(box.device, "bf16 tensor")
    gradients = rungs.gradients_sent(70e9, box.count, boxes)
    card = box.outside_bandwidth / box.count
    lines = {
        "arithmetic": 6 * 70e9 * tokens / box.count / rate,
        "weights, from memory": sequences
        * rungs.weights_read(70e9, box.count)
        / box.device.bandwidth,
        "activations, over NVLink": sent / box.inside.bandwidth,
        "gradients, over the network cards": np.full_like(tokens, gradients / card),
    }
    series = [
        Points(name, sequences, y, tone=TONES[name.split(",")[0]]) for name, y in lines.items()
    ]
    outside, tone = sent / card, TONES["activations"]
    series.append(
        Points("activations, if the cards carried them", sequences, outside, "dashed", tone=tone)
    )
    covered = max(math.ceil(gradients / card / lines["arithmetic"][0]), 1)
    times = outside[0] / lines["arithmetic"][0]
    return Chart(
        f"One step on {boxes} × {node}, {100 * share:g}% of the peak reached",
        Axis("sequences in a step, per box", log=True, ticks=tuple(sequences[::2])),
        Axis("seconds", log=True),
        tuple(series),
        {
            "Memory : NVLink : card, GB/s": " : ".join(
                f"{rate / 1e9:,.0f}" for rate in (box.device.bandwidth, box.inside.bandwidth, card)
            ),
            "Arithmetic outlasts the gradients from": units.counted(covered, "sequence")
            if covered <= sequences[-1]
            else "no number of them",
            "Activations over the cards": f"{units.text(times)}× the arithmetic",
        },
        MODEL,
        "What rises keeps its distance to the arithmetic at every batch; the gradients alone stay level, "
        "so a larger batch leaves them behind.",
    )


def up_or_out_by_size(
    price: float, serial: float, grows: str = "yes", least: float = 1e9, most: float = 1e12
) -> Chart:
    """What a unit of throughput costs on the fewest small and on the fewest big devices that hold a model.

    `serial` is a share of one small device's time for 70 billion parameters. Where it grows with the
    model the share stays; where its seconds stay, the share falls as the work grows.
    """
    small, big = hardware.device(SMALL), hardware.device(BIG)
    # In three figures, as sheets have them: so an equal price per FLOP is a stop of the slider.
    gain = round(hardware.peak(big, "bf16 tensor") / hardware.peak(small, "bf16 tensor"), 2)

    def cost(models, device, gain, hourly):
        shares = serial if grows == "yes" else serial / (serial + (1 - serial) * models / 70e9)
        count = memory.fewest_devices(TRAINING * models, device.memory)
        useful = gain * count / (1 + shares * (count - 1))
        return up_or_out.price_per_throughput(count * hourly, useful)

    def both(models):
        return cost(models, small, 1.0, 1.0), cost(models, big, gain, price)

    def won(models):
        """Return which of the models is the first from which on the big devices are cheaper."""
        out, up = both(models)
        return np.flatnonzero(np.append(True, up >= out * (1 - 1e-12)))[-1]

    # Whole devices make steps, and near the crossing each side may win one more of them.
    # What is drawn lies 10% apart; a size that is named to three digits asks for more, twice.
    sizes = np.geomspace(least, most, 72 * 250 + 1)
    first = won(sizes)
    since = sizes[min(first, len(sizes) - 1)]
    if 0 < first < len(sizes):
        near = np.geomspace(sizes[first - 1], since, 1000)
        since = near[won(near)]
    models = sizes[::250]
    out, up = both(models)
    assert small.memory is not None  # both sheets say it
    assert big.memory is not None
    of_70 = [memory.fewest_devices(TRAINING * 7e10, m) for m in (small.memory, big.memory)]
    # For ever larger models s times the devices is all that counts, or the same at any size.
    crowd = [TRAINING * 70e9 / m * serial / (1 - serial) for m in (small.memory, big.memory)]
    if grows == "yes":
        never = gain * (big.memory / small.memory if serial else 1)
    else:
        never = gain * (1 + crowd[0]) / (1 + crowd[1])
    return Chart(
        f"One {BIG} at the price of {units.text(price)} {SMALL}, {100 * serial:g}% serial at 70 billion",
        Axis("parameters, billions", log=True, ticks=(1, 10, 100, 1000)),
        Axis(
            "A100-hours per A100-hour of work",
            log=True,
            low=0.3,
            ticks=(0.5, 1, 2, 5, 10, 50),
        ),
        (
            Points(f"out: as many {SMALL} as hold it", models / 1e9, out, tone=1),
            Points(f"up: as many {BIG} as hold it", models / 1e9, up, tone=2),
        ),
        {
            "Up wins for good from": "the start"
            if first == 0
            else f"{units.text(since / 1e9)} billion parameters"
            if first < len(sizes)
            else f"no size up to {units.text(most / 1e9)} billion",
            "Devices for 70 billion, out": f"{of_70[0]:.0f}",
            "Devices for 70 billion, up": f"{of_70[1]:.0f}",
            f"Peak of one {BIG}": f"{gain:.2f}× the A100's",
            "Up wins for large models below a price of": f"{never:.1f} A100s",
        },
        MODEL,
        "What work costs: the A100-hours that are paid for what a single A100 does in an hour. The lower "
        "line is the better buy, and where they cross the answer changes. A line rises because every further "
        "device stands idle during the serial part; without one, both would be level.",
    )


def checkpoints(machines: int, write: float, restart: float) -> Chart:
    """Share of the time that is kept on so many GPUs, over the interval between checkpoints."""
    mttf = failures.mean_time_to_failure(GPU_LIFE, machines)
    best = failures.daly_interval(write, mttf)
    # Its mark stands on the curve in the table of its numbers, too.
    intervals = np.union1d(np.geomspace(15, 300 * 60, 60), [best])
    share = failures.useful_share(intervals, write, restart, mttf)
    kept = failures.useful_share(best, write, restart, mttf)
    return Chart(
        f"What failures leave of a run on {machines:,} GPUs",
        Axis("minutes of work between checkpoints", log=True, ticks=(1, 3, 10, 30, 100, 300)),
        Axis("share of the time that counts", low=0.0, high=1.0),
        (
            Points("kept", intervals / 60, share, tone=3),
            Points("Daly's interval", [best / 60], [kept], "points", tone=0),
        ),
        {
            "Time between interruptions": units.text(mttf, "s"),
            "Save every": f"{units.text(best / 60)} min",
            "Kept": f"{100 * kept:.3g}%",
        },
        MODEL,
        "Left of the mark too much is saved, right of it too much is lost. The longer writing takes, "
        "compared with the time between interruptions, the more a wrong interval costs.",
    )
