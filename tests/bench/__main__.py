"""Run the benches named, or all of this folder; exit code 1 when a promise is broken.

python -m tests.bench [NAME ...], such as `timing probe`.
"""

import importlib
import math
import pkgutil
import sys
import time

from scalelab.units import text
from tests import bench


def main(names):
    """Print one line per comparison as soon as it is known, and how long each bench took."""
    modules = [module.name for module in pkgutil.iter_modules(bench.__path__)]
    known = [name for name in modules if not name.startswith(("_", "test_"))]
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.stderr.write(
            f"names must be among {', '.join(known)}, got {unknown[0]!r}: choose some\n"
        )
        return 2
    print(f"{'what':66} {'ours':>9} {'reference':>9} {'ratio':>6}  promised")
    broken = 0
    for name in names or known:
        start = time.perf_counter()
        for row in importlib.import_module(f"tests.bench.{name}").rows():
            broken += not row.kept
            promised = f"{row.least:.2f} to {row.limit:.2f}" if row.least else f"{row.limit:.2f}"
            promised = "nothing" if row.limit == math.inf else promised
            print(
                f"{row.name:66} {text(row.ours, row.unit):>9} {text(row.reference, row.unit):>9} "
                f"{row.ratio:6.2f}  {promised}{'' if row.kept else '  BROKEN'}",
                flush=True,
            )
        print(f"{name} took {text(time.perf_counter() - start, 's', 2)}", flush=True)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
