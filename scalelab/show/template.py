"""HTML from templates: whatever is put into one is escaped, unless it is Markup already.

What several pages have is in `templates/`; a page of another room is beside the module that fills it.
A fragment of one line is a `Markup("...{}").format(...)` where it is needed, which escapes as well. So text
from a student, a table or a user's file cannot become a tag, whoever forgets what.
"""

from __future__ import annotations

import functools
from importlib import resources
from typing import TYPE_CHECKING

from markupsafe import Markup

if TYPE_CHECKING:
    from jinja2 import Environment


def rendered(name: str, /, **values: object) -> Markup:
    """Return a template with its values in it; a value that is missing is a fault and no empty place.

    A name with folders counts from the package, any other is one of `templates/`.
    """
    return Markup(_environment().get_template(name).render(values))  # noqa: S704  it has escaped them


@functools.cache
def asset(name: str) -> Markup:
    """Return a style or a script of ours as it stands, to travel inside a page."""
    return Markup(_text(name))  # noqa: S704  nobody else writes into it


def with_one_style(page: str) -> str:
    """Return a page, or a part of one, with the figures' style once: each brings its own, to stand alone.

    It stands in the head of a page and before a part, where nothing that a figure loses takes it along.

    >>> style = f"<style>{asset('figure.css')}</style>"
    >>> with_one_style(f"<p>{style}<p>{style}") == f"{style}<p><p>"
    True
    >>> with_one_style(f"<head></head><p>{style}") == f"<head>{style}</head><p>"
    True
    """
    style = str(Markup("<style>{}</style>").format(asset("figure.css")))
    bare = page.replace(style, "")
    if bare == page:
        return page
    head, end, body = bare.rpartition("</head>")
    return f"{head}{style}{end}{body}"


def link(address: str, words: object) -> Markup:
    """Return a link to another place of our pages.

    >>> print(link("#a", "<b>"))
    <a href="#a">&lt;b&gt;</a>
    """
    return Markup('<a href="{}">{}</a>').format(address, words)


@functools.cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    from scalelab.show import draw

    made = Environment(
        loader=FunctionLoader(_text),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.globals["asset"] = asset
    made.globals["colours"] = [(name, draw.LIGHT[name], draw.DARK[name]) for name in draw.LIGHT]
    made.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "ensure_ascii": False}
    return made


def _text(name):
    place = name if "/" in name else f"show/templates/{name}"
    return (resources.files("scalelab") / place).read_text(encoding="utf-8")
