"""Which files of scalelab a chapter reaches by its imports: read from the sources, nothing is run.

A room hands out its modules and their names when it is asked (scalelab/face.py). Of a room that a source only
asks for names, as in `network.ring(...)`, it reaches the modules that define them; of a room that it uses in
any other way, all. A name put together at run time comes from a text, which counts as an import of all it
names, or from a function that was imported. What cannot be resolved reaches everything.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "scalelab"
NAMED = re.compile(rf"\b{PACKAGE}\.[\w.]*")  # in a text: perhaps imported
COMMAND = re.compile(rf"(?<![\w./]){PACKAGE}(?![\w.:])")  # in a text of a chapter: perhaps run
BLOCKS = (ast.If, ast.Try, ast.With, ast.For, ast.While, ast.ExceptHandler)


class Unresolved(Exception):
    """What a source imports cannot be told without running it."""


@dataclass(frozen=True)
class Source:
    """What one module, or all cells of a chapter, says of others."""

    imports: list[tuple[str, str, str]]  # module, name in it ("" for all of it), name here
    # What is taken of each name, as "name" or "room.name" and so on; None where it is used otherwise.
    asked: dict[str, set[str] | None]
    defined: set[str]  # names for others
    rooms: set[str]  # whose files it reads as data
    texts: list[str]  # without docstrings and the names of those rooms


def read(code: str | bytes) -> Source:
    """Return what a source says."""
    tree = ast.parse(code)
    nodes = list(_run(tree))
    rooms = list(_rooms(nodes))
    silent = {*rooms, *_docstrings(nodes)}
    texts = [one for one in nodes if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return Source(
        list(_imports(nodes)),
        _asked(nodes),
        _defined(tree),
        {one.value for one in rooms},
        [one.value for one in texts if one not in silent],
    )


class Package:
    """The files of the package in a folder, and what code reaches of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = {
            file.relative_to(folder)
            for file in (folder / PACKAGE).rglob("*")
            if file.is_file() and "__pycache__" not in file.parts and file.name[0] != "."
        }
        self.modules = {
            ".".join(file.with_suffix("").parts).removesuffix(".__init__"): file
            for file in self.files
            if file.suffix == ".py"
        }
        self.rooms = {".".join(file.parent.parts) for file in self.modules.values()} | {PACKAGE}
        self._read: dict[str, Source] = {}

    def digest(self, code: str) -> str:
        """Return one word that changes whenever a file does that this code reaches."""
        digest = hashlib.sha256()
        for file in sorted(self.reached(code)):
            content = hashlib.sha256((self.folder / file).read_bytes())
            digest.update(f"{file.as_posix()} {content.hexdigest()}\n".encode())
        return digest.hexdigest()

    def reached(self, code: str) -> set[Path]:
        """Return the files that code may run or read, counted from the folder of the package."""
        try:
            cells = read(code)
            if any(COMMAND.search(text) for text in cells.texts):
                return self.files
            names, todo = set(), self._needs(cells)
            while todo:
                name = todo.pop()
                names.add(name)
                todo |= (self._needs(self._source(name)) | _above(name)) - names
        except (SyntaxError, Unresolved):  # a cell that is no plain Python, too
            return self.files
        rooms = {name if name in self.rooms else name.rpartition(".")[0] for name in names}
        modules = {self.modules[name] for name in names if name in self.modules}
        data = {file for file in self.files if file.suffix != ".py" and self._room(file) in rooms}
        return modules | data

    def _source(self, name: str) -> Source:
        if name not in self._read:
            file = self.modules.get(name)  # a folder need not have a first page
            self._read[name] = read((self.folder / file).read_bytes() if file else "")
        return self._read[name]

    def _room(self, file: Path) -> str:
        """Return the room that a file of data belongs to: a folder without code is its room's."""
        above = (".".join(folder.parts) for folder in file.parents)
        return next(name for name in above if name in self.rooms)

    def _needs(self, source: Source) -> set[str]:
        """Return the modules that a source names, by imports anywhere in it or in texts."""
        needs = set(source.rooms)
        if not needs <= self.rooms:
            raise Unresolved
        for module, name, here in source.imports:
            needs |= self._member(module, name, source.asked.get(here))
        for text in source.texts:
            needs = needs.union(*map(self._all, NAMED.findall(text)))
        return needs

    def _member(self, module: str, name: str, asked: set[str] | None) -> set[str]:
        """Return what `from module import name` reaches, of which then `asked` is taken, or all of it."""
        if not name or name == "*":
            return self._all(module)
        whole = f"{module}.{name}"
        if whole in self.rooms:
            if asked is None:
                return self._all(whole)
            parts = (one.partition(".") for one in asked)
            return {whole}.union(
                *(self._member(whole, one, {m} if m else None) for one, _, m in parts)
            )
        if whole in self.modules:
            names = (one.partition(".")[0] for one in asked or ())
            return {whole}.union(*(self._passed_on(whole, one) for one in names))
        if module not in self.rooms:
            return self._all(module) | self._passed_on(module, name)
        passed_on = self._passed_on(module, name)
        if passed_on or name in self._source(module).defined:
            return {module} | passed_on
        inside = [one for one in self.modules if one.rpartition(".")[0] == module]
        homes = {one for one in inside if name in self._source(one).defined}
        return {module} | homes if homes else self._all(module)

    def _passed_on(self, module: str, name: str) -> set[str]:
        """Return what a name of a module reaches that the module has itself from an import."""
        given = [one for one in self._source(module).imports if one[2] == name]
        return set().union(*(self._member(source, member, None) for source, member, _ in given))

    def _all(self, name: str) -> set[str]:
        """Return a module, or a room with all that is below it; of what is neither, its room."""
        while name not in self.modules and name not in self.rooms:
            name = name.rpartition(".")[0]
        if name not in self.rooms:
            return {name}
        return {name} | {one for one in self.modules if one.startswith(f"{name}.")}


