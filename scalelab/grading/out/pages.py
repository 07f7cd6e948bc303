"""What our HTML pages have in common: everything that comes from outside is escaped, nothing runs.

Standard library only.
"""

from collections.abc import Container, Iterable
from html import escape

# Even if a tag got through, the browser would load and run nothing.
_HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>
:root {{ color-scheme: light dark; }}
body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem; }}
pre {{ white-space: pre-wrap; overflow-wrap: anywhere; border-left: .2rem solid #8888; padding: .2rem .8rem;
 font: .9rem/1.45 ui-monospace, monospace; }}
pre.report {{ border-color: #36c; }}
h2 {{ margin-top: 2.5rem; border-top: 1px solid #8886; padding-top: .6rem; }}
h2 small {{ float: right; font-weight: normal; }}
table {{ border-collapse: collapse; }} td, th {{ padding: .15rem .7rem; text-align: left; }}
td.n, th.n {{ text-align: right; font-variant-numeric: tabular-nums; }}
tr:nth-child(even) td {{ background: #8881; }}
img {{ max-width: 100%; background: white; }} summary {{ cursor: pointer; }}
</style></head><body>
"""


def page(title: str, *parts: str) -> str:
    """Return a whole page from a plain title and finished parts."""
    return _HEAD.format(title=text(title)) + "\n".join(parts) + "\n</body></html>\n"


def text(value: object) -> str:
    """Escape a value for any place in a page.

    >>> text("<script>")
    '&lt;script&gt;'
    """
    return escape(str(value), quote=True)


def pre(value: object, kind: str = "") -> str:
    """Return a block that keeps its lines."""
    return f'<pre class="{kind}">{text(value)}</pre>' if str(value).strip() else ""


def table(
    head: Iterable[object], rows: Iterable[Iterable[object]], numbers: Container[int] = ()
) -> str:
    """Return a table; `numbers` are the columns that stand to the right."""

    def row(cells, tag):
        made = (
            f"<{tag}{' class=n' if n in numbers else ''}>{text(cell)}</{tag}>"
            for n, cell in enumerate(cells)
        )
        return f"<tr>{''.join(made)}</tr>"

    body = "".join(row(cells, "td") for cells in rows)
    return f"<table><thead>{row(head, 'th')}</thead><tbody>{body}</tbody></table>"
