"""What limits a measured training step, by the shares of its time (Section 3.9).

The thresholds are those of a reference article; they leave gaps, and those get a name of their own.
"""

import numpy as np

from scalelab.models.checking import Answer, Numbers, answer, numbers
from scalelab.models.choice import chosen

_UTILIZATION = "it is the share of the step in which a worker computes, as a fraction"
_COMMUNICATION = "it is the share of the step that is communication, as a fraction"
_MEMORY = "it is the share of a worker's memory in use, as a fraction"
_WAITING = "it is the share of the step spent waiting for the slowest worker, as a fraction"

# The article's thresholds, each to be passed and not only reached; for waiting it has none, so ours
# is the share at which it stops calling communication small.
HIGH_UTILIZATION, LOW_UTILIZATION = 0.9, 0.7
MUCH_COMMUNICATION, LITTLE_COMMUNICATION = 0.3, 0.1
FULL_MEMORY, LONG_WAIT = 0.95, 0.1

ADVICE = {
    "memory": (
        "Memory is the wall, whatever else is. Split or offload the optimizer's states, recompute "
        "activations, use smaller micro-batches, or spread the model over more workers."
    ),
    "imbalance": (
        "The slowest worker is the wall. Find it, and whether it is always the same: then replace "
        "it; else even out the data or the stages. A faster network changes nothing."
    ),
    "computation": (
        "Arithmetic is the wall, as it should be. More workers help nearly in proportion; so does "
        "all that makes one worker faster."
    ),
    "communication": (
        "The exchange is the wall. Compute more between exchanges, hide it behind the backward "
        "pass, send fewer bytes, or send them over faster links. More workers help less and less."
    ),
    "mixed: communication": (
        "No single wall yet. Of what is lost, communication is the largest part: it will be the "
        "wall when you add workers."
    ),
    "mixed: waiting": (
        "No single wall yet. Of what is lost, waiting for the slowest worker is the largest part: "
        "the maximum over more workers will be larger."
    ),
    "mixed: other": (
        "No single wall yet. The largest part of what is lost is neither communication nor waiting: look "
        "for it in the input, in launches, in a pipeline's bubble, in checkpoints."
    ),
}


def classify(
    utilization: Numbers, communication: Numbers, memory: Numbers = 0.0, waiting: Numbers = 0.0
) -> Answer:
    """What limits a step, the first that holds; if none does, "mixed" and the largest part lost.

    "memory": over 95% in use. "imbalance": over 10% spent waiting for the slowest worker.
    "computation": over 90% utilized, under 10% communication. "communication": under 70%, over 30%.
    All else is mixed: between the thresholds, or only one of a pair passed. Lost is communication,
    waiting, and what is left of 1 - utilization ("other"); of equals, the first.
    nvidia-smi counts a GPU as utilized while it runs any kernel, one that communicates too: take
    computing alone.
    Sources: the reference article's thresholds, but the one for waiting, which is ours; NVML,
    https://docs.nvidia.com/deploy/nvml-api/structnvmlUtilization__t.html. Section 3.9.

    >>> classify([0.95, 0.8, 0.6, 0.6], [0.05, 0.15, 0.35, 0.15]).tolist()
    ['computation', 'mixed: communication', 'communication', 'mixed: other']
    """
    shares = (
        numbers("utilization", utilization, _UTILIZATION, 0, 1),
        numbers("communication", communication, _COMMUNICATION, 0, 1),
        numbers("memory", memory, _MEMORY, 0, 1),
        numbers("waiting", waiting, _WAITING, 0, 1),
    )
    kinds = np.array(list(ADVICE))[np.asarray(answer(_first, *shares), dtype=int)]
    return str(kinds) if np.ndim(kinds) == 0 else kinds


def advice(kind: str) -> str:
    """What helps a step of this class, and what does not. Section 3.9.

    >>> advice("computation")[:24]
    'Arithmetic is the wall, '
    """
    return chosen("kind", kind, ADVICE)


def _first(utilization, communication, memory, waiting):
    """Return the place in ADVICE of the class that holds."""
    lost = np.broadcast_arrays(
        communication, waiting, np.maximum(1 - utilization - communication - waiting, 0), memory
    )[:3]
    return np.select(
        [
            memory > FULL_MEMORY,
            waiting > LONG_WAIT,
            (utilization > HIGH_UTILIZATION) & (communication < LITTLE_COMMUNICATION),
            (utilization < LOW_UTILIZATION) & (communication > MUCH_COMMUNICATION),
        ],
        [0, 1, 2, 3],
        4 + np.argmax(lost, axis=0),
    )
