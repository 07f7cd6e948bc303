"""The measured roofs beside the best that a plain loop over sizes reaches: at least 95 % of it.

Both by turns in one run. Wants a quiet machine; the probe repeats what was disturbed, the loop does not.
"""

import time

from scalelab.measure.probe import part, probe, roofs, workbench
from tests.bench import Row

LIMIT = 1 / 0.95
# A minute for all: two sizes of three formats held for a second.
PLAN = part.FULL._replace(
    survey=0.1, longest=0.5, finalists=2, soak=2.0, window=0.5, most=4.0, hold=1.0, sweep=0.1
)
FORMATS = {"fp64": "float64", "fp32": "float32", "bf16": "bfloat16"}


def rows(turns=2):
    """Yield each format's rate, and the bandwidth of the memory and of the fastest level."""
    best = {}
    for _ in range(turns):
        for name in FORMATS:
            best[name] = max(best.get(name, 0.0), products(name))
        for name, rate in sweeps().items():
            best[name] = max(best.get(name, 0.0), rate)
    bench = workbench.pick("cpu")
    bench.formats = tuple(FORMATS)
    found = probe.take(bench, PLAN)
    rates, bandwidths = roofs.rates(found), roofs.bandwidths(found)
    # As times of so much work, so that less is better.
    for name in FORMATS:
        yield Row(f"1e9 FLOP in {name} / plain loop", 1e9 / rates[name], 1e9 / best[name], LIMIT)
    for name, ours in (("DRAM", bandwidths["DRAM"]), ("fastest", max(bandwidths.values()))):
        yield Row(f"1 GB, {name} level / plain loop", 1e9 / ours, 1e9 / best[name], LIMIT)


def products(name, seconds=0.5):
    """Return the best FLOP/s of a plain loop over sizes, each run for a while."""
    import torch

    best = 0.0
    for size in workbench.ProcessorBench.products:
        left, right = (torch.randn(size, size).to(getattr(torch, FORMATS[name])) for _ in range(2))
        torch.mm(left, right)
        start, count = time.perf_counter(), 0
        while (spent := time.perf_counter() - start) < seconds:
            torch.mm(left, right)
            count += 1
        best = max(best, 2 * size**3 * count / spent)
    return best


def sweeps(seconds=0.2):
    """Return the best bytes per second of a plain loop of copies: beyond the caches, and of any size."""
    import torch

    stated, best = workbench.pick("cpu").stated, {"DRAM": 0.0, "fastest": 0.0}
    for size in [2**k for k in range(14, 28)]:
        source = torch.randn(size // 4)
        target = torch.empty_like(source)
        target.copy_(source)
        start, count = time.perf_counter(), 0
        while (spent := time.perf_counter() - start) < seconds:
            target.copy_(source)
            count += 1
        names = ["fastest"] + ["DRAM"] * (size >= 4 * max(stated.values(), default=2**25))
        for name in names:
            best[name] = max(best[name], 2 * size * count / spent)
    return best
