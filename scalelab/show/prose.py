"""Markdown as HTML that runs nothing: formulas stay as they are written."""

import functools
import re

from markupsafe import Markup

# As pandoc reads them: no space inside next to the dollars, so that prices are none.
_FORMULA = re.compile(r"\$\$(?=\S).+?(?<=\S)\$\$|\$(?=[^\s$])[^$\n]*(?<=\S)\$(?!\d)", re.S)
_FOLDED = re.compile(r"<details>.*?</details>", re.S)


def prose(text: str) -> Markup:
    r"""Return Markdown as HTML, without its headings and what is folded in it; HTML in it is escaped.

    >>> str(prose("### 1.1 Task"))
    ''
    >>> str(prose("Let <b>S</b> be $S_1$."))
    '<p>Let &lt;b&gt;S&lt;/b&gt; be <code>$S_1$</code>.</p>\n'
    """
    markdown = _markdown()
    tokens, heading = [], False
    for token in markdown.parse(_FOLDED.sub("", text)):
        heading |= token.type == "heading_open"
        if not heading:
            tokens.append(token)
        heading &= token.type != "heading_close"
    made = markdown.renderer.render(tokens, markdown.options, {})
    return Markup(made)  # noqa: S704  every tag in it is the renderer's own


@functools.cache
def _markdown():
    from markdown_it import MarkdownIt

    made = MarkdownIt("js-default", {"html": False})
    made.inline.ruler.before("escape", "formula", _formula)
    return made


def _formula(state, silent):
    """Read a formula in a line as code."""
    found = _FORMULA.match(state.src, state.pos) if state.src[state.pos] == "$" else None
    if not found:
        return False
    if not silent:
        state.push("code_inline", "code", 0).content = found[0]
    state.pos = found.end()
    return True
