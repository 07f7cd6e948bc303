"""What it costs to start a job on two processes, once the fork server runs."""

import subprocess
import sys

from scalelab.measure.ranks import workers
from tests.bench import side_by_side
from tests.measure import worker_jobs


def rows():
    """Yield a launch of two ranks against one fresh interpreter that imports torch."""
    yield side_by_side(
        "launch 2 ranks again / python -c 'import torch'",
        lambda: workers.launch(worker_jobs.roll_call, 2),
        lambda: subprocess.run([sys.executable, "-c", "import torch"], check=True),
        1.0,
        rounds=5,
    )
