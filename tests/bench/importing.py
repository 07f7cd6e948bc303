"""What it costs to import the package, in fresh interpreters."""

import functools
import subprocess
import sys

from tests.bench import side_by_side


def rows():
    """Yield the package, and what a chapter imports of it, against NumPy."""
    numpy = functools.partial(fresh, "import numpy")
    yield side_by_side(
        "import scalelab / numpy", functools.partial(fresh, "import scalelab"), numpy, 1.3
    )
    models = functools.partial(fresh, "from scalelab.models.scaling import speedup")
    yield side_by_side("import scalelab.models.scaling.speedup / numpy", models, numpy, 1.3)


def fresh(statement):
    """Run a statement in a new interpreter."""
    subprocess.run([sys.executable, "-c", statement], check=True)
