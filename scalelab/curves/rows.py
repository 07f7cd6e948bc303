"""The rows of a scaling table as arrays, and as rates: work per second, whatever was written down."""

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from scalelab.arguments import shown
from scalelab.models.checking import Answer
from scalelab.refusal import Refusal


@dataclass(frozen=True)
class Rows:
    """Worker counts, each once and ascending, and what was measured there: of several runs the median.

    One odd run therefore moves no fit, no prediction and no point of a figure, and all of them start
    from the same numbers. With a column of work a time becomes a rate, and a weak study a growing one.
    Work that neither stays nor grows with the workers leaves no time to predict, so the unit becomes
    throughput.
    """

    workers: np.ndarray
    rate: np.ndarray
    unit: str  # "seconds" or "throughput": what a prediction is given in
    work: float = field(default=1.0)  # of the job whose seconds are predicted; of a worker, if ...
    grows: bool = False  # ... the work grows with the workers: weak scaling

    @classmethod
    def of(
        cls,
        workers: ArrayLike,
        *,
        seconds: ArrayLike | None = None,
        throughput: ArrayLike | None = None,
        work: ArrayLike | None = None,
        weak: bool = False,
    ) -> Self:
        """Read columns of equal length; one of seconds and throughput is given.

        `weak` says that every worker brings its own work, where no column does.
        """
        if (seconds is None) == (throughput is None):
            raise Refusal(
                "seconds or throughput must be given, one of them, got "
                f"{'neither' if seconds is None else 'both'}: pass the column that was measured"
            )
        unit = "seconds" if throughput is None else "throughput"
        workers = _column("workers", workers)
        value = _column(unit, seconds if throughput is None else throughput, len(workers))
        if unit == "throughput":
            sizes, rate = _medians(workers, value)
            return cls(sizes, rate, unit, grows=weak)
        if work is None:
            work = workers if weak else np.ones(len(workers))
        work = _column("work", work, len(workers))
        sizes, each = _medians(workers, value / work)
        # Less is the rounding of a column. A batch that rounds by percents is no fixed job to predict the
        # time of, though an audit calls it one (`sizes.SAME`): what is predicted is then its throughput.
        for grows, share in ((False, work), (True, work / workers)):
            if np.ptp(np.log(share)) < 1e-3:
                return cls(sizes, 1 / each, unit, float(np.median(share)), grows)
        return cls(sizes, 1 / each, "throughput", grows=weak)

    @property
    def base(self) -> float:
        """The smallest configuration that was measured."""
        return float(self.workers[0])

    def at(self, mask: np.ndarray) -> Self:
        """The rows that a mask keeps."""
        return replace(self, workers=self.workers[mask], rate=self.rate[mask])

    def value(self, workers: float | np.ndarray, rate: float | np.ndarray) -> Answer:
        """A rate in the unit of the table."""
        if self.unit == "throughput":
            return rate
        return self.work * (workers if self.grows else 1) / rate


def _medians(workers: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each size once, ascending, with the median of its values."""
    sizes = np.unique(workers)
    return sizes, np.array([float(np.median(values[workers == size])) for size in sizes])


def _column(name: str, given: ArrayLike | None, length: int | None = None) -> np.ndarray:
    try:
        column = np.atleast_1d(np.asarray(given, float))
    except (TypeError, ValueError):
        raise Refusal(
            f"{name} must be a column of numbers, got {shown(given)}: give one number per row"
        ) from None
    if column.ndim != 1 or not column.size or (length is not None and len(column) != length):
        raise Refusal(
            f"{name} must be a column of {length or 'at least one'} rows, got an array of shape "
            f"{column.shape}: give one number per row"
        )
    wrong = column[~((column > 1e-150) & (column < 1e150))]
    if wrong.size:
        raise Refusal(
            f"{name} must be positive finite numbers, got {wrong[0]:g}: correct or leave out the row"
        )
    return column
