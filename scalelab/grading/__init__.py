"""The course engine: what is released to students, and how their answers are graded.

A submission's way: `course` collects and reads it, `judging` plans, runs and judges it, `box` holds its
code, `out` writes grades, feedback and reports; `classroom` leads them all. `release` makes what students
get. May import every other folder of the package; nbgrader is imported inside functions only.
"""
