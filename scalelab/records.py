"""What a measurement leaves behind: frozen records, kept as versioned JSON.

Every value carries its origin: the machine, the date, and whether this run measured it.
Standard library only; every layer may import it.
"""

import hashlib
import json
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn, Self, get_args

from scalelab import ranks, stored
from scalelab.arguments import real, scalar, shown, whole
from scalelab.refusal import Refusal
from scalelab.seen import Seen
from scalelab.units import alike, counted

VERSION = 2  # of version 1 a caution was its sentence alone
KINDS = ("measured here", "recorded", "published", "model")
UNMEASURED = ("published", "model")  # on no machine that could be named


@dataclass(frozen=True)
class Gpu:
    """A GPU as its driver describes it."""

    name: str
    memory: int | None = None  # bytes
    power_limit: float | None = None  # watts it may draw, as set now


@dataclass(frozen=True)
class Machine:
    """The host a number was measured on."""

    name: str  # what a stamp shows: "AMD EPYC, 2 cores, 25 GB"
    cores: int | None  # how many this process may use; None where a foreign file does not say
    memory: int | None = None  # bytes
    # What one core sees, in bytes per level.
    caches: dict[str, int] = field(default_factory=dict, hash=False)
    processor: str = ""
    system: str = ""
    python: str = ""
    numpy: str = ""
    torch: str = ""
    # How many caches of a level the usable cores have between them.
    cache_counts: dict[str, int] = field(default_factory=dict, hash=False)
    gpus: tuple[Gpu, ...] = ()  # those this process may use
    driver: str = ""  # of the GPUs
    cuda: str = ""  # what PyTorch was built for
    # Of the moment, so two machines that differ in nothing else are one.
    affinity: str = field(default="", compare=False)  # which cores, as in "0-3,8"
    load: float | None = field(default=None, compare=False)  # waiting and running, last minute

    def __post_init__(self) -> None:
        object.__setattr__(self, "gpus", tuple(self.gpus))
        if self.cores is not None:
            whole("cores", self.cores, "it counts what this process may use")


@dataclass(frozen=True)
class Stamp:
    """Where a number comes from, as one line for under a figure."""

    kind: str  # one of KINDS
    machine: Machine | None = None
    date: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise Refusal(
                f"kind must be one of {', '.join(KINDS)}, got {self.kind!r}: say where from"
            )
        if (self.kind in UNMEASURED) != (self.machine is None):
            raise Refusal(
                f"machine must be given for a measurement and for nothing else, got kind "
                f"{self.kind!r} and machine {self.machine!r}: name the host, or call it a model"
            )
        if self.kind == "published" and not self.note:
            raise Refusal(
                f"note must name what published it, got {self.note!r}: write 'data sheets' or a paper"
            )

    @property
    def text(self) -> str:
        """The line itself; a recorded number names the versions it depends on."""
        parts = [self.kind, self.machine.name if self.machine else ""]
        if self.kind == "model" and not self.note:  # which may say that what went in was measured
            parts[1] = "no measurement"
        if self.kind == "recorded" and self.machine:
            versions = ("Python", self.machine.python), ("torch", self.machine.torch)
            parts[1] += "".join(f", {name} {version}" for name, version in versions if version)
        return " · ".join(filter(None, [*parts, self.date, self.note]))


@dataclass(frozen=True)
class Caution:
    """What may be wrong with timings and what to do about it, under the name of the case."""

    name: str
    text: str

    @classmethod
    def of_text(cls, text: str) -> Self:
        """Return what a file of version 1 holds: nobody knows its case, so it is one of its own."""
        return cls(text, text)


