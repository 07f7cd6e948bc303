"""Trouble with the cells: copied, lost, moved, renamed, of another kind."""

from __future__ import annotations

import copy

from tests.submissions.kinds import FLAGGED, FULL, GRADED, NOT_ONE, NOT_OTHERS, notebook_kind
from tests.submissions.stage import LIMITS, ONE, THREE, WORDS, cell_of


def _kind(change, *expected):
    return notebook_kind(change.__name__.strip("_").replace("_", " "), "cells", change, *expected)


def _at(notebook, name):
    return notebook["cells"].index(cell_of(notebook, name))


def _own(text, kind="code"):
    cell = {"cell_type": kind, "metadata": {}, "source": text}
    return cell | ({"outputs": [], "execution_count": None} if kind == "code" else {})


def answer_copied(notebook, stage):
    twin = copy.deepcopy(stage.cell(notebook, ONE))
    notebook["cells"].insert(_at(notebook, stage.id(ONE)), twin)


def answer_split_by_copying(notebook, stage):
    cell = stage.cell(notebook, ONE)
    first = copy.deepcopy(cell)
    first["source"] = "def third(x):\n    return x / 3"
    cell["source"] = stage.coded(ONE, "def half(x):\n    return third(x) * 1.5")
    notebook["cells"].insert(_at(notebook, stage.id(ONE)), first)


def older_version_copied(notebook, stage):
    old = copy.deepcopy(stage.cell(notebook, ONE))
    old["source"] = stage.coded(ONE, "def half(x):\n    return x * 2")
    notebook["cells"].insert(_at(notebook, stage.id(ONE)), old)


def check_copied(notebook, stage):
    notebook["cells"].append(copy.deepcopy(stage.cell(notebook, ONE, "check")))


def everything_copied(notebook, stage):
    notebook["cells"] += copy.deepcopy(notebook["cells"])


def answer_missing(notebook, stage):
    notebook["cells"].remove(stage.cell(notebook, ONE))


def check_missing(notebook, stage):
    notebook["cells"].remove(stage.cell(notebook, ONE, "check"))


def all_checks_missing(notebook, stage):
    notebook["cells"] = [c for c in notebook["cells"] if not c["id"].startswith("check")]


def only_answers_left(notebook, stage):
    notebook["cells"] = [c for c in notebook["cells"] if c["id"].startswith("answer")]


def only_one_answer_left(notebook, stage):
    notebook["cells"] = [stage.cell(notebook, THREE)]


def reversed_order(notebook, stage):
    notebook["cells"].reverse()


def answer_moved_to_the_end(notebook, stage):
    cell = stage.cell(notebook, ONE)
    notebook["cells"].remove(cell)
    notebook["cells"].append(cell)


def tag_of_an_answer_lost(notebook, stage):
    cell = stage.cell(notebook, ONE)
    cell["metadata"], cell["id"] = {}, "3f2a"


def all_metadata_lost(notebook, stage):
    for n, cell in enumerate(notebook["cells"]):
        cell["metadata"], cell["id"] = {}, f"c{n}"
    notebook["metadata"] = {}


def all_metadata_and_ids_lost(notebook, stage):
    for cell in notebook["cells"]:
        cell["metadata"] = {}
        del cell["id"]


def schema_version_lost(notebook, stage):
    for cell in notebook["cells"]:
        del cell["metadata"]["nbgrader"]["schema_version"]


def old_schema_version(notebook, stage):
    for cell in notebook["cells"]:
        cell["metadata"]["nbgrader"]["schema_version"] = 1


def answer_tagged_as_the_check(notebook, stage):
    cell = stage.cell(notebook, ONE)
    cell["metadata"]["nbgrader"] = copy.deepcopy(
        stage.cell(notebook, ONE, "check")["metadata"]["nbgrader"]
    )


