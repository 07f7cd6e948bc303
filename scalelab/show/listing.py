"""The real source of a function, on the page that explains it."""

from __future__ import annotations

import inspect
from pathlib import Path

from scalelab.refusal import Refusal


class Source:
    """The text of a function as it stands in the package, highlighted where it is shown."""

    def __init__(self, text: str, where: str) -> None:
        self.text, self.where = text, where

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        return {
            "text/markdown": f"```python\n{self.text}```\n\nFrom `{self.where}`.\n",
            "text/plain": f"{self.text}\n# {self.where}",
        }


def source(function) -> Source:
    """Return the source of a function of `scalelab`, with the file and line where it stands."""
    try:
        lines, first = inspect.getsourcelines(inspect.unwrap(function))
        file = Path(inspect.getsourcefile(inspect.unwrap(function)))
    except (TypeError, OSError) as fault:
        raise Refusal(
            f"source needs a function or class written in Python, got {function!r}: {fault}"
        ) from None
    parts = file.parts
    inside = (
        parts[len(parts) - 1 - parts[::-1].index("scalelab") :]
        if "scalelab" in parts
        else parts[-1:]
    )
    return Source("".join(lines), f"{'/'.join(inside)}, line {first}")
