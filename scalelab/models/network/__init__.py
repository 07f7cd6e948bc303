"""What a message costs, and what is made of messages (3.8).

Read `network` first: alpha and beta of one message. `algorithms` prices every collective, `collectives`
picks one, `crossover` says where another wins, `hierarchy` has nodes within a cluster, `overlap` hides
communication behind computing, `ledger` says what a job has to hide. `messages` holds the plans: who
sends what to whom. `bandwidth` tells bus from algorithm bandwidth.
"""

from scalelab.face import face

__getattr__, __dir__ = face(
    __name__,
    "network algorithms collectives crossover hierarchy overlap ledger messages bandwidth",
)
