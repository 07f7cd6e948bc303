"""Published training runs, each as a plan and what was reported; published_runs.json says from where."""

import json
from functools import cache
from importlib import resources
from typing import Any


@cache
def runs() -> tuple[dict[str, Any], ...]:
    """Return the runs as dicts, each with the cluster, the source and the note of its system.

    >>> len(runs()), runs()[0]["name"], runs()[0]["reported"]
    (34, 'Megatron-LM 1.7B', [137, 'TFLOP/s run per device'])
    """
    path = resources.files(__package__) / "published_runs.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    return tuple(document["systems"][run["system"]] | run for run in document["runs"])
