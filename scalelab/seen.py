"""What every result shows of itself: a table in a notebook, and a frame of pandas for whoever wants more.

Standard library only; every layer may import it. The room that writes HTML stands above all others, so
it is asked for by its name, and only when somebody looks.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from scalelab.refusal import Refusal

if TYPE_CHECKING:
    from pandas import DataFrame


class Seen:
    """A result whose `facts` are columns of plain values; its repr is one line."""

    def facts(self) -> Mapping[str, Sequence[object]]:
        """The columns, by their names; times are in seconds."""
        raise NotImplementedError

    def summary(self) -> Mapping[str, Sequence[object]]:
        """The columns that a notebook shows: all, unless they are many."""
        return self.facts()

    def frame(self) -> DataFrame:
        """The facts as a DataFrame."""
        try:
            from pandas import DataFrame
        except ImportError:
            raise Refusal("frame must have pandas, got none: pip install pandas") from None
        return DataFrame({name: list(values) for name, values in self.facts().items()})

    def _repr_html_(self) -> str:
        columns = importlib.import_module("scalelab.show.columns")
        cells = {name: [_cell(one) for one in values] for name, values in self.summary().items()}
        title = repr(self).strip("<>")
        return columns.table(cells, title, stamp=getattr(self, "stamp", None))._repr_html_()


def _cell(value: object) -> object:
    """Return what a cell shows: nothing for what is not known, a word for yes and no."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return value
    return str(value)
