"""Which of a student's files counts: the notebook that was worked on, in a folder or in a zip.

Nothing is extracted, no link followed, no pipe opened; one file at a time is in memory.
Standard library only.
"""

import io
import os
import re
import stat
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

from scalelab.grading.inputs.flag import GRAVE, Flag
from scalelab.grading.inputs.read import NotASubmission
from scalelab.grading.inputs.skim import without_outputs

BYTES = 200_000_000  # of one file, outputs and all
FILES = 1_000  # of one student
NOTEBOOKS = 10  # of one student that are looked at
DIRECTORY = 5_000_000  # bytes of a zip file's table of contents
RATIO, LARGE = 200, 20_000_000  # by which a file of so many bytes may be packed
UNTOUCHED, WORKED_ON = "untouched", (False, False)
SAME_TIME = timedelta(minutes=1)  # unpacking and copying take some seconds
_JUNK = {"__MACOSX", "Thumbs.db", "desktop.ini"}
_PLATFORMS = {"timestamp.txt", "submission_secret.txt", "scalelab.key"}  # lie there rightly

# Says whether bytes are a notebook that was worked on; raises NotASubmission where they are none.
Look = Callable[[bytes], bool]


class Loaded(NamedTuple):
    """What came of a hand-in: the bytes that count or the reason why there are none, and flags."""

    data: bytes | None
    reason: str = ""
    flags: tuple[Flag, ...] = ()
    when: datetime | None = None


@dataclass(frozen=True)
class File:
    """A file that was handed in: its path in the hand-in, when it was last changed, how to read it.

    `read` returns at most so many bytes, or raises OSError with a clause that says why not.
    """

    path: str
    when: datetime
    read: Callable[[int], bytes | bytearray]

    @property
    def name(self) -> str:
        """The last part of the path."""
        return PurePosixPath(self.path).name

    @property
    def notebook(self) -> bool:
        """Whether it is called one."""
        return self.name.lower().endswith(".ipynb")


def choose(files: Iterable[File], slug: str, look: Look, most_bytes: int = BYTES) -> Loaded:
    """Return the notebook that counts: of those that were worked on the latest, else the expected one."""
    handed = [f for f in islice(_spread(files, most_bytes), FILES) if not junk(f.path)]
    notebooks = [file for file in handed if file.notebook]
    beside = [f for f in handed if not f.notebook and f.name not in _PLATFORMS]
    if not notebooks:
        return Loaded(None, _no_notebook(beside))
    notebooks.sort(key=lambda file: (not expected(file.name, slug), file.path))
    chosen, others = notebooks[0], {}
    if len(notebooks) > 1:
        chosen, others = _counting(notebooks, slug, look, most_bytes)
    data, _, reason = _seen(chosen, look, most_bytes)
    flags = (*_about(chosen, slug), *_about_others(chosen, others), *_about_files(beside))
    return Loaded(data, reason, flags, chosen.when)


def expected(name: str, slug: str) -> bool:
    """Say whether a file is called as it should be; platforms put a student before, and a count behind.

    >>> expected("01_speedup.ipynb", "01_speedup"), expected("ada_01_speedup-1.ipynb", "01_speedup")
    (True, True)
    """
    return bool(re.fullmatch(rf"(.*_)?{re.escape(slug)}(-\d+)?\.ipynb", name))


def junk(path: str) -> bool:
    """Say whether a system or an editor put a file there, and no student.

    >>> junk("work/.ipynb_checkpoints/x-checkpoint.ipynb"), junk("__MACOSX/._x"), junk("x.ipynb")
    (True, True, False)
    """
    # A dot hides; two lead elsewhere, and are a name like any other here.
    return any(p in _JUNK or re.match(r"\.(?!\.)", p) for p in PurePosixPath(path).parts)


def printable(path: str) -> str:
    r"""Return a path as a remark may show it.

    >>> printable("a" * 99 + ".py"), printable("x\x1b.py")
    ('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...', 'x?.py')
    """
    clean = "".join(letter if letter.isprintable() else "?" for letter in path)
    return clean if len(clean) <= 60 else f"{clean[:57]}..."


def _counting(notebooks, slug, look, most_bytes):
    """Return the notebook that counts, and {path: what is the matter with it} of the others."""
    states = []
    for file in notebooks[:NOTEBOOKS]:  # one by one: all of them may not fit into memory
        data, worked_on, reason = _seen(file, look, most_bytes)
        remark = reason or ("older" if worked_on else UNTOUCHED)
        states.append((file, (data is None, not worked_on), remark))
    best = min(state for _, state, _ in states)
    among = [file for file, state, _ in states if state == best]
    if best == WORKED_ON:
        latest = max(file.when for file in among)
        among = [file for file in among if latest - file.when <= SAME_TIME]
        if not expected(among[0].name, slug):
            among.sort(key=lambda file: file.when, reverse=True)
    others = {file.path: remark for file, _, remark in states if file is not among[0]}
    return among[0], others | {file.path: "not looked at" for file in notebooks[NOTEBOOKS:]}


def _seen(file, look, most_bytes):
    """Return a notebook's bytes and whether it was worked on, or None and last why it is none of ours."""
    data, reason = _data(file, most_bytes)
    if data is None:
        return None, False, reason
    try:
        return data, look(data), ""
    except NotASubmission as why:
        return None, False, str(why)


