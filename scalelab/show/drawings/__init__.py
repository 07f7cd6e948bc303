"""Drawings that play: what a plan does, step by step, drawn from the plan that the package carries out.

Read `drawing` first: frames of shapes as plain data. `stepper` makes a page of them that one can play;
`network` draws the messages of Section 3.8, `step` the terms of a step and `spot` a run that is
preempted, both of 3.9; of 41.6, `verdict` the sizes that four demands leave, and
`gate` the answers of the quality gate.
"""

from scalelab.face import face

__getattr__, __dir__ = face(__name__, "drawing stepper network gate spot step verdict")
