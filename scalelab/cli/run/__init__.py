"""`scalelab run`: a scaling study, of a job that is here or of any program.

Read `asked` first: the command and its options. `jobs` measures what runs on processes of our own, and
`programs` what a command line starts.
"""

from scalelab.cli.run.asked import command

__all__ = ["command"]
