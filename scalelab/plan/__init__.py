"""From a model and a cluster to T(K), the bill and the size to buy.

Read `plan` first. A `file` becomes a `job` (`keys` says what it may hold); of each size `row` finds the
fastest layout that fits `memory`, with its `step`; `choice` picks a size, `whatif` varies it, `published`
says how far real runs were off. `text` writes it all for people, and as plain data. The room may be called:
`scalelab.plan("plan.toml")` is `plan.plan("plan.toml")`.
"""

from scalelab.face import called, face

__getattr__, __dir__ = face(
    __name__,
    "plan file job keys memory step row choice whatif published text",
)
called(__name__, "plan.plan")
