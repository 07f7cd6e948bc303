"""What grading leaves behind.

`worth` adds up points and `remarks` says what was odd, for all others: `record` writes the gradebook,
`feedback` what a student reads, `report` what the instructor reads, `tables` what platforms import,
`autograded` the notebooks that formgrader opens. `codes` puts what a person comments into words, and
`requests` has what students asked for. `similar` finds who wrote the same, `side_by_side` shows it.
"""
