"""Where one straight line in (bytes, seconds) ends and the next begins.

A library changes its protocol with the size, so that a sweep has up to three regimes. In each of
them seconds = beta (half + bytes), half = alpha / beta >= 0: no latency can come out negative. What
is least is the surprise of relative errors under Student's t, so that one strange row does not bend
the line; a coarsely printed row is known to be coarse.
"""

import itertools
from typing import NamedTuple

import numpy as np

from scalelab.links.sweep import Sweep
from scalelab.models.checking import Numbers

DOF = 4.0  # of Student's t
FEWEST = 3  # sizes in a regime: two fit any line
_MOST = 2  # breakpoints
# A breakpoint is searched for, so it weighs three parameters: Ninomiya 2015, doi:10.1007/s10463-014-0481-x.
_BREAK = 3
_NOISES = np.geomspace(1e-3, 0.5, 10)
_NEGLIGIBLE = 0.02  # a way to cut that weighs less, beside the best, is left out
_CUTS = 30  # at most so many places for a breakpoint are tried


class Way(NamedTuple):
    """One way to cut a sweep into regimes."""

    weight: float  # beside the best one's 1
    edges: tuple[tuple[int, int], ...]  # first row, and row after the last
    noise: float  # relative error of a row, roughly


class Lines(NamedTuple):
    """One line per entry of `half`, as well placed as the rows allow."""

    half: np.ndarray  # bytes; 0 without latency, infinite without bandwidth
    level: np.ndarray  # log of beta, or of alpha where half is infinite
    error: np.ndarray  # standard error of the level
    likelihood: np.ndarray  # logarithm


def halves(sweep: Sweep, count: int = 50) -> np.ndarray:
    """Sizes of half bandwidth to try: beyond these the sweep cannot tell them from 0 and infinity."""
    low, high = sweep.size.min() / 300, sweep.size.max() * 300
    return np.concatenate([[0.0], np.geomspace(low, high, count), [np.inf]])


def shape(half: Numbers, size: Numbers) -> np.ndarray:
    """log(half + bytes), and 0 where only the latency is left."""
    size = np.asarray(size, float)
    with np.errstate(divide="ignore"):
        return np.where(np.isinf(half), 0.0, np.log(np.where(np.isinf(half), 0.0, half) + size))


def lines(sweep: Sweep, half: np.ndarray, noise: Numbers, steps: int = 10) -> Lines:
    """The best level for every half, by iteratively reweighted least squares.

    `half` is (..., H) and `noise` (...): many noises are tried at once.
    Source: Lange, Little and Taylor 1989, doi:10.1080/01621459.1989.10478852.
    """
    noise = np.asarray(noise, float)[..., None, None]
    gap = np.log(sweep.seconds)[:, None] - shape(half[..., None, :], sweep.size[:, None])
    variance = noise**2 + sweep.rounding[:, None] ** 2 / 3  # of a uniform error of that half-width
    level = np.median(gap, -2, keepdims=True)
    for _ in range(steps):
        weight = (DOF + 1) / (DOF * variance + (gap - level) ** 2)
        level = (weight * gap).sum(-2, keepdims=True) / weight.sum(-2, keepdims=True)
    surprise = np.log(variance) + (DOF + 1) * np.log1p((gap - level) ** 2 / variance / DOF)
    # The information of Student's t about its centre, (v + 1) / (v + 3) per variance.
    error = ((DOF + 1) / (DOF + 3) / variance).sum(-2) ** -0.5
    level = level.squeeze(-2)
    return Lines(half, level, np.broadcast_to(error, level.shape), -surprise.sum(-2) / 2)


def split(sweep: Sweep) -> list[Way]:
    """Every way to cut the rows into regimes that is worth a thought, the best one first.

    Ways have the weights exp(-BIC / 2) of the Bayesian information criterion, Schwarz 1978,
    doi:10.1214/aos/1176344136.
    """
    cuts = _cuts(sweep)
    pieces = {}
    for start, end in itertools.combinations(cuts, 2):
        if len(np.unique(sweep.size[start:end])) >= FEWEST:
            pieces[start, end] = _highest(sweep.at(slice(start, end)))
    judged = []
    for breaks in range(_MOST + 1):
        count = 2 * (breaks + 1) + _BREAK * breaks + 1  # with the noise
        if breaks and count >= len(sweep.size):
            break  # such a cut would leave nothing to judge it by
        for inner in itertools.combinations(cuts[1:-1], breaks):
            edges = tuple(itertools.pairwise((cuts[0], *inner, cuts[-1])))
            if all(edge in pieces for edge in edges):
                total = sum(pieces[edge] for edge in edges)
                criterion = count * np.log(len(sweep.size)) - 2 * total.max()
                judged.append((criterion, edges, float(_NOISES[total.argmax()])))
    least = min(judged)[0]
    weights = [np.exp((least - way[0]) / 2) for way in judged]
    ways = [Way(w, *way[1:]) for w, way in zip(weights, judged, strict=True) if w > _NEGLIGIBLE]
    return sorted(ways, reverse=True)


def _cuts(sweep):
    """First rows of sizes, where a regime may begin; all of them unless they are very many."""
    first = np.flatnonzero(np.diff(sweep.size, prepend=-1))
    keep = np.unique(np.linspace(0, len(first) - 1, min(len(first), _CUTS)).round().astype(int))
    return [*first[keep].tolist(), len(sweep.size)]


def _highest(part):
    """The likelihood of the best line, for each of the noises."""
    half = halves(part)
    likelihood = lines(part, half, _NOISES).likelihood
    best, highest = likelihood.argmax(-1).clip(2, len(half) - 3), likelihood.max(-1)
    low, high = half[best - 1], half[best + 1]
    for _ in range(4):
        finer = np.geomspace(low, high, 9, axis=-1)
        likelihood = lines(part, finer, _NOISES).likelihood
        highest = np.maximum(highest, likelihood.max(-1))
        best = likelihood.argmax(-1).clip(1, 7)[:, None]
        low, high = (np.take_along_axis(finer, best + x, -1)[:, 0] for x in (-1, 1))
    return highest
