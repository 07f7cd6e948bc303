"""Fold on the page, and on the page alone, the code of cells that only import, or only draw."""

import ast

import nbformat

DRAWN = {"Figure", "Stepper", "explore"}
# What puts words, ranges and looks together for a figure, and computes nothing that the text speaks of.
PREPARES = {
    *("Slider", "Stamp", "figures", "plots", "drawings", "partial"),
    *("dict", "list", "range", "sorted", "tuple", "zip"),
}


def folded(source: str) -> bool:
    """Whether the page should fold a cell."""
    body = ast.parse(source).body
    if all(isinstance(one, ast.Import | ast.ImportFrom) for one in body):
        return True
    *before, last = body
    return _draws(last) and all(
        isinstance(one, ast.Assign) and _prepares(one.value) for one in before
    )


def _draws(node):
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and _called(node.value).split(".")[-1] in DRAWN
    )


def _prepares(value):
    calls = [_called(one) for one in ast.walk(value) if isinstance(one, ast.Call)]
    return all(set(name.split(".")) & PREPARES for name in calls)


def _called(call):
    return ast.unparse(call.func)


def fold(app, page, source):
    """Tag such cells of a notebook, so that a click shows their code."""
    if app.env.doc2path(page).endswith(".ipynb"):
        notebook = nbformat.reads(source[0], as_version=4)
        for cell in notebook.cells:
            if cell.cell_type == "code" and folded(cell.source):
                cell.metadata["tags"] = [*cell.metadata.get("tags", []), "hide-input"]
        source[0] = nbformat.writes(notebook)


def setup(app):
    """Connect the above to Sphinx."""
    app.connect("source-read", fold)
    return {"parallel_read_safe": True}
