"""The parts of grading by themselves: finding, reading, sending, judging, and the command line."""

import concurrent.futures
import gc
import json
import os
import random
import re
import subprocess
import sys
import time
import zipfile
from dataclasses import asdict
from datetime import datetime

import pytest
from hypothesis import example, given, strategies as st

from scalelab.checks.call import Outcome
from scalelab.checks.keys import student_key
from scalelab.checks.plain import Unreadable, plain
from scalelab.cli import main
from scalelab.grading.box import bubblewrap, wire
from scalelab.grading.inputs import collect, read
from scalelab.grading.inputs.flag import Flag
from scalelab.grading.inputs.source import Cell, Source, load
from scalelab.grading.inputs.steps import parsed
from scalelab.grading.judging import execute, grade_one, result
from scalelab.grading.judging.judge import Judge
from scalelab.grading.out import report
from scalelab.grading.returned.feedback import feedback
from tests.notebooks import ROOT
from tests.submissions import assignment

pytestmark = pytest.mark.turns(2)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return assignment.course(tmp_path_factory.mktemp("parts"))


@pytest.fixture(scope="module")
def demo(root):
    return load(root, assignment.SLUG)


@pytest.fixture(scope="module")
def honest(root):
    return json.dumps(assignment.handed_in(root)).encode()


# --- reading -------------------------------------------------------------------------------------


@given(seed=st.integers(0, 10**9))
@example(seed=477)  # leaves a member without a name
def test_any_damage_to_a_notebook_is_read_or_refused_with_a_reason(demo, honest, seed):
    luck, data = random.Random(seed), bytearray(honest)
    for _ in range(luck.randint(1, 12)):
        at = luck.randrange(len(data))
        match luck.randrange(4):
            case 0:
                data[at] = luck.randrange(256)
            case 1:
                del data[at : at + luck.randint(1, 400)]
            case 2:
                data[at:at] = luck.choice(
                    [b"\xff", b'"', b"null", b"[]", b"{}", b"\\ud800", b"9" * 50]
                )
            case 3:
                data = data[:at] if luck.random() < 0.1 else data
        if not data:
            break
    before = result.result(demo, collect.Submission("ada"), tests=[{"id": "check-1-1"}])
    job = grade_one.Unit(demo, collect.Submission("ada", bytes(data)), previous=before)
    assert grade_one.settled(job) is None  # it has to be run, or is refused below
    try:
        handed = read.read(bytes(data), demo)
    except read.NotASubmission as reason:
        assert re.fullmatch(r"it .+", str(reason))  # noqa: PT017 - either outcome is fine
    else:
        assert set(handed.answers) == {cell.id for cell in demo.cells if cell.answer}
        json.dumps(asdict(handed)).encode()


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.floats(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["cells", "source", "metadata", "nbgrader", "grade_id", "cell_type", "id"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=20,
    )
)
def test_any_json_is_read_or_refused_with_a_reason(demo, found):
    for cells in (
        found,
        {"cells": found},
        {"cells": [found]},
        {"worksheets": [{"cells": [found]}]},
    ):
        try:
            read.read(json.dumps(cells).encode(), demo)
        except read.NotASubmission as reason:
            assert str(reason).startswith("it ")  # noqa: PT017 - either outcome is fine


# --- sending -------------------------------------------------------------------------------------

PLAIN = st.recursive(
    st.none()
    | st.just(...)
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.complex_numbers(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=9),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.integers() | st.text(st.characters(exclude_categories=["Cs", "Cc"])), inner
        )
    ),
    max_leaves=30,
)


@given(PLAIN)
def test_plain_data_crosses_unchanged(value):
    value = plain(value)
    assert wire.decoded(json.loads(json.dumps(wire.encoded(value)))) == value


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["d", "c", "i", "u", "...", "x"]), inner, max_size=2)
        ),
        max_leaves=12,
    )
)
def test_whatever_a_process_sends_becomes_plain_data_or_an_outcome(message):
    plain_kinds = (type(None), type(...), bool, int, float, complex, str, list, dict, Unreadable)
    assert isinstance(wire.decoded(message), plain_kinds)
    assert isinstance(wire.from_message(message), Outcome)


# --- finding -------------------------------------------------------------------------------------


def archive(place, members):
    """Write a zip of (name, data, time)."""
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data, when in members:
            file.writestr(zipfile.ZipInfo(name, when), data, zipfile.ZIP_DEFLATED)
    return place


