"""What a student reads: their code, what each check said, points and hints, on a page that runs nothing."""

import re
from collections.abc import Container, Iterable
from html import escape

from scalelab.grading.inputs.source import Source, hints
from scalelab.grading.judging.result import FAILED, MISSING, Marks, Result
from scalelab.show.page import whole

_STYLE = """body { max-width: 50rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; border-left: .2rem solid #8888; padding: .2rem .8rem;
 font: .9rem/1.45 ui-monospace, monospace; }
pre.report { border-color: #36c; }
h2 { margin-top: 2.5rem; border-top: 1px solid #8886; padding-top: .6rem; }
h2 small { float: right; font-weight: normal; }
table { border-collapse: collapse; } td, th { padding: .15rem .7rem; text-align: left; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
tr:nth-child(even) td { background: #8881; }
img { max-width: 100%; background: white; } summary { cursor: pointer; }
"""


def page(title: str, *parts: str) -> str:
    """Return a whole page from a plain title and finished parts; it runs nothing, whatever got into it."""
    return whole(title, "\n".join(parts), _STYLE, scripts=False)


def text(value: object) -> str:
    """Escape a value for any place in a page.

    >>> text("<script>")
    '&lt;script&gt;'
    """
    return escape(str(value), quote=True)


def pre(value: object, kind: str = "") -> str:
    """Return a block that keeps its lines."""
    return f'<pre class="{kind}">{text(value)}</pre>' if str(value).strip() else ""


def table(
    head: Iterable[object], rows: Iterable[Iterable[object]], numbers: Container[int] = ()
) -> str:
    """Return a table; `numbers` are the columns that stand to the right."""

    def row(cells, tag):
        made = (
            f"<{tag}{' class=n' if n in numbers else ''}>{text(cell)}</{tag}>"
            for n, cell in enumerate(cells)
        )
        return f"<tr>{''.join(made)}</tr>"

    body = "".join(row(cells, "td") for cells in rows)
    return f"<table><thead>{row(head, 'th')}</thead><tbody>{body}</tbody></table>"


_DETAILS = re.compile(r"<details>.*?</details>", re.S)


def feedback(
    source: Source, result: Result, marks: Marks | None = None, penalty: float = 0.0
) -> str:
    """Return the page of one result; `marks` is {cell: (score, comment)} of what a person gave."""
    marks = marks or {}
    title = f"{source.slug}: {result['student']}"
    if result["status"] in (FAILED, MISSING):
        said = f"This submission has no score yet: {result['reason']}."
        return page(title, f"<h1>{text(source.slug)}</h1>", f"<p>{text(said)}</p>")
    parts = [f"<h1>{text(source.slug)}</h1>", _summary(result, marks, penalty)]
    shown = {answer["id"]: answer for answer in result["answers"]}
    judged = {test["id"]: test for test in (*result["tests"], *result["manual"])}
    for task in _tasks(source):
        parts += _task(task, shown, judged, marks)
    return page(title, *parts)


def total(result: Result, marks: Marks, penalty: float = 0.0) -> tuple[float, float, int]:
    """Return (points so far, points at most, how many answers a person has still to read).

    >>> total({"tests": [{"id": "c", "score": 2.0, "max_score": 3.0}], "manual": []}, {})
    (2.0, 3.0, 0)
    """
    both = [*result["tests"], *result["manual"]]
    points = 0.0
    waiting = 0
    for cell in both:
        by_hand = marks.get(cell["id"], (None,))[0]
        given = cell["score"] if by_hand is None else by_hand
        waiting += given is None
        points += given or 0.0
    most = sum(cell["max_score"] for cell in both)
    return round(max(points - penalty, 0.0), 2), round(most, 2), waiting


def _summary(result, marks, penalty):
    points, most, waiting = total(result, marks, penalty)
    lines = [f"<strong>{points:g} of {most:g} points</strong>"]
    if penalty:
        lines.append(f"{penalty:g} points were taken off because it came late")
    if waiting:
        lines.append(f"{waiting} answer{'s' * (waiting > 1)} still to be read by a person")
    notes = "".join(f"<li>{text(flag)}</li>" for flag in result["flags"])
    notes = f"<p>Noticed in your notebook:</p><ul>{notes}</ul>" if notes else ""
    return f"<p>{'; '.join(lines)}.</p>{notes}"


def _tasks(source):
    """Group an assignment's cells into tasks: each ends in the cell that is graded."""
    task = []
    for cell in source.cells:
        task.append(cell)
        if cell.graded:
            yield task
            task = []


def _task(cells, shown, judged, marks):
    """Yield the parts of one task."""
    graded = judged[cells[-1].id]
    score, comment = marks.get(graded["id"], (None, None))
    score = graded["score"] if score is None else score
    points = "not read yet" if score is None else f"{score:g}"
    yield f"<h2>{text(graded['name'])} <small>{points} / {graded['max_score']:g}</small></h2>"
    question = "\n\n".join(c.stub for c in cells if c.kind == "markdown" and not c.answer)
    asked = _after_heading(_DETAILS.sub("", question))
    if asked.strip():
        yield f"<details><summary>What was asked</summary>{pre(asked)}</details>"
    for cell in cells:
        if cell.answer:
            answer = shown.get(cell.id, {})
            yield pre(answer.get("text") or "(nothing)", "code")
            yield from _shown(answer.get("shown"))
    if graded.get("output"):
        yield pre(graded["output"], "report")
    if score is not None and score < graded["max_score"]:
        for number, about, body in hints(question):
            summary = f"Hint {number}{f': {about}' if about else ''}"
            yield f"<details><summary>{text(summary)}</summary>{pre(body)}</details>"
    if comment:
        yield f"<p><strong>Comment:</strong> {text(comment)}</p>"


def _after_heading(question):
    return "\n".join(line for line in question.splitlines() if not line.startswith("#")).strip()


def _shown(cell):
    """Yield what a student's cell showed when it ran."""
    if not cell:
        return
    if cell["text"].strip():
        yield f"<p>It printed:</p>{pre(cell['text'])}"
    for picture in cell["pictures"]:
        yield f'<p><img alt="A figure that this cell drew" src="data:image/png;base64,{picture}"></p>'
    if cell["error"]:
        name, said, line = cell["error"]
        where = f"Line {line} of this cell" if line else "This cell"
        yield pre(f"{where} stopped with {name}{f': {said}' if said else ''}", "report")
