"""What it costs to be advised what to measure next, against one prediction."""

from scalelab.curves.next_measurement import advise
from scalelab.curves.predict import predict
from scalelab.curves.rows import Rows
from tests.bench import side_by_side

ROWS = Rows.of([1, 2, 4, 8, 16], throughput=[100, 189, 352, 600, 930])


def rows():
    """Yield the advice for a far target: each size that is weighed wants four predictions."""
    yield side_by_side(
        "advise, 10^6 workers / one predict",
        lambda: advise(ROWS, 10**6),
        lambda: predict(ROWS, 10**6),
        50.0,
        rounds=5,
    )
