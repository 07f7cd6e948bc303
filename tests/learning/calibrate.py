"""Learn from public results how far predictions are off, and measure it on programs left out of that.

A hold-out: show the smaller sizes of a series, predict a larger one. Series of one program are not
independent, so a program is left out whole and counts as one. The bundled series and those of `teach.csv`
teach; `judges.csv` holds series of other programs, collected when nothing was left to choose, that only
judge.

What was chosen: some 160 ways to predict were tried on programs that teach, each judged by leaving programs
out (families and mixtures, slopes that fall or stay, ends by kind, by roughness, by how well rows foretell
each other), and the simplest of the best was kept. Two choices failed before it, on programs that had no part
in them and teach since. One let the slopes of weak scaling fall, and they do not: its interval score was 1.11
times the rival's on 20 programs. One let intervals widen as the root of the doublings, which is too slow:
they held 83 % on 43 programs, 75 % beyond one doubling.

Programs that were measured together are not quite independent: the 61 that judge come from 46 sources, and
with every source counting once 84 % were held. Where the last doubling still brought nearly all of one,
fewer were (`STRAIGHT`), and that is printed of such tables.

The rival is what one would write down in a line: the last slope, damped by how fast slopes fell, with an
interval as wide as nine tenths of what it missed elsewhere, per doubling.
"""

import csv
import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from scalelab.curves import predict
from scalelab.curves.rows import Rows
from scalelab.data import datasets

KINDS = ("strong", "weak", "load")
_FEWEST = 3  # sizes to go by
_ENOUGH = 5  # programs, to say how often intervals held on tables of one kind
# Each size of these trains another model, so there is no one job to extrapolate.
TEACH, JUDGES = (Path(__file__).with_name(name) for name in ("teach.csv", "judges.csv"))
_OTHER_JOBS = ("megatron2020", "megatron2021")


@dataclass(frozen=True)
class HoldOut:
    """One series, split: what is shown, and the truth that is not."""

    name: str
    program: str
    kind: str
    shown: Rows
    workers: float
    truth: float  # the rate
    largest: bool  # all sizes but the largest are shown, and that one is asked for

    @property
    def ahead(self) -> float:
        """Doublings from the largest size shown."""
        return float(np.log2(self.workers / self.shown.workers[-1]))


@dataclass(frozen=True)
class Outcome:
    """A hold-out, predicted: logarithms of the rate, relative to the truth."""

    low: float
    median: float
    high: float

    @property
    def inside(self) -> bool:
        """Whether the interval held the truth."""
        return self.low <= 0 <= self.high


@cache
def series(judging: bool) -> tuple[tuple[str, str, str, Rows], ...]:
    """Each series that scales one job, of those that judge or teach: its name, program, kind and rows."""
    return tuple(_read(JUDGES)) if judging else (*_bundled(), *_read(TEACH))


def _bundled():
    for name in datasets.names():
        one = datasets.load(name)
        column = {"seconds": one.seconds, "throughput": one.throughput}
        column = {unit: values for unit, values in column.items() if values}
        if column and one.scaling and one.group not in _OTHER_JOBS:
            rows = Rows.of(one.workers, weak=one.scaling == "weak", **column)
            yield name, one.group, one.scaling, rows


def _read(place):
    with place.open(encoding="utf-8", newline="") as file:
        for name, rows in itertools.groupby(csv.DictReader(file), key=lambda row: row["dataset"]):
            every = list(rows)
            first, workers = every[0], np.array([float(row["p"]) for row in every])
            values = np.array([float(row["value"]) for row in every])
            if first["measure"] == "rate_per_worker":
                values *= workers
            column = {"seconds" if first["measure"] == "time" else "throughput": values}
            rows_ = Rows.of(workers, weak=first["kind"] == "weak", **column)
            yield name, first["program"], first["kind"], rows_


@cache
def hold_outs(judging: bool) -> tuple[HoldOut, ...]:
    """Of each series that judges, or teaches: each larger size, from three or more smaller ones."""
    splits = []
    for name, program, kind, rows in series(judging):
        count = len(rows.workers)
        for last, later in itertools.combinations(range(count), 2):
            if last + 1 >= _FEWEST:
                shown = rows.at(np.arange(count) <= last)
                largest = last + 2 == later + 1 == count
                size, truth = float(rows.workers[later]), float(rows.rate[later])
                splits.append(HoldOut(name, program, kind, shown, size, truth, largest))
    return tuple(splits)


def weights(programs: Sequence[str]) -> np.ndarray:
    """What each of these counts, so that every program counts the same."""
    counts = Counter(programs)
    each = np.array([1 / counts[program] for program in programs])
    return each / each.sum()


def interval_score(outcome: Outcome) -> float:
    """The width, and what is missed by times 2 / 0.1: the least on average for honest 90 % intervals.

    Source: Gneiting and Raftery 2007, doi:10.1198/016214506000001437, section 6.2.

    >>> interval_score(Outcome(-0.1, 0.0, 0.2)), interval_score(Outcome(0.01, 0.1, 0.2))
    (0.30000000000000004, 0.39)
    """
    miss = max(outcome.low, 0.0, -outcome.high)
    return outcome.high - outcome.low + 2 / (1 - predict.LEVEL) * miss


