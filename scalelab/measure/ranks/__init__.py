"""Several processes at once, on one machine or many.

Read `workers` first: it starts a function on K ranks, through `agent` (torchrun's engine) here or
`torchrun` where that has started us; `crash` keeps what a dead rank said, `aside` what ranks print out of
the answer, `ctrl_c` what to do when interrupted, `capacity` how many fit. `jobs` and `training` are the
built-in work, `sweep` runs them over worker counts, `emulate` on fewer cores, `combine` makes one sample
of many ranks'.
"""

from scalelab.face import face

__getattr__, __dir__ = face(
    __name__,
    "workers agent torchrun crash ctrl_c aside capacity jobs training sweep emulate combine",
)
