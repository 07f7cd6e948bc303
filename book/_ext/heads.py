"""Keep the head of a column from being torn on a phone, where each of its words would get a line.

A long head breaks once, near its middle, and the sign of the dollar stays beside the word before it. That is
so where the screen is narrow, says book.css.
"""

from __future__ import annotations

import re

HEADS = re.compile(r"<thead>.*?</thead>", re.DOTALL)
HEAD = re.compile(r"(<th\b[^>]*>(?:<p>)?)(.*?)((?:</p>)?</th>)", re.DOTALL)
WORD = re.compile(r"(?:<(\w+)\b[^>]*>.*?</\1>|[^\s<])+(?:</\w+>)*", re.DOTALL)
TAG = re.compile(r"<[^>]+>")
WRITTEN = "<p>"  # in a head that somebody wrote; what a cell computed has none, and has less room
LONG = range(4, 7)  # words of a head that is long; one of more is a sentence, and has a wide column
UNIT = re.compile(r"(\S+,) (\$)$")


def hold(app, page, template, context, doctree):
    """Do it to the tables of a page."""
    context["body"] = HEADS.sub(_held, context.get("body", ""))


def _held(heads):
    """Return the heads of a table, with what stays together marked.

    >>> print(_held(HEADS.match("<thead><th>bill, $</th></thead>")))
    <thead><th><span class="held">bill, $</span></th></thead>
    >>> print(_held(HEADS.match("<thead><th><p>as you like it</p></th></thead>")))
    <thead><th><p><span class="held">as you</span> <span class="held">like it</span></p></th></thead>
    """

    def one(head):
        words = [word[0] for word in WORD.finditer(head[2])]
        if WRITTEN in head[1] and len(words) in LONG:
            return f"{head[1]}{_in_two(words)}{head[3]}"
        return head[1] + UNIT.sub(_span(r"\1 \2"), head[2]) + head[3]

    return HEAD.sub(one, heads[0])


def _in_two(words):
    """Return the words in two halves, the longer of which is as short as it can be."""
    cuts = [(words[:at], words[at:]) for at in range(1, len(words))]
    return " ".join(
        _span(" ".join(half)) for half in min(cuts, key=lambda cut: max(map(_long, cut)))
    )


def _span(words):
    return f'<span class="held">{words}</span>'


def _long(words):
    return len(TAG.sub("", " ".join(words)))


def setup(app):
    """Connect the above to Sphinx."""
    app.connect("html-page-context", hold)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