EARLY, LATE = (2027, 3, 1, 12, 0, 0), (2027, 3, 2, 12, 0, 0)


def test_names_of_every_platform_tell_the_student(tmp_path):
    place = archive(
        tmp_path / "all.zip",
        [
            ("ada_demo.ipynb", b"1", EARLY),
            ("Ben Bee_123_assignsubmission_file/demo.ipynb", b"2", EARLY),
            ("leecleo_LATE_99_1234_demo.ipynb", b"3", EARLY),
            ("down/dan/demo/demo.ipynb", b"4", EARLY),
            ("__MACOSX/._ada_demo.ipynb", b"x", LATE),
            ("notes.txt", b"x", LATE),
        ],
    )
    found = [one.loaded() for one in collect.collect(place, "demo")]
    assert {one.student: (one.data, one.platform_id) for one in found if one.data} == {
        "ada": (b"1", ""),
        "Ben Bee": (b"2", "123"),
        "leecleo": (b"3", "99"),
        "dan": (b"4", ""),
    }
    (notes,) = (one for one in found if not one.data)
    assert (notes.student, notes.reason) == (
        "notes",
        "handed in as notes.txt, which is no notebook",
    )


def test_of_two_submissions_the_latest_counts_and_is_flagged(tmp_path):
    place = archive(
        tmp_path / "two.zip",
        [("ada_demo-1.ipynb", b"new", LATE), ("ada_demo.ipynb", b"old", EARLY)],
    )
    (one,) = (one.loaded() for one in collect.collect(place, "demo"))
    says = "2 notebooks; ada_demo-1.ipynb counts, not ada_demo.ipynb (older)"
    assert (one.data, [*map(str, one.flags)]) == (b"new", [says])
    assert one.when == datetime(*LATE).isoformat()


def test_a_hostile_archive_writes_nothing_and_stays_bounded(tmp_path):
    bomb = b"0" * 300_000_000
    place = archive(
        tmp_path / "bad.zip",
        [
            ("../../../../tmp/evil_demo.ipynb", b"{}", EARLY),
            ("/etc/root_demo.ipynb", b"{}", EARLY),
            ("bomb_demo.ipynb", bomb, EARLY),
            ("a" * 3000 + "_demo.ipynb", b"{}", EARLY),
            ("..\\..\\windows_demo.ipynb", b"{}", EARLY),
        ],
    )
    del bomb
    before = set(os.listdir("/tmp"))
    found = [one.loaded() for one in collect.collect(place, "demo")]
    assert "evil_demo.ipynb" not in set(os.listdir("/tmp")) - before
    reasons = {one.student: one.reason for one in found}
    assert reasons["bomb"] == "it is packed to less than 1/200 of its size, as no notebook is"
    assert len(found) == 5
    for one in found:
        name = result.file_name(one.student)
        assert "/" not in name
        assert not name.startswith(".")
        assert len(name) <= 200


def test_a_damaged_or_locked_member_is_its_students_trouble_only(tmp_path):
    place = archive(
        tmp_path / "torn.zip",
        [("ada_demo.ipynb", b"x" * 999, EARLY), ("ben_demo.ipynb", b"ok", EARLY)],
    )
    torn = bytearray(place.read_bytes())
    torn[45:50] = b"\xff" * 5
    place.write_bytes(torn)
    found = {one.student: one.loaded() for one in collect.collect(place, "demo")}
    assert found["ada"].reason == "the archive is damaged here"
    assert found["ben"].data == b"ok"


@given(seed=st.integers(0, 10**9))
@example(seed=477)  # leaves a member without a name
def test_any_damage_to_an_archive_costs_what_is_damaged_or_is_one_sentence(torn_to_be, seed):
    luck, place, whole = random.Random(seed), *torn_to_be
    data = bytearray(whole)
    for _ in range(luck.randint(1, 6)):
        at = luck.randrange(len(data) - 8)
        match luck.randrange(3):
            case 0:
                data[at : at + 4] = luck.randbytes(luck.randint(1, 4))
            case 1:
                del data[at : at + luck.randint(1, 30)]
                data += b"\0" * 9
            case 2:
                data[at:at] = luck.choice([b"PK\x01\x02", b"PK\x05\x06", b"\0" * 4, b"9" * 30])
    place.write_bytes(data)
    try:
        found = [one.loaded() for one in collect.collect(place, "demo", roster=["eve"])]
    except ValueError as refusal:
        assert re.search(r" must be .+: ", str(refusal))  # noqa: PT017 - either outcome is fine
    else:
        assert all(one.data is not None or one.reason or one.missing for one in found)
        assert "eve" in [one.student for one in found]


