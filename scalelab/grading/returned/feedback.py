"""What a student reads: their code, what each check said, points and hints, on a page that runs nothing."""

import functools

from scalelab.grading.inputs.source import Source, hints, number, tasks as tasks_of
from scalelab.grading.judging.result import Result
from scalelab.grading.out.codes import in_words
from scalelab.grading.out.remarks import remarks
from scalelab.grading.out.worth import NOTHING, Known, Mark, Part, late, readable_time, worth
from scalelab.grading.returned.autograded import own_cells
from scalelab.grading.returned.pictures import pictures
from scalelab.show.prose import prose
from scalelab.show.template import link, rendered


def feedback(source: Source, result: Result, known: Known = NOTHING) -> str:
    """Return the page of one result."""
    total = worth(result, known)
    page = {
        "title": f"{source.slug}: {result['student']}",
        "slug": source.slug,
        "who": _who(result, known),
        "total": total,
    }
    if total is None:
        asked = {"reason": result["reason"], "requests": known.requests}
        return rendered("grading/returned/feedback.html", **page, **asked)
    parts = {part.id: part for part in total.parts}
    in_order = [parts[cell.id] for cell in source.cells if cell.graded]
    content = _Content(source, result, known)
    return rendered(
        "grading/returned/feedback.html",
        **page,
        overview=_overview(result, in_order),
        noticed=[remark.text for remark in remarks(source, result)],
        tasks=[content.task(cells, parts[cells[-1].id]) for cells in tasks_of(source)],
        left=content.left(),
    )


def _who(result, known):
    """Say whose work this is, when it came and when it was due."""
    who = f"{known.name} ({result['student']})" if known.name else result["student"]
    when = readable_time(result["handed_in"])
    came = [f"handed in {when}" if when else "", late(result, known.due)]
    due = [f"due {readable_time(known.due)}"] if known.due else []
    return "; ".join(filter(None, [who, *due, *came]))


def _overview(result, parts):
    """Return the rows of the table of tasks, each with a link to its place on the page."""
    blank = {t["id"] for t in result["tests"] if set(t.get("states", ())) == {"not attempted"}}
    blank |= {mark["id"] for mark in result["manual"] if mark["score"] == 0}
    return [
        (
            link(f"#{part.id}", part.name),
            "" if part.points is None else f"{part.points:g}",
            f"{part.most:g}",
            _state(part, part.id in blank),
        )
        for part in parts
    ]


def _state(part: Part, blank: bool) -> str:
    if part.points is None:
        return "still to be read"
    if part.points >= part.most:
        return "full points"
    return "in part" if part.points else "not answered" if blank else "no points"


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
        """Return what the page has of one task."""
        graded = self.judged[part.id]
        question = "\n\n".join(c.stub for c in cells if c.kind == "markdown" and not c.answer)
        short = part.points is not None and part.points < part.most
        asks = (self.student, self.source.slug, number(self.source, part.id))
        return {
            "id": part.id,
            "name": part.name,
            "points": "not read yet" if part.points is None else f"{part.points:g}",
            "most": part.most,
            "asked": _question(question),
            "before": self._own(""),
            "cells": [(self._answer(cell), self._own(cell.id)) for cell in cells],
            "output": graded.get("output", ""),
            "hints": [_hint(*hint) for hint in hints(question) if short],
            "comments": [*self._comments(cells, graded)],
            "requests": [one for one in self.known.requests if one.task == part.id],
            "may_ask": asks if self.known.may_ask else (),
        }

    def left(self):
        """Return the student's own cells that stand after the last task."""
        return [written for place in [*self.own] for written in self._own(place)]

    def _own(self, place):
        return self.own.pop(place, [])

    def _answer(self, cell):
        """Return an answer, its pictures, and what it showed when it ran; None for no answer."""
        if not cell.answer:
            return None
        answer = self.answers.get(cell.id, {})
        ran = answer.get("shown") or {"text": "", "pictures": (), "error": None}
        pasted = pictures(answer).values()
        return {
            "written": answer.get("text") or "(nothing)",
            "pasted": [(k, "".join(data.split())) for kinds in pasted for k, data in kinds.items()],
            "printed": ran["text"].strip(),
            "drawn": ran["pictures"],
            "stopped": _stopped(*ran["error"]) if ran["error"] else "",
        }

    def _comments(self, cells, graded):
        for cell in cells:
            mark = self.known.marks.get(cell.id, Mark())
            if mark.comment:
                counted = mark.score is None and cell is cells[-1] and graded["score"] is None
                yield in_words(mark, counted)


def _hint(n, about, body):
    return f"Hint {n}{f': {about}' if about else ''}", _question(body)


# The same for everybody in a class, and dearer than all the rest of a page.
_question = functools.lru_cache(maxsize=200)(prose)


def _stopped(name, said, line):
    where = f"Line {line} of this cell" if line else "This cell"
    return f"{where} stopped with {name}{f': {said}' if said else ''}"
