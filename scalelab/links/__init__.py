"""Latency and bandwidth of a link from a sweep of messages.

Read `alphabeta` first; `sweep` is what it fits, `regimes` where another protocol begins, `posterior` how
sure, `compare` the rivals. `busbw` explains a bus bandwidth by the `factors` of collectives. `text` writes
a fit for people, and as plain data.
"""

from scalelab.face import face

__getattr__, __dir__ = face(
    __name__, "alphabeta sweep regimes posterior compare busbw factors text"
)
