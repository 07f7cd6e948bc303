"""The one writer of nbgrader's gradebook: SQLite, PostgreSQL, whatever SQLAlchemy knows.

Formgrader, manual grading and export go on as usual. Scores that a person gave are never touched,
and writing the same results again changes nothing, so that a lost connection is mended by writing
once more. nbgrader is imported inside functions only.
"""

import contextlib
import logging
import subprocess
import time
from collections.abc import Iterable

from scalelab.grading.inputs.course import Course, with_commands
from scalelab.grading.inputs.source import Source
from scalelab.grading.judging.result import FAILED, MISSING, Marks, Result
from scalelab.refusal import Refusal

BATCH = 50  # submissions of one transaction
TRIES = 4


def record(course: Course, source: Source, results: Iterable[Result]) -> None:
    """Write results to the gradebook, and try again when its connection is lost."""
    from sqlalchemy.exc import DBAPIError, SQLAlchemyError

    with_commands()
    left = [result for result in results if result["status"] != MISSING]
    for attempt in range(TRIES):
        try:
            with _open(course) as book:
                _structure(book, course, source)
                while left:
                    for result in left[:BATCH]:
                        _write(book, course, source, result)
                    book.db.commit()
                    del left[:BATCH]
            return
        except DBAPIError as error:
            if attempt == TRIES - 1:
                raise _unwritable(course, error.orig) from None
            time.sleep(0.2 * 2**attempt)
        except SQLAlchemyError as error:
            raise _unwritable(course, error) from None


def by_hand(course: Course, source: Source) -> tuple[dict[str, Marks], dict[str, float]]:
    """Return {student: {cell: (score, comment)}} of what people gave, and {student: penalty}."""
    from nbgrader.api import MissingEntry

    with_commands()
    by_student: dict[str, Marks] = {}
    penalties: dict[str, float] = {}
    with _open(course) as book:
        try:
            submissions = book.find_assignment(source.slug).submissions
        except MissingEntry:
            return by_student, penalties
        for submission in submissions:
            marks = by_student.setdefault(submission.student_id, {})
            for notebook in submission.notebooks:
                comments = {c.name: c.manual_comment for c in notebook.comments}
                for grade in notebook.grades:
                    score = grade.manual_score
                    if score is not None or comments.get(grade.name):
                        marks[grade.name] = score, comments.get(grade.name)
                penalties[submission.student_id] = notebook.late_submission_penalty or 0.0
    return by_student, penalties


def students(course: Course) -> list[str]:
    """Return the ids of everybody in the gradebook."""
    with_commands()
    with _open(course) as book:
        return [student.id for student in book.students]


@contextlib.contextmanager
def _open(course):
    from nbgrader.api import Gradebook
    from sqlalchemy.exc import SQLAlchemyError

    try:
        book = Gradebook(course.db_url)
        _with_version(book)
    except subprocess.CalledProcessError as error:
        raise _unwritable(course, error) from None
    except SQLAlchemyError as error:
        raise _unwritable(course, getattr(error, "orig", None) or error) from None
    except ModuleNotFoundError as error:
        raise Refusal(
            f"the gradebook must have its driver, got no package {error.name!r}: install it"
        ) from None
    try:
        yield book
    finally:
        with contextlib.suppress(SQLAlchemyError):
            book.db.rollback()
        book.close()
        book.engine.dispose()


def _with_version(book):
    """Write the version of the tables, if whoever made them was killed before it came to that."""
    from nbgrader.api import get_alembic_version
    from sqlalchemy import inspect, text

    if "alembic_version" not in inspect(book.engine).get_table_names():
        version = {"version": get_alembic_version()}
        book.db.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
        book.db.execute(
            text("INSERT INTO alembic_version (version_num) VALUES (:version)"), version
        )
        book.db.commit()


