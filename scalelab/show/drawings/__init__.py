"""Drawings that play: what a plan does, step by step, drawn from the plan that the package carries out.

Read `drawing` first: frames of shapes as plain data. `stepper` makes a page of them that one can play.
By section: `epoch` (3.1); `rungs`, `memory` and `failures` (3.2); `lenses` (3.3); the room `waiting` (3.4);
`ceiling` and `clocks` (3.5); `scheduler`, `sweeps` and `stages` (3.6); `floors` (3.7); `message`, `network`,
`rails`, `trees` and `buckets` (3.8); `step` and `spot` (3.9); `gate` and `verdict` (41.6).
"""

from scalelab.face import face

__getattr__, __dir__ = face(
    __name__,
    "drawing stepper epoch rungs memory failures lenses waiting ceiling clocks scheduler sweeps stages "
    "floors message network rails trees buckets step spot gate verdict",
)
