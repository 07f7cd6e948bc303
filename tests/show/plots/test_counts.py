"""Workers, nodes, cores and samples are whole, in a table under a figure as well."""

import pytest

from scalelab.show.plots import cost, hardware, laws, study

JOB = {"fixed": 0.02, "sample": 0.002, "critical": 8192.0, "least_steps": 10_000.0}
COUNTED = {
    "cores": lambda: hardware.corner(20.5, 96),
    "nodes": lambda: laws.next_percent(0.1),
    "levers": lambda: laws.levers({"as it is": (180, 20, 1), "four times": (720, 20, 4)}),
    "GPUs": lambda: laws.two_profiles({"on 2": (0.05, 2), "on 32": (0.2, 32)}, [2, 8, 32]),
    "sizes": lambda: cost.worth(90.0, 0.5, 3.0, [10, 100]),
    "readings": lambda: cost.overhead(0.22, 256),
    "batches": lambda: study.two_losses(64, **JOB),
}


@pytest.mark.parametrize("name", COUNTED)
def test_the_rows_of_a_line_over_counts_are_counts(name):
    chart = COUNTED[name]()
    marks = {float(one.x[0]) for one in chart.series if one.x.size == 1}
    at = [float(row[0].replace(",", "")) for row in chart.rows()]
    assert len(at) >= 3
    assert all(x.is_integer() or any(abs(x / mark - 1) < 1e-3 for mark in marks) for x in at)
