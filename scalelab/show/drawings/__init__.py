"""Drawings that play: what a plan does, step by step, drawn from the plan that the package carries out.

Read `drawing` first: frames of shapes as plain data, on paper of 360 units. `stepper` makes HTML of them
that one can play, and whose width is the page's: shapes stretch, letters do not. `still` makes a PNG. The
rooms are `scaling` (3.1, 3.3, 3.5), `machines` (3.2, 3.7), `waiting` (3.4), `graphs` (3.6), `network` (3.8)
and `deciding` (3.9, 41.6).
"""

from scalelab.face import face

__getattr__, __dir__ = face(
    __name__, "drawing stepper still scaling machines waiting graphs network deciding"
)
