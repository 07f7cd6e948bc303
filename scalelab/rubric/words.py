"""How a rubric writes its numbers for people."""

from scalelab.rubric.report import Report
from scalelab.units import text


def money(dollars: float) -> str:
    """Write an amount of dollars.

    >>> money(1.2444), money(1.037e-6)
    ('$1.24', '$1.04e-06')
    """
    return f"${text(dollars)}"


def quality(value: float) -> str:
    """Write a quality: four figures, so that a drop in the third shows.

    >>> quality(0.8705)
    '0.8705'
    """
    return text(value, digits=4)


def counted(workers: int) -> str:
    """Write a number of workers."""
    return f"{text(workers, digits=12)} worker{'' if workers == 1 else 's'}"


def unit(report: Report) -> str:
    """What a cost per work is per: a unit of work, or the run where no work is stated."""
    return "unit of work" if report.work_stated else "run"
