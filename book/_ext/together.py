"""Keep on one line what is read as one: a number and its unit, a part or a correction and its number, a
formula and the comma after it, a dot and the level behind it that ends a heading.

Code that has to break does so after its punctuation, inside a name only if that is very long, and a path
between its folders; a short piece of it stays whole.
"""

from __future__ import annotations

import re
from itertools import pairwise

from docutils import nodes

UNITS = (
    "%|[kMGTPµmn]?(?:s|B/s|B|W|J|Wh|FLOP/s|FLOP|bit/s|Hz)|[KMGT]iB(?:/s)?|min|h|d|t|[kMG]?FLOPs|×"
)
SPACE = re.compile(
    rf"(?<=\d) (?=(?:{UNITS})(?![\w/]))|(?:(?<=\b[Pp]art)|(?<=\b[Cc]orrection)) (?=\d)"
)
VERBATIM = (nodes.literal, nodes.FixedTextElement, nodes.math, nodes.math_block, nodes.raw)
CODE = re.compile(r'<span class="pre">([^<]+)</span>')  # of what is code among the text
SHORT, OPTION = 18, 24  # letters of code, and of an option, that fit on the next line
# Not after a single letter, as in c.Plugin, nor before the ending of a file.
INSIDE = re.compile(r"(?<=[\w)\]]{2})([.,/=(\[])(?=[^\W\d])(?!(?<=\.)[a-z]{1,5}$)")
# A name breaks between its words only where it is longer than that, which no narrow column holds.
NAME, WORDS = re.compile(rf"\w{{{OPTION + 1},}}"), re.compile(r"(?<=\w{2})(_)(?=[^\W\d])")
PATH, FOLDER = re.compile(r"[\w.…-]*/[\w./-]*"), re.compile(r"(/)(?=\w)")
BEFORE, AFTER = re.compile(r"[(\[“]+$"), re.compile(r"^[^\s\w(\[“][^\s]{0,9}(?!\S)")


def join_units(doctree):
    """Put a space that does not break before a unit, and before the number of a part or of a correction."""
    for text in list(doctree.findall(nodes.Text)):
        joined = SPACE.sub("\u00a0", text)
        if joined != text and not isinstance(text.parent, VERBATIM):
            text.parent[_place(text)] = nodes.Text(joined)


def join_levels(doctree):
    """Put such a space between the dot that ends a heading and the level of its part."""
    for title in doctree.findall(nodes.title):
        for dot, level in pairwise(list(title)):
            if isinstance(level, nodes.emphasis) and dot.astext().endswith("· "):
                title[_place(dot)] = nodes.Text(f"{dot.astext()[:-1]}\u00a0")


def _place(node):
    """Where a node stands among its siblings: docutils takes the first that is equal."""
    return next(at for at, one in enumerate(node.parent) if one is node)


def join_formulas(doctree):
    """Wrap a formula with the punctuation that touches it: a browser may break a line beside any formula."""
    for formula in list(doctree.findall(nodes.math)):
        parent, at = formula.parent, _place(formula)
        if isinstance(parent, nodes.title):  # goes into lists of contents as it is
            continue
        near = [parent[i] if 0 <= i < len(parent) else None for i in (at - 1, at + 1)]
        marks = [
            pattern.search(neighbour) if isinstance(neighbour, nodes.Text) else None
            for pattern, neighbour in zip((BEFORE, AFTER), near, strict=True)
        ]
        if not any(marks):
            continue
        joined = [formula]
        if marks[1]:
            joined.append(nodes.Text(marks[1].group()))
            parent[at + 1] = nodes.Text(near[1][marks[1].end() :])
        if marks[0]:
            joined.insert(0, nodes.Text(marks[0].group()))
            parent[at - 1] = nodes.Text(near[0][: marks[0].start()])
        parent[at] = nodes.inline("", "", *joined, classes=["together"])


def join_words(doctree):
    """Keep a short piece of code whole that has several words, such as a command and its verb."""
    for code in doctree.findall(nodes.literal):
        if " " in code.astext() and len(code.astext()) <= SHORT:
            code["classes"].append("together")


def offer_breaks(app, page, template, context, doctree):
    """Let a line break after the punctuation of code: the marks that say so are not copied with it."""
    context["body"] = CODE.sub(_broken, context.get("body", ""))


def _broken(code):
    whole, kept = code[1], ""
    if len(whole) > (OPTION if whole.startswith("--") else SHORT):
        whole = (FOLDER if PATH.fullmatch(whole) else INSIDE).sub(r"\1<wbr>", whole)
        whole = NAME.sub(lambda name: WORDS.sub(r"\1<wbr>", name[0]), whole)
    elif "-" in whole:  # a browser breaks after any hyphen, also after that of an option
        kept = " together"
    return f'<span class="pre{kept}">{whole}</span>'


def keep_together(app, doctree):
    """Do all four, on every page."""
    join_units(doctree)
    join_levels(doctree)
    join_formulas(doctree)
    join_words(doctree)


def setup(app):
    """Connect the above to Sphinx."""
    app.connect("doctree-read", keep_together)
    app.connect("html-page-context", offer_breaks)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
