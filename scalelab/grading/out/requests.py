"""Requests to grade again, beside what else is known of each student: the open ones first.

Standard library only.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from scalelab.grading.inputs.course import Course
from scalelab.grading.inputs.regrades import accepted, requests
from scalelab.grading.inputs.source import Source
from scalelab.grading.out.worth import NOTHING, Known


def joined(
    known: Mapping[str, Known], students: Iterable[str], course: Course, source: Source
) -> dict[str, Known]:
    """Return what is known with the requests of each, and whether these students may ask."""
    if not accepted(course):
        return {**known}
    asked = requests(course, source)
    everybody = dict.fromkeys([*known, *students, *(request.student for request in asked)])
    return {
        student: replace(
            known.get(student, NOTHING),
            may_ask=True,
            requests=tuple(request for request in asked if request.student == student),
        )
        for student in everybody
    }


def listed(source: Source, known: Mapping[str, Known]) -> dict[str, Any]:
    """Return all requests as plain data, and how many are open and answered."""
    rows = [
        {
            "student": student,
            "name": of.name,
            "task": request.task,
            "title": source.titles[request.task],
            "request": request.text,
            "answer": request.answer,
        }
        for student, of in known.items()
        for request in of.requests
    ]
    rows.sort(key=lambda row: bool(row["answer"]))
    answered = sum(bool(row["answer"]) for row in rows)
    return {"open": len(rows) - answered, "answered": answered, "all": rows}
