"""Trouble with the file: what it holds, where it lies, what it is called."""

from __future__ import annotations

import json
import os
import shutil
import zipfile

from tests.notebooks import ROOT, SLUGS
from tests.submissions import stage
from tests.submissions.kinds import (
    FAILED,
    FLAGGED,
    FULL,
    MISSING,
    NOT_ONE,
    Kind,
    notebook_kind,
)
from tests.submissions.stage import ONE, SMALL


def _raw(name, data, *expected):
    return notebook_kind(name, "files", lambda *_: data, *expected)


def _encoded(name, encoding, *expected):
    return notebook_kind(
        name, "files", lambda n, _: json.dumps(n, ensure_ascii=False).encode(encoding), *expected
    )


def _cut(notebook, _):
    return json.dumps(notebook).encode()[:2000]


def _old_format(notebook, _):
    cells = [
        {"cell_type": "code", "input": c["source"], "metadata": c["metadata"], "language": "python"}
        if c["cell_type"] == "code"
        else {"cell_type": "markdown", "source": c["source"], "metadata": c["metadata"]}
        for c in notebook["cells"]
    ]
    return {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": cells}]}


def _new_format(notebook, _):
    notebook["nbformat"], notebook["nbformat_minor"] = 9, 9


def _without_ids(notebook, _):
    notebook["nbformat_minor"] = 4
    for cell in notebook["cells"]:
        del cell["id"]


def _latin(notebook, _):
    notebook["cells"][0]["source"] = "Grüße"
    return json.dumps(notebook, ensure_ascii=False).encode("latin-1")


def _other_notebook(notebook, _):
    notebook["cells"] = [
        {"cell_type": "code", "id": "x", "metadata": {}, "source": "1 + 1", "outputs": []}
    ]


def _with_huge_outputs(notebook, _):
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "x" * 3_000_000}]


def _with_nothing_but_metadata(notebook, _):
    notebook["cells"] = []


def _odd_json(notebook, _):
    notebook["metadata"] = {"kernelspec": 7, "widgets": [[]] * 1000}
    notebook["cells"] += [None, 3, "cell", [], {"cell_type": {}, "source": 3, "metadata": []}]


def _lone_surrogates(notebook, _):
    notebook["cells"].append(
        {"cell_type": "code", "metadata": {}, "source": "s = '\udc80\x00'", "outputs": []}
    )


def _placed(name, work, *expected):
    """Return a kind that puts more than one honest notebook into its folder."""

    def put(root, folder):
        place = stage.of(root)
        work(root, folder, place.slug, json.dumps(place.honest()).encode())

    return Kind(name, "files", put, *expected)


def _renamed(root, folder, slug, data):
    folder.mkdir(parents=True)
    (folder / "my homework (1).ipynb").write_bytes(data)


def _two(root, folder, slug, data):
    folder.mkdir(parents=True)
    (folder / f"{slug}.ipynb").write_bytes(data)
    (folder / f"{slug}-Copy1.ipynb").write_bytes(b"{}")


def _none(root, folder, slug, data):
    folder.mkdir(parents=True)
    (folder / "notes.txt").write_text("sorry")


def _no_folder(root, folder, slug, data):
    folder.parent.mkdir(parents=True)


def _link_to_secret(root, folder, slug, data):
    folder.mkdir(parents=True)
    (folder / f"{slug}.ipynb").symlink_to(root / "course" / "secret")


def _link_to_neighbour(root, folder, slug, data):
    folder.mkdir(parents=True)
    (folder / f"{slug}.ipynb").symlink_to(root / "solutions" / slug / f"{slug}.ipynb")


def _linked_folder(root, folder, slug, data):
    folder.parent.mkdir(parents=True)
    folder.symlink_to(root / "solutions" / slug)


def _linked_student(root, folder, slug, data):
    folder.parent.parent.mkdir(parents=True, exist_ok=True)
    folder.parent.symlink_to(root / "solutions")


def _pipe(root, folder, slug, data):
    folder.mkdir(parents=True)
    os.mkfifo(folder / f"{slug}.ipynb")


def _is_folder(root, folder, slug, data):
    (folder / f"{slug}.ipynb").mkdir(parents=True)