def check_tagged_as_an_answer(notebook, stage):
    role = stage.cell(notebook, ONE, "check")["metadata"]["nbgrader"]
    role.update({"solution": True, "grade": False, "locked": False})


def points_raised(notebook, stage):
    stage.cell(notebook, ONE, "check")["metadata"]["nbgrader"]["points"] = 1000


def absurd_metadata(notebook, stage):
    for n, cell in enumerate(notebook["cells"]):
        cell["metadata"]["nbgrader"] = [None, 7, "x", {"grade_id": ["a"]}, {}][n % 5]


def answer_turned_into_text(notebook, stage):
    cell = stage.cell(notebook, ONE)
    cell["cell_type"] = "markdown"
    cell.pop("outputs", None)


def answer_turned_raw(notebook, stage):
    stage.cell(notebook, ONE)["cell_type"] = "raw"


def explanation_turned_into_code(notebook, stage):
    stage.cell(notebook, WORDS)["cell_type"] = "code"


def setup_changed(notebook, stage):
    cell_of(notebook, "setup")["source"] = "import numpy as xp"


def check_emptied(notebook, stage):
    stage.cell(notebook, ONE, "check")["source"] = ""


def question_rewritten(notebook, stage):
    stage.cell(notebook, ONE, "question")["source"] = "### This is easy"


def thousands_of_cells(notebook, stage):
    notebook["cells"] += [_own("", "markdown") for _ in range(6000)]


def hundreds_of_own_cells(notebook, stage):
    notebook["cells"] += [_own("1 + 1") for _ in range(300)]


def foreign_cells(notebook, stage):
    cell = _own("1 + 1")
    cell["metadata"]["nbgrader"] = {"grade_id": "other-course", "grade": True, "points": 9}
    notebook["cells"].insert(3, cell)


def a_helper_in_an_own_cell(notebook, stage):
    stage.cell(notebook, ONE)["source"] = stage.coded(ONE, "def half(x):\n    return helper(x)")
    notebook["cells"].insert(_at(notebook, stage.id(ONE)), _own("def helper(x):\n    return x / 2"))


def an_import_at_the_top(notebook, stage):
    code = "def mean(values):\n    return st.fmean(values)"
    stage.cell(notebook, THREE)["source"] = stage.coded(THREE, code)
    notebook["cells"].insert(0, _own("import statistics as st"))


def source_as_a_list_of_lines(notebook, stage):
    for cell in notebook["cells"]:
        cell["source"] = cell["source"].splitlines(keepends=True)


def source_of_another_kind(notebook, stage):
    stage.cell(notebook, ONE)["source"] = {"text": 3}


def tests_to_be_skipped(notebook, stage):
    for cell in notebook["cells"]:
        cell["metadata"]["tags"] = ["skip-execution", "remove-cell", "raises-exception"]


def another_kernel(notebook, stage):
    notebook["metadata"]["kernelspec"] = {"name": "bash", "display_name": "sh", "language": "sh"}


def no_kernel(notebook, stage):
    notebook["metadata"] = {}


def ten_endless_cells_of_ones_own(notebook, stage):
    notebook["cells"] += [_own("while True: pass") for _ in range(10)]


def ten_slow_cells_of_ones_own(notebook, stage):
    """Each is within the limit on a cell, see classes.py."""
    checks = [cell for cell in notebook["cells"] if cell["id"].startswith("check-")]
    for n in range(10):
        at = notebook["cells"].index(checks[n % len(checks)])
        notebook["cells"].insert(at, _own(f"import time\ntime.sleep({0.8 * LIMITS.cell})"))


def explanation_in_an_own_cell(notebook, stage):
    """The stub stays as it was."""
    cell = stage.cell(notebook, WORDS)
    notebook["cells"].insert(notebook["cells"].index(cell) + 1, _own(cell["source"], "markdown"))
    cell["source"] = stage.source.by_id[stage.id(WORDS)].stub


