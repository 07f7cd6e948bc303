"""How a rubric writes its numbers for people."""

from scalelab.rubric.report import Report
from scalelab.units import counted, text


def quality(value: float) -> str:
    """Write a quality: four figures, so that a drop in the third shows.

    >>> quality(0.8705)
    '0.8705'
    """
    return text(value, digits=4)


def workers(count: int) -> str:
    """Write a number of workers in a sentence."""
    return counted(count, grouped=True)


def unit(report: Report) -> str:
    """What a cost per work is per: a unit of work, or the run where no work is stated."""
    return "unit of work" if report.work_stated else "run"
