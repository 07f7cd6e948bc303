"""How far planned steps are off published training runs, each judged by what the other systems taught."""

from statistics import median

from tests.bench import Row
from tests.learning import planned

WORST = 1.4  # either way, for any run


def rows():
    """Yield each run's step, planned against published; then the median error, and the band's coverage."""
    off = []
    for run, seconds in planned.errors():
        off.append(abs(seconds / run.seconds - 1))
        yield Row(f"step of {run.name}", seconds, run.seconds, WORST, 1 / WORST)
    yield Row("median error of a planned step / 15 %", median(off), 0.15, 1.0, unit="%")
    inside, of, systems = planned.coverage()
    name = f"runs of {systems} systems within the band of the others / all"
    yield Row(name, inside, of, 1.0, 0.8, unit="")
