"""What commands and chapters print, kept: a change that is meant to change no number changes none.

`python -m tests.golden` keeps anew what the commands print, and, of the built book, what no clock decides.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from pathlib import Path

from bs4 import BeautifulSoup

from scalelab.data import datasets

HERE = Path(__file__).parent
COMMANDS, CHAPTERS = HERE / "commands.json", HERE / "chapters.json"
NUMBERS = HERE / "numbers.json"  # that each chapter prints whenever it is run
MOST = 1500  # letters of a cell that are kept as they are
RUNS = """workers,seconds,rate,quality
1,1000,4,0.901
2,520,8,0.9
4,280,16,0.9
8,160,32,0.9
16,110,64,0.88
"""
RUBRICS = (
    "rubric - --json",
    "rubric - --json --full --floor 0.5 --tolerance 0.05",
    "rubric - --json --prefer cheapest --deadline 300s",
    "rubric nv_gnmt_dgx1_v100_fp16 --price 3 --tolerance 0.3 --json",
)


def commands() -> list[str]:
    """Return the command lines that are kept."""
    largest = {name: max(datasets.load(name).workers) for name in datasets.names()}
    return [
        *(f"audit {name} --json" for name in largest),
        *(f"fit {name} --at {math.ceil(2 * most)} --json" for name, most in largest.items()),
        *RUBRICS,
        "plan plan.toml --json",
    ]


def printed(line: str, folder: Path) -> dict:
    """Return what a command ends with and prints, in a folder that holds the example of a plan."""
    from tests.cli.command import scalelab

    (folder / "plan.toml").write_text(scalelab("plan", "--example").stdout)
    done = scalelab(*line.split(), text=RUNS if " - " in line else "", folder=folder)
    return {"code": done.returncode, "prints": json.loads(done.stdout or "null")}


def rounded(thing):
    """Return the same with seven digits of every number: what a solver leaves open is no change."""
    if isinstance(thing, dict):
        return {key: rounded(value) for key, value in thing.items()}
    if isinstance(thing, list):
        return [rounded(value) for value in thing]
    return float(f"{thing:.7g}") if isinstance(thing, float) else thing


def shown(notebook) -> dict[str, str]:
    """Return what each cell of an executed notebook shows, as words; a digest of them where they are many."""
    return {
        name: text if len(text) <= MOST else _digest(text)
        for name, text in words(notebook).items()
        if text
    }


def words(notebook) -> dict[str, str]:
    """Return all that each cell of an executed notebook shows, as words; not in which line code stands."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.outputs]
    said = {cell.id: " ".join("".join(map(_words, cell.outputs)).split()) for cell in cells}
    return {
        name: re.sub(r"(# scalelab/\S+\.py), line \d+", r"\1", text) for name, text in said.items()
    }


def numbers(text: str) -> set[str]:
    """Return the numbers in a text as they are written.

    >>> sorted(numbers("S = 1,024.5 of 3e-6"))
    ['1,024.5', '3e-6']
    """
    return set(re.findall(r"\d[\d,]*\.?\d*(?:e-?\d+)?", text))


def _words(output) -> str:
    if output.output_type == "stream":
        return (
            output.text
        )  # as it came: what one cell prints may arrive in two pieces, cut in a word
    data = output.get("data", {})
    if "text/html" not in data:
        return f" {data.get('text/plain', '')} "
    soup = BeautifulSoup(data["text/html"], "html.parser")
    for hidden in soup(["script", "style"]):
        hidden.decompose()
    return f" {soup.get_text(' ')} "


def _digest(text: str) -> str:
    return f"{len(text)} letters, sha256 {hashlib.sha256(text.encode()).hexdigest()[:16]}"
