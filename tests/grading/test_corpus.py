"""A class of all kinds of trouble on a real assignment: each in its own state, its neighbours unharmed.

The day draws the assignment; `--all` tries all kinds on it.
"""

import contextlib
import json
import os
import random
import re
import socket
import threading
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from scalelab.checks.keys import course_key
from scalelab.grading.box import bubblewrap
from scalelab.grading.box.sandbox import MODULES
from scalelab.grading.inputs import collect, course, source
from scalelab.grading.inputs.read import worked_on
from scalelab.grading.judging import grade_one, result
from scalelab.grading.judging.execute import TimeLimits
from tests.notebooks import ROOT, SLUGS
from tests.sampling import sampled, seed
from tests.submissions import assignment, classes, honest, recorded, stage, stock, tried
from tests.submissions.kinds import kinds
from tests.submissions.kinds.runaways import MARK
from tests.submissions.stage import LIMITS, Stage

ALL = kinds()
TODAY = random.Random(seed()).choice(SLUGS)
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


@dataclass
class Class:
    """A graded class: its kinds by student, results by kind, and what came to a port of this host."""

    root: Path
    stage: Stage
    enrolled: dict
    found: dict
    came: list

    @property
    def folder(self):
        return self.root / "course" / "graded" / self.stage.slug


@pytest.fixture(scope="module", params=[TODAY])
def graded(request, tmp_path_factory):
    """All kinds that are asked for and five honest neighbours, graded by four workers."""
    cases = (getattr(item, "callspec", None) for item in request.session.items)
    named = {kind.name for case in cases if case and (kind := case.params.get("kind")) in ALL}
    root = stage.course(tmp_path_factory.mktemp("class"), request.param)
    with listening() as (port, came):
        (root / "port").write_text(str(port))
        chosen = [kind for kind in ALL if kind.name in named] or ALL[::5]
        enrolled = classes.enrol(root, chosen, spread=classes.neighbours())
        found = classes.grade(root, workers=4, modules=MODULES)  # most of them wait
    by_kind = {enrolled[student].name: one for student, one in found.items()}
    return Class(root, stage.of(root), enrolled, by_kind, came)


def test_there_are_enough_kinds_of_every_class():
    groups = {kind.group for kind in ALL}
    assert groups == {
        *("files", "cells", "runaways", "floods", "cheats", "spies", "oddities", "habits")
    }
    assert len(ALL) >= 300


@pytest.mark.parametrize("slug", SLUGS)
def test_every_assignment_has_an_answer_for_each_part_that_kinds_play(slug, tmp_path):
    found = stage.of(stage.course(tmp_path, slug))
    one, two, three = (found.id(role) for role in stage.SMALL)
    assert len({one, two, three}) == 3
    assert found.due(()) > found.due(("one",)) > found.due((stage.REST,)) > 0
    assert found.due((stage.ALL,)) == 0
    for role, code in stage.SMALL.items():
        compile(found.coded(role, code), role, "exec")


def test_every_recorded_class_was_treated_as_due_and_no_neighbour_was_harmed():
    for slug, run in recorded.read().items():
        assert slug in SLUGS
        assert set(run) == {*recorded.FIELDS}
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", run["date"])
        assert run["kinds"] >= 300
        assert run["as due"] + len(run["not as due"]) == run["kinds"]
        assert run["not as due"] == []
        assert run["neighbours"] == 5
        assert [run[name] for name in recorded.NEVER] == [0] * len(recorded.NEVER)


def test_what_is_recorded_under_stock_nbgrader_was_due_on_its_assignment(tmp_path):
    rows, named = stock.recorded(), {kind.name: kind for kind in ALL}
    graded = stage.of(stage.course(tmp_path, stock.SLUG))
    assert [*rows] == [kind.name for kind in ALL if graded.onward or not kind.onward]
    for name, row in rows.items():
        kind = named[name]
        assert row.group == kind.group
        assert row.due is None or kind.least(graded) <= row.due <= kind.due(graded), name
        assert (row.due is None) == (kind.due(graded) is None)


def test_the_instructors_page_shows_what_is_recorded_by_class_and_examples_of_each():
    page, rows = (ROOT / "book" / "instructor.md").read_text(), stock.recorded()
    assert {rows[name].group for name in stock.EXAMPLES} == {row.group for row in rows.values()}
    assert (
        f"\n\nThe same trouble under both: {len(rows)} kinds of submission to `{stock.SLUG}`, each between "
        f"two honest neighbours worth {stock.most(rows):g} points.\n\n"
    ) in page
    assert f"\n\n{stock.summary(rows)}\n\n" in page
    assert f"\n\n{stock.table(rows, stock.EXAMPLES)}\n\n" in page
    assert stock.FILE.read_text().partition("\n")[0].removeprefix("# ") in page


def test_the_instructors_page_tells_what_was_tried_on_real_assignments():
    page = (ROOT / "book/instructor.md").read_text()
    assert f"\n\n{tried.table()}\n\n" in page
    assert f"\n{tried.killed_runs()}\n" in page
    assert sum(one["kills"] for one in tried.kills().values()) >= 50
    assert f"\n{tried.honest_classes()}\n" in page


