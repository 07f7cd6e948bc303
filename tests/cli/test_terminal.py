"""Terminal manners: colour and width where they can be seen, plain letters where it has no others."""

import os
import pty
import re
import subprocess
import sys
import termios

import pytest

from scalelab.cli import commands, terminal
from tests.cli.command import ENVIRONMENT, MODULE, process, scalelab
from tests.sampling import sampled

pytestmark = pytest.mark.turns(3)

TABLE = "GPUs,Zeit (min)\n1,92.5\n2,47\n4,OOM\n8,40\n"
BARS = {"█" * n + "░" * (20 - n) for n in range(21)}
PLAIN = {
    k: v for k, v in ENVIRONMENT.items() if k not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TERM")
}


def on_a_terminal(*arguments, folder, columns=80, **environment):
    """Run a command whose output is a real terminal, and return what it writes there."""
    ours, its = pty.openpty()
    termios.tcsetwinsize(its, (24, columns))
    env = PLAIN | {"TERM": "xterm"} | environment
    with subprocess.Popen([*MODULE, *arguments], stdout=its, stderr=its, cwd=folder, env=env):
        os.close(its)
        parts = []
        try:
            while part := os.read(ours, 65536):
                parts.append(part)
        except OSError:  # as Linux says that the other end is closed
            pass
    os.close(ours)
    return b"".join(parts).decode()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "runs.csv").write_text(TABLE)
    return tmp_path


@pytest.mark.parametrize(
    ("environment", "coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False), ({"NO_COLOR": ""}, True)],
)
def test_a_terminal_gets_colour_unless_it_is_told_not_to(environment, coloured, folder):
    said = on_a_terminal("audit", "runs.csv", folder=folder, **environment)
    assert ("\x1b[" in said) == coloured
    assert "few_points" in said


def test_a_pipe_gets_none_unless_it_is_forced(folder):
    said = process("audit", "runs.csv", cwd=folder, env=PLAIN).stdout
    forced = process("audit", "runs.csv", cwd=folder, env=PLAIN | {"FORCE_COLOR": "1"}).stdout
    assert "\x1b" not in said
    assert re.sub(r"\x1b\[\d+m", "", forced) == said != forced


def test_columns_are_what_the_environment_says(folder):
    wide, narrow = (
        process("audit", "runs.csv", cwd=folder, env=PLAIN | {"COLUMNS": n}).stdout
        for n in ("100", "40")
    )
    assert "█" in wide
    assert "█" not in narrow
    listed = process("series", env=PLAIN | {"COLUMNS": "80"}).stdout.splitlines()[:-2]
    assert max(map(len, listed)) == 80


WIDE = (
    "audit usl_raytracer",
    "audit nv_bert_tf2_a100_seq128_fp16",
    "fit usl_raytracer --at 96,192",
    "plan example --notes",
    "rubric nv_gnmt_dgx1_v100_fp16 --price 3 --tolerance 0.3",
    "series",
    "machine",
)


@pytest.mark.parametrize("columns", [40, 60, 80])
@pytest.mark.parametrize("line", sampled(WIDE, 2))
def test_no_line_is_wider_than_the_terminal_and_no_number_is_lost(line, columns):
    narrow = scalelab(*line.split(), columns=columns).stdout
    assert [one for one in narrow.splitlines() if len(one) > columns and " " in one.strip()] == []
    if line != "series":  # which cuts its lessons, as it says
        wide = scalelab(*line.split()).stdout
        assert {*wide.split()} - {*narrow.split()} <= BARS


def test_a_real_terminal_of_sixty_columns_gets_no_line_that_it_would_break(folder):
    said = on_a_terminal("plan", "example", folder=folder, columns=60, NO_COLOR="1")
    assert max(map(len, said.splitlines())) <= 60
    assert "1,030,000" in said


def test_the_answer_of_time_is_broken_between_words_as_well():
    names = ("-n", "the old way", "-n", "the new way of doing it")
    done = scalelab("time", "true", "true", "-r", 6, "-w", 0, *names, columns=50)
    assert max(map(len, done.stdout.splitlines())) <= 50


def test_a_mistake_is_broken_between_words_as_well(folder):
    said = on_a_terminal("audit", "nope", folder=folder, columns=50, NO_COLOR="1")
    assert max(map(len, said.splitlines())) <= 50
    assert " ".join(said.split()).startswith("scalelab: FILE must be a file here or the name")


def test_a_terminal_of_few_letters_gets_them_spelt(folder):
    for encoding in ("ascii", "latin-1"):
        env = PLAIN | {"PYTHONIOENCODING": encoding}
        said = subprocess.run(
            [*MODULE, "audit", "runs.csv"], cwd=folder, env=env, capture_output=True
        )
        assert said.returncode == 0
        text = said.stdout.decode(encoding)
        assert "-> Mend that" in text
        assert "####" in text
        assert "?" not in text


def test_the_codes_in_a_name_do_not_reach_the_terminal(folder):
    (folder / "bad.csv").write_text("workers,seconds,\x1b[31mred\n1,60,x\n2,31,x\n")
    (folder / "\x1b[31mred.csv").write_text("workers,seconds\n1,60\n2,31\n")
    for name in ("bad.csv", "\x1b[31mred.csv"):
        assert (
            "\x1b[31mred"
            not in process("audit", name, cwd=folder, env=PLAIN | {"FORCE_COLOR": "1"}).stdout
        )


@pytest.mark.parametrize("name", [None, *commands.commands])
def test_h_is_help_and_every_command_can_be_quiet(name):
    arguments = [name] if name else []
    helped, short = (scalelab(*arguments, option) for option in ("--help", "-h"))
    long = helped.stdout
    assert short.stdout == long, short
    assert "-q, --quiet" in long or name is None
    assert max(map(len, long.splitlines())) <= 80


def test_the_first_screen_says_where_to_begin_and_cuts_no_summary():
    said = scalelab().stdout
    assert "..." not in said.partition("Commands:")[2]
    assert (
        said.index("scalelab time") < said.index("For those who run a course") < said.index("keys")
    )


def test_a_quiet_run_shows_no_progress(folder):
    """On a terminal, where there would be a bar."""
    short = ("run", "independent", "--workers", "1", "--set", "items=2", "--repetitions", "1")
    said = on_a_terminal(*short, "--quiet", folder=folder)
    assert "it/s" not in said
    assert "%|" not in said
    assert "measured here" not in said
    assert "workers" in said


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("au", "audit"),
        ("audit sysbench_c", "sysbench_cpu"),
        ("series usl_r", "usl_raytracer"),
        ("probe --qui", "--quick"),
    ],
)
def test_a_shell_completes_commands_options_and_series(typed, offered):
    words = f"scalelab {typed}".split()
    asked = {"_SCALELAB_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(words)}
    asked["COMP_CWORD"] = str(len(words) - 1)
    said = subprocess.run(
        [sys.executable, "-c", "from scalelab.cli import main; main()"],
        env=PLAIN | asked, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert f"plain,{offered}" in said.stdout.splitlines()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_is_given_its_completion(shell):
    env = PLAIN | {"_SCALELAB_COMPLETE": f"{shell}_source"}
    said = subprocess.run(
        [sys.executable, "-c", "from scalelab.cli import main; main()"],
        env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "_SCALELAB_COMPLETE" in said.stdout


def test_paint_changes_no_letter():
    for line in ("error    units", "  → do this", "nothing wrong was found", "  8  90%  ██░░"):
        assert re.sub(r"\x1b\[\d+m", "", terminal.painted(line)) == line
        assert terminal.painted(line) != line
