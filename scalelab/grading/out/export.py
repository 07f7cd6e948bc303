"""nbgrader's `export`, in which who has no score has none: stock writes 0.0 there.

nbgrader_config.py names `ScoreTable` as the exporter; nothing else imports this.
"""

import csv
import io

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.plugins import CsvExportPlugin

from scalelab.files import atomic
from scalelab.grading.out.tables import harmless

COLUMNS = (
    "assignment",
    "duedate",
    "timestamp",
    "student_id",
    "last_name",
    "first_name",
    "email",
    "raw_score",
    "late_submission_penalty",
    "score",
    "max_score",
)  # nbgrader's own


class ScoreTable(CsvExportPlugin):
    """Writes nbgrader's table of all students and assignments."""

    def export(self, gradebook: Gradebook) -> None:
        """Write the table to the file that --to names, else to grades.csv."""
        students, names = ({*map(str, chosen)} for chosen in (self.student, self.assignment))
        table = io.StringIO()
        writer = csv.writer(table, lineterminator="\n")
        writer.writerow(COLUMNS)
        for assignment in gradebook.assignments:
            for student in gradebook.students:
                chosen = not names or assignment.name in names
                if chosen and (not students or student.id in students):
                    writer.writerow(map(harmless, _row(gradebook, assignment, student)))
        atomic.put(self.to or "grades.csv", table.getvalue())


def _row(book, assignment, student):
    when, scores = None, (None, None, None)
    try:
        submission = book.find_submission(assignment.name, student.id)
    except MissingEntry:
        pass
    else:
        when, penalty = submission.timestamp, submission.late_submission_penalty
        if any(_scored(grade) for notebook in submission.notebooks for grade in notebook.grades):
            scores = submission.score, penalty, max(0.0, submission.score - penalty)
    about = student.id, student.last_name, student.first_name, student.email
    cells = [assignment.name, assignment.duedate, when, *about, *scores, assignment.max_score]
    return ["" if cell is None else cell for cell in cells]


def _scored(grade):
    return grade.auto_score is not None or grade.manual_score is not None
