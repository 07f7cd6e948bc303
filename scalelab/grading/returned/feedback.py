"""What a student reads: their code, what each check said, points and hints, on a page that runs nothing."""

from scalelab.grading.inputs.source import Source, hints
from scalelab.grading.inputs.tasks import number, tasks as tasks_of
from scalelab.grading.judging.result import Result
from scalelab.grading.out.codes import told
from scalelab.grading.out.remarks import remarks
from scalelab.grading.out.worth import NOTHING, Known, Mark, Part, late, shown, worth
from scalelab.grading.returned.autograded import own_cells
from scalelab.grading.returned.pictures import pictures
from scalelab.show.plain import link, page, pre, table, text
from scalelab.show.prose import prose


def feedback(source: Source, result: Result, known: Known = NOTHING) -> str:
    """Return the page of one result."""
    title = f"{source.slug}: {result['student']}"
    head = [f"<h1>{text(source.slug)}</h1>", _who(result, known)]
    total = worth(result, known)
    if total is None:
        said = f"This submission has no score yet: {result['reason']}."
        return page(title, *head, f"<p>{text(said)}</p>", *_asked(known.requests))
    off = f"; {known.penalty:g} points were taken off because it came late" * bool(known.penalty)
    parts = {part.id: part for part in total.parts}
    in_order = [parts[cell.id] for cell in source.cells if cell.graded]
    content = _Content(source, result, known)
    tasks = [content.task(cells, parts[cells[-1].id]) for cells in tasks_of(source)]
    return page(
        title,
        *head,
        f"<p><strong>{text(total.told())}</strong>{off}.</p>",
        _overview(result, in_order),
        _noticed([remark.text for remark in remarks(source, result)]),
        *("".join(task) for task in tasks),
        "".join(content.left()),
    )


def _who(result, known):
    """Say whose work this is, when it came and when it was due."""
    who = f"{known.name} ({result['student']})" if known.name else result["student"]
    when = shown(result["handed_in"])
    came = [f"handed in {when}" if when else "", late(result, known.due)]
    due = [f"due {shown(known.due)}"] if known.due else []
    return f"<p>{text('; '.join(filter(None, [who, *due, *came])))}</p>"


def _overview(result, parts):
    """Return the table of tasks, each with a link to its place on the page."""
    blank = {t["id"] for t in result["tests"] if set(t.get("states", ())) == {"not attempted"}}
    blank |= {mark["id"] for mark in result["manual"] if mark["score"] == 0}
    rows = [
        (
            link(f"#{part.id}", part.name),
            "" if part.points is None else f"{part.points:g}",
            f"{part.most:g}",
            _state(part, part.id in blank),
        )
        for part in parts
    ]
    return table(("task", "points", "of", "state"), rows, numbers=(1, 2))


def _state(part: Part, blank: bool) -> str:
    if part.points is None:
        return "still to be read"
    if part.points >= part.most:
        return "full points"
    return "in part" if part.points else "not answered" if blank else "no points"


def _noticed(lines):
    if not lines:
        return ""
    items = "".join(f"<li>{text(line)}</li>" for line in lines)
    return f"<p>Noticed in your notebook:</p><ul>{items}</ul>"


class _Content:
    """What a student wrote and was told, given out task by task."""

    def __init__(self, source: Source, result: Result, known: Known) -> None:
        self.source, self.student, self.known = source, result["student"], known
        self.answers = {answer["id"]: answer for answer in result["answers"]}
        self.judged = {test["id"]: test for test in (*result["tests"], *result["manual"])}
        self.own: dict[str, list[str]] = {}
        for place, _, written in own_cells(source, result):
            self.own.setdefault(place, []).append(written)

    def task(self, cells, part):
        """Yield the parts of one task."""
        graded = self.judged[part.id]
        points = "not read yet" if part.points is None else f"{part.points:g}"
        yield f'<h2 id="{text(part.id)}">{text(part.name)} <small>{points} / {part.most:g}</small></h2>'
        question = "\n\n".join(c.stub for c in cells if c.kind == "markdown" and not c.answer)
        asked = prose(question)
        if asked.strip():
            yield f'<details><summary>What was asked</summary><div class="asked">{asked}</div></details>'
        yield from self._own("")
        for cell in cells:
            if cell.answer:
                yield from _answer(self.answers.get(cell.id, {}))
            yield from self._own(cell.id)
        if graded.get("output"):
            yield pre(graded["output"], "report")
        if part.points is not None and part.points < part.most:
            for n, about, body in hints(question):
                summary = f"Hint {n}{f': {about}' if about else ''}"
                yield f"<details><summary>{text(summary)}</summary>{prose(body)}</details>"
        for cell in cells:
            mark = self.known.marks.get(cell.id, Mark())
            if mark.comment:
                counted = mark.score is None and cell is cells[-1] and graded["score"] is None
                yield f"<p><strong>Comment:</strong> {text(told(mark, counted))}</p>"
        yield from _asked(request for request in self.known.requests if request.task == part.id)
        if self.known.may_ask:
            yield _how_to_ask(self.student, self.source.slug, number(self.source, part.id))

    def left(self):
        """Yield the student's own cells that stand after the last task."""
        places = [*self.own]
        if places:
            yield "<h2>After the last task</h2>"
        for place in places:
            yield from self._own(place)

    def _own(self, place):
        for written in self.own.pop(place, ()):
            yield f"<p>A cell of your own:</p>{pre(written, 'code')}"


def _asked(requests):
    """Yield what was asked about a task, and what was answered."""
    for request in requests:
        yield f"<p><strong>You asked:</strong> {text(request.text)}</p>"
        yield f"<p><strong>Answer:</strong> {text(request.answer or 'none yet')}</p>"


def _how_to_ask(*names):
    asked = f"write to your instructor what is wrong, and name {', '.join(names)}"
    return f"<p><small>To have this graded again, {text(asked)}.</small></p>"


def _answer(answer):
    """Yield an answer, its pictures, and what it showed when it ran."""
    written = answer.get("text", "")
    yield pre(written or "(nothing)", "code")
    for kinds in pictures(answer).values():
        for kind, data in kinds.items():
            yield _image("A picture in this answer", kind, "".join(data.split()))
    cell = answer.get("shown")
    if not cell:
        return
    if cell["text"].strip():
        yield f"<p>It printed:</p>{pre(cell['text'].strip())}"
    for picture in cell["pictures"]:
        yield _image("A figure that this cell drew", "image/png", picture)
    if cell["error"]:
        name, said, line = cell["error"]
        where = f"Line {line} of this cell" if line else "This cell"
        yield pre(f"{where} stopped with {name}{f': {said}' if said else ''}", "report")


def _image(words, kind, data):
    return f'<p><img alt="{words}" src="data:{kind};base64,{text(data)}"></p>'