def _structure(book, course, source):
    """Enter the assignment and its cells, as nbgrader's generate_assignment would."""
    import nbformat
    from nbgrader.preprocessors import ClearSolutions, ComputeChecksums, SaveCells

    book.update_or_create_assignment(source.slug)
    known = {cell.name: cell for cell in _notebook(book, source)}
    graded = {cell.id: cell.points for cell in source.cells if cell.graded}
    if {name: cell.max_score for name, cell in known.items()} == graded:
        return
    notebook = nbformat.read(course.root / "solutions" / source.slug / f"{source.slug}.ipynb", 4)
    about = {"assignment": source.slug, "notebook": source.slug, "db_url": course.db_url}
    resources = {"nbgrader": about, "unique_key": source.slug}
    try:
        for step in (ClearSolutions, ComputeChecksums, SaveCells):
            preprocessor = step(config=course.config)
            preprocessor.log = logging.Logger("record", logging.CRITICAL)
            notebook, resources = preprocessor.preprocess(notebook, resources)
    except RuntimeError as error:
        raise Refusal(
            f"the gradebook must have the cells of {source.slug}, got others with submissions "
            f"({error}): remove the assignment there first, by `nbgrader db assignment remove`"
        ) from None
    book.db.expire_all()


def _notebook(book, source):
    from nbgrader.api import MissingEntry

    try:
        notebook = book.find_notebook(source.slug, source.slug)
    except MissingEntry:
        return []
    return [*notebook.grade_cells, *notebook.task_cells]


def _write(book, course, source, result):
    """Write one result, without committing."""
    submission = _submission(book, source, result)
    (notebook,) = (n for n in submission.notebooks if n.name == source.slug)
    scores = {test["id"]: test["score"] for test in (*result["tests"], *result["manual"])}
    blank = {mark["id"] for mark in result["manual"] if mark["score"] == 0}
    for grade in notebook.grades:
        score = scores.get(grade.name)
        changed = grade.auto_score != score
        grade.auto_score = score
        if grade.manual_score is None:
            grade.needs_manual_grade = score is None
        elif changed:  # what a person decided may rest on what has changed
            grade.needs_manual_grade = True
    for comment in notebook.comments:
        note = f"Not graded: {result['reason']}." if result["status"] == FAILED else None
        comment.auto_comment = "No response." if comment.name in blank else note
    book.db.flush()
    notebook.late_submission_penalty = None
    if submission.total_seconds_late > 0:
        book.db.refresh(notebook)
        penalty = _plugin(course).late_submission_penalty(
            result["student"], notebook.score, submission.total_seconds_late
        )
        if penalty is not None:
            notebook.late_submission_penalty = min(max(penalty, 0), notebook.score)


def _submission(book, source, result):
    """Return the submission's row, made with all that hangs on it where it is not there yet."""
    from nbgrader import api
    from nbgrader.utils import parse_utc

    student = book.db.get(api.Student, result["student"])
    if student is None:
        student = api.Student(id=result["student"])
        book.db.add(student)
        book.db.flush()
        course = book.db.query(api.Course).first()
        if hasattr(student, "course_id") and course is not None:
            student.course_id = course.id
    assignment = book.find_assignment(source.slug)
    row = (
        book.db.query(api.SubmittedAssignment).filter_by(assignment=assignment, student=student)
    ).one_or_none()
    if row is None:
        with book.db.no_autoflush:
            row = api.SubmittedAssignment(assignment=assignment, student=student)
            for notebook in assignment.notebooks:
                mine = api.SubmittedNotebook(notebook=notebook, assignment=row)
                for cell in (*notebook.grade_cells, *notebook.task_cells):
                    api.Grade(cell_id=cell.id, notebook=mine)
                for cell in (*notebook.solution_cells, *notebook.task_cells):
                    api.Comment(cell_id=cell.id, notebook=mine)
            book.db.add(row)
        book.db.flush()
        book.db.refresh(row)
    when = result["handed_in"]
    row.timestamp = parse_utc(when).replace(tzinfo=None) if when else None
    return row


def _plugin(course):
    from nbgrader.preprocessors import AssignLatePenalties

    step = AssignLatePenalties(config=course.config)
    step.init_plugin()
    step.plugin_inst.log = logging.Logger("late", logging.CRITICAL)
    return step.plugin_inst


def _unwritable(course, error):
    from sqlalchemy.engine import make_url

    try:
        where = make_url(course.db_url).render_as_string(hide_password=True)
    except Exception:
        where = course.db_url.partition("://")[0]
    said = " ".join(str(error).split())[:200]
    return Refusal(
        f"the gradebook must take the scores, got no connection to {where} ({said}): "
        "the results are kept, so mend it and run again with --resume"
    )
