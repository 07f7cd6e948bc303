"""A study keeps every run before the next, and goes on where its file ends, or refuses the file."""

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from scalelab.measure.commands import attempts, study
from scalelab.measure.commands.attempts import Asked, Attempt
from scalelab.measure.commands.words import Command, command
from scalelab.refusal import Refusal
from scalelab.tables import table as tables

ECHO = "sh -c 'echo {workers} {run} {work} >> order; echo rate: 1{workers}0 >&2' {workers}"


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def done(program, out=None, **how):
    """All the attempts of a program, as a command would take them."""
    with study.logs(out) as folder:
        before = study.resumed(program, out, **how)
        return [*study.runs(program, before, folder, out)][-1:] or [before]


def order():
    return [line.split() for line in Path("order").read_text().splitlines()]


def test_sizes_take_turns_up_and_down_so_that_drift_meets_all_alike():
    turns = attempts.missing([4, 1, 2], 4, [])
    assert [workers for workers, _ in turns] == [1, 2, 4, 4, 2, 1, 1, 2, 4, 4, 2, 1]
    middle = Counter()
    for at, (workers, _) in enumerate(turns):
        middle[workers] += at
    assert len(set(middle.values())) == 1


@pytest.mark.parametrize("name", ["study.csv", "study.json"])
@pytest.mark.parametrize("scaling", ["strong", "weak"])
def test_the_file_is_a_scaling_table_with_its_work(name, scaling):
    program = study.program(command(ECHO), [1, 2], repeats=2, scaling=scaling, work=50)
    done(program, Path(name))
    read = tables.read(name)
    works = [50, 50, 50, 50] if scaling == "strong" else [50, 50, 100, 100]
    assert read.columns["work"] == tuple(works)
    assert read.measure == "seconds"
    assert read.claimed == scaling
    assert [(row.workers, row.run) for row in read.rows] == [(1, "1"), (1, "2"), (2, "1"), (2, "2")]
    assert {tuple(line[::2]) for line in order()} == {
        (str(k), str(w)) for k, w in zip(read.workers, works, strict=True)
    }


@pytest.mark.parametrize("name", ["study.csv", "study.json"])
def test_a_rate_and_a_quality_are_read_and_not_the_clock(name):
    program = study.program(
        command(ECHO), [1, 2], rate=r"rate: (\d+)", quality=r"rate: (\d+)", scaling="weak"
    )
    ((one, two),) = done(program, Path(name))
    assert (one.throughput, two.throughput, one.quality) == (110, 120, 110)
    read = tables.read(name)
    assert (read.measure, read.values) == ("throughput", (110, 120))
    assert [row.quality for row in read.rows] == [110, 120]
    assert study.resumed(program, Path(name)) == [one, two]


@pytest.mark.parametrize("name", ["study.csv", "study.json"])
def test_only_what_is_missing_is_run(name):
    out = Path(name)
    done(study.program(command(ECHO), [1, 2], work=8), out)
    first = out.read_text()
    done(study.program(command(ECHO), [1, 2], work=8), out)
    assert (len(order()), out.read_text()) == (2, first)
    done(study.program(command(ECHO), [4, 2, 1], repeats=2, work=8), out)
    assert [line[:2] for line in order()[2:]] == [["4", "1"], ["4", "2"], ["2", "2"], ["1", "2"]]
    assert len(study.resumed(study.program(command(ECHO), [1], work=8), out)) == 6


def test_each_run_is_in_the_file_before_the_next_begins():
    out = Path("study.csv")
    seen = "sh -c 'wc -l < study.csv >> seen' {workers}"
    done(study.program(command(seen), [1, 2, 4]), out)
    assert Path("seen").read_text().split() == ["2", "3"]  # there was none before the first


def test_a_size_that_fails_is_a_row_and_the_others_go_on():
    out = Path("study.csv")
    line = "echo so far; [ {workers} = 2 ] && exit 3; [ {workers} = 4 ] && kill -9 $$; exit 0"
    program = study.program(command(line, shell=True), [1, 2, 4, 8])
    ((one, two, four, eight),) = done(program, out)
    assert (one.failed, eight.failed) == ("", "")
    assert two.failed.startswith("exit code 3: so far, after ")
    assert two.note == "see study.logs/2-workers-run-1.log"
    assert Path(two.note.removeprefix("see ")).read_text() == "so far\n"
    assert four.failed.startswith("ended by SIGKILL, as systems do where memory runs out, after ")
    assert tables.read(out).workers == (1, 8)
    assert tables.read(out).missing == ((3, "seconds", ""), (4, "seconds", ""))
    assert len(study.resumed(program, out)) == 4
    assert len(study.resumed(program, out, retry=True)) == 2


def test_a_pattern_that_is_not_there_and_a_rate_of_nothing_are_failures():
    rate = r"rate: (\S+)"
    for text, cause in (
        ("rate: 0", "a rate of 0, which is not above 0"),
        ("", "nothing in its output"),
    ):
        program = study.program(command(f"echo '{text}' {{workers}}"), [1], rate=rate)
        ((one,),) = done(program)
        assert one.failed.startswith(cause)
        assert one.throughput is None


