"""What a student gets back.

`feedback` is the page that a student reads, `autograded` the notebook that formgrader opens, with the
`pictures` that were pasted into it; `exchange` adds the notes by which nbgrader returns them.
"""
