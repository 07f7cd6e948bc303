"""The notebook that formgrader and nbgrader's own feedback show: our cells, the student's answers.

Standard library only.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from scalelab.grading.inputs.course import Course
from scalelab.grading.inputs.source import VERSION, Source
from scalelab.grading.judging.result import Result
from scalelab.grading.returned.pictures import pictures, without_missing

MARKED = ("SOLUTION", "HIDDEN TESTS", "MARK SCHEME")  # what nbgrader's markers begin and end


def notebook(course: Course, source: Source, result: Result) -> str:
    """Return the text of the graded notebook of one result."""
    path = course.root / "solutions" / source.slug / f"{source.slug}.ipynb"
    made = json.loads(path.read_text(encoding="utf-8"))
    answers = {answer["id"]: answer for answer in result["answers"]}
    tests = {test["id"]: test for test in result["tests"]}
    own = _own(source, result)
    cells = own.pop("", [])
    for cell in made["cells"]:
        name = cell["metadata"]["nbgrader"]["grade_id"]
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
        if name in answers:
            _answer(cell, answers[name])
        elif name in tests:
            cell["outputs"] = _judged(tests[name])
        cells += [cell, *own.pop(name, [])]
    made["cells"] = cells + [cell for left in own.values() for cell in left]
    made["metadata"]["scalelab"] = {"grader": VERSION, "status": result["status"]}
    return json.dumps(made, indent=1, sort_keys=True) + "\n"


def _answer(cell, answer):
    """Put an answer into its cell."""
    if cell["cell_type"] == "code":
        cell["source"] = without_markers(answer["text"])
        cell["outputs"] = list(_shown(answer["shown"]))
        return
    attachments = pictures(answer)
    cell["source"] = without_missing(_harmless(without_markers(answer["text"])), attachments)
    if attachments:
        cell["attachments"] = attachments


def _own(source, result):
    """Return {cell: the cells of the student's own after it}, with what was typed into a locked one."""
    cells: dict[str, list[dict]] = {}
    for n, (place, kind, text) in enumerate(own_cells(source, result)):
        text = without_markers(text)
        cell: dict[str, Any] = {"cell_type": kind, "id": f"own-{n}", "metadata": {}, "source": text}
        if kind == "code":
            cell |= {"outputs": [], "execution_count": None}
        else:
            cell["source"] = without_missing(_harmless(text), {})
        cells.setdefault(place, []).append(cell)
    return cells


def own_cells(source: Source, result: Result) -> Iterator[tuple[str, str, str]]:
    """Yield (cell it follows, kind, text) of what a student wrote outside of the answers."""
    said = "Written into the cell above, which was used as it had been released:"
    for cell, text in result.get("typed", {}).items():
        kind = source.by_id[cell].kind
        yield cell, kind, f"{'# ' * (kind == 'code')}{said}\n\n{text}"
    for own in result.get("own", ()):
        yield own["after"], own["kind"], own["text"]


def without_markers(text: str) -> str:
    """Take the sense out of nbgrader's markers: from a student's cell they would stop its feedback.

    >>> [without_markers(f"# END {word}") == f"# END {word}" for word in MARKED]
    [False, False, False]
    """
    return re.sub(rf"\b(BEGIN|END) (?={'|'.join(MARKED)})", r"\1-", text)


def _harmless(text):
    """Keep what a student wrote from running in the browser of who reads it.

    >>> _harmless("<script>x</script> [y](JavaScript:z) 2 < 3")
    '&lt;script>x&lt;/script> [y](JavaScript :z) 2 &lt; 3'
    """
    text = text.replace("<", "&lt;")
    return re.sub(r"(?i)(script|data|&colon|&#\w+)\s*([:;])", r"\1 \2", text)


def _judged(test):
    # nbgrader reads partial credit from the cell's last value.
    value = {"text/plain": repr(float(test["score"]))}
    return [
        {"output_type": "stream", "name": "stdout", "text": test["output"] + "\n"},
        {"output_type": "execute_result", "execution_count": 1, "data": value, "metadata": {}},
    ]


def _shown(cell):
    if not cell:
        return
    if cell["text"]:
        yield {"output_type": "stream", "name": "stdout", "text": cell["text"] + "\n"}
    for picture in cell["pictures"]:
        yield {"output_type": "display_data", "data": {"image/png": picture}, "metadata": {}}
    if cell["error"]:
        name, said, line = cell["error"]
        sentence = f"{name}: {said}" + (f" (line {line})" if line else "")
        yield {"output_type": "error", "ename": name, "evalue": said, "traceback": [sentence]}
