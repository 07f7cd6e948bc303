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
    """Worker counts and what was measured on them; replicates are rows, their order means nothing.

    With a column of work a time becomes a rate, and a weak study a growing one. Work that neither
    stays nor grows with the workers leaves no time to predict, so the unit becomes throughput.
    """

    workers: np.ndarray
    rate: np.ndarray
    unit: str  # "seconds" or "throughput": what a prediction is given in
    work: float = field(default=1.0)  # of the job whose seconds are predicted ...
    grows: bool = False  # ... per worker, when it grows with them

    @classmethod
    def of(
        cls,
        workers: ArrayLike,
        *,
        seconds: ArrayLike | None = None,
        throughput: ArrayLike | None = None,
        work: ArrayLike | None = None,
    ) -> Self:
        """Read columns of equal length; one of seconds and throughput is given."""
        if (seconds is None) == (throughput is None):
            raise Refusal(
                "seconds or throughput must be given, one of them, got "
                f"{'neither' if seconds is None else 'both'}: pass the column that was measured"
            )
        unit = "seconds" if throughput is None else "throughput"
        workers = _column("workers", workers)
        value = _column(unit, seconds if throughput is None else throughput, len(workers))
        order = np.lexsort((value, workers))
        workers, value = workers[order], value[order]
        if unit == "throughput":
            return cls(workers, value, unit)
        if work is None:
            return cls(workers, 1 / value, unit)
        work = _column("work", work, len(workers))[order]
        # Less is the rounding of a column. A batch that rounds by percents is no fixed job to predict the
        # time of, though an audit calls it one (`sizes.SAME`): what is predicted is then its throughput.
        for grows, share in ((False, work), (True, work / workers)):
            if np.ptp(np.log(share)) < 1e-3:
                return cls(workers, work / value, unit, float(np.median(share)), grows)
        return cls(workers, work / value, "throughput")

    @property
    def base(self) -> float:
        """The smallest configuration that was measured."""
        return float(self.workers[0])

    @property
    def sizes(self) -> np.ndarray:
        """The different worker counts, ascending."""
        return np.unique(self.workers)

    def at(self, mask: np.ndarray) -> Self:
        """The rows that a mask keeps."""
        return replace(self, workers=self.workers[mask], rate=self.rate[mask])

    def medians(self) -> Self:
        """One row for each size, the median of its runs: one odd run moves no prediction."""
        rates = [float(np.median(self.rate[self.workers == size])) for size in self.sizes]
        return replace(self, workers=self.sizes, rate=np.array(rates))

    def condensed(self, most: int) -> Self:
        """No more rows than `most`, or one for each size: replicates averaged in groups.

        Which goes into which group is drawn, because the rows of a size stand in order. Averages
        scatter less than rows, and fewer of them say less; the two make up for each other.
        """
        if len(self.workers) <= most:
            return self
        sizes, luck = self.sizes, np.random.default_rng(0)
        workers, rates = [], []
        for size in sizes:
            logs = luck.permutation(np.log(self.rate[self.workers == size]))
            groups = np.array_split(logs, min(len(logs), max(1, most // len(sizes))))
            workers += [size] * len(groups)
            rates += sorted(float(np.exp(group.mean())) for group in groups)
        return replace(self, workers=np.array(workers), rate=np.array(rates))

    def value(self, workers: float | np.ndarray, rate: float | np.ndarray) -> Answer:
        """A rate in the unit of the table."""
        if self.unit == "throughput":
            return rate
        return self.work * (workers if self.grows else 1) / rate


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
