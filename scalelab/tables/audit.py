"""What is wrong with a scaling table: named findings, each with its remedy (Section 3.3).

An *error* makes the numbers useless as they stand, a *warning* makes a conclusion wrong, a *note*
limits what may be concluded. Rules on what a table says are in `entries` and `study`, those on its
curve in `shape`.
"""

from scalelab.refusal import Refusal
from scalelab.tables import entries, shape, sizes, study
from scalelab.tables.finding import SEVERITIES, Finding
from scalelab.tables.table import ScalingTable


def audit(table: ScalingTable) -> list[Finding]:
    """Return the findings on a scaling table, the worst first; none if nothing is wrong.

    >>> from scalelab.data import datasets
    >>> from scalelab.tables.table import of_series
    >>> [f.name for f in audit(of_series(datasets.load("sysbench_cpu")))]
    ['hard_cap', 'one_run']
    """
    if not isinstance(table, ScalingTable):
        raise Refusal(
            f"table must be a ScalingTable, got {type(table).__name__}: read it with table.read"
        )
    curve = sizes.sizes(table, weak=study.weak(table))
    on_the_table = [rule(table) for rule in _ON_THE_TABLE]
    return sorted(
        [*filter(None, on_the_table), *shape.findings(table, curve)],
        key=lambda finding: SEVERITIES.index(finding.severity),
    )


_ON_THE_TABLE = (
    entries.no_baseline,
    entries.per_worker,
    study.mixed,
    study.mislabelled,
    study.batch,
    entries.quality,
    entries.cost,
    entries.machines,
    entries.written_units,
    entries.duplicates,
    entries.few_points,
    entries.failed,
    entries.missing,
    entries.relative_base,
    entries.one_run,
)
