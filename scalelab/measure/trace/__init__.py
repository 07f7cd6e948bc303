"""Where a step's time goes: `profile` records it, `trace` splits it by `timeline` and `activity`."""

from scalelab.face import face

__getattr__, __dir__ = face(__name__, "profile trace timeline activity")
