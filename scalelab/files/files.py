"""Files of unknown origin: read at most so much, and name file and place of what is wrong.

Everything that is not as expected becomes a Refusal of one sentence, whatever Python made of it.
"""

import gzip
import json
import zlib
from pathlib import Path
from typing import Any

from scalelab import records, units
from scalelab.arguments import shown
from scalelab.refusal import Refusal

# Far more than a table or a record needs; a small file can unpack to a thousand times its size.
MOST = 2**26


def text(path: str | Path, most: int = MOST) -> str:
    """Return the text of a file, unpacked if it is gzip: at most this many bytes.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "zeros.gz").write_bytes(gzip.compress(b"0" * 1000))
    ...     len(text(Path(folder, "zeros.gz")))
    1000
    """
    return decoded(path, content(path, most), most)


def content(path: str | Path, most: int = MOST) -> bytes:
    """Return the bytes of a file, unpacked if it is gzip: one more than this many at most."""
    known = _path(path)
    try:
        with known.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            with gzip.GzipFile(fileobj=file) if packed else file as stream:
                return stream.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        cause = getattr(error, "strerror", None) or str(error) or "an error"
        kind, remedy = "can be read to its end", "check the path, or fetch the file again"
        if isinstance(error, FileNotFoundError):
            kind, remedy = "is there", "check its name and the folder you are in"
        raise Refusal(f"{known} must be a file that {kind}, got {shown(cause)}: {remedy}") from None


def decoded(path: str | Path, raw: bytes, most: int = MOST) -> str:
    """Return the text of bytes that are here already, such as those of standard input."""
    if len(raw) > most:
        raise Refusal(
            f"{path} must hold at most {units.text(most, 'B', binary=True)}, got more: "
            "cut it down to what is needed"
        )
    wide = raw[:2] in (b"\xff\xfe", b"\xfe\xff")  # as Excel writes "Unicode text"
    try:
        return raw.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        remedy = "save it as UTF-8 text or CSV"
        raise wrong(
            path, f"byte {error.start + 1}", "be UTF-8 text", raw[error.start], remedy
        ) from None


def parsed(path: str | Path, most: int = MOST) -> Any:
    """Return what the JSON file holds, with control characters in strings as some tools leave them."""
    return loaded(path, text(path, most))


def loaded(path: str | Path, content: str, once: bool = False) -> Any:
    """Return what JSON text means; the path is for the words. With `once`, no key may stand twice."""
    try:
        return json.loads(content, strict=False, object_pairs_hook=_once if once else None)
    except _TwiceError as error:
        raise wrong(
            path, "", "have each key once in an object", error.args[0], "leave one of the two"
        ) from None
    except json.JSONDecodeError as error:
        place, given = f"line {error.lineno} column {error.colno}", content[error.pos :][:20]
        raise wrong(path, place, "continue as JSON", given or "the end", "is it cut off?") from None
    except RecursionError:
        raise wrong(
            path, "", "be JSON of a few levels", "brackets in brackets", "is it what you meant?"
        ) from None
    except ValueError as error:  # an integer of thousands of digits
        raise wrong(path, "", "hold numbers that fit", str(error), "look for digits") from None


class _TwiceError(Exception):
    """A key that stands twice in one object of JSON."""


def _once(pairs):
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        raise _TwiceError(next(name for name in names if names.count(name) > 1))
    return made


def record(path: str | Path, content: str | None = None) -> records.Record:
    """Return the record that a file holds, or its content if that is here already."""
    content = text(path) if content is None else content
    loaded(path, content)  # or what was cut off is refused as another kind of record
    try:
        return records.from_json(content)
    except Refusal as error:
        raise Refusal(f"{path}: {error}") from None


def wrong(path: str | Path, place: str, expected: str, given: object, remedy: str) -> Refusal:
    """Return the error that names file and place: what was expected, what was given, what to do."""
    place = f"{Path(path)} {place}".strip()
    return Refusal(f"{place} must {expected}, got {shown(given)}: {remedy}")


def _path(given):
    if isinstance(given, str) and not given:
        raise Refusal("FILE must be the name of a file, got '': is a variable empty?")
    try:
        path = Path(given)
        # A pipe or a device has no end to wait for.
        special = path.exists() and not (path.is_file() or path.is_dir())
    except (TypeError, ValueError, OSError):
        path, special = given, True
    if "\0" in str(path):
        raise Refusal(
            f"{shown(given)} must be the path of a file, got a name with a zero byte: check it"
        )
    if special:
        kind = "a pipe or a device" if isinstance(path, Path) else type(given).__name__
        raise Refusal(f"{given} must be the path of a file, got {kind}: check it")
    return path
