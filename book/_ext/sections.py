"""The search's own index: what each section says, each definition, and each call of the reference.

Sphinx finds words; a reader looks for the place that explains a thing, and for the sentence around it, and
opens the book from a disk, where a page may fetch nothing. So the texts stand in a script, sections.js, and
_static/search.js ranks them with MiniSearch.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from docutils import nodes
from sphinx import addnodes

SILENT = (nodes.raw, nodes.math_block, nodes.literal_block, nodes.comment, nodes.block_quote)


SIGNS = {
    **{"alpha": "α", "beta": "β", "gamma": "γ", "lambda": "λ", "mu": "µ", "rho": "ρ", "sigma": "σ"},
    **{"times": "×", "cdot": "·", "le": "≤ ", "ge": "≥ ", "approx": "≈ ", "to": "→ ", "infty": "∞"},
    **{"min": "min ", "max": "max ", "log": "log ", "lg": "lg "},
}


class Section(NamedTuple):
    """A heading, its address on the page, the words below it, and what it defines: bold or indexed.

    `formulas` are the labels of those that stand in it; the notation knows their names.
    """

    anchor: str
    heading: str
    text: str
    defined: list[str]
    formulas: list[str]


def sections(doctree: nodes.document) -> Iterator[Section]:
    """Yield what can be found on a page, the page itself first."""
    open_: list[tuple[str, str, list[str], list[str], list[str]]] = []

    def walk(node):
        """Gather words into what is open, and open what has a name of its own."""
        if isinstance(node, nodes.math_block) and node.get("label") and open_:
            open_[-1][4].append(node["label"])
        if isinstance(node, SILENT):
            return
        if isinstance(node, addnodes.index) and open_:
            open_[-1][3].extend(words for _, words, *_ in node["entries"])
        named = _named(node)
        if named:
            open_.append((*named, [], [], []))
            yield from _children(node, walk)
            yield _closed(*open_.pop())
        elif isinstance(node, nodes.TextElement):
            if open_ and not isinstance(node, nodes.title | nodes.term | addnodes.desc_signature):
                words = _words(node)
                open_[-1][2].append("" if words.startswith("Test: test_") else words)
                open_[-1][3].extend(_words(bold) for bold in node.findall(nodes.strong))
        else:
            yield from _children(node, walk)

    yield from sorted(walk(doctree), key=lambda one: one.anchor != "")


def _children(node, walk):
    for child in node.children:
        if isinstance(child, nodes.Element):
            yield from walk(child)


def _named(node):
    """Return address and heading of a section, a definition or a call, or None."""
    if isinstance(node, nodes.section):
        title = node.next_node(nodes.title)
        top = isinstance(node.parent, nodes.document)
        return ("" if top else node["ids"][0], _words(title)) if title else None
    if isinstance(node, nodes.definition_list_item) and (term := node.next_node(nodes.term)):
        return (term["ids"][0], _words(term)) if term["ids"] else None
    if isinstance(node, addnodes.desc) and (signature := node.next_node(addnodes.desc_signature)):
        return (signature["ids"][0], signature.get("fullname", "")) if signature["ids"] else None
    return None


def _words(node):
    texts = [
        _plain(text.astext()) if isinstance(text.parent, nodes.math) else text.astext()
        for text in node.findall(nodes.Text)
        if not isinstance(text.parent, nodes.raw)
    ]
    return re.sub(r"\s+", " ", "".join(texts)).strip()


def _plain(formula):
    r"""Return a short formula as one would type it.

    >>> _plain(r"T(K) \le \frac{T(1)}{K}"), _plain(r"2(K-1)\beta M")
    ('T(K) ≤ T(1)/K', '2(K-1)βM')
    """
    formula = re.sub(r"\\t?frac\{([^{}]*)\}\{([^{}]*)\}", r"\1/\2", formula)
    formula = re.sub(r"\\([a-zA-Z]+) ?", lambda name: SIGNS.get(name[1], ""), formula)
    return re.sub(r"\\[,;! ]", " ", formula).translate(str.maketrans("", "", "{}$\\"))


def _closed(anchor, heading, words, defined, formulas):
    return Section(anchor, heading, " ".join(filter(None, words)), defined, formulas)


def called(doctree: nodes.document) -> dict[str, str]:
    """Return what formulas are called, by label, where a table has a name and then its formula in a row."""
    names = {}
    for row in doctree.findall(nodes.row):
        first, *others = row.children
        name = re.split("[:,]", _words(first))[0]
        for link in (one for other in others for one in other.findall(addnodes.pending_xref)):
            if link.get("reftype") == "eq":
                names[link["reftarget"]] = name
    return names


def keep(app, doctree):
    """Keep what a page says with what Sphinx keeps of it, for builds that do not read it again."""
    if not hasattr(app.env, "scalelab_sections"):
        app.env.scalelab_sections = {}
        app.env.scalelab_called = {}
    app.env.scalelab_sections[app.env.docname] = [*sections(doctree)]
    app.env.scalelab_called[app.env.docname] = called(doctree)


def forget(app, env, docname):
    """Forget a page that is read again, or has gone."""
    getattr(env, "scalelab_sections", {}).pop(docname, None)
    getattr(env, "scalelab_called", {}).pop(docname, None)


def told(found: dict[str, list[Section]], names: dict[str, dict[str, str]]) -> list[list[object]]:
    """Return what the script knows of each section; one with a formula defines what it is called."""
    of = {label: name for page in names.values() for label, name in page.items()}
    return [
        [
            page,
            one.anchor,
            one.heading,
            one.text,
            [*one.defined, *(of[f] for f in one.formulas if f in of)],
        ]
        for page, ones in sorted(found.items())
        for one in ones
    ]


def write(app, fault):
    """Write the texts of all pages into one script."""
    if fault is None and app.builder.format == "html":
        pages = told(app.env.scalelab_sections, app.env.scalelab_called)
        script = f"window.bookSections = {json.dumps(pages, ensure_ascii=False)};\n"
        Path(app.outdir, "_static", "sections.js").write_text(script, encoding="utf-8")


def setup(app):
    """Connect the above to Sphinx."""
    app.connect("doctree-read", keep)
    app.connect("env-purge-doc", forget)
    app.connect("build-finished", write)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
