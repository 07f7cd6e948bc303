"""Trouble with the file: what it holds, where it lies, what it is called."""

from __future__ import annotations

import json
import os

from tests.submissions.assignment import SLUG, handed_in
from tests.submissions.kinds import FAILED, FLAGGED, GRADED, MISSING, Kind, notebook_kind


def _raw(name, data, *expected):
    return notebook_kind(name, "files", lambda _: data, *expected)


def _encoded(name, encoding, *expected):
    return notebook_kind(
        name, "files", lambda n: json.dumps(n, ensure_ascii=False).encode(encoding), *expected
    )


def _cut(notebook):
    return json.dumps(notebook).encode()[:2000]


def _old_format(notebook):
    cells = [
        {"cell_type": "code", "input": c["source"], "metadata": c["metadata"], "language": "python"}
        if c["cell_type"] == "code"
        else {"cell_type": "markdown", "source": c["source"], "metadata": c["metadata"]}
        for c in notebook["cells"]
    ]
    return {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": cells}]}


def _new_format(notebook):
    notebook["nbformat"], notebook["nbformat_minor"] = 9, 9


def _without_ids(notebook):
    notebook["nbformat_minor"] = 4
    for cell in notebook["cells"]:
        del cell["id"]


def _latin(notebook):
    notebook["cells"][0]["source"] = "Grüße"
    return json.dumps(notebook, ensure_ascii=False).encode("latin-1")


def _other_notebook(notebook):
    notebook["cells"] = [
        {"cell_type": "code", "id": "x", "metadata": {}, "source": "1 + 1", "outputs": []}
    ]


def _with_huge_outputs(notebook):
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "x" * 3_000_000}]


def _with_nothing_but_metadata(notebook):
    notebook["cells"] = []


def _odd_json(notebook):
    notebook["metadata"] = {"kernelspec": 7, "widgets": [[]] * 1000}
    notebook["cells"] += [None, 3, "cell", [], {"cell_type": {}, "source": 3, "metadata": []}]


def _lone_surrogates(notebook):
    notebook["cells"].append(
        {"cell_type": "code", "metadata": {}, "source": "s = '\udc80\x00'", "outputs": []}
    )


def _placed(name, work, *expected):
    """Return a kind that puts more than one honest notebook into its folder."""

    def put(root, folder):
        work(root, folder, json.dumps(handed_in(root)).encode())

    return Kind(name, "files", put, *expected)


def _renamed(root, folder, data):
    folder.mkdir(parents=True)
    (folder / "my homework (1).ipynb").write_bytes(data)


def _two(root, folder, data):
    folder.mkdir(parents=True)
    (folder / f"{SLUG}.ipynb").write_bytes(data)
    (folder / f"{SLUG}-Copy1.ipynb").write_bytes(b"{}")


def _none(root, folder, data):
    folder.mkdir(parents=True)
    (folder / "notes.txt").write_text("sorry")


def _no_folder(root, folder, data):
    folder.parent.mkdir(parents=True)


def _link_to_secret(root, folder, data):
    folder.mkdir(parents=True)
    (folder / f"{SLUG}.ipynb").symlink_to(root / "course" / "secret")


def _link_to_neighbour(root, folder, data):
    folder.mkdir(parents=True)
    (folder / f"{SLUG}.ipynb").symlink_to(root / "solutions" / SLUG / f"{SLUG}.ipynb")


def _linked_folder(root, folder, data):
    folder.parent.mkdir(parents=True)
    folder.symlink_to(root / "solutions" / SLUG)


def _linked_student(root, folder, data):
    folder.parent.parent.mkdir(parents=True, exist_ok=True)
    folder.parent.symlink_to(root / "solutions")


def _pipe(root, folder, data):
    folder.mkdir(parents=True)
    os.mkfifo(folder / f"{SLUG}.ipynb")


def _is_folder(root, folder, data):
    (folder / f"{SLUG}.ipynb").mkdir(parents=True)


def _to_zero(root, folder, data):
    folder.mkdir(parents=True)
    (folder / f"{SLUG}.ipynb").symlink_to("/dev/zero")


def _link_to_itself(root, folder, data):
    folder.mkdir(parents=True)
    (folder / f"{SLUG}.ipynb").symlink_to(folder / f"{SLUG}.ipynb")


def _huge(root, folder, data):
    folder.mkdir(parents=True)
    with open(folder / f"{SLUG}.ipynb", "wb") as file:
        file.truncate(3_000_000_000)  # of which the disk holds nothing


def _odd_timestamp(root, folder, data):
    folder.mkdir(parents=True)
    (folder / f"{SLUG}.ipynb").write_bytes(data)
    (folder / "timestamp.txt").write_bytes(b"\xff\x00 yesterday\n" * 1000)


def _upper(root, folder, data):
    folder.mkdir(parents=True)
    (folder / f"{SLUG.upper()}.IPYNB").write_bytes(data)


def _with_code_beside(root, folder, data):
    folder.mkdir(parents=True)
    (folder / f"{SLUG}.ipynb").write_bytes(data)
    (folder / "numpy.py").write_text("raise SystemExit('the wrong numpy')")


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
    notebook_kind("another notebook", "files", _other_notebook, FAILED, None, "no cell of demo"),
    notebook_kind("format 3", "files", _old_format, FLAGGED, 6.0, "old notebook format"),
    notebook_kind("a format to come", "files", _new_format),
    notebook_kind("no cell ids", "files", _without_ids),
    notebook_kind("not UTF-8", "files", _latin, FLAGGED, 6.0, "Latin-1"),
    _encoded("byte-order mark", "utf-8-sig"),
    _encoded("UTF-16", "utf-16"),
    notebook_kind("huge outputs", "files", _with_huge_outputs),
    notebook_kind("odd JSON", "files", _odd_json),
    notebook_kind("half characters", "files", _lone_surrogates, FLAGGED, 6.0, "own"),
    _placed("renamed", _renamed, FLAGGED, 6.0, "renamed"),
    _placed("name in capitals", _upper, FLAGGED, 6.0, "renamed"),
    _placed("two notebooks", _two, FLAGGED, 6.0, "2 notebooks"),
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
    _placed("an odd timestamp", _odd_timestamp, GRADED, 6.0),
    _placed("a module beside it", _with_code_beside, GRADED, 6.0),
]
