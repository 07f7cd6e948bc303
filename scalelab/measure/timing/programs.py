"""Whole programs timed from their start to their end, several by turns.

A program is started without a shell unless one is asked for, reads nothing and is not heard. It has a
process group of its own, so that Ctrl-C or a limit ends it with all that it started.
"""

from __future__ import annotations

import os
import random
import re
import shlex
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from statistics import median
from typing import IO, NamedTuple

from scalelab.arguments import real, shown, unpainted, whole
from scalelab.measure.timing import compare, rounds
from scalelab.measure.timing.compare import Compared
from scalelab.records import Caution
from scalelab.refusal import Failure, Refusal
from scalelab.units import counted, text

_PATIENCE = 2.0  # seconds between asking a program to end and ending it
_UNREAD = re.compile(r"[*?]|\$\w|\$\{|(?<!\S)~")  # of a line without a shell, as it stands
_FAILED = "a run failed"  # why there are no more
_MOST = 2000  # characters of the end of what a program that failed has said
_UNHEARD = nullcontext()
# Asks us to end; and what a program is to take as if nobody had changed it.
_ENDS = {signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)}
_OURS = _ENDS | {getattr(signal, name, signal.SIGTERM) for name in ("SIGPIPE", "SIGXFSZ")}


@dataclass(frozen=True)
class Program:
    """What is started: a line as it was typed, and the words that it is made of."""

    line: str
    words: tuple[str, ...]


class Run(NamedTuple):
    """One run of a program, from its start to its end."""

    seconds: float
    user: float  # processor seconds of its own, and of what it started and waited for
    system: float  # ... and of the system on its behalf
    fault: str = ""  # how it ended, if not with exit code 0


def program(line: str, *, shell: bool = False) -> Program:
    """Return the program that a line calls, cut into words as a shell does, or the shell that reads it.

    >>> program("python -c 'pass'").words
    ('python', '-c', 'pass')
    """
    if not isinstance(line, str) or not line.strip() or "\0" in line:
        raise Refusal(
            f"command must be text that names a program, got {shown(line)}: write it as you type it"
        )
    if shell:
        return Program(line, ("/bin/sh", "-c", line))
    try:
        words = tuple(shlex.split(line))
    except ValueError as error:
        raise Refusal(
            f"command must close its quotes, got {shown(line)}: {str(error).lower()}"
        ) from None
    if not words or not words[0]:
        raise Refusal(f"command must name a program, got {shown(line)}: write it as you type it")
    if sign := _for_a_shell(line):
        raise Refusal(
            f"command must be one program where there is no shell, got {shown(sign)} in it: "
            "say --shell, or put quotes around what is meant as text"
        )
    return Program(line, words)


def _for_a_shell(line):
    """Return what of a line only a shell would understand: a pipe would be an argument like any other."""
    words = shlex.shlex(line, posix=False, punctuation_chars=True)
    words.whitespace_split, words.commenters = True, ""
    try:
        return next((word for word in words if set(word) <= set("();<>|&")), "")
    except ValueError:  # quotes within words
        return ""


