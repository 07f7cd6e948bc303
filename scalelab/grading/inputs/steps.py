"""What one exercise runs, in which order: the cells of the stage, earlier ones if used, its own.

Standard library only.
"""

import ast
import contextlib
import re
import symtable
from collections.abc import Container, Iterable, Iterator, Sequence

from scalelab.grading.inputs.read import Handed
from scalelab.grading.inputs.source import Cell

# What may stand in a cell that does nothing but give values to names.
_STATEMENTS = (ast.Assign, ast.AnnAssign, ast.Expr, ast.Import, ast.ImportFrom, ast.FunctionDef)
_HARMLESS = {"abs", "dict", "float", "int", "len", "list", "max", "min", "print", "range", "round"}
_HARMLESS |= {"sorted", "str", "sum", "tuple", "zip"}
_MAGIC = re.compile(r"(?m)^[ \t]*[%!].*$")
_DYNAMIC = {"exec", "eval", "globals", "locals", "vars", "get_ipython"}


def steps(
    setup: Sequence[Cell],
    earlier: Iterable[Sequence[Cell]],
    exercise: Sequence[Cell],
    handed: Handed,
) -> Iterator[tuple[str, str | None]]:
    """Yield what one exercise runs: (key, text) of a cell, or (check, None).

    Cells of earlier exercises come only where this one uses their names.
    """
    before = [cell for part in earlier for cell in part]
    if exercise is setup:
        setup = []
    yield from ((f"+{n}", text) for n, text in enumerate(handed.extras.get("", ())))
    yield from _texts(setup, handed)
    if needed(before, [*setup, *exercise], handed):
        yield from _texts(before, handed)
    for cell in exercise:
        if cell.check:
            yield cell.id, None
        yield from _texts([cell], handed)


def cell_of(key: str) -> str:
    """Return the id of the source's cell that a step is of or comes after, "" for the start.

    >>> cell_of("answer-1-1"), cell_of("answer-1-1#1"), cell_of("setup+0"), cell_of("+0")
    ('answer-1-1', 'answer-1-1', 'setup', '')
    """
    return key.partition("#")[0].partition("+")[0]


def needed(earlier: Iterable[Cell], cells: Iterable[Cell], handed: Handed) -> bool:
    """Say whether some cells use what the cells of earlier exercises define.

    >>> from scalelab.grading.inputs.source import Cell
    >>> from scalelab.grading.inputs.read import Handed
    >>> one, two = (Cell(n, "code", "", "", answer=True) for n in "ab")
    >>> given = Handed({"a": ("def half(x): return x / 2",), "b": ("y = half(4)",)})
    >>> needed([one], [two], given), needed([two], [one], given)
    (True, False)
    """
    defined = {name for _, text in _texts(earlier, handed) for name in _symbols(text)[0]}
    here: set[str] = set()
    wanted: set[str] = set()
    for _, text in _texts(cells, handed):
        stored, used = _symbols(text)
        wanted |= (used - stored | _changed(text) & stored) - here
        here |= stored
    return bool(defined & wanted or "*" in defined or _DYNAMIC & wanted)


def _symbols(text):
    """Return the names of the notebook that a cell defines, and those that it looks up.

    What a function or a comprehension calls its own is no name of the notebook.
    """
    try:
        top = symtable.symtable(_MAGIC.sub("pass", text), "cell", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set(), set()  # it will not run
    stored, used, tables = {"*"} & _names(text, ast.Store), set(), [top]
    for table in tables:
        tables += table.get_children()
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (table is top or symbol.is_global()):
                used.add(symbol.get_name())
            if (table is top or symbol.is_declared_global()) and (
                symbol.is_assigned() or symbol.is_imported()
            ):
                stored.add(symbol.get_name())
    return stored, used


def _changed(text):
    """Return the names to which a cell gives a value made from the one they had before, as in `x = x + 1`."""
    tree = _tree(_MAGIC.sub("pass", text))
    changed: set[str] = set()
    stored: set[str] = set()
    for statement in tree.body if tree else ():
        now = _of(statement, ast.Store)
        if isinstance(statement, ast.AugAssign):
            changed |= now - stored
        elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Expr)):
            changed |= (now & _of(statement, ast.Load)) - stored
        stored |= now
    return changed


