"""What the check cells of an assignment call: `Task` judges answers, `fresh` draws new inputs.

`variant` draws the numbers that a student works with, `where_you_stand` sums up. Imports NumPy and
the standard library only (and MarkupSafe once a notebook shows a verdict), and touches a student's
work only as plain data.
"""

from scalelab.checks.fresh import fresh
from scalelab.checks.measured import seconds_of
from scalelab.checks.standing import where_you_stand
from scalelab.checks.task import Incomplete, Task
from scalelab.checks.variants import variant

__all__ = ["Incomplete", "Task", "fresh", "seconds_of", "variant", "where_you_stand"]
