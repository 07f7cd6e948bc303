"""`scalelab keys`: hand each student of a course a key, which gives them numbers of their own."""

from pathlib import Path

import click


@click.command("keys", short_help="Make the keys that give students their numbers.")
@click.argument("students", nargs=-1, metavar="STUDENT...")
@click.option("--roster", type=Path, metavar="CSV", help="Everybody in this file as well.")
def command(students: tuple[str, ...], roster: Path | None) -> None:
    """Make the keys of students, by their ids in the gradebook, in the root of a course.

    A key is one line. The student keeps it as scalelab.key beside the notebook; grading makes it again
    from the course's secret. Who was handed no key works, and is graded, with the public numbers.

    \b
    Examples:
      scalelab keys ada ben
      scalelab keys --roster students.csv
    """
    from scalelab.checks.keys import FILE
    from scalelab.grading.inputs import course
    from scalelab.grading.release import keys

    everybody = list(dict.fromkeys([*students, *(course.roster(roster) if roster else ())]))
    if not everybody:
        raise click.UsageError("STUDENT must name somebody, or --roster a CSV file of students")
    made = keys.hand_out(Path.cwd() / "course", everybody)
    click.echo(f"{len(made)} keys in {made[0].parent}: each student keeps their own as {FILE}")