@pytest.fixture(scope="module")
def torn_to_be(tmp_path_factory):
    place = tmp_path_factory.mktemp("torn") / "all.zip"
    names = ("ada_demo.ipynb", "ben/demo/demo.ipynb", "../up_demo.ipynb", "notes.txt")
    archive(place, [(name, b"some text " * 30, EARLY) for name in names])
    return place, place.read_bytes()


def test_everybody_on_the_roster_has_a_submission_even_an_empty_one(tmp_path):
    place = archive(tmp_path / "one.zip", [("ada_demo.ipynb", b"x", EARLY)])
    found = collect.collect(place, "demo", roster=["ada", "ben"])
    assert [(one.student, one.missing) for one in found] == [("ada", False), ("ben", True)]


@given(st.text(min_size=0, max_size=300))
def test_no_id_of_a_student_leads_to_another_place(student):
    name = result.file_name(student)
    assert name
    assert name not in (".", "..")
    assert not set(name) & set("/\\\0\n")
    assert len(name.encode()) <= 200


# --- running and judging -------------------------------------------------------------------------


def test_the_plan_of_a_check_holds_every_call_and_no_expected_value(demo):
    names, calls = Judge(demo).plan("")["check-1-1"]
    assert list(names) == ["half"]
    assert [(name, len(cases), hidden) for name, cases, hidden in calls] == [
        ("half", 2, False),
        ("half", 5, True),
    ]


def test_the_author_earns_everything_whatever_the_secret(demo):
    for secret in (b"one", b"two"):
        judge = Judge(Source(demo.slug, demo.cells, secret))
        names = {"half": lambda x: x / 2, "limit": 20.0, "mean": lambda v: sum(v) / len(v)}
        assert sum(answered(judge, names).values()) == assignment.MOST


def answered(judge, names):
    """Judge functions of this process: the judge without walls."""
    transcript = told(judge, names)
    return {c.id: judge.judge(c.id, transcript)["score"] for c in judge.checks}


def told(judge, names):
    """Return what some names would have told behind walls."""
    transcript = execute.Transcript()
    for check, (asked, calls) in judge.plan("").items():
        transcript.values[check] = {
            name: (callable(names.get(name)), plain(names.get(name))) for name in asked
        }
        outcomes = transcript.outcomes[check] = {}
        for name, cases, _ in calls:
            if callable(names.get(name)):
                group = [Outcome(plain(names[name](*wire.unpacked(case)))) for case in cases]
                outcomes.setdefault(name, []).append(group)
    return transcript


@pytest.mark.parametrize(
    ("check", "why"),
    [
        ("half(3)", "must judge whatever it is given, got NameError"),
        ("1.0", r"must keep one Task and end in its score\(\), got 1.0"),
        ("from scalelab.checks import Task\nt = Task('1', points=9, answers=globals())\n"
         "t.number('a', expect=1.0)\nt.score() + 5.0", r"got 5.0"),
    ],
)  # fmt: skip
def test_a_check_that_cannot_be_judged_here_is_refused_before_anything_runs(check, why):
    cell = Cell("check-1", "code", check, check, 2.0, graded=True)
    with pytest.raises(ValueError, match=why):
        Judge(Source("x", (cell,)))


HIDDEN_SLIPS = """from scalelab.checks import Task

task = Task("1.1", points=2, answers=globals())
task.function("half", cases=[(4,)], expect=[2.0])
task.function("half", cases=[(9,)], expect=[4.5], known=[([4.0], "rounds down")], hidden=True)
task.number("limit", between=(1, 99))
task.number("limit", expect=20.0, known=[(19.0, "one too few")], hidden=True)
task.score()"""