def _data(file, most_bytes):
    """Return (bytes without outputs, "") of a notebook, or (None, reason)."""
    try:
        data = file.read(most_bytes + 1)
    except OSError as error:
        return None, error.strerror or "it cannot be read"
    if len(data) > most_bytes:
        return None, (
            f"it is larger than {most_bytes / 1e6:g} MB: have it handed in without its outputs, "
            "or grade with more --most-bytes"
        )
    return without_outputs(data), ""


def _no_notebook(files):
    if not files:
        return "the folder holds no notebook"
    return f"handed in as {_named(files)}, which {'is' if len(files) == 1 else 'are'} no notebook"


def _about(chosen, slug):
    """Yield flags on the notebook that counts."""
    folder = chosen.path.rpartition("/")[0]
    if not expected(chosen.name, slug):
        yield Flag("the notebook was renamed")
    if folder:
        yield Flag(f"the notebook lay in {printable(folder)}")


def _about_others(chosen, others):
    if others:
        listed = [f"{printable(path)} ({why})" for path, why in others.items()]
        more = f" and {len(listed) - 5} more" if len(listed) > 5 else ""
        counts = f"{len(others) + 1} notebooks; {printable(chosen.path)} counts"
        yield Flag(f"{counts}, not {', '.join(listed[:5])}{more}", GRAVE)


def _about_files(files):
    if files:
        was, it_is = ("was", "is") if len(files) == 1 else ("were", "are")
        beside = f"{_named(files)} {was} handed in beside the notebook"
        yield Flag(f"{beside} and {it_is} not there when it is graded")


def _named(files):
    names = [printable(file.path) for file in files]
    if len(names) > 5:
        names[5:] = [f"{len(names) - 5} more"]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


# --- where files lie -----------------------------------------------------------------------------


def in_folder(folder: bytes, inside: str = "", depth: int = 3) -> Iterator[File]:
    """Yield the files of a folder and of the folders in it; a link is one that cannot be read."""
    for entry in sorted(islice(os.scandir(folder), FILES), key=lambda entry: entry.name):
        path = inside + entry.name.decode(errors="backslashreplace")
        called = path.lower().endswith(".ipynb")  # a folder called so is told as one
        if entry.is_dir(follow_symlinks=False) and not called:
            if depth > 1 and not junk(path):
                yield from in_folder(entry.path, f"{path}/", depth - 1)
        else:
            yield File(path, _changed(entry), partial(regular, entry.path))


def _changed(entry):
    try:
        return datetime.fromtimestamp(entry.stat(follow_symlinks=False).st_mtime)
    except (OSError, ValueError, OverflowError):  # anybody can give a file any time
        return datetime.min


def regular(path: bytes | str, most: int) -> bytes | bytearray:
    """Return at most so many bytes of a regular file; anything else raises OSError with the reason."""
    # A pipe would wait for ever, a link could show the secret, a device has no end.
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        cause = "it is a link" if os.path.islink(path) else f"it cannot be read ({error.strerror})"
        raise OSError(0, cause) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(0, "it is no regular file")
    with os.fdopen(descriptor, "rb") as file:
        return _at_most(file, most)


def in_zip(place: Path | bytes, inside: str = "") -> list[File]:
    """List the files in a zip file, which may itself be bytes; raise BadZipFile where it is none."""
    with _opened(place) as archive:
        return [
            File(inside + member.filename, _time(member), partial(_member, place, member))
            for member in archive.infolist()
            if member.filename and not member.is_dir()  # zipfile fails on one without a name
        ]


def _spread(files, most_bytes, depth=2):
    """Yield files, and in place of a zip file those in it; of a zip in a zip as well."""
    for file in files:
        if depth and file.name.lower().endswith(".zip"):
            try:
                data = bytes(file.read(most_bytes))
                _insist_on_a_small_directory(data)
                inside = in_zip(data, f"{file.path}/")[:FILES]
            except Exception:  # it stays one file, that is no notebook
                yield file
            else:
                yield from _spread(inside, most_bytes, depth - 1)
        else:
            yield file


def _insist_on_a_small_directory(data):
    """Refuse a zip file whose table of contents alone would fill the memory."""
    end = data.rfind(b"PK\5\6")
    size = int.from_bytes(data[end + 12 : end + 16], "little")
    if size > DIRECTORY or data[end - 20 : end - 16] == b"PK\6\7":  # of the larger format
        raise zipfile.BadZipFile("its table of contents is too large")


def _opened(place):
    return zipfile.ZipFile(io.BytesIO(place) if isinstance(place, bytes) else place)


def _member(place, member, most):
    """Return at most so many bytes of a file in a zip file, whatever the zip says of its size."""
    if member.file_size > max(RATIO * member.compress_size, LARGE):
        raise OSError(0, f"it is packed to less than 1/{RATIO} of its size, as no notebook is")
    try:
        with _opened(place) as archive, archive.open(member) as file:
            return _at_most(file, most)
    except (RuntimeError, NotImplementedError):
        raise OSError(0, "it is encrypted or packed in an unknown way") from None
    except Exception:  # each way of packing has its own word for it
        raise OSError(0, "the archive is damaged here") from None


def _at_most(file: IO[bytes], most: int) -> bytearray:
    data = bytearray()
    while len(data) < most and (part := file.read(min(2**20, most - len(data)))):
        data += part
    return data


def _time(member):
    try:
        return datetime(*member.date_time)
    except ValueError:
        return datetime.min
