"""The timer beside torch's, `scalelab time` beside hyperfine, and how often intervals hold the truth.

The first rows want a quiet machine; hyperfine takes part where it is installed. The others simulate,
from fixed seeds: they are the same anywhere.
"""

import functools
import json
import math
import os
import random
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import chain
from pathlib import Path

from scalelab import data
from scalelab.measure.timing import stats, timing
from scalelab.measure.timing.programs import Race, program, run
from scalelab.models.waiting import tail
from tests.bench import Row

TRIALS = 2000
ROUNDS, RUNS = 25, 24
TURNS = 100  # of a short program beside hyperfine: each may be a few hundredths off, their median must not be
MANY, COMMAND_TURNS = 100, 6
COMMANDS = {
    "sleep 0.02": "sleep 0.02",
    "python -S": shlex.join([sys.executable, "-I", "-S", "-c", "pass"]),
}
# Of these what a loop adds by itself, 60 to 220 µs, is as good as nothing; a sleep that varies by less
# than a hundredth needs fewer rounds. Beside hyperfine they have fewer runs in a turn, which takes about half
# a second for all: in a longer one a machine changes its pace, and in a shorter one what has just started
# hyperfine is still in the way of what it times.
FEW = 4
LONGER = {
    "sleep 0.2": ("sleep 0.2", 8),
    "import numpy": (shlex.join([sys.executable, "-I", "-c", "import numpy"]), ROUNDS),
}
# 93 to 97 % is what intervals of 95 % may turn out to be.
NEARLY = {"reference": 0.95, "least": 0.93 / 0.95, "limit": 0.97 / 0.95, "unit": "%"}


def rows():
    """Yield agreement and cost against torch, a loop and hyperfine, then coverage."""
    yield from against_torch()
    for name, line in COMMANDS.items():
        yield from beside_a_loop(name, line)
        if shutil.which("hyperfine"):
            yield from beside_hyperfine(name, line, TURNS)
            yield as_commands(name, line)
    for name, (line, rounds) in LONGER.items():
        yield from beside_a_loop(name, line, rounds)
        if shutil.which("hyperfine"):
            yield from beside_hyperfine(name, line, rounds, FEW)
    yield from medians()


def against_torch(rounds=9):
    """Time a kernel with both in turns: torch by its defaults, ours until its interval is as narrow.

    What is compared are the ratios within the turns: the speed of a machine wanders by more than 2 %.
    """
    import torch
    from torch.utils.benchmark import Timer

    left, right = torch.randn(192, 192), torch.randn(192, 192)
    numbers, powers = torch.randn(2, 20_000)
    kernels = {
        "sum(range(10000))": lambda: sum(range(10_000)),
        "192 x 192 product": lambda: left @ right,
        "20,000 exponentials": lambda: torch.exp(numbers, out=powers),
    }
    for name, kernel in kernels.items():
        timer = Timer("kernel()", globals={"kernel": kernel})
        medians, walls = [], []
        for _ in range(rounds):
            start = time.perf_counter()
            theirs = timer.blocked_autorange()
            between = time.perf_counter()
            with timing.threads(1):  # as torch's timer does
                wanted = stats.margin(theirs.times)
                ours = timing.measure(kernel, label=name, precision=wanted)
            end = time.perf_counter()
            medians.append((ours.median, theirs.median))
            walls.append((end - between, between - start))
        yield by_turns(f"median, {name} / torch", medians, 1.02, 0.98)
        yield by_turns(f"time to as narrow an interval, {name} / torch", walls, 1)


def beside_a_loop(name, line, rounds=ROUNDS):
    """One run of each by turns: beside the loop one writes, one that silences its programs, a bare one.

    `subprocess` opens /dev/null, as we do, and its own code takes a hundredth of a short run and more. The
    bare loop has none of it: what a process needs to be started and waited for, between two readings.
    """
    made, words = program(line), shlex.split(line)
    nothing = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)

    def ours():
        return run(made).seconds

    def bare():
        start = time.perf_counter()
        os.waitpid(os.posix_spawnp(words[0], words, os.environ), 0)
        return time.perf_counter() - start

    def usual(**how):
        start = time.perf_counter()
        subprocess.run(words, **how)
        return time.perf_counter() - start

    loops = {"": usual, ", silenced": functools.partial(usual, **nothing), ", bare": bare}
    for kind, loop in loops.items():
        pairs = [either_way(turn, ours, loop) for turn in range(rounds * RUNS)]
        yield by_turns(f"median, {name} / a loop of perf_counter{kind}", pairs, 1.01, 0.99)