class Race:
    """Programs that take turns; what is known so far is kept, also when it is interrupted."""

    def __init__(
        self,
        programs: Sequence[Program],
        *,
        names: Sequence[str] = (),
        prepare: Sequence[Program] = (),
        ignore: bool = False,
        limit: float | None = None,
        show: bool = False,
    ) -> None:
        self.programs, self.ignore, self.show = tuple(programs), ignore, show
        if not self.programs:
            raise Refusal("programs must be at least one, got none: name what to time")
        if len(set(names)) < len(names):
            raise Refusal(f"names must differ, got {', '.join(names)}: give each its own")
        self.names = tuple(names) or tuple(one.line for one in self.programs)
        if len(self.names) != len(self.programs):
            raise Refusal(
                f"names must be as many as the {counted(len(self.programs), 'command')}, got "
                f"{len(self.names)}: name each, or none"
            )
        self.names = tuple(_told_apart(self.names))
        if len(prepare) not in (0, 1, len(self.programs)):
            raise Refusal(
                f"prepare must be one for all or one for each of the {len(self.programs)} commands, "
                f"got {len(prepare)}: say it once"
            )
        prepare = tuple(prepare)
        self.prepare = prepare * len(self.programs) if len(prepare) == 1 else prepare
        self.limit = (
            None if limit is None else real("limit", limit, "a run may take so long", 0, above=True)
        )
        self.turns: list[list[float]] = []
        self._starts: dict[int, _Start] = {}
        self._runs: list[list[Run]] = [[] for _ in self.programs]
        self._stopped = "interrupted"
        self._precision = 0.02

    def run(
        self,
        *,
        runs: int | None = None,
        warmup: int | None = None,
        budget: float = 5.0,
        precision: float = 0.02,
        seed: int = 0,
        watch: Callable[[list[float]], object] | None = None,
    ) -> Compared:
        """Warm each up, then let them take turns until enough is known, or for so many `runs`.

        Enough: the median of one, or the ratio of each of several to the first, within `precision`.
        `budget` seconds for each end it sooner, but not before as many turns as an
        interval takes, six for one or two. Without `warmup` each runs
        until it is steady. `watch` is called after every turn with its seconds.
        """
        checked(runs, warmup, budget, precision)
        if not self.prepare:  # which may make what is timed
            self._look()
        try:
            return self._run(runs, warmup, budget, precision, seed, watch)
        except Refusal as refusal:
            if not self.turns:
                raise
            self._stopped = _FAILED
            raise Failure(str(refusal)) from None  # what was there for the first turn has gone
        except Failure:
            self._stopped = _FAILED
            raise

    def _run(self, runs, warmup, budget, precision, seed, watch):
        order = random.Random(whole("seed", seed, "it starts the random order", 0))
        enough = compare.known(len(self.programs), precision)
        self._precision = precision
        for place in range(len(self.programs)):
            self._warm(place, warmup, budget)
        turn = compare.one_turn(
            [partial(self._timed, place) for place in range(len(self.programs))], order
        )

        def watched() -> list[float]:
            seconds = turn()
            if watch:
                watch(seconds)
            return seconds

        if runs is None:
            total = budget * len(self.programs)
            _, self._stopped = rounds.repeat(
                watched,
                enough,
                total,
                time.perf_counter,
                least=compare.fewest(len(self.programs)),
                readings=self.turns,
            )
        else:
            while len(self.turns) < runs:
                self.turns.append(watched())
            self._stopped = f"runs: {runs} asked for"
        return self.compared()

    def _look(self):
        """Refuse what cannot be started, before anything is."""
        for place, one in enumerate(self.programs):
            try:
                self._starts[place] = _start(one)
            except Refusal as refusal:
                words = [p.line for p in self.programs]
                if len(words) == 1 or any(" " in word.strip() for word in words):
                    raise
                whole = shlex.quote(" ".join(words))
                raise Refusal(
                    str(refusal).partition(": ")[0],
                    f"if it is a word of one command, put all of it in quotes: {whole}",
                ) from None

    def compared(self) -> Compared:
        """Return what the turns that were finished say."""
        if not self.turns:
            raise Failure("no turn was finished: nothing is known")
        columns = list(zip(*self.turns, strict=True))
        samples = []
        for place, seconds in enumerate(columns):
            runs = self._runs[place][: len(seconds)]
            faults = [one.fault for one in runs if one.fault]
            given: dict[str, float | str | bool] = {
                "command": self.programs[place].line,
                "user": median(one.user for one in runs),
                "system": median(one.system for one in runs),
                "failures": len(faults),
            }
            sample = rounds.sample(
                self.names[place], seconds, 1, self._stopped, self._precision, given
            )
            samples.append(_cautioned(sample, faults))
        return Compared(tuple(samples))

    def _warm(self, place: int, warmup: int | None, budget: float) -> None:
        if warmup is None:
            rounds.settle(lambda _: self._once(place, heard=True).seconds, 0.0, budget)
        for _ in range(warmup or 0):
            self._once(place, heard=True)

    def _timed(self, place: int) -> float:
        done = self._once(place)
        self._runs[place].append(done)
        return done.seconds

    def _once(self, place: int, heard: bool = False) -> Run:
        if self.prepare:
            finish(self.prepare[place], "--prepare", limit=self.limit, show=self.show)
            self._starts[place] = _start(self.programs[place])
        # What a program says before it counts is kept, in case that it fails.
        with tempfile.TemporaryFile() if heard and not self.show else _UNHEARD as errors:
            done = _run(self.programs[place], self._starts[place], self.limit, self.show, errors)
            if done.fault and not self.ignore:
                raise _failed(self.programs[place], done.fault, errors)
        return done


