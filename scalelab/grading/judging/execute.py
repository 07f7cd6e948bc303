"""Run what a student handed in, exercise by exercise, and write down what came out.

A fresh process for each exercise: what goes wrong in one is over in the next. Where a check
stands, it is asked what that check shows; the process is copied there, and the copy is called with
the hidden inputs only when everything else is known. So they reach nothing that anybody is shown.
Nothing is judged before the process is gone. Standard library only.
"""

import time
from collections import Counter
from collections.abc import Collection, Container
from dataclasses import dataclass, field

from scalelab.checks import keys
from scalelab.checks.call import Outcome
from scalelab.checks.plain import Unreadable
from scalelab.grading.box import wire
from scalelab.grading.box.clean_output import Shown, cleaned, stopped
from scalelab.grading.box.sandbox import Died, Sandbox
from scalelab.grading.inputs.flag import GRAVE, NOTICED, Flag
from scalelab.grading.inputs.read import Handed
from scalelab.grading.inputs.source import Source
from scalelab.grading.inputs.steps import inert, steps

GRACE = 1.0  # seconds beyond its limit before a process that does not stop is ended
OWN = 1 / 3  # of a submission's time that a student's own cells may take together
KEPT = 1_000_000  # bytes of what all cells of a submission show, pictures included
HEARD = 20_000_000  # bytes of all that its checks are told: ten times as much when it is read
# By check: the names to read, and the calls as (function, its cases, whether they are hidden).
Plan = dict[str, tuple[dict[str, None], list[tuple[str, list[str], bool]]]]
_WHY = {"flood": "sent too much", "ended": "ended the process"}


@dataclass(frozen=True)
class TimeLimits:
    """Seconds for one cell, for the calls of one sub-check, and for a whole submission."""

    cell: float = 10.0
    call: float = 10.0
    submission: float = 90.0


@dataclass
class Transcript:
    """What running a submission gave, all of it plain data.

    By check: `values` {name: (whether it can be called, plain value)} and `outcomes` {name: lists
    of Outcomes, one for each sub-check that calls it}. `cells` is by cell, in order; `gone` are
    the checks that could not be asked to the end.
    """

    values: dict[str, dict[str, tuple[bool, object]]] = field(default_factory=dict)
    outcomes: dict[str, dict[str, list[list[Outcome]]]] = field(default_factory=dict)
    cells: dict[str, Shown] = field(default_factory=dict)
    flags: list[Flag] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)
    late: bool = False  # something took too long


def execute(
    sandbox: Sandbox,
    source: Source,
    handed: Handed,
    plan: Plan,
    limits: TimeLimits,
    only: Collection[str],
    key: str = "",
) -> Transcript:
    """Run what some checks need and return the Transcript; `key` gives a student's own numbers."""
    ready = () if handed.extras.get("") else sandbox.ready  # own cells before them come before them
    run = _Run(sandbox, source, plan, limits, key, ready)
    setup, *exercises = source.exercises
    exercises = exercises or [setup]
    for number, exercise in enumerate(exercises):
        checks = [c.id for c in exercise if c.check and c.id in only]
        if checks:
            needed = steps(setup, exercises[:number], exercise, handed)
            run.exercise(
                [(k, text) for k, text in needed if text is not None or k in checks], checks
            )
    sandbox.wait()
    return run.transcript


