"""Fold on the page, and on the page alone, the code of cells that only import, or only draw."""

import ast

from docutils import nodes

DRAWN = {"Figure", "Stepper", "explore"}
# What puts words, ranges and looks together for a figure, and computes nothing that the text speaks of.
PREPARES = {
    *("Slider", "Stamp", "figures", "plots", "drawings", "partial"),
    *("dict", "list", "range", "sorted", "tuple", "zip"),
}


def folded(source: str) -> bool:
    """Whether the page should fold a cell."""
    body = ast.parse(source).body
    if _only_imports(body):
        return True
    *before, last = body
    return _draws(last) and all(
        isinstance(one, ast.Assign) and _prepares(one.value) for one in before
    )


def _only_imports(body):
    """Whether it imports, and gives at most a shorter name to something of what it imported."""
    imports = [one for one in body if isinstance(one, ast.Import | ast.ImportFrom)]
    known = {(name.asname or name.name) for one in imports for name in one.names}
    return all(
        one in imports
        or (
            isinstance(one, ast.Assign)
            and isinstance(one.value, ast.Attribute)
            and ast.unparse(one.value).split(".")[0] in known
        )
        for one in body
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


def fold(app, doctree):
    """Fold such cells of a notebook, as MyST-NB does with those that are tagged so."""
    for cell in doctree.findall(nodes.container):
        if cell.get("nb_element") == "cell_code":
            code = cell.next_node(nodes.literal_block)
            if code is not None and folded(code.astext()):
                cell["hide_mode"], cell["prompt_show"], cell["prompt_hide"] = (
                    "input",
                    "Code",
                    "Code",
                )


def setup(app):
    """Connect the above to Sphinx."""
    app.connect("doctree-read", fold)
    return {"parallel_read_safe": True}
