"""What a change touches: the tests that were changed, that import what was, or that name its section."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@functools.cache
def changed(since: str) -> frozenset[str]:
    """Return the files that differ from a commit, as `folder/file.py`."""
    done = subprocess.run(
        ["git", "diff", "--name-only", since, "--"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return frozenset(done.stdout.split())


@functools.cache
def needed(test: Path) -> frozenset[str]:
    """Return the files that a test file imports, and itself."""
    names = {test.relative_to(ROOT).as_posix()}
    for node in ast.walk(ast.parse(test.read_text())):
        if isinstance(node, ast.ImportFrom):
            base = (node.module or "").replace(".", "/")
            names |= {f"{base}.py", f"{base}/__init__.py"}
            names |= {f"{base}/{alias.name}.py" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {f"{alias.name.replace('.', '/')}.py" for alias in node.names}
    return frozenset(names)


def touched(since: str):
    """Return a function that says whether a change since that commit touches a test."""
    files = changed(since)
    sections = {found[0] for one in files if (found := re.search(r"\b\d\d_[a-z]+", one))}

    def is_touched(item) -> bool:
        return bool(needed(item.path) & files) or any(one in item.name for one in sections)

    return is_touched
