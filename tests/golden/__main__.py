"""Keep anew: `python -m tests.golden`, after `make book`; minutes, for every chapter is run once more."""

from __future__ import annotations

import ast
import json
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from tqdm import tqdm

from tests.golden import (
    CHAPTERS,
    COMMANDS,
    NUMBERS,
    commands,
    numbers,
    printed,
    rounded,
    shown,
    words,
)
from tests.notebooks import ROOT, WRITTEN, executed


def keep_commands() -> None:
    """Run every command and keep what it prints."""
    with tempfile.TemporaryDirectory() as folder:
        kept = {line: rounded(printed(line, Path(folder))) for line in tqdm(commands())}
    lines = ",\n".join(f"{json.dumps(line)}: {json.dumps(said)}" for line, said in kept.items())
    COMMANDS.write_text(f"{{\n{lines}\n}}\n")


def timed(notebook) -> set[str]:
    """Return the cells that a clock may decide: what they use was measured, or made of what was."""
    measured, cells = {"time", "torch"}, set()
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        tree = ast.parse(cell.source)
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("scalelab.measure"):
                measured |= {alias.asname or alias.name for alias in node.names}
        names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        made = {name.id for name in names if isinstance(name.ctx, ast.Store)}
        made |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        if measured & {name.id for name in names if isinstance(name.ctx, ast.Load)}:
            cells.add(cell.id)
            measured |= made
        else:
            measured -= made
    return cells


def keep_chapters() -> None:
    """Run every chapter once more and keep the cells that show what they show in the built book."""
    kept, printed_always = {}, {}
    for slug in tqdm(WRITTEN):
        again = nbformat.read(ROOT / "chapters" / f"{slug}.ipynb", as_version=4)
        NotebookClient(
            again, timeout=300, resources={"metadata": {"path": ROOT / "chapters"}}
        ).execute()
        first, second, clocked = shown(executed(slug)), shown(again), timed(again)
        kept[slug] = {
            cell: text
            for cell, text in first.items()
            if second.get(cell) == text and cell not in clocked
        }
        before, after = words(executed(slug)), words(again)
        always = [numbers(text) & numbers(after.get(cell, "")) for cell, text in before.items()]
        printed_always[slug] = " ".join(sorted(set().union(*always)))
    NUMBERS.write_text(json.dumps(printed_always, indent=1) + "\n")
    CHAPTERS.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    what = sys.argv[1:] or ["commands", "chapters"]
    if "commands" in what:
        keep_commands()
    if "chapters" in what:
        keep_chapters()
