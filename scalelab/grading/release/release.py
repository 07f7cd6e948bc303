"""Build what students get: exercises/ from solutions/, or nothing where anything would leak.

nbgrader itself removes the solutions, in a clean folder and without touching any gradebook; the
result is scanned and then takes the place of the old one in a single step. Run it from the
course's root.
"""

import itertools
import logging
import shutil
import tempfile
from pathlib import Path

from scalelab.files import atomic
from scalelab.grading.inputs.course import CONFIG
from scalelab.refusal import Refusal

EXAM = Path("course", "exam")


def build(root: str | Path, slug: str, exam: bool = False) -> str:
    """Return the text of the release of one assignment, as nbgrader makes it.

    The folder of the source may hold its notebook only, and the release must pass `leaks`.
    For an exam the hints are taken out as well.
    """
    import nbformat

    from scalelab.grading.release.leaks import leaks

    source = Path(root) / "solutions" / slug / f"{slug}.ipynb"
    _insist(source.is_file(), f"{source} is missing: an assignment is solutions/SLUG/SLUG.ipynb")
    _insist_alone(source)
    with tempfile.TemporaryDirectory() as clean:
        folder = Path(clean)
        shutil.copy(Path(root) / CONFIG, folder)
        (folder / "solutions" / slug).mkdir(parents=True)
        shutil.copy(source, folder / "solutions" / slug)
        _generate(folder, slug)
        made = folder / "exercises" / slug
        text = (made / source.name).read_text()
    try:
        release = nbformat.reads(text, 4)
        if exam:
            text, release = _exam(release)
        leaking = leaks(nbformat.read(source, 4), release, exam)
    except Exception as error:
        raise Refusal(f"{source} is not a notebook: {error}") from None
    more = [f"and {len(leaking) - 3} more"] if len(leaking) > 3 else []
    _insist(not leaking, f"{source} would leak: {'; '.join(leaking[:3] + more)}")
    return text


def _exam(release):
    import nbformat
    from nbgrader.utils import compute_checksum

    from scalelab.grading.inputs.source import without_hints

    release = without_hints(release)
    for cell in release.cells:
        if "checksum" in cell.metadata.get("nbgrader", {}):
            cell.metadata.nbgrader.checksum = compute_checksum(cell)
    return nbformat.writes(release) + "\n", release


def differences(old: str, new: str) -> list[str]:
    """Say in which cells two notebooks, given as text, differ.

    >>> cell = '{"id": "a", "cell_type": "markdown", "metadata": {}, "source": "%s"}'
    >>> notebook = '{"cells": [%s], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
    >>> differences(notebook % cell % "one", notebook % cell % "two")
    ["cell 'a': source"]
    """
    import nbformat

    if old == new:
        return []
    try:
        before, after = (nbformat.reads(text, 4) for text in (old, new))
    except Exception as error:
        return [f"not a notebook: {error}"]
    cells = []
    nothing: dict[str, object] = {}
    for a, b in itertools.zip_longest(before.cells, after.cells, fillvalue=nothing):
        parts = [key for key in {**a, **b} if a.get(key) != b.get(key)]
        if parts:
            cells.append(f"cell {(b or a).get('id')!r}: {', '.join(parts)}")
    return cells or ["metadata or layout of the file"]


def release(root: Path, slug: str, check: bool = False, exam: bool = False) -> Path:
    """Build one assignment, and compare it with exercises/ or put it there; return where, from the root."""
    text = build(root, slug, exam)
    place = root / (EXAM if exam else "exercises") / slug / f"{slug}.ipynb"
    if place.parent.exists():
        _insist_alone(place)
    if check:
        _insist(place.is_file(), f"{place} is missing: run `make exercises`")
        changes = differences(place.read_text(), text)
        _insist(not changes, f"{place} is out of date, run `make exercises`: {'; '.join(changes)}")
        return place.relative_to(root)
    place.parent.mkdir(parents=True, exist_ok=True)
    atomic.put(place, text)
    return place.relative_to(root)


def slugs(root: Path) -> list[str]:
    """List the assignments; every folder in exercises/ must be one of them."""
    _insist((root / CONFIG).is_file(), f"{root / CONFIG} is missing: run this from a course's root")
    sources, releases = (
        sorted(p.name for p in (root / folder).glob("[!.]*") if p.is_dir())
        for folder in ("solutions", "exercises")
    )
    _insist(sources, f"{root / 'solutions'} holds no assignment: add solutions/SLUG/SLUG.ipynb")
    for slug in set(releases) - set(sources):
        raise Refusal(f"{root / 'exercises' / slug} has no source in solutions/: delete it")
    return sources


def _generate(folder, slug):
    """Run nbgrader's own generate_assignment, and turn what it logs into one sentence."""
    from nbgrader.converters import GenerateAssignment
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config.loader import PyFileConfigLoader

    config = PyFileConfigLoader(CONFIG, path=str(folder)).load_config()
    config.SaveCells.enabled = (
        False  # what `--no-db` does: no gradebook is needed to see the result
    )
    config.GenerateAssignment.no_database = True
    course = CourseDirectory(config=config, assignment_id=slug)
    converter = GenerateAssignment(coursedir=course, config=config)
    log = _Errors()
    converter.log = logging.Logger("release", logging.ERROR)
    converter.log.addHandler(log)
    try:
        converter.start()
    except Exception as error:
        cause = log.lines[0] if log.lines else str(error)
        raise Refusal(f"solutions/{slug} is refused by nbgrader: {cause}") from None


class _Errors(logging.Handler):
    """Keeps the last line of every traceback that nbgrader logs."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        message = record.getMessage().strip()
        if message.startswith("Traceback"):
            self.lines.append(message.splitlines()[-1])


def _insist_alone(notebook):
    strays = sorted(p.name for p in notebook.parent.iterdir() if p.name != notebook.name)
    strays = [name for name in strays if name != ".ipynb_checkpoints"]
    _insist(
        not strays,
        f"{notebook.parent} must hold {notebook.name} only, got {', '.join(strays)} as well: "
        "every file there would reach the students, so move it elsewhere",
    )


def _insist(fine, sentence):
    if not fine:
        raise Refusal(sentence)
