"""The course engine: what is released to students, and how their answers are graded.

A submission's way: `inputs` finds and reads it, `judging` plans, runs and judges it, `box` holds its code,
`out` writes grades and reports, `returned` what its student gets back; `classroom` leads them all.
Whoever follows one submission reads, in this order, `classroom`; of `inputs` `course`, `source`, `collect`,
`choose`, `read`, `steps` and `flag`; of `judging` `grade_all`, `grade_one`, `execute`, `judge` and `result`;
of `out` `record` and `report`. The walls of `box` are a room to enter by itself.
`release` makes what students get. May import every other folder of the package; nbgrader is imported
inside functions only.
"""
