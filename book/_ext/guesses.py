"""Give each box that asks for a guess the name of its cell: `guess.js` keeps what a reader types under it.

A cell's name stays when cells are added before it or its text is mended, and so does the guess.
On a page that is no notebook the box brings its own `:name:`.
"""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
from docutils import nodes

ASKED = re.compile(r"^:class: guess$", re.MULTILINE)


def name_boxes(app, doctree):
    """Do so on the page that was just read."""
    source = Path(app.env.doc2path(app.env.docname))
    if source.suffix != ".ipynb":
        return
    boxes = [box for box in doctree.findall(nodes.admonition) if "guess" in box["classes"]]
    cells = nbformat.read(source, as_version=4).cells
    asking = [one.id for one in cells if one.cell_type == "markdown" and ASKED.search(one.source)]
    for box, cell in zip(boxes, asking, strict=True):
        box["ids"] = [cell]


def setup(app):
    """Connect it to Sphinx."""
    app.add_js_file("guess.js", loading_method="defer")
    app.connect("doctree-read", name_boxes)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
