"""What crosses the wires, drawn from `models.network`: Section 3.8.

`message` is a single one, `rounds` those of an all-reduce, `rails` those between nodes, `trees` those of two
trees at once; `buckets` hide under a backward pass.
"""

from scalelab.face import face

__getattr__, __dir__ = face(__name__, "message rounds rails trees buckets")