def test_the_class_report_counts_slips_that_only_a_hidden_check_found_and_no_fixed_text():
    cell = Cell("check-1", "code", HIDDEN_SLIPS, HIDDEN_SLIPS, 2.0, graded=True)
    source, found = Source("x", (cell,)), []
    judge = Judge(source)
    for half, limit in ((lambda x: float(x // 2), 19.0), (lambda x: 2.0, 18.0), (abs, 200.0)):
        transcript = told(judge, {"half": half, "limit": limit})
        tests = [judge.judge("check-1", transcript)]
        found.append(result.result(source, collect.Submission("ada"), tests=tests))
    assert [one["tests"][0]["slips"] for one in found] == [
        ["rounds down", "one too few"],
        [],
        ["not the right number", "not within 1 and 99"],
    ]
    assert report.summary(source, [found[0]])["tasks"][0]["slip"] == ("one too few", 1)
    assert report.summary(source, [found[1]])["tasks"][0]["slip"] is None


COSTLY = """from scalelab.checks import Task, variant

_drawn = variant("x", seed=1, of=[1, 2])
task = Task("1.1", points=2, answers=globals())
task.function("half", cases=[(4,), (9,)], expect=compared)
task.score()"""


def test_a_plan_for_a_student_compares_with_nothing_and_asks_what_the_whole_check_asks(monkeypatch):
    compared = []
    monkeypatch.setattr("builtins.compared", lambda x: compared.append(x) or x / 2, raising=False)
    judge = Judge(Source("x", (Cell("c", "code", COSTLY, COSTLY, 2.0, graded=True),)))
    assert compared == [4, 9]  # when the class begins, every line is tried once
    key = student_key("ada", b"a course")
    assert judge.plan(key) == judge.plan("")
    assert compared == [4, 9, 4, 9]  # of the plan without a key, which is made anew


END = "import os\nos._exit(1)"  # of its process


@pytest.mark.skipif(bool(bubblewrap.find().missing), reason=bubblewrap.find().missing)
def test_grading_again_flags_what_grading_anew_would():
    """Only the second exercise is run again, whose cell's name begins that of a flagged one."""
    cells = []
    for exercise, number in ((1, 10), (2, 1)):
        check = (
            f"from scalelab.checks import Task\nt = Task('{number}', points=1, answers=globals())\n"
        )
        check += f"t.number('a{number}', expect=1.0)\nt.score()"
        cells += [
            Cell(f"question-1-{number}", "markdown", f"## {exercise}", f"## {exercise}"),
            Cell(f"answer-1-{number}", "code", "", "pass", answer=True),
            Cell(f"check-1-{number}", "code", check, check, 1.0, graded=True),
        ]
    source = Source("x", tuple(cells))

    def job(previous, **answers):
        notebook = [{"cell_type": "code", "source": END}]  # the student's own, before the first
        for cell in cells:
            text = answers.get(cell.id.replace("-", "_"), cell.stub)
            notebook.append({"cell_type": cell.kind, "id": cell.id, "source": text})
        data = json.dumps({"cells": notebook}).encode()
        return grade_one.Unit(source, collect.Submission("ada", data), previous=previous)

    try:
        before = grade_one.grade(job(None, answer_1_10=END, answer_1_1=END))
        again = grade_one.grade(job(before, answer_1_10=END, answer_1_1="a1 = 1.0"))
        anew = grade_one.grade(job(None, answer_1_10=END, answer_1_1="a1 = 1.0"))
    finally:
        grade_one.close()
    ended = {"+0 ended the process", "answer-1-10 ended the process"}
    assert again["score"] == anew["score"] == 1.0
    before, again, anew = (
        [str(Flag.of(flag)) for flag in one["flags"] if flag["run"]]
        for one in (before, again, anew)
    )
    assert set(before) == {*ended, "answer-1-1 ended the process"}
    assert set(anew) == ended
    assert sorted(again) == sorted(anew)


@pytest.mark.parametrize(("score", "shown"), [(2.0, False), (0.0, True)])
def test_feedback_unfolds_the_hints_where_points_are_missing(score, shown):
    question = (
        "### 1.1 A task\n\nDo <it>.\n\n<details>\n<summary>Hint 1: start</summary>\n\n"
        "Look up.\n\n</details>"
    )
    cells = (
        Cell("question-1", "markdown", question, question),
        Cell("check-1", "code", "secret check", "", 2.0, graded=True),
    )
    source = Source("x", cells)
    found = {"id": "check-1", "name": "1.1", "score": score, "max_score": 2.0, "output": "said"}
    page = feedback(source, result.result(source, collect.Submission("ada"), tests=[found]))
    assert "Do &lt;it&gt;." in page
    assert ("Hint 1: start" in page) == ("Look up." in page) == shown
    assert "secret check" not in page


# --- the command line ----------------------------------------------------------------------------


def scalelab(*arguments, cwd):
    line = [sys.executable, "-m", "scalelab", "grade", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        line, cwd=cwd, env=environment, capture_output=True, text=True, timeout=200, check=False
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "ASSIGNMENT must be named"),
        (["nothing"], "must be a notebook, got No such file or directory"),
        (["../etc"], "an assignment must be a folder of solutions/, got '../etc'"),
        (
            ["demo", "--submitted", "nowhere"],
            "submissions must be a folder of students or a zip file",
        ),
        (["demo", "--task", "9"], "--task must be one of"),
        (["demo", "--roster", "none.csv"], "--roster must be a CSV file"),
        (["demo", "--workers", "0"], "--workers"),
        (["demo", "--no-gradebook", "--submitted", ".", "--executor", "x"], "must be the address"),
        (["demo", "--db", "nosuch://x"], "the gradebook must"),
    ],
)
def test_a_mistake_on_the_command_line_is_one_sentence_and_exit_2(
    arguments, says, root, monkeypatch, capsys
):
    monkeypatch.chdir(root)
    with pytest.raises(SystemExit) as end:
        main(["grade", *arguments])
    said = capsys.readouterr().err
    assert says in said
    assert len(said.strip().splitlines()) == 1
    assert end.value.code == 2


def test_outside_of_a_course_is_one_sentence(tmp_path):
    done = scalelab("demo", cwd=tmp_path)
    assert done.returncode == 2
    assert "the current folder must be a course's root, got no nbgrader_config.py" in done.stderr


def test_the_doctor_says_what_this_machine_gives(tmp_path):
    said = json.loads(scalelab("--doctor", "--json", cwd=tmp_path).stdout)
    assert said["isolation"].startswith("no: " if bubblewrap.find().missing else "yes: ")
    assert set(said) >= {"isolation", "network", "files", "memory and processes", "grading"}


@pytest.mark.skipif(bool(bubblewrap.find().missing), reason=bubblewrap.find().missing)
def test_one_command_grades_an_archive_and_says_how_it_went(tmp_path, honest, monkeypatch, capfd):
    root = assignment.course(tmp_path)
    place = archive(
        root / "all.zip", [("ada_demo.ipynb", honest, EARLY), ("ben_demo.ipynb", b"?", EARLY)]
    )
    (root / "roster.csv").write_text("id,name\nada,Ada\neve,Eve\n")
    arguments = ["demo", "--submitted", str(place), "--roster", "roster.csv", "--workers", "1"]
    monkeypatch.chdir(root)

    def grade(*options):
        with pytest.raises(SystemExit) as end:
            main(["grade", *arguments, *options])
        assert not end.value.code
        return capfd.readouterr()

    said, errors = grade("--json")
    assert errors == ""
    told = json.loads(said)
    assert told["states"] == {"graded": 1, "graded with flags": 0, "failed": 1, "missing": 1}
    said, _ = grade("--resume")
    assert "1 graded, 1 failed, 1 missing" in said
    assert "missing  eve: nothing was handed in" in said


def test_a_text_is_parsed_however_many_threads_parse_at_once():
    """CPython 3.11 loses count of a tree's depth where another thread gets its turn in the making."""
    text = "\n".join(f"x{n} = [{n}, (1 + {n}) * f({n}, a=[{n}])]" for n in range(100))
    found, turn = gc.get_threshold(), lambda *_: time.sleep(0.0002)
    gc.callbacks.append(turn)  # a search for garbage is where a turn may end
    gc.set_threshold(300)
    try:
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            trees = [*pool.map(parsed, [text] * 40)]
    finally:
        gc.callbacks.remove(turn)
        gc.set_threshold(*found)
    assert {len(tree.body) for tree in trees} == {100}


def test_judges_in_two_threads_leave_the_environment_as_they_found_it(tmp_path):
    judge = Judge(load(assignment.course(tmp_path), assignment.SLUG))
    before = dict(os.environ)
    seen = []

    def turn(_):
        with judge._as(""):
            time.sleep(0.001)
            seen.append(os.environ["SCALELAB_COURSE_SECRET"])

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        [*pool.map(turn, range(80))]
    assert set(seen) == {judge.source.secret.decode()}
    assert dict(os.environ) == before
