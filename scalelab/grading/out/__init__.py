"""What grading leaves behind.

`record` writes the gradebook, `feedback` what a student reads, `report` what the instructor reads and
platforms import, `autograded` the notebooks that formgrader opens.
"""
