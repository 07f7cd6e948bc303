"""What published training runs teach the plan: the share of the peak that kernels reach, and its error.

A run was predicted with the share that the other systems teach, never with its own; a system's runs are not
independent and count as one. The band was judged the same way.
"""

LEVEL = 0.9
# Learned by tests/learning/planned.py from published_runs.json. Of the dense 16-bit peak.
SHARES = {"A100": 0.6611, "H100": 0.5262}
BAND = 1.287
COVERAGE = (30, 34, 7)  # runs inside the band, of how many, of how many systems
FALLBACK = "H100"  # the lower of the two, for a device without published runs


def kind(device: str) -> str | None:
    """Return the key of SHARES for a device of the catalogue; H200 computes as H100 does.

    >>> kind("A100 SXM 80GB"), kind("H200 SXM"), kind("B200 SXM")
    ('A100', 'H100', None)
    """
    known = {"A100": "A100", "H100": "H100", "H200": "H100"}
    return known.get(device.split()[0])
