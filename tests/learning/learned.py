"""Whether what was learned from public results is still what they teach, without learning it again.

Beside the constants of `predict` stands a digest of all that they were learned from: the numbers, and
the code that learns with whatever it calls. Layout, comments, docstrings, imports, the words of
refusals and the places of files do not count.

    python -m tests.learning.learned     # learn anew if the digest says so, and write it down: a minute
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib
import inspect
from pathlib import Path

import numpy as np

from scalelab.curves import predict
from tests.learning import calibrate

DIGEST = "LEARNED_FROM"
LEARN = (calibrate.settings, calibrate.coverage)
READ = calibrate.hold_outs  # the rest of the way from the files to here does not matter


def learned():
    """Learn the constants anew, by name."""
    return {
        "CALIBRATED": calibrate.settings(),
        "NEXT": calibrate.coverage(),
        "LATER": calibrate.coverage(largest=False),
    }


def digest():
    """Return the digest of what the constants are learned from as it stands."""
    numbers = [
        (
            one.group,
            one.largest,
            one.workers,
            one.truth,
            *np.stack([shown.workers, shown.rate]).tolist(),
        )
        for one in READ()
        for shown in [one.shown]
    ]
    parts = [repr(numbers), *sorted(repr(meaning(node)) for node in statements(LEARN, READ))]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def statements(functions, but):
    """Return the statements that define some functions and all of the package that they name, but one."""
    found, left = set(), [(one.__module__, one.__name__) for one in functions]
    seen = {(but.__module__, but.__name__)}
    while left:
        module, name = left.pop()
        if (module, name) in seen:
            continue
        seen.add((module, name))
        defined, imported = names(module)
        left += [imported[name]] if name in imported else []
        for node in defined.get(name, ()):
            found.add(node)
            for inner in ast.walk(node):
                match inner:
                    case ast.Name(id=used):
                        left.append((module, used))
                    case ast.Attribute(value=ast.Name(id=base), attr=used) if base in imported:
                        left.append((".".join(imported[base]), used))
    return found


@functools.cache
def names(module):
    """Return the statements that define each name of a module, and {name: (module, name there)}."""
    defined, imported = {}, {}
    if module.partition(".")[0] not in ("scalelab", "tests"):
        return defined, imported
    try:
        tree = ast.parse(inspect.getsource(importlib.import_module(module)))
    except ModuleNotFoundError:  # a class, which is taken as a whole
        return defined, imported
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            imported |= {one.asname or one.name: (node.module, one.name) for one in node.names}
    for node in Bare().visit(tree).body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                defined.setdefault(name, []).append(node)
            case ast.Assign() | ast.AnnAssign():
                for target in getattr(node, "targets", None) or [node.target]:
                    for name in (one.id for one in ast.walk(target) if isinstance(one, ast.Name)):
                        defined.setdefault(name, []).append(node)
    return defined, imported


class Bare(ast.NodeTransformer):
    """Takes from a syntax tree what changes no result."""

    def visit_Import(self, node):
        return None

    visit_ImportFrom = visit_Import

    def visit_Raise(self, node):
        return ast.Raise()

    def visit_arg(self, node):
        return ast.arg(node.arg)

    def visit_AnnAssign(self, node):
        bare = ast.Assign([node.target], node.value) if node.value else ast.Expr(node.target)
        return ast.copy_location(bare, node)

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        node.returns = None
        node.body = node.body[1:] if ast.get_docstring(node) else node.body
        return node

    def visit_ClassDef(self, node):
        return self.visit_FunctionDef(node)


def meaning(node):
    """Return a syntax tree as plain lists, without what is empty or was so on an older Python."""
    if isinstance(node, list):
        return [meaning(one) for one in node]
    if isinstance(node, ast.AST):
        fields = [(name, value) for name, value in ast.iter_fields(node) if value not in (None, [])]
        return [type(node).__name__, *((name, meaning(value)) for name, value in fields)]
    return repr(node)


def write(place, constants):
    """Write constants into a file of Python that holds them, each in one statement."""
    lines = place.read_text(encoding="utf-8").splitlines()
    for node in reversed(ast.parse("\n".join(lines)).body):
        name = node.targets[0].id if isinstance(node, ast.Assign) else None
        if name in constants:
            value = constants[name]
            text = f'"{value}"' if isinstance(value, str) else repr(value)
            lines[node.lineno - 1 : node.end_lineno] = [f"{name} = {text}"]
    place.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if digest() == predict.LEARNED_FROM:
        print("nothing to learn: all that the constants were learned from is as it was")
    else:
        place = Path(inspect.getsourcefile(predict.predict))
        write(place, {**learned(), DIGEST: digest()})
        print(f"learned anew, and written into {place}")
