"""What a cell showed, and how it ended, as bounded, clean text and pictures.

A student's process may have sent anything. Standard library only.
"""

import re
from collections.abc import Mapping
from typing import Any

from scalelab.grading.box import wire

LETTERS, PICTURES, PICTURE = 10_000, 4, 400_000  # kept of what one cell shows
Shown = dict[str, Any]  # text, pictures as PNG in base64, error as [name, message, line] or None
_NOTHING: Shown = {"text": "", "pictures": [], "error": None}


def stopped(name: str, message: str) -> Shown:
    """Return what is known of a cell that did not come to its end."""
    return {**_NOTHING, "error": [name, message, None]}


def cleaned(transcript: Mapping[str, Any]) -> Shown:
    """Return what a cell showed as bounded, clean text and pictures."""
    error = transcript.get("error")
    error = error if isinstance(error, list) and len(error) == 3 else None
    if error:
        line = error[2] if isinstance(error[2], int) else None
        error = [_text(error[0], 80), _text(error[1], 300), line]
    outputs = transcript.get("shown")
    outputs = outputs if isinstance(outputs, list) else []
    pairs = [p for p in outputs[:20] if isinstance(p, list) and len(p) == 2]
    texts = [
        _text(transcript.get("text"), LETTERS),
        *(_text(t, LETTERS) for k, t in pairs if k == "text"),
    ]
    pictures = [p for k, p in pairs if k == "png" and isinstance(p, str) and _png(p)]
    return {
        "text": "\n".join(t for t in texts if t)[:LETTERS],
        "pictures": pictures[:PICTURES],
        "error": error,
    }


def _png(text):
    return len(text) <= PICTURE and re.fullmatch(r"iVBORw0KGgo[A-Za-z0-9+/]+={0,2}", text)


def _text(value, most):
    """Return clean text without addresses, which no two runs have in common."""
    value = value if isinstance(value, str) else ""
    return re.sub(r"\b0x[0-9a-f]{6,16}\b", "0x…", wire.clean(value[:most]))