def beside_hyperfine(name, line, rounds=ROUNDS, few=RUNS):
    """As many runs of each, a few by turns; all that each needs for them, and how wide they leave the median.

    To stop at a width that the other reached by luck would be no race: twice the runs were needed for it.
    """
    together = RUNS // few
    turns = rounds * together

    def timed(runs):
        start = time.perf_counter()
        seconds = runs()
        return seconds, time.perf_counter() - start

    def ours():
        race = Race([program(line)])
        return timed(lambda: race.run(runs=few, warmup=1).samples[0].seconds)

    both = [
        either_way(turn, ours, lambda: timed(lambda: hyperfine(line, few))) for turn in range(turns)
    ]
    seconds = [(one, other) for (one, _), (other, _) in both]
    medians = [(statistics.median(one), statistics.median(other)) for one, other in seconds]
    yield by_turns(f"median, {name} / hyperfine -N", medians, 1.01, 0.99)
    walls = [(one, other) for (_, one), (_, other) in both]
    yield by_turns(f"time for {few} runs, {name} / hyperfine -N", walls, 1)
    groups = [zip(*seconds[at : at + together], strict=True) for at in range(0, turns, together)]
    widths = [tuple(stats.margin(list(chain(*runs))) for runs in group) for group in groups]
    row = by_turns(f"interval of {RUNS} runs, {name} / hyperfine -N", widths, math.inf)
    yield row._replace(unit="%")


def as_commands(name, line):
    """Both from start to end, for as many runs: what an interpreter that starts adds, once."""

    def wall(*words):
        start = time.perf_counter()
        how = ["--runs", str(MANY), "--warmup", "1", line]
        subprocess.run([*words, *how], check=True, capture_output=True)
        return time.perf_counter() - start

    walls = [
        either_way(
            turn,
            lambda: wall(sys.executable, "-m", "scalelab", "time"),
            lambda: wall("hyperfine", "-N", "--style", "none"),
        )
        for turn in range(COMMAND_TURNS)
    ]
    return by_turns(f"scalelab time as a command, {MANY} runs, {name} / hyperfine", walls, math.inf)


def either_way(turn, ours, theirs):
    """Return both, each first in every other turn: to be second is to find warm caches."""
    if turn % 2:
        other = theirs()
        return ours(), other
    return ours(), theirs()


def hyperfine(line, runs):
    """Return the seconds of every run."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "runs.json")
        how = ["--style", "none", "--runs", str(runs), "--warmup", "1", "--export-json", file]
        subprocess.run(["hyperfine", "-N", *how, line], check=True, capture_output=True)
        return json.loads(file.read_text())["results"][0]["times"]


def by_turns(name, pairs, *promised):
    """Return the Row of the median ratio, beside the reference's median."""
    reference = statistics.median(theirs for _, theirs in pairs)
    ratio = statistics.median(ours / theirs for ours, theirs in pairs)
    return Row(name, ratio * reference, reference, *promised)


class Replay:
    """A function whose calls take drawn seconds; its own device and clock, as one call is a reading."""

    shortest = 0.0

    def __init__(self, draw):
        self.draw, self.now = draw, 0.0

    def __call__(self):
        self.now += self.draw()

    def clock(self):
        return self.now

    def elapsed(self, run):
        start = self.now
        run()
        return self.now - start


def medians():
    """Yield how often a Sample's low to high holds the median, with the timer's own stopping rule."""
    for name, draw, truth, precisions in noises():
        for precision in precisions:
            rng, held = random.Random(1), 0
            work = Replay(lambda: draw(rng))  # noqa: B023 - used up before the next
            settings = {"label": name, "budget": 1e9, "clock": work.clock, "device": work}
            for _ in range(TRIALS):
                sample = timing.measure(work, precision=precision, **settings)
                held += sample.low <= truth <= sample.high
            yield Row(f"median held, {name}, ±{precision:.2%}", held / TRIALS, **NEARLY)


def noises():
    """Yield name, draw(rng), the true median, and the precisions to stop at."""
    yield "lognormal", lambda rng: rng.lognormvariate(0, 0.05), 1, (0.05, 0.02, 0.01)
    yield "Pareto", lambda rng: rng.paretovariate(1.5), 2 ** (1 / 1.5), (0.3, 0.15)
    many = random.Random(0)
    yield "bimodal", bimodal, statistics.median(bimodal(many) for _ in range(10**6)), (0.05, 0.02)
    for sample in data.recorded("noise").samples:
        # In random order: what the readings are, without when they were.
        seconds, middle = sample.seconds, sample.median
        width = tail.percentile(seconds, 0.75) / middle - 1
        name = f"recorded {sample.label.partition(',')[0]}"
        yield name, lambda rng, s=seconds: rng.choice(s), middle, (width, width / 4)


def bimodal(rng):
    """Two calls of five are a tenth slower, as on a core that is shared now and then."""
    return rng.lognormvariate(0.1 if rng.random() < 0.4 else 0.0, 0.02)
