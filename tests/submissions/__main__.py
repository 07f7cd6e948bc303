"""Make the demonstration class: `python -m tests.submissions FOLDER`, then `scalelab grade demo` there."""

import sys
from pathlib import Path

from tests.submissions import assignment, classes
from tests.submissions.kinds import kinds


def main(folder):
    """Make a course in a new folder, with one submission for every kind of trouble."""
    root = Path(folder)
    root.mkdir(parents=True)
    enrolled = classes.enrol(assignment.course(root), kinds(), named=True)
    print(f"{len(enrolled)} submissions of {assignment.SLUG} in {root}")


if __name__ == "__main__":
    main(sys.argv[1])
