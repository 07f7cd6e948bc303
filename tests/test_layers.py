"""What the linters cannot see of the package: what an import brings in, and what a file says of itself.

Who may import whom stands in pyproject.toml and is held by `make check`.
"""

import ast
import functools
import graphlib
import importlib
import re
import subprocess
import sys
import tomllib
from collections import Counter

from tests.notebooks import ROOT

HEAVY = {"torch", "matplotlib", "ipywidgets", "pandas", "scipy", "networkx", "IPython", "jinja2"}


@functools.cache
def sources():
    """Return the syntax tree of every module, by its path."""
    return {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_text())
        for path in sorted((ROOT / "scalelab").rglob("*.py"))
    }


def test_models_print_nothing_and_open_no_file():
    calls = {
        (path, ast.unparse(node.func))
        for path, tree in sources().items()
        if "/models/" in path
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
    }
    assert [one for one in calls if one[1] in ("print", "open", "input")] == []


def test_a_module_says_first_what_it_is_for():
    docstrings = {path: ast.get_docstring(tree) or "" for path, tree in sources().items()}
    assert [
        p for p, text in docstrings.items() if not text.partition("\n")[0].endswith((".", ":"))
    ] == []


def imported_by(statement):
    """Return the top-level modules that a fresh interpreter holds after the statement."""
    code = f"import sys; {statement}; print(*sorted({{m.partition('.')[0] for m in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_package_imports_nothing_else():
    assert not imported_by("import scalelab") & {*HEAVY, "numpy"}


def test_importing_models_and_measure_does_not_bring_in_torch():
    statement = (
        "from scalelab.models.scaling import speedup; from scalelab.measure.host import machine; "
        "from scalelab.measure.ranks import jobs, workers; from scalelab.measure.timing import timing"
    )
    brought = imported_by(statement)
    assert "scalelab" in brought
    assert not brought & (HEAVY - {"scipy", "networkx"})


def test_importing_what_chapters_show_does_not_bring_in_what_draws_and_writes_it():
    brought = imported_by("from scalelab.show import claims, columns, picture, report, sliders")
    assert "markupsafe" in brought
    assert not brought & {"matplotlib", "ipywidgets", "jinja2", "torch"}


def test_a_room_hands_out_all_its_modules_and_says_what_each_is_for():
    for path, tree in sources().items():
        if path.endswith("__init__.py") and "face(" in ast.unparse(tree):
            room = importlib.import_module(path.removesuffix("/__init__.py").replace("/", "."))
            modules = {one.stem for one in (ROOT / path).parent.glob("*.py")} - {"__init__"}
            assert modules <= set(dir(room)), path
            assert modules - set(re.findall(r"\w+", room.__doc__)) == set(), path


def test_no_folder_holds_more_than_fifteen_files():
    """Nor a third with one prefix: that would be a room of its own; every test has that of tests."""
    tests = (ROOT / "tests").rglob("*.py")
    for folder in {path.parent for path in [*map(ROOT.joinpath, sources()), *tests]}:
        stems = [one.stem for one in folder.glob("*.py") if one.stem != "__init__"]
        names = [stem.removeprefix("test_") for stem in stems]
        assert len(names) <= 15, folder
        prefixes = Counter(name.split("_")[0] for name in names if name[0] != "_" and "_" in name)
        assert max(prefixes.values(), default=0) < 3, folder


def imports(path, tree):
    """Yield the modules of the package that one names, also inside functions and for its types only."""
    modules = {
        one.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for one in sources()
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from modules & {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module in modules:
            for name in node.names:
                inner = f"{node.module}.{name.name}"
                yield inner if inner in modules else node.module


def test_no_two_files_need_each_other():
    graph = {
        path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): set(
            imports(path, tree)
        )
        for path, tree in sources().items()
    }
    assert sum(map(len, graph.values())) > 500
    assert list(graphlib.TopologicalSorter(graph).static_order())


def test_a_public_class_has_a_name_of_its_own():
    names = Counter(
        node.name
        for tree in sources().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, count in names.items() if count > 1] == []


def public(tree):
    """Yield the functions of a module, and of its classes, that others may call."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public(node)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (
            node.name[0] != "_" or node.name in ("__init__", "__call__")
        ):
            yield node


def test_every_kind_of_file_in_the_package_ships():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    kinds = settings["tool"]["setuptools"]["package-data"]["*"]
    files = [path for path in (ROOT / "scalelab").rglob("*") if path.is_file()]
    ours = [path for path in files if path.suffix not in (".py", ".pyc")]
    assert {".html", ".json"} <= {path.suffix for path in ours}
    assert [path for path in ours if not any(map(path.match, kinds))] == []


TAG = re.compile(r"(?<!\?P)</?[a-z][\w-]*(\s+[\w-]+=|\s*/?>|\s*$)|<!doctype", re.I)


def filled(tree):
    """Yield the line and the words of each text into which Python puts something, as it stands."""
    for node in ast.walk(tree):
        match node:
            case ast.JoinedStr(values=parts):
                pass
            case ast.BinOp(op=ast.Add() | ast.Mod(), left=left, right=right):
                parts = [left, right]
            case ast.Call(func=ast.Attribute(value=one, attr="format" | "join")):
                parts = [one]
            case _:
                continue
        yield node.lineno, "".join(str(p.value) for p in parts if isinstance(p, ast.Constant))


def test_nothing_is_put_between_tags_that_is_not_escaped():
    """HTML is a template or a Markup, both of which escape; ruff sees that Markup is given no variable."""
    assert [
        f"{path}:{line} {words}"
        for path, tree in sources().items()
        for line, words in filled(tree)
        if TAG.search(words)
    ] == []
    templates = {path: path.read_text() for path in (ROOT / "scalelab").rglob("*.html")}
    assert len(templates) > 5
    assert [p for p, one in templates.items() if re.search(r"\|\s*safe\b|autoescape", one)] == []


def untyped(function):
    """Return the names of what a function leaves without a type."""
    given = function.args
    names = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    open_ones = [one.arg for one in names if one and not one.annotation]
    answer = [] if function.returns or function.name == "__init__" else ["its answer"]
    return [one for one in open_ones if one not in ("self", "cls")] + answer


def test_every_public_function_is_typed():
    """That the types are right is what mypy says in `make check`."""
    assert [
        f"{path}:{function.lineno} {function.name}: {', '.join(missing)}"
        for path, tree in sources().items()
        for function in public(tree)
        if (missing := untyped(function))
    ] == []