def _told_apart(names):
    """Yield names of which none is there twice, however its blanks are.

    >>> [*_told_apart(["true", "true ", "a"])]
    ['true', 'true (2)', 'a']
    """
    seen: Counter[str] = Counter()
    for name in names:
        plain = " ".join(name.split())
        seen[plain] += 1
        yield name if seen[plain] == 1 else f"{plain} ({seen[plain]})"


def checked(runs: int | None, warmup: int | None, budget: float, precision: float) -> None:
    """Refuse what a race cannot be told, before anything runs."""
    real("budget", budget, "it is in seconds, for each command", 0, above=True)
    real("precision", precision, "it is a share of the median", 0, above=True)
    if runs is not None:
        whole("runs", runs, "it counts the timed runs of each command", 1, 1_000_000)
    if warmup is not None:
        whole("warmup", warmup, "it counts the runs before those that count", 0, 1_000_000)


def finish(
    program: Program, what: str = "command", *, limit: float | None = None, show: bool = False
) -> None:
    """Run a program that must succeed, such as what prepares the others."""
    with _UNHEARD if show else tempfile.TemporaryFile() as errors:
        try:
            done = run(program, limit=limit, show=show, errors=errors)
        except Refusal as refusal:
            raise Refusal(f"{what}: {refusal}") from None
        if done.fault:
            raise _said(f"{what}: {program.line} {done.fault}: mend it", errors)


def run(
    program: Program,
    *,
    limit: float | None = None,
    show: bool = False,
    errors: IO[bytes] | None = None,
) -> Run:
    """Start a program, wait for its end, and return what it took.

    It reads nothing. What it writes is thrown away, or with `show` goes where our errors go; `errors`
    takes its errors instead. If it is interrupted, or takes longer than `limit`, it ends with all that
    it started.

    >>> run(program("true")).fault
    ''
    """
    return _run(program, _start(program), limit, show, errors)


class _Start(NamedTuple):
    """What a program is started with; found once, for it takes as long as a hundredth of a short run."""

    place: str
    environment: dict[bytes, bytes]


def _start(program):
    if not hasattr(os, "posix_spawn"):
        raise Refusal("programs must run on Linux or macOS, got Windows: use it inside WSL")
    # Plain, so that nothing is turned into it while the clock runs.
    return _Start(_found(program), dict(os.environb))


def _run(program, begin, limit, show, errors):
    # What we do between two runs is time in which nothing is timed, and dear: its code is seldom in a cache.
    files = _files(show, errors)
    # Ctrl-C between the start and our knowing of it would leave the program behind.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
    start = time.perf_counter()
    try:
        child = os.posix_spawn(
            begin.place, program.words, begin.environment,
            file_actions=files, setpgroup=0, setsigmask=mask, setsigdef=_OURS,
        )  # fmt: skip
    except OSError as error:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        _found(program)  # which says more of one that has gone
        raise Refusal(
            f"{program.words[0]} cannot be started ({error.strerror}): begin a script with #! and "
            "its interpreter, or say --shell"
        ) from None
    watch = None if limit is None else _Watch(child, limit)
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        _, status, used = os.wait4(child, 0)
    except BaseException:
        if watch:
            watch.over()
        _end(child)
        raise
    seconds = time.perf_counter() - start
    if watch:
        watch.over()
    fault = f"took longer than {text(limit, 's')}" if watch and watch.late else _fault(status)
    return Run(seconds, used.ru_utime, used.ru_stime, fault)


