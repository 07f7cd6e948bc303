"""The map of the house in CONTRIBUTING.md: every room, what it is for, and where a user meets it.

    python -m tests.housemap    # draws it anew

The first sentence of a room says what it is for; chapters and commands are those that import it.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.notebooks import ROOT, WRITTEN, chapter

PAGE = ROOT / ".github" / "CONTRIBUTING.md"
START, END = "<!-- the map: python -m tests.housemap -->", "<!-- end of the map -->"
PACKAGE = ROOT / "scalelab"


def imported(code: str) -> set[str]:
    """Return the dotted names that code imports from the package, also inside functions."""
    names = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("scalelab"):
            names |= {node.module, *(f"{node.module}.{one.name}" for one in node.names)}
    return names


def purpose(file: Path) -> str:
    """Return the first sentence of a file, without the sections it belongs to."""
    text = " ".join(ast.get_docstring(ast.parse(file.read_text())).partition("\n\n")[0].split())
    sentence = re.split(r"(?<=\.)\s", text)[0].rstrip(".")
    return re.sub(r" \((?:Section )?[\d., ]+\)$", "", sentence)


def rooms() -> list[Path]:
    """Return the folders of the package, in the order of their names."""
    return sorted(file.parent for file in PACKAGE.rglob("__init__.py") if file.parent != PACKAGE)


def drawn() -> str:
    """Return the map as a Markdown table."""
    sections = {
        "41.6" if slug.startswith("10") else f"3.{int(slug[:2])}": imported(chapter(slug).code[0])
        for slug in WRITTEN
    }
    commands: dict[str, set[str]] = {}
    for file in sorted((PACKAGE / "cli").rglob("*.py")):
        name = file.relative_to(PACKAGE / "cli").parts[0].removesuffix(".py")
        commands.setdefault(name, set()).update(imported(file.read_text()))
    for name in ("__init__", "options", "streams"):  # of no command, or of all
        del commands[name]
    lines = ["| room | what it is for | files | chapters | commands |", "|---|---|--:|---|---|"]
    for room in rooms():
        dotted = ".".join(room.relative_to(ROOT).parts)

        def users(who, dotted=dotted):
            inside = re.compile(rf"{re.escape(dotted)}(\.\w+)*")
            return ", ".join(name for name, has in who.items() if any(map(inside.fullmatch, has)))

        place = room.relative_to(PACKAGE).as_posix()
        count = len([file for file in room.glob("*.py") if file.stem != "__init__"])
        what = purpose(room / "__init__.py")
        lines.append(f"| `{place}` | {what} | {count} | {users(sections)} | {users(commands)} |")
    return "\n".join(lines)


def renewed(page: str) -> str:
    """Return the page with the map as it is now."""
    before, _, rest = page.partition(START)
    return f"{before}{START}\n{drawn()}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text()))
