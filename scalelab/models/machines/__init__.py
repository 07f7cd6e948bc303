"""Up or out: what a device is, what fits into it, what many of them cost (3.2).

Read `hardware` first: devices, links and nodes of the catalogue. `memory` counts the bytes of training
and serving; `up_or_out` compares one larger machine with several; `failures` says how often many machines
stop; `rungs` counts what crosses each rung of the way out of a device; `upgrades` are published jobs on
a machine and on its successor, and `reached` the best products found beside the printed peaks; `cores`
says what a processor does at best that tells no more than which core it has.
"""

from scalelab.face import face

__getattr__, __dir__ = face(
    __name__, "hardware memory up_or_out failures rungs upgrades reached cores"
)
