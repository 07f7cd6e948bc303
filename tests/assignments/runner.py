"""Run an assignment's cells in this process: fast enough to try every answer against every check.

A tiny kernel: one namespace, cells in order, the value of a cell's last expression. How nbgrader
reads that value is `nbgrader.utils`' own code, so that a score here is a score there.
"""

import ast
import contextlib
import functools
import importlib.util
import io
import os
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

import nbformat
from nbgrader import utils

from scalelab.checks.keys import using

VARIANTS = range(21)  # 0 is the public one
ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(p.name for p in (ROOT / "solutions").glob("[!.]*") if p.is_dir())
ANSWERS = Path(__file__).parent / "answers"
SLUGS = [slug for slug in SOURCES if (ANSWERS / f"{slug}.py").exists()]


@contextlib.contextmanager
def in_course(word="course 0", number=0, seconds=60.0):
    """Grade with a course's secret and, in every task, with one certain variant.

    A function has `seconds`: on a busy machine even a right one may need more than a student's has.
    """
    key = f"ada {number:032x}" if number else ""
    with (
        mock.patch.dict(os.environ, {"SCALELAB_COURSE_SECRET": word}),
        mock.patch("scalelab.checks.variants.chosen", return_value=number),
        mock.patch("scalelab.checks.judge.SECONDS", seconds),
        using(key),
    ):
        yield


@functools.cache
def _read(path):
    return nbformat.read(path, 4)


@dataclass
class Graded:
    """What one check cell came to: points, and what it printed."""

    points: float
    most: float
    text: str


@dataclass
class Assignment:
    """The cells of an assignment by grade_id, and how to run them."""

    slug: str
    folder: str = "solutions"
    cells: dict = field(init=False)

    def __post_init__(self):
        self.notebook = _read(ROOT / self.folder / self.slug / f"{self.slug}.ipynb")
        self.cells = {cell.metadata.nbgrader.grade_id: cell for cell in self.notebook.cells}

    @property
    def answers(self):
        """The ids of the cells that students write code into."""
        return [i for i, c in self.cells.items() if utils.is_solution(c) and c.cell_type == "code"]

    @property
    def checks(self):
        """The ids of the cells that grade by themselves."""
        return [i for i, c in self.cells.items() if utils.is_grade(c) and c.cell_type == "code"]

    @property
    def tasks(self):
        """The tasks that grade by themselves, such as "2-1"."""
        return [key.removeprefix("check-") for key in self.checks]

    def grade(self, answers=None, only=None):
        """Run all code cells with some answers replaced; return {check id: Graded}.

        `only` names one task, such as "2-1": the other tasks' answers and checks are left out,
        save those that NEEDS in the assignment's table names.
        """
        graded = {}
        self.run(answers, only, graded)
        return graded

    def run(self, answers=None, only=None, graded=None):
        """Run the cells and return the names they leave; checks only where `graded` wants them."""
        names = {"__name__": "__main__"}
        needed = {only, *getattr(table(self.slug), "NEEDS", {}).get(only, ())}
        for key, cell in self.cells.items():
            if cell.cell_type != "code":
                continue
            kind, _, task = key.partition("-")
            if only and (
                (kind == "check" and task != only) or (kind == "answer" and task not in needed)
            ):
                continue
            if key not in self.checks:
                # As in a notebook: a cell that raises leaves the rest to run.
                with contextlib.suppress(Exception if kind == "answer" else ()):
                    _run((answers or {}).get(key, cell.source), names)
            elif graded is not None:
                graded[key] = graded_cell(cell, names)
        return names

    def at_each_check(self):
        """Run the reference; yield (check id, its cell, the names there are) where a check stands."""
        names = {"__name__": "__main__"}
        for key, cell in self.cells.items():
            if key in self.checks:
                yield key, cell, names
            elif cell.cell_type == "code":
                _run(cell.source, names)


@functools.cache
def table(slug):
    """Load what is known of an assignment: other right answers, wrong ones, surviving mutants."""
    path = ANSWERS / f"{slug}.py"
    spec = importlib.util.spec_from_file_location(f"answers_{slug}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@functools.lru_cache(maxsize=2000)
def _compiled(source):
    """Split a cell into its statements and its last expression, as a notebook does."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    return (
        compile(tree, "<cell>", "exec"),
        compile(ast.Expression(last.value), "<cell>", "eval") if last else None,
    )


def _run(source, names):
    """Run a cell; return the value of its last expression, what it printed, its stderr."""
    body, last = _compiled(source)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        exec(body, names)
        value = eval(last, names) if last else None
    return value, out.getvalue(), err.getvalue()


def graded_cell(cell, names):
    """Run a check cell on some names; return what it came to."""
    value, out, err = _run(cell.source, names)
    assert isinstance(value, float), f"a check cell must end in its points, got {value!r}"
    assert not err, f"a check cell must not write to stderr, got {err!r}"
    shown = nbformat.v4.new_output("execute_result", {"text/plain": repr(value)})
    points, most = utils.determine_grade(nbformat.from_dict({**cell, "outputs": [shown]}))
    return Graded(points, most, out)
