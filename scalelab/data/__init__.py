"""Numbers that ship with the package, each file with its origin inside.

`datasets` are public scaling series, `published` the training runs that others described, `catalogue`
the devices, links and nodes; `recorded` runs are ours.
"""

from importlib import resources

from scalelab import records
from scalelab.arguments import shown
from scalelab.face import face
from scalelab.records import Passes, Recording
from scalelab.refusal import Refusal


def recorded(name: str) -> Recording:
    """Return the Recording kept under this name, for machines that cannot repeat it.

    >>> recorded("superlinear").samples[0].stamp.kind
    'recorded'
    """
    folder = resources.files(__package__) / "recorded"
    names = sorted(f.name.removesuffix(".json") for f in folder.iterdir() if f.name[-5:] == ".json")
    if name not in names:
        raise Refusal(
            f"name must be one of {', '.join(names)}, got {shown(name)}: these runs are recorded"
        )
    recording = records.from_json((folder / f"{name}.json").read_text(encoding="utf-8"))
    assert isinstance(recording, Recording), name
    return recording


def capstone() -> Passes:
    """Return the Passes of a recorded capstone: 1, 2 and 4 workers, three seeds each. Section 41.6.

    >>> [one.workers for one in capstone().passes]
    [1, 1, 1, 2, 2, 2, 4, 4, 4]
    """
    file = resources.files(__package__) / "capstone.json"
    passes = records.from_json(file.read_text(encoding="utf-8"))
    assert isinstance(passes, Passes), file
    return passes


__getattr__, __dir__ = face(__name__, "datasets catalogue published")
