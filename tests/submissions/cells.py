"""Trouble with the cells: copied, lost, moved, renamed, of another kind."""

from __future__ import annotations

import copy

from tests.submissions.assignment import cell_of
from tests.submissions.kinds import FLAGGED, GRADED, notebook_kind


def _kind(change, *expected):
    return notebook_kind(change.__name__.strip("_").replace("_", " "), "cells", change, *expected)


def _at(notebook, name):
    return notebook["cells"].index(cell_of(notebook, name))


def _own(text, kind="code"):
    cell = {"cell_type": kind, "metadata": {}, "source": text}
    return cell | ({"outputs": [], "execution_count": None} if kind == "code" else {})


def answer_copied(notebook):
    twin = copy.deepcopy(cell_of(notebook, "answer-1-1"))
    notebook["cells"].insert(_at(notebook, "answer-1-1"), twin)


def answer_split_by_copying(notebook):
    cell = cell_of(notebook, "answer-1-1")
    first = copy.deepcopy(cell)
    first["source"] = "def third(x):\n    return x / 3"
    cell["source"] = "def half(x):\n    return third(x) * 1.5"
    notebook["cells"].insert(_at(notebook, "answer-1-1"), first)


def older_version_copied(notebook):
    old = copy.deepcopy(cell_of(notebook, "answer-1-1"))
    old["source"] = "def half(x):\n    return x * 2"
    notebook["cells"].insert(_at(notebook, "answer-1-1"), old)


def check_copied(notebook):
    notebook["cells"].append(copy.deepcopy(cell_of(notebook, "check-1-1")))


def everything_copied(notebook):
    notebook["cells"] += copy.deepcopy(notebook["cells"])


def answer_missing(notebook):
    notebook["cells"].remove(cell_of(notebook, "answer-1-1"))


def check_missing(notebook):
    notebook["cells"].remove(cell_of(notebook, "check-1-1"))


def all_checks_missing(notebook):
    notebook["cells"] = [c for c in notebook["cells"] if not c["id"].startswith("check")]


def only_answers_left(notebook):
    notebook["cells"] = [c for c in notebook["cells"] if c["id"].startswith("answer")]


def only_one_answer_left(notebook):
    notebook["cells"] = [cell_of(notebook, "answer-3-1")]


def reversed_order(notebook):
    notebook["cells"].reverse()


def answer_moved_to_the_end(notebook):
    cell = cell_of(notebook, "answer-1-1")
    notebook["cells"].remove(cell)
    notebook["cells"].append(cell)


def tag_of_an_answer_lost(notebook):
    cell = cell_of(notebook, "answer-1-1")
    cell["metadata"], cell["id"] = {}, "3f2a"


def all_metadata_lost(notebook):
    for n, cell in enumerate(notebook["cells"]):
        cell["metadata"], cell["id"] = {}, f"c{n}"
    notebook["metadata"] = {}


def all_metadata_and_ids_lost(notebook):
    for cell in notebook["cells"]:
        cell["metadata"] = {}
        del cell["id"]


def schema_version_lost(notebook):
    for cell in notebook["cells"]:
        del cell["metadata"]["nbgrader"]["schema_version"]


def old_schema_version(notebook):
    for cell in notebook["cells"]:
        cell["metadata"]["nbgrader"]["schema_version"] = 1


def answer_tagged_as_the_check(notebook):
    cell = cell_of(notebook, "answer-1-1")
    cell["metadata"]["nbgrader"] = copy.deepcopy(
        cell_of(notebook, "check-1-1")["metadata"]["nbgrader"]
    )


def check_tagged_as_an_answer(notebook):
    role = cell_of(notebook, "check-1-1")["metadata"]["nbgrader"]
    role.update({"solution": True, "grade": False, "locked": False})


def points_raised(notebook):
    cell_of(notebook, "check-1-1")["metadata"]["nbgrader"]["points"] = 1000


def absurd_metadata(notebook):
    for n, cell in enumerate(notebook["cells"]):
        cell["metadata"]["nbgrader"] = [None, 7, "x", {"grade_id": ["a"]}, {}][n % 5]


def answer_turned_into_text(notebook):
    cell = cell_of(notebook, "answer-1-1")
    cell["cell_type"] = "markdown"
    cell.pop("outputs", None)


def answer_turned_raw(notebook):
    cell_of(notebook, "answer-1-1")["cell_type"] = "raw"


