"""Drawings that play: what a plan does, step by step, drawn from the plan that the package carries out.

Read `drawing` first: frames of shapes as plain data. `stepper` makes a page of them that one can play;
`epoch` draws where the time of Section 3.1 goes; `rungs`, `memory` and `failures` the way out of a device of
Section 3.2, what sits in it and what checkpoints save, and `network` the messages of Section 3.8.
"""

from scalelab.face import face

__getattr__, __dir__ = face(__name__, "drawing stepper network epoch rungs memory failures")