def inert(later: Sequence[str], earlier: Iterable[str], ours: Container[str] = ()) -> bool:
    """Say whether functions of earlier cells do the same after some later ones have run as before.

    Only what is plain to see counts: definitions and simple values, under names of their own.
    Of our own cells, among the later ones, only the names matter.

    >>> inert(["limit = 1 / 0.05", "def third(x): return x / 3"], ["def half(x): return x / n"])
    True
    >>> inert(["n = 3"], ["def half(x): return x / n"]), inert(["f()"], ["def half(x): return x"])
    (False, False)
    """
    trees = [_tree(text) for text in later]
    for text, tree in zip(later, trees, strict=True):
        if tree is None or not (text in ours or all(map(_simple, tree.body))):
            return False
    # What a function stores is its own, unless it says otherwise.
    statements = [statement for tree in trees for statement in tree.body]
    stored = {name for statement in statements for name in _stored(statement)}
    known = {name for text in earlier for name in _looked_up(text)}
    return "*" not in stored | known and not stored & (known | _HARMLESS)


def _simple(statement):
    """Say whether a statement only gives values to names: nothing is called that could do more."""
    if not isinstance(statement, _STATEMENTS):
        return False
    if isinstance(statement, ast.FunctionDef):
        arguments = statement.args
        parts = [
            *statement.decorator_list,
            *arguments.defaults,
            *filter(None, arguments.kw_defaults),
        ]
        return all(isinstance(part, ast.Constant) for part in parts)
    return not any(map(_does_more, ast.walk(statement)))


def _does_more(node):
    """Say whether a part of a statement could change what is there already."""
    if isinstance(node, ast.Call):
        return not _harmless(node.func)
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        return not isinstance(node.ctx, ast.Load)
    return isinstance(node, ast.Await)


def _stored(statement):
    """Return the names that a statement stores outside; what stands in a function's body is its own."""
    if not isinstance(statement, ast.FunctionDef):
        return _of(statement, ast.Store)
    outside = [n for n in ast.walk(statement) if isinstance(n, ast.Global)]
    return {statement.name, *(name for n in outside for name in n.names)}


def _harmless(function):
    if isinstance(function, ast.Attribute):
        return isinstance(function.value, ast.Name) and function.value.id == "math"
    return isinstance(function, ast.Name) and function.id in _HARMLESS


def _looked_up(text):
    """Return the names of the notebook that a cell uses, its functions' own names left out."""
    try:
        tables = [symtable.symtable(_MAGIC.sub("pass", text), "cell", "exec")]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {"*"}
    names = set()
    for table in tables:
        inside = table.get_type() == "function"
        names |= {s.get_name() for s in table.get_symbols() if s.is_global() or not inside}
        tables += table.get_children()
    return names


def parsed(text: str) -> ast.Module:
    """Return the syntax tree of a text.

    Where another thread parses at the same moment, CPython 3.11 may lose count of its own depth, which
    is nothing about the text: then it is asked again. Source: python/cpython issue 106905.
    """
    for _ in range(20):
        with contextlib.suppress(SystemError):
            return ast.parse(text)
    return ast.parse(text)


def _tree(text):
    """Return the syntax tree of a cell, or None where there is none."""
    try:
        return parsed(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _names(text, context):
    """Return the names that a cell stores or loads, functions and imports among the stored."""
    tree = _tree(_MAGIC.sub("pass", text))
    return _of(tree, context) if tree else set()


def _of(tree, context):
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, context):
            names.add(node.id)
        elif context is ast.Store:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                names.add(node.name)
            elif isinstance(node, ast.alias):
                names.add((node.asname or node.name).partition(".")[0])
    return names


def _texts(cells, handed):
    """Yield (key, text) of all code in some cells, the student's own cells where they stand."""
    for cell in cells:
        if cell.kind == "code" and not cell.check:
            texts = handed.answers.get(cell.id, ()) if cell.answer else (cell.text,)
            for n, text in enumerate(texts):
                yield (f"{cell.id}#{n}" if n else cell.id), text
        for n, text in enumerate(handed.extras.get(cell.id, ())):
            yield f"{cell.id}+{n}", text
