"""Communication between real processes.

`collectives` times them by size, `skew` how unlike the ranks are, `buckets` a gradient sent in parts;
`carried` sends the messages of any plan.
"""

from scalelab.face import face

__getattr__, __dir__ = face(__name__, "collectives skew buckets carried")
