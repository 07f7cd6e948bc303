"""`scalelab grade`: a class, from its submissions to scores, feedback and reports."""

import os
import sys
from pathlib import Path
from typing import Any

import click

from scalelab.cli import streams, terminal
from scalelab.refusal import Failure, Refusal

SHOWN = 20  # students with remarks that the table names, besides all who failed


@click.command("grade", short_help="Grade the submissions of an assignment.")
@click.argument("assignment", required=False)
@click.option(
    "--submitted", type=Path, metavar="PLACE", help="A folder of students, or a zip file."
)
@click.option(
    "--pattern", default="", help="Regular expression for names in a zip, with (?P<student>)."
)
@click.option("--roster", type=Path, metavar="CSV", help="Who should have handed in.")
@click.option(
    "--workers", type=click.IntRange(1, 256), help="Processes here.  [default: the cores]"
)
@click.option(
    "--executor", metavar="ADDRESS", help="A Dask cluster instead, such as tcp://head:8786."
)
@click.option(
    "--only", multiple=True, metavar="STUDENT", help="Grade these and their groups alone."
)
@click.option("--task", "tasks", multiple=True, help="Grade this task again for all, as in 2.1.")
@click.option(
    "--resume", is_flag=True, help="Keep every result whose submission and source are as before."
)
@click.option("--similar", is_flag=True, help="Look for students who wrote the same, as well.")
@click.option("--db", metavar="URL", help="The gradebook.  [default: the course's]")
@click.option("--no-gradebook", is_flag=True, help="Write results and feedback only.")
@click.option("--cell-seconds", type=click.FloatRange(0.1, 3600), default=10.0, show_default=True)
@click.option("--call-seconds", type=click.FloatRange(0.1, 3600), default=10.0, show_default=True)
@click.option(
    "--submission-seconds", type=click.FloatRange(1, 36000), default=90.0, show_default=True
)
@click.option("--most-bytes", type=int, default=200_000_000, help="Of one notebook, with outputs.")
@click.option("--unsafe", is_flag=True, help="Grade even where students' code cannot be isolated.")
@click.option("--doctor", is_flag=True, help="Say what isolation this machine gives, and stop.")
@click.option("--json", is_flag=True, help="Print the class report as JSON.")
def command(
    assignment: str | None,
    doctor: bool,
    json: bool,
    workers: int | None,
    executor: str | None,
    db: str | None,
    **asked: Any,
) -> None:
    """Grade the submissions of ASSIGNMENT, in the root of a course.

    Every submission ends as graded, graded with flags, failed with a reason, or missing. Results,
    tables and the class report go to course/graded/ASSIGNMENT, feedback to course/feedback.

    \b
    Examples:
      scalelab grade --doctor
    """
    if doctor:
        _doctor(json)
        return
    if not assignment:
        raise click.UsageError("ASSIGNMENT must be named, such as 01_speedup")
    from scalelab.grading import classroom
    from scalelab.grading.inputs import course, source
    from scalelab.grading.judging import grade_all

    this_course = course.find(Path.cwd(), db)
    written = source.load(Path.cwd(), assignment)
    wish = _wish(**asked)
    _insist_on_walls(wish, executor)
    workers = workers or len(os.sched_getaffinity(0))

    def pool():
        return grade_all.dask(executor) if executor else grade_all.local(workers)

    with _bar() as bar:

        def report(done, total, result):
            bar.total, bar.n = total, done
            bar.set_postfix_str(f"{result['student']}: {result['status']}"[:40])

        try:
            summary = classroom.grade(this_course, written, wish, pool, grade_all.slots, report)
        except KeyboardInterrupt:
            click.echo("scalelab: interrupted; go on with --resume", err=True)
            raise click.exceptions.Exit(130) from None
        except OSError as error:
            what = error.strerror or error
            raise Failure(
                f"{error.filename or this_course.graded} cannot be written ({what}): what is done is kept, "
                "so make room and go on with --resume"
            ) from None
    if json:
        streams.echo_json(summary)
    else:
        click.echo(_table(summary, this_course.graded / assignment))


def _wish(tasks, no_gradebook, cell_seconds, call_seconds, submission_seconds, **asked):
    from scalelab.grading.classroom import Wish
    from scalelab.grading.judging.execute import TimeLimits

    limits = TimeLimits(cell_seconds, call_seconds, submission_seconds)
    return Wish(tasks=tuple(tasks), gradebook=not no_gradebook, limits=limits, **asked)


def _insist_on_walls(wish, executor):
    """Refuse before anything is collected where students' code could not be isolated."""
    from scalelab.grading.box import bubblewrap

    missing = "" if wish.unsafe or executor else bubblewrap.find().missing
    if missing:
        raise Refusal(
            f"grading must isolate students' code, got a machine that cannot ({missing}): see "
            "`scalelab grade --doctor`, or accept it by --unsafe"
        )


def _bar():
    from tqdm import tqdm

    return tqdm(
        desc="grade", leave=False, file=sys.stderr, disable=terminal.quiet() or None, unit=""
    )


def _doctor(json):
    from scalelab.grading.box import bubblewrap
    from scalelab.tables.printed import aligned

    answers = dict(bubblewrap.doctor())
    if json:
        streams.echo_json(answers)
        return
    terminal.say(*aligned([*answers.items()], left=(0, 1), width=terminal.listing_width()))


def _table(summary, place):
    """Return the class report in some lines: nobody who failed is left out."""
    from scalelab.grading.judging.result import FAILED
    from scalelab.grading.out import report
    from scalelab.units import counted

    lines = [", ".join(f"{n} {state}" for state, n in summary["states"].items() if n) or "nobody"]
    lines += filter(
        None, [report.headline(summary), report.changes(summary), report.asked(summary)]
    )
    for task in summary["tasks"]:
        slip = f"  most often ({task['slip'][1]}): {task['slip'][0]}" if task["slip"] else ""
        solved = "  not read" if task["solved"] is None else f"{task['solved']:>5.0%} solved"
        lines.append(f"{solved:12}  {task['name']}{slip}"[:110])
    odd = [row for row in summary["students"] if row["remarks"]]
    failed = [row for row in odd if row["status"] == FAILED]
    others = odd[len(failed) :]
    for row in [*failed, *others[:SHOWN]]:
        lines.append(f"{row['status']}  {row['student']}: {'; '.join(row['remarks'])}"[:110])
    if others[SHOWN:]:
        lines.append(f"and {len(others) - SHOWN} more with remarks")
    if "similar" in summary:
        count = len(summary["similar"])
        pairs = counted(count, "pair") if count else "no pairs"
        lines.append(f"{pairs} of students wrote much the same: {place / 'similar.html'}")
    return "\n".join([*lines, f"{place / 'report.html'} shows all of it"])
