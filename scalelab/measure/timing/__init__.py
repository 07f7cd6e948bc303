"""How long something takes, and how sure that is.

Read `timing` first: one function, timed until its median is known, on the CPU or by `cuda` on a GPU
(`devices` chooses); `turns` times several side by side and `compare` says which is faster, `programs`
times whole programs, `passages` the passages of one that runs; `lanes` runs jobs that wait for one another.
`rounds` repeats, `stats` gives medians and intervals, `advice` what is odd about them.
"""

from scalelab.face import face

__getattr__, __dir__ = face(
    __name__, "timing stats advice rounds devices cuda turns compare programs passages lanes"
)
