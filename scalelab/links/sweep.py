"""A sweep of message sizes as alpha and beta are fitted to it: sizes, seconds, and how exact they are.

Published sweeps print a bandwidth with two decimals; where that reads 0.01 the time behind it lies
anywhere within a factor of three, and a fit must know.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Self

import numpy as np

from scalelab.arguments import shown, whole
from scalelab.data import datasets
from scalelab.links import factors
from scalelab.models.checking import Numbers
from scalelab.records import Recording, Sample
from scalelab.refusal import Refusal
from scalelab.units import parse

_LEAST = 0.1  # of a printed rate: "0.00" leaves even its order of magnitude open


@dataclass(frozen=True)
class Sweep:
    """Times of one operation by size, in ascending order; several rows may share a size."""

    size: np.ndarray  # bytes of the message
    seconds: np.ndarray
    rounding: np.ndarray  # how far the truth may lie from what was printed, relative
    workers: int = 2
    collective: str = "send"
    algorithm: str | None = None  # None where the library chose for itself

    @classmethod
    def of(
        cls,
        size: Numbers,
        seconds: Numbers,
        *,
        workers: int = 2,
        collective: str = "send",
        algorithm: str | None = None,
    ) -> Self:
        """Read two columns; seconds in text, such as "12.3", are known to half of the last digit.

        >>> Sweep.of([1024, 2048], ["0.0125", "0.0130"]).rounding.round(4).tolist()
        [0.004, 0.0038]
        """
        seconds, half = _column("seconds", seconds)
        return cls._checked(size, seconds, half / seconds, workers, collective, algorithm)

    @classmethod
    def of_rates(
        cls,
        size: Numbers,
        rate: Numbers,
        unit: str = "GB/s",
        *,
        workers: int,
        collective: str,
        algorithm: str | None = None,
    ) -> Self:
        """Read sizes and bus bandwidths as nccl-tests prints them: seconds = factor x size / rate.

        >>> sweep = Sweep.of_rates([2**20], ["45.00"], workers=8, collective="all-reduce")
        >>> f"{sweep.seconds[0] * 1e6:.2f}"
        '40.78'
        """
        rate, half = _column("rate", rate)
        share = factors.factor(collective, workers)
        size, _ = _column("size", size)
        if len(size) != len(rate):
            raise Refusal(
                f"rate must be a column of {len(size)} rows, got {len(rate)}: give one per size"
            )
        seconds = share * size / (rate * parse(f"1 {unit}", "B/s"))
        half = np.minimum(half, (1 - _LEAST) * rate)
        rounding = np.log((rate + half) / (rate - half)) / 2
        return cls._checked(size, seconds, rounding, workers, collective, algorithm)

    @classmethod
    def published(cls, name: str) -> Self:
        """Return a bundled sweep; what the library chose there, nobody printed.

        >>> len(Sweep.published("nccl_allreduce_8xH200_payload").size)
        20
        """
        if name not in published_names():
            raise Refusal(
                f"name must be one of {', '.join(published_names())}, got {shown(name)}: choose one"
            )
        series = datasets.load(name)
        sizes = series.column("payload")
        assert sizes is not None, "such are the names of `published_names`"
        return cls.of_rates(
            sizes,
            series.values,
            series.unit,
            workers=series.workers[0],
            collective="all-reduce",
        )

    @classmethod
    def recorded(
        cls,
        samples: Recording | Iterable[Sample],
        *,
        collective: str | None = None,
        algorithm: str | None = None,
    ) -> Self:
        """Read measured samples, or a Recording of them: ours, or those of `data.nccl_tests.read`.

        Each gives its median at `given["bytes"]`; what it says of workers, collective and algorithm
        holds where the arguments leave it open.
        """
        listed = samples.samples if isinstance(samples, Recording) else tuple(samples)
        given = [sample.given for sample in listed]
        if not given or not all("bytes" in keys and "workers" in keys for keys in given):
            raise Refusal(
                f"samples must be a sweep that tells bytes and workers, got {len(given)} of which "
                f"{sum('bytes' in keys for keys in given)} tell bytes: measure.collectives makes one"
            )
        experiment: dict[str, set[Any]] = {
            key: {keys.get(key) for keys in given} for key in ("workers", "algorithm")
        }
        experiment["collective"] = {
            keys.get("collective") or sample.label.split(" of ")[0]
            for keys, sample in zip(given, listed, strict=True)
        }
        for key, values in experiment.items():
            if len(values) > 1:
                raise Refusal(
                    f"samples must be of one experiment, got {key} {shown(sorted(map(str, values)))}"
                    ": fit them one by one"
                )
        return cls.of(
            [keys["bytes"] for keys in given],
            [sample.median for sample in listed],
            workers=int(experiment["workers"].pop()),
            collective=collective or experiment["collective"].pop(),
            algorithm=algorithm or experiment["algorithm"].pop(),
        )

    @classmethod
    def _checked(cls, size, seconds, rounding, workers, collective, algorithm):
        size, _ = _column("size", size)
        if len(size) != len(seconds):
            raise Refusal(
                f"seconds must be a column of {len(size)} rows, got {len(seconds)}: one per size"
            )
        workers = whole("workers", workers, "it counts the ranks that take part", 2)
        collective = factors.named(collective)
        order = np.argsort(size, kind="stable")
        return cls(size[order], seconds[order], rounding[order], workers, collective, algorithm)

    def at(self, mask: np.ndarray | slice) -> "Sweep":
        """The rows that a mask keeps."""
        return Sweep(
            self.size[mask],
            self.seconds[mask],
            self.rounding[mask],
            self.workers,
            self.collective,
            self.algorithm,
        )


def published_names() -> tuple[str, ...]:
    """The bundled sweeps of sizes: `datasets` holds sweeps of workers, too.

    >>> published_names()
    ('nccl_allreduce_8xH200_payload', 'nccl_allreduce_4x8xB200_payload')
    """
    return tuple(
        n for n in datasets.names() if n.startswith("nccl") and datasets.load(n).column("payload")
    )


def _column(name: str, given: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return positive numbers, and the half of the last digit that was printed of each.

    Text and published floats tell their decimals. A format never prints a larger number with more
    of them, so a value has at least those of any larger one: "473.1" beside "482.26" is 473.10.
    """
    if isinstance(given, str) or not np.iterable(given):
        given = [given]
    given = list(given)
    try:
        if any(isinstance(x, (bool, np.bool_)) for x in given):
            raise TypeError
        values = np.array([float(x) for x in given])
    except (TypeError, ValueError, OverflowError):
        raise Refusal(
            f"{name} must be a column of numbers, got {shown(given)}: give one number per row"
        ) from None
    wrong = values[~((values > 1e-30) & (values < 1e30))]
    if wrong.size or not values.size:
        raise Refusal(
            f"{name} must be positive numbers, at least one, got "
            f"{wrong[0] if wrong.size else 'none'}: correct or leave out the row"
        )
    decimals = np.array([_decimals(x) for x in given])
    shown_of_larger = np.array([decimals[values >= v].max() for v in values])
    return values, 0.5 * 10.0**-shown_of_larger


def _decimals(given):
    try:
        text = given if isinstance(given, str) else repr(float(given))
        exponent = Decimal(text.strip()).as_tuple().exponent
        return max(0, -int(exponent))  # a number: what is not finite was refused
    except InvalidOperation:  # digits of another alphabet that float() reads
        return 0