def _to_zero(root, folder, slug, data):
    folder.mkdir(parents=True)
    (folder / f"{slug}.ipynb").symlink_to("/dev/zero")


def _link_to_itself(root, folder, slug, data):
    folder.mkdir(parents=True)
    (folder / f"{slug}.ipynb").symlink_to(folder / f"{slug}.ipynb")


def _huge(root, folder, slug, data):
    folder.mkdir(parents=True)
    with open(folder / f"{slug}.ipynb", "wb") as file:
        file.truncate(3_000_000_000)  # of which the disk holds nothing


def _odd_timestamp(root, folder, slug, data):
    folder.mkdir(parents=True)
    (folder / f"{slug}.ipynb").write_bytes(data)
    (folder / "timestamp.txt").write_bytes(b"\xff\x00 yesterday\n" * 1000)


def _upper(root, folder, slug, data):
    folder.mkdir(parents=True)
    (folder / f"{slug.upper()}.IPYNB").write_bytes(data)


def _with_code_beside(root, folder, slug, data):
    folder.mkdir(parents=True)
    (folder / f"{slug}.ipynb").write_bytes(data)
    (folder / "numpy.py").write_text("raise SystemExit('the wrong numpy')")


def _timestamp(text):
    def work(root, folder, slug, data):
        folder.mkdir(parents=True)
        (folder / f"{slug}.ipynb").write_bytes(data)
        (folder / "timestamp.txt").write_text(text)

    return work


def _worked_on(work, other):
    """Put the work under one name, and what was released under another; {slug} is the usual one."""

    def put(root, folder, slug, data):
        released = root / "exercises" / slug / f"{slug}.ipynb"
        for name, held in ((work, data), (other, released.read_bytes())):
            place = folder / name.format(slug=slug)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(held)

    return put


def _only(name, packed=False):
    """Put the work under another name alone, or into a zip file of that name."""

    def put(root, folder, slug, data):
        folder.mkdir(parents=True)
        place = folder / name.format(slug=slug)
        if packed:
            with zipfile.ZipFile(place, "w") as archive:
                archive.writestr(f"{slug}.ipynb", data)
        else:
            place.write_bytes(data)

    return put


def _module_beside(root, folder, slug, data):
    folder.mkdir(parents=True)
    code = stage.of(root).handed_in({ONE: "from mycode import half"})
    (folder / f"{slug}.ipynb").write_text(json.dumps(code))
    (folder / "mycode.py").write_text(SMALL[ONE])


def _last_weeks(root, folder, slug, data):
    folder.mkdir(parents=True)
    other = next(name for name in SLUGS if name != slug)
    shutil.copy(ROOT / "exercises" / other / f"{other}.ipynb", folder / f"{slug}.ipynb")