def _run(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all within it, but for what is imported for types alone, which never runs."""
    yield node
    match node:
        case ast.If(test=ast.Name("TYPE_CHECKING"), orelse=children):
            pass
        case _:
            children = ast.iter_child_nodes(node)
    for child in children:
        yield from _run(child)


def _above(name: str) -> set[str]:
    parts = name.split(".")
    return {".".join(parts[:count]) for count in range(1, len(parts))}


def _ours(name: object) -> bool:
    return isinstance(name, str) and name.partition(".")[0] == PACKAGE


def _imports(nodes: list[ast.AST]) -> Iterator[tuple[str, str, str]]:
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            if node.level:
                raise Unresolved
            if _ours(node.module):
                yield from ((node.module, one.name, one.asname or one.name) for one in node.names)
        elif isinstance(node, ast.Import):
            ours = [one for one in node.names if _ours(one.name)]
            yield from ((one.name, "", one.asname or PACKAGE) for one in ours)


def _asked(nodes: list[ast.AST]) -> dict[str, set[str] | None]:
    asked: dict[str, set[str] | None] = {}
    taken = [node for node in nodes if isinstance(node, ast.Attribute)]
    owners = {node.value for node in taken}
    for node in taken:
        if node in owners:
            continue
        names, first = [node.attr], node.value
        while isinstance(first, ast.Attribute):
            names.append(first.attr)
            first = first.value
        if isinstance(first, ast.Name):
            asked.setdefault(first.id, set()).add(".".join(reversed(names)))
    others = (node for node in nodes if isinstance(node, ast.Name) and node not in owners)
    return asked | {node.id: None for node in others}


def _defined(tree: ast.AST) -> set[str]:
    """Return the names that a module defines, whatever its conditions: what it imports is another's."""
    names = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, BLOCKS):
            names |= _defined(node)
        else:
            stored = (one for one in ast.walk(node) if isinstance(one, ast.Name))
            names |= {one.id for one in stored if isinstance(one.ctx, ast.Store)}
    return names


def _rooms(nodes: list[ast.AST]) -> Iterator[ast.Constant]:
    """Yield the rooms in calls such as `resources.files("scalelab.data")`."""
    for node in nodes:
        match node:
            case ast.Call(ast.Attribute(attr="files"), [ast.Constant() as room]) if _ours(
                room.value
            ):
                yield room


def _docstrings(nodes: list[ast.AST]) -> Iterator[ast.expr]:
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            match node.body:
                case [ast.Expr(ast.Constant(str()) as text), *_]:
                    yield text
