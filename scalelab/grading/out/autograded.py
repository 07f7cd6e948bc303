"""The notebook that formgrader and nbgrader's own feedback show: our cells, the student's answers.

Standard library only.
"""

import json
import re

from scalelab.grading.inputs.course import Course
from scalelab.grading.inputs.source import VERSION, Source
from scalelab.grading.judging.result import Result


def notebook(course: Course, source: Source, result: Result) -> bytes:
    """Return the bytes of the graded notebook of one result."""
    path = course.root / "solutions" / source.slug / f"{source.slug}.ipynb"
    made = json.loads(path.read_text(encoding="utf-8"))
    answers = {answer["id"]: answer for answer in result["answers"]}
    tests = {test["id"]: test for test in result["tests"]}
    for cell in made["cells"]:
        name = cell["metadata"]["nbgrader"]["grade_id"]
        if name in answers:
            markdown = cell["cell_type"] == "markdown"
            cell["source"] = _harmless(answers[name]["text"]) if markdown else answers[name]["text"]
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
            if name in answers:
                cell["outputs"] = list(_shown(answers[name]["shown"]))
            elif name in tests:
                cell["outputs"] = _judged(tests[name])
    made["metadata"]["scalelab"] = {"grader": VERSION, "status": result["status"]}
    return (json.dumps(made, indent=1, sort_keys=True) + "\n").encode()


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
        told = f"{name}: {said}" + (f" (line {line})" if line else "")
        yield {"output_type": "error", "ename": name, "evalue": said, "traceback": [told]}