def answer_typed_into_the_check(notebook, stage):
    cell, check = stage.cell(notebook, ONE), stage.cell(notebook, ONE, "check")
    check["source"] = f"{cell['source']}\n{check['source']}"
    cell["source"] = stage.source.by_id[stage.id(ONE)].stub


def picture_pasted_into_an_explanation(notebook, stage):
    cell = stage.cell(notebook, WORDS)
    cell["attachments"] = {"image.png": {"image/png": PIXEL}}
    cell["source"] += "\n\n![image.png](attachment:image.png)"


def five_hundred_cells_with_pictures(notebook, stage):
    """Each answers with four of 399 kB, which is below what one picture may have."""
    show = (
        "from IPython.display import Image, display\nimport os\n"
        "picture = Image(data=b'\\x89PNG\\r\\n\\x1a\\n' + os.urandom(299_000), format='png')\n"
        "for _ in range(4): display(picture)"
    )
    notebook["cells"] += [_own(show) for _ in range(500)]


PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
KINDS = [
    _kind(answer_copied, FLAGGED, FULL, "2 times"),
    _kind(answer_split_by_copying, FLAGGED, FULL, "2 times"),
    _kind(older_version_copied, FLAGGED, FULL, "2 times"),
    _kind(check_copied, GRADED),
    _kind(everything_copied, FLAGGED, FULL, "2 times"),
    _kind(answer_missing, FLAGGED, NOT_ONE, "answer-{one} is missing"),
    _kind(check_missing),
    _kind(all_checks_missing),
    _kind(only_answers_left),
    _kind(only_one_answer_left, FLAGGED, NOT_OTHERS, "is missing"),
    _kind(reversed_order),
    _kind(answer_moved_to_the_end),
    _kind(tag_of_an_answer_lost, FLAGGED, FULL, "found after its question"),
    _kind(all_metadata_lost, FLAGGED, FULL, "found after its question"),
    _kind(all_metadata_and_ids_lost, FLAGGED, FULL, "found after its question"),
    _kind(schema_version_lost),
    _kind(old_schema_version),
    _kind(answer_tagged_as_the_check),
    _kind(check_tagged_as_an_answer),
    _kind(points_raised),
    _kind(absurd_metadata),
    _kind(answer_turned_into_text, FLAGGED, FULL, "no longer a code cell"),
    _kind(answer_turned_raw, FLAGGED, FULL, "no longer a code cell"),
    _kind(explanation_turned_into_code, FLAGGED, FULL, "no longer a markdown cell"),
    _kind(setup_changed, FLAGGED, FULL, "setup was changed"),
    _kind(check_emptied, FLAGGED, FULL, "check-{one} was changed"),
    _kind(question_rewritten),
    _kind(thousands_of_cells, FLAGGED, FULL, "only the first"),
    _kind(hundreds_of_own_cells, FLAGGED, FULL, "300 cells"),
    _kind(foreign_cells, FLAGGED, FULL, "1 cell of"),
    _kind(a_helper_in_an_own_cell, FLAGGED, FULL, "1 cell of"),
    _kind(an_import_at_the_top, FLAGGED, FULL, "1 cell of"),
    _kind(source_as_a_list_of_lines),
    _kind(source_of_another_kind, GRADED, NOT_ONE),
    _kind(tests_to_be_skipped),
    _kind(another_kernel),
    _kind(no_kernel),
    _kind(ten_endless_cells_of_ones_own, FLAGGED, FULL, "took longer"),
    _kind(ten_slow_cells_of_ones_own, FLAGGED, FULL, "the rest of them was not run"),
    _kind(explanation_in_an_own_cell, FLAGGED, FULL, "the text written beside it is read"),
    _kind(answer_typed_into_the_check, FLAGGED, NOT_ONE, "something is written in check-{one}"),
    _kind(picture_pasted_into_an_explanation),
    _kind(five_hundred_cells_with_pictures, FLAGGED, FULL, "more than is kept"),
]
