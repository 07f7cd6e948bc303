"""What grading starts from: a course on disk, its assignments, and what was handed in.

`course` knows its folders, `extensions` who may hand in later. `collect` finds whose files there are,
`choose` which of them counts, `skim` drops its outputs, `read` takes the answers. `source` has the cells,
checks and hints of an assignment, `steps` the cells that each exercise runs.
"""
