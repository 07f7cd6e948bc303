"""Curves through a scaling table: fit, compare, predict, advise.

Read `answer` first: what `scalelab fit` does, from `rows` to a prediction. `families` are the curves,
`fit` and `solve` find their parameters, `intervals` how sure those are, `compare` which family holds.
`predict` carries on beyond the last sizes, `next_measurement` says what to measure. `text` writes it all
for people, and as plain data.
"""

from scalelab.face import face

__getattr__, __dir__ = face(
    __name__,
    "answer rows families fit solve intervals compare predict next_measurement text",
)
