"""Pages and tables of plain text: HTML that runs nothing, whatever got into it."""

from collections.abc import Container, Iterable
from html import escape

from scalelab.show.page import whole

_STYLE = """body { max-width: 50rem; overflow-wrap: break-word; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; border-left: .2rem solid #8888; padding: .2rem .8rem;
 font: .9rem/1.45 ui-monospace, monospace; }
pre.report { border-color: #36c; }
h2 { margin-top: 2.5rem; border-top: 1px solid #8886; padding-top: .6rem; }
h2 small { float: right; font-weight: normal; }
.wide { overflow-x: auto; }
.asked { border-left: .2rem solid #8884; padding: 0 .8rem; overflow-wrap: anywhere;
 overflow-x: auto; }
table { border-collapse: collapse; } td, th { padding: .15rem .7rem; text-align: left; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
tr:nth-child(even) td { background: #8881; }
.bars { width: 100%; max-width: 26rem; fill: currentColor; font-size: 10px; } .bars rect { fill: #36c; }
img { max-width: 100%; background: white; } summary { cursor: pointer; }
"""


def page(title: str, *parts: str) -> str:
    """Return a whole page from a plain title and finished parts; it runs nothing, whatever got into it."""
    return whole(title, "\n".join(parts), _STYLE, scripts=False)


class Finished(str):
    """HTML that is finished: `text` leaves it as it is."""


def text(value: object) -> str:
    """Escape a value for any place in a page.

    >>> text("<script>")
    '&lt;script&gt;'
    """
    return value if isinstance(value, Finished) else escape(str(value), quote=True)


def link(address: str, words: object) -> Finished:
    """Return a link to another place of our pages."""
    return Finished(f'<a href="{escape(address, quote=True)}">{text(words)}</a>')


def pre(value: object, kind: str = "") -> str:
    """Return a block that keeps its lines."""
    return f'<pre class="{kind}">{text(value)}</pre>' if str(value).strip() else ""


def table(
    head: Iterable[object], rows: Iterable[Iterable[object]], numbers: Container[int] = ()
) -> str:
    """Return a table that scrolls where it is too wide; `numbers` are the columns to the right."""

    def row(cells, tag):
        made = (
            f"<{tag}{' class=n' if n in numbers else ''}>{text(cell)}</{tag}>"
            for n, cell in enumerate(cells)
        )
        return f"<tr>{''.join(made)}</tr>"

    body = "".join(row(cells, "td") for cells in rows)
    made = f"<table><thead>{row(head, 'th')}</thead><tbody>{body}</tbody></table>"
    return f'<div class="wide" tabindex="0">{made}</div>'
