"""What grading leaves behind for the instructor.

`worth` adds up points and `remarks` says what was odd, for all others: `record` writes the gradebook,
`report` the page of the class, `tables` what platforms import. `codes` puts what a person comments into
words, and `requests` has what students asked for. `similar` finds who wrote the same, `side_by_side`
shows it.
"""
