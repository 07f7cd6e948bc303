"""What holds for every test: which are run, in which order, and what each costs.

`make test` runs one test for each promise; what is marked `thorough`, or is not among today's samples
and turns (see `sampling.py`), waits for `make test-all` or for somebody who names it.
"""

from __future__ import annotations

import gc
import os
import re
import signal
import time
import tomllib
from collections import Counter

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

from tests import changes
from tests.sampling import SEED, seed, take_turns

ROOT = changes.ROOT
SLOW = ROOT / "tests" / "slow.toml"
LIMIT = 10.0  # seconds of processor time without a reason in SLOW, on a quiet core
QUIET = 0.018  # seconds in which such a core, of an AMD EPYC, adds up a million numbers
SHOWN, FILES_SHOWN = 20, 30
BEGAN = time.monotonic()
HALVED = ("cycle/test_scores.py",)  # a section is one of its fixtures
FIRST = (
    "tests/browser/test_lab.py",
    "tests/browser/",
    "tests/cycle/",
)  # the longest, lest they end last
if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # as a shell has it for what runs in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)
gc.disable()  # until all is collected: what is found lasts, and each search of it takes half a second
os.environ.setdefault(SEED, str(seed()))  # the processes of one run agree, at midnight too


def pytest_addoption(parser):
    """Add the options that choose a ring."""
    parser.addoption("--all", action="store_true", help="also what is marked thorough")
    parser.addoption(
        "--since", metavar="COMMIT", help="only what is thorough and touches a change since"
    )
    parser.addoption("--minutes", type=float, help="start no test after so long")


def pytest_report_header():
    """Say what repeats today's choice."""
    return f"samples of {SEED}={seed()}"


@pytest.hookimpl(tryfirst=True)  # hypothesis takes its seed from the options afterwards
def pytest_configure(config):
    """Search more where time is no matter; keep an account of costs where the results arrive."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup what tests start would be deaf to it
    settings.register_profile("day", max_examples=25, database=None, deadline=None)
    settings.register_profile("all", max_examples=100, database=None, deadline=None)
    settings.load_profile("all" if config.option.all else "day")
    config.option.hypothesis_seed = config.option.hypothesis_seed or str(seed())
    config.pluginmanager.register(Meter(), "meter")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Account(), "account")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Keep one ring; the longest comes first."""
    items.sort(key=_place)
    take_turns(items)
    option = config.option
    named = option.keyword or option.markexpr or any("::" in one for one in config.args)
    if option.since:
        touched = changes.touched(option.since)
        keep = [one for one in items if _thorough(one) and touched(one)]
    elif option.all or named:
        return
    else:
        keep = [one for one in items if not _thorough(one)]
    kept = set(keep)
    config.hook.pytest_deselected(items=[one for one in items if one not in kept])
    items[:] = keep


def pytest_collection_finish():
    """Spare what stays to the end of the run from every search for garbage."""
    gc.freeze()
    gc.enable()


def pytest_xdist_make_scheduler(config, log):
    """Let each core take a file at a time."""
    return Files(config, log)


class Files(LoadScopeScheduling):
    """What shares a file shares its fixtures, so it stays together; of the dearest each core takes half."""

    def _split_scope(self, nodeid):
        file = nodeid.partition("::")[0]
        section = re.search(r"\[(\d\d)_", nodeid)
        return f"{file} {int(section[1]) % 2}" if section and file.endswith(HALVED) else file


def _thorough(item):
    return item.get_closest_marker("thorough") is not None


def _place(item):
    return next((at for at, start in enumerate(FIRST) if item.nodeid.startswith(start)), len(FIRST))


def processor():
    """Return the seconds of processor time that this process and its ended children have used."""
    return sum(os.times()[:4])


def pace():
    """Return how many times as long as on a quiet core work takes here and now, and at least 1."""
    took = []
    for _ in range(5):
        start, total = time.thread_time(), 0
        for number in range(1_000_000):
            total += number
        took.append(time.thread_time() - start)
    return max(1.0, min(took) / QUIET)


class Meter:
    """What each test costs, a doctest of the package too, which this file's own hooks would not see."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item):
        """Leave a test alone, and what it would ask for, when the time is over."""
        os.environ.pop("COLUMNS", None)  # an earlier test's program may have told all a width
        minutes = item.config.option.minutes
        if minutes and time.monotonic() > BEGAN + 60 * minutes:
            pytest.skip("no time left: `make test-all` runs it")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        """Note what has been spent before a test and what it is the first to ask for."""
        item.config.began = processor()
        yield

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        """Send the cost along with the last of a test's reports."""
        outcome = yield
        if call.when == "teardown":
            report = outcome.get_result()
            report.processor = processor() - item.config.began
            report.dear = report.processor > LIMIT and report.processor / pace() > LIMIT


class Account:
    """The costs of all tests of a run: the dearest are shown, and none may hide."""

    def __init__(self):
        self.costs, self.hidden, self.dear = {}, [], []
        self.clock = Counter()

    def pytest_runtest_logreport(self, report):
        """Remember a cost, and what passed on the clock meanwhile."""
        self.clock[report.nodeid] += report.duration
        if hasattr(report, "processor"):
            self.costs[report.nodeid] = report.processor
            self.dear += [report.nodeid] * report.dear

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session):
        """Fail a run in which a test without a reason was dear."""
        reasons = tomllib.loads(SLOW.read_text())
        self.hidden = [name for name in self.dear if not name.startswith(tuple(reasons))]
        if self.hidden and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        """Print the dearest, and those that no reason covers."""
        say = terminalreporter.write_line
        dearest = Counter(self.costs).most_common(SHOWN)
        terminalreporter.section(f"the {len(dearest)} dearest: seconds of processor, of the clock")
        for name, cost in dearest:
            say(f"{cost:7.1f} {self.clock[name]:7.1f}  {name}")
        files, waited = Counter(), Counter()
        for name, cost in self.costs.items():
            files[name.partition("::")[0]] += cost
            waited[name.partition("::")[0]] += self.clock[name]
        say("by file, by the clock:")
        for name, seconds in waited.most_common(FILES_SHOWN):
            say(f"{files[name]:7.1f} {seconds:7.1f}  {name}")
        say(
            f"{files.total():7.1f} {waited.total():7.1f}"
            f"  all {len(self.costs)}; samples of {SEED}={seed()}"
        )
        for name in self.hidden:
            say(
                f"{name} needs over {LIMIT:.0f} s: make it cheaper, or give the reason in {SLOW.name}",
                red=True,
            )
