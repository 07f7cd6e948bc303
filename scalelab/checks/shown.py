"""How a verdict is shown: a block with a mark for each part in a notebook, plain text elsewhere.

Standard library only; knows IPython only where a notebook has imported it.
"""

import sys
from html import escape

from scalelab.checks.report import MISSING, READABLE, RIGHT, WRONG

# Marks that read without colour; colours that read on light and dark.
_MARKS = {
    RIGHT: ("✓", "#1e8f5e"),
    WRONG: ("✗", "#d1522b"),
    READABLE: ("◔", "#8a7a1f"),
    MISSING: ("○", "#7d8590"),
}


class Points(float):
    """Points as stock nbgrader reads them, of which a notebook shows nothing: the verdict has said it."""

    def _repr_html_(self) -> str:
        return ""


def show(text: str, html: str) -> None:
    """Show a text: its HTML where a notebook's own output takes it, else itself."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    # Where somebody reads along what is printed, as a grader does, it is printed.
    if shell is None or not type(sys.stdout).__module__.startswith("ipykernel"):
        print(text)
        return
    from IPython.display import display

    display({"text/plain": text, "text/html": html}, raw=True)


def block(title: str, rows: list[tuple[str, str, str]], more: str = "") -> str:
    """Return rows of (state, what it is about, what is said) as HTML, under a title.

    >>> "<b>Task 1</b>" in block("Task 1", [(RIGHT, "half", "")])
    True
    """
    edge = _MARKS[_worst(state for state, *_ in rows)][1]
    items = "".join(
        f'<div style="padding-left:1.6em;text-indent:-1.6em;margin:.15em 0">'
        f'<span style="color:{_MARKS[state][1]};font-weight:700;display:inline-block;width:1.6em;'
        f'text-indent:0" title="{state}">{_MARKS[state][0]}</span>'
        f"<b>{escape(about)}</b> {escape(state)}{escape(f': {said}' if said else '')}</div>"
        for state, about, said in rows
    )
    end = f'<div style="opacity:.75;margin-top:.3em">{escape(more)}</div>' if more else ""
    return (
        f'<div style="border-left:.3em solid {edge};padding:.2em .9em;line-height:1.5;max-width:48em">'
        f"<div><b>{escape(title)}</b></div>{items}{end}</div>"
    )


def _worst(states):
    order = (WRONG, MISSING, READABLE, RIGHT)
    return min(states, key=order.index, default=RIGHT)
