"""The reference: what a room of the package hands out, read from its source when the page is built.

A page asks for a room with the directive `api`, as in `{api} scalelab.models.network`, and each module of it
gets a heading. What a page is to teach by `:examples:` stands under the page's own, with the examples of its
docstrings, which are run as tests; `:only:` takes one name of a module, and `:as:` is what users call it by.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective
from typed import typeset

Definition = ast.FunctionDef | ast.ClassDef


def public(module: Path) -> Iterator[Definition]:
    """Yield the functions and classes that a module has for others, as they stand in it."""
    for node in ast.parse(module.read_text(encoding="utf-8")).body:
        if isinstance(node, Definition) and not node.name.startswith("_"):
            yield node


def signature(node: Definition) -> str:
    """Return what may be given: a function's parameters, or the fields of a record.

    >>> signature(ast.parse("def half(x: float, *, up: bool = True) -> float: ...").body[0])
    'half(x, *, up=True)'
    """
    if isinstance(node, ast.ClassDef):
        fields = [one for one in node.body if isinstance(one, ast.AnnAssign)]
        made = [one for one in node.body if getattr(one, "name", "") == "__init__"]
        if made:
            return f"{node.name}({_parameters(made[0]).removeprefix('self').lstrip(', ')})"
        return f"{node.name}({', '.join(ast.unparse(one.target) for one in fields)})"
    return f"{node.name}({_parameters(node)})"


def _parameters(function: ast.FunctionDef) -> str:
    parameters = ast.parse(ast.unparse(function)).body[0].args
    for parameter in ast.walk(parameters):
        if isinstance(parameter, ast.arg):
            parameter.annotation = None
    return ast.unparse(parameters)


def sentence(node: ast.AST) -> str:
    """Return the first sentence of a docstring, which says what its owner is for."""
    text = " ".join((ast.get_docstring(node) or "").partition("\n\n")[0].split())
    return re.split(r"(?<=[.])\s+(?=[A-Z`])", text)[0]


def example(node: ast.AST) -> str:
    """Return what a docstring shows at work, with its answers."""
    parts = (ast.get_docstring(node) or "").split("\n\n")
    return "\n".join(part for part in parts if part.startswith(">>> "))


def words(text: str) -> list[nodes.Node]:
    """Return a text whose `code` is set as code, and whose formulas as formulas."""
    made: list[nodes.Node] = []
    for at, part in enumerate(text.split("`")):
        made += [nodes.literal(text=part)] if at % 2 else typeset(part)
    return made


def section(module: str, purpose: str, *held: nodes.Node) -> nodes.section:
    """Return a module under its name, so that the contents of a page list it."""
    title = nodes.title(text=module.rpartition(".")[2])
    told = nodes.paragraph("", "", *words(purpose))
    return nodes.section("", title, told, *held, ids=[nodes.make_id(f"module {module}")])


class Api(SphinxDirective):
    """The modules of a room in the order in which it names them, each with what it hands out."""

    required_arguments = 1
    option_spec = {  # noqa: RUF012  so docutils wants it
        "examples": directives.flag,
        "only": directives.unchanged_required,
        "as": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        """Read the room anew whenever one of its files has changed."""
        dotted = self.arguments[0]
        room = Path(self.env.app.srcdir, *dotted.split("."))
        files = sorted(room.glob("*.py")) if room.is_dir() else [room.with_suffix(".py")]
        for file in (Path(__file__), Path(__file__).with_name("typed.py"), *files):
            self.env.note_dependency(str(file))
        made: list[nodes.Node] = []
        for file in files:
            tree = ast.parse(file.read_text(encoding="utf-8"))
            definitions = [
                one for one in public(file) if self.options.get("only") in (None, one.name)
            ]
            if file.stem == "__init__":
                made.insert(0, nodes.paragraph("", "", *words(sentence(tree))))
            if not definitions:
                continue
            module = dotted if file.stem in ("__init__", room.stem) else f"{dotted}.{file.stem}"
            items = [self._item(module, node) for node in definitions]
            listed = nodes.definition_list("", *items, classes=["sl-api"])
            bare = file.stem == "__init__" or "examples" in self.options
            made.append(listed if bare else section(module, sentence(tree), listed))
        return made

    def _item(self, module: str, node: Definition) -> nodes.Node:
        label = self.options.get("as") or f"{module}.{node.name}"
        called = signature(node)
        if "as" in self.options:
            called = label.rpartition(".")[2] + called.removeprefix(node.name)
        term = nodes.term("", "", nodes.literal(text=called), ids=[label])
        explained = nodes.definition("", nodes.paragraph("", "", *words(sentence(node))))
        if "examples" in self.options and (shown := example(node)):
            explained += nodes.literal_block(shown, shown, language="pycon")
        return nodes.definition_list_item("", term, explained)


def setup(app) -> dict:
    """Register the directive."""
    app.add_directive("api", Api)
    return {"parallel_read_safe": True}
