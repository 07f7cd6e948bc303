"""The nouns of a rubric: what a study must keep, one judged configuration, and the report on all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scalelab.arguments import real, shown
from scalelab.records import Stamp
from scalelab.refusal import Refusal
from scalelab.rubric.gate import Gate
from scalelab.rubric.shortfall import Serial, Shortfall
from scalelab.rubric.spread import Spread, bound
from scalelab.seen import Seen
from scalelab.units import counted

PREFERENCES = ("fastest", "cheapest")


@dataclass(frozen=True)
class Constraints:
    """What a configuration must keep; None asks for nothing."""

    floor: float = 0.70  # least efficiency
    tolerance: float = 0.005  # of quality, in its own unit
    deadline: float | None = None  # most seconds of the run
    budget: float | None = None  # most dollars of the run
    latency: float | None = None  # most seconds of a single result
    throughput: float | None = None  # least useful results per second
    joules: float | None = None  # most joules of the run
    grams: float | None = None  # most grams of CO2 of the run
    prefer: str | None = None  # "fastest" or "cheapest"; None lets the limits say

    def __post_init__(self) -> None:
        real("floor", self.floor, "it is the least efficiency, as a fraction", 0, 1)
        real("tolerance", self.tolerance, "it is the loss of quality that is accepted", 0)
        for name in ("deadline", "budget", "latency", "throughput", "joules", "grams"):
            if (value := getattr(self, name)) is not None:
                real(name, value, "leave it out to ask for nothing", 0, above=True)
        if self.prefer is not None and self.prefer not in PREFERENCES:
            raise Refusal(
                f"prefer must be fastest or cheapest, got {shown(self.prefer)}: choose one"
            )

    @property
    def objective(self) -> str:
        """What the choice is by: a demand on speed makes it the price, else it is speed."""
        if self.prefer:
            return self.prefer
        demands = (self.deadline, self.latency, self.throughput)
        return "cheapest" if any(d is not None for d in demands) else "fastest"


@dataclass(frozen=True)
class Scores:
    """One configuration, and what is said of it."""

    workers: int
    seconds: float  # median of the runs
    speedup: float  # over the baseline; of work per second where the work grows
    efficiency: float
    quality: float  # mean of the runs
    cost: float  # dollars
    cost_per_work: float
    work_per_cost: float
    joules: float | None
    joules_per_work: float | None
    grams: float | None  # of CO2
    throughput: float  # work per second
    time: float  # seconds per unit of work: what rows are ranked by
    latency: float | None
    karp_flatt: (
        float | None
    )  # the serial fraction that this row alone implies; None for the baseline
    runs: int
    gate: Gate
    speedup_spread: Spread
    efficiency_spread: Spread
    cost_spread: Spread  # of the dollars per work
    missed: tuple[str, ...] = ()  # names of limits
    learning: float | None = None  # algorithmic efficiency, where the training to a target is known

    @property
    def passes_gate(self) -> bool | None:
        """True, False, or None where noise leaves it open."""
        return self.gate.passes

    @property
    def system(self) -> float | None:
        """What of the efficiency the machines alone keep; None where the training is not known."""
        return None if self.learning is None else self.efficiency / self.learning

    @property
    def spreads(self) -> dict[str, Spread]:
        """Between what each number that can be claimed surely lies, by its name."""
        gate = self.gate
        return {
            "speedup": self.speedup_spread,
            "efficiency": self.efficiency_spread,
            "loss": Spread(gate.low, gate.high, gate.tested),
            "cost": self.cost_spread.times(self.cost / self.cost_per_work),
            "cost_per_work": self.cost_spread,
        }

    def supports(self, **stated: float) -> dict[str, str]:
        """Whether each number stated is "supported", "contradicted" or "undecided" by the runs.

        `speedup` and `efficiency` are claimed to be at least so much, `loss` of quality, `cost` and
        `cost_per_work` at most. Section 41.6.
        """
        asked = {name: {bound(name): value} for name, value in stated.items()}
        return {name: self.spreads[name].verdict(**ends) for name, ends in asked.items()}

    @property
    def eligible(self) -> bool:
        """Whether it passes the gate and meets every limit."""
        return self.passes_gate is True and not self.missed


@dataclass(frozen=True)
class Report(Seen):
    """Everything that one pass over the rows says."""

    rows: tuple[Scores, ...]  # by ascending worker count
    baseline: int
    scaling: str  # "strong", "weak", or "neither", where no law applies
    serial: Serial | None
    predicted_speedup: float | None  # of the largest size, by the serial fraction alone
    shortfall: Shortfall | None
    quality_held: bool | None  # None where noise leaves it open
    max_drift: float
    cheapest: int
    largest_efficient: int | None
    recommended: int | None
    pareto: tuple[
        int, ...
    ]  # sizes that no other beats in time and cost; of those that pass the gate
    limits: Constraints
    name: str
    metric: str
    better: str
    stamp: Stamp
    work_stated: bool
    bound: bool  # by passes, not made by hand
    varied: tuple[str, ...]  # what changed with the workers on purpose
    command: str = ""  # what `scalelab run` ran for every row, where it wrote them

    def __repr__(self) -> str:
        buy = f"{counted(self.recommended)} recommended" if self.recommended else "none recommended"
        held = {True: "held", False: "lost", None: "undecided"}[self.quality_held]
        of = counted(len(self.rows), "configuration")
        return f"<Report on {self.name or 'a study'}: {of}, {self.metric} {held}, {buy}>"

    def facts(self) -> Mapping[str, Sequence[object]]:
        """A row for each configuration."""
        names = ("workers", "seconds", "speedup", "efficiency", "quality", "cost", "passes_gate")
        columns = {name: [getattr(row, name) for row in self.rows] for name in names}
        return columns | {"recommended": [row.workers == self.recommended for row in self.rows]}

    def row(self, workers: int) -> Scores:
        """The row of a worker count."""
        matching = [row for row in self.rows if row.workers == workers]
        if not matching:
            sizes = ", ".join(str(row.workers) for row in self.rows)
            raise Refusal(
                f"workers must be one of {sizes}, got {shown(workers)}: only these were measured"
            )
        return matching[0]
