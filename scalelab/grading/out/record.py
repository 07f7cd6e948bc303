"""The one writer of nbgrader's gradebook: SQLite, PostgreSQL, whatever SQLAlchemy knows.

Formgrader, manual grading and export go on as usual. Scores that a person gave are never touched,
and writing the same results again changes nothing, so that a lost connection is mended by writing
once more. nbgrader is imported inside functions only.
"""

import contextlib
import logging
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from scalelab.grading.inputs.course import Course, with_gradebooks
from scalelab.grading.inputs.source import Source
from scalelab.grading.judging.result import FAILED, MISSING, Result
from scalelab.grading.out.codes import Items, explained
from scalelab.grading.out.worth import Known, Mark, by_items, first
from scalelab.refusal import Refusal

BATCH = 50  # submissions of one transaction
BLANK = "No response."  # as nbgrader says it
TRIES = 4


def record(
    course: Course,
    source: Source,
    results: Iterable[Result],
    extensions: Mapping[str, datetime] | None = None,
    items: Items | None = None,
) -> None:
    """Write results to the gradebook, and try again when its connection is lost.

    `extensions` is {student: due}, of those who have a date of their own; `items` are what codes in
    comments stand for.
    """
    from sqlalchemy.exc import DBAPIError, SQLAlchemyError

    with_gradebooks()
    left = [*results]
    for attempt in range(TRIES):
        try:
            with _open(course) as book:
                _structure(book, course, source)
                while left:
                    for result in left[:BATCH]:
                        due = (extensions or {}).get(result["student"])
                        _write(book, course, source, result, due, items or {})
                    book.db.commit()
                    del left[:BATCH]
            return
        except DBAPIError as error:
            if attempt == TRIES - 1:
                raise _unwritable(course, error.orig) from None
            time.sleep(0.2 * 2**attempt)
        except SQLAlchemyError as error:
            raise _unwritable(course, error) from None


def known(course: Course, source: Source, items: Items | None = None) -> dict[str, Known]:
    """Return, for everybody in the gradebook, what it knows of their work on one assignment.

    `items` are what codes in comments stand for.
    """
    with_gradebooks()
    with _open(course) as book:
        names = {s.id: " ".join(filter(None, (s.first_name, s.last_name))) for s in book.students}
        assignment = _assignment(book, source)
        due = {s.student_id: s.duedate for s in assignment.submissions} if assignment else {}
        people = {}
        for student, name in names.items():
            when = due.get(student) or (assignment and assignment.duedate)
            date = when.replace(tzinfo=UTC).isoformat() if when else ""
            people[student] = Known(name=name, due=date)
        for submission in assignment.submissions if assignment else ():
            for notebook in submission.notebooks:
                people[submission.student_id] = replace(
                    people[submission.student_id],
                    marks=explained(_marks(notebook), source, items or {}),
                    penalty=notebook.late_submission_penalty or 0.0,
                )
    return people


def _marks(notebook):
    """Return {cell: Mark} of what a person gave: scores on graded cells, comments on any."""
    marks = {
        grade.name: Mark(grade.manual_score, grade.extra_credit or 0.0)
        for grade in notebook.grades
        if grade.manual_score is not None or grade.extra_credit
    }
    for comment in notebook.comments:
        if comment.manual_comment:
            mark = marks.get(comment.name, Mark())
            marks[comment.name] = replace(mark, comment=comment.manual_comment)
    return marks


def _assignment(book, source):
    from nbgrader.api import MissingEntry

    try:
        return book.find_assignment(source.slug)
    except MissingEntry:
        return None


def students(course: Course) -> list[str]:
    """Return the ids of everybody in the gradebook; nbgrader, which takes seconds, is not asked for it."""
    from sqlalchemy import create_engine, inspect, text

    with _reaching(course):
        engine = create_engine(course.db_url)
        try:
            if "student" not in inspect(engine).get_table_names():
                return []
            with engine.connect() as connection:
                return [id for (id,) in connection.execute(text("SELECT id FROM student"))]
        finally:
            engine.dispose()


@contextlib.contextmanager
def _reaching(course):
    """Say in one sentence why a gradebook cannot be reached."""
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except SQLAlchemyError as error:
        raise _unwritable(course, getattr(error, "orig", None) or error) from None
    except ModuleNotFoundError as error:
        raise Refusal(
            f"the gradebook must have its driver, got no package {error.name!r}: install it"
        ) from None


@contextlib.contextmanager
def _open(course):
    from nbgrader.api import Gradebook
    from sqlalchemy.exc import SQLAlchemyError

    with _reaching(course):
        book = Gradebook(course.db_url)
        _with_version(book)
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


