"""What grading starts from: a course on disk, its assignments, and what was handed in.

`course` knows its folders, `lists` reads the tables that an instructor keeps there: `extensions` of who may
hand in later, `groups` of who hands in together, `comments` and `regrades`. `collect` finds whose files
there are, `choose` which of them counts, `skim` drops its outputs, `read` takes the answers; what is odd
becomes a `flag`. `source` has the cells, tasks and hints of an assignment, `steps` what each exercise runs.
"""
