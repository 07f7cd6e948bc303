"""What the package says of predictions, learned and measured anew.

    python -m tests.learning.learned     # and written down, in two minutes
"""

import json
from pathlib import Path

from scalelab.data import datasets
from tests.bench import holdout
from tests.learning import calibrate

PLACE = Path(datasets.__file__).parent / "extrapolation.json"


def learned() -> dict[str, object]:
    """What public results teach of an interval, and how often such intervals then held elsewhere."""
    return calibrate.ends() | {"between": calibrate.between(), "held": calibrate.held()}


def ways() -> dict[str, list[float | None]]:
    """How far off each way to predict was elsewhere: in the median, in the worst tenth; the share held."""
    return {
        name: [None if x is None else round(x, 4) for x in (one.median, one.far, one.held)]
        for name, one in holdout.scores().items()
    }


def write(found: dict[str, object]) -> None:
    """Keep what was found where the package reads it."""
    text = json.dumps(found, indent=1, ensure_ascii=False)
    PLACE.write_text(text + "\n", encoding="utf-8")
    calibrate.predict.learned.cache_clear()


if __name__ == "__main__":
    write(learned())
    write(learned() | {"ways": ways()})  # how often intervals hold is measured on what was written
    print(f"learned anew, and written into {PLACE}")