def _write(book, course, source, result, due, items):
    """Write one result, without committing."""
    student = _student(book, result["student"]) if result["status"] != MISSING else None
    row = _row(book, source, result["student"])
    if result["status"] in (FAILED, MISSING) and not (row and _by_a_person(row)):
        # A row without scores would count as 0 in every sum and average of nbgrader's.
        if row:
            _remove(book, row)
        return
    from nbgrader.utils import parse_utc

    row = row or _new_row(book, source, student)
    when = result["handed_in"]
    row.timestamp = parse_utc(when).replace(tzinfo=None) if when else None
    if due and row.assignment.duedate:
        row.extension = due.astimezone(UTC).replace(tzinfo=None) - row.assignment.duedate
    _scores(book, source, row, result, items)
    _penalty(book, course, source, row)


def _scores(book, source, row, result, items):
    """Write what was judged, and what the items of a comment give a text; what a person typed stays."""
    notebook = _of(row, source)
    marks = explained(_marks(notebook), source, items)
    scores = {test["id"]: test["score"] for test in result["tests"]}
    for text in result["manual"]:
        by_person = by_items(marks.get(text["id"], Mark()).items, text["max_score"])
        scores[text["id"]] = first(text["score"], by_person)
    theirs = _of_the_group(book, source, result, items)
    scores |= _given_to_the_group(marks, theirs, scores, result)
    blank = {text["id"] for text in result["manual"] if text["score"] == 0}
    was_blank = {comment.name for comment in notebook.comments if comment.auto_comment == BLANK}
    for grade in notebook.grades:
        score = scores.get(grade.name)
        # The score of a text is a person's as well; what may change beside that is whether there is one.
        text = source.by_id[grade.name].manual
        changed = grade.name in blank ^ was_blank if text else grade.auto_score != score
        grade.auto_score = score
        if grade.manual_score is None:
            grade.needs_manual_grade = score is None
        elif changed:  # what a person decided may rest on what has changed
            grade.needs_manual_grade = True
    failed = result["status"] in (FAILED, MISSING)
    note = f"Not graded: {result['reason']}." if failed else None
    for comment in notebook.comments:
        comment_of_person = theirs.get(comment.name, Mark()).comment or None
        comment.auto_comment = BLANK if comment.name in blank else note or comment_of_person
    book.db.flush()


def _of_the_group(book, source, result, items):
    """Return what a person gave the one who handed in for a member of a group."""
    row = _row(book, source, result["by"]) if "by" in result else None
    return explained(_marks(_of(row, source)), source, items) if row else {}


def _given_to_the_group(own, theirs, scores, result):
    """Return the scores that come from there: what a person gave this member alone comes before."""
    most = {cell["id"]: cell["max_score"] for cell in (*result["tests"], *result["manual"])}
    scores_given = {}
    for name, mark in theirs.items():
        if name in scores and not own.get(name, Mark()).points:
            score = first(mark.score, scores[name], by_items(mark.items, most[name]))
            scores_given[name] = None if score is None else score + mark.extra
    return scores_given


def _penalty(book, course, source, row):
    """Take off what the course's own policy takes for coming late."""
    notebook = _of(row, source)
    notebook.late_submission_penalty = None
    if row.total_seconds_late > 0:
        book.db.refresh(notebook)
        penalty = _plugin(course).late_submission_penalty(
            row.student_id, notebook.score, row.total_seconds_late
        )
        if penalty is not None:
            notebook.late_submission_penalty = min(max(penalty, 0), notebook.score)


def _of(row, source):
    return next(notebook for notebook in row.notebooks if notebook.name == source.slug)


def _by_a_person(row):
    """Say whether a person gave anything to this submission."""
    return any(_marks(notebook) for notebook in row.notebooks)


def _student(book, name):
    """Return the student's row, made where it is not there yet."""
    from nbgrader import api

    student = book.db.get(api.Student, name)
    if student is None:
        student = api.Student(id=name)
        book.db.add(student)
        book.db.flush()
        course = book.db.query(api.Course).first()
        if hasattr(student, "course_id") and course is not None:
            student.course_id = course.id
    return student


def _row(book, source, student):
    """Return the submission's row, or None."""
    from nbgrader.api import MissingEntry

    try:
        return book.find_submission(source.slug, student)
    except MissingEntry:
        return None


def _remove(book, row):
    """Remove a submission's row and all that hangs on it, without committing."""
    for notebook in row.notebooks:
        for entry in (*notebook.grades, *notebook.comments, notebook):
            book.db.delete(entry)
    book.db.delete(row)
    book.db.flush()


def _new_row(book, source, student):
    """Return a row for a submission, with all that hangs on it."""
    from nbgrader import api

    assignment = book.find_assignment(source.slug)
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
