"""What a phone must know of a text: which outputs stand in columns, and what may not begin a line.

That is the dot before a level. It wraps what is printed in sentences, and scrolls what stands in columns.
"""

from __future__ import annotations

import re

from docutils import nodes

APART = re.compile(r"\S {2,}\S")
LONGEST = (
    80  # letters of a line that may stand in columns; what is longer is a sentence beside a word
)


def in_columns(printed: str) -> bool:
    r"""Whether two lines or more have room between words, and none is as long as a sentence.

    >>> in_columns("ring   1.26 ms\ntree  12.80 ms"), in_columns("It holds.\nIt does not.")
    (True, False)
    """
    lines = printed.splitlines()
    return sum(map(bool, map(APART.search, lines))) > 1 and max(map(len, lines)) <= LONGEST


def mark(app, doctree):
    """Give what stands in columns a class of its own, and hold the dot of a level beside the word before."""
    for block in doctree.findall(nodes.literal_block):
        if "output" in block["classes"] and in_columns(block.astext()):
            block["classes"].append("columns")
    for title in doctree.findall(nodes.title):
        for text in title.findall(nodes.Text):
            if text.endswith(" · "):
                text.parent.replace(text, nodes.Text(f"{text[:-3]}\xa0· "))


def setup(app):
    """Connect the above to Sphinx."""
    # Before the search reads the titles.
    app.connect("doctree-read", mark, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
