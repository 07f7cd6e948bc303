"""What must wait for what, drawn from `models.graphs` and `models.network`: Section 3.6.

`scheduler` fills lanes greedily, `sweeps` add up a tree and down again, `stages` is a pipeline.
"""

from scalelab.face import face

__getattr__, __dir__ = face(__name__, "scheduler sweeps stages")
