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
    **{"kappa": "κ", "tau": "τ", "delta": "δ"},
    **{"times": "×", "cdot": "·", "le": "≤ ", "ge": "≥ ", "approx": "≈ ", "to": "→ ", "infty": "∞"},
    **{"min": "min ", "max": "max ", "lim": "lim ", "log": "log ", "ln": "ln ", "lg": "lg "},
}
HELD = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}"  # in braces, which may hold braces twice more
FRACTION = re.compile(rf"\\[dt]?frac({HELD}|\d)({HELD}|\d)")
# What a stroke divides by as it stands: a number, or one sign and what it has below it and in brackets.
ONE = re.compile(
    rf"(?:\d[\d.]*|[A-Za-z]|\\text{HELD}|\\[a-z]+)(?:_(?:\w|\\[a-z]+|{HELD}))?(?:\([^()]*\))?"
)
INSIDE = re.compile(rf"{HELD}|\([^()]*\)")
# What is multiplied with a fraction by standing beside it.
BEFORE = re.compile(r"(?:\d|[)}]|(?<![\\A-Za-z])[A-Za-z])$")
AFTER = re.compile(r"\s*(?:\\,\s*)?(?=[\w(]|\\(?:alpha|beta|gamma|log|ln)(?![a-z]))")


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
        if title is None or len(_words(title)) == 1:  # a letter only sorts what stands under it
            return None
        return "" if top else node["ids"][0], _words(title)
    if isinstance(node, nodes.definition_list_item) and (term := node.next_node(nodes.term)):
        return (term["ids"][0], _words(term)) if term["ids"] else None
    if isinstance(node, addnodes.desc) and (signature := node.next_node(addnodes.desc_signature)):
        return (signature["ids"][0], signature.get("fullname", "")) if signature["ids"] else None
    return None


def _words(node):
    texts = [_said(text) for text in node.findall(nodes.Text)]
    return re.sub(r"\s+", " ", re.sub(r"\s*\0", "", "".join(texts))).strip()


def _said(text):
    """Return a piece of text in letters; a NUL takes the place of what goes with the space before it."""
    if isinstance(text.parent, nodes.raw):
        return ""
    if isinstance(text.parent, nodes.math):
        return _plain(text.astext())
    cites = text.parent.parent
    if isinstance(cites, addnodes.pending_xref) and cites.get("refdomain") == "cite":
        return cites.get("authors", "\0")
    return text.astext()


def _plain(formula):
    r"""Return a short formula as one would type it.

    >>> _plain(r"T(K) \le \frac{T(1)}{K}"), _plain(r"2(K-1)\beta M")
    ('T(K) ≤ T(1)/K', '2(K-1)βM')
    >>> _plain(r"2\frac{N-1}{N}"), _plain(r"2\dfrac{15}{16} M"), _plain(r"\frac{T(1)}{K\,T(K)}")
    ('2(N-1)/N', '2 · 15/16 · M', 'T(1)/(K T(K))')
    """
    while found := [*FRACTION.finditer(formula)]:  # the last one first, as it may stand in another
        formula = _divided(formula, found[-1])
    formula = re.sub(r"\^\{([^{}]*[-+/ ][^{}]*)\}", r"^(\1)", formula)
    formula = re.sub(
        r"\\([a-zA-Z]+)(?: (?![-+=<>]))?", lambda name: SIGNS.get(name[1], ""), formula
    )
    formula = re.sub(r"\\[,;! ]", " ", formula).translate(str.maketrans("", "", "{}$\\"))
    formula = re.sub(r"\s*([×·])\s*", r" \1 ", formula.replace(" _", "_"))
    return re.sub(r" +", " ", formula).strip()


def _divided(formula, fraction):
    """Return the formula with this fraction on one line, in brackets where it would be read as another."""
    before, after = formula[: fraction.start()], formula[fraction.end() :]
    top, bottom = (re.sub(r"^\{(.*)\}$", r"\1", part) for part in fraction.groups())
    if re.search("[-+]", INSIDE.sub("", top)):
        top = f"({top})"
    elif BEFORE.search(before):
        top = rf" \cdot {top}"
    if not ONE.fullmatch(bottom):
        bottom = f"({bottom})"
    if beside := AFTER.match(after):
        after = rf" \cdot {after[beside.end() :]}"
    before = re.sub(r"(\\[A-Za-z]+)$", r"\1 ", before)
    return f"{before}{top}/{bottom}{after}"


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


def credit(env, doctree):
    """Give each citation that is part of a sentence the names that it will have there, in place of a key."""
    entries = env.get_domain("cite").bibdata.data.entries
    for one in doctree.findall(addnodes.pending_xref):
        if one.get("refdomain") == "cite" and one["reftype"] == "t":
            keys = one["reftarget"].split(",")
            one["authors"] = ", ".join(_authors(entries[key]) for key in keys if key in entries)


def _authors(entry):
    first, *others = (
        "".join(map(str, one.rich_prelast_names + one.rich_last_names))
        for one in entry.persons["author"]
    )
    more = f" and {others[0]}" if len(others) == 1 else " et al." if others else ""
    year = f" [{entry.fields['year']}]" if "year" in entry.fields else ""
    return f"{first}{more}{year}"


def keep(app, doctree):
    """Keep what a page says with what Sphinx keeps of it, for builds that do not read it again."""
    if not hasattr(app.env, "scalelab_sections"):
        app.env.scalelab_sections = {}
        app.env.scalelab_called = {}
    credit(app.env, doctree)
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
