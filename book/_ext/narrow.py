"""What a phone must know of a text: which outputs stand in columns, and which number may not stand alone.

It wraps what is printed in sentences, and scrolls what stands in columns.
"""

from __future__ import annotations

import re

from docutils import nodes

APART = re.compile(r"^ +(?=\d)|(?<=\S) {2,}(?=\S)")  # room that puts what follows into a column
WORD = re.compile(r"\S+")
NUMBER = re.compile(r"^(\d+\.) ")  # of a part, which stays beside the first word of its title
LONGEST = (
    80  # letters of a line that may stand in columns; what is longer is a sentence beside a word
)


def in_columns(printed: str) -> bool:
    r"""Whether lines have room that brings words under each other, and no line is longer than these.

    >>> in_columns("ring   1.26 ms\ntree  12.80 ms"), in_columns(" 1 kB is short\n64 kB is not")
    (True, True)
    >>> in_columns("It holds.\nIt does not."), in_columns(" 8 GPUs\n16 GPUs\nThen it takes more.")
    (False, False)
    """
    lines = printed.splitlines()
    rows = [one for one in lines if any(_under(one, by) or _under(by, one) for by in lines)]
    return bool(rows) and max(map(len, lines)) <= min(LONGEST, max(map(len, rows)))


def _under(line, other):
    """Whether room in a line brings all that follows it under words of another."""
    put = [WORD.match(line, room.end()) for room in APART.finditer(line)]
    starts = {word.start() for word in WORD.finditer(other)}
    ends = {word.end() for word in WORD.finditer(other)}
    under = all(word.start() in starts or word.end() in ends for word in put)
    return bool(put) and under and line != other


def mark(app, doctree):
    """Give what stands in columns a class; hold the number of a part to the first word of its title."""
    for block in doctree.findall(nodes.literal_block):
        if "output" in block["classes"] and in_columns(block.astext()):
            block["classes"].append("columns")
    for title in doctree.findall(nodes.title):
        for text in title.findall(nodes.Text):
            held = NUMBER.sub("\\1\xa0", text)
            if held != text:
                text.parent.replace(text, nodes.Text(held))


def setup(app):
    """Connect the above to Sphinx."""
    # Before the search reads the titles.
    app.connect("doctree-read", mark, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
