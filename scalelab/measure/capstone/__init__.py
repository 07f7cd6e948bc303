"""The capstone's runs: time, quality and cost from one pass.

Read `capstone` first, then `one_pass`, which times and judges one training; `settings` is what all runs
share, `classifier` what is trained, `binding` the fingerprint that refuses to mix runs.
"""

from scalelab.face import face

__getattr__, __dir__ = face(__name__, "capstone one_pass settings classifier binding")