def _with_65_megabytes(notebook, _):
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for cell in cells:
        text = "x" * (65_000_000 // len(cells))
        cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": text}]


_NO_TIME = "holds no time that can be read"
ENDLESS = "9" * 42 + "h" + "9" * 25 + "." + "9" * 31  # hours in which a decimal number gives up
KINDS = [
    _raw("empty file", b"", FAILED, None, "empty"),
    _raw("white space only", b" \n\t\n", FAILED, None, "empty"),
    _raw("zero bytes", b"\0" * 5000, FAILED, None, "not a notebook"),
    _raw("a picture", b"\x89PNG\r\n\x1a\n" + b"\xff" * 900, FAILED, None, "not a notebook"),
    _raw("a zip file", b"PK\x03\x04" + b"\0" * 300, FAILED, None, "not a notebook"),
    _raw("an error page", b"<!doctype html><h1>404</h1>", FAILED, None, "not a notebook"),
    _raw("a list", b"[]", FAILED, None, "not a notebook"),
    _raw("a number", b"3", FAILED, None, "not a notebook"),
    _raw("nested too deep", b"[" * 400_000, FAILED, None, "nested too deep"),
    _raw("cells of another kind", b'{"cells": 7}', FAILED, None, "no cells"),
    _raw("an enormous number", b'{"cells": ' + b"9" * 9000 + b"}", FAILED, None, "not a notebook"),
    _raw("a merge conflict", b'<<<<<<< HEAD\n{"cells": []}', FAILED, None, "not a notebook"),
    notebook_kind("cut off", "files", _cut, FAILED, None, "cut off"),
    notebook_kind("no cells", "files", _with_nothing_but_metadata, FAILED, None, "no cells"),
    notebook_kind("another notebook", "files", _other_notebook, FAILED, None, "no cell of {slug}"),
    notebook_kind("format 3", "files", _old_format, FLAGGED, FULL, "old notebook format"),
    notebook_kind("a format to come", "files", _new_format),
    notebook_kind("no cell ids", "files", _without_ids),
    notebook_kind("not UTF-8", "files", _latin, FLAGGED, FULL, "Latin-1"),
    _encoded("byte-order mark", "utf-8-sig"),
    _encoded("UTF-16", "utf-16"),
    notebook_kind("huge outputs", "files", _with_huge_outputs),
    notebook_kind("odd JSON", "files", _odd_json),
    notebook_kind("half characters", "files", _lone_surrogates, FLAGGED, FULL, "own"),
    _placed("renamed", _renamed, FLAGGED, FULL, "renamed"),
    _placed("name in capitals", _upper, FLAGGED, FULL, "renamed"),
    _placed("two notebooks", _two, FLAGGED, FULL, "2 notebooks"),
    _placed("no notebook", _none, FAILED, None, "no notebook"),
    _placed("no folder", _no_folder, MISSING, None, "nothing was handed in"),
    _placed("link to the secret", _link_to_secret, FAILED, None, "a link"),
    _placed("link to the solution", _link_to_neighbour, FAILED, None, "a link"),
    _placed("link to itself", _link_to_itself, FAILED, None, "a link"),
    _placed("link to a device", _to_zero, FAILED, None, "a link"),
    _placed("linked folder", _linked_folder, FAILED, None, "a link"),
    _placed("linked student", _linked_student, FAILED, None, "a link"),
    _placed("a pipe", _pipe, FAILED, None, "no regular file"),
    _placed("a folder for a file", _is_folder, FAILED, None, "no regular file"),
    _placed("three gigabytes", _huge, FAILED, None, "larger than"),
    _placed("an odd timestamp", _odd_timestamp, FLAGGED, FULL, "no time"),
    _placed("a module beside it", _with_code_beside, FLAGGED, FULL, "beside the notebook"),
    _placed("a timestamp without end", _timestamp(ENDLESS), FLAGGED, FULL, "no time"),
    _placed("a timestamp to come", _timestamp("2099-01-01 12:00:00 UTC"), FLAGGED, FULL, "2099"),
    _placed(
        "the work in a copy",
        _worked_on("{slug}-Copy1.ipynb", "{slug}.ipynb"),
        FLAGGED,
        FULL,
        "2 notebooks; {slug}-Copy1.ipynb counts",
    ),
    _placed(
        "a conflicted copy",
        _worked_on("{slug} (Ada's conflicted copy 2026-11-01).ipynb", "{slug}.ipynb"),
        FLAGGED,
        FULL,
        "2 notebooks",
    ),
    _placed(
        "final and draft",
        _worked_on("final.ipynb", "draft.ipynb"),
        FLAGGED,
        FULL,
        "2 notebooks; final.ipynb counts",
    ),
    _placed(
        "a checkpoint beside it",
        _worked_on("{slug}.ipynb", ".ipynb_checkpoints/{slug}-checkpoint.ipynb"),
    ),
    _placed("a notebook in a zip file", _only("work.zip", packed=True), FLAGGED, FULL, "work.zip"),
    _placed("handed in as Python", _only("{slug}.py"), FAILED, None, "{slug}.py, which is no"),
    _placed("two endings, .txt", _only("{slug}.ipynb.txt"), FAILED, None, "{slug}.ipynb.txt"),
    _placed("two endings, .json", _only("{slug}.ipynb.json"), FAILED, None, "{slug}.ipynb.json"),
    _placed("its module beside it", _module_beside, FLAGGED, NOT_ONE, "mycode.py was handed in"),
    _placed("last week's notebook", _last_weeks, FAILED, None, "another assignment"),
    notebook_kind("65 MB of outputs", "files", _with_65_megabytes),
]
