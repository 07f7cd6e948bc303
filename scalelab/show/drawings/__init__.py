"""Drawings that play: what a plan does, step by step, drawn from the plan that the package carries out.

Read `drawing` first: frames of shapes as plain data. `stepper` makes a page of them that one can play;
`network` draws the messages of Section 3.8, `message` a single one, `rails` those between two nodes, `trees`
those of two trees at once, and `buckets` what of an exchange hides under a backward pass.
"""

from scalelab.face import face

__getattr__, __dir__ = face(__name__, "drawing stepper network message rails trees buckets")