def explanation_turned_into_code(notebook):
    cell_of(notebook, "answer-3-2")["cell_type"] = "code"


def setup_changed(notebook):
    cell_of(notebook, "setup")["source"] = "import numpy as xp"


def check_emptied(notebook):
    cell_of(notebook, "check-1-1")["source"] = ""


def question_rewritten(notebook):
    cell_of(notebook, "question-1-1")["source"] = "### This is easy"


def thousands_of_cells(notebook):
    notebook["cells"] += [_own("", "markdown") for _ in range(6000)]


def hundreds_of_own_cells(notebook):
    notebook["cells"] += [_own("1 + 1") for _ in range(300)]


def foreign_cells(notebook):
    cell = _own("1 + 1")
    cell["metadata"]["nbgrader"] = {"grade_id": "other-course", "grade": True, "points": 9}
    notebook["cells"].insert(3, cell)


def a_helper_in_an_own_cell(notebook):
    cell_of(notebook, "answer-1-1")["source"] = "def half(x):\n    return helper(x)"
    notebook["cells"].insert(_at(notebook, "answer-1-1"), _own("def helper(x):\n    return x / 2"))


def an_import_at_the_top(notebook):
    cell_of(notebook, "answer-3-1")["source"] = "def mean(values):\n    return st.fmean(values)"
    notebook["cells"].insert(0, _own("import statistics as st"))


def source_as_a_list_of_lines(notebook):
    for cell in notebook["cells"]:
        cell["source"] = cell["source"].splitlines(keepends=True)


def source_of_another_kind(notebook):
    cell_of(notebook, "answer-1-1")["source"] = {"text": 3}


def tests_to_be_skipped(notebook):
    for cell in notebook["cells"]:
        cell["metadata"]["tags"] = ["skip-execution", "remove-cell", "raises-exception"]


def another_kernel(notebook):
    notebook["metadata"]["kernelspec"] = {"name": "bash", "display_name": "sh", "language": "sh"}


def no_kernel(notebook):
    notebook["metadata"] = {}


KINDS = [
    _kind(answer_copied, FLAGGED, 6.0, "2 times"),
    _kind(answer_split_by_copying, FLAGGED, 6.0, "2 times"),
    _kind(older_version_copied, FLAGGED, 6.0, "2 times"),
    _kind(check_copied, GRADED),
    _kind(everything_copied, FLAGGED, 6.0, "2 times"),
    _kind(answer_missing, FLAGGED, 4.0, "answer-1-1 is missing"),
    _kind(check_missing),
    _kind(all_checks_missing),
    _kind(only_answers_left),
    _kind(only_one_answer_left, FLAGGED, 3.0, "answer-1-1 is missing"),
    _kind(reversed_order),
    _kind(answer_moved_to_the_end),
    _kind(tag_of_an_answer_lost, FLAGGED, 6.0, "found after its question"),
    _kind(all_metadata_lost, FLAGGED, 6.0, "found after its question"),
    _kind(all_metadata_and_ids_lost, FLAGGED, 6.0, "found after its question"),
    _kind(schema_version_lost),
    _kind(old_schema_version),
    _kind(answer_tagged_as_the_check),
    _kind(check_tagged_as_an_answer),
    _kind(points_raised),
    _kind(absurd_metadata),
    _kind(answer_turned_into_text, FLAGGED, 6.0, "no longer a code cell"),
    _kind(answer_turned_raw, FLAGGED, 6.0, "no longer a code cell"),
    _kind(explanation_turned_into_code, FLAGGED, 6.0, "no longer a markdown cell"),
    _kind(setup_changed, FLAGGED, 6.0, "setup was changed"),
    _kind(check_emptied, FLAGGED, 6.0, "check-1-1 was changed"),
    _kind(question_rewritten),
    _kind(thousands_of_cells, FLAGGED, 6.0, "only the first"),
    _kind(hundreds_of_own_cells, FLAGGED, 6.0, "300 cells"),
    _kind(foreign_cells, FLAGGED, 6.0, "1 cell of"),
    _kind(a_helper_in_an_own_cell, FLAGGED, 6.0, "1 cell of"),
    _kind(an_import_at_the_top, FLAGGED, 6.0, "1 cell of"),
    _kind(source_as_a_list_of_lines),
    _kind(source_of_another_kind, GRADED, 4.0),
    _kind(tests_to_be_skipped),
    _kind(another_kernel),
    _kind(no_kernel),
]
