"""A training step, and what a useful result costs (3.9).

Read `step` first: the terms of T(K), then `bottleneck`, which names the largest, and `mfu`. `cost` turns
time into dollars, `spot` and `preempted` add interruptions, `energy` joules and CO2; `sizing` chooses a
cluster.
"""

from scalelab.face import face

__getattr__, __dir__ = face(
    __name__,
    "step bottleneck mfu cost spot preempted sizing energy",
)
