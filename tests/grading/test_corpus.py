"""A class of all kinds of trouble, graded at once: each in its own state, its neighbours unharmed."""

import contextlib
import json
import os
import re
import socket
import threading
from pathlib import Path

import pytest

from scalelab.grading.box import bubblewrap
from scalelab.grading.inputs import collect, source
from scalelab.grading.judging import grade_one, result
from scalelab.grading.judging.execute import Limits
from tests.notebooks import ROOT
from tests.submissions import assignment, classes, stock
from tests.submissions.kinds import kinds
from tests.submissions.runaways import MARK

ALL = kinds()
isolated = pytest.mark.skipif(bool(bubblewrap.find().missing), reason=bubblewrap.find().missing)
pytestmark = isolated


@contextlib.contextmanager
def listening():
    """Give a port of this host, and the list of what came in."""
    came = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept():
            with contextlib.suppress(OSError):
                while True:
                    came.append(server.accept()[1])

        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1], came


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The whole class, graded by two workers; (root, {kind: result}, connections that came)."""
    root = assignment.course(tmp_path_factory.mktemp("class"))
    with listening() as (port, came):
        (root / "port").write_text(str(port))
        enrolled = classes.enrol(root, ALL)
        found = classes.grade(root)
    return root, {enrolled[student].name: one for student, one in found.items()}, came


def test_there_are_enough_kinds_of_every_class():
    groups = {kind.group for kind in ALL}
    assert groups == {"files", "cells", "runaways", "floods", "cheats", "spies", "oddities"}
    assert len(ALL) >= 240


def test_every_kind_is_recorded_under_stock_nbgrader_with_what_is_due():
    rows = stock.recorded()
    assert [(row.kind, row.group, row.due) for row in rows.values()] == [
        (kind.name, kind.group, kind.score) for kind in ALL
    ]


def test_the_instructors_page_shows_what_is_recorded_by_class_and_examples_of_each():
    page, rows = (ROOT / "book" / "instructor.md").read_text(), stock.recorded()
    assert {rows[name].group for name in stock.EXAMPLES} == {kind.group for kind in ALL}
    assert f"\n\n{stock.summary(rows)}\n\n" in page
    assert f"\n\n{stock.table(rows, stock.EXAMPLES)}\n\n" in page
    assert stock.FILE.read_text().partition("\n")[0].removeprefix("# ") in page


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """The course as stock nbgrader releases it."""
    return stock.course(tmp_path_factory.mktemp("stock"))


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["renamed", "task replaced"])
def test_a_box_gives_what_is_recorded(name, released):
    kind = next(kind for kind in ALL if kind.name == name)
    assert stock.run(kind, released) == stock.recorded()[name]


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: f"{kind.group}: {kind.name}")
def test_every_kind_ends_in_its_state_with_its_points_and_its_remark(kind, graded):
    found = graded[1][kind.name]
    assert (found["score"], found["status"]) == (kind.score, kind.status or found["status"])
    assert kind.says in "; ".join([*found["flags"], found["reason"]])
    assert found["status"] in (*result.STATES,)
    assert (found["score"] is None) == (found["status"] in (result.FAILED, result.MISSING))


def test_no_spy_found_anything(graded):
    root, found, came = graded
    for path in [*root.glob("course/graded/**/*"), *root.glob("course/feedback/**/*.html")]:
        if path.is_file():
            assert not re.search('LEAK (?!"|\',|wrote to"|\\w+",)', shown(path)), path
    spies = [kind.name for kind in ALL if kind.group == "spies"]
    for name in spies:
        said = " ".join(a["shown"]["text"] for a in found[name]["answers"] if a["shown"])
        assert "LEAK" not in said, name
    assert came == []


def shown(path):
    """Return what students' cells showed and what checks said, without the code they wrote."""
    if path.suffix != ".json" or path.name in ("report.json", "timings.json"):
        return ""
    found = json.loads(path.read_text())
    parts = [a["shown"]["text"] for a in found.get("answers", ()) if a["shown"]]
    return " ".join([*parts, *(test["output"] for test in found.get("tests", ()))])


