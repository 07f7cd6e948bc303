"""What `import scalelab` offers at once: your own code timed, and a table of runs judged.

Each verb is one sentence about what exists elsewhere; what is heavy is imported when it is called.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from os import PathLike, fspath, path
from typing import TYPE_CHECKING, Any, TypeAlias

from scalelab.arguments import shown, whole
from scalelab.refusal import Refusal
from scalelab.stored import finite

if TYPE_CHECKING:
    from pandas import DataFrame

    from scalelab.curves.answer import Judgement
    from scalelab.measure.timing.compare import Compared
    from scalelab.measure.timing.passages import Block
    from scalelab.records import Sample
    from scalelab.tables.finding import Audit
    from scalelab.tables.nouns import ScalingTable

    Columns: TypeAlias = Mapping[str, Iterable[Any]]
    Rows: TypeAlias = Iterable[Mapping[str, Any]]
    Table: TypeAlias = ScalingTable | DataFrame | str | PathLike[str] | Columns | Rows


def time(
    function: Callable[[], object],
    *,
    label: str = "",
    budget: float = 1.0,
    precision: float = 0.02,
    device: str = "cpu",
) -> Sample:
    """Time a function of your own, until its median is known within `precision`. Section 3.1.

    It is called without arguments: `time(lambda: step(batch))`. On "cuda" the times are the GPU's own.
    `budget` seconds end it sooner, and then the result says what it does not know.

    >>> add = time(lambda: sum(range(1000)), budget=0.1)
    >>> add.low <= add.median <= add.high
    True
    """
    from scalelab.measure.timing import timing

    return timing.measure(function, label=label, budget=budget, precision=precision, device=device)


def compare(
    *functions: Callable[[], object] | Mapping[str, Callable[[], object]],
    budget: float = 2.0,
    precision: float = 0.02,
    device: str = "cpu",
) -> Compared:
    """Time functions by turns, and say of each whether it is faster than the first, or cannot tell.

    Give them one after the other, or as a dictionary with names for them. Section 3.1.

    >>> compare({"old": lambda: sum(range(9000)), "new": lambda: sum(range(900))}, budget=0.2).besides[0].says
    'faster'
    """
    from scalelab.measure.timing import compare as comparing, rounds

    match functions:
        case [Mapping() as labelled]:
            named = dict(labelled)
        case _:
            for one in functions:
                rounds.checked(one, budget, precision)  # type: ignore[arg-type]
            named = {}
            for one in functions:
                named[_unlike(rounds.named(one), named)] = one  # type: ignore[arg-type]
    return comparing.compare(named, budget=budget, precision=precision, device=device)


def block(label: str = "block", *, warmup: int = 0, device: str = "cpu") -> Block:
    """Time what stands in a `with`, every time that it is passed. Section 3.1.

    On "cuda" it waits for the GPU at both ends. The first `warmup` times do not count.

    >>> with block("adding") as adding:
    ...     total = sum(range(100_000))
    >>> adding.seconds > 0
    True
    """
    from scalelab.measure.timing import passages

    return passages.block(label, warmup=warmup, device=device)


def each(
    function: Callable[..., Any] | None = None,
    *,
    label: str = "",
    warmup: int = 0,
    device: str = "cpu",
) -> Any:
    """Decorate a function so that each of its calls is timed; its `sample` has the times. Section 3.1.

    >>> @each
    ... def add(size):
    ...     return sum(range(size))
    >>> add(10_000), add(20_000), len(add.sample.seconds)
    (49995000, 199990000, 2)
    """
    from scalelab.measure.timing import passages

    return passages.each(function, label=label, warmup=warmup, device=device)


def read(table: Table, *, sheet: str | None = None) -> ScalingTable:
    """Read a scaling table: a file, the name of a public series, columns, rows, or a DataFrame. Section 3.3.

    Of a workbook the `sheet` of that name, or the first that is a table.

    >>> read("usl_raytracer").workers[:4]
    (1, 4, 8, 12)
    >>> read({"workers": [1, 2, 4], "seconds": [60, 31, 17]}).values
    (60.0, 31.0, 17.0)
    """
    from scalelab.data import datasets
    from scalelab.tables import grid, table as tables
    from scalelab.tables.nouns import ScalingTable

    if sheet is not None and not isinstance(table, (str, PathLike)):
        raise Refusal(f"sheet must go with a workbook (.xlsx), got {shown(table)}: drop it")
    if isinstance(table, ScalingTable):
        return table
    if hasattr(table, "to_csv") and hasattr(table, "columns"):
        return tables.parse("frame", table.to_csv(index=False))
    if isinstance(table, (Mapping, list, tuple)):
        return tables.parse("rows", _rows(table))
    if not isinstance(table, (str, PathLike)):
        raise Refusal(
            "table must be a file, the name of a public series, columns in a dictionary, a list of rows, a "
            f"DataFrame or a ScalingTable, got {shown(table)}: write read('runs.csv')"
        )
    place = fspath(table)
    if sheet is not None:
        return tables.read(place, sheet)
    if isinstance(place, str) and not path.lexists(place) and place in datasets.names():
        return tables.of_series(datasets.load(place))
    if isinstance(place, str) and (absent := grid.absent(place)) is not None:
        raise absent
    return tables.read(place)


def _rows(table):
    """Return columns or rows as JSON; numbers of NumPy and of torch are numbers, and NaN is a gap."""

    def plain(one):
        if hasattr(one, "tolist"):
            return one.tolist()
        raise TypeError

    given = dict(table) if isinstance(table, Mapping) else table
    try:
        return json.dumps(finite(json.loads(json.dumps(given, default=plain))))
    except (TypeError, ValueError, RecursionError):
        raise Refusal(
            f"table must hold numbers and words, got {shown(table)}: write it like "
            "{'workers': [1, 2], 'seconds': [60, 31]}"
        ) from None


def audit(table: Table) -> Audit:
    """Say what is wrong with a scaling table, the worst first. Section 3.3.

    >>> [finding.name for finding in audit("sysbench_cpu")]
    ['hard_cap', 'one_run']
    """
    from scalelab.tables import audit as audits
    from scalelab.tables.finding import Audit

    found = read(table)
    return Audit(found, tuple(audits.audit(found)))


def fit(table: Table, at: int | Iterable[int] = (), **asked: Any) -> Judgement:
    """Fit every family of curves to a scaling table, and predict the sizes `at`. Section 3.9.

    What else may be asked stands in `curves.judge`: `family`, `despite`, `most`, `rate`.

    >>> fit("usl_raytracer", at=96).chosen
    'amdahl'
    """
    from scalelab.curves.answer import judge
    from scalelab.tables.table import MOST_WORKERS

    one_only = isinstance(at, (str, bytes)) or not isinstance(at, Iterable)
    targets: list[Any] = [at] if one_only else [*at]  # type: ignore[misc]
    for one in targets:
        whole("at", one, "it counts the workers to predict for", 1, MOST_WORKERS)
    return judge(read(table), targets, **asked)


def _unlike(label: str, taken: Mapping[str, object]) -> str:
    """Return a label that none has yet: the second lambda is not the first."""
    if label not in taken:
        return label
    return next(f"{label} {n}" for n in range(2, len(taken) + 2) if f"{label} {n}" not in taken)
