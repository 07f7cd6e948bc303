"""The environment of Jupyter's processes that tests start."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def environment(**own: str) -> dict[str, str]:
    """Return our environment in which children find our commands by name."""
    path = os.pathsep.join(filter(None, (str(Path(sys.executable).parent), os.environ.get("PATH"))))
    return {**os.environ, "PATH": path, **own}