def test_without_a_file_the_log_of_a_failure_is_kept_and_no_other(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ((good, bad),) = done(
        study.program(command("sh -c 'echo word; exit $(({workers} - 1))' {workers}"), [1, 2])
    )
    log = Path(bad.note.removeprefix("see "))
    assert log.read_text() == "word\n"
    assert [path.name for path in log.parent.iterdir()] == [log.name]
    done(study.program(command("true {workers}"), [1]))
    assert [path.name for path in tmp_path.iterdir()] == [log.parent.name]
    assert good.note == ""


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"command": Command("sh other {workers}")}, "with the command 'sh other {workers}', got "),
        ({"scaling": "weak"}, "with the scaling 'weak', got 'strong'"),
        ({"work": 9}, "with the work '9', got '8'"),
        ({"work": None}, "with the work '', got '8'"),
        ({"rate": True}, "with --rate, got one without --rate: "),
        ({"quality": True}, "with --quality, got one without --quality: "),
    ],
)
@pytest.mark.parametrize("name", ["study.csv", "study.json"])
def test_a_file_of_another_study_is_refused(change, sentence, name):
    asked = {"command": command("true {workers}"), "work": 8}
    attempts.write(name, Asked(**asked), [Attempt(1, 1, 0.5, machine="here")])
    with pytest.raises(Refusal) as refused:
        attempts.read(name, Asked(**asked | change), "here")
    assert sentence in str(refused.value)
    with pytest.raises(Refusal, match="with the machine 'there', got 'here'"):
        attempts.read(name, Asked(**asked), "there")
    assert attempts.read(name, Asked(**asked), "here") == [Attempt(1, 1, 0.5, machine="here")]


def test_blanks_between_words_make_no_other_command_unless_a_shell_reads_it():
    for shell in (False, True):
        attempts.write("s.csv", Asked(Command("true  {workers}", shell)), [Attempt(1, 1, 0.5)])
        asked = Asked(Command("true {workers}", shell))
        if shell:
            with pytest.raises(Refusal, match="with the command"):
                attempts.read("s.csv", asked, "")
        else:
            assert attempts.read("s.csv", asked, "") == [Attempt(1, 1, 0.5)]


HEADER = "workers,run,seconds,scaling,failed,note,date,machine,command\n"
ROW = "1,1,0.5,strong,,,2025-11-20,here,true {workers}\n"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"workers,seconds\n1,60\n",
        b"\xff\xfe\x00",
        b"command\n\n",
        HEADER.encode() + b'1,"',
        (HEADER + ROW.replace("0.5", "x")).encode(),
        (HEADER + ROW.replace("0.5", "nan")).encode(),
        (HEADER + ROW.replace("0.5", "")).encode(),
        (HEADER + ROW.replace("1,1,", "0,1,")).encode(),
        (HEADER + ROW.replace("1,1,", "1,1.5,")).encode(),
        (HEADER + ROW[:9] + "\n").encode(),
    ],
)
def test_a_file_that_is_no_such_table_is_refused_and_left_alone(content):
    out = Path("study.csv")
    out.write_bytes(content)
    program = study.program(command("true {workers}"), [1])
    if content == b"command\n\n":
        assert study.resumed(program, out) == []
        return
    with pytest.raises(Refusal) as refused:
        attempts.read(out, program.asked, "here")
    assert str(refused.value).startswith("study.csv")
    assert "\n" not in str(refused.value)
    assert out.read_bytes() == content


@pytest.mark.parametrize(
    "data", [[], {}, 3, {"rows": 3}, {"rows": [3]}, {"rows": [{}]}, {"rows": [{"command": 3}]}]
)
def test_json_of_another_kind_is_refused(data):
    Path("study.json").write_text(json.dumps(data))
    with pytest.raises(Refusal, match=r"^study\.json"):
        attempts.read("study.json", Asked(command("true {workers}")), "here")


def test_a_file_has_one_study_at_a_time():
    out = Path("study.csv")
    with study.logs(out), pytest.raises(Refusal, match="must be written by one study at a time"):
        study.logs(out).__enter__()
    with study.logs(out):
        pass


def test_a_folder_that_cannot_be_is_refused():
    Path("study.logs").touch()
    with pytest.raises(Refusal, match="must be a folder for what the runs write, got"):
        study.logs(Path("study.csv")).__enter__()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"counts": []}, "each once, got []"),
        ({"counts": [1, 1]}, "each once, got [1, 1]"),
        ({"counts": [0]}, "workers must be a whole number from 1"),
        ({"counts": [1.5]}, "workers must be a whole number"),
        ({"repeats": 0}, "repeats must be a whole number from 1"),
        ({"scaling": "both"}, "scaling must be strong or weak"),
        ({"work": 0}, "work must be in (0"),
        ({"work": float("nan")}, "work must be in (0"),
        ({"timeout": 0}, "timeout must be in (0"),
        ({"rate": "x"}, "--rate must hold parentheses"),
        ({"quality": "("}, "--quality must be a regular expression"),
        (
            {"command": Command("a {workers} {work}")},
            "work must be given where a command holds {work}",
        ),
    ],
)
def test_what_cannot_be_studied_is_refused(change, sentence):
    how = {"command": command("true {workers}"), "counts": [1, 2]} | change
    with pytest.raises(Refusal) as refused:
        study.program(how.pop("command"), how.pop("counts"), **how)
    assert sentence in str(refused.value)


def test_nothing_of_a_study_stays_open():
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    done(study.program(command("true {workers}"), [1, 2]), Path("study.csv"))
    after = len(os.listdir("/proc/self/fd")) if before else 0
    assert after == before
