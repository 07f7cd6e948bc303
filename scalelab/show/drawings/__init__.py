"""Drawings that play: what a plan does, step by step, drawn from the plan that the package carries out.

Read `drawing` first: frames of shapes as plain data. `stepper` makes a page of them that one can play;
`network` draws the messages of Section 3.8. Of Section 3.6, `scheduler` draws a graph and the lanes that a
greedy schedule fills, `sweeps` a scan up its tree and down again, and `stages` a pipeline's schedules. Of
Section 3.7, `floors` draws what a kernel carries from floor to floor of a machine's memory.
"""

from scalelab.face import face

__getattr__, __dir__ = face(__name__, "drawing stepper network scheduler sweeps stages floors")
