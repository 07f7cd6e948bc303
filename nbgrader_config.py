"""The course as nbgrader sees it: this repository is its root; what students send stays in course/.

Only what differs from nbgrader's defaults is set. `course/` is ignored by git: it holds the
submissions, the grades and the secret.
"""

import os
import secrets
from pathlib import Path

root = Path(__file__).resolve().parent
course = root / "course"

c = get_config()

# Commands work from any folder of the course, and the one gradebook is found from all of them.
c.CourseDirectory.root = str(root)
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
c.CourseDirectory.submitted_directory = "course/submitted"
c.CourseDirectory.autograded_directory = "course/autograded"
c.CourseDirectory.feedback_directory = "course/feedback"
c.ZipCollectApp.downloaded_directory = "course/downloaded"
c.CourseDirectory.db_url = f"sqlite:///{course / 'gradebook.db'}"

# A stub that does not raise: "Run All" goes through to the last check, and each says what it misses.
# Nor is it a value: under three dots a notebook prints Ellipsis.
c.ClearSolutions.code_stub = {"python": "# your answer here\npass"}
c.ClearSolutions.text_stub = "*Your three sentences here.*"

# A mark scheme stands in the locked question, next to an answer cell with a grade of its own, so
# that nbgrader scores a blank answer 0 by itself. Its "task" cells would wait for a person.
c.ClearMarkScheme.enforce_metadata = False

# Feedback would repeat the hidden checks and the mark schemes to every student.
c.GenerateFeedback.preprocessors = [
    "nbgrader.preprocessors.ClearHiddenTests",
    "nbgrader.preprocessors.ClearMarkScheme",
    "nbgrader.preprocessors.GetGrades",
    "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
]

# Who has no score gets none: nbgrader's own table says 0.0 there.
c.ExportApp.plugin_class = "scalelab.grading.out.export.ScoreTable"

# Hidden checks draw their inputs from this word; whoever opens the file first in a course makes it.
course.mkdir(exist_ok=True)
try:
    descriptor = os.open(course / "secret", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
except FileExistsError:
    pass
else:
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_hex() + "\n")