@dataclass(frozen=True)
class Sample(Seen):
    """Repeated timings of one thing: all that came after the warm-up."""

    label: str
    seconds: tuple[float, ...]  # per call
    inner: int  # calls behind each of them
    machine: Machine
    date: str
    stopped: str = ""  # why the measurement ended
    advice: tuple[Caution, ...] = ()
    # The conditions, such as workers or bytes.
    given: dict[str, float | str | bool] = field(default_factory=dict, hash=False)
    # Not stored: whoever reads a file did not measure it.
    kind: str = field(default="measured here", compare=False, metadata={"stored": False})

    def __post_init__(self) -> None:
        object.__setattr__(self, "seconds", tuple(self.seconds))
        wrong = [s for s in self.seconds if not 0 < scalar(s) < math.inf]
        if wrong or not self.seconds:
            raise Refusal(
                f"seconds must be positive finite numbers, at least one, got "
                f"{shown(wrong[0] if wrong else 'none')}: give the time of each repetition"
            )
        whole("inner", self.inner, "it counts the calls behind each of the seconds")

    def __repr__(self) -> str:
        median, low, high = alike([self.median, self.low, self.high], "s")
        once = len(self.seconds) == 1
        time = f"{median}, once" if once else f"{median} ({low} to {high})"
        often = "" if once else f", {counted(len(self.seconds), 'repetition')}"
        odd = ", ".join(one.name for one in self.advice)
        return f"<Sample {self.label}: {time}{often}{f'; caution: {odd}' if odd else ''}>"

    def facts(self) -> Mapping[str, Sequence[object]]:
        """A row for each repetition."""
        count = len(self.seconds)
        return {
            "label": [self.label] * count,
            "repetition": range(1, count + 1),
            "seconds": self.seconds,
        }

    def summary(self) -> Mapping[str, Sequence[object]]:
        """One row for all repetitions."""
        return {
            "label": [self.label],
            "time": [alike([self.median], "s")[0]],
            "95% interval": [" to ".join(alike([self.low, self.high], "s"))],
            "fastest": [alike([min(self.seconds)], "s")[0]],
            "repetitions": [len(self.seconds)],
            "stopped": [self.stopped],
        }

    @property
    def median(self) -> float:
        """Half of the repetitions were faster."""
        return statistics.median(self.seconds)

    @property
    def low(self) -> float:
        """Lower end of the interval that covers the true median with probability `coverage`."""
        return ranks.enclosing(self.seconds)[0]

    @property
    def high(self) -> float:
        """Upper end of that interval."""
        return ranks.enclosing(self.seconds)[1]

    @property
    def coverage(self) -> float:
        """At least 0.95 from six repetitions on; fewer cannot promise that."""
        return ranks.narrowest(len(self.seconds))[1]

    @property
    def stamp(self) -> Stamp:
        """Where these timings come from, and what of them was emulated."""
        return Stamp(self.kind, self.machine, self.date, str(self.given.get("emulated", "")))


@dataclass(frozen=True)
class Split:
    """Where one worker's time went in one training step: its parts add up to the step."""

    label: str
    workers: int  # the configuration it belongs to: how many took part ...
    rank: int  # ... which of them this is ...
    seconds: float  # ... and how long the step took
    compute: float  # working, whatever else went on
    exposed: float  # communicating, with no compute to hide it
    launch: float  # the device had nothing to do, and the host was about to give it something
    idle: float  # none of these
    communication: float  # all of it: exposed or hidden
    machine: Machine
    date: str
    waiting: float | None = None  # of the exposed: before the last worker had arrived
    kind: str = field(default="measured here", compare=False, metadata={"stored": False})

    def __post_init__(self) -> None:
        whole("workers", self.workers, "it counts the workers of the step")
        whole("rank", self.rank, "it is one of the workers", 0, self.workers - 1)
        real("seconds", self.seconds, "it is the time of the step", 0, above=True)
        parts = ("compute", "exposed", "launch", "idle", "communication", "waiting")
        for name in parts if self.waiting is not None else parts[:-1]:
            real(name, getattr(self, name), "it is a part of the step, in seconds", 0)
        total = self.compute + self.exposed + self.launch + self.idle
        hair = 1e-6 * self.seconds  # what rounding may do
        if abs(total - self.seconds) > hair:
            raise Refusal(
                "compute, exposed, launch and idle must add up to the step's "
                f"{self.seconds:g} s, got {total:g} s: count every moment once"
            )
        if not (self.waiting or 0) <= self.exposed + hair <= self.communication + 2 * hair:
            raise Refusal(
                f"exposed must lie between waiting ({self.waiting}) and communication "
                f"({self.communication:g} s), got {self.exposed:g} s: it is the part nothing hides"
            )

    @property
    def hidden(self) -> float:
        """Communication behind compute: it costs nothing."""
        return max(0.0, self.communication - self.exposed)

    @property
    def exposed_share(self) -> float:
        """Exposed share of the whole step, launches and idling included, on this many workers.

        A serial fraction counts against the computing alone: `laws.step_serial(compute, exposed)`,
        which is the larger of the two wherever the step launches or idles.
        """
        return self.exposed / self.seconds

    @property
    def stamp(self) -> Stamp:
        """Where these times come from."""
        return Stamp(self.kind, self.machine, self.date)


