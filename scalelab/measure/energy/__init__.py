"""Joules of a block of code (`energy`), from the counters and sensors in `meters`, added up in `joules`."""

from scalelab.face import face

__getattr__, __dir__ = face(__name__, "energy joules meters")
