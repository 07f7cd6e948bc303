"""Pictures that a student pasted into a text: those that may be shown, and none that is not there.

Standard library only.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any

BYTES = 500_000  # of one picture
KINDS = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
_IMAGE = re.compile(r"!\[([^\]\n]*)\]\(\s*<?attachment:([^\s)>]*)>?[^)\n]*\)")


def pictures(answer: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return {name: {kind: base64}} of an answer's attachments that are pictures of a fair size.

    >>> pictures({"attachments": {"a": {"image/svg+xml": "PHN2Zz4="}, "b": {"image/png": "eA=="}}})
    {}
    """
    attachments = answer.get("attachments") or {}
    fair = {
        name: {kind: data for kind, data in kinds.items() if _fair(kind, data)}
        for name, kinds in attachments.items()
        if isinstance(kinds, dict)
    }
    return {name: kinds for name, kinds in fair.items() if kinds}


def without_missing(text: str, names: Mapping[str, Any]) -> str:
    """Return a text without references to pictures that are not there: nbconvert would stop at one.

    >>> without_missing("see ![it](attachment:a.png), ![it](attachment:b.png)", {"a.png": {}})
    'see ![it](attachment:a.png), (picture b.png is missing)'
    >>> without_missing("[1]: attachment:b.png", {"a.png": {}})
    '[1]: attachment :b.png'
    """

    def told(image):
        # What stands in the brackets would be read as Markdown by itself.
        return image[0] if image[2] in names else f"(picture {image[2]} is missing)"

    text = _IMAGE.sub(told, text)
    shown = "|".join(re.escape(name) for name in names)
    there = rf"(?!(?:{shown})[)>\s])" if shown else ""
    return re.sub(rf"attachment(\\*):{there}", r"attachment \1:", text)


def _fair(kind, data):
    if kind not in KINDS or not isinstance(data, str) or len(data) > BYTES * 3 // 2:
        return False
    try:
        found = base64.b64decode("".join(data.split()), validate=True)
    except (ValueError, binascii.Error):
        return False
    return len(found) <= BYTES and found.startswith(KINDS[kind])
