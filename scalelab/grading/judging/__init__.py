"""One submission judged, and a class of them.

`grade_one` leads: `judge` plans and judges, `execute` runs the plan behind walls. `grade_all` takes a class
through that, here or on a cluster; each ends in a `result`.
"""
