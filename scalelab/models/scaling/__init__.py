"""More workers, in theory: what they gain at fixed work, and at work that grows with them (3.1, 3.3, 3.5).

Read `speedup` first: speedup, efficiency and the serial fraction that a measurement implies. `laws` has
Amdahl, Gustafson, Sun-Ni and the universal scalability law, and what turns one into the other; `study`
has strong and weak scaling and how fast a problem must grow; `statistical` says what more compute is
worth to the model that is trained; `epoch` lays out an epoch second by second.
"""

from scalelab.face import face

__getattr__, __dir__ = face(__name__, "speedup laws study statistical epoch")
