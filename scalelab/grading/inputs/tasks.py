"""The tasks of an assignment: the cells of each, up to the one that is graded, and what people call it.

Standard library only.
"""

from collections.abc import Iterator

from scalelab.grading.inputs.source import Cell, Source


def tasks(source: Source) -> Iterator[list[Cell]]:
    """Yield the cells of each task, the one that is graded last.

    >>> cells = (Cell("a", "code", "", ""), Cell("b", "code", "", "", graded=True), Cell("c", "code", "", ""))
    >>> [[cell.id for cell in task] for task in tasks(Source("x", cells))]
    [['a', 'b']]
    """
    task: list[Cell] = []
    for cell in source.cells:
        task.append(cell)
        if cell.graded:
            yield task
            task = []


def number(source: Source, graded: str) -> str:
    """Return the number of the task of a graded cell.

    >>> cells = (Cell("q", "markdown", "### 1.2. Out of reach", ""), Cell("c", "code", "", "", graded=True))
    >>> number(Source("x", cells), "c")
    '1.2'
    """
    return source.titles[graded].split(" ")[0].rstrip(".")


def task_of(source: Source) -> dict[str, str]:
    """Return {cell: the graded cell of its task}."""
    return {cell.id: task[-1].id for task in tasks(source) for cell in task}


def by_name(source: Source) -> dict[str, str]:
    """Return {what a task may be called by, its number or a cell of it: its graded cell}."""
    numbers = {number(source, cell.id): cell.id for cell in source.cells if cell.graded}
    return task_of(source) | numbers
