"""What waits in Section 3.4, drawn from the simulations of `models.waiting`.

Read `queueing` first: lines, servers and a clock. `omission` is a load test beside users, `hedging` sends
second copies, and `slowest` waits for the last of many. They share a `stage` with everybody on it, and
`rows` over which time goes.
"""

from scalelab.face import face

__getattr__, __dir__ = face(__name__, "queueing omission hedging slowest stage rows")
