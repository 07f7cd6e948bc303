"""Work, depth, and what they allow any number of workers (Section 3.6).

Work is all there is to do; depth is the longest chain that must be done one after the other.
Both are read off a DAG of tasks. The bounds need no more than these two numbers.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np

from scalelab.models.checking import Answer, Floats, Numbers, answer, numbers
from scalelab.models.graphs.dag import compact, heights as _heights, total

if TYPE_CHECKING:
    from networkx import DiGraph

_WORK = "it is the cost of all tasks together"
_DEPTH = "it is the cost of the longest chain of tasks"
_WORKERS = "it counts the workers that share the tasks"
_PARALLELISM = "it is work divided by depth"
_FLOOR = "it is the lowest efficiency you accept, as a fraction"


def work(dag: DiGraph) -> float:
    """Cost of all tasks, which is the time of one worker: T_1 = sum of the weights.

    Source: Blelloch 1990, CMU-CS-90-190. Section 3.6.

    >>> from scalelab.models.graphs import dags
    >>> work(dags.tree_sum(1024))
    1023.0
    """
    return total(compact(dag).weights)


def depth(dag: DiGraph) -> float:
    """Cost of the longest chain, which no number of workers beats: T_inf.

    Source: Blelloch 1990, CMU-CS-90-190. Section 3.6.

    >>> from scalelab.models.graphs import dags
    >>> depth(dags.tree_sum(1024)), depth(dags.sequential_sum(1024))
    (10.0, 1023.0)
    """
    return max(_heights(compact(dag)))


def critical_path(dag: DiGraph) -> tuple[Hashable, ...]:
    """Tasks of a longest chain, first to last: with workers enough, where to make things faster.

    Source: the definition of depth, followed downhill. Section 3.6.

    >>> from scalelab.models.graphs import dags
    >>> critical_path(dags.sequential_sum(3))
    (0, 3, 4)
    """
    form = compact(dag)
    above = _heights(form)
    path = [max(range(len(above)), key=above.__getitem__)]
    while form.successors[path[-1]]:
        path.append(max(form.successors[path[-1]], key=above.__getitem__))
    return tuple(form.nodes[i] for i in path)


def parallelism(work: Numbers, depth: Numbers) -> Answer:
    """The largest speedup any number of workers can give: T_1 / T_inf.

    Source: Blelloch 1990, CMU-CS-90-190. Section 3.6.

    >>> parallelism(1023, 10)
    102.3
    """
    work, depth = _pair(work, depth)
    return answer(lambda w, d: w / d, work, depth)


def lower_bound(work: Numbers, depth: Numbers, workers: Numbers) -> Answer:
    """The time no schedule on K workers beats: max(T_1 / K, T_inf).

    Source: Graham 1969, doi:10.1137/0117039. Section 3.6.

    >>> lower_bound(1023, 10, [1, 64, 1024])
    array([1023.      ,   15.984375,   10.      ])
    """
    work, depth = _pair(work, depth)
    workers = numbers("workers", workers, _WORKERS, 1)
    return answer(lambda w, d, k: np.maximum(w / k, d), work, depth, workers)


def brent(work: Numbers, depth: Numbers, workers: Numbers) -> Answer:
    """The time no greedy schedule on K workers exceeds: (T_1 - T_inf) / K + T_inf.

    This is Amdahl's law with s = T_inf / T_1, and less than T_1 / K + T_inf.
    Source: Brent 1974, doi:10.1145/321812.321815; Graham 1969, doi:10.1137/0117039. Section 3.6.

    >>> brent(1023, 10, 64)
    25.828125
    """
    work, depth = _pair(work, depth)
    workers = numbers("workers", workers, _WORKERS, 1)
    return answer(lambda w, d, k: (w - d) / k + d, work, depth, workers)


def graham(workers: Numbers) -> Answer:
    """How many times as long as the best schedule a greedy one takes at most: 2 - 1 / K.

    Source: Graham 1969, doi:10.1137/0117039. Section 3.6.

    >>> graham([1, 2, 8])
    array([1.   , 1.5  , 1.875])
    """
    workers = numbers("workers", workers, _WORKERS, 1)
    return answer(lambda k: 2 - 1 / k, workers)


def busy_workers(parallelism: Numbers, floor: Numbers) -> Answer:
    """Workers up to which every greedy schedule keeps the efficiency: K = 1 + (1/E - 1) T_1 / T_inf.

    Source: solve Brent's bound for K at E = T_1 / (K T_K). Section 3.6.

    >>> busy_workers(102.4, 0.5)
    103.4
    """
    parallelism = numbers("parallelism", parallelism, _PARALLELISM, 1)
    floor = numbers("floor", floor, _FLOOR, 0, 1, above=True)
    return answer(lambda p, e: 1 + (1 / e - 1) * p, parallelism, floor)


def _pair(work: Numbers, depth: Numbers) -> tuple[Floats, Floats]:
    work = numbers("work", work, _WORK, 0, above=True)
    depth = numbers("depth", depth, _DEPTH, 0, above=True)
    share = answer(lambda w, d: d / w, work, depth)
    # Both may be sums of floats in different orders, hence the hair.
    numbers("depth / work", share, "the longest chain is part of the work", 0, 1 + 1e-9)
    return work, depth