@cache
def ends() -> dict[str, list[float]]:
    """The two ends of an interval, as lines over the slope: quantiles of what was missed by."""
    splits = hold_outs(judging=False)
    share = np.array([predict.slope(one.shown) for one in splits])
    far = np.array([one.ahead for one in splits]) ** predict.WIDENS
    middle = [predict.carried_on(one.shown, 2**one.ahead) for one in splits]
    truth = [one.truth / one.shown.rate[-1] for one in splits]
    missed = np.log2(np.array(truth) / middle)
    count = weights([one.program for one in splits])
    features = np.stack([far, far * share], 1)
    tail = (1 - predict.LEVEL) / 2
    return {
        name: [round(float(x), 3) for x in regression(features, missed, count, level)]
        for name, level in (("low", tail), ("high", 1 - tail))
    }


def regression(
    features: np.ndarray, values: np.ndarray, count: np.ndarray, level: float
) -> np.ndarray:
    """The linear function of the features below which this share of the values lies.

    Source: Koenker and Bassett 1978, doi:10.2307/1913643.
    """
    rows, columns = features.shape
    one = sparse.eye(rows)
    parts = sparse.hstack([features, -features, one, -one]).tocsr()
    costs = np.concatenate(
        [np.zeros(2 * columns), rows * count * level, rows * count * (1 - level)]
    )
    solved = linprog(costs, A_eq=parts, b_eq=values, bounds=(0, None), method="highs")
    return solved.x[:columns] - solved.x[columns : 2 * columns]


@cache
def between() -> float:
    """What nine of ten sizes lie within of the line between their neighbours, in doublings.

    Relative to the root of the distances to both, as of a walk that is held at both ends.
    """
    misses, programs = [], []
    for _, program, _, rows in series(judging=False):
        steps, rates = np.log2(rows.workers), np.log2(rows.rate)
        for i in range(1, len(steps) - 1):
            left, right = steps[i] - steps[i - 1], steps[i + 1] - steps[i]
            line = np.interp(steps[i], steps[[i - 1, i + 1]], rates[[i - 1, i + 1]])
            misses.append(abs(rates[i] - line) / np.sqrt(left * right / (left + right)))
            programs.append(program)
    return round(quantile(misses, weights(programs), predict.LEVEL), 3)


def quantile(values: Sequence[float], count: np.ndarray, share: float) -> float:
    """The value below which this share of what they count lies."""
    order = np.argsort(values)
    below = np.cumsum(count[order])
    return float(np.asarray(values)[order][np.searchsorted(below, share * below[-1])])


def ours(split: HoldOut) -> Outcome:
    """A hold-out as the package predicts it."""
    found = predict.predict(split.shown, split.workers)
    truth = float(split.shown.value(split.workers, split.truth))
    logs = [float(np.log(x / truth)) for x in (found.low, found.value, found.high)]
    # A time that is too long is a rate that is too low.
    return Outcome(*(logs if found.unit == "throughput" else (-x for x in reversed(logs))))


def rival(split: HoldOut) -> float:
    """The logarithm of the rate by the last slope, damped by how fast slopes fell."""
    steps, rates = np.log2(split.shown.workers), np.log(split.shown.rate)
    before, last = np.diff(rates)[-2:] / np.diff(steps)[-2:]
    fell = min(1.0, max(0.0, last / before)) if before else 0.0
    return float(rates[-1] + last * split.ahead * (1 + fell) / 2)


@cache
def rival_width() -> float:
    """Nine tenths of what the rival missed by on the programs that teach, per doubling."""
    splits = hold_outs(judging=False)
    missed = [abs(rival(one) - np.log(one.truth)) / one.ahead for one in splits]
    return quantile(missed, weights([one.program for one in splits]), predict.LEVEL)


def rivals(split: HoldOut) -> Outcome:
    """A hold-out as the rival predicts it."""
    middle, width = rival(split) - float(np.log(split.truth)), rival_width() * split.ahead
    return Outcome(middle - width, middle, middle + width)


@dataclass(frozen=True)
class Score:
    """How well some way predicts: every program counts once."""

    median: float  # relative error
    far: float  # that of the worst tenth
    held: float | None = None  # the share of the intervals that held
    score: float | None = None  # the interval score


def score(
    splits: Sequence[HoldOut], way: Callable[[HoldOut], Outcome], interval: bool = True
) -> Score:
    """How well these hold-outs are predicted."""
    count = weights([one.program for one in splits])
    outcomes = [way(one) for one in splits]
    errors = [abs(float(np.expm1(one.median))) for one in outcomes]
    middle, far = (quantile(errors, count, share) for share in (0.5, 0.9))
    if not interval:
        return Score(middle, far)
    held = float(count @ [one.inside for one in outcomes])
    return Score(middle, far, held, float(count @ [interval_score(one) for one in outcomes]))


def held() -> list[dict[str, object]]:
    """How often the package's intervals held on programs that judge, for tables of each kind."""
    splits = hold_outs(judging=True)
    found = [(one, ours(one).inside, predict.slope(one.shown)) for one in splits]
    every = (None, True, False)
    cells = []
    for key in [
        *itertools.product(("", *KINDS), every, every, (None,)),
        *itertools.product(("",), (None,), every, (True,)),
    ]:
        kind, few, near, straight = key
        by_program = defaultdict(list)
        for one, inside, share in found:
            alike = kind in ("", one.kind) and few in (None, len(one.shown.workers) <= 4)
            alike = alike and near in (None, one.workers <= 2 * one.shown.workers[-1])
            if alike and (straight is None or share >= predict.STRAIGHT):
                by_program[one.program].append(inside)
        if len(by_program) >= _ENOUGH:
            held_ = list(itertools.chain.from_iterable(by_program.values()))
            share = round(float(np.mean([np.mean(each) for each in by_program.values()])), 4)
            counts = (sum(held_), len(held_), len(by_program))
            cells.append(asdict(predict.Coverage(*key, *counts, share)))
    return cells
