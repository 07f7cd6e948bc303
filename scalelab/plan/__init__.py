"""From a model and a cluster to T(K), the bill and the size to buy.

Read `plan` first. A `file` becomes a `job` (`keys` and `fields` check it); for each size `layouts` finds
the fastest that fits `memory`, `step` its time, `row` its line; `choice` picks a size, `whatif` varies
it, `published` holds real runs against it, `document` is its JSON, `text` its
lines.
"""

from scalelab.face import face

__getattr__, __dir__ = face(
    __name__,
    "plan file job keys fields layouts memory step row choice whatif published document text",
)