def _files(show, errors):
    """Return where a program reads nothing and writes nowhere, or its output and errors where we say."""
    said = sys.__stderr__.fileno() if show and sys.__stderr__ else None
    heard = errors.fileno() if errors else said
    nothing = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDWR, 0)
    if heard is None:
        return nothing, (os.POSIX_SPAWN_DUP2, 0, 1), (os.POSIX_SPAWN_DUP2, 0, 2)
    # What hears the errors comes first: it may be number 0, where we have no input of our own.
    return (os.POSIX_SPAWN_DUP2, heard, 2), nothing, (os.POSIX_SPAWN_DUP2, said or 0, 1)


class _Watch:
    """Ends a process group when its time is over."""

    def __init__(self, child: int, limit: float) -> None:
        self.late, self._lock = False, threading.Lock()
        self._timer: threading.Timer | None = threading.Timer(limit, self._strike, [child])
        self._timer.daemon = True
        self._timer.start()

    def _strike(self, child: int) -> None:
        with self._lock:
            if self._timer:
                self.late = True
                _signal(child, signal.SIGKILL)

    def over(self) -> None:
        """Wait no more: the process has ended, and its number may be another's."""
        with self._lock:
            if self._timer:
                self._timer.cancel()
            self._timer = None


def _signal(child, which):
    try:
        os.killpg(child, which)
    except (ProcessLookupError, PermissionError):  # it has gone; macOS says so in its own way
        return


def _end(child):
    """Ask a process and what it started to end, then make them, and leave no zombie."""
    _signal(child, signal.SIGTERM)
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        try:
            gone, _ = os.waitpid(child, os.WNOHANG)
        except ChildProcessError:  # it was waited for just when we were interrupted
            return
        if gone:
            break
        time.sleep(0.01)
    _signal(child, signal.SIGKILL)  # whatever of its group has stayed
    try:
        os.waitpid(child, 0)
    except ChildProcessError:
        return


def _found(program):
    name = program.words[0]
    place = shutil.which(name)
    if place:
        return place
    if os.path.isdir(name):
        raise Refusal(f"{name} is a folder and no program: name what to start")
    if os.path.sep in name and os.path.exists(name):
        raise Refusal(f"{name} may not be started: chmod +x it, or name its interpreter first")
    hint = "install it, or check its spelling"
    if any(sign in name for sign in "=$~*"):
        hint = "variables, ~ and * are for a shell, so say --shell"
    raise Refusal(f"{name} was not found among the programs: {hint}")


def _fault(status):
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        try:
            return f"was killed by {signal.Signals(number).name}"
        except ValueError:  # a real-time signal
            return f"was killed by signal {number}"
    code = os.waitstatus_to_exitcode(status)
    return f"ended with exit code {code}" if code else ""


def _failed(program, fault, errors):
    remedy = "mend it, or say --ignore-failure to time it all the same"
    if program.words[:2] != ("/bin/sh", "-c") and (sign := _UNREAD.search(program.line)):
        remedy = f"if {sign[0]} is meant for a shell, say --shell; else {remedy}"
    return _said(f"{program.line} {fault}: {remedy}", errors)


def _said(sentence, errors):
    failure = Failure(sentence)
    if errors:
        errors.seek(0)
        failure.output = unpainted(errors.read().decode(errors="replace")).rstrip()[-_MOST:]
    return failure


def _cautioned(sample, faults):
    """Add that some runs failed, which somebody chose to ignore."""
    if not faults:
        return sample
    said = (
        f"{len(faults)} of {counted(len(sample.seconds), 'run')} failed, the first of them "
        f"{faults[0]}: such times may be of something else than the work."
    )
    return replace(sample, advice=(Caution("failures", said), *sample.advice))
