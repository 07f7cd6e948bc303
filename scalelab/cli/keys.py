"""`scalelab keys`: hand each student of a course a key, which gives them numbers of their own."""

from pathlib import Path

import click


@click.command("keys")
@click.argument("students", nargs=-1, required=True, metavar="STUDENT...")
def command(students: tuple[str, ...]) -> None:
    """Make the keys of students, by their ids in the gradebook, in the root of a course.

    A key is one line. The student keeps it as scalelab.key beside the notebook; grading makes it again
    from the course's secret. Who was handed no key works, and is graded, with the public numbers.

    \b
    Example:
      scalelab keys ada ben
    """
    from scalelab.checks.keys import FILE
    from scalelab.grading.release import keys

    made = keys.hand_out(Path.cwd() / "course", students)
    click.echo(f"{len(made)} keys in {made[0].parent}: each student keeps the own one as {FILE}")
