"""Make the demonstration class: `python -m tests.submissions FOLDER`, then `scalelab grade demo` there.

`python -m tests.submissions --record SLUG ...` grades the class on real assignments, minutes for each,
and keeps the figures in recorded.json.
"""

import sys
from pathlib import Path

from tests.submissions import assignment, classes, recorded
from tests.submissions.kinds import kinds


def main(words: list[str]) -> None:
    """Make a course in a new folder, with one submission for every kind of trouble; or record."""
    if words[0] == "--record":
        for slug in words[1:]:
            for name, said in recorded.record(slug).items():
                print(f"{slug}: {name}: {said}")
        return
    root = Path(words[0])
    root.mkdir(parents=True)
    enrolled = classes.enrol(assignment.course(root), kinds(), named=True)
    print(f"{len(enrolled)} submissions of {assignment.SLUG} in {root}")


if __name__ == "__main__":
    main(sys.argv[1:])
