"""What a machine holds and moves, drawn from `models.machines` and `models.kernels`: Sections 3.2 and 3.7.

`rungs` lead out of a device, `memory` fills it, `failures` stop it; `floors` are the levels of its memory,
and what a kernel carries between them.
"""

from scalelab.face import face

__getattr__, __dir__ = face(__name__, "rungs memory failures floors")
