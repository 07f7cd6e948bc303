"""What the linters cannot see of the package: what an import brings in, and what a file says of itself.

Who may import whom stands in pyproject.toml and is held by `make check`.
"""

import ast
import functools
import re
import subprocess
import sys

from tests.notebooks import ROOT

HEAVY = {"torch", "matplotlib", "ipywidgets", "pandas", "scipy", "networkx", "IPython"}


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
        "from scalelab.models import speedup; "
        "from scalelab.measure import jobs, machine, stats, timing, workers"
    )
    brought = imported_by(statement)
    assert "scalelab" in brought
    assert not brought & (HEAVY - {"scipy", "networkx"})


def test_the_map_of_the_models_names_every_module_once():
    """A reader finds the modules of a section in one place."""
    modules = {
        path.split("/")[-1][:-3] for path in sources() if path.startswith("scalelab/models/")
    }
    table = ast.get_docstring(sources()["scalelab/models/__init__.py"]).split("one each.")[1]
    named = re.findall(r"\b[a-z]\w+", re.sub(r"\([^)]*\)", "", table))
    assert sorted(named) == sorted(name for name in modules if not name.startswith("_"))
