"""A course in a folder of its own that stock nbgrader's own converters run, in this process."""

import contextlib
import io
import logging
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from traitlets.config.loader import PyFileConfigLoader

from scalelab.grading.release.keys import hand_out
from scalelab.grading.release.release import CONFIG
from tests.children import environment
from tests.notebooks import ROOT


@contextlib.contextmanager
def entered(root: Path) -> Iterator[Path]:
    """Work in a new course: nbgrader starts alembic, and Jupyter the kernel's python, by name."""
    shutil.copy(ROOT / CONFIG, root)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("SCALELAB_COURSE_SECRET", raising=False)
        for name, value in environment(IPYTHONDIR=str(root / ".ipython")).items():
            patch.setenv(name, value)
        patch.chdir(root)
        yield root


class Course:
    """The config of the repository, one assignment, and keys for some who have numbers of their own."""

    def __init__(self, root: Path, slug: str, keys: Iterable[str]):
        self.root, self.slug, self.name = root, slug, f"{slug}.ipynb"
        shutil.copytree(ROOT / "solutions" / slug, root / "solutions" / slug)
        self.config = PyFileConfigLoader(CONFIG, path=str(root)).load_config()
        self.config.CourseDirectory.assignment_id = slug
        hand_out(root / "course", [*keys])
        self.database = f"sqlite:///{root / 'course' / 'gradebook.db'}"

    def run(self, converter: type) -> None:
        """Run one of nbgrader's converters over all students; it raises if any of them fails."""
        made = converter(coursedir=CourseDirectory(config=self.config), config=self.config)
        said = io.StringIO()
        made.log = logging.Logger("nbgrader", logging.ERROR)
        made.log.addHandler(logging.StreamHandler(said))
        try:
            made.start()
        except NbGraderException:
            pytest.fail(f"{converter.__name__}: {said.getvalue()[-3000:]}")

    def submit(self, student: str, answers: Mapping[str, str]) -> None:
        """Hand in the released notebook with these answers, by their cells."""
        notebook = nbformat.read(self.root / "exercises" / self.slug / self.name, 4)
        for cell in notebook.cells:
            cell.source = answers.get(cell.id, cell.source)
        place = self.root / "course" / "submitted" / student / self.slug
        place.mkdir(parents=True)
        nbformat.write(notebook, place / self.name)

    def scores(self, student: str) -> dict[str, float]:
        """Return the points that a gradebook gives to each check of a student."""
        with Gradebook(self.database) as book:
            notebook = book.find_submission_notebook(self.slug, self.slug, student)
            grades = {grade.name: grade.auto_score for grade in notebook.grades}
        return {name: score for name, score in grades.items() if name.startswith("check-")}
