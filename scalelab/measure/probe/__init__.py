"""The roofs of this machine: what it computes and moves per second.

Read `probe` first; `workbench` holds the kernels it times, `part` takes one of its parts, `levels` finds
the caches, `sustained` the clocks under load, `quiet` whether others are busy, `note` what to know beside
the numbers; `roofs` makes a roofline of them. An `accelerator` is given what language models do, a `layer`
at a time.
"""

from scalelab.face import face

__getattr__, __dir__ = face(
    __name__, "probe part workbench levels sustained quiet note roofs layer accelerator"
)
