"""`scalelab time` beside a loop around subprocess and beside hyperfine, on the same commands.

All take turns. What is compared are the ratios within the turns, for the speed of a machine wanders by
more than what is promised; hyperfine takes part where it is installed (`apt-get install hyperfine`).
"""

import json
import math
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from scalelab.measure.timing import stats
from scalelab.measure.timing.programs import Race, program, run
from tests.bench.timing import by_turns

ROUNDS, RUNS = 25, 12
COMMANDS = {
    "sleep 0.02": "sleep 0.02",
    "python -S": shlex.join([sys.executable, "-I", "-S", "-c", "pass"]),
}


def rows():
    """Yield the medians side by side, then what so many runs cost in all."""
    for name, line in COMMANDS.items():
        yield beside_a_loop(name, line)
    if shutil.which("hyperfine"):
        for name, line in COMMANDS.items():
            yield from beside_hyperfine(name, line)


def beside_a_loop(name, line):
    """One run of each by turns."""
    made, words = program(line), shlex.split(line)
    nothing = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    pairs = []
    for _ in range(ROUNDS * RUNS):
        ours = run(made).seconds
        start = time.perf_counter()
        subprocess.run(words, check=True, **nothing)
        pairs.append((ours, time.perf_counter() - start))
    return by_turns(f"median, {name} / a loop of perf_counter", pairs, 1.01, 0.99)


def beside_hyperfine(name, line):
    """As many runs of each by turns, so that the intervals are of one width; all that each needs for them."""
    medians, walls, widths = [], [], []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        ours = Race([program(line)]).run(runs=RUNS, warmup=1).samples[0].seconds
        between = time.perf_counter()
        theirs = hyperfine(line)
        walls.append((between - start, time.perf_counter() - between))
        medians.append((statistics.median(ours), statistics.median(theirs)))
        widths.append((stats.margin(ours), stats.margin(theirs)))
    yield by_turns(f"median, {name} / hyperfine -N", medians, 1.01, 0.99)
    yield by_turns(f"time for {RUNS} runs, {name} / hyperfine -N", walls, 1)
    yield by_turns(f"interval of {RUNS} runs, {name} / hyperfine -N", widths, math.inf)._replace(
        unit="%"
    )


def hyperfine(line):
    """Return the seconds of every run."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "runs.json")
        how = ["--style", "none", "--runs", str(RUNS), "--warmup", "1", "--export-json", file]
        subprocess.run(["hyperfine", "-N", *how, line], check=True, capture_output=True)
        return json.loads(file.read_text())["results"][0]["times"]
