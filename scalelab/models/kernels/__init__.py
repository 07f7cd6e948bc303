"""What bounds a kernel: computing, moving bytes, or starting at all (3.7).

Read `roofline` first: intensity, ridge and roofs. `kernels` counts FLOPs and bytes of the usual ones,
`attention` and `transformer` of whole layers, by the `conventions` of several papers; `reuse` says how far
down a number goes before it is needed again, and `alarms` explains points that cannot be.
"""

from scalelab.face import face

__getattr__, __dir__ = face(
    __name__, "roofline kernels reuse attention transformer conventions alarms"
)
