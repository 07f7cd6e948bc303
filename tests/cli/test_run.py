"""`scalelab run`: programs and functions of one's own, as somebody types them."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from scalelab import records
from scalelab.cli import main
from scalelab.measure.ranks import workers
from scalelab.tables import table as tables
from tests.cli.command import ENVIRONMENT, MODULE, process, scalelab
from tests.cli.test_commands import refusal, until

pytestmark = pytest.mark.turns(3)

SLEEP = ("run", "--command", "sleep 0.0{workers}")
LONG = "sh -c 'echo $$ >> pids; [ {workers} = 4 ] && sleep 600; exit 0' {workers}"
OWN = """
import os, time
def plain(): time.sleep(0.01)
def told(rank, workers, share, work=6):
    assert [str(rank), str(workers)] == [os.environ[name] for name in ("RANK", "WORLD_SIZE")]
    assert os.environ["LOCAL_RANK"] == str(rank)
    assert share == range(rank * work // workers, (rank + 1) * work // workers)
    time.sleep(0.01 * len(share))
def part(share): time.sleep(0.01 * len(share))
nameless = lambda: None
"""


@pytest.fixture
def own(tmp_path):
    """A folder with functions of one's own; `plain` has a file without a word of dividing."""
    (tmp_path / "own_functions.py").write_text(OWN)
    (tmp_path / "broken.py").write_text("def f(:\n")
    (tmp_path / "lacking.py").write_text("import no_such_module\n")
    (tmp_path / "apart").mkdir()
    (tmp_path / "apart" / "own_plain.py").write_text("def plain(n=1): return n\n")
    yield tmp_path
    for name in ("own_functions", "own_plain"):
        sys.modules.pop(name, None)


def test_a_program_becomes_a_table_that_is_audited_and_fitted(tmp_path):
    """By hand: 0.1 s that stay and 0.8 s to share out."""
    line = "python -c 'import time; time.sleep(0.1 + 0.8 / {workers})'"
    counts = ("--workers", "1,2,4,8", "--repeats", "2", "--out", "s.csv")
    done = scalelab("run", "--command", line, *counts, folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    head = done.stdout.splitlines()
    assert head[0] == f"{line}, strong scaling"
    assert re.split(r" {2,}", head[1].strip()) == [
        "workers",
        "runs",
        "time",
        "speedup",
        "efficiency",
    ]
    assert "measured here · " in done.stdout
    assert scalelab("audit", "s.csv", folder=tmp_path).stdout.startswith(
        "s: 8 rows, seconds on 1 to 8"
    )
    fitted = scalelab("fit", "s.csv", "--at", "16", "--json", folder=tmp_path)
    assert json.loads(fitted.stdout)["unit"] == "seconds"


def test_a_rate_and_a_quality_are_shown_and_kept(tmp_path):
    line = "sh -c 'echo samples/s: $((100 * {workers})); echo accuracy 0.7{workers}' {workers}"
    patterns = ("--rate", "samples/s: ([0-9.]+)", "--quality", "accuracy (.+)")
    done = scalelab(
        "run",
        "--command",
        line,
        "--workers",
        "1,2,4",
        *patterns,
        "--out",
        "r.json",
        folder=tmp_path,
    )
    rows = [re.split(r" {2,}", row.strip()) for row in done.stdout.splitlines()[1:5]]
    assert rows == [
        ["workers", "runs", "throughput", "quality", "speedup", "efficiency"],
        ["1", "1", "100", "0.71", "1", "1.000"],
        ["2", "1", "200", "0.72", "2", "1.000"],
        ["4", "1", "400", "0.74", "4", "1.000"],
    ]
    assert tables.read(tmp_path / "r.json").values == (100, 200, 400)


def test_weak_scaling_counts_the_work_that_grew(tmp_path):
    line = "sh -c 'test {work} = $((500 * {workers}))' {workers}"
    done = scalelab(
        "run", "--command", line, "--workers", "1,2", "--weak", "--work", "500", "--json",
        folder=tmp_path,
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert found["title"] == "weak scaling"
    assert [row["work"] for row in found["rows"]] == [500, 1000]
    assert done.returncode == 0


def test_a_size_that_fails_is_told_and_makes_the_exit_code_1(tmp_path):
    """A size that has one good run has a result."""
    line = "sh -c 'test {workers}{run} = 21 && exit 3; test {workers} != 4 || exit 5' {workers}"
    how = ("run", "--command", line, "--repeats", "2", "--out", "f.csv")
    done = scalelab(*how, "--workers", "1,2", folder=tmp_path)
    assert done.returncode == 0
    assert re.search(r"^ +2 +1 of 2 ", done.stdout, re.MULTILINE)
    assert "\n2 workers, run 1: exit code 3, after " in done.stdout
    assert "; see f.logs/2-workers-run-1.log\n" in done.stdout
    done = scalelab(*how, "--workers", "1,2,4", folder=tmp_path)
    assert done.returncode == 1
    assert re.search(r"^ +4 +0 of 2 +failed", done.stdout, re.MULTILINE)
    rows = (tmp_path / "f.csv").read_text().splitlines()
    assert len(rows) == 7
    scalelab(*how, "--workers", "1,2,4", "--retry", folder=tmp_path)
    assert len((tmp_path / "f.csv").read_text().splitlines()) == 7


def test_a_timeout_is_a_row_with_its_reason(tmp_path):
    line = "sh -c 'test {workers} = 1 || exec sleep 600' {workers}"
    done = scalelab(
        "run", "--command", line, "--workers", "1,2", "--timeout", "4000 ms", folder=tmp_path
    )
    assert done.returncode == 1
    assert "2 workers, run 1: no end within 4 s, after " in done.stdout


def test_a_timeout_has_a_unit_or_is_in_seconds(tmp_path):
    for time_ in ("90", "1.5 min"):
        assert (
            scalelab(*SLEEP, "--workers", "1", "--timeout", time_, folder=tmp_path).returncode == 0
        )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL, signal.SIGTERM])
def test_a_study_that_was_stopped_in_the_middle_goes_on_there(number, tmp_path):
    arguments = ("run", "--command", LONG, "--workers", "1,2,4", "--out", "s.csv")
    out, pids = tmp_path / "s.csv", tmp_path / "pids"
    running = subprocess.Popen(
        [*MODULE, *arguments], env=ENVIRONMENT, cwd=tmp_path,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    until(lambda: pids.exists() and len(pids.read_text().split()) == 3)
    running.send_signal(number)
    stdout, stderr = running.communicate(timeout=60)
    assert len(out.read_text().splitlines()) == 3
    if number != signal.SIGKILL:
        assert running.returncode == 130
        held = "s.csv holds 2 of 3 runs; the same line goes on from there."
        assert stderr == f"scalelab: interrupted. {held}\n"
        assert "measured here" in stdout
    else:
        assert running.returncode == -number
    last = pids.read_text().split()[-1]
    until(lambda: not gone(last))
    before = out.read_text()
    pids.write_text("")
    (tmp_path / "sleep").write_text("#!/bin/sh\n")  # the third ends at once now
    (tmp_path / "sleep").chmod(0o755)
    path = os.pathsep.join([str(tmp_path), ENVIRONMENT["PATH"]])
    done = process(*arguments, cwd=tmp_path, env={**ENVIRONMENT, "PATH": path})
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 runs of 3 stood in s.csv before." in done.stdout
    assert out.read_text().startswith(before)
    assert len(out.read_text().splitlines()) == 4
    assert len(pids.read_text().split()) == 1


def gone(pid):
    """What the system says of a process that runs still, as long as it does."""
    try:
        return Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_torchrun_is_run_for_each_number_of_workers(tmp_path):
    (tmp_path / "train.py").write_text(
        "import os\nif os.environ['RANK'] == '0':\n    print('ranks:', os.environ['WORLD_SIZE'])\n"
    )
    line = "torchrun --standalone --nproc-per-node {workers} train.py"
    done = process(
        "run", "--command", line, "--workers", "2", "--quality", r"ranks: (\d+)", "--json",
        cwd=tmp_path,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    (row,) = json.loads(done.stdout)["rows"]
    assert (row["workers"], row["quality"]) == (2, 2)


def test_a_function_is_told_its_rank_and_its_share(own):
    asked = ("run", "own_functions.py:told", "--workers", "1,2", "--repeats", "2", "--json")
    done = scalelab(*asked, folder=own)
    assert done.stderr == ""
    samples = records.from_json(done.stdout).samples
    assert [(s.given["workers"], s.given["work"], s.given["scaling"]) for s in samples] == [
        (1, 6, "strong"),
        (2, 6, "strong"),
    ]


def test_a_share_without_work_is_of_what_work_says(own):
    asked = ("run", "./own_functions.py:part", "--workers", "1,3", "--repeats", "1", "--weak")
    done = scalelab(*asked, "--work", "2", "--json", folder=own)
    assert [s.given["work"] for s in records.from_json(done.stdout).samples] == [2, 6]


def test_a_function_that_divides_nothing_is_called_copies(own):
    done = scalelab(
        "run", "apart/own_plain.py:plain", "--workers", "1,2", "--out", "c.csv", folder=own
    )
    assert done.stdout.startswith("apart/own_plain.py:plain, copies side by side\n")
    sentence = "so every worker did the whole job: this measures K copies, not a division."
    assert done.stdout.count(sentence) == 1
    assert "strong" not in done.stdout
    assert "efficiency" not in done.stdout
    read = tables.read(own / "c.csv")
    assert read.work()[0::7] == (1, 2)
    assert read.claimed == ""


def test_a_function_that_looks_for_its_rank_by_itself_is_not_called_copies(own, monkeypatch):
    """Its module speaks of a rank."""
    monkeypatch.setattr(workers, "launch", lambda _, count, **__: [{"seconds": [0.25]}] * count)
    done = scalelab("run", "own_functions.py:plain", "--workers", "1,2", folder=own)
    assert done.stdout.startswith("own_functions.py:plain, strong scaling\n")
    assert "if it does not look for its part itself, every worker did the whole job" in done.stdout


def test_what_a_module_prints_is_no_part_of_the_answer(tmp_path):
    """Neither here, nor in the ranks, which read the module before their output has a file."""
    (tmp_path / "loud.py").write_text("print('imported')\ndef f(rank): print('called')\n")
    asked = ("run", "loud.py:f", "--workers", "1,2", "--repeats", "1", "--json")
    # Where Python does not gather a line before it writes it, ranks that print at once share one.
    env = {name: value for name, value in ENVIRONMENT.items() if name != "PYTHONUNBUFFERED"}
    done = process(*asked, cwd=tmp_path, env=env)
    assert [s.given["workers"] for s in records.from_json(done.stdout).samples] == [1, 2]
    assert {*done.stderr.splitlines()} == {"imported"}


def test_a_size_of_a_job_that_fails_is_told_and_kept_and_the_others_go_on(own):
    (own / "second.py").write_text(
        "def f(rank, workers):\n    if rank == 1 == workers - 1: raise ValueError('boom')\n"
    )
    asked = ("run", "second.py:f", "--workers", "2,1,3", "--repeats", "1", "--out", "f.csv")
    done = scalelab(*asked, folder=own)
    sys.modules.pop("second", None)
    assert done.returncode == 1
    assert "second.py:f must finish on 2 ranks within 120 s, got ValueError: boom on rank 1: " in (
        done.stderr
    )
    assert done.stderr.endswith("\nraised in f at second.py:2\n")
    assert "limit" not in done.stderr
    assert "\n2 workers failed: ValueError: boom on rank 1.\n" in done.stdout
    assert {row.split(",")[4] for row in (own / "f.csv").read_text().splitlines()} == {
        "workers", "1", "3",
    }  # fmt: skip
    assert "2 workers failed: ValueError: boom on rank 1." in (own / "f.csv").read_text()


@pytest.mark.parametrize("name", ["f.csv", "f.json"])
def test_measurements_of_a_job_are_added_to_and_never_written_over(name, own, monkeypatch):
    monkeypatch.setattr(workers, "launch", lambda _, count, **__: [{"seconds": [0.25]}] * count)
    asked = ("run", "own_functions.py:plain", "--workers", "1,2", "--out", name)
    scalelab(*asked, folder=own)
    before = (own / name).read_text()
    sentence = refusal(scalelab(*asked, folder=own))
    assert sentence.startswith(f"{name} must be a file that is not there yet, got one that holds ")
    assert sentence.endswith(": add --append, or name another file")
    assert (own / name).read_text() == before
    assert scalelab(*asked, "--append", folder=own).returncode == 0
    assert "scalelab time" in refusal(scalelab("time", "true", "--out", name, folder=own))
    (own / name).write_text("important\n")
    assert "got 'important': name another" in refusal(scalelab(*asked, folder=own))
    assert (own / name).read_text() == "important\n"


def test_a_job_that_is_cut_before_its_first_size_says_that_nothing_is_kept(own, monkeypatch):
    def launch(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(workers, "launch", launch)
    done = scalelab("run", "own_functions.py:plain", "--workers", "1", folder=own)
    assert done.returncode == 130
    assert done.stderr.endswith(
        "interrupted. Nothing was measured to its end, so nothing is kept.\n"
    )


def test_quiet_is_the_table_and_what_failed(tmp_path):
    line = "sh -c 'test {workers} = 1' {workers}"
    done = scalelab("run", "--command", line, "--workers", "1,2", "-q", folder=tmp_path)
    assert done.returncode == 1
    _, _, *rows = done.stdout.splitlines()
    assert [row.split()[0] for row in rows] == ["1", "2"]
    assert done.stderr.startswith("scalelab: 2 workers, run 1: exit code 1, after ")


def test_what_a_program_says_does_not_steer_the_terminal(tmp_path):
    line = r"printf '\033]0;title\007Error: \033[31mno\a'; exit {workers}"
    done = scalelab("run", "--command", line, "--shell", "--workers", "1", folder=tmp_path)
    assert "exit code 1: Error: no?, after" in done.stdout
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize("name", ["my runs.csv", "-x.csv"])
def test_the_next_step_can_be_pasted(name, tmp_path):
    done = scalelab(*SLEEP, "--workers", "1,2", f"--out={name}", "--repeats", "2", folder=tmp_path)
    (step,) = [line for line in done.stdout.splitlines() if line.startswith("→ ")]
    first, second = step.removeprefix("→ ").split("; ")
    for line in (first, second):
        code = scalelab(*shlex.split(line)[1:], folder=tmp_path).stderr
        assert "No such option" not in code
        assert "unexpected" not in code


def test_more_workers_than_cores_are_told_of(tmp_path, monkeypatch):
    monkeypatch.setattr("scalelab.measure.ranks.capacity.usual", lambda *_: 2)
    said = "This machine has 2 cores: if more workers ran here, they took turns"
    for line, told in (("sh -c true {workers}", True), ("sh -c true srun {workers}", False)):
        done = scalelab("run", "--command", line, "--workers", "1,4", folder=tmp_path)
        assert (said in done.stdout) == told


def test_each_size_of_a_message_is_kept_before_the_next(tmp_path, monkeypatch):
    kept = []
    out = tmp_path / "m.json"

    def launch(job, count, *, sizes, **_):
        kept.append(len(records.from_json(out.read_text()).samples) if out.exists() else 0)
        told = {"bytes": sizes[0], "host": "here", "begun": [0.0], "seconds": [0.25]}
        return [[told] * len(sizes)] * count

    monkeypatch.setattr(workers, "launch", launch)
    with pytest.raises(SystemExit):
        main(["run", "all-reduce", "--workers", "2,3", "--bytes", "4,8 B,16", "--out", str(out)])
    assert kept == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["run"], "run must be told JOB or --command, got neither"),
        (["run", "training", "--command", "sh {workers}"], "got both"),
        (["run", "training", "--rate", "x"], "--rate must go with --command, got training: drop it"),
        (["run", "training", "--shell"], "--shell must go with --command"),
        (["run", "training", "--retry"], "--retry must go with --command"),
        ([*SLEEP, "--emulate"], "--emulate must go with JOB, got sleep 0.0{workers}: drop it"),
        ([*SLEEP, "--bytes", "1"], "--bytes must go with JOB"),
        ([*SLEEP, "--set", "a=1"], "--set must go with JOB"),
        ([*SLEEP, "--device", "cpu"], "--device must go with JOB"),
        ([*SLEEP, "--append"], "--append must go with JOB"),
        ([*SLEEP, "--retry"], "--retry must go with --out FILE"),
        ([*SLEEP, "--workers", "1,1"], "each once, got 1,1"),
        ([*SLEEP, "--workers", "0"], "--workers must be whole numbers from 1"),
        ([*SLEEP, "--repeats", "0"], "--repeats must be a whole number from 1"),
        ([*SLEEP, "--repeats", "x"], "--repeats must be a whole number, got 'x'"),
        ([*SLEEP, "--scaling", "both"], "--scaling must be strong or weak, got 'both'"),
        ([*SLEEP, "--work", "-1"], "work must be in (0"),
        ([*SLEEP, "--work", "nan"], "work must be in (0"),
        ([*SLEEP, "--timeout", "soon"], "--timeout must be a time above 0, got 'soon'"),
        ([*SLEEP, "--timeout", "0"], "--timeout must be a time above 0"),
        ([*SLEEP, "--timeout", "inf"], "--timeout must be a time above 0"),
        ([*SLEEP, "--rate", "["], "--rate must be a regular expression"),
        ([*SLEEP, "--quality", "x"], "--quality must hold parentheses around the number"),
        ([*SLEEP, "--out", "no/such/folder.csv"], "must be a file that can be written"),
        (["run", "--command", ""], "--command must be a program and its arguments"),
        (["run", "--command", "sleep 1"], "--command must hold {workers}"),
        (["run", "--command", "no-such {workers}"], "must begin with a program, got 'no-such'"),
        (["run", "--command", "a {workers} | b"], "add --shell"),
        (["run", "train"], "did you mean training?"),
        (["run", "python train.py"], "start a program by --command"),
        (["run", "train.py"], "start a program by --command"),
        (["run", "nowhere.py:f"], "must name a file that is there, got 'nowhere.py'"),
        (["run", "training", "--workers", "0"], "--workers must be whole numbers from 1 on"),
        (["run", "training", "--workers", "1", "--work", "1.5"], "batch must be a whole number"),
        (["run", "training", "--work", "8", "--set", "batch=8"], "work must be said once"),
        (["run", "all-reduce", "--work", "8"], "--work must go with a job that computes"),
        (["run", "own_functions.py:told", "--set", "rank=1"], "--set must leave rank to the run"),
        (["run", "own_functions.py:part"], "takes a share of it, got none: add --work"),
        (["run", "own_functions.py:nameless"], "find by its name"),
        (["run", "own_functions.py:plain", "--work", "2"], "no argument work or share"),
        (["run", "apart/own_plain.py:plain", "--weak"], "must have an argument `work`"),
        (["run", "apart/own_plain.py:plan"], "did you mean plain?"),
        (["run", "own_functions.py:os"], "which is no function"),
        (["run", "broken.py:f"], "(SyntaxError: "),
        (["run", "lacking.py:f"], "install no_such_module, which it imports"),
        (["run", "training", "--set", "steps=-1"], "steps must be a whole number from 1 on, got -1"),
        (["run", "training", "--device", "gpu"], "did you mean cuda?"),
        (["run", "training", "--weak", "--scaling", "strong"], "--weak must go without"),
        (["run", "all-reduce", "--bytes", "-1"], "--bytes must be sizes from 1 B on"),
        ([*SLEEP, "--workers", "1", "2"], "got both, JOB as '2': write --workers 1,2"),
        (["run", "--command", "sleep", "0.{workers}"], "put the whole command in quotes"),
        (["run", "--command", "sleep {wrk} {workers}"], "got {wrk}: did you mean {work}?"),
        ([*SLEEP, "--out", "-"], "use --json for standard output"),
        ([*SLEEP, "--out", "x.xlsx"], "name it .csv"),
        (["run", "apart/own_plain.py:missing"], "which is not there: it has plain"),
    ],
    ids=lambda given: " ".join(given)[:60] if isinstance(given, list) else "",
)  # fmt: skip
def test_a_mistake_is_answered_in_one_sentence(arguments, sentence, own):
    before = sorted(own.iterdir())
    assert sentence in refusal(scalelab(*arguments, folder=own))
    assert [p for p in sorted(own.iterdir()) if p.name != "__pycache__"] == before


def test_a_file_of_another_command_is_refused_and_left_alone(tmp_path):
    scalelab(*SLEEP, "--workers", "1", "--out", "s.csv", folder=tmp_path)
    before = (tmp_path / "s.csv").read_text()
    other = ("run", "--command", "true {workers}", "--workers", "1", "--out", "s.csv")
    sentence = refusal(scalelab(*other, folder=tmp_path))
    assert sentence.startswith(
        "s.csv line 2 must be of the study that is asked for, with the command"
    )
    assert (tmp_path / "s.csv").read_text() == before


def test_a_program_inside_of_a_torchrun_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "1")
    monkeypatch.setenv("RANK", "0")
    assert "got a torchrun around it" in refusal(scalelab(*SLEEP, folder=tmp_path))
