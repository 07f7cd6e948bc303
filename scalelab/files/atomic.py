"""Files that are whole at any moment: what was measured or graded survives Ctrl-C, and a kill.

Every time one is written anew beside the old file and then put in its place. Reading: `formats.read`.
"""

import contextlib
import errno
import os
import threading
from pathlib import Path

from scalelab import records
from scalelab.arguments import shown
from scalelab.files import spreadsheet
from scalelab.refusal import Failure, Refusal

UNFINISHED = ".new"  # how a file ends that was being written when its writer was killed
_THE_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EIO}  # no other name would be better


def write(path: str | Path, record: records.Record) -> None:
    """Put a record into a file, on the disk before this returns; a kill leaves the old or the new one.

    As JSON; a Recording as CSV where the name ends so. Section 3.1.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "host.json")
    ...     write(file, records.Machine("laptop", cores=4))
    ...     records.from_json(file.read_text()).name
    'laptop'
    """
    if isinstance(record, records.Recording) and str(path).endswith(".csv"):
        put(path, spreadsheet.text(record))
    else:
        put(path, records.to_json(record))


def put(path: str | Path, content: str | bytes) -> None:
    """Put a text, or bytes such as those of a picture, into a file in the same way."""
    target = checked(path)
    try:
        keep(target, content.encode() if isinstance(content, str) else content)
    except OSError as error:
        cause = error.strerror or "an error"
        if error.errno in _THE_DISK:
            raise Failure(
                f"{path} could not be written ({cause}), and is as it was before: make room"
            ) from None
        raise _unwritable(path, cause) from None


def keep(path: Path, data: bytes, sync: bool = True) -> None:
    """Write a file whole or not at all, its folders too; without `sync`, a power cut may still lose it.

    Raises OSError as it comes, for callers who can say more than that this file cannot be written.
    """
    # Short, however long the name is, and of this thread only.
    fresh = path.with_name(f".{threading.get_native_id()}{UNFINISHED}")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with fresh.open("wb") as file:
            file.write(data)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        fresh.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            fresh.unlink()
        raise


def checked(path: str | Path) -> Path:
    """Return where a path leads, if that is a file or can become one.

    Never a device, a pipe or a folder: putting a file in its place would destroy it. Section 3.1.
    """
    if isinstance(path, str) and not path:
        raise Refusal("FILE must be the name of a file, got '': is a variable empty?")
    try:
        target = Path(path).resolve()
        special = target.exists() and not target.is_file()
        closed = not os.access(target.parent, os.W_OK)
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        # A name too long or with a zero in it, links in a circle, no path at all.
        circle = isinstance(error, RuntimeError)
        cause = getattr(error, "strerror", None) or ("links in a circle" if circle else "no path")
        raise _unwritable(path, cause) from None
    if special or closed:
        cause = "something else" if special else "a folder that is missing or closed"
        cause = "a folder" if target.is_dir() else cause
        raise _unwritable(path, cause)
    return target


def _unwritable(path: object, cause: str) -> Refusal:
    return Refusal(
        f"{shown(str(path))} must be a file that can be written, got {cause}: name another"
    )
