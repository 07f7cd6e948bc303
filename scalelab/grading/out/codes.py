"""Codes in what a person commented: the words they stand for, and the points these give a text.

Standard library only.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from scalelab.grading.inputs.comments import WORD, Item
from scalelab.grading.inputs.source import Source, task_of
from scalelab.grading.out.worth import Known, Mark

# Neither a place in an address, nor a letter as HTML writes it, nor a heading.
_CODE = re.compile(rf"(?<![\w&/#])#({WORD})")
Items = Mapping[tuple[str, str], Item]


def explained(marks: Mapping[str, Mark], source: Source, items: Items) -> dict[str, Mark]:
    """Return marks with what the codes in their comments stand for."""
    tasks = task_of(source)
    return {cell: _explained(mark, tasks.get(cell, ""), items) for cell, mark in marks.items()}


def _explained(mark, task, items):
    codes = dict.fromkeys(code.lower() for code in _CODE.findall(mark.comment))
    return replace(
        mark,
        items=tuple(items[task, code] for code in codes if (task, code) in items),
        unknown=tuple(code for code in codes if (task, code) not in items),
    )


def in_words(mark: Mark, counted: bool) -> str:
    """Return a comment in words; where its items gave the score, each with its points.

    >>> mark = Mark(comment="#units, else fine. #why", items=(Item("a", "units", "No unit", -1.0),))
    >>> in_words(mark, counted=True), in_words(mark, counted=False)
    ('No unit (-1), else fine. #why', 'No unit, else fine. #why')
    """
    words = {item.code: _words(item, counted) for item in mark.items}
    return _CODE.sub(lambda code: words.get(code[1].lower(), code[0]), mark.comment)


def _words(item, counted):
    return item.text + (f" ({item.points:+g})" if counted and item.points else "")


def used(source: Source, known: Mapping[str, Known]) -> list[dict[str, Any]]:
    """Return how often each item was used, task by task, the commonest first."""
    marks = (mark for of in known.values() for mark in of.marks.values())
    times = Counter(item for mark in marks for item in mark.items)
    order = [cell.id for cell in source.cells]
    rows = [
        {
            "task": item.task,
            "title": source.titles[item.task],
            "code": item.code,
            "text": item.text,
            "points": item.points,
            "times": count,
        }
        for item, count in times.items()
    ]
    return sorted(rows, key=lambda row: (order.index(row["task"]), -row["times"], row["code"]))


def unknown(source: Source, known: Mapping[str, Known]) -> list[dict[str, str]]:
    """Return the codes that stand for nothing in the comment where they are, and of whom."""
    tasks = task_of(source)
    return [
        {"code": code, "student": student, "title": source.titles.get(tasks.get(cell, ""), cell)}
        for student, of in known.items()
        for cell, mark in of.marks.items()
        for code in mark.unknown
    ]
