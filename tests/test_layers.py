"""Who may import whom: read from the source of every module, so that no new one escapes."""

import ast
import re
import subprocess
import sys

import pytest

from tests.notebooks import ROOT

# A module imports only from its own folder and from those further down this list.
LAYERS = ["cli", "grading", "checks", "show", "infer", "measure", "models", "data", "top"]
# The two that would be neighbours never meet.
STRANGERS = {"models", "measure"}
# Where a heavy library may be imported at module level, and where at all.
AT_THE_TOP = {
    "torch": set(),
    "matplotlib": {"show"},
    "ipywidgets": {"show"},
    "pandas": {"infer", "show", "grading", "cli"},
    "scipy": {"models", "infer"},
    "networkx": set(),
}
INSIDE = AT_THE_TOP | {
    "torch": {"measure", "infer", "checks"},
    "pandas": {"data", "infer", "show", "checks", "grading", "cli"},
    "scipy": {"models", "measure", "infer", "checks"},
    "networkx": {"models", "infer", "checks"},
}
PURE = {"time", "datetime", "random", "os", "sys", "pathlib", "subprocess", "io"}

SOURCES = {
    path.relative_to(ROOT).as_posix(): ast.parse(path.read_text())
    for path in sorted((ROOT / "scalelab").rglob("*.py"))
}
every_module = pytest.mark.parametrize("path", SOURCES)


def layer(parts):
    """Return the folder of a module, or "top" for the modules every layer may use."""
    if parts[1:] == ["__main__.py"]:
        return "cli"
    return parts[1] if len(parts) > 1 and parts[1] in LAYERS else "top"


def imports(tree, *, whole):
    """Yield every imported module: all of them, or only those that run on import."""
    for node in ast.walk(tree) if whole else running(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide the layer"
            # `from scalelab import records` names its module last.
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def running(node):
    """Yield the nodes that run on import: everything outside functions and type checking."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        yield child
        yield from running(child)


def test_the_reader_of_imports_sees_what_it_should():
    """Otherwise every test below could pass on nothing."""
    tree = ast.parse(
        "import a.b\nfrom scalelab import units as u\n"
        "if True:\n  import c\nclass K:\n  import d\n  def f(self): import e\n"
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING: import g"
    )
    shallow = set(imports(tree, whole=False))
    assert shallow == {"a.b", "scalelab.units", "c", "d", "typing.TYPE_CHECKING"}
    assert set(imports(tree, whole=True)) == shallow | {"e", "g"}
    assert [layer(p.split("/")) for p in ("scalelab/units.py", "scalelab/show/draw.py")] == [
        "top",
        "show",
    ]


@every_module
def test_a_folder_imports_only_from_those_above_it(path):
    own = layer(path.split("/"))
    for name in imports(SOURCES[path], whole=True):
        if name.partition(".")[0] == "scalelab":
            other = layer(name.split("."))
            assert LAYERS.index(other) >= LAYERS.index(own), f"{own} imports {name}"
            assert {own, other} != STRANGERS, f"{own} imports {name}"


@every_module
def test_heavy_libraries_are_imported_only_where_they_are_known(path):
    own = layer(path.split("/"))
    for whole, allowed in ((False, AT_THE_TOP), (True, INSIDE)):
        for name in imports(SOURCES[path], whole=whole):
            library = name.partition(".")[0]
            assert own in allowed.get(library, {own}), f"{own} imports {library}"


@pytest.mark.parametrize("path", [p for p in SOURCES if "/models/" in p])
def test_models_have_no_clock_no_print_and_no_files(path):
    tree = SOURCES[path]
    assert not {name.partition(".")[0] for name in imports(tree, whole=True)} & PURE
    calls = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    assert not calls & {"print", "open", "input"}


@every_module
def test_a_module_says_first_what_it_is_for(path):
    docstring = ast.get_docstring(SOURCES[path])
    assert docstring
    assert docstring.splitlines()[0].endswith(".") or docstring.splitlines()[0].endswith(":")


def imported_by(statement):
    """Return the top-level modules that a fresh interpreter holds after the statement."""
    code = f"import sys; {statement}; print(*sorted({{m.partition('.')[0] for m in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_package_imports_nothing_else():
    assert not imported_by("import scalelab") & {*AT_THE_TOP, "numpy", "IPython"}


def test_importing_models_and_measure_does_not_bring_in_torch():
    statement = (
        "from scalelab.models import speedup; "
        "from scalelab.measure import jobs, machine, stats, timing, workers"
    )
    brought = imported_by(statement)
    assert "scalelab" in brought
    assert not brought & {"torch", "matplotlib", "ipywidgets", "pandas", "IPython"}


def test_the_map_of_the_models_names_every_module_once():
    """A reader finds the modules of a section in one place."""
    modules = {path.split("/")[-1][:-3] for path in SOURCES if path.startswith("scalelab/models/")}
    table = ast.get_docstring(SOURCES["scalelab/models/__init__.py"]).split("one each.")[1]
    named = re.findall(r"\b[a-z]\w+", re.sub(r"\([^)]*\)", "", table))
    assert sorted(named) == sorted(name for name in modules if not name.startswith("_"))
