"""Room for workers: how many fit here, on which devices, and which machines they fill.

Here is this machine, or all the nodes of the torchrun that started this process.
"""

import sys
from pathlib import Path

from scalelab.arguments import shown, whole
from scalelab.measure.host.machine import this_machine, usable_cores
from scalelab.measure.ranks import torchrun
from scalelab.records import Machine
from scalelab.refusal import Refusal
from scalelab.units import counted

BACKENDS = {"cpu": "gloo", "cuda": "nccl"}
# More processes than this per core measure the scheduler, not the job.
_PER_CORE = 8
_DRIVERS = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")  # NVIDIA's, AMD's, and WSL's for both


def fit(workers: int, device: str = "cpu", fewest: int = 1) -> int:
    """Return the worker count if so many can run here, each on a core of its own or not.

    >>> fit(2)
    2
    """
    largest, meaning = most(device)
    if largest < 1:
        raise Refusal(
            f"device must be cpu where there is no GPU that PyTorch can use, got {shown(device)}: "
            "choose cpu, or mend the driver or the build of PyTorch"
        )
    if largest < fewest:
        raise Refusal(
            f"workers must be {fewest} or more for this, got room for {largest}: {meaning}"
        )
    return whole("workers", workers, meaning, fewest, largest)


def most(device: str = "cpu") -> tuple[int, str]:
    """Return the largest worker count that `workers.launch` accepts, and why it is the largest.

    >>> most()[0] >= 8
    True
    """
    if device not in BACKENDS:
        raise Refusal(
            f"device must be one of {', '.join(BACKENDS)}, got {shown(device)}: "
            "cpu is a gloo group, cuda is NCCL with a GPU per worker"
        )
    gpus = _gpus() if device == "cuda" else 0
    if torchrun.inside():
        here, there = torchrun.sizes()
        if device == "cuda" and gpus < here:
            return gpus, f"torchrun started {here} ranks on this node, and it has {gpus} GPUs"
        return there, f"torchrun started {counted(there, 'rank')}"
    if device == "cuda":
        return gpus, f"each needs a GPU, and this machine has {counted(gpus, 'GPU')}"
    cores = usable_cores()
    return _PER_CORE * cores, f"each is a process, and this machine has {cores} cores"


def usual(device: str = "cpu") -> int:
    """Return how many workers a sweep ends with by default: one per core, per GPU, or per rank.

    >>> usual() <= most()[0]
    True
    """
    return usable_cores() if device == "cpu" and not torchrun.inside() else most(device)[0]


def machines(workers: int) -> list[Machine]:
    """Return the Machine of each node that this many workers fill; under torchrun all ranks must ask.

    >>> len(machines(1))
    1
    """
    if not torchrun.inside():
        return [this_machine()]
    local, _ = torchrun.sizes()
    return torchrun.everyones(this_machine())[:workers:local]


def _gpus() -> int:
    if sys.platform == "linux" and not any(Path(driver).exists() for driver in _DRIVERS):
        return 0  # known without importing torch, which takes longer than all else
    from torch import cuda

    return cuda.device_count() if cuda.is_available() else 0
