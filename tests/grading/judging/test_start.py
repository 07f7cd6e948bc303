"""Where no worker can start: one sentence, nothing lost, and no student who fails by it."""

import json
import multiprocessing.spawn
import os
import random
import subprocess
import sys

import pytest

from scalelab.cli import main
from scalelab.grading.box import bubblewrap
from tests.notebooks import ROOT, SLUGS
from tests.sampling import seed
from tests.submissions import classes, stage
from tests.submissions.kinds import kinds

pytestmark = [
    pytest.mark.turns(2),
    pytest.mark.skipif(bool(bubblewrap.find().missing), reason=bubblewrap.find().missing),
]

CLASS = [kind for kind in kinds() if kind.name in ("honest", "prints", "hard exit in a cell")]
SLUG = random.Random(seed()).choice(SLUGS)
SAYS = r"grading must start a worker on \S+, got none \({}\): mend that and go on with --resume"


@pytest.fixture(scope="module", autouse=True)
def _one_fork_server():
    yield
    classes.close()


@pytest.fixture
def root(tmp_path):
    course = stage.course(tmp_path, SLUG)
    classes.enrol(course, CLASS)
    return course


def results(root):
    return {p.name: p.read_bytes() for p in root.glob(f"course/graded/{SLUG}/results/*.json")}


def test_a_program_that_exits_as_it_begins_ends_the_command_and_changes_nothing(
    root, tmp_path, monkeypatch, capfd
):
    classes.grade(root, executor=classes.here)
    before = results(root)
    assert len(before) == len(CLASS)
    program = tmp_path / "program"
    program.write_text(
        f'#!/bin/sh\ncase "$*" in *spawn_main*) exit 3;; esac\nexec {sys.executable} "$@"\n'
    )
    program.chmod(0o755)
    monkeypatch.chdir(root)
    usual = multiprocessing.spawn.get_executable()
    multiprocessing.spawn.set_executable(str(program))
    try:
        with pytest.raises(SystemExit) as end:
            main(["grade", SLUG, "--no-gradebook"])
    finally:
        multiprocessing.spawn.set_executable(usual)
    assert end.value.code == 2
    said = capfd.readouterr().err.strip()
    assert len(said.splitlines()) == 1
    assert "got none (a process ended with status 3 as it began): mend that" in said
    assert results(root) == before


def test_a_broken_package_is_nobodys_fault(root):
    with pytest.raises(ValueError, match=SAYS.format(".*ImportError: win32 only")):
        classes.grade(
            root, executor=classes.here, modules=("asyncio.windows_events",)
        )  # is there, and cannot be imported
    assert results(root) == {}


def test_a_package_that_is_not_there_is_not_missed(root):
    modules = ("numpy", "scalelab.checks", "no_such.package")
    found = classes.grade(root, executor=classes.here, modules=modules)
    assert [found[student]["score"] for student in sorted(found)] == [
        kind.due(stage.of(root)) for kind in CLASS
    ]


# The kernel refuses namespaces as soon as the first submission is graded; only to this run, which
# has a user namespace, and so a count, of its own.
FORBIDDEN = """
import sys
from pathlib import Path
from tests.submissions import classes

root, told = Path(sys.argv[1]), []
most = Path("/proc/sys/user/max_net_namespaces")

def forbid(done, total, result):
    told.append(result["status"])
    most.write_text("0")

try:
    classes.grade(root, workers=1, progress=forbid)
except ValueError as error:
    print(error)
print(*told, sep=", ")
most.write_text("1000")
classes.grade(root, workers=1, resume=True)
"""


def test_what_was_graded_before_is_kept_and_resuming_gives_what_is_due(tmp_path):
    root, many = stage.course(tmp_path, SLUG), CLASS * 2
    classes.enrol(root, many)
    if subprocess.run(["unshare", "-Ur", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no namespace of users can be made here")
    done = subprocess.run(
        ["unshare", "-Ur", sys.executable, "-c", FORBIDDEN, str(root)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    said, told = done.stdout.strip().splitlines()
    assert "got none (the fork server is gone: bwrap: " in said
    states, due = told.split(", "), [(k.status, k.due(stage.of(root))) for k in many]
    assert 0 < len(states) < len(many)
    assert set(states) <= {status for status, _ in due}
    found = [json.loads(data) for _, data in sorted(results(root).items())]
    assert [(one["status"], one["score"]) for one in found] == due