class _Run:
    """One submission on its way through its processes."""

    def __init__(
        self,
        sandbox: Sandbox,
        source: Source,
        plan: Plan,
        limits: TimeLimits,
        key: str,
        ready: Container[str],
    ) -> None:
        self.sandbox, self.plan, self.limits, self.key = sandbox, plan, limits, key
        self.ready = ready  # cells of ours that each fork has run already
        self.ours = {c.text for c in source.cells if c.kind == "code" and not c.answer}
        self.end = time.monotonic() + limits.submission
        self.transcript = Transcript()
        self.groups: dict[str, list[list[Outcome]]] = {}  # by check, those of each of its calls
        self.dead: set[str] = set()  # steps that ended a process, or own cells without an end
        self.again: set[str] = set()  # checks whose visible calls are made once more
        self.own = OWN * limits.submission  # seconds left for the student's own cells
        self.room, self.heard = KEPT, wire.Room(HEARD)
        self.told: Counter[str] = Counter()  # bytes, by check
        self.timeout = Outcome(error="Timeout", said=f"{limits.call:g} s")
        # What the process is doing, for the case that it dies of it: the step, the outcomes of the
        # call, the check and the name that is read.
        self.at = ""
        self.calling: list[Outcome] | None = None
        self.reading: tuple[str, str] | None = None

    def exercise(self, steps, checks):
        """Run the steps in a process, and again in another without the one that ended it."""
        for check in checks:
            self._expect(check)
        shown, hidden = [*checks], [*checks]
        # Each process that dies leaves out what it died of, and each that does not answers a check;
        # one more for each check that makes room for others.
        for _ in range(len(steps) + len(checks) + sum(map(self._asked, checks))):
            if not (shown or hidden) or time.monotonic() > self.end:
                break
            now = steps
            if not shown:  # what is left to ask could not be asked of a copy
                now = steps[: steps.index((hidden[0], None)) + 1]
                self.again.add(hidden[0])
            fork = self.sandbox.fork({keys.VARIABLE: self.key})
            fork.room = self.heard
            try:
                copies = self._steps(fork, now, shown)
                self._hidden(copies, hidden)
            except Died as death:
                self._died(str(death))
            finally:
                fork.kill()
        self.transcript.gone.update(shown, hidden)

    def _asked(self, check):
        names, calls = self.plan[check]
        return 1 + len(names) + len(calls)

    def _expect(self, check):
        """Make room for the outcomes of every call of a check, in the order of the check."""
        self.transcript.values[check] = {}
        outcomes = self.transcript.outcomes[check] = {}
        self.groups[check] = [[] for _ in self.plan[check][1]]
        for (name, *_), group in zip(self.plan[check][1], self.groups[check], strict=True):
            outcomes.setdefault(name, []).append(group)

    def _steps(self, fork, steps, shown):
        """Run the steps and ask what is shown; return {check: the process as it was there}."""
        copies = {}
        for key, text in steps:
            self.at = key
            if text is not None:
                if key not in self.dead and text not in self.ready:
                    self._cell(fork, key, text)
                continue
            if key in shown:
                self._names(fork, key)
                self._calls(fork, key, hidden=False)
                shown.remove(key)
            elif key in self.again:
                self._repeat(fork, key)
            if self._unchanged(steps, key):
                copies[key] = fork
            elif self._open(key, hidden=True) and key not in self.dead:
                copies[key] = fork.copy(self._left(self.limits.call))
        return copies

    def _unchanged(self, steps, check):
        """Say whether the process can still answer for this check when all steps have run.

        Copying it would cost more than a cell does, and most need no copy.
        """
        at = steps.index((check, None))
        earlier, later = (
            [t for _, t in part if t is not None] for part in (steps[:at], steps[at:])
        )
        return not later or inert(later, earlier, self.ours)

    def _hidden(self, copies, hidden):
        """Make the hidden calls of every check whose process, as it was there, is still alive."""
        for check in [*hidden]:
            self.at = check
            if self._open(check, hidden=True):
                if not (copies.get(check) and copies[check].alive(self._left(self.limits.call))):
                    continue
                self._calls(copies[check], check, hidden=True)
            hidden.remove(check)

    def _cell(self, fork, key, text):
        own = "+" in key
        if own and self.own <= 0:
            what = f"took longer than {OWN * self.limits.submission:g} s together"
            self._flag(f"cells of the student's own {what}; the rest of them was not run")
            return
        began, room = time.monotonic(), self.heard.left
        try:
            reply = self._ask(fork, {"run": text}, self.limits.cell)
        finally:
            self.heard.left = room  # most of it is not kept, see below
            if own:
                self.own -= time.monotonic() - began
        if reply.get("late") is True:
            self._late(key)
        elif key not in self.transcript.cells:
            self.transcript.cells[key] = self._fitting(cleaned(reply))

    def _fitting(self, shown):
        """Return what a cell showed, without the pictures and the text that there is no room for."""
        for place, picture in enumerate(shown["pictures"]):
            if len(picture) > self.room:
                shown["pictures"] = shown["pictures"][:place]
                self._flag("cells showed more than is kept", gravity=NOTICED)
                break
            self.room -= len(picture)
        shown["text"] = shown["text"][: max(self.room, 0)]
        self.room -= len(shown["text"])
        return shown

    def _names(self, fork, check):
        """Ask what the names stand for that a check wants to know."""
        values = self.transcript.values[check]
        names = [name for name in self.plan[check][0] if name not in values]
        left = self._left(self.limits.call)
        message = {"names": names, "seconds": left}
        answers = self._answers(fork, message, left + GRACE, len(names))
        for name in names:
            self.reading = check, name
            reply = next(answers)
            values[name] = reply.get("callable") is True, wire.decoded(reply.get("value"))
        self.reading = None

    def _open(self, check, hidden):
        """List the calls of a check that are still to be made: (name, cases, where they go)."""
        values, pairs = (
            self.transcript.values[check],
            zip(self.plan[check][1], self.groups[check], strict=True),
        )
        return [
            (name, cases, group)
            for (name, cases, secret), group in pairs
            if secret == hidden and not group and values.get(name, (False,))[0]
        ]

    def _calls(self, fork, check, hidden):
        """Make the calls of a check that are shown or hidden; a function gets one try to end."""
        for name, cases, group in self._open(check, hidden):
            if any(map(_late, self.transcript.outcomes[check][name])):
                group.append(self.timeout)
                continue
            self._cases(fork, name, cases, group)
            self.transcript.late |= _late(group)

    def _repeat(self, fork, check):
        """Make the visible calls once more, for what they leave behind; where they end it, not again."""
        self.again.remove(check)
        values, groups = self.transcript.values[check], self.groups[check]
        for (name, cases, hidden), group in zip(self.plan[check][1], groups, strict=True):
            ended = any(outcome.error in ("Crash", "Timeout") for outcome in group)
            if not hidden and not ended and values[name][0]:
                self._cases(fork, name, cases, [])

    def _cases(self, fork, name, cases, outcomes):
        """Call a function on every case of a sub-check, until the time is up."""
        left = self._left(self.limits.call)
        self.calling = outcomes
        message = {"call": name, "cases": cases, "seconds": left}
        for reply in self._answers(fork, message, left + GRACE, len(cases)):
            outcomes.append(wire.from_message(reply.get("outcome")))
            if outcomes[-1].error == "Timeout":
                outcomes[-1] = self.timeout  # not what a student's process says of it
                break
        self.calling = None

    def _answers(self, fork, message, seconds, count):
        """Yield so many answers to what a check asks, and note how much it is told."""
        room = self.heard.left
        for reply in fork.answers(message, seconds, count):
            self.told[self.at] += room - self.heard.left
            room = self.heard.left
            yield reply

    def _ask(self, fork, message, seconds):
        left = self._left(seconds)
        return fork.ask({**message, "seconds": left}, left + GRACE)

    def _left(self, seconds):
        """Return the seconds for one thing, less where the submission has less."""
        left = min(seconds, self.end - time.monotonic())
        if left <= 0:
            raise Died("late")
        return left

    def _died(self, how):
        """Note what ended the process, so that the next one leaves it out."""
        self.transcript.late |= how == "late"
        if over := time.monotonic() > self.end:  # whatever was at work then is not to blame
            self._flag(f"took longer than {self.limits.submission:g} s; the rest was not run")
        blamed = self.at
        if how == "flood" and self.heard.left < wire.MOST:
            blamed = self._make_room()
        elif self.calling is not None:
            crash = Outcome(error="Crash", said=_WHY.get(how, ""))
            self.calling.append(self.timeout if how == "late" else crash)
        elif self.reading:
            check, name = self.reading
            self.transcript.values[check][name] = False, Unreadable("something that cannot be read")
        else:
            self.dead.add(self.at)
            if how == "late" and not over:
                self._late(self.at)
            elif how != "late":
                self.transcript.cells.setdefault(self.at, stopped("Crash", f"it {_WHY[how]}"))
        if how != "late" and not over:
            self._flag(_WHY[how], blamed)
        self.calling = self.reading = None

    def _make_room(self):
        """Forget what one check was told, which was most, so that another finds room; return which."""
        if self.calling is not None:
            self.calling.clear()
        ((check, size),) = self.told.most_common(1)
        del self.told[check]
        self.heard.left += size
        for group in self.groups[check]:
            group[:] = [Outcome(error="Crash", said=_WHY["flood"])]
        values = self.transcript.values[check]
        for name in self.plan[check][0]:
            callable_ = name in values and values[name][0]
            values[name] = callable_, Unreadable("something too large")
        return check

    def _late(self, key):
        # What it showed until then depends on the machine's mood, so it is left out.
        what = f"took longer than {self.limits.cell:g} s"
        self.transcript.late = True
        if "+" in key:  # it would take as long in the next process
            self.dead.add(key)
        self.transcript.cells.setdefault(key, stopped("Timeout", f"it {what}"))
        self._flag(what, key)

    def _flag(self, what, step="", gravity=GRAVE):
        flag = Flag(what, gravity, step, run=True)
        if flag not in self.transcript.flags:
            self.transcript.flags.append(flag)


def _late(group):
    return bool(group) and group[-1].error == "Timeout"
