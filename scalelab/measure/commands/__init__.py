"""Any program timed for several numbers of workers, as a shell would start it.

Read `words` first: what stands in for {workers} in a command line. `process` runs it once and leaves
nothing running, `reading` finds numbers and the cause of a failure in what it wrote, `attempts` is a
table of runs in its file, and `study` does those that the table does not hold yet.
"""

from scalelab.face import face

__getattr__, __dir__ = face(__name__, "words process reading attempts study")