def test_nothing_of_theirs_goes_on(graded):
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            assert MARK not in (process / "cmdline").read_text()
    names = [p.name for p in Path("/sys/fs/cgroup").rglob("scalelab-*")]
    assert [name for name in names if not Path("/proc", name.split("-")[1]).exists()] == []


def test_nothing_of_theirs_is_large(graded):
    root, found, _ = graded
    for name, one in found.items():
        assert len(result.written(one)) < 3_000_000, name
    pages = [p.stat().st_size for p in root.glob("course/feedback/*/*/*.html")]
    assert len(pages) > 200
    assert max(pages) < 3_000_000


def test_pages_hold_no_hidden_check_no_secret_and_no_tag_of_a_student(graded):
    root, _, _ = graded
    secret = (root / "course" / "secret").read_text().strip()
    for path in root.glob("course/feedback/*/*/*.html"):
        text = path.read_text()
        assert secret not in text
        for hidden in (
            "HIDDEN TESTS",
            "fresh(",
            "_rng",
            "hidden=True",
            "<script",
            "onerror=alert(1)>",
        ):
            assert hidden not in re.sub(r'<pre class="code">.*?</pre>', "", text, flags=re.S), path
        assert not re.search(r"<(script|img(?! alt)|iframe|object|embed)", text), path
        assert "default-src 'none'" in text


# Those that run into a limit take minutes, so by default only some of the others are run alone.
EVERY = bool(os.environ.get("SCALELAB_EVERY_KIND_ALONE"))
ALONE = [
    (n, kind)
    for n, kind in enumerate(ALL)
    if EVERY or (n % 5 == 0 and kind.group not in ("runaways", "floods"))
]


def what_counts(kind, found):
    """Return what must be the same in any company: all of it, but the points only near a limit."""
    if kind.group in ("runaways", "floods"):
        return found["score"]
    if kind.name == "time magic":  # it shows what a clock said
        return found["tests"]
    return result.written(found)


def test_a_submission_alone_gives_the_same_bytes_as_in_the_class(graded):
    root, found, _ = graded
    written = source.load(root, assignment.SLUG)
    handed_in = {
        one.student: one for one in collect.collect(root / "course" / "submitted", assignment.SLUG)
    }
    differ = []
    try:
        for n, kind in ALONE:
            one = handed_in.get(f"s{n:03}") or collect.Submission(f"s{n:03}")
            job = grade_one.Unit(
                written, one.loaded(), limits=classes.LIMITS, modules=classes.MODULES
            )
            alone = grade_one.grade(job)
            if what_counts(kind, alone) != what_counts(kind, found[kind.name]):
                differ.append((kind.name, alone["flags"], found[kind.name]["flags"]))
    finally:
        grade_one.close()
    assert differ == []


def test_without_walls_the_spies_do_find_something(tmp_path, monkeypatch):
    """Otherwise they could be blind, and the tests above pass for nothing."""
    root = assignment.course(tmp_path)
    nothing = bubblewrap.Walls("for this test", False, "")
    monkeypatch.setattr(bubblewrap, "find", lambda: nothing)
    names = ("files of the course", "other processes", "rights", "open descriptors")
    with listening() as (port, came):
        (root / "port").write_text(str(port))
        spies = [kind for kind in ALL if kind.name in names]
        classes.enrol(root, [*spies, next(k for k in ALL if k.name == "network")])
        found = classes.grade(
            root,
            executor=classes.OneThread,
            limits=Limits(cell=60.0, submission=300.0),  # spies search long on a busy machine
            unsafe=True,
        )
    blind = [
        one["student"]
        for one in found.values()
        if "LEAK" not in " ".join(a["shown"]["text"] for a in one["answers"] if a["shown"])
    ]
    assert len(found) == 5
    assert len(blind) <= 1
    assert came
    assert all("run without isolation" in one["flags"] for one in found.values())


def test_without_walls_grading_refuses(tmp_path, monkeypatch):
    root = assignment.course(tmp_path)
    classes.enrol(root, ALL[-1:])
    monkeypatch.setattr(bubblewrap, "find", lambda: bubblewrap.Walls("for this test", False, ""))
    with pytest.raises(ValueError, match="must isolate students' code, got a machine that cannot"):
        classes.grade(root, executor=classes.OneThread)
