"""What this machine is: processors, memory, GPUs and versions (`machine`, and `nvidia` behind it)."""

from scalelab.face import face

__getattr__, __dir__ = face(__name__, "machine nvidia")
