"""The real source of a function, on the page that explains it; or the formula in it, without its checks."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from pathlib import Path

from scalelab.refusal import Refusal

WIDE = 72  # letters of a comment


class Listing:
    """The text of a function as it stands in the package, highlighted where it is shown."""

    def __init__(self, text: str, where: str, without: str = "") -> None:
        self.text, self.where, self.without = text, where, without

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        # On a phone no line begins with the number.
        where = self.where.replace(" line ", " line\u00a0")
        return {
            "text/markdown": f"```python\n{self.text}```\n\nFrom `{where}`{self.without}.\n",
            "text/plain": f"{self.text}\n# {self.where}",
        }


def source(function: Callable[..., object]) -> Listing:
    """Return the source of a function of `scalelab`, with the file and line where it stands."""
    text, where = _read(function)
    return Listing(text, where)


def formula(*functions: Callable[..., object]) -> Listing:
    """Return what functions compute, taken from their source: no checks, no types, one sentence each.

    >>> from scalelab.models.scaling import amdahl
    >>> print(formula(amdahl).text, end="")
    def amdahl(workers, serial):
        # Speedup of a fixed job:
        # S(K) = 1 / (s + (1 - s) / K), s a share of the one-worker time.
        return 1 / (serial + (1 - serial) / workers)
    """
    sources = [_read(function) for function in functions]
    lines: dict[str, list[str]] = {}
    for _, where in sources:
        file, _, line = where.partition(", line ")
        lines.setdefault(file, []).append(line)
    places = "; ".join(f"{f}, line{'s' * (len(n) > 1)} {', '.join(n)}" for f, n in lines.items())
    return Listing(
        "\n".join(_bare(text) for text, _ in sources),
        places,
        f", without {'their' if len(functions) > 1 else 'its'} checks",
    )


def _read(function: Callable[..., object]) -> tuple[str, str]:
    try:
        written = inspect.unwrap(function)
        lines, first = inspect.getsourcelines(written)
        file = Path(inspect.getsourcefile(written) or inspect.getfile(written))
    except (TypeError, OSError) as fault:
        raise Refusal(
            f"source needs a function or class written in Python, got {function!r}: {fault}"
        ) from None
    parts = file.parts
    inside = (
        parts[len(parts) - 1 - parts[::-1].index("scalelab") :]
        if "scalelab" in parts
        else parts[-1:]
    )
    told = "".join(lines).replace("  # fmt: skip", "")  # is for who edits it
    return told, f"{'/'.join(inside)}, line {first}"


def _bare(text: str) -> str:
    """Return a function's source without what only guards or describes it."""
    (function,) = ast.parse(textwrap.dedent(text)).body
    if not isinstance(function, ast.FunctionDef):
        raise Refusal("formula must be given functions, got a class: show its source")
    sentence = (ast.get_docstring(function) or "").partition("\n")[0]
    parameters = [*function.args.args, *function.args.kwonlyargs]
    for one in parameters:
        one.annotation = None
    function.returns, names = None, {one.arg for one in parameters}
    body = [one for one in function.body[1:] if not _guards(one, names)]
    helpers = {one.name: one for one in body if isinstance(one, ast.FunctionDef)}
    function.body = [
        line
        for one in body
        if not isinstance(one, ast.FunctionDef)
        for line in _inlined(one, helpers)
    ]
    head, *rest = ast.unparse(ast.fix_missing_locations(function)).split("\n")
    return "\n".join([head, *_comment(sentence), *rest]) + "\n"


def _comment(sentence: str) -> list[str]:
    """Return a sentence as comments; one too long for a line breaks before its formula, not in it."""
    said, colon, meant = sentence.rpartition(": ")
    lines = [sentence] if len(sentence) <= WIDE or not colon else [f"{said}:", meant]
    return [f"    # {part}" for line in lines for part in textwrap.wrap(line, WIDE)]


def _guards(line: ast.stmt, names: set[str]) -> bool:
    """Whether a line reads an argument into itself, holds a text for that, or refuses."""
    match line:
        case ast.If(body=[ast.Raise()], orelse=[]):
            return True
        case ast.Assign(value=ast.Constant(value=str())):
            return True
        case ast.Assign(targets=[target], value=ast.Call()):
            return {one.id for one in ast.walk(target) if isinstance(one, ast.Name)} <= names
    return False


def _inlined(line: ast.stmt, helpers: dict[str, ast.FunctionDef]) -> list[ast.stmt]:
    """Put the formula in the place of `answer(formula, arguments)`."""
    match line:
        case ast.Return(ast.Call(ast.Name("answer"), [ast.Name(name), *given])) if name in helpers:
            meant = _Meant(helpers[name].args, given)
            return [meant.visit(one) for one in helpers[name].body]
    return [_Inlining().visit(line)]


class _Inlining(ast.NodeTransformer):
    """`answer(lambda k, s: 1 / k, workers, serial)` becomes `1 / workers`."""

    def visit_Call(self, node):
        match node:
            case ast.Call(ast.Name("answer"), [ast.Lambda() as function, *given]):
                return _Meant(function.args, given).visit(function.body)
        return self.generic_visit(node)


class _Meant(ast.NodeTransformer):
    """The parameters of a formula replaced by what it is given."""

    def __init__(self, parameters, given):
        self.given = dict(zip((one.arg for one in parameters.args), given, strict=False))

    def visit_Name(self, node):
        return self.given.get(node.id, node)