@dataclass(frozen=True)
class Recording:
    """Samples of one experiment, kept for machines that cannot repeat it."""

    title: str
    samples: tuple[Sample, ...]
    note: str = ""


@dataclass(frozen=True)
class Pass:
    """One run whose time and quality belong together: measured in one run, and bound by a seal.

    `scalelab.measure.capstone.one_pass` makes it. The seal shows that a file was edited by hand; it is no
    signature, for whoever has this code can seal again.
    """

    workers: int
    seconds: float  # of the work region, on the slowest rank
    quality: float  # of what that work produced
    metric: str  # what quality is: "accuracy"
    better: str  # "higher" or "lower"
    configuration: dict[str, float | str | bool] = field(hash=False)  # the same in all rows
    seed: int
    data: str  # digest of what quality was evaluated on
    code: str  # digest of what ran
    machine: Machine
    date: str
    elapsed: float  # seconds of the whole pass: warm-up, work, evaluation
    # What changes with the workers on purpose, such as the global batch.
    varied: dict[str, float | str | bool] = field(default_factory=dict, hash=False)
    work: float | None = None  # useful results of the region: samples, tokens, items
    rate: float | None = None  # dollars per hour of all workers together
    joules: float | None = None
    exposed: float | None = (
        None  # seconds of the region in which communication was all that went on
    )
    latency: float | None = None  # seconds of a single result, at the percentile that is promised
    seal: str = ""
    kind: str = field(default="measured here", compare=False, metadata={"stored": False})

    def __post_init__(self) -> None:
        whole("workers", self.workers, "it counts the workers of the run")
        real("seconds", self.seconds, "it is the time of the work region", 0, above=True)
        real("quality", self.quality, "it was evaluated in the same run")
        real("elapsed", self.elapsed, "the work region is a part of it", self.seconds * (1 - 1e-9))
        if self.better not in ("higher", "lower"):
            raise Refusal(
                f"better must be higher or lower, got {shown(self.better)}: "
                "say which way the quality improves"
            )
        for name in ("work", "rate", "joules", "exposed", "latency"):
            if getattr(self, name) is not None:
                real(name, getattr(self, name), "leave it out where it was not measured", 0)

    @property
    def digest(self) -> str:
        """What the seal of these values is."""
        values = stored.plain(self) | {"machine": self.machine.name, "seal": ""}
        text = json.dumps(values, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def intact(self) -> bool:
        """Whether it is what was sealed."""
        return self.seal == self.digest

    @property
    def stamp(self) -> Stamp:
        """Where time and quality come from."""
        return Stamp(self.kind, self.machine, self.date, "time and quality from one pass")


@dataclass(frozen=True)
class Passes:
    """Passes of one study: what a capstone hands in."""

    title: str
    passes: tuple[Pass, ...]
    note: str = ""


Record = Machine | Sample | Split | Recording | Pass | Passes  # what is stored
_RECORDS = {record.__name__: record for record in get_args(Record)}


def to_json(record: Record) -> str:
    """Write any of these records as JSON text, with the version of the format.

    >>> from_json(to_json(Machine("laptop", cores=4))) == Machine("laptop", cores=4)
    True
    """
    if type(record) not in _RECORDS.values():
        raise Refusal(
            f"record must be one of {', '.join(_RECORDS)}, got {shown(record)}: only these are stored"
        )
    head = {"record": type(record).__name__, "version": VERSION}
    try:
        text = json.dumps(head | stored.plain(record), indent=1, allow_nan=False) + "\n"
        from_json(text)  # or it would be found out when the measurement is long over
        return text
    except (TypeError, ValueError):
        raise Refusal(
            f"record must hold finite numbers and text only, got {shown(record)}: "
            "convert what is in it first"
        ) from None


def from_json(text: str | bytes) -> Record:
    """Read what `to_json` of this or a later version wrote; what it read is "recorded".

    Fields this version does not know are ignored.
    """
    try:
        data = json.loads(text, parse_constant=_refuse)  # Python would read NaN and Infinity
        record = _RECORDS[data["record"]]
    except (TypeError, ValueError, KeyError, RecursionError):
        raise Refusal(
            f'text must be JSON with "record" one of {", ".join(_RECORDS)}, got {shown(text)}: '
            "give what to_json wrote"
        ) from None
    return stored.build(record, data)


def _refuse(constant: str) -> NoReturn:
    raise Refusal(constant)
