"""Numbers of one's own, from the keys an instructor hands out to the scores in the gradebook."""

import csv
import json
import os
import subprocess
import sys

import pytest

from scalelab.grading.box import bubblewrap
from scalelab.grading.judging.judge import Judge
from tests.assignments.runner import SLUGS
from tests.cli.command import here as run
from tests.notebooks import ROOT
from tests.sampling import sampled
from tests.submissions import classes, stage as stages
from tests.submissions.kinds import code_kinds

pytestmark = pytest.mark.skipif(bool(bubblewrap.find().missing), reason=bubblewrap.find().missing)
# What a notebook is at home: its cells one after the other, and what some names stand for after each.
AT_HOME = """
import contextlib, io, json, sys
found, names = {}, {"__name__": "__main__"}
for cell, code, wanted in json.load(sys.stdin):
    with contextlib.redirect_stdout(io.StringIO()):
        exec(code, names)
    try:
        found[cell] = json.loads(json.dumps({w: names[w] for w in wanted}, allow_nan=False))
    except (TypeError, ValueError):
        pass
print(json.dumps(found))
"""


@pytest.fixture(params=sampled(SLUGS, 1))
def course(request, tmp_path):
    """A course of one assignment, with a secret."""
    root = tmp_path / "course of one"
    (root / "course").mkdir(parents=True)
    (root / "course" / "secret").write_text("a word\n")
    return stages.course(root, request.param)


def at_home(folder, source, key=""):
    """Return {check: {name: value}} as the reference answers with the key that lies beside it."""
    folder.mkdir(parents=True)
    if key:
        (folder / "scalelab.key").write_text(key)
    plan, waiting, steps = Judge(source).plan(""), [], []
    for cell in source.cells:
        if cell.check:  # a number, a text, a list: what can be typed in
            names, calls = plan[cell.id]
            wanted = [name for name in names if name not in {called for called, *_ in calls}]
            steps.append((cell.id, "\n".join(waiting), wanted))
            waiting = []
        elif cell.kind == "code":
            waiting.append(cell.text)
    done = subprocess.run(
        [sys.executable, "-c", AT_HOME],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        input=json.dumps(steps),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_keys_lead_from_the_release_to_the_scores(course, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(course)
    assert run("keys", "ada", "ben") == 0
    assert "2 keys" in capsys.readouterr().out
    source = stages.of(course).source
    seen = {
        name: at_home(
            tmp_path / "home" / name, source, (course / f"course/keys/{name}.key").read_text()
        )
        for name in ("ada", "ben")
    }
    seen["cleo"] = at_home(tmp_path / "home" / "cleo", source)  # no key: the public numbers
    check = next(
        check
        for check, values in seen["ada"].items()
        if values and values != seen["cleo"][check] and values != seen["ben"][check]
    )
    seen["dan"] = seen["ada"]  # no key either, and someone else's answer
    answer = check.replace("check", "answer")
    for student, found in seen.items():
        typed = [f"{name} = {value!r}" for name, value in found[check].items()]
        answers = {answer: "\n".join([source.by_id[answer].text, *typed])}
        (kind,) = code_kinds("keys", {student: (answers,)})
        kind.put(course, course / "course" / "submitted" / student / source.slug)
    classes.grade(course, executor=classes.here, gradebook=True)
    classes.close()
    with (course / "course" / "graded" / source.slug / "scores.csv").open() as file:
        points = {row["student"]: float(row[check]) for row in csv.DictReader(file)}
    most = source.by_id[check].points
    assert points.pop("dan") < most
    assert points == dict.fromkeys(("ada", "ben", "cleo"), most)


def test_everybody_of_a_roster_gets_the_key_that_they_would_get_by_name(
    course, monkeypatch, capsys
):
    monkeypatch.chdir(course)
    (course / "students.csv").write_text("name,id\nAda,ada\nBen,ben\n")
    assert run("keys", "ben") == 0
    by_name = (course / "course" / "keys" / "ben.key").read_text()
    assert run("keys", "--roster", "students.csv", "ben") == 0
    assert "2 keys" in capsys.readouterr().out
    assert (course / "course" / "keys" / "ben.key").read_text() == by_name
    assert (course / "course" / "keys" / "ada.key").exists()
    assert run("keys") == 2
