"""What grading leaves behind.

`record` writes the gradebook, `feedback` and `pages` what a student reads, `report` what the instructor
reads, `tables` what platforms import, `autograded` the notebooks that formgrader opens.
"""
