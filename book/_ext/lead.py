"""What stands before a page: its description, for those who link to it, who wrote it, how long it takes, and
how many of its figures follow the reader's hardware.

`progress.js` shows how far one is and which device was named, and offers to go on where a chapter was left.
"""

from __future__ import annotations

import re

from markupsafe import escape

from scalelab import units

WORDS_A_MINUTE = 200  # of a text that one thinks about
SHORTEST, LONGEST = 60, 200  # letters of a description


def description(text: str) -> str:
    """Return the first sentences of a page, as many as a description may hold.

    >>> description("The question. You doubled the machines. How much sooner does the job end?")
    'You doubled the machines. How much sooner does the job end?'
    """
    told = ""
    for sentence in re.split(r"(?<=[.?!])\s+", text.removeprefix("The question. ")):
        longer = f"{told} {sentence}".strip()
        if len(longer) > LONGEST:
            cut = f"{longer[: longer.rfind(' ', 0, LONGEST)]}…"
            return told if len(told) > SHORTEST else cut
        told = longer
    return told


def minutes(words: int) -> int:
    """Return how long so many words take, to five minutes.

    >>> minutes(5_100), minutes(90)
    (25, 5)
    """
    return max(5, 5 * round(words / WORDS_A_MINUTE / 5))


def beside(context):
    """Return how many figures stand beside the words, and of how many the reader's hardware is the start."""
    figures = context["body"].split('<figure class="sl-figure')[1:]
    count = sum("data-follows=" in one for one in figures)
    told = f", not counting code and {units.counted(len(figures), 'figure')}"
    if not count:
        return told
    way = context["pathto"]("book/my_hardware")
    return (
        f"{told}, of which {count} can start from "
        f'<a class="book-mine" href="{way}">your hardware</a>'
    )


def tell(app, page, template, context, doctree):
    """Put the description into the head of a page, and a line under the title of the book or of a chapter."""
    found = getattr(app.env, "scalelab_sections", {}).get(page)
    if not found:
        return
    told = escape(description(found[0].text))
    context["metatags"] = f'{context.get("metatags", "")}<meta name="description" content="{told}">'
    if page == app.config.root_doc:
        said = f"{app.config.author}, {app.config.copyright}"
    elif page.startswith("chapters/"):
        words = sum(len(one.text.split()) for one in found)
        said = f"About {minutes(words)} minutes to read{beside(context)}"
    else:
        return
    line = f'</h1>\n<p class="book-time">{said}</p>'
    context["body"] = context["body"].replace("</h1>", line, 1)


def setup(app):
    """Connect the above to Sphinx."""
    app.add_js_file("store.js", priority=100)  # before all that asks for what is kept
    app.add_js_file("progress.js", loading_method="defer")
    app.connect("html-page-context", tell)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
