"""The environment of Jupyter's processes that tests start: seconds of imports fewer, nothing else."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def environment(**own: str) -> dict[str, str]:
    """Return our environment in which children find `sitecustomize.py` and our commands by name."""
    first = {"PYTHONPATH": Path(__file__).parent, "PATH": Path(sys.executable).parent}
    paths = {
        name: os.pathsep.join(filter(None, (str(folder), os.environ.get(name))))
        for name, folder in first.items()
    }
    return {**os.environ, **paths, **own}