def test_honest_classes_of_all_assignments_have_the_points_that_stock_nbgrader_gives():
    graded = honest.read()
    assert tuple(graded) == SLUGS
    assert sum(one["submissions"] for one in graded.values()) >= 300
    assert [slug for slug, one in graded.items() if one["differ"]] == []
    for one in graded.values():  # neither all right nor all wrong, or they would compare little
        assert 0.3 < one["points"] / one["most"] < 0.95


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """The course as stock nbgrader releases it."""
    return stock.course(tmp_path_factory.mktemp("stock"))


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["renamed", "task replaced"])
def test_a_box_gives_what_is_recorded(name, released):
    kind = next(kind for kind in ALL if kind.name == name)
    assert stock.run(kind, released) == stock.recorded()[name]


@pytest.mark.parametrize(
    "kind",
    sampled(
        [pytest.param(kind, id=f"{kind.group}: {kind.name}") for kind in ALL],
        12,
    ),
)
def test_every_kind_ends_in_its_state_with_its_points_and_its_remark(kind, graded):
    if kind.name not in graded.found:
        pytest.skip("this assignment's other exercise comes earlier")
    assert recorded.fault(kind, graded.stage, graded.found[kind.name]) == ""


def test_honest_students_among_them_have_all_points_and_no_flag(graded):
    harmed = {
        kind.name: recorded.fault(kind, graded.stage, graded.found[kind.name])
        for kind in graded.enrolled.values()
        if kind.group == "neighbours"
    }
    assert harmed == dict.fromkeys(harmed, "")
    assert len(harmed) == 5


def test_no_spy_found_anything(graded):
    for path in [
        *graded.root.glob("course/graded/**/*"),
        *graded.root.glob("course/feedback/**/*.html"),
    ]:
        if path.is_file():
            assert not re.search('LEAK (?!"|\',|wrote to"|\\w+",)', shown(path)), path
    spies = [kind.name for kind in graded.enrolled.values() if kind.group == "spies"]
    for name in spies:
        said = " ".join(a["shown"]["text"] for a in graded.found[name]["answers"] if a["shown"])
        assert "LEAK" not in said, name
    assert graded.came == []


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
    for name, one in graded.found.items():
        assert len(result.written(one)) < 3_000_000, name
    pages = [p.stat().st_size for p in graded.root.glob("course/feedback/*/*/*.html")]
    assert len(pages) > len(graded.enrolled) / 2
    assert max(pages) < 3_000_000


def test_pages_hold_no_hidden_check_no_secret_and_no_tag_of_a_student(graded):
    root = graded.root
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
NEAR_A_LIMIT = ("runaways", "floods", "habits")
# One shows what a clock said; the other's own cells may, on a busy machine, come to the end of their time.
CLOCKED = ("time magic", "five hundred cells with pictures")
ALONE, AT_NIGHT = 5, 10


def what_counts(kind, found):
    """Return what must be the same in any company: all of it, but the points only near a limit."""
    if kind.group in NEAR_A_LIMIT:
        return found["score"]
    if kind.name in CLOCKED:
        return found["tests"]
    return result.written(found)


def test_a_submission_alone_gives_the_same_bytes_as_in_the_class(graded, request):
    root, slug = graded.root, graded.stage.slug
    written = source.load(root, slug)
    look = partial(worked_on, source=written, others=course.texts_of_others(root / "course", slug))
    found = collect.collect(root / "course" / "submitted", slug, look=look)
    handed_in = {one.student: one for one in found}
    quick = [s for s, kind in graded.enrolled.items() if kind.group not in NEAR_A_LIMIT]
    number = AT_NIGHT if request.config.option.all else ALONE
    students = [*graded.enrolled] if EVERY else random.Random(seed()).sample(quick, number)
    differ = []
    try:
        for student in students:
            kind = graded.enrolled[student]
            one = handed_in.get(student) or collect.Submission(student)
            key = course_key(student, root / "course")
            alone = grade_one.grade(
                grade_one.Unit(written, one.loaded(), key=key, limits=LIMITS, modules=MODULES)
            )
            together = graded.found[kind.name]
            if what_counts(kind, alone) != what_counts(kind, together):
                differ.append((kind.name, alone["flags"], together["flags"]))
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
            limits=TimeLimits(cell=60.0, submission=300.0),  # spies search long on a busy machine
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
    assert all(
        any(f["text"] == "run without isolation" for f in one["flags"]) for one in found.values()
    )


def test_without_walls_grading_refuses(tmp_path, monkeypatch):
    root = assignment.course(tmp_path)
    classes.enrol(root, ALL[-1:])
    monkeypatch.setattr(bubblewrap, "find", lambda: bubblewrap.Walls("for this test", False, ""))
    with pytest.raises(ValueError, match="must isolate students' code, got a machine that cannot"):
        classes.grade(root, executor=classes.OneThread)
