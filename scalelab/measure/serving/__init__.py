"""A small service on this machine (`serve`, whose process is `server`) and the load on it (`load`)."""

from scalelab.face import face

__getattr__, __dir__ = face(__name__, "serve load server")
