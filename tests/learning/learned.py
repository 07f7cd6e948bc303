"""What the package says of predictions, learned and measured anew.

python -m tests.learning.learned     # and written down, in half a minute
"""

import json
from pathlib import Path

from scalelab.data import datasets
from tests.learning import calibrate

PLACE = Path(datasets.__file__).parent / "extrapolation.json"


def learned() -> dict[str, object]:
    """What public results teach of an interval, and how often such intervals then held elsewhere."""
    return calibrate.ends() | {"between": calibrate.between(), "held": calibrate.held()}


if __name__ == "__main__":
    # The intervals first: how often they held is measured on what was written.
    for _ in range(2):
        PLACE.write_text(
            json.dumps(learned(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )
        calibrate.predict.learned.cache_clear()
    print(f"learned anew, and written into {PLACE}")
