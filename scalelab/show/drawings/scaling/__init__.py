"""What a job does on more workers, drawn from `models.scaling`: Sections 3.1, 3.3 and 3.5.

`epoch` lays a training epoch out second by second; `lenses` cuts a job, or lets it grow; `ceiling` and
`clocks` are the two laws.
"""

from scalelab.face import face

__getattr__, __dir__ = face(__name__, "epoch lenses ceiling clocks")
