"""What is paid and what is believed: Sections 3.9 and 41.6.

`step` has the terms of a step, `spot` a run that is preempted, `gate` the answers of the quality gate, and
`verdict` the sizes that four demands leave.
"""

from scalelab.face import face

__getattr__, __dir__ = face(__name__, "step spot gate verdict")
