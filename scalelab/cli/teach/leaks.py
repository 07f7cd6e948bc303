"""`scalelab leaks`: look for solutions, hidden checks and secrets in whatever is published."""

from pathlib import Path

import click


@click.command("leaks", short_help="Look for what must stay with the instructor.")
@click.argument("paths", nargs=-1, required=True, type=Path, metavar="PATH...")
def command(paths: tuple[Path, ...]) -> int:
    """Look for what must stay with the instructor: in folders, archives, pages, PDFs; from a course's root.

    A passage of a solution counts wherever it stands, however it is coloured or wrapped. The exit code
    is 1 where something is found. A PDF needs pdftotext or pypdf.

    \b
    Example:
      scalelab leaks exercises
    """
    from scalelab.grading.release import published

    secrets = published.course_secrets(Path.cwd())
    findings = [one for path in paths for one in published.look(path, secrets)]
    for one in findings or ["nothing was found"]:
        click.echo(one)
    return int(bool(findings))
