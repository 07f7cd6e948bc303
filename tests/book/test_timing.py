"""The page *Time your own code*: what it shows in Python is run, and its commands are those there are."""

import doctest
import re
import shlex

from scalelab.cli import commands
from tests.cli.command import scalelab
from tests.notebooks import ROOT

PAGE = (ROOT / "book" / "timing.md").read_text()
BLOCKS = re.findall(
    r"^```(?:\{code-block\} )?(\w+)\n(?::[\w-]+:.*?\n)*(.*?)^```", PAGE, re.M | re.S
)


def of(kind):
    return [text for name, text in BLOCKS if name == kind]


def test_every_answer_on_the_page_is_what_its_code_returns():
    shown = "\n".join(block for block in of("python") if block.startswith(">>> "))
    told = doctest.DocTestParser().get_doctest(shown, {}, "timing", "timing.md", 0)
    report = []
    results = doctest.DocTestRunner().run(told, out=report.append)
    assert results.attempted > 15
    assert results.failed == 0, "".join(report)


def test_what_a_command_is_shown_to_print_is_what_it_prints():
    """But for the numbers, which its own stamp says are of that machine and day."""
    line, *_ = of("bash")
    shown = "".join(of("text")).splitlines()
    *_, two, other = shlex.split(line)
    done = scalelab("time", two, other, "--runs", 7, "--warmup", 1).stdout.splitlines()
    assert shown[1].split() == done[1].split()
    for at in (0, 2, 3):
        assert re.split(r"  +", shown[at].strip())[0] == re.split(r"  +", done[at].strip())[0]
    said = r"python -c 'import asyncio' is \w+: \S+ times as \w+ \(\S+ to \S+\)"
    assert re.fullmatch(said, shown[-1])
    assert any(one.startswith("measured here · ") for one in shown)


def test_every_option_on_the_page_is_one_there_is():
    known = {
        option
        for command in ("time", "audit", "fit", "plan")
        for parameter in commands.commands[command].params
        for option in (*parameter.opts, *parameter.secondary_opts)
    }
    used = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", PAGE))
    of_run = {"--command", "--workers", "--nproc-per-node"}
    assert used - of_run - known == set()
