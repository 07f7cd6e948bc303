"""`scalelab release`: what students get, built from the solutions, or nothing where anything would leak."""

from pathlib import Path

import click

from scalelab.refusal import Refusal


@click.command("release", short_help="Build what students get from the solutions.")
@click.argument("slugs", nargs=-1, metavar="[ASSIGNMENT]...")
@click.option("--check", is_flag=True, help="Compare with exercises/ only, and change nothing.")
@click.option("--exam", is_flag=True, help="Without hints, into course/exam/.")
def command(slugs: tuple[str, ...], check: bool, exam: bool) -> int:
    """Build exercises/ from solutions/, in the root of a course; all assignments, or those named.

    nbgrader removes the solutions, in a clean folder and without touching any gradebook. The result is
    looked through, and takes the place of the old one in a single step.

    \b
    Example:
      scalelab release --check 01_speedup
    """
    if check and exam:
        raise click.UsageError(
            "--check must go without --exam: an exam is not kept to compare with"
        )
    from scalelab.grading.release import release

    code = 0
    for slug in slugs or release.slugs(Path.cwd()):
        try:
            place = release.release(Path.cwd(), slug, check, exam)
        except Refusal as refusal:
            click.echo(f"scalelab: {refusal}", err=True)
            code = 2
        else:
            click.echo(f"{place} is as it should be" if check else f"built {place}")
    return code
