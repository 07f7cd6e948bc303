"""Of the theme's 2,000 icons a page shows ten: its file keeps those, and is a twentieth of what it was."""

from __future__ import annotations

import re
from pathlib import Path

import pydata_sphinx_theme

WHERE = "scripts/fontawesome.js"
ALL = Path(pydata_sphinx_theme.__file__).parent / "theme/pydata_sphinx_theme/static" / WHERE
# As in "bars":[448,512,["navicon"],"f0c9","M0 96C0 78 ..."],
ICON = re.compile(r'"?([a-z0-9-]+)"?:\[\d+,\d+,\[([^\]]*)\],"[0-9a-f]+",(?:"[^"]*"|\[[^\]]*\])\],?')
SHOWN = re.compile(r"\bfa-([a-z0-9-]+)")


def shown(folder: Path) -> set[str]:
    """Return the names of all icons that pages and scripts ask for."""
    static = folder / "_static"
    files = [*folder.rglob("*.html"), *static.glob("*.js"), *static.glob("scripts/*.js")]
    asking = [file for file in files if file != static / WHERE]
    return {name for file in asking for name in SHOWN.findall(file.read_text(encoding="utf-8"))}


def keep_the_shown(app, error):
    """Write the theme's file without the icons that nobody sees."""
    file = Path(app.outdir, "_static", WHERE)
    if error or not file.exists():
        return
    names = shown(Path(app.outdir))

    def kept(icon):
        return icon[0] if names & {icon[1], *re.findall(r'"([^"]+)"', icon[2])} else ""

    file.write_text(ICON.sub(kept, ALL.read_text(encoding="utf-8")), encoding="utf-8")


def setup(app):
    """Connect the above to Sphinx."""
    app.connect("build-finished", keep_the_shown)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
