"""Let a wide table be read from top to bottom on a phone: its cells then stand below each other.

A page asks for it by `:::{table}` with `:class: stacked`. Each cell gets the head of its column, which
book.css puts before it where the screen is narrow.
"""

from __future__ import annotations

import html
import re

TABLE = re.compile(r'<table class="[^"]*\bstacked\b.*?</table>', re.DOTALL)
HEAD = re.compile(r"<th\b.*?>(.*?)</th>", re.DOTALL)
ROW = re.compile(r"<tr\b.*?</tr>", re.DOTALL)
TAG = re.compile(r"<[^>]+>")


def name_cells(app, page, template, context, doctree):
    """Give each cell of the stacked tables of a page the head of its column."""
    context["body"] = TABLE.sub(_named, context.get("body", ""))


def _named(table):
    r"""Return a table whose cells know their heads.

    >>> _named(TABLE.search(
    ...     '<table class="stacked table"><tr><th><p>a <b>b</b></p></th></tr>\n<tr><td>1</td></tr></table>'
    ... )).partition("\n")[2]
    '<tr><td data-head="a b">1</td></tr></table>'
    """
    heads = [html.escape(html.unescape(TAG.sub("", head))) for head in HEAD.findall(table[0])]

    def row(found):
        cells = iter(heads)
        return re.sub(r"<td\b", lambda _: f'<td data-head="{next(cells)}"', found[0])

    return ROW.sub(row, table[0])


def setup(app):
    """Connect the above to Sphinx."""
    app.connect("html-page-context", name_cells)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
