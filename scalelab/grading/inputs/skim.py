"""A notebook without its outputs, cut out of its bytes before anything is made of them.

A megabyte of JSON can become thirty of Python objects, and outputs are nearly all of a large notebook:
so they never become any. Standard library only.
"""

import re

TOKENS = 10_000_000  # texts and brackets that are looked at: some seconds
BYTES = 8_000_000  # of a notebook without its outputs
ATTACHED = 2_000_000  # of the pictures that are pasted into its texts, all together
_ATTACHMENTS = b'"attachments"'
_BULKY = {b'"outputs"': b"[]", _ATTACHMENTS: b"{}", b'"widgets"': b"{}"}
_LONGEST = max(map(len, _BULKY))
# A text, to its end or that of the bytes, or a bracket. Nothing is tried twice, and no possessive group fails
# once it has begun: before Python 3.11.5 it would go on at the wrong place.
_NEXT = re.compile(rb'"[^"\\]*+(?:\\.?+[^"\\]*+)*+"?+|[][{}]', re.DOTALL)
_OPENS = re.compile(rb"\s*:\s*(?=[\[{])")


def without_outputs(data: bytes | bytearray) -> bytes:
    r"""Return the bytes of a notebook with nothing in its outputs and widgets, and few attachments.

    >>> without_outputs(b'{"outputs": [{"text": "]"}], "source": "\\"outputs\\": [1]"}')
    b'{"outputs": [], "source": "\\"outputs\\": [1]"}'
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return bytes(data[: BYTES + 1])  # UTF-16, which has other brackets
    whole = memoryview(data)  # whose parts are no copies
    parts: list[bytes | memoryview] = []
    start, depth, cutting, key, room = 0, 0, -1, b"", ATTACHED
    for count, match in enumerate(_NEXT.finditer(data)):
        short = match.end() - match.start() <= _LONGEST
        token = match[0] if short else b""  # no copy of a long text
        if count == TOKENS:
            cutting = -1  # the rest stays, and is too large
            break
        if token in (b"[", b"{"):
            depth += 1
        elif token in (b"]", b"}"):
            depth -= 1
            if depth == cutting:
                size = match.end() - start
                if key == _ATTACHMENTS and size <= room:
                    room -= size
                    parts[-1] = whole[start : match.end()]
                start, cutting = match.end(), -1
        elif token in _BULKY and cutting < 0:
            opens = _OPENS.match(data, match.end())
            if opens:
                parts += [whole[start : opens.end()], _BULKY[token]]
                start, cutting, key = opens.end(), depth, token
    if cutting < 0:  # else it is cut off within an output, and so it stays
        parts.append(whole[start:])
    if sum(map(len, parts)) > BYTES:
        parts = [whole[: BYTES + 1]]
    return b"".join(parts)
