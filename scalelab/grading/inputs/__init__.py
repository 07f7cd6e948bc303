"""What grading starts from: a course on disk, its assignments, and what was handed in.

`course` knows its folders, `collect` and `read` take submissions; `source` has the cells, checks and hints
of an assignment, `steps` the cells that each exercise runs.
"""
