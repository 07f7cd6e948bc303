"""One request's time, and the slowest of many (3.4).

Read `tail` first: percentiles and how many samples they need; then `stragglers` and `hedging`, where a
step or a request waits for the slowest. `queues` (M/M/c), `mg1` and `closed` predict waiting, `simulated`
checks them; `capacity`, `batching` and `gathering` choose servers and batches; `omission` corrects what a
closed loop hides. `requests` and `erlang` are shared by them.
"""

from scalelab.face import face

__getattr__, __dir__ = face(
    __name__,
    "tail stragglers hedging omission queues simulated closed mg1 capacity "
    "batching gathering requests erlang",
)
