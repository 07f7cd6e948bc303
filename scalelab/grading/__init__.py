"""The course engine: what is released to students, and how their answers are graded.

A submission's way: `inputs` finds and reads it, `judging` plans, runs and judges it, `box` holds its code,
`out` writes grades and reports, `returned` what its student gets back; `classroom` leads them all.
`release` makes what students get. May import every other folder of the package; nbgrader is imported
inside functions only.
"""
